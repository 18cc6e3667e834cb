"""Why a query failed: one cause each, the most upstream one that the evidence supports.

A miss is one bit, and it reads the same whether the answer is not in the index, was cut in two, was never an answer,
or was ranked 4,000th. `triage` asks in that order, and each question is only put of what the one before has left: of
the answers that are there, which stand in a passage that is whole; of these passages, which does a second reader
call relevant too; of those, which does a lexical index find. A query with several answers goes on as long as one of
them does, so one that is missing does not outweigh another that is there. Every failing query lands in one bucket,
and the counts add up to the failures.

A bucket names the first thing that is wrong, and not the only one: a document that is taken in again may still be
badly cut. So triage again after each fix.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ragkit.diagnosis.codes import code_like
from ragkit.diagnosis.traits import Group, common_traits
from ragkit.diagnosis.wholeness import Answer, Origin, Units, Wording, checked, checked_texts
from ragkit.measure.labels import Label, qrels_from_labels
from ragkit.measure.metrics import checked_k
from ragkit.measure.runs import Qrels, Runs, judgments, rankings

NOT_INDEXED = "not indexed"
CHUNK_SUSPECT = "chunk suspect"
JUDGMENT_ERROR = "judgment error"
LEXICAL_FINDS_IT = "lexical finds it"
CODE_LIKE = "other code-like query"
DENSE_BLIND = "dense blind"
NONE_OF_THESE = "none of these"  # only where no test fires


# what a test sees


@dataclass(frozen=True, eq=False)
class Case:
    """A failing query, and what is known about it: what a test is given.

    `answers` are all that the labels name; `whole` the passages that hold one and have nothing wrong with them;
    `disputed` those of `whole` that the second reader read and does not call relevant; `agreed` the others. `dense`
    and `lexical` are the ranks of the agreed passages, {id: rank}, from 1, None where it is not in the list;
    `best_dense` and `best_lexical` the best of them. `codes` are the code-like words of the query.
    """

    qid: str
    query: str
    answers: tuple[Answer, ...]
    second: Mapping[str, int]
    candidate_k: int
    lexical_k: int
    names: tuple[str, ...]
    texts: Mapping[str, str] = field(repr=False)
    _dense: Callable[[str], int | None] = field(repr=False)
    _lexical: Callable[[str], int | None] = field(repr=False)

    @property
    def present(self) -> tuple[Answer, ...]:
        """The answers of which something is indexed."""
        return tuple(answer for answer in self.answers if answer.passages)

    @cached_property
    def whole(self) -> tuple[str, ...]:
        """The passages that hold an answer, with nothing wrong."""
        return tuple(dict.fromkeys(name for answer in self.present for name in answer.whole))

    @property
    def disputed(self) -> tuple[str, ...]:
        """Whole passages that the second reader does not call relevant."""
        return tuple(name for name in self.whole if self.second.get(name, 1) < 1)

    @property
    def agreed(self) -> tuple[str, ...]:
        """Whole passages that nobody disputes."""
        return tuple(name for name in self.whole if self.second.get(name, 1) >= 1)

    @cached_property
    def dense(self) -> dict[str, int | None]:
        """Ranks of the agreed passages in the dense list."""
        return {name: self._dense(name) for name in self.agreed}

    @cached_property
    def lexical(self) -> dict[str, int | None]:
        """Ranks of the agreed passages in the lexical list."""
        return {name: self._lexical(name) for name in self.agreed}

    @property
    def best_dense(self) -> int | None:
        """The best rank in the dense list; None where it has none of them."""
        return min((rank for rank in self.dense.values() if rank is not None), default=None)

    @property
    def best_lexical(self) -> int | None:
        """The best rank in the lexical list; None where it has none of them."""
        return min((rank for rank in self.lexical.values() if rank is not None), default=None)

    @property
    def dense_misses(self) -> bool:
        """Whether the dense list has none of them among the candidates."""
        return self.best_dense is None or self.best_dense > self.candidate_k

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """What is code-like in the query."""
        return code_like(self.query, self.names)


Evidence = Mapping[str, Any] | str | bool | None


class Test(NamedTuple):
    """A question of the triage: the name of its bucket, and a function from a `Case` to its evidence.

    Evidence is a mapping or a line of text; True where there is nothing to add. None or False: it does not fire.

    >>> retired = Test("retired product", lambda case: "mx-3" in case.query and {"product": "MX-3"})
    >>> [test.name for test in (*TESTS[:2], retired, *TESTS[2:])]
    ['not indexed', 'chunk suspect', 'retired product', 'judgment error', 'lexical finds it',
     'other code-like query', 'dense blind']
    """

    name: str
    fires: Callable[[Case], Evidence]


Test.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one of its own


def _not_indexed(case: Case) -> Evidence:
    if case.present:
        return None
    return {"missing": list(dict.fromkeys(answer.doc_id for answer in case.answers))}


def _chunk_suspect(case: Case) -> Evidence:
    if case.whole or not case.present:
        return None
    return {"passages": {name: why for answer in case.present for name, why in answer.why_not.items()}}


def _judgment_error(case: Case) -> Evidence:
    if case.agreed or not case.whole:
        return None
    others = [name for name, grade in case.second.items() if grade >= 1 and name in case.texts]
    ranks = {name: case._dense(name) for name in others}
    near = {name: rank for name, rank in ranks.items() if rank is not None and rank <= case.candidate_k}
    return {"disputed": list(case.disputed), "relevant to the second reader, and retrieved": near}


def _lexical_finds_it(case: Case) -> Evidence:
    best = case.best_lexical
    if best is None or best > case.lexical_k or not case.dense_misses:
        return None
    return {"lexical": best, "dense": case.best_dense, "codes": list(case.codes)}


def _other_code_like(case: Case) -> Evidence:
    if not case.codes or not case.dense_misses:
        return None
    return {"codes": list(case.codes), "lexical": case.best_lexical, "dense": case.best_dense}


def _dense_blind(case: Case) -> Evidence:
    if not case.dense_misses:
        return None
    return {"dense": case.best_dense, "lexical": case.best_lexical, "passages": list(case.agreed)}


TESTS: tuple[Test, ...] = (
    Test(NOT_INDEXED, _not_indexed),
    Test(CHUNK_SUSPECT, _chunk_suspect),
    Test(JUDGMENT_ERROR, _judgment_error),
    Test(LEXICAL_FINDS_IT, _lexical_finds_it),
    Test(CODE_LIKE, _other_code_like),
    Test(DENSE_BLIND, _dense_blind),
)


# what comes out


@dataclass(frozen=True)
class Finding:
    """A failing query, the bucket it is in, and the evidence; `docs` are the documents that its labels name."""

    qid: str
    query: str
    bucket: str
    evidence: Mapping[str, Any]
    docs: tuple[str, ...]

    @property
    def why(self) -> str:
        """The evidence in a line."""
        return "; ".join(f"{name}: {_shown(value)}" for name, value in self.evidence.items())


@dataclass(frozen=True, repr=False, eq=False)
class Triage:
    """Every failing query in one bucket; printed, it is a table.

    `findings` is {query id: Finding}, in the order in which the failures were given; `counts` {bucket: number}, in
    the order of the tests, and adds up to the failures. `groups` says what the documents of a bucket have in common,
    {bucket: groups}, rarest first. `not_assessed` says which question could not be put, and what it needs.

    >>> found = triage(["q1"], {"q1": {"d1"}}, {"d2": "Hold it."}, {"q1": "reset"})
    >>> found.counts["not indexed"], found["not indexed"][0].why
    (1, 'missing: d1')
    """

    findings: Mapping[str, Finding]
    counts: Mapping[str, int]
    groups: Mapping[str, tuple[Group, ...]]
    not_assessed: Mapping[str, str]
    settings: Mapping[str, Any]

    @property
    def n(self) -> int:
        """How many queries fail."""
        return len(self.findings)

    def __getitem__(self, bucket: str) -> tuple[Finding, ...]:
        if bucket not in self.counts:
            raise KeyError(f"no bucket {bucket!r}; there is {', '.join(map(repr, self.counts))}")
        return tuple(one for one in self.findings.values() if one.bucket == bucket)

    def table(self) -> str:
        """The counts, what groups explain, and what was not assessed, as text."""
        width = max(len(name) for name in (*self.counts, "failing queries"))
        lines = [f"{'':{width}}  queries   share"]
        for name, count in self.counts.items():
            lines.append(f"{name:{width}}  {count:7}  {count / self.n if self.n else 0:.4f}")
            lines += [f"{'':{width}}           {group}" for group in self.groups.get(name, ())]
        lines.append(f"{'failing queries':{width}}  {self.n:7}")
        lines += [f"not assessed: {what} ({needs})" for what, needs in self.not_assessed.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        head = "<tr><th>bucket</th><th>queries</th><th>share</th><th>for example</th></tr>"
        rows = []
        for name, count in self.counts.items():
            first = next((one for one in self.findings.values() if one.bucket == name), None)
            notes = [f"{first.qid}: {first.query} ({first.why})"] if first else []
            notes += map(str, self.groups.get(name, ()))
            cells = "<br>".join(escape(note) for note in notes)
            share = count / self.n if self.n else 0
            rows.append(
                f'<tr><th scope="row">{escape(name)}</th><td style="text-align:right">{count}</td>'
                f'<td style="text-align:right">{share:.2f}</td><td style="text-align:left">{cells}</td></tr>'
            )
        missing = "; ".join(f"{what} ({needs})" for what, needs in self.not_assessed.items())
        foot = f"<p>Not assessed: {escape(missing)}</p>" if missing else ""
        return (
            f"<table><caption>{self.n} failing queries, one bucket each</caption><thead>{head}</thead>"
            f"<tbody>{''.join(rows)}</tbody></table>{foot}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it in what JSON knows."""
        return {
            "failing": self.n,
            "counts": dict(self.counts),
            "findings": {
                qid: {
                    "bucket": one.bucket,
                    "query": one.query,
                    "docs": list(one.docs),
                    "evidence": _plain(one.evidence),
                }
                for qid, one in self.findings.items()
            },
            "groups": {name: [group._asdict() for group in groups] for name, groups in self.groups.items()},
            "not_assessed": dict(self.not_assessed),
            "settings": _plain(self.settings),
        }


@runtime_checkable
class Ranker(Protocol):
    """Whatever can say where it ranks a document: `BM25Index`, `DenseIndex`."""

    def rank_of(self, query: str, doc_id: str) -> int | None:
        """Rank, from 1; None where it is no hit."""


# the triage


def triage(
    failing: Iterable[str],
    labels: Iterable[Label] | Qrels,
    texts: Mapping[str, str],
    queries: Mapping[str, str],
    *,
    dense: Runs | Ranker | None = None,
    lexical: Runs | Ranker | None = None,
    second: Iterable[Label] | Qrels | None = None,
    docs: Mapping[str, str] | None = None,
    origin: Origin | None = None,
    aliases: Mapping[str, str] | None = None,
    about: Mapping[str, Mapping[str, Any]] | None = None,
    names: Collection[str] = (),
    tests: Sequence[Test] = TESTS,
    candidate_k: int = 50,
    lexical_k: int = 10,
    language: float = 0.5,
) -> Triage:
    """Sort failing queries into buckets, one each: what is the earliest thing that is wrong?

    `failing` are the ids of the queries; `misses` finds them. `labels` are labels with spans, or qrels: {query id:
    ids of the relevant}, graded or not. `texts` is what is indexed, {id: text}; an id that is not there is not in the
    index. `queries` are their texts. In this order, a query falls into

    - "not indexed": of no answer is anything in the index;
    - "chunk suspect": no passage holds an answer whole. With spans: the span is cut, or the sentence that it stands
      in. With ids alone: the passage begins or ends in the middle of a sentence; from `docs` that is known, from the
      text alone it is a guess. With either: the words of the query stand next to the passage and not in it, so that
      its neighbours in the document add `language` or more of the query's weight (its terms, by idf, but for stop
      words);
    - "judgment error": the second reader read all of the whole passages, and calls none of them relevant;
    - "lexical finds it": the lexical list has one in its top `lexical_k`, the dense one not in its top `candidate_k`;
    - "other code-like query": the dense list has none, and `code_like` sees something in the query;
    - "dense blind": the dense list has none, and nothing else is known to be wrong;
    - "none of these", which is shown only where it happens: the dense list has it among the candidates, so whatever
      lost it stands behind, a fusion or a filter.

    `dense` and `lexical` are indexes, or runs, as deep as they were made: what is not in a list has no rank.
    `second` has the labels of a second reader, or graded qrels: {query id: {id: grade}} with 0 for read and not
    relevant. `docs` are the documents as they were written, which show whether a boundary lies within a sentence;
    `origin` says where the passages stand, and comes with `texts` where these are `Passages`. `aliases` maps a
    document to the one whose text it repeats. `about` says what is known of documents, {document id: {attribute:
    value}}, the missing ones included: where those of a bucket have something in common, `groups` says it. `names`
    are code-like by your word. `tests` are the questions in their order, your own among them. What is not given is
    named as not assessed.

    TypeError for other shapes, and for second qrels without grades. ValueError for a failing query without a relevant
    document, without labels, or without a text; for one that is given twice; for two tests of one name; for ks below
    1, and `language` outside 0 to 1.

    >>> texts = {"d1": "Hold it.", "d3": "First drain the tank. Then open the", "d4": "The MX-4471-B needs oil."}
    >>> queries = {"q1": "cleaning", "q2": "what after draining", "q3": "mx-4471-b service"}
    >>> qrels = {"q1": {"d2"}, "q2": {"d3"}, "q3": {"d4", "d9"}}
    >>> triage(["q1", "q2", "q3"], qrels, texts, queries, dense={}, lexical={"q3": ["d4"]})
                           queries   share
    not indexed                  1  0.3333
    chunk suspect                1  0.3333
    judgment error               0  0.0000
    lexical finds it             1  0.3333
    other code-like query        0  0.0000
    dense blind                  0  0.0000
    failing queries              3
    not assessed: judgment error (second: the labels of a second reader)
    not assessed: lost language (origin: where each passage stands in its document)
    not assessed: common traits (about: what is known of the documents)
    """
    wanted = _failing(failing)
    for name, k in (("candidate_k", candidate_k), ("lexical_k", lexical_k)):
        try:
            checked_k(k)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    if isinstance(names, str):
        raise TypeError(f"names is one string; give a list of names, [{names!r}]")
    if not 0 <= language <= 1:
        raise ValueError(f"language is {language}; it is a share between 0 and 1")
    if twice := [name for name, n in Counter(test.name for test in tests).items() if n > 1]:
        raise ValueError(f"two tests are named {twice[0]!r}; a bucket has one name")
    units = Units.read(texts, docs, origin, aliases)
    asked = checked_texts("queries", queries)
    if silent := [qid for qid in wanted if qid not in asked]:
        raise ValueError(f"query {silent[0]!r} fails, and has no text: queries has {len(asked)} others")
    answers = _answers(labels, wanted, units)
    judged = _second(second, units)
    find_dense, find_lexical = _ranker("dense", dense, asked), _ranker("lexical", lexical, asked)
    wording = Wording(units, asked, wanted, language)
    findings: dict[str, Finding] = {}
    for qid in wanted:
        case = Case(
            qid,
            asked[qid],
            tuple(checked(answer, qid, units, wording) for answer in answers[qid]),
            judged.get(qid, {}),
            int(candidate_k),
            int(lexical_k),
            tuple(names),
            units.texts,
            lambda name, qid=qid: find_dense(qid, name),  # type: ignore[misc]
            lambda name, qid=qid: find_lexical(qid, name),  # type: ignore[misc]
        )
        bucket, evidence = _first(case, tests)
        named = dict.fromkeys(answer.doc_id for answer in case.answers)
        findings[qid] = Finding(qid, case.query, bucket, MappingProxyType(evidence), tuple(named))
    counted = Counter(one.bucket for one in findings.values())
    counts = {test.name: counted[test.name] for test in tests}
    if counted[NONE_OF_THESE]:
        counts[NONE_OF_THESE] = counted[NONE_OF_THESE]
    documents: dict[str, set[str]] = {bucket: set() for bucket in counts}
    for one in findings.values():
        documents[one.bucket] |= {units.document(doc_id) for doc_id in one.docs}
    unread = sum(not judged.get(qid) for qid in wanted)
    return Triage(
        MappingProxyType(findings),
        MappingProxyType(counts),
        MappingProxyType(common_traits(documents, about or {})),
        MappingProxyType(_not_assessed(dense, lexical, second, units, about, unread, len(wanted))),
        MappingProxyType({"candidate_k": candidate_k, "lexical_k": lexical_k, "language": language}),
    )


def misses(
    runs: Runs, labels: Iterable[Label] | Qrels, k: int = 50, *, origin: Origin | None = None
) -> tuple[str, ...]:
    """The failing queries: those with a relevant label, and nothing relevant in the top k of the run.

    From labels, a passage of `origin` is relevant where it holds a relevant span whole. A query whose answer is in no
    passage fails: qrels that were made from the labels do not have it, and a mean over them leaves it out. In the
    order of the labels. ValueError for k below 1; other errors as for the measures.

    >>> labels = [Label(f"q{n}", f"d{n}", 0, 50, "relevant", span=(8, 20)) for n in (1, 2)]
    >>> misses({"q1": ["d1#1"], "q2": []}, labels, 10, origin={"d1#1": ("d1", 0, 12), "d1#2": ("d1", 12, 50)})
    ('q1', 'q2')
    """
    k = int(checked_k(k))
    if isinstance(labels, Mapping):
        asked = judgments(labels)
        relevant = {qid: {doc for doc, grade in own.items() if grade >= 1} for qid, own in asked.items()}
        relevant = {qid: own for qid, own in relevant.items() if own}
    else:
        listed = _labels(labels)
        qrels = qrels_from_labels(listed, origin)
        relevant = {
            label.query_id: {name for name, grade in qrels[label.query_id].items() if grade >= 1}
            for label in listed
            if label.label == "relevant"
        }
    found = rankings(runs)
    return tuple(qid for qid, own in relevant.items() if not own & set(list(found.get(qid, ()))[:k]))


def _failing(failing: Iterable[str]) -> list[str]:
    if isinstance(failing, str | bytes) or not isinstance(failing, Iterable):
        raise TypeError(f"failing is a {type(failing).__name__}; give the ids of the queries in a list")
    wanted = [str(qid) for qid in failing]
    if twice := [qid for qid, n in Counter(wanted).items() if n > 1]:
        raise ValueError(f"query {twice[0]!r} is given twice among the failing")
    return wanted


def _labels(labels: Iterable[Label]) -> list[Label]:
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise TypeError(f"the labels are a {type(labels).__name__}; give labels in a list, or {{query id: ids}}")
    listed = list(labels)
    if wrong := [one for one in listed if not isinstance(one, Label)]:
        raise TypeError(f"{wrong[0]!r} is no label; give labels in a list, or {{query id: ids}}")
    return listed


def _answers(labels: Iterable[Label] | Qrels, wanted: Sequence[str], units: Units) -> dict[str, list[Answer]]:
    if isinstance(labels, Mapping):
        graded = judgments(labels)
        relevant = {
            qid: sorted(doc for doc, grade in graded[qid].items() if grade >= 1) for qid in wanted if qid in graded
        }
        answers = {
            qid: [
                Answer(doc, None, tuple(name for name in units.same(doc) if name in units.texts), {}) for doc in own
            ]
            for qid, own in relevant.items()
        }
    else:
        answers = {}
        places = units.by_doc if units.origin else {n: [(0, len(text), n)] for n, text in units.texts.items()}
        for label in _labels(labels):
            own = answers.setdefault(label.query_id, [])
            if label.label == "relevant" and label.span:
                begin, stop = label.span
                touching = [
                    name
                    for doc_id in units.same(label.doc_id)
                    for start, end, name in places.get(doc_id, ())
                    if start < stop and begin < end
                ]
                own.append(Answer(label.doc_id, label.span, tuple(touching), {}))
    for qid in wanted:
        if qid not in answers:
            raise ValueError(f"query {qid!r} fails, and the labels do not have it. Are the ids of one kind?")
        if not answers[qid]:
            raise ValueError(f"query {qid!r} has no relevant document: no ranking can answer it, so it cannot fail")
    return answers


def _second(second: Iterable[Label] | Qrels | None, units: Units) -> Mapping[str, Mapping[str, int]]:
    if second is None:
        return {}
    if isinstance(second, Mapping):
        if plain := next((qid for qid, own in second.items() if not isinstance(own, Mapping)), None):
            raise TypeError(
                f"second: query {str(plain)!r} only lists what is relevant; a second reader's qrels need grades, "
                "{query id: {id: grade}} with 0 for what was read and is not relevant"
            )
        return judgments(second)
    aliases = {name: own[0] for name, own in units.twins.items() if name != own[0]}
    return qrels_from_labels(_labels(second), units.origin, aliases=aliases)


def _ranker(name: str, given: Runs | Ranker | None, queries: Mapping[str, str]) -> Callable[[str, str], int | None]:
    if given is None:
        return lambda qid, passage: None
    if isinstance(given, Mapping):
        places = {
            qid: {doc: place for place, doc in enumerate(ranking, 1)} for qid, ranking in rankings(given).items()
        }
        return lambda qid, passage: places.get(qid, {}).get(passage)
    if isinstance(given, Ranker):
        return lambda qid, passage: given.rank_of(queries[qid], passage)
    raise TypeError(
        f"{name} is a {type(given).__name__}; give a run, {{query id: ranking}}, or an index with rank_of"
    )


def _first(case: Case, tests: Sequence[Test]) -> tuple[str, dict[str, Any]]:
    for test in tests:
        evidence = test.fires(case)
        if evidence is None or evidence is False:
            continue
        if isinstance(evidence, Mapping):
            return test.name, dict(evidence)
        return test.name, {} if evidence is True else {"evidence": evidence}
    return NONE_OF_THESE, {"dense": case.best_dense, "lexical": case.best_lexical}


def _not_assessed(
    dense: object, lexical: object, second: object, units: Units, about: object, unread: int, n: int
) -> dict[str, str]:
    missing: dict[str, str] = {}
    if dense is None:
        missing["dense ranks"] = "dense: an index or a run; every failing query counts as missed by it"
    if lexical is None:
        missing[LEXICAL_FINDS_IT] = "lexical: an index or a run"
    if second is None:
        missing[JUDGMENT_ERROR] = "second: the labels of a second reader"
    elif unread:
        missing[JUDGMENT_ERROR] = f"second: {unread} of {n} queries were not read a second time"
    if units.origin is None:
        missing["lost language"] = "origin: where each passage stands in its document"
    if about is None:
        missing["common traits"] = "about: what is known of the documents"
    return missing


def _shown(value: Any) -> str:  # noqa: ANN401 - whatever a test gives as its evidence
    if value is None:
        return "nowhere"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} ({_shown(own)})" for name, own in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _plain(value: Any) -> Any:  # noqa: ANN401 - the same, for JSON
    if isinstance(value, Mapping):
        return {str(name): _plain(own) for name, own in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(own) for own in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, str | int | float | bool | None) else str(value)
