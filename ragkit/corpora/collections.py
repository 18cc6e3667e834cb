"""Collections by name: documents, queries, and a record of where they come from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from json import dumps, loads
from typing import Any

from ragkit.corpora import handbook, numpy_docs
from ragkit.corpora.chunks import Chunking, Passages, window
from ragkit.corpora.duplicates import aliases


@dataclass(frozen=True)
class Corpus:
    """Documents by id, and the queries that are asked of them.

    `docs` holds what is searched, the title included. `about` says what is known of a document beside its text,
    `queries` holds texts by query id, `kinds` the kind of each query, and `record` what the collection is.

    >>> Corpus("twins", {"d1": "one text", "d2": "one text"}, titles={})
    Corpus('twins', 2 documents, 1 distinct)
    """

    name: str
    docs: Mapping[str, str]
    titles: Mapping[str, str]
    record: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    queries: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.docs)

    def __repr__(self) -> str:
        queries = f", {len(self.queries)} queries" if self.queries else ""
        return f"Corpus({self.name!r}, {len(self)} documents, {self.n_distinct} distinct{queries})"

    @property
    def n_distinct(self) -> int:
        """How many documents differ in what follows their title: the others are twins under another id."""
        return len(self) - len(self.aliases)

    @property
    def aliases(self) -> dict[str, str]:
        """Each document that repeats an earlier one, its title aside, and the first that carries its text."""
        return aliases(self.docs, self.titles)

    @property
    def fingerprint(self) -> str:
        """sha256 over ids and texts, in order: two corpora with one fingerprint hold the same documents."""
        digest = sha256()
        for doc_id, text in self.docs.items():
            digest.update(dumps([doc_id, text]).encode())  # JSON marks where an id or a text ends
        return digest.hexdigest()

    def passages(self, chunking: Chunking | None = None) -> Passages:
        """The documents cut into passages that both rankers can read whole; another `chunking` cuts otherwise.

        Their record names the collection and its fingerprint beside the chunking, for the runs made on them.

        >>> Corpus("notes", {"d1": "One text."}, titles={}).passages().record["chunking"]
        "window(limit=254, least=48, counted_by='pieces_at_most')"
        """
        record = {"corpus": self.name, "corpus_sha256": self.fingerprint}
        return Passages(self.docs, chunking or window(), record)


def load_corpus(name: str) -> Corpus:
    """Load a collection of this book by name: "handbook" or "numpy-docs", the docstrings of the installed numpy.

    Nothing is downloaded, and the same numpy release gives the same corpus on every machine.

    >>> corpus = load_corpus("numpy-docs")
    >>> corpus.titles["numpy.squeeze"], "axes of length one" in corpus.docs["numpy.squeeze"]
    ('numpy.squeeze', True)
    """
    if name not in _LOADERS:
        raise ValueError(f"no collection named {name!r}; there is {', '.join(map(repr, _LOADERS))}")
    return _LOADERS[name]()


def _handbook() -> Corpus:
    docs, about = handbook.documents()
    return Corpus(
        "handbook",
        docs,
        {doc_id: handbook.title(text) for doc_id, text in docs.items()},
        {"source": "written for this book", "licence": "CC BY 4.0"},
        about,
        *_queries("handbook"),
    )


def _numpy_docs() -> Corpus:
    docs = numpy_docs.harvest()
    return Corpus(
        "numpy-docs",
        {doc_id: f"{doc_id}\n\n{text}" for doc_id, text in docs.items()},
        {doc_id: doc_id for doc_id in docs},
        {"source": "docstrings of the installed numpy", "numpy": numpy_docs.numpy_version()},
        {},
        *_queries("numpy_docs"),
    )


def _queries(folder: str) -> tuple[dict[str, str], dict[str, str]]:
    lines = (files("ragkit.corpora") / folder / "queries.jsonl").read_text(encoding="utf-8").split("\n")
    queries = [loads(line) for line in lines if line]
    return {query["id"]: query["text"] for query in queries}, {query["id"]: query["kind"] for query in queries}


_LOADERS: dict[str, Callable[[], Corpus]] = {"handbook": _handbook, "numpy-docs": _numpy_docs}
