"""MiniLM on scifact beside published figures: `make validate`, or `python benchmarks/validate.py`.

The collection lies in the folder that the environment variable RAGKIT_COLLECTIONS names. Encoding it takes minutes,
so vectors are kept in .ragkit-cache/, in a file named for the model's weights, where each is found by the hash of its
text: what was changed is encoded anew, and what was not never again. They are saved block by block, and a run that
was interrupted goes on where it stopped.

Beside what is computed from these vectors stand the figures of the run in tests/data, which the tests read.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from common import publish, table
from scifact import COLLECTION, load_docs, load_queries

from ragkit import (
    DenseIndex,
    Run,
    coverage_at_k,
    load_encoder,
    ndcg_at_k,
    precision_at_k,
    read_run,
)
from ragkit.dense.cache import CachedEncoder
from ragkit.dense.encoder import PACKAGED_WEIGHTS, Kind
from ragkit.progress import progress

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".ragkit-cache"
KEPT = ROOT / "tests/data/scifact-minilm.run.gz"
BLOCK = 256  # texts that are encoded between two savings
DEPTH, DIGITS = 100, 5

# MTEB's results of all-MiniLM-L6-v2 on SciFact's test queries, to the digits that they are given in
PUBLISHED = {"nDCG@10": 0.64508, "R@10": 0.78333, "R@100": 0.925, "P@5": 0.164, "P@1": 0.50333}
MEASURES: Mapping[str, tuple[Callable[..., Any], int]] = {
    "nDCG@10": (ndcg_at_k, 10),
    "R@10": (coverage_at_k, 10),
    "R@100": (coverage_at_k, 100),
    "P@5": (precision_at_k, 5),
    "P@1": (precision_at_k, 1),
}

model = cache(load_encoder)  # loaded where a vector is missing, and then once


def figures(run: Run, qrels: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """The published measures of a run."""
    return {name: float(measure(run, qrels, k)) for name, (measure, k) in MEASURES.items()}


def opened(path: Path) -> CachedEncoder:
    """What is kept there of the packaged model's vectors; nothing yet, at first."""
    if path.exists():
        return CachedEncoder.load(path, model)
    return CachedEncoder.empty(dict(model().record), model().dim, model)


def completed(encoder: CachedEncoder, path: Path, texts: Sequence[str], kind: Kind) -> CachedEncoder:
    """A cache that knows all these texts; it is saved after each block."""
    missing = [text for text, known in zip(texts, encoder.knows(texts, kind), strict=True) if not known]
    for first in progress(range(0, len(missing), BLOCK), f"encode, {kind}"):
        encoder = encoder.with_texts(missing[first : first + BLOCK], kind)
        encoder.save(path)
    return encoder


def main() -> None:
    if not COLLECTION:
        raise SystemExit("RAGKIT_COLLECTIONS names no folder; it is to hold scifact, in BEIR's layout")
    began = perf_counter()
    docs, (queries, qrels) = load_docs(), load_queries()
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"scifact-{PACKAGED_WEIGHTS[:16]}.npz"
    encoder = opened(path)
    known = len(encoder)
    encoder = completed(encoder, path, list(docs.values()), "document")
    encoder = completed(encoder, path, list(queries.values()), "query")
    encoded = len(encoder) - known
    index = DenseIndex.build(docs, encoder)
    computed = figures(index.run(queries, DEPTH), qrels)
    kept = figures(read_run(KEPT), qrels)
    head = ["", *PUBLISHED]
    rows = [
        ["published by MTEB", *(f"{value:.{DIGITS}f}" for value in PUBLISHED.values())],
        *(
            [name, *(f"{found[measure]:.{DIGITS}f}" for measure in PUBLISHED)]
            for name, found in (("computed", computed), ("of the run that the tests read", kept))
        ),
    ]
    wrong = [name for name, value in PUBLISHED.items() if round(computed[name], DIGITS) != value]
    outcome = f"All {len(PUBLISHED)} agree to the digit." if not wrong else f"Not the same: {', '.join(wrong)}."
    text = table(head, rows) + (
        f"\n{outcome} {len(queries)} queries, {len(docs):,} documents, of which MiniLM reads only the beginning of "
        f"{len(index.truncated or {}):,}. Exact scan; vectors are rounded to float16.\n"
    )
    data = {
        "published": PUBLISHED,
        "computed": computed,
        "kept": kept,
        "record": dict(encoder.record),
        "truncated": len(index.truncated or {}),
    }
    publish("scifact_dense", text, data, ("torch", "transformers", "sentence-transformers"))
    print(f"\n{encoded:,} texts were encoded, {known:,} were known; {perf_counter() - began:.0f} s")
    if wrong:
        raise SystemExit(outcome)


if __name__ == "__main__":
    main()
