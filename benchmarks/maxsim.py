"""Late interaction on the handbook: `python benchmarks/maxsim.py`. MiniLM's top 50, reordered by MaxSim.

Every passage is read once, and a vector a word piece is kept. For each query the 50 passages that MiniLM puts first
are ordered by MaxSim over these; the order goes into the results, and is measured in the book. The times are those
of one thread: the products alone, over vectors that are there, and the model that reads 50 passages anew. CPU time is
what it takes where nobody else is at work.
"""

from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any

import torch
from common import publish, table
from threadpoolctl import threadpool_limits

from ragkit import DenseIndex, load_corpus, load_encoder
from ragkit.dense.late import maxsim, token_vectors

DEPTH = 50
READ_ANEW = 5  # queries whose passages are read again, for the time that takes


class Clock:
    """Milliseconds of each step, on the wall and of the CPU."""

    def __init__(self) -> None:
        self.wall: dict[str, list[float]] = {}
        self.cpu: dict[str, list[float]] = {}

    def time(self, step: str, run: Callable[[], Any]) -> Any:
        """What a step gives; how long it took is kept."""
        wall, cpu = perf_counter(), process_time()
        result = run()
        self.wall.setdefault(step, []).append(1e3 * (perf_counter() - wall))
        self.cpu.setdefault(step, []).append(1e3 * (process_time() - cpu))
        return result


def main() -> None:
    corpus, encoder = load_corpus("handbook"), load_encoder()
    passages = corpus.passages()
    index = DenseIndex.build(passages, corpus.vectors)
    run = index.run(corpus.queries, k=DEPTH)
    texts = list(dict.fromkeys(passages.values()))
    pieces = dict(zip(texts, token_vectors(encoder, texts), strict=True))
    clock, orders = Clock(), {}
    for number, (qid, text) in enumerate(corpus.queries.items()):
        ids = run.ids(qid)
        query = clock.time("query", partial(token_vectors, encoder, [text], "query"))[0]
        scores = clock.time("products", partial(maxsim, query, [pieces[passages[passage]] for passage in ids]))
        if number % (len(corpus.queries) // READ_ANEW) == 0:
            clock.time("read", partial(token_vectors, encoder, [passages[passage] for passage in ids]))
        # equal scores, of twins, keep the order of the first stage
        orders[qid] = " ".join(ids[at] for at in sorted(range(len(ids)), key=lambda at: (-scores[at], at)))
    n_pieces = sum(len(pieces[text]) for text in passages.values())
    one_vector = index.vectors.nbytes
    head = [f"{len(orders)} queries, {DEPTH} pairs each", "CPU ms a query", "CPU ms a pair", "ms a query"]
    wall, cpu = ({step: median(taken) for step, taken in each.items()} for each in (clock.wall, clock.cpu))
    rows = [
        ["read the query", f"{cpu['query']:.1f}", "", f"{wall['query']:.1f}"],
        *(
            [name, f"{cpu[step]:.1f}", f"{cpu[step] / DEPTH:.3f}", f"{wall[step]:.1f}"]
            for step, name in (("products", "MaxSim, vectors at hand"), ("read", f"read the {DEPTH} passages anew"))
        ),
    ]
    text = table(head, rows) + (
        f"\nMedians, one thread. {n_pieces:,} vectors of word pieces take {4 * n_pieces * encoder.dim / 1e6:.0f} MB "
        f"in float32, one vector a passage takes {one_vector / 1e6:.1f} MB.\n"
    )
    data = {
        "head": head,
        "rows": rows,
        "corpus_sha256": corpus.fingerprint,
        "depth": DEPTH,
        "cpu_ms": cpu,
        "ms": wall,
        "bytes": {"pieces": 4 * n_pieces * encoder.dim, "one": one_vector},
        "orders": orders,
    }
    publish("maxsim", text, data)


if __name__ == "__main__":
    torch.set_num_threads(1)
    with threadpool_limits(1):
        main()
