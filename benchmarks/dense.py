"""Milliseconds a query of exact dense search beside faiss: `python benchmarks/dense.py`. Top 10, unit vectors.

First the results are compared: the same ten documents as faiss, and the same scores to its float32. Then both take
turns, one query at a time and all in one call, on one thread and on as many as there are. On one thread processor
time counts, which other processes disturb less; on several the clock on the wall, which wants an idle machine:
RAGKIT_BENCHMARK_THREADS=1 leaves those out.
"""

import os
from collections.abc import Callable
from itertools import chain
from statistics import median
from time import perf_counter, process_time
from typing import Any

import faiss
import numpy as np
from common import ROUNDS, publish, ratio, table
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ragkit import DenseIndex
from ragkit.dense.timing import read_bandwidth

THREADS = os.environ.get("RAGKIT_BENCHMARK_THREADS", f"1 {os.cpu_count() or 1}")
SHAPES = ((12_000, 768), (51_310, 384))
QUERIES, K = 64, 10
BLAS_FROM = 20  # queries from which faiss took a matrix product in earlier releases; 1.15 waits for far more


Clock = Callable[[], float]


def unit_vectors(n: int, dim: int, seed: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((n, dim), dtype=np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def agreement(index: DenseIndex, flat: Any, queries: NDArray[np.float32]) -> int:
    """Queries whose ten are the same in the same order, with scores that differ by float32's rounding alone."""
    scores, numbers = flat.search(queries, K)
    equal = 0
    for query, theirs, rows in zip(queries, scores, numbers, strict=True):
        hits = index.search(query, K)
        same = [hit.doc_id for hit in hits] == [index.doc_ids[row] for row in rows]
        equal += same and np.allclose([hit.score for hit in hits], theirs, rtol=0, atol=1e-5)
    return equal


def with_product(flat: Any, queries: NDArray[np.float32]) -> None:
    before = faiss.cvar.distance_compute_blas_threshold
    faiss.cvar.distance_compute_blas_threshold = BLAS_FROM
    try:
        flat.search(queries, K)
    finally:
        faiss.cvar.distance_compute_blas_threshold = before


def one_by_one(search: Callable[[NDArray[np.float32]], Any], queries: NDArray[np.float32], clock: Clock) -> float:
    """Median milliseconds of a query."""
    taken = []
    for query in queries:
        start = clock()
        search(query)
        taken.append(1e3 * (clock() - start))
    return median(taken)


def at_once(search: Callable[[], Any], clock: Clock) -> float:
    """Milliseconds a query, all in one call."""
    start = clock()
    search()
    return 1e3 * (clock() - start) / QUERIES


def measure(
    index: DenseIndex, flat: Any, queries: NDArray[np.float32], clock: Clock
) -> dict[str, dict[str, list[float]]]:
    """Milliseconds a query by contestant and way, a figure a round."""
    named = {str(number): query for number, query in enumerate(queries)}
    ways: dict[str, dict[str, Callable[[], float]]] = {
        "ragkit": {
            "single": lambda: one_by_one(lambda query: index.search(query, K), queries, clock),
            "batch": lambda: at_once(lambda: index.run(named, K), clock),
        },
        "faiss flat": {
            "single": lambda: one_by_one(lambda query: flat.search(query[np.newaxis], K), queries, clock),
            "batch": lambda: at_once(lambda: flat.search(queries, K), clock),
        },
        "faiss flat, told to use a product": {"batch": lambda: at_once(lambda: with_product(flat, queries), clock)},
        "numpy product alone": {
            "single": lambda: one_by_one(lambda query: index.vectors @ query, queries, clock),
            "batch": lambda: at_once(lambda: queries @ index.vectors.T, clock),
        },
    }
    found = {name: {way: [] for way in these} for name, these in ways.items()}
    for turn in range(ROUNDS + 1):
        for name, these in ways.items():
            for way, run in these.items():
                taken = run()
                if turn:  # the first warms up
                    found[name][way].append(taken)
    return found


def main() -> None:
    bandwidth = read_bandwidth(np.ones(125_000_000, dtype=np.float32))
    rows, medians, notes = [], {}, []
    for n, dim in SHAPES:
        vectors, queries = unit_vectors(n, dim, seed=1), unit_vectors(QUERIES, dim, seed=2)
        index = DenseIndex.from_vectors([f"d{number:05d}" for number in range(n)], vectors)
        flat = faiss.IndexFlatIP(dim)
        flat.add(index.vectors)
        notes.append(f"{agreement(index, flat, queries)} of {QUERIES} at {n:,} × {dim}")
        for threads in dict.fromkeys(map(int, THREADS.split())):
            with threadpool_limits(threads):
                found = measure(index, flat, queries, process_time if threads == 1 else perf_counter)
            floor = 1e3 * index.vectors.nbytes / bandwidth
            for name, ways in found.items():
                cells = chain.from_iterable(
                    (f"{median(ways[way]):.3f}", f"{ratio(ways[way], found['faiss flat'][way]):.2f}")
                    if way in ways
                    else ("", "")
                    for way in ("single", "batch")
                )
                share = f"{floor / median(ways['single']):.2f}" if threads == 1 and "single" in ways else ""
                rows.append([f"{n:,} × {dim}, {name}", threads, *cells, share])
            medians[f"{n} x {dim}, {threads} threads"] = {
                name: {way: median(taken) for way, taken in ways.items()} for name, ways in found.items()
            }
    head = [
        f"top {K}",
        "threads",
        "ms, one query",
        "of faiss's",
        f"ms each of {QUERIES}",
        "of faiss's",
        "floor's share",
    ]
    text = table(head, rows) + (
        f"\nThe same ten as faiss in the same order: {'; '.join(notes)}. One core reads memory at "
        f"{bandwidth / 1e9:.1f} GB/s; *floor* is what reading the bytes at that pace takes, as a share of the time: "
        "above 1 where a cache helps.\n"
    )
    publish("dense", text, {"head": head, "rows": rows, "bandwidth": bandwidth, "medians": medians})


if __name__ == "__main__":
    main()
