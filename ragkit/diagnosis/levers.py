"""Which lever do the numbers support? Recall where the candidates end, recall and precision where the consumer reads.

The two depths point at a stage, and neither is good or bad by itself: a precision of 0.162 is poor where 1.0 can be
had, and close to the best where a query has one relevant passage. So each figure stands beside what is attainable
without another first stage, and what was not given is named as not assessed, never as absent.

Which lever: the cheap before the expensive, and nothing that rests on a figure which was not measured. A low recall
never points at the encoder by itself; it points at the triage, in `ragkit.diagnosis.buckets`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from html import escape
from math import floor, isfinite, isnan
from types import MappingProxyType
from typing import Any, Literal

from ragkit.corpora.duplicates import content_hash, near_duplicates
from ragkit.diagnosis.buckets import (
    CHUNK_SUSPECT,
    CODE_LIKE,
    DENSE_BLIND,
    JUDGMENT_ERROR,
    LEXICAL_FINDS_IT,
    NOT_INDEXED,
    Triage,
)
from ragkit.diagnosis.wholeness import checked_texts
from ragkit.measure.metrics import checked_k, judged_at_k, originals, precision_at_k, recall_at_k
from ragkit.measure.paired import Difference
from ragkit.measure.runs import Grades, Joined, Mean, Qrels, Runs, join

Lever = Literal[
    "leave it",
    "rerank",
    "adapt the encoder",
    "fuse",
    "re-chunk",
    "fix ingestion",
    "deduplicate",
    "label more",
    "fewer candidates",
    "triage first",
]

BUCKET_LEVERS: Mapping[str, Lever] = MappingProxyType(
    {
        NOT_INDEXED: "fix ingestion",
        CHUNK_SUSPECT: "re-chunk",
        JUDGMENT_ERROR: "label more",
        LEXICAL_FINDS_IT: "fuse",
        CODE_LIKE: "fuse",
        DENSE_BLIND: "adapt the encoder",
    }
)


@dataclass(frozen=True)
class Thresholds:
    """What counts as enough. None is a law; each is an argument of `diagnose`.

    recall_enough: share of the queries with an answer that have one among the candidates (1 is attainable).
    precision_enough: share of the attainable precision.
    worth: any-hit recall that reordering could win, from where it is worth a component.
    judged_enough: share of the places shown that somebody judged; below it, a miss may be a missing label.
    repeat_share: share of the places shown that repeat the text of an earlier one; 0.2 is one in five.
    near: share of common shingles from where two texts are one answer (`near_duplicates`).
    adapt_share: share of the failures that must be dense blind before the encoder is to blame.
    """

    recall_enough: float = 0.9
    precision_enough: float = 0.9
    worth: float = 0.05
    judged_enough: float = 0.8
    repeat_share: float = 0.2
    near: float = 0.8
    adapt_share: float = 0.5

    def __post_init__(self) -> None:
        for one in fields(self):
            if not 0 < (value := getattr(self, one.name)) <= 1:
                raise ValueError(f"{one.name} is {value}; it is a share, above 0 and at most 1")


@dataclass(frozen=True, repr=False, eq=False)
class Diagnosis:
    """The figures, and the lever that they support; printed, it is a table.

    `recall_candidate` and `recall_consumer` are any-hit recall at `candidate_k` and `consumer_k`, `precision` that at
    `consumer_k`; `attainable_precision` is the mean of min(relevant within candidate_k, consumer_k) / consumer_k:
    what the best order of the same candidates has. `recall_gain` and `precision_gain` are what reordering could win
    in each: a bound, which no reranker need reach. `distinct` counts the different relevant answers in the top,
    `attainable_distinct` those that the best order would show, and `repeats` is the share of the places that repeat
    an earlier text. `judged` is the share of the places that somebody judged, `indexed` that of the queries with an
    answer in the index. `pairs` is how many pairs fit into the budget, `recall_pairs` the recall at that depth.

    All are means over the same queries, with `.interval`; None where they were not assessed, and `not_assessed` says
    what each needs. `figures` are those that the lever rests on, `caveats` what would make it another one.

    >>> found = diagnose({"q1": ["d1", "d2"]}, {"q1": {"d1"}}, candidate_k=2, consumer_k=1)
    >>> found.lever, dict(found.figures)["precision"], list(found.not_assessed)[0]
    ('leave it', 1.0, 'distinct answers')
    """

    candidate_k: int
    consumer_k: int
    recall_candidate: Mean
    recall_consumer: Mean
    precision: Mean
    attainable_precision: Mean
    recall_gain: Difference
    precision_gain: Difference
    distinct: Mean | None
    attainable_distinct: Mean | None
    repeats: Mean | None
    judged: Mean | None
    indexed: Mean | None
    pairs: int | None
    recall_pairs: Mean | None
    triaged: Triage | None
    thresholds: Thresholds
    not_assessed: Mapping[str, str]
    lever: Lever = "leave it"
    why: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Over how many queries: those with a relevant document."""
        return self.recall_candidate.n

    def rows(self) -> dict[str, Mean]:
        """The figures that were assessed, by name."""
        named = {
            f"recall at {self.candidate_k}": self.recall_candidate,
            f"recall at {self.consumer_k}": self.recall_consumer,
            f"precision at {self.consumer_k}": self.precision,
            "  attainable": self.attainable_precision,
            "reordering, in recall": self.recall_gain,
            "reordering, in precision": self.precision_gain,
            f"distinct answers in {self.consumer_k}": self.distinct,
            "  attainable distinct": self.attainable_distinct,
            "places that repeat a text": self.repeats,
            "places judged": self.judged,
            "queries with an answer indexed": self.indexed,
            f"recall at {self.pairs}, which fits": self.recall_pairs,
        }
        return {name: mean for name, mean in named.items() if mean is not None}

    def __repr__(self) -> str:
        width = max(map(len, self.rows()))
        lines = [f"{self.lever}: {self.why}", f"{self.n} queries", f"{'':{width}}   value  95 % interval"]
        lines += [f"{name:{width}}  {mean:6.3f}  {_interval(mean)}" for name, mean in self.rows().items()]
        if left_out := self.recall_candidate.left_out:
            lines.append(f"{len(left_out)} queries left out: nothing relevant")
        if missing := self.recall_candidate.missing:
            lines.append(f"{len(missing)} queries missing from the run: counted as 0")
        lines += [f"but: {caveat}" for caveat in self.caveats]
        return "\n".join([*lines, *(f"not assessed: {what} ({needs})" for what, needs in self.not_assessed.items())])

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(name.strip())}</th>'
            f'<td style="text-align:right">{mean:.3f}</td><td style="text-align:right">{_interval(mean)}</td></tr>'
            for name, mean in self.rows().items()
        )
        notes = [f"But: {caveat}." for caveat in self.caveats]
        notes += [f"Not assessed: {what} ({needs})." for what, needs in self.not_assessed.items()]
        return (
            f"<p><strong>{escape(self.lever)}</strong>: {escape(self.why)}</p>"
            f"<table><caption>{self.n} queries</caption><thead><tr><th></th><th>value</th><th>95 % interval</th></tr>"
            f"</thead><tbody>{rows}</tbody></table>" + "".join(f"<p>{escape(note)}</p>" for note in notes)
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it in what JSON knows; an interval that cannot be had is null."""
        figures: dict[str, Any] = {}
        for name in _MEANS:
            mean = getattr(self, name)
            figures[name] = None
            if mean is not None:
                figures[name] = {"value": float(mean), "n": mean.n, "interval": _bounds(mean)}
        return {
            "lever": self.lever,
            "why": self.why,
            "rests_on": dict(self.figures),
            "caveats": list(self.caveats),
            "candidate_k": self.candidate_k,
            "consumer_k": self.consumer_k,
            "queries": self.n,
            "left_out": list(self.recall_candidate.left_out),
            "missing": list(self.recall_candidate.missing),
            **figures,
            "pairs": self.pairs,
            "triage": dict(self.triaged.counts) if self.triaged else None,
            "thresholds": {one.name: getattr(self.thresholds, one.name) for one in fields(self.thresholds)},
            "not_assessed": dict(self.not_assessed),
        }


_MEANS = (
    "recall_candidate recall_consumer precision attainable_precision recall_gain precision_gain distinct "
    "attainable_distinct repeats judged indexed recall_pairs"
).split()


def diagnose(
    runs: Runs,
    qrels: Qrels,
    *,
    candidate_k: int = 50,
    consumer_k: int = 5,
    texts: Mapping[str, str] | None = None,
    aliases: Mapping[str, str] | None = None,
    budget_ms: float | None = None,
    rerank_ms_per_pair: float | None = None,
    first_stage_ms: float = 0.0,
    triaged: Triage | None = None,
    recall_enough: float = 0.9,
    precision_enough: float = 0.9,
    worth: float = 0.05,
    judged_enough: float = 0.8,
    repeat_share: float = 0.2,
    near: float = 0.8,
    adapt_share: float = 0.5,
) -> Diagnosis:
    """Read recall and precision as coordinates: which lever do they support, and how much could it win?

    `candidate_k` is the depth that the first stage hands on, `consumer_k` what the prompt or the page shows. `texts`
    is what is indexed, {id: text}: with it, near-duplicates in the top are seen, and answers that no index has.
    `aliases` maps a document to the one whose text it repeats. `budget_ms` and `rerank_ms_per_pair` say what a query
    may take and a reranker takes, `first_stage_ms` what is spent before. `triaged` is the `triage` of the misses at
    `candidate_k`. The rest are thresholds; `Thresholds` says what each means.

    The first that holds is the lever:

    - "label more": too few of the places shown are judged, and recall or precision would take the blame;
    - recall at `candidate_k` is low: "fix ingestion" where half of the misses or more have no answer in `texts`; else
      by the triage its largest cause ("fix ingestion", "re-chunk", "label more", "fuse"), or "adapt the encoder"
      where more than `adapt_share` of the failures are dense blind and no cause was left unassessed; and without a
      triage, or where it cannot tell, "triage first";
    - "deduplicate": places repeat the text of an earlier one;
    - the order wins `worth` or more in recall, or precision is below what is attainable: "rerank"; "fewer candidates"
      where only some of them fit the budget. Where too few fit for any gain, recall at `consumer_k` governs, and if
      that is low it is "triage first";
    - "leave it".

    ValueError where `candidate_k` is below `consumer_k` or either is below 1, for times that are not positive, and
    thresholds outside 0 to 1; other errors as for the measures.

    >>> run = {f"q{i}": ["n1", "n2", "n3", "n4", "n5", f"d{i}"] for i in range(10)}
    >>> found = diagnose(run, {f"q{i}": {f"d{i}"} for i in range(10)})
    >>> found.lever, found.recall_candidate, found.recall_consumer, found.attainable_precision
    ('rerank', 1.00 (10 of 10), 0.00 (0 of 10), 0.200 (mean of 10))
    >>> found.why
    'reordering the 50 candidates could win 1.00 in recall at 5, and 0.200 in precision: 0.000 of 0.200 is had'
    """
    for name, k in (("candidate_k", candidate_k), ("consumer_k", consumer_k)):
        try:
            checked_k(k)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    if candidate_k < consumer_k:
        raise ValueError(f"candidate_k is {candidate_k}, below consumer_k, {consumer_k}: what is shown is retrieved")
    if triaged is not None and not isinstance(triaged, Triage):
        raise TypeError(f"triaged is a {type(triaged).__name__}; give what triage(...) returns")
    known = None if texts is None else checked_texts("texts", texts)
    limits = Thresholds(recall_enough, precision_enough, worth, judged_enough, repeat_share, near, adapt_share)
    pairs = _pairs(budget_ms, rerank_ms_per_pair, first_stage_ms)
    joined = join(runs, qrels)
    candidate, consumer = (recall_at_k(runs, qrels, k) for k in (candidate_k, consumer_k))
    precision = precision_at_k(runs, qrels, consumer_k)
    attainable = joined.mean(
        lambda ranking, grades: min(len(_hits(ranking[:candidate_k], grades)), consumer_k) / consumer_k
    )
    distinct = best = repeats = judged = indexed = None
    not_assessed: dict[str, str] = {}
    if texts is None and aliases is None:
        not_assessed["distinct answers"] = "texts, or aliases"
    else:
        distinct, best, repeats = _distinct(joined, candidate_k, consumer_k, known or {}, aliases or {}, near)
    graded = [own for own in qrels.values() if isinstance(own, Mapping)]
    if len(graded) == len(qrels) and any(int(grade) < 1 for own in graded for grade in own.values()):
        judged = judged_at_k(runs, qrels, consumer_k)
    else:
        not_assessed["judged share"] = "qrels that also hold what was judged irrelevant, with grade 0"
    if known is None:
        not_assessed["answers that are not indexed"] = "texts: what is indexed"
    else:
        ends = originals(aliases or {})
        there = {*known, *(ends.get(name, name) for name in known)}
        indexed = joined.mean(
            lambda _, grades: float(any(doc in there or ends.get(doc, doc) in there for doc in _hits(grades, grades)))
        )
    if pairs is None:
        not_assessed["latency"] = "budget_ms and rerank_ms_per_pair"
    if triaged is None:
        not_assessed["causes of the misses"] = "triaged: a triage of them"
    depth = None if pairs is None else min(pairs, candidate_k)
    found = Diagnosis(
        candidate_k=int(candidate_k),
        consumer_k=int(consumer_k),
        recall_candidate=candidate,
        recall_consumer=consumer,
        precision=precision,
        attainable_precision=attainable,
        recall_gain=_minus(candidate, consumer),
        precision_gain=_minus(attainable, precision),
        distinct=distinct,
        attainable_distinct=best,
        repeats=repeats,
        judged=judged,
        indexed=indexed,
        pairs=pairs,
        recall_pairs=recall_at_k(runs, qrels, depth) if depth else None,
        triaged=triaged,
        thresholds=limits,
        not_assessed=MappingProxyType(not_assessed),
    )
    lever, why, names = _decided(found)
    return replace(
        found,
        lever=lever,
        why=why,
        figures=MappingProxyType({name: float(getattr(found, name)) for name in names}),
        caveats=_caveats(found, names, max(map(len, joined.rankings.values())), qrels),
    )


def _pairs(budget_ms: float | None, per_pair: float | None, before: float) -> int | None:
    """How many pairs fit. 35 ms at 0.7 are fifty, whatever the division in floats says."""
    for name, value, least in (("budget_ms", budget_ms, 0), ("rerank_ms_per_pair", per_pair, 0)):
        if value is not None and not (isfinite(value) and value > least):
            raise ValueError(f"{name} is {value}; it is a time in milliseconds, above 0")
    if not (isfinite(before) and before >= 0):
        raise ValueError(f"first_stage_ms is {before}; it is a time in milliseconds, 0 or more")
    if budget_ms is None or per_pair is None:
        return None
    return max(0, floor((budget_ms - before) / per_pair + 1e-9))


def _hits(doc_ids: Sequence[str] | Grades, grades: Grades) -> list[str]:
    return [doc_id for doc_id in doc_ids if grades.get(doc_id, 0) >= 1]


def _minus(one: Mean, other: Mean) -> Difference:
    return Difference({qid: one.values[qid] - other.values[qid] for qid in sorted(one.values)}, one.left_out)


def _distinct(
    joined: Joined, depth: int, k: int, texts: Mapping[str, str], aliases: Mapping[str, str], near: float
) -> tuple[Mean, Mean, Mean]:
    """Distinct relevant answers in the top k; those that the best order of the candidates shows; repeated places."""
    ends = originals(aliases)
    answers: dict[str, float] = {}
    best: dict[str, float] = {}
    repeats: dict[str, float] = {}
    for qid, ranking in joined.rankings.items():
        grades = joined.grades[qid]
        # twins that nobody labelled are relevant where what they repeat is: so the labelled ones are compared too
        ids = list(dict.fromkeys([*ranking[:k], *_hits(ranking[:depth], grades), *_hits(grades, grades)]))
        group = _grouped(ids, texts, ends, near)
        relevant = {group[doc_id] for doc_id in _hits(ids, grades)}
        top = [group[doc_id] for doc_id in ranking[:k]]
        answers[qid] = float(len(relevant & set(top)))
        within = {group.get(doc_id, doc_id) for doc_id in ranking[:depth]}
        best[qid] = float(min(len(relevant & within), k))
        repeats[qid] = (len(top) - len(set(top))) / k
    rest = joined.left_out, joined.missing, joined.unlabelled
    return Mean(answers, *rest), Mean(best, *rest), Mean(repeats, *rest)


def _grouped(ids: Sequence[str], texts: Mapping[str, str], ends: Mapping[str, str], near: float) -> dict[str, str]:
    """Each id with the first one that says the same: by alias, by content hash, or nearly, through any chain."""
    first = {name: name for name in ids}

    def root(name: str) -> str:
        while first[name] != name:
            name = first[name]
        return name

    def join_up(one: str, other: str) -> None:
        a, b = sorted((root(one), root(other)), key=ids.index)
        first[b] = a

    same: dict[tuple[str, str], str] = {}
    for name in ids:
        join_up(same.setdefault(("alias", ends.get(name, name)), name), name)
        if texts.get(name, "").strip():
            join_up(same.setdefault(("text", content_hash(texts[name])), name), name)
    for pair in near_duplicates({name: texts[name] for name in ids if texts.get(name, "").strip()}, near):
        join_up(pair.first, pair.second)
    return {name: root(name) for name in ids}


# which lever

Decision = tuple[Lever, str, tuple[str, ...]]


def _decided(d: Diagnosis) -> Decision:
    limits, k = d.thresholds, d.consumer_k
    low = d.recall_candidate < limits.recall_enough
    disordered = d.precision < limits.precision_enough * d.attainable_precision
    gains = d.recall_gain >= limits.worth or disordered
    if d.judged is not None and d.judged < limits.judged_enough and (low or gains):
        why = f"only {d.judged:.2f} of the {k} places shown are judged: what looks like a miss may be a missing label"
        return "label more", why, ("judged", "recall_candidate", "precision")
    if low:
        return _low(d, d.recall_candidate, d.candidate_k, "recall_candidate")
    if d.repeats is not None and d.distinct is not None and d.repeats >= limits.repeat_share:
        why = (
            f"{d.repeats:.2f} of the {k} places repeat the text of an earlier one: precision is {d.precision:.2f}, "
            f"and a query gets {d.distinct:.2f} distinct answers"
        )
        return "deduplicate", why, ("repeats", "distinct", "precision")
    if gains:
        return _reorder(d)
    why = (
        f"recall at {d.candidate_k} is {d.recall_candidate:.2f}, reordering could win {max(d.recall_gain, 0):.2f} in "
        f"recall, and precision is {d.precision:.3f} of {d.attainable_precision:.3f} attainable"
    )
    return "leave it", why, ("recall_candidate", "recall_gain", "precision", "attainable_precision")


def _reorder(d: Diagnosis) -> Decision:
    rests_on = ("recall_gain", "precision", "attainable_precision")
    could = (
        f"could win {d.recall_gain:.2f} in recall at {d.consumer_k}, and {d.precision_gain:.3f} in precision: "
        f"{d.precision:.3f} of {d.attainable_precision:.3f} is had"
    )
    if d.pairs is None or d.pairs >= d.candidate_k:
        return "rerank", f"reordering the {d.candidate_k} candidates {could}", rests_on
    if d.pairs > d.consumer_k and d.recall_pairs is not None:
        why = (
            f"{d.pairs} pairs fit the budget, not {d.candidate_k}: recall at {d.pairs} is {d.recall_pairs:.2f}, of "
            f"{d.recall_candidate:.2f} at {d.candidate_k} and {d.recall_consumer:.2f} at {d.consumer_k}"
        )
        return "fewer candidates", why, ("recall_pairs", "recall_candidate", "recall_consumer")
    fits = f"{d.pairs} pairs fit the budget, so no order but the first stage's is shown"
    if d.recall_consumer < d.thresholds.recall_enough:
        why = f"{fits}, and recall at {d.consumer_k} governs, {d.recall_consumer:.2f}: triage the misses there"
        return "triage first", why, ("recall_consumer",)
    return "leave it", f"{fits}, and recall at {d.consumer_k} is {d.recall_consumer:.2f}", ("recall_consumer",)


def _low(d: Diagnosis, recall: Mean, k: int, name: str) -> Decision:
    missed = [qid for qid, hit in recall.values.items() if not hit]
    lead = f"recall at {k} is {recall:.2f}, {len(missed)} of {recall.n} queries miss"
    absent = [] if d.indexed is None else [qid for qid in missed if not d.indexed.values[qid]]
    if absent and 2 * len(absent) >= len(missed) and d.indexed is not None:
        why = f"{lead}, and of {len(absent)} of these no answer is in the index"
        return "fix ingestion", why, (name, "indexed")
    if d.triaged is None or not d.triaged.n:
        return "triage first", f"{lead}: one bit, which an absent, a cut and a badly ranked answer share", (name,)
    counts = d.triaged.counts
    by_lever: dict[Lever, int] = {}
    for bucket, count in counts.items():
        lever = BUCKET_LEVERS.get(bucket, "triage first")
        by_lever[lever] = by_lever.get(lever, 0) + count
    blind = by_lever.pop("adapt the encoder", 0)
    shown = ", ".join(f"{bucket} {count}" for bucket, count in counts.items() if count)
    if blind > d.thresholds.adapt_share * d.triaged.n:
        gaps = [what for what in (JUDGMENT_ERROR, LEXICAL_FINDS_IT, "dense ranks") if what in d.triaged.not_assessed]
        if gaps:
            why = f"{lead}; {blind} of {d.triaged.n} are left over, but not assessed: {', '.join(gaps)}"
            return "triage first", why, (name,)
        return "adapt the encoder", f"{lead}; {blind} of {d.triaged.n} are dense blind ({shown})", (name,)
    largest: Lever = max(by_lever, key=lambda lever: by_lever[lever])  # of equal ones the most upstream
    if not by_lever[largest]:
        return "triage first", f"{lead}; the triage names no cause that is large enough ({shown})", (name,)
    why = f"{lead}; the largest named cause has {by_lever[largest]} of {d.triaged.n} ({shown})"
    return largest, why, (name,)


def _caveats(d: Diagnosis, names: Sequence[str], longest: int, qrels: Qrels) -> tuple[str, ...]:
    limits = d.thresholds
    caveats = []
    if longest < d.candidate_k:
        caveats.append(f"no list is longer than {longest}, so recall at {d.candidate_k} may be too low")
    if lost := len(getattr(qrels, "lost", ())) + len(getattr(qrels, "absent", ())):
        caveats.append(
            f"{lost} labels name answers that no passage holds: where a query has no other, it is left out here, and "
            "misses in truth. Triage with the labels"
        )
    lines: dict[str, float] = {
        "recall_candidate": limits.recall_enough,
        "recall_gain": limits.worth,
        "judged": limits.judged_enough,
        "repeats": limits.repeat_share,
    }
    for name in names:
        mean = getattr(d, name)
        bounds = _bounds(mean) if name in lines else None
        if bounds and bounds[0] < lines[name] < bounds[1]:
            caveats.append(
                f"the interval of {name.replace('_', ' ')}, {bounds[0]:.2f} to {bounds[1]:.2f}, holds the threshold, "
                f"{lines[name]:g}: {mean.n} queries do not settle it"
            )
    missed = sum(not hit for hit in d.recall_candidate.values.values())
    if d.distinct is not None:
        twins = sum(d.distinct.values[qid] > 0 and not hit for qid, hit in d.recall_candidate.values.items())
        if twins:
            caveats.append(
                f"{twins} of the queries that miss show the text of a relevant document, under an id without a label"
            )
    if d.triaged is not None and d.triaged.n != missed:
        caveats.append(f"the triage is of {d.triaged.n} failures, and {missed} queries miss at {d.candidate_k}")
    return tuple(caveats)


def _bounds(mean: Mean) -> tuple[float, float] | None:
    """The interval; None where there is none, or where what computes it is not installed."""
    try:
        low, high = mean.interval
    except ImportError:
        return None
    return None if isnan(low) else (low, high)


def _interval(mean: Mean) -> str:
    return _or_missing(lambda: f"{mean.interval[0]:.3f} to {mean.interval[1]:.3f}")


def _or_missing(shown: Callable[[], str]) -> str:
    try:
        return shown().replace("nan to nan", "none, from one query")
    except ImportError as error:
        return str(error)
