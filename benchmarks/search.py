"""Milliseconds a query: `python benchmarks/search.py`. 1,000 queries of 2 to 8 terms, top 10, one at a time.

First the results are compared: the same ten documents as bm25s in float64, up to exact ties, and the same scores.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from common import N_DOCS, ROUNDS, installed, large_docs, make_queries, publish, table, tokens

from ragkit import BM25Index
from ragkit.ranking import Hits

K1, B, K = 1.2, 0.75, 10
Search = Callable[[list[str]], Any]


def peer(docs: Sequence[list[str]], backend: str, dtype: str = "float32") -> Any:
    import bm25s

    index = bm25s.BM25(method="lucene", k1=K1, b=B, backend=backend, dtype=dtype)
    index.index(docs, show_progress=False)
    return index


def same(hits: Hits, expected: np.ndarray, ids: dict[str, int]) -> bool:
    """Whether hits are the top K of all the peer's scores: each score, and nothing better left out."""
    ours = np.array([hit.score for hit in hits])
    theirs = expected[[ids[hit.doc_id] for hit in hits]] * (K1 + 1)
    best = np.sort(expected[expected > 0])[::-1][:K] * (K1 + 1)
    return len(ours) == len(best) and bool(
        np.isclose(ours, theirs, rtol=1e-9, atol=0).all() and np.isclose(ours, best, rtol=1e-9, atol=0).all()
    )


def milliseconds(search: Search, queries: Sequence[list[str]]) -> list[float]:
    taken = []
    for query in queries:
        start = perf_counter()
        search(query)
        taken.append(1e3 * (perf_counter() - start))
    return taken


def main() -> None:
    docs = large_docs()
    queries = make_queries(docs)
    index = BM25Index.build(docs)
    fast = index.accelerated()
    lists, ids = [tokens(text) for text in docs.values()], {doc_id: number for number, doc_id in enumerate(docs)}
    exact = peer(lists, "numpy", "float64")
    equal = sum(same(index.search(q, K), exact.get_scores(q), ids) for q in queries)
    bitwise = sum(fast.search(q, K) == index.search(q, K) for q in queries)
    del exact

    def retrieve(one: Any) -> Search:
        return lambda query: one.retrieve([query], k=K, show_progress=False, n_threads=0)

    contestants: dict[str, Search] = {
        "ragkit": lambda query: index.search(query, K),
        "ragkit, accelerated": lambda query: fast.search(query, K),
        "bm25s, numpy": retrieve(peer(lists, "numpy")),
    }
    batch = None
    if installed("numba"):
        batch = peer(lists, "numba")
        contestants["bm25s, numba"] = retrieve(batch)
    for search in contestants.values():
        milliseconds(search, queries[:20])  # numba compiles, caches fill
    taken: dict[str, list[list[float]]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, search in contestants.items():
            taken[name].append(milliseconds(search, queries))
    medians = {name: [float(np.median(one)) for one in rounds] for name, rounds in taken.items()}
    base = medians["bm25s, numba" if "bm25s, numba" in medians else "bm25s, numpy"]
    rows = [
        [
            name,
            f"{np.median(medians[name]):.3f}",
            f"{min(medians[name]):.3f}",
            f"{np.median([np.percentile(one, 99) for one in rounds]):.2f}",
            f"{np.median(np.divide(medians[name], base)):.2f}",
        ]
        for name, rounds in taken.items()
    ]
    if batch is not None:
        each = []
        for _ in range(ROUNDS):
            start = perf_counter()
            batch.retrieve(queries, k=K, show_progress=False, n_threads=0)
            each.append(perf_counter() - start)
        rows.append(
            ["bm25s, numba, all in one call, their mean", f"{np.median(each):.3f}", f"{min(each):.3f}", "", ""]
        )
    head = [
        f"{len(queries):,} queries, {N_DOCS:,} texts",
        "median ms",
        "best round",
        "99th percentile",
        "of the last's",
    ]
    head[-1] = "of numba's"
    text = table(head, rows) + (
        f"\nThe same ten as bm25s in float64, up to exact ties, scores to nine digits: {equal:,} of {len(queries):,} "
        f"queries. Accelerated and plain alike to the last bit: {bitwise:,} of {len(queries):,}.\n"
    )
    publish("search", text, {"head": head, "rows": rows, "equal": equal, "bitwise": bitwise, "medians": medians})


if __name__ == "__main__":
    main()
