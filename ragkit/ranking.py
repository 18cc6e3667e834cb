"""Ranked lists: what a search returns, and the one rule that orders ties.

Lexical search, dense search and the measures all need these, and none of them may know another: so they stand
here, below all rooms.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Hit(NamedTuple):
    """One entry of a ranked list."""

    doc_id: str
    score: float


class Hits(list[Hit]):
    """A ranked list of hits: a list, which also says why it is empty where the reason is not the documents."""

    def __init__(self, hits: Iterable[Hit] = (), reason: str = "") -> None:
        super().__init__(hits)
        self.reason = reason

    def __repr__(self) -> str:
        return f"[] ({self.reason})" if self.reason and not self else super().__repr__()


class Run(Mapping[str, tuple[Hit, ...]]):
    """Ranked lists by query id, read-only, with a record of how they were made.

    `record` holds what a comparison needs to know: chunking, analyzer, k1, b, model, hashes. A system that made
    its lists elsewhere has an empty record, which means "unknown" and not "the same". Ids become strings, and
    pairs (id, score) become hits; scores by id, {id: score}, are ranked. ValueError for a query that is given
    twice, for a document that stands twice in a ranking, and for a NaN score.

    >>> run = Run({"q1": [Hit("d2", 1.5), Hit("d1", 0.5)]}, record={"k1": 1.2})
    >>> run.ids("q1")
    ('d2', 'd1')
    """

    def __init__(
        self,
        rankings: Mapping[str, Iterable[tuple[str, float]] | Mapping[str, float]],
        record: Mapping[str, Any] | None = None,
    ) -> None:
        self._rankings: dict[str, tuple[Hit, ...]] = {}
        self.record: Mapping[str, Any] = MappingProxyType(dict(record or {}))
        for qid, pairs in ((str(qid), pairs) for qid, pairs in rankings.items()):
            if qid in self._rankings:
                raise ValueError(f"query {qid!r} is given twice; ids are compared as strings")
            if isinstance(pairs, Mapping):
                scores = {str(doc_id): score for doc_id, score in pairs.items()}
                pairs = [(doc_id, scores[doc_id]) for doc_id in rank(pairs)]
            hits: dict[str, Hit] = {}
            for doc_id, score in ((str(doc_id), float(score)) for doc_id, score in pairs):
                if doc_id in hits:
                    raise ValueError(f"query {qid!r}: document {doc_id!r} stands twice in the ranking")
                if isnan(score):
                    raise ValueError(f"query {qid!r}: document {doc_id!r} has the score NaN")
                hits[doc_id] = Hit(doc_id, score)
            self._rankings[qid] = tuple(hits.values())

    def __getitem__(self, qid: str) -> tuple[Hit, ...]:
        return self._rankings[qid]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rankings)

    def __len__(self) -> int:
        return len(self._rankings)

    def ids(self, qid: str) -> tuple[str, ...]:
        """The document ids of one query, best first."""
        return tuple(hit.doc_id for hit in self._rankings[qid])

    def __repr__(self) -> str:
        return f"Run({len(self)} queries, record={dict(self.record)})"


def rank(scores: Mapping[Any, float], *, precision: Literal["float64", "float32"] = "float64") -> list[str]:
    """Order document ids by score, highest first; equal scores by id as a string, highest first.

    This is trec_eval's rule. trec_eval also rounds scores to float32 before it compares them:
    `precision="float32"` does the same. ValueError for a NaN score and for two ids that are one string.

    >>> rank({"d1": 1.5, "d2": 1.5})
    ['d2', 'd1']
    >>> rank({"d1": 1.00000001, "d2": 1.0}), rank({"d1": 1.00000001, "d2": 1.0}, precision="float32")
    (['d1', 'd2'], ['d2', 'd1'])
    """
    if precision not in ("float64", "float32"):
        raise ValueError(f"precision is {precision!r}; it is 'float64' (ours) or 'float32' (trec_eval's)")
    rounded: dict[str, float] = {}
    with np.errstate(over="ignore"):  # -1e300 is minus infinity in float32, as in C
        for name, score in ((str(doc_id), float(score)) for doc_id, score in scores.items()):
            if name in rounded:
                raise ValueError(f"document id {name!r} is given twice; ids are compared as strings")
            if isnan(score):
                raise ValueError(f"document {name!r} has the score NaN; it cannot be ranked")
            rounded[name] = float(np.float32(score)) if precision == "float32" else score
    return sorted(rounded, key=lambda name: (rounded[name], name), reverse=True)


def tie_order(doc_ids: tuple[str, ...]) -> NDArray[np.int64]:
    """Place of each document among equal scores: 0 for the highest id as a string.

    >>> tie_order(("d1", "d3", "d2")).tolist()
    [2, 0, 1]
    """
    order = np.empty(len(doc_ids), dtype=np.int64)
    order[sorted(range(len(doc_ids)), key=doc_ids.__getitem__, reverse=True)] = np.arange(len(doc_ids))
    return order


def top_k(scores: NDArray[np.float64], ties: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Positions of the k best scores, best first, equal scores by `ties`, lowest first.

    Sorts only the scores that can be among the k: all that reach the k-th highest. So the top 5 is always the
    start of the top 10. Fewer than k scores give fewer positions. ValueError for k < 1.

    >>> top_k(np.array([0.5, 2.0, 2.0]), np.array([0, 1, 2]), k=2).tolist()
    [1, 2]
    """
    if k < 1:
        raise ValueError(f"k is {k}; ask for 1 hit or more")
    candidates = np.arange(len(scores))
    if k < len(scores):
        candidates = np.flatnonzero(scores >= reached_by(scores, k))
        best = scores[candidates]
        candidates = candidates[best >= np.partition(best, -k)[-k]]
    return candidates[np.lexsort((ties[candidates], -scores[candidates]))][:k]


def reached_by(scores: NDArray[Any], k: int) -> Any:  # noqa: ANN401 - a number of the type of the scores
    """A score that k of the scores reach or pass, or more than k: near the k-th best, and found in one pass.

    Folds the scores into columns and takes the k-th best of the columns' maxima, each of them another score.
    Needs k < len(scores).

    >>> int(reached_by(np.arange(1000), k=10))
    986
    """
    height = max(1, min(64, len(scores) // (8 * k)))
    width = len(scores) // height
    maxima = scores[: height * width].reshape(height, width).max(axis=0)
    return np.partition(maxima, -k)[-k]
