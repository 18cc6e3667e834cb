"""Labels of numpy's docstrings, which the installed release may have changed since they were made.

A line of labels.jsonl names the document, the section and, where there is one, the parameter; offsets count from
the beginning of the section. Where the text that was read is still the same, by its sha256, the label stands as it
is. Where it has changed, an answer is taken to stand in the same section, or in the entry of the same parameter,
and a text that did not answer is no longer judged.
"""

from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from json import loads
from typing import Any

from ragkit.corpora.numpy_docs import entry_of, sections
from ragkit.measure.labels import Label


def read(docs: Mapping[str, str]) -> tuple[tuple[Label, ...], dict[str, int]]:
    """The labels for these documents, and how many of them stand as made, were carried over, and were left out."""
    lines = (files("ragkit.corpora.numpy_docs") / "labels.jsonl").read_text(encoding="utf-8").split("\n")
    labels: list[Label] = []
    counts = {"as made": 0, "carried over": 0, "left out": 0}
    seen: set[tuple[str, str, int, int]] = set()
    for row in (loads(line) for line in lines if line):
        text = docs.get(row["doc_id"], "")
        label = as_made(row, text)
        state = "as made" if label else "carried over"
        label = label or carried_over(row, text)
        if label is None or label.stretch in seen:
            counts["left out"] += 1
            continue
        counts[state] += 1
        seen.add(label.stretch)
        labels.append(label)
    return tuple(labels), counts


def as_made(row: Mapping[str, Any], text: str) -> Label | None:
    """The label of a line, where the text that was read still stands at its place; else None."""
    if row["section"] not in sections(text):
        return None
    begin, _ = sections(text)[row["section"]]
    start, end = begin + row["start"], begin + row["end"]
    if sha256(text[start:end].encode()).hexdigest()[:12] != row["sha256"]:
        return None
    span = (begin + row["span"][0], begin + row["span"][1]) if "span" in row else None
    return Label(row["query_id"], row["doc_id"], start, end, row["label"], span, row.get("reason", ""))


def carried_over(row: Mapping[str, Any], text: str) -> Label | None:
    """The same judgment of the section, or of the parameter's entry, of a changed text; None where it ends."""
    place = sections(text).get(row.get("answer", ""))
    if place is None or row["label"] == "irrelevant":
        return None
    span = entry_of(text, place, row["parameter"]) if "parameter" in row else place
    if span is None:
        return None
    return Label(row["query_id"], row["doc_id"], *place, row["label"], span, row.get("reason", ""))
