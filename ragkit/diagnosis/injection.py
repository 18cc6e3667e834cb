"""Faults put into a collection on purpose, with a record of what was done: how an instrument is measured.

A triage that finds 18 documents missing may be right, or may find them everywhere. It is known only where the cause
of a failure is known, and it is known where somebody caused it. `inject` takes a collection that works and breaks it
in four ways:

- "drop": the documents of the answer are left out at ingestion;
- "cut": the passages that hold the answer are cut in two, at a random character of the answer;
- "flip": the labels are turned round: what is relevant is called irrelevant, and another passage relevant;
- "code": the query asks by an identifier, in lower case, that stands in the answer's passage in its own spelling.

A share of the queries gets two causes. A second reader reads what the first one read, by the truth and not by the
flipped labels, and is wrong on a share of it. Whatever fails without any help is left in, and called natural: nobody
knows its cause, so of each of the natural failures it is only said that none of the four was put there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

import numpy as np

from ragkit.corpora.chunks import Passage
from ragkit.measure.labels import Label, Span, Stretch, by_stretch, qrels_from_labels

Cause = Literal["drop", "cut", "flip", "code"]
CAUSES: tuple[Cause, ...] = get_args(Cause)  # from upstream to downstream: the first of a query's is what is expected

_ASKED = ("{}", "{} not working", "where do I find {}", "what is {} for")
_LETTERS, _WORDS = "ABCDEFGHKLMNPRSTVWXZ", "relay batch ledger cursor valve quota shard probe latch gauge".split()


@dataclass(frozen=True)
class World:
    """A collection as a diagnosis meets it: `origin` says which passages are indexed, and where they stand.

    `docs` are the documents as they were written, {id: text}; `origin` is {passage id: (document, start, end)}, as
    `Passages.origin` is. `labels` are the first reader's, `second` those of a second one. ValueError for a passage
    or a label that does not lie within its document.

    >>> World({"d1": "Hold the button."}, {"d1#1": ("d1", 0, 16)}, {"q1": "reset"}).texts
    {'d1#1': 'Hold the button.'}
    """

    docs: Mapping[str, str]
    origin: Mapping[str, Passage]
    queries: Mapping[str, str]
    labels: tuple[Label, ...] = ()
    second: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        for name in ("docs", "queries"):
            object.__setattr__(self, name, {str(key): text for key, text in getattr(self, name).items()})
        places = {str(name): Passage(str(at[0]), int(at[1]), int(at[2])) for name, at in self.origin.items()}
        object.__setattr__(self, "origin", places)
        for name, at in places.items():
            if not 0 <= at.start < at.end <= len(self.docs.get(at.doc_id, "")):
                raise ValueError(f"passage {name!r} is {at.doc_id!r} from {at.start} to {at.end}: no such place")
        for reader in ("labels", "second"):
            object.__setattr__(self, reader, tuple(getattr(self, reader)))
            for label in getattr(self, reader):
                if label.end > len(self.docs.get(label.doc_id, "")):
                    raise ValueError(f"{label.stretch}: the document has {len(self.docs.get(label.doc_id, ''))}")

    @property
    def texts(self) -> dict[str, str]:
        """The passages that are indexed, by id."""
        return {name: self.docs[at.doc_id][at.start : at.end] for name, at in self.origin.items()}


class Cut(NamedTuple):
    """A passage that was cut: its id, which the piece keeps that holds more of the answer; the other's; and where."""

    passage: str
    other: str
    doc_id: str
    at: int


@dataclass(frozen=True)
class Injected:
    """The broken world, and the truth about it.

    `given` are the causes that were drawn, {query id: causes}, upstream first. `causes` also has the queries that
    were hit by what was done to another: all documents of their answers dropped, or all their passages cut.
    `dropped` are documents, `cut` passages, `flipped` maps a query to the passage that is wrongly called relevant,
    `codes` a query to the identifier as the document spells it. `mistaken` are the stretches on which the second
    reader is wrong.

    `gold` and `second_ids` say the same as the labels of the two readers for somebody who notes the ids of passages
    and no spans: {query id: ids}, and {query id: {id: grade}}, noted while all passages were there and whole.
    """

    world: World
    seed: int
    given: Mapping[str, tuple[Cause, ...]]
    causes: Mapping[str, tuple[Cause, ...]]
    dropped: frozenset[str]
    cut: tuple[Cut, ...]
    flipped: Mapping[str, str]
    codes: Mapping[str, str]
    mistaken: frozenset[Stretch]
    gold: Mapping[str, frozenset[str]] = field(repr=False)
    second_ids: Mapping[str, Mapping[str, int]] = field(repr=False)


def inject(
    world: World,
    seed: int,
    *,
    n: int | Mapping[Cause, int] = 10,
    two: float = 0.2,
    wrong: float = 0.1,
    decoys: Mapping[str, Sequence[str]] | None = None,
) -> Injected:
    """Break a collection, and say how. The same seed breaks the same things, whatever the order of the mappings.

    `n` queries get each cause, or as many as {cause: n} says; of all these, the share `two` (rounded) gets a second
    one. Flips come first, so that the others act on what the labels name. The second reader reads every stretch that
    the first one read, and every one that was wrongly called relevant; on the share `wrong` of them (rounded) the
    answer is the opposite of the truth. `decoys` are passages a query that a tired reader could take for relevant:
    one of them is what a flip calls relevant, in a document without a label of the query; without them it may be any.
    Only queries with a relevant label are broken.

    Nothing that is given is changed. ValueError for fewer queries with a relevant label than `n` asks for, for an
    unknown cause, for shares outside 0 to 1, for two causes where one alone is drawn from, for a flip without any
    passage to call relevant, and for a world that has a second reader already.

    >>> docs = {f"d{i}": f"Part {i} is held by two screws." for i in range(8)}
    >>> origin = {f"d{i}#1": (f"d{i}", 0, len(docs[f"d{i}"])) for i in range(8)}
    >>> labels = [Label(f"q{i}", f"d{i}", 0, 29, "relevant", span=(10, 29)) for i in range(8)]
    >>> world = World(docs, origin, {f"q{i}": f"what holds part {i}" for i in range(8)}, labels)
    >>> broken = inject(world, seed=3, n=1, two=0)
    >>> sorted(causes for causes in broken.given.values())
    [('code',), ('cut',), ('drop',), ('flip',)]
    >>> len(broken.dropped), len(broken.cut), len(broken.world.texts)
    (1, 1, 8)
    """
    counts = _counts(n)
    for name, share in (("two", two), ("wrong", wrong)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} is {share}; it is a share between 0 and 1")
    if world.second:
        raise ValueError("the world has the labels of a second reader already; they are made here")
    rng = np.random.default_rng(seed)
    given = _drawn(rng, world, counts, two)
    broken = replace(world, labels=_in_order(world.labels))
    truth = list(broken.labels)  # what an infallible reader would say
    flipped: dict[str, str] = {}
    for qid in _with("flip", given):
        broken, name = _flip(rng, broken, qid, (decoys or {}).get(qid))
        flipped[qid] = name
        truth.append(Label(qid, *broken.origin[name], "irrelevant"))
    codes: dict[str, str] = {}
    for qid in _with("code", given):
        codes[qid] = _minted(rng, {*codes.values()}, world.docs.values())
        at = _planted_at(broken, qid)
        broken, truth = _plant(broken, truth, *at, f" Reference: {codes[qid]}.")
        asked = str(rng.choice(_ASKED)).format(codes[qid].lower())
        broken = replace(broken, queries={**broken.queries, qid: asked})
    second, mistaken = _second(rng, truth, wrong)
    whole = broken.origin
    second_ids = qrels_from_labels(second, whole)
    cuts: list[Cut] = []
    for qid in _with("cut", given):
        broken, made = _cut(rng, broken, qid)
        cuts += made
    gold = _gold(broken)
    dropped = {label.doc_id for qid in _with("drop", given) for label in _relevant(broken.labels, qid)}
    origin = {name: at for name, at in broken.origin.items() if at.doc_id not in dropped}
    broken = replace(broken, origin=origin, second=second)
    return Injected(
        broken,
        seed,
        MappingProxyType(given),
        MappingProxyType(_causes(broken, given, dropped, whole)),
        frozenset(dropped),
        tuple(cuts),
        MappingProxyType(flipped),
        MappingProxyType(codes),
        frozenset(mistaken),
        MappingProxyType(gold),
        second_ids,
    )


def _counts(n: int | Mapping[Cause, int]) -> dict[Cause, int]:
    counts: dict[Cause, int] = dict(n) if isinstance(n, Mapping) else dict.fromkeys(CAUSES, n)
    for cause, count in counts.items():
        if cause not in CAUSES:
            raise ValueError(f"no cause is called {cause!r}; there is {', '.join(CAUSES)}")
        if count < 0:
            raise ValueError(f"{count} queries for {cause!r}; it is 0 or more")
    return {cause: counts.get(cause, 0) for cause in CAUSES}


def _drawn(
    rng: np.random.Generator, world: World, counts: Mapping[Cause, int], two: float
) -> dict[str, tuple[Cause, ...]]:
    """The causes of each query that gets one, upstream first."""
    able = sorted({label.query_id for label in world.labels if label.label == "relevant"})
    if lost := [qid for qid in able if qid not in world.queries]:
        raise ValueError(f"query {lost[0]!r} has labels and no text")
    total = sum(counts.values())
    if total > len(able):
        raise ValueError(f"{total} queries are to be broken, and {len(able)} have a relevant label")
    drawn = [able[place] for place in rng.permutation(len(able))[:total]]
    first = [cause for cause in CAUSES for _ in range(counts[cause])]
    doubled = set(rng.permutation(total)[: round(two * total)].tolist())
    used = [cause for cause in CAUSES if counts[cause]]
    if doubled and len(used) < 2:
        raise ValueError(f"a second cause is drawn from those that are used, and only {used[0]!r} is: set two to 0")
    given: dict[str, tuple[Cause, ...]] = {}
    for place, (qid, cause) in enumerate(zip(drawn, first, strict=True)):
        causes = {cause}
        if place in doubled:
            others = [other for other in used if other != cause]
            causes.add(others[rng.integers(len(others))])
        given[qid] = tuple(cause for cause in CAUSES if cause in causes)
    return dict(sorted(given.items()))


def _with(cause: Cause, given: Mapping[str, tuple[Cause, ...]]) -> list[str]:
    return [qid for qid, causes in given.items() if cause in causes]


def _in_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    return tuple(sorted(labels, key=lambda label: (label.stretch, label.label, label.span or (0, 0), label.reason)))


def _relevant(labels: Iterable[Label], qid: str) -> list[Label]:
    return [label for label in labels if label.query_id == qid and label.label == "relevant"]


# the four faults


def _flip(rng: np.random.Generator, world: World, qid: str, decoys: Sequence[str] | None) -> tuple[World, str]:
    own = {label.doc_id for label in world.labels if label.query_id == qid}
    offered = world.origin if decoys is None else decoys
    if unknown := [name for name in offered if name not in world.origin]:
        raise ValueError(f"query {qid!r}: the decoy {unknown[0]!r} is no passage of the world")
    names = sorted(name for name in offered if world.origin[name].doc_id not in own)
    if not names:
        raise ValueError(f"query {qid!r}: there is no passage, outside of the documents it has labels in, to flip to")
    name = names[rng.integers(len(names))]
    doc_id, start, end = world.origin[name]
    turned = {
        label.stretch: Label(*label.stretch, "irrelevant", reason="flipped") for label in _relevant(world.labels, qid)
    }
    kept = [label for label in world.labels if label.stretch not in turned]
    wrong = Label(qid, doc_id, start, end, "relevant", span=(start, end), reason="flipped")
    return replace(world, labels=(*kept, *turned.values(), wrong)), name


def _minted(rng: np.random.Generator, taken: set[str], texts: Iterable[str]) -> str:
    """An identifier that stands nowhere yet: a part number, an error code, or the name of a parameter."""
    while True:
        a, b, c = (_LETTERS[place] for place in rng.integers(len(_LETTERS), size=3))
        first, other = (_WORDS[place] for place in rng.permutation(len(_WORDS))[:2])
        number = rng.integers(1000, 10_000)
        forms = (f"{a}{b}-{number}-{c}", f"ERR_{number}", f"{a}{number}", f"{first}_{other}_{a.lower()}{b.lower()}")
        code = forms[rng.integers(len(forms))]
        if code not in taken and not any(code.lower() in text.lower() for text in texts):
            return code


def _planted_at(world: World, qid: str) -> tuple[str, int]:
    """Where an identifier goes: the end of the passage that holds the query's first answer, or most of it."""
    label = _relevant(world.labels, qid)[0]
    holders = [at for at in world.origin.values() if at.doc_id == label.doc_id]
    if not holders:
        return label.doc_id, label.end
    begin, stop = _span(label)
    at = max(holders, key=lambda at: _overlap((at.start, at.end), (begin, stop)))
    # not into an answer that the passage does not hold whole, unless it begins with the passage
    return label.doc_id, at.end if at.end >= stop or at.start == begin else begin


def _plant(world: World, truth: list[Label], doc_id: str, at: int, text: str) -> tuple[World, list[Label]]:
    """Insert a text into a document; whatever reaches the place, or lies behind it, moves with it."""
    size = len(text)

    def moved(start: int, end: int) -> Span:
        return start + size * (start >= at), end + size * (end >= at)

    def relabelled(labels: Iterable[Label]) -> list[Label]:
        found = []
        for label in labels:
            if label.doc_id == doc_id:
                start, end = moved(label.start, label.end)
                # an answer that ends where the text goes in does not grow with it
                span = label.span and (
                    label.span[0] + size * (label.span[0] >= at),
                    label.span[1] + size * (label.span[1] > at),
                )
                found.append(replace(label, start=start, end=end, span=span))
            else:
                found.append(label)
        return found

    docs = {**world.docs, doc_id: world.docs[doc_id][:at] + text + world.docs[doc_id][at:]}
    origin = {
        name: Passage(doc_id, *moved(place.start, place.end)) if place.doc_id == doc_id else place
        for name, place in world.origin.items()
    }
    return replace(world, docs=docs, origin=origin, labels=tuple(relabelled(world.labels))), relabelled(truth)


def _cut(rng: np.random.Generator, world: World, qid: str) -> tuple[World, list[Cut]]:
    origin = dict(world.origin)
    cuts: list[Cut] = []
    for label in _relevant(world.labels, qid):
        begin, stop = _span(label)
        if stop - begin < 2:
            continue  # one character cannot be cut
        at = int(rng.integers(begin + 1, stop))
        for name, place in list(origin.items()):
            if place.doc_id == label.doc_id and place.start <= begin and stop <= place.end:
                other = f"{name}~{sum(one.passage == name for one in cuts) + 1}"
                while other in origin:
                    other += "~"
                before, behind = place._replace(end=at), place._replace(start=at)
                more = before if at - begin >= stop - at else behind
                origin[name], origin[other] = more, behind if more is before else before
                cuts.append(Cut(name, other, label.doc_id, at))
    return replace(world, origin=origin), cuts


# the second reader, and what holds in the end


def _second(rng: np.random.Generator, truth: Sequence[Label], wrong: float) -> tuple[tuple[Label, ...], set[Stretch]]:
    read = by_stretch(_in_order(dict.fromkeys(truth)))
    stretches = list(read)
    mistaken = {stretches[place] for place in rng.permutation(len(stretches))[: round(wrong * len(stretches))]}
    labels: list[Label] = []
    for stretch, own in read.items():
        if stretch not in mistaken:
            labels += own
        elif own[0].label == "irrelevant":
            labels.append(Label(*stretch, "relevant", span=(stretch.start, stretch.end), reason="mistaken"))
        else:
            labels.append(Label(*stretch, "irrelevant", reason="mistaken"))
    return tuple(labels), mistaken


def _gold(world: World) -> dict[str, frozenset[str]]:
    """For each query the passages that its relevant labels point at: those with most of the answer."""
    by_doc: dict[str, list[str]] = {}
    for name, at in world.origin.items():
        by_doc.setdefault(at.doc_id, []).append(name)
    found: dict[str, set[str]] = {}
    for label in world.labels:
        if label.label == "relevant":
            shares = {
                name: _overlap((world.origin[name].start, world.origin[name].end), _span(label))
                for name in by_doc.get(label.doc_id, ())
            }
            if any(shares.values()):
                found.setdefault(label.query_id, set()).add(max(shares, key=shares.__getitem__))
    return {qid: frozenset(ids) for qid, ids in found.items()}


def _causes(
    world: World, given: Mapping[str, tuple[Cause, ...]], dropped: set[str], whole: Mapping[str, Passage]
) -> dict[str, tuple[Cause, ...]]:
    causes = dict(given)
    for qid in sorted({label.query_id for label in world.labels if label.label == "relevant"}):
        own = _relevant(world.labels, qid)
        here = [label for label in own if label.doc_id not in dropped]
        more: set[Cause] = set(given.get(qid, ()))
        if not here:
            more.add("drop")
        elif all(_held(label, whole) and not _held(label, world.origin) for label in here):
            more.add("cut")
        if more:
            causes[qid] = tuple(cause for cause in CAUSES if cause in more)
    return dict(sorted(causes.items()))


def _held(label: Label, origin: Mapping[str, Passage]) -> bool:
    begin, stop = _span(label)
    return any(at.doc_id == label.doc_id and at.start <= begin and stop <= at.end for at in origin.values())


def _span(label: Label) -> Span:
    return label.span or (label.start, label.end)


def _overlap(one: Span, other: Span) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))
