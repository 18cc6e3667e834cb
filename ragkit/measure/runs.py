"""What every measure stands on: ranked lists joined with judgments, and a mean that says what it is a mean of.

The shapes are the same everywhere. Runs: a `Run`, or a plain {query id: ranking}, where a ranking is a list of ids,
best first; or pairs (id, score), hits among them; or {id: score}. Whatever carries scores is ranked with `rank`, so
the order in which it was given cannot decide a tie. Qrels: {query id: ids of the relevant}, or graded
{query id: {id: grade}}, where 1 or more is relevant and 0 is judged irrelevant. Ids are compared as strings.
"""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from math import fsum, nan
from types import MappingProxyType
from typing import Any

from ragkit.ranking import Hit, Run, rank

Runs = Mapping[Any, Mapping[Any, float] | Iterable[Any]]
Qrels = Mapping[Any, Mapping[Any, int] | Iterable[Any]]
Grades = Mapping[str, int]

LEVEL = 0.95  # of every interval
RESAMPLES, SEED = 10_000, 1979  # of the bootstrap; fixed, so that a page prints the same interval each time


class Mean(float):
    """A mean over queries: a float that knows what it was taken over.

    `.values` is {query id: value}, `.n` how many they are. `.left_out` are the ids of the queries without a relevant
    document, which no ranking can answer; `.missing` those of the queries that the run does not have, each among the
    values as 0; `.unlabelled` those of the queries of the run without labels, which are ignored. `.interval` is
    (low, high). ValueError where there are no values.

    >>> Mean({"q1": 1.0, "q2": 1.0, "q3": 0.0}, left_out=["q4"])
    0.67 (2 of 3; 1 left out: nothing relevant)
    >>> Mean({"q1": 0.5, "q2": 0.0}, missing=["q2"])
    0.250 (mean of 2; 1 missing from the run, counted as 0)
    """

    values: Mapping[str, float]
    left_out: tuple[str, ...]
    missing: tuple[str, ...]
    unlabelled: tuple[str, ...]

    def __new__(  # noqa: D102 - the class says it
        cls,
        values: Mapping[str, float],
        left_out: Iterable[str] = (),
        missing: Iterable[str] = (),
        unlabelled: Iterable[str] = (),
    ) -> "Mean":
        if not values:
            raise ValueError("a mean needs one value or more")
        mean = super().__new__(cls, fsum(values.values()) / len(values))
        mean.values = MappingProxyType({qid: float(value) for qid, value in values.items()})
        mean.left_out, mean.missing, mean.unlabelled = tuple(left_out), tuple(missing), tuple(unlabelled)
        return mean

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self.values), self.left_out, self.missing, self.unlabelled)

    @property
    def n(self) -> int:
        """How many queries the mean runs over."""
        return len(self.values)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean over queries like these: (low, high).

        Where every value is 0 or 1 it is Wilson's ("Probable inference, the law of succession, and statistical
        inference", 1927), which stays inside 0 to 1 and does not collapse when all queries hit. Otherwise it is the
        percentile bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993): 10,000 resamples of
        the queries, with a fixed seed. One value that is neither gives (nan, nan). ImportError without scipy.
        """
        try:
            from scipy import stats
        except ImportError as error:
            raise ImportError("the interval of a mean needs scipy: pip install scipy") from error
        values = list(self.values.values())
        if self._counts():
            found = stats.binomtest(round(sum(values)), self.n).proportion_ci(LEVEL, method="wilson")
            return float(found.low), float(found.high)
        if self.n == 1:
            return nan, nan  # nothing to resample
        found = stats.bootstrap(
            (values,),
            lambda sample, axis: sample.mean(axis=axis),
            n_resamples=RESAMPLES,
            batch=max(1, 1_000_000 // self.n),  # resamples that are held in memory at a time
            confidence_level=LEVEL,
            method="percentile",
            rng=SEED,
        ).confidence_interval
        return float(found.low), float(found.high)

    def _counts(self) -> bool:
        """Is it a share of queries: is every value 0 or 1?"""
        return all(value in (0.0, 1.0) for value in self.values.values())

    def __repr__(self) -> str:
        if self._counts():
            shown, notes = f"{self:.2f}", [f"{sum(self.values.values()):.0f} of {self.n}"]
        else:
            shown, notes = f"{self:.3f}", [f"mean of {self.n}"]
        if self.left_out:
            notes.append(f"{len(self.left_out)} left out: nothing relevant")
        if self.missing:
            notes.append(f"{len(self.missing)} missing from the run, counted as 0")
        if self.unlabelled:
            notes.append(f"{len(self.unlabelled)} without labels, ignored")
        return f"{shown} ({'; '.join(notes)})"


@dataclass(frozen=True)
class Joined:
    """Rankings and grades of the queries that a mean runs over, and the ids of all the others.

    `rankings` and `grades` have the same query ids, in the order of the qrels. A query that is missing from the run
    has an empty ranking.
    """

    rankings: Mapping[str, tuple[str, ...]]
    grades: Mapping[str, Grades]
    left_out: tuple[str, ...]
    missing: tuple[str, ...]
    unlabelled: tuple[str, ...]

    def mean(self, value: Callable[[tuple[str, ...], Grades], float]) -> Mean:
        """The mean of `value(ranking, grades)` over the queries."""
        values = {qid: value(self.rankings[qid], grades) for qid, grades in self.grades.items()}
        return Mean(values, self.left_out, self.missing, self.unlabelled)


def join(runs: Runs, qrels: Qrels) -> Joined:
    """Check runs and qrels, and bring them together by query id; the shapes are at the top of this module.

    Queries without a relevant document are left out. TypeError for another shape. ValueError for what would give a
    number that means nothing: an id twice in a ranking, in the qrels of a query, or as a query; a NaN score; a grade
    that is no whole number; no query with a relevant document; a run that answers none of those that have one.

    >>> join({"q1": ["d1", "d2"]}, {"q1": {"d2"}, "q2": {"d1"}, "q3": set()}).missing
    ('q2',)
    """
    found, judged = rankings(runs), judgments(qrels)
    grades = {qid: own for qid, own in judged.items() if any(grade >= 1 for grade in own.values())}
    if not grades:
        raise ValueError(
            f"none of the {len(judged)} queries in the qrels has a relevant document: nothing to measure"
        )
    missing = tuple(qid for qid in grades if qid not in found)
    if len(missing) == len(grades):
        theirs = f"it has {next(iter(found))!r}" if found else "it is empty"
        raise ValueError(
            f"the run answers none of the {len(grades)} queries that have a relevant document: "
            f"{theirs}, the qrels have {missing[0]!r}. Are the ids of one kind?"
        )
    return Joined(
        {qid: tuple(found.get(qid, ())) for qid in grades},
        grades,
        left_out=tuple(qid for qid in judged if qid not in grades),
        missing=missing,
        unlabelled=tuple(qid for qid in found if qid not in judged),
    )


def rankings(runs: Runs) -> dict[str, dict[str, float]]:
    """Each query's ranking as {document id: score}, best first; errors as for `join`.

    A list of ids has no scores: the places, negated, stand for them.

    >>> rankings({"q1": {"d1": 0.5, "d2": 0.5}, "q2": ["d7", "d3"]})
    {'q1': {'d2': 0.5, 'd1': 0.5}, 'q2': {'d7': -1.0, 'd3': -2.0}}
    """
    return {qid: _ranking(qid, given) for qid, given in _by_query("the run", runs).items()}


def judgments(qrels: Qrels) -> dict[str, dict[str, int]]:
    """Each query's judgments as {document id: grade}; ids without grades have 1. Errors as for `join`.

    >>> judgments({"q1": {"d1"}, "q2": {7: 2, 8: 0}})
    {'q1': {'d1': 1}, 'q2': {'7': 2, '8': 0}}
    """
    return {qid: _grades(qid, given) for qid, given in _by_query("the qrels", qrels).items()}


def fold(runs: Runs, origin: Mapping[Any, Any]) -> Run:
    """Fold rankings of passages into rankings of documents: a document stands where its first passage stood.

    `origin` maps a passage id to its document's id, or to a tuple that begins with it, as `Passages.origin` does.
    The other passages of a document fall away, so 10 passages give 10 documents or fewer. Scores are those of the
    first passages; equal ones go by document id. The record of the run is kept, and notes the folding. ValueError
    for a passage that `origin` does not have; other errors as for the measures.

    >>> run = {"q1": ["d1#2", "d2#1", "d1#1", "d3#4"]}
    >>> fold(run, {"d1#1": "d1", "d1#2": "d1", "d2#1": "d2", "d3#4": "d3"}).ids("q1")
    ('d1', 'd2', 'd3')
    """
    documents: dict[str, str] = {}
    for passage, at in ((str(passage), at) for passage, at in origin.items()):
        if passage in documents:
            raise ValueError(f"origin has the passage {passage!r} twice; ids are compared as strings")
        documents[passage] = str(at[0] if isinstance(at, tuple) else at)
    folded: dict[str, list[Hit]] = {}
    for qid, ranking in rankings(runs).items():
        first: dict[str, float] = {}
        for passage, score in ranking.items():
            if passage not in documents:
                raise ValueError(f"query {qid!r}: the passage {passage!r} is not in origin; is the run of documents?")
            first.setdefault(documents[passage], score)
        folded[qid] = [Hit(doc_id, first[doc_id]) for doc_id in rank(first)]
    return Run(folded, record={**getattr(runs, "record", {}), "folded": "first passage of each document"})


def _by_query(name: str, given: Mapping[Any, Any]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} is a {type(given).__name__}; it must map query ids, {{query id: ...}}")
    if len(by_query := {str(qid): value for qid, value in given.items()}) == len(given):
        return by_query
    names = [str(qid) for qid in given]
    twice = next(qid for qid in by_query if names.count(qid) > 1)
    raise ValueError(f"{name}: query {twice!r} is given twice; ids are compared as strings")


def _ranking(qid: str, given: Any) -> dict[str, float]:  # noqa: ANN401 - what it may be is checked here
    if isinstance(given, str | bytes | AbstractSet) or not isinstance(given, Iterable):
        raise TypeError(
            f"query {qid!r}: the ranking is a {type(given).__name__}; "
            "give ids in a list, best first, or pairs (id, score), or {id: score}"
        )
    entries = list(given.items() if isinstance(given, Mapping) else given)
    n_pairs = sum(isinstance(entry, tuple | list) and len(entry) == 2 for entry in entries)
    if n_pairs < len(entries):
        if any(isinstance(entry, tuple | list) for entry in entries):
            raise TypeError(f"query {qid!r}: the ranking mixes ids with pairs, or has an entry that is neither")
        entries = [(doc_id, -float(place)) for place, doc_id in enumerate(entries, 1)]
    scores: dict[str, float] = {}
    for doc_id, score in ((str(doc_id), score) for doc_id, score in entries):
        if doc_id in scores:
            raise ValueError(f"query {qid!r}: document {doc_id!r} stands twice in the ranking")
        scores[doc_id] = score
    if not n_pairs:
        return scores
    try:
        return {doc_id: float(scores[doc_id]) for doc_id in rank(scores)}
    except (TypeError, ValueError) as error:
        raise type(error)(f"query {qid!r}: {error}") from None


def _grades(qid: str, given: Any) -> dict[str, int]:  # noqa: ANN401 - what it may be is checked here
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(
            f"qrels, query {qid!r}: a {type(given).__name__}; give a set of relevant ids, or {{id: grade}}"
        )
    grades: dict[str, int] = {}
    for doc_id, grade in given.items() if isinstance(given, Mapping) else ((doc_id, 1) for doc_id in given):
        if isinstance(doc_id, tuple | list):
            raise TypeError(f"qrels, query {qid!r}: {doc_id!r} is no id; grades are given as {{id: grade}}")
        if str(doc_id) in grades:
            raise ValueError(f"qrels, query {qid!r}: document {str(doc_id)!r} is judged twice")
        grades[str(doc_id)] = _grade(qid, doc_id, grade)
    return grades


def _grade(qid: str, doc_id: Any, grade: Any) -> int:  # noqa: ANN401 - what it may be is checked here
    try:
        if (whole := int(grade)) == grade:
            return whole
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(
        f"qrels, query {qid!r}: document {str(doc_id)!r} has the grade {grade!r}; "
        "a grade is a whole number: 1 or more is relevant, 0 or less is not"
    )
