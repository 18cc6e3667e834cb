"""Collections by name: documents, their titles, and a record of where they come from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from json import dumps
from typing import Any

from ragkit.corpora.numpy_docs import harvest, numpy_version


@dataclass(frozen=True)
class Corpus:
    """Documents by id. `docs` holds what is searched, the title included; `record` says what they are.

    >>> Corpus("twins", {"d1": "one text", "d2": "one text"}, titles={})
    Corpus('twins', 2 documents, 1 distinct)
    """

    name: str
    docs: Mapping[str, str]
    titles: Mapping[str, str]
    record: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.docs)

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}, {len(self)} documents, {self.n_distinct} distinct)"

    @property
    def n_distinct(self) -> int:
        """How many documents differ in what follows their title: the others are twins under another id."""
        return len({text.removeprefix(self.titles.get(doc_id, "")) for doc_id, text in self.docs.items()})

    @property
    def fingerprint(self) -> str:
        """sha256 over ids and texts, in order: two corpora with one fingerprint hold the same documents."""
        digest = sha256()
        for doc_id, text in self.docs.items():
            digest.update(dumps([doc_id, text]).encode())  # JSON marks where an id or a text ends
        return digest.hexdigest()


def load_corpus(name: str) -> Corpus:
    """Load a collection by name. So far: "numpy-docs", the docstrings of the installed numpy.

    Nothing is downloaded, and the same numpy release gives the same corpus on every machine.

    >>> corpus = load_corpus("numpy-docs")
    >>> corpus.titles["numpy.squeeze"], "axes of length one" in corpus.docs["numpy.squeeze"]
    ('numpy.squeeze', True)
    """
    if name not in _LOADERS:
        raise ValueError(f"no collection named {name!r}; there is {', '.join(map(repr, _LOADERS))}")
    return _LOADERS[name]()


def _numpy_docs() -> Corpus:
    docs = harvest()
    return Corpus(
        "numpy-docs",
        {doc_id: f"{doc_id}\n\n{text}" for doc_id, text in docs.items()},
        {doc_id: doc_id for doc_id in docs},
        {"source": "docstrings of the installed numpy", "numpy": numpy_version()},
    )


_LOADERS: dict[str, Callable[[], Corpus]] = {"numpy-docs": _numpy_docs}
