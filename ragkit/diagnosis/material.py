"""What a diagnosis has to go on: documents, passages, queries, runs and judgments, brought to one kind of id.

Judgments of documents and rankings of passages are both usual, and their ids name different things. Whatever is
given is told apart by its ids, rankings of passages are folded into documents where the judgments are of these, and
ids that fit nothing are an error that names both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ragkit.corpora import chunks
from ragkit.corpora.collections import Corpus, load_collection, load_corpus
from ragkit.diagnosis.sheet import labels_in
from ragkit.diagnosis.wholeness import Origin
from ragkit.measure.labels import Label, qrels_from_labels
from ragkit.measure.runs import Qrels, fold
from ragkit.measure.summary import read_judgments, read_runs
from ragkit.measure.trec import read_qrels
from ragkit.ranking import Run

Unit = Literal["passages", "documents"]
Family = Literal["lexical", "dense", "fused"]
SIGNS: Mapping[Family, tuple[str, ...]] = {
    "fused": ("rrf", "fus", "hybrid", "ensemble"),
    "lexical": ("bm25", "lexical", "sparse", "lucene", "elastic", "tfidf", "tf-idf"),
}


@dataclass(frozen=True, eq=False)
class Material:
    """What was read, checked against one another.

    `texts` is what rankers rank, {id: text}: passages, which `origin` places in their documents, or whole documents;
    empty where only runs are given. `qrels` judge ids of `unit`, the kind of id that all figures are over; None
    without judgments. `labels` are those with spans, where there are any. `runs` are as they were given. `absent` are
    judged ids that the collection does not have; `second` is what a second reader says of the same pairs.
    """

    name: str
    corpus: Corpus | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    origin: Origin | None = None
    queries: Mapping[str, str] = field(default_factory=dict)
    qrels: Qrels | None = None
    labels: tuple[Label, ...] = ()
    unit: Unit = "documents"
    runs: Mapping[str, Run] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    second: Sequence[Label] | Qrels | None = None
    record: Mapping[str, Any] = field(default_factory=dict)

    def in_unit(self, run: Run) -> Run:
        """A run as the judgments can read it: of passages folded into documents, where the judgments are of these."""
        if self.unit == "passages" or self.origin is None or not any(name in self.texts for name in _ids(run)):
            return run
        return fold(run, self.origin)


def family(name: str) -> Family:
    """What kind of ranker a run is, by its name; whatever no sign tells is taken for dense.

    >>> family("bm25-v2"), family("minilm"), family("hybrid")
    ('lexical', 'dense', 'fused')
    """
    return next((kind for kind, signs in SIGNS.items() if any(sign in name.lower() for sign in signs)), "dense")


def read_material(
    path_or_name: str | None,
    *,
    queries: str | None = None,
    qrels: str | None = None,
    labels: str | None = None,
    second: str | None = None,
    runs: Sequence[str] = (),
    chunking: str = "window",
) -> Material:
    """Read what the command line names; a run is a file, or NAME=FILE.

    ValueError, with file, line and remedy, for whatever is wrong in one of them, and for files that do not belong
    together: judgments or runs of which no id is in the collection, labels that end behind their document.
    """
    named = dict(zip(*_named(runs), strict=True))
    if path_or_name is None:
        if second:
            raise ValueError(f"--second {second}: a triage needs the documents. Name their folder too")
        return _runs_alone(named, qrels, labels, queries)
    corpus = read_corpus(path_or_name, queries, qrels)
    if not corpus.queries:
        raise ValueError(
            f"{path_or_name}: there are documents and no queries. Put queries.tsv beside them, lines of query-id, "
            "tab, text; or name a file with --queries"
        )
    passages = None if chunking == "whole" else corpus.passages(getattr(chunks, chunking)())
    texts: Mapping[str, str] = corpus.docs if passages is None else passages
    read = Material(
        corpus.name, corpus, texts, passages.origin if passages else None, corpus.queries,
        unit="passages" if passages else "documents", runs=named, record=_record(corpus, chunking, passages),
    )  # fmt: skip
    source = labels or qrels or path_or_name
    judged = _with_labels(read, labels) if labels or not qrels else read
    if not judged.labels and corpus.judgments:
        judged = _with_qrels(read, corpus.judgments, source)
    if second:
        judged = replace(judged, second=_second(second, judged))
    for name, run in named.items():
        where = _unit_of(f"the run {name}", _ids(run), judged)
        if where == "documents" and judged.unit == "passages" and judged.qrels is not None:
            raise ValueError(f"the run {name} ranks documents, and {source} judges passages. Use --chunking whole")
        if where == "documents":
            judged = replace(judged, unit="documents")
    return judged


def read_corpus(where: str, queries: str | None = None, qrels: str | None = None) -> Corpus:
    """The collection under a path; one of this book's where there is no such path and the name is one of theirs."""
    if where not in ("handbook", "numpy-docs") or Path(where).exists():
        corpus = load_collection(where, queries=queries, qrels=qrels)
        if qrels:
            read_judgments(qrels)  # says so where nothing is relevant
        return corpus
    if queries:
        raise ValueError(f"--queries {queries}: {where} has queries of its own. Leave the option out")
    corpus = load_corpus(where)
    return replace(corpus, judgments=read_judgments(qrels), labels=()) if qrels else corpus  # type: ignore[arg-type]


def _named(given: Sequence[str]) -> tuple[list[str], list[Run]]:
    """Names and runs: of NAME=FILE the name, of the others the shortest that tell them apart."""
    names: list[str | None] = []
    files: list[str] = []
    for one in given:
        name, equals, file = one.partition("=")
        own = bool(equals and name) and not Path(one).exists()
        names.append(name if own else None)
        files.append(file if own else one)
    read = read_runs(files) if files else {}
    called = [own or found for own, found in zip(names, read, strict=True)]
    if twice := next((name for name in called if called.count(name) > 1), None):
        raise ValueError(f"two runs are named {twice}. Give NAME=FILE, with two names")
    return called, list(read.values())


def _runs_alone(runs: Mapping[str, Run], qrels: str | None, labels: str | None, queries: str | None) -> Material:
    if not runs:
        raise ValueError("nothing to diagnose: give a folder of documents and queries, or --runs RUN …, or both")
    if labels:
        raise ValueError(f"--labels {labels}: labels are of documents. Name their folder too, or give --qrels")
    if queries:
        raise ValueError(f"--queries {queries}: without documents nothing can be searched. Name their folder too")
    judged = read_judgments(qrels) if qrels else None
    if judged is not None:
        wanted = {doc for own in judged.values() for doc in own}
        ranked = {doc: name for name, run in runs.items() for doc in _ids(run)}
        if wanted.isdisjoint(ranked):
            first, name = next(iter(ranked.items()))
            raise ValueError(
                f"{qrels}: none of its {len(wanted)} judged ids is in a run: {name} has {first!r}, the qrels have "
                f"{min(wanted)!r}. Were they made for another chunking?"
            )
    return Material(" and ".join(runs), qrels=judged, runs=runs, record={"source": "runs alone"})


def _record(corpus: Corpus, chunking: str, passages: Any) -> dict[str, Any]:  # noqa: ANN401 - Passages or None
    shown = {key: list(value) if isinstance(value, tuple) else value for key, value in corpus.record.items()}
    return {**shown, "chunking": repr(passages.chunking) if passages is not None else "whole documents"}


def _with_labels(read: Material, file: str | None) -> Material:
    corpus = read.corpus
    assert corpus is not None
    labels = tuple(labels_in(file)) if file else tuple(corpus.labels)
    if not labels:
        if file:
            raise ValueError(f"{file} holds no label. Was the sheet exported?")
        return read
    source = file or corpus.name
    known = [label for label in labels if label.doc_id in corpus.docs]
    if not known:
        raise ValueError(
            f"{source}: none of its {len(labels)} labels is of a document of {read.name}: the first is of "
            f"{labels[0].doc_id!r}, the collection has {next(iter(corpus.docs))!r}. Labels name documents, "
            "and not passages"
        )
    for label in known:
        if label.end > (size := len(corpus.docs[label.doc_id])):
            raise ValueError(
                f"{source}: {label.stretch} ends behind the document, which has {size} characters. The document has "
                "changed since it was labelled: label it anew, or restore it"
            )
    if not any(label.label == "relevant" for label in known):
        raise ValueError(f"{source}: none of its {len(known)} labels is relevant: there is nothing to find")
    qrels = qrels_from_labels(labels, read.origin)
    if not any(grade >= 1 for own in qrels.values() for grade in own.values()):
        raise ValueError(f"{source}: no passage holds an answer whole: all are cut. Use another --chunking")
    absent = tuple(dict.fromkeys(label.doc_id for label in labels if label.doc_id not in corpus.docs))
    return replace(read, labels=labels, qrels=qrels, absent=absent)


def _with_qrels(read: Material, qrels: Mapping[str, Mapping[str, int]], source: str) -> Material:
    if not any(grade >= 1 for own in qrels.values() for grade in own.values()):
        raise ValueError(f"{source}: no judgment has a grade of 1 or more: there is nothing to find")
    judged = list(dict.fromkeys(doc for own in qrels.values() for doc in own))
    unit = _unit_of(source, judged, read)
    there = read.texts if unit == "passages" else (read.corpus.docs if read.corpus else {})
    return replace(read, qrels=qrels, unit=unit, absent=tuple(name for name in judged if name not in there))


def _second(file: str, read: Material) -> Sequence[Label] | Qrels:
    """What a second reader says: labels, or judgments in TREC's format, in the unit of the first."""
    if read.qrels is None:
        raise ValueError(f"--second {file}: there is no first reader. Give --labels or --qrels too")
    if Path(file).suffix.lower() not in (".jsonl", ".csv"):
        return _on_twins(read_qrels(file), read)
    labels = labels_in(file)
    return labels if read.unit == "passages" else qrels_from_labels(labels)


def _on_twins(qrels: Mapping[str, Mapping[str, int]], read: Material) -> Qrels:
    """Judgments of documents, also for the documents that repeat their text: what was read is the same."""
    if read.unit == "passages" or read.corpus is None:
        return qrels
    groups: dict[str, set[str]] = {}
    for name, original in read.corpus.aliases.items():
        groups.setdefault(original, {original}).add(name)
    same = {name: group for group in groups.values() for name in group}
    return {
        qid: {twin: grade for name, grade in own.items() for twin in same.get(name, {name})} | dict(own)
        for qid, own in qrels.items()
    }


def _unit_of(source: str, ids: Iterable[str], read: Material) -> Unit:
    names = list(ids)
    docs = read.corpus.docs if read.corpus else {}
    n_passages, n_docs = (sum(name in there for name in names) for there in (read.texts, docs))
    if not n_passages and not n_docs:
        has = f"the documents are {next(iter(docs), 'none')!r} and so on"
        if read.origin is not None:
            has = f"the passages are {next(iter(read.texts), 'none')!r} and so on, {has}"
        raise ValueError(
            f"{source}: none of its {len(names)} ids is in the collection: it has {names[0]!r}, {has}. Was it made "
            "with another chunking, or of another collection?"
        )
    return "passages" if read.origin is not None and n_passages > n_docs else "documents"


def _ids(run: Run) -> list[str]:
    return list(dict.fromkeys(hit.doc_id for hits in run.values() for hit in hits))
