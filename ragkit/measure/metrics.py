"""The measures of a ranked list. For each a few lines of arithmetic on one list, and the mean over the queries.

All agree about what they stand on. A document is relevant from grade 1; a negative grade counts as 0, and so does a
document that nobody judged. The mean runs over the judged queries that have at least one relevant document, and a
query that is missing from the run counts as 0. `ragkit.measure.runs` has the shapes of runs and qrels, and the
errors, which are the same for all. Values agree with those of trec_eval (Buckley, NIST) of the name that is given;
trec_eval's own mean differs in that it leaves out the missing queries unless it is told `-c`.
"""

from collections.abc import Callable, Mapping, Sequence
from math import fsum, log2
from typing import Any

import numpy as np

from ragkit.measure.runs import Grades, Mean, Qrels, Runs, join

# one ranked list: `gains` are the grades of its places, best first, 0 where the document is not relevant


def any_hit(gains: Sequence[int]) -> float:
    """1 where some place holds a relevant document, else 0. trec_eval's `success`.

    >>> any_hit([0, 1, 1]), any_hit([0, 0])
    (1.0, 0.0)
    """
    return float(any(gains))


def share_found(gains: Sequence[int], n_relevant: int) -> float:
    """Relevant places over relevant documents: |R ∩ top| / |R|. trec_eval's `recall`.

    >>> share_found([1, 0, 1], n_relevant=4)
    0.5
    """
    return sum(gain > 0 for gain in gains) / n_relevant


def share_relevant(gains: Sequence[int], k: int) -> float:
    """Relevant places over k, also where the list is shorter than k. trec_eval's `P`.

    >>> share_relevant([1, 1], k=5)
    0.4
    """
    return sum(gain > 0 for gain in gains) / k


def one_over_first(gains: Sequence[int]) -> float:
    """1 / place of the first relevant document; 0 where there is none. trec_eval's `recip_rank`.

    >>> one_over_first([0, 1, 1])
    0.5
    """
    return next((1 / place for place, gain in enumerate(gains, 1) if gain > 0), 0.0)


def precision_at_hits(gains: Sequence[int], n_relevant: int) -> float:
    """The precision at the place of each relevant document, summed, over all relevant documents.

    trec_eval's `map`; a relevant document that is not in the list adds 0 to the sum.

    >>> f"{precision_at_hits([1, 0, 1], n_relevant=2):.4f}"   # (1/1 + 2/3) / 2
    '0.8333'
    """
    places = [place for place, gain in enumerate(gains, 1) if gain > 0]
    return fsum(found / place for found, place in enumerate(places, 1)) / n_relevant


def discounted(gains: Sequence[int]) -> float:
    """Discounted cumulative gain, Σ gain / log2(place + 1): linear gains, no change of base.

    The discount is Järvelin and Kekäläinen's ("Cumulated gain-based evaluation of IR techniques", 2002) with
    log2(place + 1) at every place, as in trec_eval; others write 2^gain − 1 for the gain, and this does not.

    >>> discounted([2, 0, 1])   # 2/1 + 1/2
    2.5
    """
    return fsum(gain / log2(place + 1) for place, gain in enumerate(gains, 1))


def share_of_ideal(gains: Sequence[int], ideal: Sequence[int]) -> float:
    """The discounted gain of a list over that of the best list there is. trec_eval's `ndcg` and `ndcg_cut`.

    >>> f"{share_of_ideal([1, 2], ideal=[2, 1]):.4f}"   # (1 + 2/1.585) / (2 + 1/1.585)
    '0.8597'
    """
    return discounted(gains) / discounted(ideal)


# means over the queries


def recall_at_k(runs: Runs, qrels: Qrels, k: int) -> Mean:
    """Any-hit recall: the share of queries with at least one relevant document in the top k.

    trec_eval calls it `success`, and keeps `recall` for the share of the relevant documents that are found: that is
    `coverage_at_k` here. It is recall@k in question answering and retrieval for generation, where one passage that
    holds the answer is enough, and the texts of this book use it so; where a figure is compared with somebody else's,
    ask which of the two it is. Never decreases in k. ValueError unless k is a whole number of 1 or more.

    >>> run = {"q1": ["d1", "d2"], "q2": ["d3", "d4"]}
    >>> recall_at_k(run, {"q1": {"d2"}, "q2": {"d9"}, "q3": set()}, k=2)
    0.50 (1 of 2; 1 left out: nothing relevant)
    """
    k = checked_k(k)
    return join(runs, qrels).mean(lambda ranking, grades: any_hit(_gains(ranking[:k], grades)))


def coverage_at_k(runs: Runs, qrels: Qrels, k: int) -> Mean:
    """The share of a query's relevant documents that are in its top k: |R ∩ top k| / |R|, the mean over queries.

    trec_eval's `recall`. A query with more than k relevant documents cannot reach 1. Never decreases in k, and never
    passes `recall_at_k`. ValueError unless k is a whole number of 1 or more.

    >>> coverage_at_k({"q1": ["d1", "d2", "d3"]}, {"q1": {"d1", "d3", "d8", "d9"}}, k=3)
    0.500 (mean of 1)
    """
    k = checked_k(k)
    return join(runs, qrels).mean(
        lambda ranking, grades: share_found(_gains(ranking[:k], grades), len(_relevant(grades)))
    )


def precision_at_k(runs: Runs, qrels: Qrels, k: int) -> Mean:
    """The share of the k places that hold a relevant document, the mean over queries. trec_eval's `P`.

    Divides by k also where fewer than k documents were retrieved: an empty place is not a relevant one. A query with
    fewer than k relevant documents cannot reach 1. ValueError unless k is a whole number of 1 or more.

    >>> precision_at_k({"q1": ["d1", "d2"]}, {"q1": {"d1", "d2"}}, k=5)
    0.400 (mean of 1)
    """
    k = checked_k(k)
    return join(runs, qrels).mean(lambda ranking, grades: share_relevant(_gains(ranking[:k], grades), k))


def judged_at_k(runs: Runs, qrels: Qrels, k: int) -> Mean:
    """The share of the documents shown in the top k that somebody judged, the mean over queries.

    ir_measures' `Judged`: judged / min(k, retrieved), every grade being a judgment, 0 and below included. 0 where
    nothing is shown. It runs over the same queries as the other measures, so that the two figures can stand side by
    side: where few are judged, a low precision may be missing labels. TypeError for qrels without grades, which
    cannot tell irrelevant from not judged; ValueError unless k is a whole number of 1 or more.

    >>> judged_at_k({"q1": ["d1", "d2", "d3"]}, {"q1": {"d1": 1, "d3": 0}}, k=2)
    0.500 (mean of 1)
    """
    k = checked_k(k)
    joined = join(runs, qrels)
    if plain := next((qid for qid, given in qrels.items() if not isinstance(given, Mapping)), None):
        raise TypeError(
            f"judged_at_k needs graded qrels, {{query id: {{doc id: grade}}}} with 0 for judged irrelevant: those of "
            f"query {str(plain)!r} only list what is relevant"
        )
    return joined.mean(lambda ranking, grades: _mean([doc_id in grades for doc_id in ranking[:k]]))


def distinct_at_k(runs: Runs, qrels: Qrels, k: int, aliases: Mapping[Any, Any] | None = None) -> Mean:
    """How many different relevant answers stand in the top k, the mean over queries: a count, not a share.

    `aliases` maps a document to the one whose text it repeats. Rankings and qrels are both read through it, so twins
    count once, and a twin that nobody labelled counts where its original is relevant. An alias of an alias is
    followed to its end. Without `aliases` every document is an answer of its own. ValueError for aliases that lead
    in a circle, and unless k is a whole number of 1 or more.

    >>> run, qrels = {"q1": ["d1", "d2", "d3"]}, {"q1": {"d1", "d2", "d3"}}
    >>> distinct_at_k(run, qrels, k=3), distinct_at_k(run, qrels, k=3, aliases={"d2": "d1", "d3": "d1"})
    (3.000 (mean of 1), 1.00 (1 of 1))
    """
    k, original = checked_k(k), originals(aliases or {})

    def answers(ranking: Sequence[str], grades: Grades) -> float:
        relevant = {original.get(doc_id, doc_id) for doc_id in _relevant(grades)}
        return float(len(relevant & {original.get(doc_id, doc_id) for doc_id in ranking[:k]}))

    return join(runs, qrels).mean(answers)


def reciprocal_rank(runs: Runs, qrels: Qrels, k: int | None = None) -> Mean:
    """1 / place of the first relevant document, 0 where there is none in the top k, the mean over queries: MRR.

    trec_eval's `recip_rank`; Voorhees, "The TREC-8 question answering track report" (1999). k=None reads the whole
    ranking. ValueError unless k is None or a whole number of 1 or more.

    >>> reciprocal_rank({"q1": ["d1", "d2"], "q2": ["d3"]}, {"q1": {"d2"}, "q2": {"d3"}})
    0.750 (mean of 2)
    """
    k = checked_k(k, whole=True)
    return join(runs, qrels).mean(lambda ranking, grades: one_over_first(_gains(ranking[:k], grades)))


def average_precision(runs: Runs, qrels: Qrels, k: int | None = None) -> Mean:
    """The precision at each relevant document, averaged over all relevant documents; the mean over queries: MAP.

    trec_eval's `map`, with a k `map_cut`: both divide by the number of relevant documents, found or not, also where
    it is above k. Buckley and Voorhees, "Evaluating evaluation measure stability" (2000). k=None reads the whole
    ranking. ValueError unless k is None or a whole number of 1 or more.

    >>> average_precision({"q1": ["d1", "d2", "d3"]}, {"q1": {"d1", "d3"}})
    0.833 (mean of 1)
    """
    k = checked_k(k, whole=True)
    return join(runs, qrels).mean(
        lambda ranking, grades: precision_at_hits(_gains(ranking[:k], grades), len(_relevant(grades)))
    )


def ndcg_at_k(runs: Runs, qrels: Qrels, k: int | None = None) -> Mean:
    """Normalised discounted cumulative gain of the top k, the mean over queries.

    Σ grade / log2(place + 1) over the top k, divided by the same sum for the best order of all judged documents:
    trec_eval's `ndcg_cut`, without a k its `ndcg`. The gain is the grade itself (linear), a negative grade gains 0.
    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques" (2002). k=None reads the whole
    ranking. ValueError unless k is None or a whole number of 1 or more.

    >>> ndcg_at_k({"q1": ["d1", "d2"]}, {"q1": {"d1": 1, "d2": 2}}, k=10)
    0.860 (mean of 1)
    """
    k = checked_k(k, whole=True)

    def value(ranking: Sequence[str], grades: Grades) -> float:
        ideal = sorted(_gains(list(grades), grades), reverse=True)
        return share_of_ideal(_gains(ranking[:k], grades), ideal[:k])

    return join(runs, qrels).mean(value)


def per_query(
    measure: Callable[..., Mean],
    runs: Runs,
    qrels: Qrels,
    k: int | None = None,
    **options: Any,  # noqa: ANN401 - what the measure takes
) -> dict[str, float]:
    """The values that a measure is the mean of, {query id: value}, in the order of the qrels.

    `options` go to the measure, as `aliases` to `distinct_at_k`. Queries without a relevant document are not there;
    those that the run does not have are there as 0. TypeError where `measure` is not one of the measures.

    >>> per_query(recall_at_k, {"q1": ["d1"], "q2": ["d3"]}, {"q1": {"d1"}, "q2": {"d9"}}, k=1)
    {'q1': 1.0, 'q2': 0.0}
    """
    mean = measure(runs, qrels, k, **options)
    if not isinstance(mean, Mean):
        raise TypeError(
            f"{getattr(measure, '__name__', measure)} gives a {type(mean).__name__}; a measure gives a Mean"
        )
    return dict(mean.values)


def checked_k(k: Any, whole: bool = False) -> Any:  # noqa: ANN401 - what it may be is checked here
    """Give k back where it is a number of places; None, the whole ranking, only where `whole` allows it."""
    if (k is None and whole) or (isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= 1):
        return k
    raise ValueError(f"k is {k!r}; it is a whole number of places, 1 or more{', or None for all' if whole else ''}")


def _gains(doc_ids: Sequence[str], grades: Grades) -> list[int]:
    return [max(grades.get(doc_id, 0), 0) for doc_id in doc_ids]


def _relevant(grades: Grades) -> set[str]:
    return {doc_id for doc_id, grade in grades.items() if grade >= 1}


def _mean(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def originals(aliases: Mapping[Any, Any]) -> dict[str, str]:
    """Each alias with the document at the end of its chain."""
    step = {str(doc_id): str(original) for doc_id, original in aliases.items() if str(doc_id) != str(original)}
    ends: dict[str, str] = {}
    for start in step:
        end, passed = step[start], {start}
        while end in step:
            if end in passed:
                raise ValueError(f"the aliases of {start!r} lead in a circle: {', '.join(sorted(passed))}")
            passed.add(end)
            end = step[end]
        ends[start] = end
    return ends
