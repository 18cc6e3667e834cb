"""Collections by name: documents, queries, and a record of where they come from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from json import dumps, loads
from pathlib import Path
from typing import Any

from ragkit.corpora import formats, handbook, numpy_docs
from ragkit.corpora.chunks import Chunking, Passages, window
from ragkit.corpora.duplicates import aliases
from ragkit.corpora.numpy_docs import labels as numpy_labels
from ragkit.dense.cache import CachedEncoder
from ragkit.measure.labels import Label, Partial, Qrels, qrels_from_labels
from ragkit.measure.trec import FilePath


@dataclass(frozen=True)
class Corpus:
    """Documents by id, and the queries that are asked of them.

    `docs` holds what is searched, the title included. `about` says what is known of a document beside its text,
    `queries` holds texts by query id, `kinds` the kind of each query, and `record` what the collection is.
    `labels` say which stretches of text answer which query, where they were made for this book.
    `judgments` are grades by query and document, {qid: {doc_id: grade}}, as a file gives them; empty where none does.

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
    judgments: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    labels: Sequence[Label] = ()

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

    def qrels(self, chunking: Chunking | None = None, partial: Partial = "exclude") -> Qrels:
        """What each passage of a chunking is worth for each query, by the labels; see `qrels_from_labels`.

        ValueError for a collection without labels.

        >>> load_corpus("handbook").qrels().record["corpus"]
        'handbook'
        """
        if not self.labels:
            raise ValueError(
                f"{self.name} has no labels. Make a pool with `ragkit pool`, and read it with read_labels"
            )
        passages = self.passages(chunking)
        return qrels_from_labels(self.labels, passages.origin, partial, record=passages.record)

    @property
    def vectors(self) -> CachedEncoder:
        """An encoder that knows the passages and the queries of a collection of this book, without a model."""
        from ragkit.corpora.vectors import packaged_vectors  # which loads collections

        return packaged_vectors(self.name)


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
        labels=handbook.labels(),
    )


def _numpy_docs() -> Corpus:
    docs = {doc_id: f"{doc_id}\n\n{text}" for doc_id, text in numpy_docs.harvest().items()}
    labels, counts = numpy_labels.read(docs)
    return Corpus(
        "numpy-docs",
        docs,
        {doc_id: doc_id for doc_id in docs},
        {"source": "docstrings of the installed numpy", "numpy": numpy_docs.numpy_version(), "labels": counts},
        {},
        *_queries("numpy_docs"),
        labels=labels,
    )


def _queries(folder: str) -> tuple[dict[str, str], dict[str, str]]:
    lines = (files("ragkit.corpora") / folder / "queries.jsonl").read_text(encoding="utf-8").split("\n")
    queries = [loads(line) for line in lines if line]
    return {query["id"]: query["text"] for query in queries}, {query["id"]: query["kind"] for query in queries}


_LOADERS: dict[str, Callable[[], Corpus]] = {"handbook": _handbook, "numpy-docs": _numpy_docs}


def load_collection(
    path_or_name: FilePath,
    split: str = "test",
    *,
    docs: FilePath | Sequence[FilePath] | None = None,
    queries: FilePath | None = None,
    qrels: FilePath | None = None,
) -> Corpus:
    """Load a collection of your own: documents, and queries and judgments where there are any.

    `path_or_name` is one of these, in UTF-8; all files but those of the folder of Markdown may be packed with gzip:

    - a BEIR folder: corpus.jsonl, queries.jsonl, qrels/<split>.tsv. Only the queries that the split judges are kept;
    - JSON lines: a file of objects with `_id` or `id`, `text` or `contents`, and `title` where there is one; or a
      folder with corpus.jsonl or documents.jsonl;
    - TREC: a file, or a folder with files, of <DOC><DOCNO>id</DOCNO>…<TEXT>…</TEXT></DOC>;
    - a folder of Markdown or plain text, at any depth. The id of a document is its path there without the suffix
      (with it, where two files differ in nothing else), its title the first heading. Hidden folders are left out;
    - a name of ir_datasets, such as "beir/scifact/test", where that library is installed. It downloads.

    Queries of a folder are in queries.jsonl, or as lines of query-id, tab, text in queries.tsv or topics.tsv (.txt);
    judgments in qrels/<split>.tsv, qrels.tsv or qrels.txt, in TREC's form or BEIR's. `docs`, `queries` and `qrels`
    name these files where they lie elsewhere; they are paths from where you are. A document of BEIR, of JSON lines
    or of TREC is its title, a space, and its text.

    Ids become strings and are otherwise unchanged. The record counts and names labels whose document or query is not
    there, and names the queries without labels. Errors name file, line and remedy: ValueError for an id that stands
    twice, a field that is missing, and whatever else a file has wrong; FileNotFoundError where nothing is recognised,
    with what was looked for; ImportError where ir_datasets is missing.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "reset.md").write_text("# Factory reset\\n\\nHold the button for ten seconds.")
    ...     _ = Path(folder, "queries.tsv").write_text("q1\\tthe gateway does not start\\n")
    ...     _ = Path(folder, "qrels.txt").write_text("q1 0 reset 1\\nq1 0 restart 1\\n")
    ...     corpus = load_collection(folder)
    >>> corpus.titles, corpus.judgments
    ({'reset': 'Factory reset'}, {'q1': {'reset': 1, 'restart': 1}})
    >>> corpus.record["labels of absent documents"], corpus.record["absent documents"]
    (1, ('restart',))
    """
    if path_or_name in _LOADERS and not Path(path_or_name).exists():
        raise ValueError(f"{path_or_name!r} is a collection of this book: load_corpus({path_or_name!r})")
    read = formats.read_collection(path_or_name, split, docs, queries, qrels)
    return Corpus(read.name, read.docs, read.titles, read.record, {}, read.queries, read.kinds, read.judgments)
