"""Several ranked lists into one: by their places, or by their scores.

Two rankers' scores have no common unit: BM25 gives 14.2 and a cosine 0.71. Places have, so fusion by places needs no
normalising, no training, and does not change where scores are stretched. Fusion by scores has to choose how to make
them comparable, and `weighted_fusion` shows the choices.

Runs have the shapes of `ragkit.measure.runs`. Whatever carries scores is ranked by them, with the one tie rule,
before places are read off.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, isfinite, sqrt
from typing import Any, Literal

import numpy as np

from ragkit.measure.paired import alike
from ragkit.measure.runs import Runs, rankings
from ragkit.ranking import Hit, Run, rank

Normalise = Literal["minmax", "zscore", "none"]
Scores = dict[str, float]


def rrf(runs: Sequence[Runs], c: float = 60, depth: int | None = 100) -> Run:
    """Reciprocal rank fusion: a document's score is the sum of 1 / (c + place) over the lists that hold it.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods"
    (2009). `runs` is a list of two runs or more; places begin at 1; a list that lacks a document adds nothing. `c` is
    the constant that papers also call k: the larger it is, the less the first places stand out, and the more it
    counts to be in several lists. Only the first `depth` of each list are read; None reads them whole.

    Gives a `Run` of all documents that were read, with equal scores by the one tie rule. Its record has c, depth, the
    records of the runs (`of`), what these have in common, what they do not say (`unknown`), and for each run the
    queries that it does not have (`missing`: there its list is empty). TypeError for anything but a list of runs;
    ValueError for a document that stands twice in a list, for c below 0, for depth below 1, and for runs whose
    records differ in chunking or corpus.

    >>> a, b = {"q1": ["m1", "m2", "m7"]}, {"q1": ["p4", "p5", "m7"]}
    >>> [(hit.doc_id, round(hit.score, 6)) for hit in rrf([a, b])["q1"]]
    [('m7', 0.031746), ('p4', 0.016393), ('m1', 0.016393), ('p5', 0.016129), ('m2', 0.016129)]
    """
    c = _constant(c)
    return _fuse(runs, depth, {"ranker": "rrf", "c": c}, lambda lists: _reciprocal(lists, c), _read)


def rrf_scores(lists: Sequence[Any], c: float = 60, depth: int | None = 100) -> Scores:
    """The scores of `rrf` for the lists of one query, as {document id: score}, best first.

    Each list holds ids, best first, or pairs (id, score), or is {id: score}. Errors as for `rrf`.

    >>> {doc_id: round(score, 6) for doc_id, score in rrf_scores([["m1", "m7"], ["p4", "m7"]]).items()}
    {'m7': 0.032258, 'p4': 0.016393, 'm1': 0.016393}
    """
    c, depth = _constant(c), _depth(depth)
    if isinstance(lists, str | Mapping) or not isinstance(lists, Iterable):
        raise TypeError(f"the lists are a {type(lists).__name__}; give one list of them, [list, list]")
    read = rankings({f"list {number}": given for number, given in enumerate(lists, 1)})
    scores = _reciprocal([_cut(ranking, depth) for ranking in read.values()], c)
    return {doc_id: scores[doc_id] for doc_id in rank(scores)}


def weighted_fusion(
    runs: Sequence[Runs],
    weights: Sequence[float] | None = None,
    *,
    normalise: Normalise = "minmax",
    depth: int | None = 100,
) -> Run:
    """Score fusion: a document's score is the weighted sum of its normalised scores.

    CombSUM of Fox and Shaw, "Combination of multiple searches" (1994), with a weight a run (None: 1 each). Scores are
    normalised a query and a list at a time, over the first `depth` of the list (None: all of it):

    - "minmax": (score − lowest) / (highest − lowest); 1 for all where they are equal;
    - "zscore": (score − mean) / standard deviation, that of the list itself (÷ n); 0 for all where they are equal;
    - "none": the score as it is, for lists that have a unit in common.

    A document that a list lacks gets what the lowest of that list has under "minmax" (0) and "zscore" (below 0: as
    0 it would pass half of the list), and 0 under "none". An empty list adds nothing.

    Gives a `Run`, with a record as for `rrf`. TypeError for runs without scores: `rrf` needs none. ValueError for an
    infinite score, for weights that are negative, all 0, or not one a run; other errors as for `rrf`.

    >>> lexical, dense = {"q1": {"d1": 12.0, "d2": 9.0, "d3": 6.0}}, {"q1": {"d2": 0.75, "d4": 0.25}}
    >>> weighted_fusion([lexical, dense], [0.25, 0.75])["q1"][:2]
    (Hit(doc_id='d2', score=0.875), Hit(doc_id='d1', score=0.25))
    """
    if normalise not in _NORMALISED:
        raise ValueError(f"normalise is {normalise!r}; it is one of {', '.join(map(repr, _NORMALISED))}")
    runs = _listed(runs)
    given = [1.0] * len(runs) if weights is None else [float(weight) for weight in weights]
    if len(given) != len(runs):
        raise ValueError(f"{len(given)} weights for {len(runs)} runs; give one a run")
    if not all(isfinite(weight) and weight >= 0 for weight in given) or not any(given):
        raise ValueError(f"the weights are {given}; each is a finite number, 0 or more, and one of them is above 0")

    def scores(lists: Sequence[Scores]) -> Scores:
        parts = [(weight, *_NORMALISED[normalise](read)) for weight, read in zip(given, lists, strict=True) if read]
        return {
            doc_id: fsum(weight * own.get(doc_id, lacking) for weight, own, lacking in parts)
            for doc_id in dict.fromkeys(doc_id for read in lists for doc_id in read)
        }

    return _fuse(runs, depth, {"ranker": "weighted", "weights": given, "normalise": normalise}, scores, _read_scored)


# what all fusions do


def _fuse(
    runs: Sequence[Runs],
    depth: int | None,
    made: Mapping[str, Any],
    scores: Callable[[Sequence[Scores]], Scores],
    read_run: Callable[[str, Runs], dict[str, Scores]],
) -> Run:
    """Fuse query by query: `scores` gives the fused scores of the lists of one query, each cut at `depth`."""
    runs, depth = _listed(runs), _depth(depth)
    records = [dict(getattr(run, "record", {})) for run in runs]
    common, unknown = alike({f"run {number}": record for number, record in enumerate(records, 1)})
    read = [read_run(f"run {number}", run) for number, run in enumerate(runs, 1)]
    qids = dict.fromkeys(qid for run in read for qid in run)
    fused: dict[str, list[Hit]] = {}
    for qid in qids:
        own = scores([_cut(run.get(qid, {}), depth) for run in read])
        fused[qid] = [Hit(doc_id, own[doc_id]) for doc_id in rank(own)]
    missing = [[qid for qid in qids if qid not in run] for run in read]
    record = {**common, **made, "depth": depth, "of": records, "missing": missing, "unknown": list(unknown)}
    return Run(fused, record)


def _listed(runs: Any) -> list[Runs]:  # noqa: ANN401 - what it may be is checked here
    if isinstance(runs, str | Mapping) or not isinstance(runs, Iterable):
        raise TypeError(f"the runs are a {type(runs).__name__}; give a list of them, [run, run]")
    listed: list[Runs] = list(runs)
    if len(listed) < 2:
        raise ValueError(f"{len(listed)} run(s) given; a fusion needs two or more")
    for number, run in enumerate(listed, 1):
        if not isinstance(run, Mapping):
            raise TypeError(
                f"run {number} is a {type(run).__name__}; a run maps query ids, {{query id: ranking}}. "
                "For the lists of one query there is ragkit.measure.fused.rrf_scores"
            )
    return listed


def _read(name: str, run: Runs) -> dict[str, Scores]:
    try:
        return rankings(run)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def _read_scored(name: str, run: Runs) -> dict[str, Scores]:
    """`_read`, for runs whose rankings carry scores, all finite."""
    for qid, given in run.items():
        scored = isinstance(given, Mapping) or (
            isinstance(given, list | tuple) and all(isinstance(one, list | tuple) for one in given)
        )
        if not scored:
            raise TypeError(
                f"{name}: query {str(qid)!r}: the ranking has no scores; give pairs (id, score) in a list or "
                "{id: score}, or fuse by places with rrf"
            )
    read = _read(name, run)
    for qid, ranking in read.items():
        for doc_id, score in ranking.items():
            if not isfinite(score):
                raise ValueError(f"{name}: query {qid!r}: document {doc_id!r} has the score {score}")
    return read


def _cut(ranking: Scores, depth: int | None) -> Scores:
    return dict(list(ranking.items())[:depth])


def _depth(depth: Any) -> int | None:  # noqa: ANN401 - what it may be is checked here
    if depth is None:
        return None
    if not isinstance(depth, int | np.integer) or isinstance(depth, bool) or depth < 1:
        raise ValueError(f"depth is {depth!r}; it is a whole number of places, 1 or more, or None for the whole list")
    return int(depth)


# by places


def _constant(c: float) -> float:
    if not (isfinite(c) and c >= 0):
        raise ValueError(f"c is {c}; it must be a finite number, 0 or more (usual: 60)")
    return c


def _reciprocal(lists: Sequence[Scores], c: float) -> Scores:
    """Σ 1 / (c + place) as one fraction of whole numbers, rounded once.

    So sums that are equal are equal floats, in whatever order the lists come: 1/72 + 1/90 is 1/80 + 1/80, and added
    up in floats it need not be.
    """
    over, under = float(c).as_integer_ratio()
    sums: dict[str, tuple[int, int]] = {}
    for ranking in lists:
        for place, doc_id in enumerate(ranking, 1):
            numerator, denominator = sums.get(doc_id, (0, 1))
            part = over + place * under  # 1 / (c + place) is under / part
            sums[doc_id] = numerator * part + under * denominator, denominator * part
    return {doc_id: numerator / denominator for doc_id, (numerator, denominator) in sums.items()}


# by scores: each gives the normalised scores of a list, and what a document gets that the list lacks


def _minmax(read: Scores) -> tuple[Scores, float]:
    low, high = min(read.values()), max(read.values())
    return {doc_id: (score - low) / (high - low) if high > low else 1.0 for doc_id, score in read.items()}, 0.0


def _zscore(read: Scores) -> tuple[Scores, float]:
    mean = fsum(read.values()) / len(read)
    spread = sqrt(fsum((score - mean) ** 2 for score in read.values()) / len(read))
    equal = len(set(read.values())) == 1 or not spread
    own = {doc_id: 0.0 if equal else (score - mean) / spread for doc_id, score in read.items()}
    return own, min(own.values())


def _as_given(read: Scores) -> tuple[Scores, float]:
    return dict(read), 0.0


_NORMALISED: Mapping[str, Callable[[Scores], tuple[Scores, float]]] = {
    "minmax": _minmax,
    "zscore": _zscore,
    "none": _as_given,
}
