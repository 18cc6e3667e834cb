"""What all benchmarks share: the corpus, the queries, taking turns, and the table with where it comes from."""

import gc
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

from ragkit.corpora.synthetic import large_texts

RESULTS = Path(__file__).parent / "results"
N_DOCS = int(os.environ.get("RAGKIT_BENCHMARK_DOCS", "51310"))  # fewer for a trial
ROUNDS = int(os.environ.get("RAGKIT_BENCHMARK_ROUNDS", "5"))
PEERS = ("bm25s", "numba", "tantivy", "rank_bm25", "faiss-cpu")  # requirements-bench.txt


def large_docs(n_docs: int = N_DOCS) -> dict[str, str]:
    """The seeded corpus, by id."""
    return {f"d{number:05d}": text for number, text in enumerate(large_texts(n_docs))}


def tokens(text: str) -> list[str]:
    """The words of a text of that corpus, the same for everyone."""
    return text.lower().replace(".", "").split()


def make_queries(docs: Mapping[str, str], n: int = 1_000, seed: int = 3) -> list[list[str]]:
    """Queries of 2 to 8 words, each drawn from the text of one document: common words are in most of them."""
    rng, texts = np.random.default_rng(seed), list(docs.values())
    drawn = [
        (tokens(texts[rng.integers(len(texts))]), size) for size in rng.integers(2, 9, n)
    ]  # a text has far more words than a query
    return [[str(word) for word in rng.choice(words, min(size, len(words)), replace=False)] for words, size in drawn]


def installed(name: str) -> bool:
    """Whether a peer can be measured here."""
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def take_turns(contestants: Mapping[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, dict[str, Any]]:
    """Run each in turn, round after round: wall and CPU seconds, and whatever the last run returned."""
    found: dict[str, dict[str, Any]] = {name: {"wall": [], "cpu": []} for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            gc.collect()
            wall, cpu = perf_counter(), process_time()
            result = run()
            found[name]["wall"].append(perf_counter() - wall)
            found[name]["cpu"].append(process_time() - cpu)
            found[name]["result"] = result
            del result
    return found


def ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """Median over the rounds of how long one took against the other in the same round."""
    return median(a / b for a, b in zip(one, other, strict=False))


def machine(peers: Sequence[str] = PEERS) -> dict[str, Any]:
    """Where and when, and which releases."""
    model = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("ragkit", "numpy", *peers) if installed(name)},
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines() if Path(path).exists() else []


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def publish(name: str, text: str, data: Mapping[str, Any], peers: Sequence[str] = PEERS) -> None:
    """Print a result, and keep it for the page of the book that includes it, with the releases of its peers."""
    here = machine(peers)
    versions = ", ".join(f"{name} {release}" for name, release in here["versions"].items())
    note = (
        f"\nMeasured on {here['date']}: {here['processor']}, {here['cores']} cores, load {here['load']} at the end; "
        f"Python {here['python']}, {versions}.\n"
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text + note, encoding="utf-8")
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": here, **data}, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(text + note)
