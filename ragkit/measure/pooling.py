"""Pools: what to label, so that no system is judged by what another one found."""

from collections.abc import Iterable
from random import Random

from ragkit.measure.runs import Runs, rankings


def pool(runs: Iterable[Runs], k: int = 10, seed: int = 0) -> dict[str, tuple[str, ...]]:
    """The union of the top k of several runs, a tuple of ids a query: in no order, without scores or origins.

    Each query is shuffled on its own, with the seed and its id: the same whatever the order of the runs, and
    whatever other queries there are. Queries stand in the order in which the runs bring them. ValueError for k below
    1 and for no runs; other errors as for the measures.

    >>> pool([{"q1": ["d1", "d2", "d3"]}, {"q1": ["d9", "d1"]}], k=2, seed=7)
    {'q1': ('d2', 'd1', 'd9')}
    """
    if k < 1:
        raise ValueError(f"k is {k}; pool 1 place or more")
    found: dict[str, set[str]] = {}
    for run in (ranked := [rankings(run) for run in runs]):
        for qid, ranking in run.items():
            found.setdefault(qid, set()).update(list(ranking)[:k])
    if not ranked:
        raise ValueError("no run is given; a pool needs one or more")
    pooled: dict[str, tuple[str, ...]] = {}
    for qid, ids in found.items():
        shuffled = sorted(ids)
        Random(f"{seed} {qid}").shuffle(shuffled)
        pooled[qid] = tuple(shuffled)
    return pooled
