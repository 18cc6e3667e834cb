"""Memory of an index, at rest and while it is built: `python benchmarks/memory.py`. Linux only; one process each.

Growth is what the process holds beyond the texts that it was given: at its peak, and after the build.
"""

import ctypes
import gc
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from build import tuples_of
from common import N_DOCS, large_docs, publish, table, tokens

from ragkit import BM25Index


def resident() -> float:
    """Bytes this process holds, once what is free has been given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - not a file on a disk
        return int(file.read().split()[1]) * float(resource.getpagesize())


def ragkit_index(docs: dict[str, str]) -> Any:
    return BM25Index.build(docs)


def accelerated(docs: dict[str, str]) -> Any:
    return BM25Index.build(docs).accelerated()


def bm25s_index(docs: dict[str, str]) -> Any:
    import bm25s

    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(bm25s.tokenize(list(docs.values()), stopwords=None, show_progress=False), show_progress=False)
    return index


def tuple_lists(docs: dict[str, str]) -> Any:
    return tuples_of(map(tokens, docs.values()))


CONTESTANTS: dict[str, Callable[[dict[str, str]], Any]] = {
    "ragkit": ragkit_index,
    "ragkit, accelerated": accelerated,
    "bm25s": bm25s_index,
    "lists of tuples": tuple_lists,
}


def one(name: str) -> dict[str, float]:
    """Build one index in this process."""
    docs = large_docs()
    CONTESTANTS[name](dict(list(docs.items())[:100]))  # what is imported on first use is no growth of the index
    before = resident()
    index = CONTESTANTS[name](docs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    found = {"peak": peak, "after": resident() - before}
    if isinstance(index, BM25Index):
        stats = index.stats()
        found["postings"] = stats.n_postings
        found["arrays"] = (stats.bytes_per_posting + stats.accelerator_bytes_per_posting) * stats.n_postings
    return found


def main() -> None:
    found = {}
    for name in CONTESTANTS:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
        found[name] = json.loads(done.stdout)
    n = found["ragkit"]["postings"]
    rows = [
        [
            name,
            f"{got['arrays'] / n:.2f}" if "arrays" in got else "",
            f"{got['after'] / n:.1f}",
            f"{got['peak'] / n:.1f}",
            f"{got['peak'] / got['arrays']:.2f}" if "arrays" in got else "",
            f"{got['after'] / 1e6:.0f}",
        ]
        for name, got in found.items()
    ]
    head = [
        f"{N_DOCS:,} texts, {n:,} postings",
        "bytes a posting, arrays",
        "all that stays",
        "peak",
        "peak, of the arrays",
    ]
    head.append("MB that stay")
    publish("memory", table(head, rows), {"head": head, "rows": rows, "found": found})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(one(sys.argv[1])))
    else:
        main()
