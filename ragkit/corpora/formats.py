"""Read collections in the forms that readers have: BEIR, JSON lines, TREC, a folder of Markdown, ir_datasets.

Everything here gives `Pieces`, of which `load_collection` makes a corpus. Ids are strings and stay as they are. What
is wrong in a file is an error that names file, line and remedy. Labels of documents or queries that are not there
are no error: they are counted and named in the record.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from importlib import import_module
from json import JSONDecodeError, loads
from pathlib import Path
from typing import Any, NamedTuple

from ragkit.measure.trec import WHITE, FilePath, Qrels, filled, lines, read_qrels, read_split
from ragkit.progress import progress

DOCUMENTS = ("corpus.jsonl", "documents.jsonl")
QUERIES = ("queries.jsonl", "queries.tsv", "queries.txt", "topics.tsv", "topics.txt")
QRELS = ("qrels.tsv", "qrels.txt", "qrels")
SPLITS = (".tsv", ".txt", ".qrels", "")  # qrels/test.tsv, qrels/test.txt, …
TEXTS = (".md", ".markdown", ".rst", ".txt")
HEADERS = ("query-id\ttext", "query_id\ttext", "qid\ttext", "_id\ttext", "id\ttext", "query-id\tquery", "qid\tquery")
LOOKED_FOR = (
    f"{' or '.join(DOCUMENTS)} (BEIR, JSON lines), files that begin with <DOC> (TREC), and {', '.join(TEXTS)} at any "
    "depth outside of hidden folders"
)
SOURCES = {"jsonl": "JSON lines", "trec": "TREC documents", "text": "text files"}


# What a name of ir_datasets looks like; a name with the suffix of a file is none.
_NAME = re.compile(r"(?!.*\.(?:jsonl?|gz|tsv|csv|trec|md|markdown|rst|txt)$)[a-z0-9][\w-]*(?:[./][\w-]+)*")


@dataclass(frozen=True)
class Pieces:
    """What was read: texts and titles by document id, texts and kinds by query id, grades, and a record of it."""

    name: str
    docs: Mapping[str, str]
    titles: Mapping[str, str]
    queries: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    judgments: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)


class Document(NamedTuple):
    """A document as a file gives it, and where: "corpus.jsonl line 3"."""

    where: str
    doc_id: str
    title: str
    text: str


class Found(NamedTuple):
    """Files of documents: their form ("jsonl", "trec" or "text"), and how many other files lie beside them."""

    form: str
    files: tuple[Path, ...]
    root: Path
    left_out: int = 0


def read_collection(
    path_or_name: FilePath,
    split: str = "test",
    docs: FilePath | Sequence[FilePath] | None = None,
    queries: FilePath | None = None,
    qrels: FilePath | None = None,
) -> Pieces:
    """Read what lies under a path or, where nothing does and it can be one, a name of ir_datasets."""
    path = Path(path_or_name).expanduser()
    if isinstance(path_or_name, str) and not path.exists() and docs is None and _NAME.fullmatch(path_or_name):
        return read_name(path_or_name, queries, qrels)
    return read_path(path, split, docs, queries, qrels)


def read_path(
    path: Path,
    split: str = "test",
    docs: FilePath | Sequence[FilePath] | None = None,
    queries: FilePath | None = None,
    qrels: FilePath | None = None,
) -> Pieces:
    """Read the collection that lies under `path`; `docs`, `queries` and `qrels` replace what would be found there."""
    given_queries, given_qrels = (Path(piece).expanduser() if piece else None for piece in (queries, qrels))
    if not path.exists():
        raise _nothing_at(path)
    folder = path if path.is_dir() else None
    labels = given_qrels or (folder and _qrels_in(folder, split))
    asked = given_queries or (folder and _queries_in(folder))
    of_split = bool(labels and not given_qrels and folder and labels.parent != folder)
    taken = {piece.resolve() for piece in (labels, asked) if piece}
    found = _documents_at(path, taken) if docs is None else _documents_given(docs, taken)
    texts, titles = _collect(found)
    if not texts:
        raise ValueError(f"{_listed(found.files)} holds no document. Was it written to its end?")
    name = path.resolve().name if folder else path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    record: dict[str, Any] = {"source": SOURCES[found.form], "documents from": _listed(found.files, found.root)}
    if found.left_out:
        record["files left out"] = found.left_out
    pieces = Pieces(name, texts, titles, record=record)
    if asked:
        pieces = _with_queries(pieces, asked)
    if labels:
        pieces = _with_judgments(pieces, read_split(labels) if of_split else read_qrels(labels), str(labels))
    if of_split and asked:
        pieces = _of_split(pieces, split)
        if found.form == "jsonl" and found.files[0].name.startswith("corpus."):
            pieces = replace(pieces, record={**pieces.record, "source": "BEIR folder"})
    return _checked(pieces)


def read_name(name: str, queries: FilePath | None = None, qrels: FilePath | None = None) -> Pieces:
    """Read a collection of ir_datasets by its name. ImportError where the library is missing, with the remedy."""
    try:
        library = import_module("ir_datasets")
    except ImportError as error:
        raise ImportError(
            f"there is no file or folder {name} in {Path.cwd()}. If it is the name of a collection of ir_datasets: "
            "that library is not installed; pip install ir_datasets"
        ) from error
    try:
        dataset = library.load(name)
    except KeyError as error:
        raise FileNotFoundError(
            f"there is no file or folder {name} in {Path.cwd()}, and ir_datasets knows no collection of this name. "
            "Check the path, or the list on https://ir-datasets.com"
        ) from error
    if not dataset.has_docs():
        raise ValueError(f"{name} of ir_datasets has no documents. Use a collection that has some")
    docs, titles = _united(_documents_of(name, dataset.docs_iter()))
    pieces = Pieces(name, docs, titles, record={"source": "ir_datasets", "documents from": name})
    if queries:
        pieces = _with_queries(pieces, Path(queries).expanduser())
    elif dataset.has_queries():
        texts = _unique((name, str(query.query_id), _text_of(name, query)) for query in dataset.queries_iter())
        pieces = replace(pieces, queries=texts, record={**pieces.record, "queries from": name})
    if qrels:
        pieces = _with_judgments(pieces, read_qrels(Path(qrels).expanduser()), str(qrels))
    elif dataset.has_qrels():
        pieces = _with_judgments(pieces, _qrels_of(name, dataset.qrels_iter()), name)
    return _checked(pieces)


# which files


def _documents_at(path: Path, taken: set[Path]) -> Found:
    """Recognise documents by the name of their file or, in files with other names, by how they begin."""
    if not path.exists():
        raise _nothing_at(path)
    if path.is_file():
        return Found(_form(path), (path,), path.parent)
    named = _present(path, DOCUMENTS)
    if len(named) > 1:
        raise ValueError(f"{path} holds {_listed(named, path)}: which are the documents? Name the file with docs=")
    if named:
        return Found("jsonl", tuple(named), path)
    everything = [file for file in _walk(path) if file.resolve() not in taken and not _is_split(file, path)]
    trec = [file for file in everything if _begins_as_trec(file)]
    if trec:
        return Found("trec", tuple(trec), path, len(everything) - len(trec))
    texts = [file for file in everything if file.suffix.lower() in TEXTS]
    texts = [file for file in texts if file.parent != path or file.name not in (*QUERIES, *QRELS)]
    other = [file for file in everything if file.parent == path and file.name.removesuffix(".gz").endswith(".jsonl")]
    other = [file for file in other if file.name.removesuffix(".gz") not in QUERIES]
    if other:
        beside = f" beside {len(texts)} text files" if texts else ""
        raise ValueError(
            f"{path} holds {_listed(other, path)}{beside}: are these the documents? Name the file with docs=, or "
            f"call it {' or '.join(DOCUMENTS)}"
        )
    if not texts:
        raise FileNotFoundError(
            f"{path}: no documents are recognised among {len(everything)} files; looked for {LOOKED_FOR}. Name the "
            "file with docs= where it has another name"
        )
    return Found("text", tuple(texts), path, len(everything) - len(texts))


def _nothing_at(path: Path) -> FileNotFoundError:
    return FileNotFoundError(
        f"there is no file or folder {path} (looked in {Path.cwd()}). Check the path. Documents are {LOOKED_FOR}, or "
        "stand behind a name of ir_datasets"
    )


def _documents_given(docs: FilePath | Sequence[FilePath], taken: set[Path]) -> Found:
    paths = [Path(docs)] if isinstance(docs, str | os.PathLike) else [Path(path) for path in docs]
    if not paths:
        raise ValueError("docs names no file. Leave it out, or name one or more")
    parts = [_documents_at(path.expanduser(), taken) for path in paths]
    forms = {part.form for part in parts}
    if len(forms) > 1:
        kinds = ", ".join(f"{path} ({SOURCES[part.form]})" for path, part in zip(paths, parts, strict=True))
        raise ValueError(f"docs names files of several forms: {kinds}. Load one form at a time")
    root = parts[0].root if len(parts) == 1 else Path(os.path.commonpath([part.root.absolute() for part in parts]))
    files = tuple(file for part in parts for file in part.files)
    files = tuple(root / file.absolute().relative_to(root) for file in files) if len(parts) > 1 else files
    return Found(parts[0].form, files, root, sum(part.left_out for part in parts))


def _queries_in(folder: Path) -> Path | None:
    found = _present(folder, QUERIES)
    if len(found) > 1:
        raise ValueError(
            f"{folder} holds {_listed(found, folder)}: which are the queries? Name the file with queries="
        )
    return found[0] if found else None


def _qrels_in(folder: Path, split: str) -> Path | None:
    files = _present(folder, QRELS)
    inner = folder / "qrels"
    splits = [file for file in sorted(inner.iterdir()) if _split_of(file)] if inner.is_dir() else []
    of_split = [file for file in splits if _split_of(file) == split]
    if len(files) + len(of_split) > 1:
        raise ValueError(
            f"{folder} holds {_listed([*files, *of_split], folder)}: which are the judgments? Name the file with "
            "qrels="
        )
    if splits and not of_split and not files:
        there = ", ".join(repr(_split_of(file)) for file in splits)
        raise FileNotFoundError(f"{inner} has no split {split!r}; there is {there}. Name one of them with split=")
    return next(iter([*files, *of_split]), None)


def _is_split(file: Path, folder: Path) -> bool:
    return file.parent == folder / "qrels" and bool(_split_of(file))


def _split_of(file: Path) -> str:
    name = file.name.removesuffix(".gz")
    stem, dot, suffix = name.rpartition(".")
    if not file.is_file() or name.startswith(".") or (dot and f".{suffix}" not in SPLITS):
        return ""
    return stem if dot else name


def _present(folder: Path, names: Iterable[str]) -> list[Path]:
    return [folder / file for name in names for file in (name, f"{name}.gz") if (folder / file).is_file()]


def _walk(folder: Path) -> Iterator[Path]:
    """Every file at any depth in alphabetical order; hidden files and folders are left out, links not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(names) if not name.startswith("."))


def _listed(paths: Sequence[Path], root: Path | None = None) -> str:
    names = [path.relative_to(root).as_posix() if root else str(path) for path in paths]
    return names[0] if len(names) == 1 else f"{len(names)} files" if len(names) > 4 else ", ".join(names)


def _form(file: Path) -> str:
    """The form of a file that is named: by its beginning, or plain text by its suffix."""
    begin = _beginning(file)
    if begin.startswith("{"):
        return "jsonl"
    if begin[:5].upper() == "<DOC>":
        return "trec"
    if file.suffix.lower() in TEXTS:
        return "text"
    if not begin:
        raise ValueError(f"{file} is empty; expected documents: {LOOKED_FOR}. Was it written to its end?")
    array = " A JSON array becomes lines with: jq -c '.[]'" if begin.startswith("[") else ""
    raise ValueError(
        f"{file} begins with {_short(begin[:20])}, and no documents are recognised; looked for {LOOKED_FOR}."
        f"{array or ' Convert it to one of these, or check the path.'}"
    )


def _beginning(file: Path) -> str:
    """The first characters of a text file that are not white space; lines before them are read, and no others."""
    return next((text.lstrip(WHITE)[:80] for _, text in filled(file)), "")


def _begins_as_trec(file: Path) -> bool:
    try:
        return _beginning(file)[:5].upper() == "<DOC>"
    except (ValueError, OSError):  # a picture, a broken link: no file of TREC
        return False


# documents


def _collect(found: Found) -> tuple[dict[str, str], dict[str, str]]:
    if found.form == "text":
        return _united(_text_files(found), joined=False)
    reader = {"jsonl": _json_documents, "trec": _trec_documents}[found.form]
    return _united(document for file in found.files for document in reader(file))


def _united(documents: Iterable[Document], joined: bool = True) -> tuple[dict[str, str], dict[str, str]]:
    """Texts and titles by id. A text that does not hold its title gets it in front: title, space, text."""
    titles: dict[str, str] = {}

    def texts() -> Iterator[tuple[str, str, str]]:
        for where, doc_id, title, text in documents:
            yield where, doc_id, f"{title} {text}" if joined and title else text
            titles[doc_id] = title

    return _unique(texts(), "document"), titles


def _unique(entries: Iterable[tuple[str, str, str]], what: str = "query") -> dict[str, str]:
    """Texts by id, of (where, id, text); an id that comes again is an error with both places."""
    texts: dict[str, str] = {}
    places: dict[str, str] = {}
    for where, name, text in entries:
        if name in texts:
            raise ValueError(
                f"{where}: {what} id {name!r} is given already, in {places[name]}. Ids are compared as strings (7 is "
                f"'7'): rename one {what}, or drop it"
            )
        texts[name], places[name] = text, where
    return texts


def _json_documents(file: Path) -> Iterator[Document]:
    for where, entry in _objects(file):
        title = entry.get("title")
        if title is not None and not isinstance(title, str):
            raise ValueError(f"{where}: the title is {title!r}, expected a string. Put it in quotes, or leave it out")
        yield Document(where, _json_id(where, entry), title or "", _json_text(where, entry))


def _objects(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line's object, and where it stands. The standard library reads them: what is wrong has a column."""
    for number, line in progress(filled(file), file.name):
        where = f"{file} line {number}"
        try:
            entry = loads(line)
        except JSONDecodeError as error:
            raise ValueError(
                f"{where} column {error.colno}: not JSON: {error.msg}. A line holds one object, complete; an array "
                "becomes lines with: jq -c '.[]'"
            ) from None
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
            raise ValueError(f"{where}: JSON that cannot be read: {error}. Shorten the line") from None
        if not isinstance(entry, dict):
            raise ValueError(
                f'{where}: {type(entry).__name__}, expected an object such as {{"_id": "d1", "text": "…"}}. Write '
                "one object on each line"
            )
        yield where, entry


def _json_id(where: str, entry: Mapping[str, Any]) -> str:
    key = next((key for key in ("_id", "id") if key in entry), None)
    if key is None:
        raise ValueError(f"{where}: no '_id' (or 'id'); there is {_keys(entry)}. Rename the field")
    value = entry[key]
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{where}: the {key} is {value!r}, expected a string that is not empty. Put it in quotes")
    return value


def _json_text(where: str, entry: Mapping[str, Any]) -> str:
    key = next((key for key in ("text", "contents") if key in entry), None)
    if key is None:
        raise ValueError(f"{where}: no 'text' (or 'contents'); there is {_keys(entry)}. Rename the field")
    if not isinstance(entry[key], str):
        raise ValueError(
            f'{where}: the {key} is {_short(entry[key])}, expected a string. Write "" where there is none'
        )
    return str(entry[key])


def _keys(entry: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, entry)) or "nothing"


def _short(value: object) -> str:
    return text if len(text := repr(value)) <= 40 else f"{text[:40]}…"


_MARK = re.compile(r"(</?DOC>)", re.IGNORECASE)
_NUMBER = re.compile(r"<DOCNO>(.*?)</DOCNO>", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<(TITLE|HEADLINE|TTL)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TEXT = re.compile(r"<TEXT>(.*?)</TEXT>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)
_ENTITY = re.compile(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);")


def _trec_documents(file: Path) -> Iterator[Document]:
    """<DOC> to </DOC>: the id in <DOCNO>, the title in the first <TITLE>, <HEADLINE> or <TTL>, the text in <TEXT>.

    Where no <TEXT> stands, all the rest is the text. Tags within are dropped, and entities read (&amp; is &).
    """
    begun, parts = 0, list[str]()
    for number, line in progress(lines(file), file.name):
        for piece in _MARK.split(f"{line}\n"):
            mark = piece.upper()
            if mark == "<DOC>":
                if begun:
                    raise ValueError(
                        f"{file} line {number}: <DOC>, and the one on line {begun} has no end. Put </DOC> before it"
                    )
                begun, parts = number, []
            elif mark == "</DOC>":
                if not begun:
                    raise ValueError(
                        f"{file} line {number}: </DOC> without a <DOC> before it. Add it, or remove this"
                    )
                yield _trec_document(f"{file} line {begun}", "".join(parts))
                begun = 0
            elif begun:
                parts.append(piece)
            elif piece.strip(WHITE):
                raise ValueError(
                    f"{file} line {number}: {_short(piece.strip(WHITE))} stands outside of a document. Put <DOC> "
                    "before it, or remove it"
                )
    if begun:
        raise ValueError(f"{file} line {begun}: <DOC> without an end. Was the file written to its end? Add </DOC>")


def _trec_document(where: str, source: str) -> Document:
    numbers = _NUMBER.findall(source)
    if len(numbers) != 1 or not (doc_id := numbers[0].strip(WHITE)):
        count = "an empty one" if len(numbers) == 1 else len(numbers) or "none"
        raise ValueError(
            f"{where}: expected one <DOCNO>id</DOCNO> in a document, and there is {count}. Give it one id"
        )
    rest = _NUMBER.sub("", source)
    titled = _TITLE.search(rest)
    if titled:
        rest = rest[: titled.start()] + rest[titled.end() :]
    texts = _TEXT.findall(rest)
    return Document(
        where,
        doc_id,
        " ".join(_plain(titled[2]).split()) if titled else "",
        _plain("\n".join(texts) if texts else rest),
    )


def _plain(source: str) -> str:
    return _ENTITY.sub(lambda match: unescape(match[0]), _TAG.sub(" ", source)).strip()


# Between two lines of --- or +++ at the very beginning: what a site generator reads. No heading stands there.
_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1[`~ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(
    r"^#{1,6}[ \t]+(?P<marked>\S.*?)(?:[ \t]+#+)?[ \t]*$|^(?P<lined>[^\s|].*)\n(?:-{3,}|={3,})[ \t]*$", re.MULTILINE
)


def _text_files(found: Found) -> Iterator[Document]:
    """A document a file. The id is its path from the folder without the suffix; with it, where two have one path.

    Line ends become LF, and the last one is dropped: the same text, whichever system wrote it.
    """
    paths = [file.relative_to(found.root) for file in found.files]
    stems = [path.with_suffix("").as_posix() for path in paths]
    shared = {stem for stem, count in Counter(stems).items() if count > 1}
    for file, path, stem in progress(list(zip(found.files, paths, stems, strict=True)), found.root.name):
        text = "\n".join(line for _, line in lines(file))
        yield Document(str(file), path.as_posix() if stem in shared else stem, first_heading(text), text)


def first_heading(text: str) -> str:
    """The first heading of a text in Markdown, marked by # or underlined, outside of code; "" where there is none.

    >>> first_heading("---\\ntags: a\\n---\\nSee below.\\n\\n## Reset the *gateway* ##\\n")
    'Reset the *gateway*'
    """
    matter = _MATTER.match(text)
    match = _HEADING.search(_FENCE.sub("", text[matter.end() :] if matter else text))
    return (match["marked"] or match["lined"]).strip() if match else ""


# queries and judgments


def _with_queries(pieces: Pieces, file: Path) -> Pieces:
    kinds: dict[str, str] = {}
    entries = _json_queries(file, kinds) if _beginning(file).startswith("{") else _tab_queries(file)
    texts = _unique(entries)
    if not texts:
        raise ValueError(f"{file} holds no query; expected lines of query-id, tab, text. Was it written to its end?")
    return replace(pieces, queries=texts, kinds=kinds, record={**pieces.record, "queries from": file.name})


def _json_queries(file: Path, kinds: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for where, entry in _objects(file):
        qid = _json_id(where, entry)
        if isinstance(entry.get("kind"), str):
            kinds[qid] = entry["kind"]
        yield where, qid, _json_text(where, entry)


def _tab_queries(file: Path) -> Iterator[tuple[str, str, str]]:
    first = True
    for number, line in filled(file):
        begins, first = first, False
        if begins and line in HEADERS:
            continue
        qid, tab, text = line.partition("\t")
        if not tab or not qid:
            trec = line.lstrip(WHITE).lower().startswith("<top>")
            hint = (
                "These are TREC's topics; write each on one line" if trec else "Put an id and a tab before the text"
            )
            raise ValueError(f"{file} line {number}: {_short(line)}, expected query-id, tab, text. {hint}")
        yield f"{file} line {number}", qid, text


def _with_judgments(pieces: Pieces, qrels: Qrels, source: str) -> Pieces:
    return replace(pieces, judgments=qrels, record={**pieces.record, "labels from": Path(source).name})


def _of_split(pieces: Pieces, split: str) -> Pieces:
    """Only the queries that the split judges."""
    queries = {qid: text for qid, text in pieces.queries.items() if qid in pieces.judgments}
    kinds = {qid: kind for qid, kind in pieces.kinds.items() if qid in queries}
    record = {**pieces.record, "split": split, "queries of other splits": len(pieces.queries) - len(queries)}
    return replace(pieces, queries=queries, kinds=kinds, record=record)


def _checked(pieces: Pieces) -> Pieces:
    """Count the labels whose document or query is not there, and name these; count the queries without labels."""
    if not pieces.judgments:
        return pieces
    judged = {doc_id: None for grades in pieces.judgments.values() for doc_id in grades}
    absent_docs = tuple(doc_id for doc_id in judged if doc_id not in pieces.docs)
    absent_queries = tuple(qid for qid in pieces.judgments if qid not in pieces.queries)
    return replace(
        pieces,
        record={
            **pieces.record,
            "labels": sum(map(len, pieces.judgments.values())),
            "labels of absent documents": sum(
                doc_id not in pieces.docs for grades in pieces.judgments.values() for doc_id in grades
            ),
            "absent documents": absent_docs,
            "labels of absent queries": sum(len(pieces.judgments[qid]) for qid in absent_queries),
            "absent queries": absent_queries,
            "queries without labels": tuple(qid for qid in pieces.queries if qid not in pieces.judgments),
        },
    )


# ir_datasets


def _documents_of(name: str, docs: Iterable[Any]) -> Iterator[Document]:
    for doc in progress(docs, name):
        where = f"{name}, document {str(doc.doc_id)!r}"
        has_both = isinstance(getattr(doc, "text", None), str) and isinstance(getattr(doc, "title", None), str)
        title = doc.title if has_both else ""
        yield Document(where, str(doc.doc_id), title, doc.text if has_both else _text_of(where, doc))


def _text_of(where: str, entry: Any) -> str:  # noqa: ANN401 - each collection has a class of its own
    """The text of a document or query: its field `text`, or what the library itself would search."""
    whole: Callable[[], object] | None = getattr(entry, "default_text", None)
    text = getattr(entry, "text", None)
    text = whole() if text is None and whole else text
    if not isinstance(text, str):
        raise ValueError(f"{where}: there is no text in {type(entry).__name__}. Write the collection as JSON lines")
    return text


def _qrels_of(name: str, judgments: Iterable[Any]) -> Qrels:
    qrels: Qrels = {}
    for query_id, doc_id, grade in ((str(one.query_id), str(one.doc_id), one.relevance) for one in judgments):
        if doc_id in qrels.setdefault(query_id, {}):
            raise ValueError(
                f"{name}: query {query_id!r} and document {doc_id!r} are judged twice. Write one of the two to a "
                "file, and name it with qrels="
            )
        qrels[query_id][doc_id] = int(grade)
    return qrels
