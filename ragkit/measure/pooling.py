"""Pools: what to label, so that no system is judged by what another one found, and what it costs to be left out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from ragkit.measure.metrics import checked_k, recall_at_k
from ragkit.measure.runs import Mean, Qrels, Runs, judgments, rankings


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


@dataclass(frozen=True)
class LeftOut:
    """What the labels would say if one run had not been in the pool; `leave_one_out` makes it.

    `removed` are the pairs (query id, id) that were judged because only this run brought them, `emptied` the queries
    that lose their last relevant one. `before` and `after` are the recall at k of every run, by name, with all labels
    and without the removed ones. The emptied queries are left out of `after`, as they would have been.
    """

    removed: tuple[tuple[str, str], ...]
    emptied: tuple[str, ...]
    before: Mapping[str, Mean]
    after: Mapping[str, Mean]


def leave_one_out(runs: Mapping[str, Runs], qrels: Qrels, k: int = 10) -> dict[str, LeftOut]:
    """Leave each run in turn out of the pool, and measure all of them again with the labels that are left.

    A label is known only through a run where its document stands in the run's top k and in no other's. It is
    removed, irrelevant ones among them: nobody would have read that document. What stands in no top k was found in
    another way, and stays. What a run loses is the price of being new to a pool. It is a lower bound: labels that
    came from neither are kept, and the runs that remain may be alike. ValueError for fewer than two runs; other
    errors as for the measures, which refuse labels without anything relevant.

    >>> runs = {"a": {"q1": ["d1", "d2"], "q2": ["d3"]}, "b": {"q1": ["d9", "d5"], "q2": ["d3"]}}
    >>> qrels = {"q1": {"d1": 1, "d5": 1, "d9": 0}, "q2": {"d3": 1}}
    >>> found = leave_one_out(runs, qrels, k=2)["a"]
    >>> found.removed, found.before["a"], found.after["a"], found.after["b"]
    ((('q1', 'd1'),), 1.00 (2 of 2), 0.50 (1 of 2), 1.00 (2 of 2))
    """
    if len(runs) < 2:
        raise ValueError(f"{len(runs)} run is given; leaving one out of a pool needs two or more")
    k = checked_k(k)
    tops = {
        name: {(qid, doc_id) for qid, ranking in rankings(run).items() for doc_id in list(ranking)[:k]}
        for name, run in runs.items()
    }
    judged = judgments(qrels)
    before = {name: recall_at_k(run, judged, k) for name, run in runs.items()}
    found = {}
    for out, top in tops.items():
        only = top.difference(*(other for name, other in tops.items() if name != out))
        kept = {
            qid: {doc_id: grade for doc_id, grade in own.items() if (qid, doc_id) not in only}
            for qid, own in judged.items()
        }
        removed = tuple((qid, doc_id) for qid, own in judged.items() for doc_id in own if (qid, doc_id) in only)
        after = {name: recall_at_k(run, kept, k) for name, run in runs.items()}
        scored = next(iter(after.values())).values
        emptied = tuple(qid for qid in next(iter(before.values())).values if qid not in scored)
        found[out] = LeftOut(removed, emptied, before, after)
    return found


def recall_bounds(runs: Runs, qrels: Qrels, k: int = 10) -> tuple[Mean, Mean]:
    """Recall at k if no document that nobody judged is relevant, and if every one in the top k is: (least, most).

    For a run that was not in the pool. Both are over the queries that have a relevant document by the labels that
    there are. Errors as for the measures.

    >>> recall_bounds({"q1": ["d1", "d2"], "q2": ["d3", "d4"]}, {"q1": {"d1": 1}, "q2": {"d3": 0, "d8": 1}}, k=2)
    (0.50 (1 of 2), 1.00 (2 of 2))
    """
    k = checked_k(k)
    judged, ranked = judgments(qrels), rankings(runs)
    least = recall_at_k(runs, judged, k)
    unread = {qid: dict.fromkeys(list(ranked.get(qid, {}))[:k], 1) for qid in least.values}
    return least, recall_at_k(runs, {qid: own | judged[qid] for qid, own in unread.items()}, k)
