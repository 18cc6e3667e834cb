"""Milliseconds a query of exact dense search beside faiss: `python benchmarks/dense.py`. Top 10, unit vectors.

First the results are compared: the same ten documents as faiss, and the same scores to its float32. Then both take
turns, one query at a time and all in one call, on one thread and on as many as there are. On one thread processor
time counts, which other processes disturb less, and the median of the rounds. On several it is the clock on the wall
and the fastest round: a thread that waits for a processor makes the others wait. That wants an idle machine, and
where several threads together read memory slower than one, before or after, it is not: then those rows are left out.
RAGKIT_BENCHMARK_THREADS=1 does not even try.

What the memory delivers to as many threads is measured by the same clock: the best of five sums over 1 GB.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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

THREADS = os.environ.get("RAGKIT_BENCHMARK_THREADS", f"1 {os.cpu_count() or 1}")
GIGABYTE, SUMS = 1_000_000_000, 5
SHAPES = ((12_000, 768), (51_310, 384))
QUERIES, K = 64, 10
PEERS = ("faiss-cpu",)
BLAS_FROM = 20  # queries from which faiss took a matrix product in earlier releases; 1.15 waits for far more

Clock = Callable[[], float]


def unit_vectors(n: int, dim: int, seed: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((n, dim), dtype=np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def bandwidth(array: NDArray[np.float32], threads: int, reading: Callable[..., Any]) -> float:
    """Bytes per second at which so many threads together read an array, each a part of it: the best of five."""
    parts, clock = np.array_split(array, threads), process_time if threads == 1 else perf_counter
    taken = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(SUMS):
            start = clock()
            list(pool.map(reading, parts))
            taken.append(clock() - start)
    return array.nbytes / min(taken)


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
    asked = list(dict.fromkeys(map(int, THREADS.split())))
    large = np.ones(GIGABYTE // np.dtype(np.float32).itemsize, dtype=np.float32)
    sums = {threads: bandwidth(large, threads, np.sum) for threads in asked}
    largest = {threads: bandwidth(large, threads, np.max) for threads in asked}
    busy = []

    def disturbed(threads: int) -> bool:
        """Whether others have the processors now, or had them when the largest values were read."""
        now = bandwidth(large, threads, np.sum)
        sums[threads] = max(sums[threads], now)
        return now < sums[min(asked)] or largest[threads] < largest[min(asked)]

    rows, medians, notes = [], {}, []
    for n, dim in SHAPES:
        vectors, queries = unit_vectors(n, dim, seed=1), unit_vectors(QUERIES, dim, seed=2)
        index = DenseIndex.from_vectors([f"d{number:05d}" for number in range(n)], vectors)
        flat = faiss.IndexFlatIP(dim)
        flat.add(index.vectors)
        notes.append(f"{agreement(index, flat, queries)} of {QUERIES} at {n:,} × {dim}")
        for threads in asked:
            others = threads > 1 and disturbed(threads)
            if not others:
                with threadpool_limits(threads):
                    found = measure(index, flat, queries, process_time if threads == 1 else perf_counter)
                others = threads > 1 and disturbed(threads)
            if others:
                busy.append(f"{n:,} × {dim} by {threads} threads")
                continue
            best = median if threads == 1 else min
            took = {name: {way: best(taken) for way, taken in ways.items()} for name, ways in found.items()}
            for name, ways in found.items():
                cells = chain.from_iterable(
                    (f"{took[name][way]:.3f}", f"{relative(ways[way], found['faiss flat'][way], threads):.2f}")
                    if way in ways
                    else ("", "")
                    for way in ("single", "batch")
                )
                pace = index.vectors.nbytes / took[name]["single"] * 1e3 if "single" in ways else 0
                shares = [f"{pace / of[threads]:.2f}" if pace else "" for of in (sums, largest)]
                rows.append([f"{n:,} × {dim}, {name}", threads, *cells, *shares])
            medians[f"{n} x {dim}, {threads} threads"] = took
    head = [
        f"top {K}",
        "threads",
        "ms, one query",
        "of faiss's",
        f"ms each of {QUERIES}",
        "of faiss's",
        "of the sums' pace",
        "of the maxima's",
    ]
    paces = "; ".join(
        f"{threads} thread{'s' * (threads > 1)} {sums[threads] / 1e9:.1f} GB/s, {largest[threads] / 1e9:.1f} GB/s"
        for threads in asked
    )
    left_out = ""
    if busy:
        left_out = (
            f" No rows for {', '.join(busy)}: before or after, so many read slower together than one alone: others "
            "had the processors."
        )
    text = table(head, rows) + (
        f"\nThe same ten as faiss in the same order: {'; '.join(notes)}. Sums over 1 GB, and largest values of it, "
        f"the best of {SUMS}: {paces}. *Pace* is the bytes of all vectors over the time of one query, as a share of "
        f"these: above 1 where a cache helps. Several threads: wall time, the fastest round.{left_out}\n"
    )
    data = {"head": head, "rows": rows, "bandwidth": sums, "bandwidth of maxima": largest, "medians": medians}
    publish("dense", text, data, PEERS)


def relative(ours: list[float], theirs: list[float], threads: int) -> float:
    return ratio(ours, theirs) if threads == 1 else min(ours) / min(theirs)


if __name__ == "__main__":
    main()
