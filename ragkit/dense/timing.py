"""What a scan takes on this machine: measured, beside what its memory delivers, and a line to extend it by.

Only the products are timed, which is what grows with the collection, on one core: a product over several is faster
until it reaches what the memory delivers to all of them. What is measured is the time in which the core was ours, and
of several rounds the fastest counts: what slowed the others down was not the scan.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import get_clock_info, perf_counter, process_time, thread_time

import numpy as np
from numpy.typing import NDArray

from ragkit.dense.scan import scan_cost

BYTES = np.dtype(np.float32).itemsize
PAST = 2  # a matrix of this many times the last cache does not stay in it from one round to the next
UNKNOWN_CACHE = 64 << 20  # where the system does not say: more than most processors have
REPEAT = 64 << 20  # bytes to scan again and again in one round
COARSE = 1e-6  # seconds: Windows counts processor time in steps of 1/64 s
BLOCK = 256  # rows of float16 that are made float32 at a time: they stay in a cache


@dataclass(frozen=True)
class ScanTimes:
    """Seconds of one query's product with the first vectors of a matrix, for several sizes.

    `bandwidth` is what the memory delivered to the same core, in bytes per second. `cache` is the size of the last
    cache in bytes, None where the system does not say.
    """

    dim: int
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    bandwidth: float
    cache: int | None

    def __repr__(self) -> str:
        largest = f"{self.sizes[-1]:,} × {self.dim} in {self.seconds[-1] * 1000:.2f} ms"
        return f"ScanTimes({len(self.sizes)} sizes, {largest}, memory {self.bandwidth / 1e9:.1f} GB/s)"

    def took(self, n: int) -> float:
        """Seconds for n vectors, one of the sizes."""
        return self.seconds[self.sizes.index(n)]

    def implied(self, n: int) -> float:
        """Bytes per second that the scan of n vectors read."""
        return n * self.dim * BYTES / self.took(n)

    @property
    def past_cache(self) -> tuple[int, ...]:
        """The sizes past the last cache; at least the three largest."""
        limit = PAST * (self.cache or UNKNOWN_CACHE)
        found = tuple(n for n in self.sizes if n * self.dim * BYTES > limit)
        return found if len(found) >= 3 else self.sizes[-3:]

    def predict(self, n: int, through: Sequence[int] | None = None) -> float:
        """Seconds for n vectors, on the line through the sizes past the cache, or through those given.

        The line minimises relative errors: else the largest size would decide alone.

        >>> ScanTimes(768, (1, 10, 20, 40), (9.0, 1.0, 2.0, 4.0), 1e9, None).predict(400)  # the first is left out
        40.0
        """
        sizes = self.past_cache if through is None else through
        seconds = [self.took(size) for size in sizes]
        slope, start = np.polyfit(sizes, seconds, 1, w=1 / np.array(seconds))
        return round(float(slope * n + start), 12)


def time_scans(sizes: Sequence[int], dim: int = 768, rounds: int = 7) -> ScanTimes:
    """Time the product of a query with the first `sizes` vectors of a float32 matrix, in turns.

    The largest size decides what memory it takes: 150,000 × 768 is 461 MB. ValueError for no size, or for fewer
    than three, through which a line says nothing.

    >>> times = time_scans((100, 200, 400), dim=8, rounds=3)
    >>> times.sizes, len(times.seconds), times.bandwidth > 0
    ((100, 200, 400), 3, True)
    """
    ordered = tuple(sorted(set(sizes)))
    if len(ordered) < 3 or ordered[0] < 1:
        raise ValueError(f"sizes is {list(sizes)}; give three sizes or more, of one vector or more")
    vectors, query = random_vectors(ordered[-1], dim)
    fastest = dict.fromkeys(ordered, np.inf)
    for n in ordered * rounds:
        part = vectors[:n]
        for _ in range(max(2, min(20, REPEAT // part.nbytes))):  # the first finds what another size left in the cache
            fastest[n] = min(fastest[n], _seconds(partial(np.vecdot, part, query)))
    return ScanTimes(dim, ordered, tuple(fastest.values()), read_bandwidth(vectors), last_cache())


@dataclass(frozen=True)
class Variant:
    """A way to scan: the bytes that one query, or one batch, reads, and the seconds a query."""

    name: str
    bytes: int
    queries: int
    seconds: float  # of each query


def time_variants(n: int = 40_000, dim: int = 768, batch: int = 64, rounds: int = 3) -> tuple[Variant, ...]:
    """Time what can be changed about a scan: the dimension, the type, the queries at a time. The plain one first.

    The batch is one matrix product, which takes all cores: their times are added.

    >>> [variant.bytes for variant in time_variants(100, dim=8, batch=2, rounds=1)]
    [3200, 1600, 1600, 1600, 3200]
    """
    vectors, query = random_vectors(n, dim)
    shorter, few = vectors.reshape(-1)[: n * (dim // 2)].reshape(n, dim // 2), query[: dim // 2]
    halves, half = vectors.astype(np.float16), query.astype(np.float16)
    many = np.random.default_rng(1).random((batch, dim), dtype=np.float32)

    def converted() -> None:
        for first in range(0, n, BLOCK):
            np.vecdot(halves[first : first + BLOCK].astype(np.float32), query)

    ways: dict[str, tuple[Callable[[], object], int, str, int]] = {
        "float32": (lambda: np.vecdot(vectors, query), dim, "float32", 1),
        "half the dimensions": (lambda: np.vecdot(shorter, few), dim // 2, "float32", 1),
        "float16": (lambda: np.vecdot(halves, half), dim, "float16", 1),
        "float16, made float32 in blocks": (converted, dim, "float16", 1),
        f"{batch} queries in one product": (lambda: vectors @ many.T, dim, "float32", batch),
    }
    fastest = dict.fromkeys(ways, np.inf)
    for _ in range(rounds):
        for name, (way, *_, queries) in ways.items():
            fastest[name] = min(fastest[name], _seconds(way, all_cores=queries > 1))
    return tuple(
        Variant(name, scan_cost(n, width, kind).bytes, queries, fastest[name] / queries)
        for name, (_, width, kind, queries) in ways.items()
    )


def random_vectors(n: int, dim: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A seeded matrix (n, dim) and a query (dim,). For time alone: rows repeat, which a product does not notice."""
    rng = np.random.default_rng(0)
    rows = rng.random((min(n, 1_000), dim), dtype=np.float32)
    return np.resize(rows, (n, dim)), rng.random(dim, dtype=np.float32)


def read_bandwidth(array: NDArray[np.float32], rounds: int = 7) -> float:
    """Bytes per second at which a core of this machine reads an array.

    It takes the largest value: nothing that numpy does with every number asks less of the processor. The array must
    be larger than the last cache, or it is the cache that is measured.
    """
    return array.nbytes / min(_seconds(partial(np.max, array.reshape(-1))) for _ in range(rounds))


def last_cache() -> int | None:
    """Bytes of the largest cache of the first processor; None where the system does not say."""
    found = []
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        written = path.read_text(encoding="ascii").strip()
        unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(written[-1:], 0)
        if unit and written[:-1].isdecimal():
            found.append(int(written[:-1]) * unit)
    return max(found, default=None)


def memory_bytes() -> int | None:
    """Bytes of RAM in this machine; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _seconds(work: Callable[[], object], *, all_cores: bool = False) -> float:
    """Seconds of the core, or of all cores together; of the clock on the wall where a system counts too coarsely."""
    clock = process_time if all_cores else thread_time
    if get_clock_info("thread_time").resolution > COARSE:
        clock = perf_counter
    start = clock()
    work()
    return clock() - start
