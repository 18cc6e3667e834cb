"""Measurements in a chapter: small ones made on the page, and full-size ones that the benchmarks wrote."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ragkit.corpora.synthetic import large_texts
from ragkit.lexical.index import BM25Index
from ragkit.teach.page import escape, style

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


@dataclass(frozen=True)
class Table:
    """Rows under a head, and a line that says what they are of."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str

    def __repr__(self) -> str:
        widths = [max(len(row[i]) for row in (self.head, *self.rows)) for i in range(len(self.head))]
        lines = [
            "  ".join(
                cell.ljust(w) if i == 0 else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in (self.head, *self.rows)
        ]
        return "\n".join([*lines, self.note])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.head)
        rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows)
        return (
            f'{style()}<table class="rk-table"><caption>{escape(self.note)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


def table(name: str) -> Table:
    """What a benchmark of the project last wrote: "build", "memory", "search" or "growth".

    FileNotFoundError where ragkit is installed without the project around it.
    """
    result = _result(name)
    machine = result["machine"]
    releases = ", ".join(f"{package} {release}" for package, release in machine["versions"].items())
    note = (
        f"Measured on {machine['date']}: {machine['processor']}, {machine['cores']} cores, "
        f"load {machine['load']:g}; Python {machine['python']}, {releases}."
    )
    return Table(tuple(result["head"]), tuple(tuple(map(str, row)) for row in result["rows"]), note)


def build_seconds() -> str:
    """One sentence on the benchmark of the build: seconds, machine, day."""
    result = _result("build")
    row = next(row for row in result["rows"] if row[0].startswith("ragkit"))
    seconds, machine = row[result["head"].index("seconds")], result["machine"]
    return (
        f"{seconds} s from raw text, {row[result['head'].index('CPU seconds')]} of them CPU, in one process on "
        f"{machine['processor']}, load {machine['load']:g}, {machine['date']}"
    )


def growth(sizes: Sequence[int]) -> Table:
    """Build an index of the first texts of a seeded corpus, size by size, and time it here and now."""
    rows, seconds = [], []
    for size in sizes:
        texts = {str(number): text for number, text in enumerate(large_texts(size))}
        start = process_time()
        stats = BM25Index.build(texts).stats()
        seconds.append(process_time() - start)
        rows.append((f"{size:,}", f"{stats.n_postings:,}", f"{stats.bytes_per_posting:.2f}", f"{seconds[-1]:.2f}"))
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    return Table(
        ("texts", "postings", "bytes a posting", "CPU seconds to build"),
        tuple(rows),
        f"Measured on this page; the seconds grow as the number of texts to the power {exponent:.2f}.",
    )


def _result(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    if not path.exists():
        raise FileNotFoundError(f"no results of the benchmark {name!r}: they come with the project, in benchmarks/")
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result
