"""How fast texts become vectors: `python benchmarks/encoding.py`. 200 passages of the handbook, the packaged MiniLM.

`Encoder.encode` beside the same model of sentence-transformers asked directly, in batches of the same size; both
take turns, on one thread and on as many as there are. A word piece counts where the model reads it, not beyond its
window. On one thread processor time counts, which other processes disturb less; on several the clock on the wall,
which wants an idle machine: where several take longer than one, it is not, and those rows are left out.
RAGKIT_BENCHMARK_THREADS=1 does not even try.
"""

import os
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import torch
from common import ROUNDS, publish, ratio, table, take_turns
from threadpoolctl import threadpool_limits

from ragkit import load_corpus, load_encoder
from ragkit.dense.encoder import BATCH

THREADS = os.environ.get("RAGKIT_BENCHMARK_THREADS", f"1 {os.cpu_count() or 1}")
PASSAGES, SEED = 200, 5
PEERS = ("torch", "transformers", "sentence-transformers")


def sample() -> list[str]:
    """Distinct passages, drawn at random: the first ones would be those of a few documents."""
    distinct = list(dict.fromkeys(load_corpus("handbook").passages().values()))
    drawn = np.random.default_rng(SEED).choice(len(distinct), min(PASSAGES, len(distinct)), replace=False)
    return [distinct[at] for at in drawn]


def main() -> None:
    texts, encoder = sample(), load_encoder()
    counts = encoder.count(texts)
    read = [min(count, encoder.window or count) for count in counts]
    network = encoder._network

    def directly() -> Any:
        return network.encode(texts, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)

    contestants: dict[str, Callable[[], Any]] = {
        "ragkit": lambda: encoder.encode(texts),
        "sentence-transformers, asked directly": directly,
    }
    rows: list[list[Any]] = []
    medians: dict[str, float] = {}
    left_out, alike = "", 0.0
    for threads in dict.fromkeys(map(int, THREADS.split())):
        torch.set_num_threads(threads)
        clock = "cpu" if threads == 1 else "wall"
        with threadpool_limits(threads):
            encoder.encode(texts[:BATCH])  # warms up
            found = take_turns(contestants, ROUNDS)
        ours, theirs = (found[name]["result"] for name in contestants)
        alike = max(alike, float(np.abs(ours - theirs).max()))
        if median(found["ragkit"][clock]) > medians.get("ragkit, 1 threads", float("inf")):
            left_out += f" No rows for {threads} threads: they took longer than one, so others had the processors."
            continue
        for name, taken in found.items():
            seconds = median(taken[clock])
            rows.append(
                [
                    name,
                    threads,
                    "CPU" if clock == "cpu" else "wall",
                    f"{seconds:.2f}",
                    f"{len(texts) / seconds:.1f}",
                    f"{sum(read) / seconds:,.0f}",
                    f"{ratio(taken[clock], found['sentence-transformers, asked directly'][clock]):.2f}",
                ]
            )
            medians[f"{name}, {threads} threads"] = seconds
    head = [
        f"{len(texts)} passages",
        "threads",
        "clock",
        "seconds",
        "passages a second",
        "word pieces a second",
        "of the direct call's",
    ]
    text = table(head, rows) + (
        f"\nMedians of {ROUNDS} rounds. {sum(read):,} word pieces are read of {sum(counts):,}, {_spread(read)} a "
        f"passage (least, median, most), in batches of {BATCH}. "
        f"{'Both give the same bits' if alike == 0 else f'No number of a vector differs by more than {alike:.0e}'}."
        f"{left_out}\n"
    )
    data = {"head": head, "rows": rows, "seconds": medians, "pieces": sum(read), "difference": alike}
    publish("encoding", text, data, PEERS)


def _spread(counts: Sequence[int]) -> str:
    return f"{min(counts)}, {median(counts):g}, {max(counts)}"


if __name__ == "__main__":
    main()
