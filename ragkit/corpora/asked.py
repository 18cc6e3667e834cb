"""Queries of chapter 07 that are not in the labelled sets: chosen before anything was ranked, and not changed since.

Some come with the passage that answers them; the others are strings that a reader might want word for word.
"""

from importlib.resources import files
from json import loads
from typing import NamedTuple

from ragkit.corpora.chunks import Passages

FOLDERS = {"handbook": "handbook", "numpy-docs": "numpy_docs"}


class Asked(NamedTuple):
    """A query, its kind, and where its answer stands: the document, and words of the passage that holds it."""

    text: str
    kind: str
    doc_id: str = ""  # "" for a string that is looked for word for word
    holds: str = ""

    def answer(self, passages: Passages) -> str:
        """The passage that answers it, under any chunking. LookupError where no passage holds the words whole."""
        for passage_id, at in passages.origin.items():
            if at.doc_id == self.doc_id and self.holds in passages[passage_id]:
                return passage_id
        raise LookupError(f"no passage of {self.doc_id!r} holds {self.holds!r}")


def asked(name: str) -> tuple[Asked, ...]:
    """The free queries of a collection, in the order of the chapter.

    >>> asked("handbook")[0]
    Asked(text='ERR_4021', kind='identifier', doc_id='err-4021', holds='The number of items asked for must be a whole number')
    """  # noqa: E501
    text = (files("ragkit.corpora") / FOLDERS[name] / "asked.jsonl").read_text(encoding="utf-8")
    return tuple(Asked(**loads(line)) for line in text.split("\n") if line)


def pieces(name: str) -> dict[str, list[str]]:
    """The word pieces that the packaged model sees in each free query of a collection, {text: pieces}.

    >>> pieces("handbook")["MX-4471-B"]
    ['mx', '-', '44', '##7', '##1', '-', 'b']
    """
    found: dict[str, list[str]] = loads(
        (files("ragkit.corpora") / FOLDERS[name] / "pieces.json").read_text(encoding="utf-8")
    )
    return found
