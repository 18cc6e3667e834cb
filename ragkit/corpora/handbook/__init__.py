"""The documentation and support base of a platform that does not exist, written for this book.

One Markdown file a document in `documents/`: its kind and date between two lines of plus signs, as TOML, then the
text, which begins with its title. Twins and near-duplicates are planted: `planted.json` names them.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import as_file, files
from typing import Any

from ragkit.measure.labels import Label, read_labels

KINDS = ("api", "error", "hardware", "policy", "runbook", "release", "glossary", "support", "guide", "service")


def documents() -> tuple[dict[str, str], dict[str, Mapping[str, Any]]]:
    """Texts by id, in alphabetical order, and what each file says of its document: kind and date."""
    texts: dict[str, str] = {}
    about: dict[str, Mapping[str, Any]] = {}
    folder = files("ragkit.corpora.handbook") / "documents"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        _, head, text = file.read_text(encoding="utf-8").split("+++\n", 2)
        doc_id = file.name.removesuffix(".md")
        texts[doc_id], about[doc_id] = text.strip(), tomllib.loads(head)
    return texts, about


def labels() -> tuple[Label, ...]:
    """The labels: which stretches of which documents answer which query."""
    with as_file(files("ragkit.corpora.handbook") / "labels.jsonl") as path:
        return tuple(read_labels(path, reasons=True))


def title(text: str) -> str:
    """The first line of a document, which is its title."""
    return text.partition("\n")[0].removeprefix("# ")
