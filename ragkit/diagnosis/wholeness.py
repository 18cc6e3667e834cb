"""Is a passage whole, or was it cut: in its answer, near it, or away from the words that ask for it?"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ragkit.corpora.chunks import boundaries
from ragkit.lexical.analysis import ENGLISH_STOP, Analyzer
from ragkit.lexical.scoring import idf
from ragkit.measure.labels import Span
from ragkit.measure.metrics import originals

Origin = Mapping[str, tuple[str, int, int]]


class Answer(NamedTuple):
    """One thing that would have answered a query: where it stands, and which indexed passages touch and hold it.

    `span` is None where only ids are known; then the id is the passage's own. `why_not` says for each passage that
    touches it what is wrong with it, where something is.
    """

    doc_id: str
    span: Span | None
    passages: tuple[str, ...]
    why_not: Mapping[str, str]

    @property
    def whole(self) -> tuple[str, ...]:
        """The passages with nothing wrong."""
        return tuple(name for name in self.passages if name not in self.why_not)


def checked_texts(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Texts with ids that are strings. TypeError for other shapes, ValueError for an id that is given twice.

    >>> checked_texts("queries", {7: "a text"})
    {'7': 'a text'}
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} is a {type(given).__name__}; give {{id: text}}")
    found: dict[str, str] = {}
    for key, text in given.items():
        if not isinstance(text, str):
            raise TypeError(f"{name}: {str(key)!r} is a {type(text).__name__}; a text is a string")
        if str(key) in found:
            raise ValueError(f"{name}: {str(key)!r} is given twice; ids are compared as strings")
        found[str(key)] = text
    return found


@dataclass(frozen=True, eq=False)
class Units:
    """What is indexed, and where it stands in the documents, as far as it is known."""

    texts: dict[str, str]
    docs: dict[str, str]
    origin: dict[str, tuple[str, int, int]] | None
    twins: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(
        cls,
        texts: Mapping[str, str],
        docs: Mapping[str, str] | None,
        origin: Origin | None,
        aliases: Mapping[str, str] | None,
    ) -> "Units":
        """Check what is given; `origin` comes with `texts` where these are passages."""
        given = getattr(texts, "origin", None) if origin is None else origin
        known = checked_texts("texts", texts)
        places = None
        if given is not None:
            places = {str(name): (str(at[0]), int(at[1]), int(at[2])) for name, at in given.items()}
            if lost := [name for name in known if name not in places]:
                raise ValueError(f"texts has {lost[0]!r}, and origin does not say where it stands")
            places = {name: places[name] for name in known}
        groups: dict[str, list[str]] = defaultdict(list)
        for doc_id, original in originals(aliases or {}).items():
            groups[original].append(doc_id)
        twins = {name: (original, *own) for original, own in groups.items() for name in (original, *own)}
        return cls(known, checked_texts("docs", docs or {}), places, twins)

    def same(self, doc_id: str) -> tuple[str, ...]:
        """A document, and those that carry its text."""
        return self.twins.get(doc_id, (doc_id,))

    def document(self, name: str) -> str:
        """The document of a passage; a document itself as it is."""
        return self.origin[name][0] if self.origin and name in self.origin else name

    @cached_property
    def by_doc(self) -> dict[str, list[tuple[int, int, str]]]:
        """The passages of each document, in the order in which they stand."""
        found: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for name, (doc_id, start, end) in (self.origin or {}).items():
            found[doc_id].append((start, end, name))
        return {doc_id: sorted(own) for doc_id, own in found.items()}

    @cached_property
    def boundaries(self) -> "_Boundaries":
        """Where sentences begin and end, a document at a time."""
        return _Boundaries(self.docs)


class _Boundaries(dict[str, list[int]]):
    """Where sentences, headings and paragraphs of a document begin or end; found when a document is asked for."""

    def __init__(self, docs: Mapping[str, str]) -> None:
        self.docs = docs

    def __missing__(self, doc_id: str) -> list[int]:
        self[doc_id] = boundaries(self.docs[doc_id])
        return self[doc_id]


_NO_PROSE = re.compile(r"^\s*(?:#|[-*+•] |\d+[.)] |\||>>>|\.\. |```|    |[-=~]{3,})", re.MULTILINE)


def checked(answer: Answer, qid: str, units: Units, wording: "Wording") -> Answer:
    """An answer with what is wrong with each passage that touches it."""
    why_not: dict[str, str] = {}
    for name in answer.passages:
        why = cut_off(answer, name, units) or wording.lost(qid, name)
        if why:
            why_not[name] = why
    return answer._replace(why_not=MappingProxyType(why_not))


def cut_off(answer: Answer, name: str, units: Units) -> str | None:
    """What is cut in a passage: the answer, its sentence, or, where only the id is known, any sentence."""
    text = units.texts[name]
    doc_id, start, end = (units.origin or {}).get(name, (name, 0, len(text)))
    if answer.span:
        begin, stop = answer.span
        if begin < start or end < stop:
            return f"the answer is cut: {_around(text, begin < start, end < stop)}"
    if doc_id not in units.docs or units.docs[doc_id][start:end] != text:
        return None if answer.span else breaks_off(text)
    before, behind = _broken(units.docs[doc_id], units.boundaries[doc_id], start, end)
    if answer.span:  # only the sentences that the answer stands in count
        begin, stop = answer.span
        before, behind = before and begin < before, behind and stop > behind
        if before or behind:
            return f"the sentence of the answer is cut: {_around(text, bool(before), bool(behind))}"
    elif before or behind:
        return f"a sentence is cut: {_around(text, bool(before), bool(behind))}"
    return None


def _broken(text: str, boundaries: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """Where the sentence ends that begins before the passage does, and where that begins which ends behind it.

    0 where there is none: the passage begins and ends where a sentence does.

    >>> text = "One is here. Two is here too. Three."
    >>> _broken(text, [0, 13, 30, 36], 4, 20), _broken(text, [0, 13, 30, 36], 13, 29)
    ((13, 13), (0, 0))
    """
    last = max(at for at in boundaries if at <= start)
    following = min((at for at in boundaries if at > start), default=len(text))
    before = following if text[last:start].strip() else 0
    after = min((at for at in boundaries if at >= end), default=len(text))
    begun = max((at for at in boundaries if at < end), default=0)
    return before, (begun or -1) if text[end:after].strip() else 0


def breaks_off(text: str) -> str | None:
    """What shows that a text, with nothing around it, was cut in the middle of a sentence; None where nothing does.

    It begins with an ellipsis, or with a line of prose in lower case; or its last line is prose, and ends with a
    letter, a digit or a comma. All this only in a text that ends sentences elsewhere: a heading, a list, a table or
    code may begin and end as it likes. A text that was cut where a sentence ends looks like any other.

    >>> breaks_off("Drain the tank first. Then open the")
    'a sentence is cut: … Drain the tank first. Then open the ✂'
    >>> breaks_off("ank first and then the pump. Open the valve.")
    'a sentence is cut: ✂ ank first and then the pump. Open the valve. …'
    >>> breaks_off("Drain the tank first. Then open the valve."), breaks_off("Keyword arguments")
    (None, None)
    """
    stripped = text.strip()
    if stripped.startswith(("...", "…")):
        return f"a sentence is cut: {_around(text, True, False)}"
    if not re.search(r"[.!?][\"'”’)]*(?:\s|$)", stripped):
        return None
    first, last = (re.split(r"\n\s*\n", stripped)[end] for end in (0, -1))
    begins = bool(re.match(r"[a-z]+[,;.]?[^\S\n]", first)) and _prose(first.split("\n")[0])
    ends = (
        bool(re.search(r"[^\W_][\"'”’)]*$|,$", stripped))
        and bool(re.search(r"[.!?][\"'”’)]*\s", stripped))
        and not _NO_PROSE.search(last)
        and _prose(last.rsplit("\n", 1)[-1], least=1 + 2 * ("\n" not in last))
    )
    return f"a sentence is cut: {_around(text, begins, ends)}" if begins or ends else None


def _prose(line: str, least: int = 4) -> bool:
    return len(line.split()) >= least and not re.search(r"\S {3,}\S| : |^\w+\s*:|[=(]\S*$", line)


def _around(text: str, before: bool, behind: bool, width: int = 60) -> str:
    """The edge of a text, with scissors where it was cut."""
    flat = " ".join(text.split())
    if before and behind:
        head, tail = flat[:width], flat[-width:]
        return f"✂ {flat} ✂" if len(flat) <= 2 * width else f"✂ {head} … {tail} ✂"
    return f"✂ {flat[:width]} …" if before else f"… {flat[-width:]} ✂"


class Wording:
    """How much of a query's language a passage has, and how much its neighbours in the document would add."""

    def __init__(self, units: Units, queries: Mapping[str, str], wanted: Sequence[str], least: float) -> None:
        self.units, self.queries, self.wanted, self.least = units, queries, wanted, least
        self.analyzer = Analyzer(stop=ENGLISH_STOP, name="standard, without stop words")

    def terms(self, text: str) -> set[str]:
        """Words and parts of a text."""
        found = self.analyzer(text)
        return {*found.words, *found.parts}

    @cached_property
    def asked(self) -> dict[str, set[str]]:
        """The words of each failing query."""
        return {qid: set(self.analyzer(self.queries[qid]).words) for qid in self.wanted}

    @cached_property
    def weights(self) -> dict[str, float]:
        """The idf of each term of a failing query; of those that no passage has, none."""
        df = Counter(term for text in self.units.texts.values() for term in self.terms(text) & self.all_asked)
        return {term: float(idf(len(self.units.texts), n)) for term, n in df.items()}

    @cached_property
    def all_asked(self) -> set[str]:
        """The words of all of them."""
        return set().union(*self.asked.values())

    def lost(self, qid: str, name: str) -> str | None:
        """Whether the language that would retrieve a passage stands next to it."""
        if not self.units.origin or not self.asked[qid]:
            return None
        doc_id, start, end = self.units.origin[name]
        row = self.units.by_doc[doc_id]
        at = row.index((start, end, name))
        beside = [row[n][2] for n in (at - 1, at + 1) if 0 <= n < len(row)]
        if not beside:
            return None
        total = sum(self.weights.get(term, 0.0) for term in self.asked[qid])
        if not total:
            return None
        own = self.terms(self.units.texts[name]) & self.asked[qid]
        more = {other: (self.terms(self.units.texts[other]) & self.asked[qid]) - own for other in beside}
        added = set().union(*more.values())
        gain = sum(self.weights.get(term, 0.0) for term in added) / total
        if not added or gain < self.least:
            return None
        where = max(more, key=lambda other: sum(self.weights.get(term, 0.0) for term in more[other]))
        return f"its language stands elsewhere: {', '.join(sorted(added))} ({gain:.2f} of the query) in {where}"
