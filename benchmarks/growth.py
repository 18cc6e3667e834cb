"""How the cost grows with the collection: `python benchmarks/growth.py`. Exponents, a profile, and the floor."""

import cProfile
import pstats
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
from common import N_DOCS, large_docs, make_queries, publish, table, take_turns
from search import milliseconds

from ragkit import BM25Index

SIZES = [size for size in (5_000, 10_000, 20_000) if size < N_DOCS] + [N_DOCS]


def read_once(docs: dict[str, str]) -> int:
    """Cut every text into words, and nothing else."""
    return sum(len(text.split()) for text in docs.values())


def touched(index: BM25Index, query: list[str]) -> int:
    """Read the postings of a query's terms once, and nothing else."""
    p = index.postings
    return sum(int(p.doc_numbers[p.of(term)].sum()) + int(p.frequencies[p.of(term)].sum()) for term in query)


def main() -> None:
    docs = large_docs()
    rows = []
    for size in SIZES:
        some = dict(list(docs.items())[:size])
        queries = make_queries(some, 300)
        turns = take_turns(
            {"build": partial(BM25Index.build, some), "read": partial(read_once, some)},
        )
        index = turns["build"]["result"]
        fast = index.accelerated()
        plain, quick, floor = (
            float(np.median([milliseconds(search, queries) for _ in range(5)]))
            for search in (index.search, fast.search, partial(touched, index))
        )
        build, read = (float(np.median(turns[name]["cpu"])) for name in ("build", "read"))
        rows.append([size, index.stats().n_postings, build, read, plain, quick, floor])
    measured = np.array(rows, dtype=float)
    exponents = [np.polyfit(np.log(measured[:, 0]), np.log(column), 1)[0] for column in measured.T[1:]]
    profiler = cProfile.Profile()
    start = perf_counter()
    profiler.runcall(BM25Index.build, dict(list(docs.items())[: SIZES[0]]))
    taken = perf_counter() - start
    functions = pstats.Stats(profiler).stats.items()  # type: ignore[attr-defined]
    slowest = sorted(functions, key=lambda item: item[1][2], reverse=True)[:8]
    profile = [
        [f"`{name}`" if file == "~" else f"`{Path(file).stem}.{name}`", f"{calls:,}", f"{100 * own / taken:.0f} %"]
        for (file, _, name), (_, calls, own, _, _) in slowest
    ]
    head = ["texts", "postings", "build, CPU s", "reading the text once, CPU s", "search, ms", "accelerated, ms"]
    head.append("reading the postings once, ms")
    cells = [
        [f"{size:,}", f"{postings:,}", f"{build:.2f}", f"{read:.2f}", *(f"{ms:.3f}" for ms in times)]
        for size, postings, build, read, *times in rows
    ]
    cells.append(["exponent", *(f"{exponent:.2f}" for exponent in exponents)])
    text = table(head, cells) + f"\nWhere a build of {SIZES[0]:,} texts spends its time, under the profiler:\n\n"
    text += table(["function", "calls", "own time"], profile)
    publish("growth", text, {"head": head, "rows": rows, "exponents": exponents, "profile": profile})


if __name__ == "__main__":
    main()
