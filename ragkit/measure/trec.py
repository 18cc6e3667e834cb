"""Read and write TREC's two files, judgments (qrels) and runs, and BEIR's judgments.

A line ends at a line feed and at nothing else, and fields are separated by ASCII white space: other signs, such as
U+2028 or a no-break space, are part of an id. Ids stay the text that they are. What is wrong is an error that names
the file and the line: nothing is skipped or repaired.
"""

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from math import isfinite
from operator import index
from pathlib import Path
from secrets import token_hex

from ragkit.progress import progress
from ragkit.ranking import Run, rank

Qrels = dict[str, dict[str, int]]
FilePath = str | os.PathLike[str]

WHITE = " \t\n\r\f\v"
QRELS, BEIR, RUN = "query-id 0 doc-id grade", "query-id corpus-id score", "query-id Q0 doc-id rank score tag"

_FIELD = re.compile(rf"[^{WHITE}]+")
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


# judgments


def read_qrels(path: FilePath) -> Qrels:
    """Read graded judgments, {query id: {document id: grade}}, in the order of the file.

    A line is `query-id 0 doc-id grade`, separated by white space; the second field is not used. Grade 0 is judged
    irrelevant; negative grades are kept. A file whose first line is BEIR's header, query-id, corpus-id and score,
    is read as BEIR's: three fields, separated by tabs. A file packed with gzip is unpacked.

    ValueError, with file and line, for another number of fields, a grade that is no whole number, a pair that is
    judged twice, a header further down, a file that is empty or not UTF-8.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels.txt")
    ...     _ = path.write_text("q1 0 007 2\\nq1 0 d9 0\\n")
    ...     read_qrels(path)
    {'q1': {'007': 2, 'd9': 0}}
    """
    return _graded(path, in_beir_folder=False)


def read_split(path: FilePath) -> Qrels:
    """Read the judgments of a split in a collection's folder `qrels`: there, BEIR's header may be missing.

    Otherwise as `read_qrels`. BEIR's own reader drops the first line whatever it says; here it counts.
    """
    return _graded(path, in_beir_folder=True)


def write_qrels(path: FilePath, qrels: Mapping[str, Mapping[str, int] | AbstractSet[str]]) -> None:
    """Write judgments as TREC's `query-id 0 doc-id grade`; `read_qrels` gives them back as they were.

    A set of documents, all relevant, is written with grade 1. What stood under `path` is replaced when all is
    written. A name that ends in .gz packs the file. ValueError, and nothing is written, for an id that TREC cannot
    hold (white space, nothing at all), a grade that is no whole number, a query without a judgment.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_qrels(Path(folder, "qrels.txt"), {"q1": {"d2": 1, "d1": 0}})
    ...     Path(folder, "qrels.txt").read_text()
    'q1 0 d2 1\\nq1 0 d1 0\\n'
    """

    def written() -> Iterator[str]:
        seen: dict[str, set[str]] = {}
        for query, judged in qrels.items():
            qid = _writable(path, "query id", query)
            if qid in seen:
                raise ValueError(f"{path}: query {qid!r} is given twice; ids are compared as strings")
            if not isinstance(judged, Mapping | AbstractSet):
                raise ValueError(f"{path}: query {qid!r} has {judged!r}, expected {{doc_id: grade}} or a set of ids")
            if not judged:
                raise ValueError(
                    f"{path}: query {qid!r} has no judged document, and TREC has no line for that. Leave the query "
                    "out, or judge a document with grade 0"
                )
            seen[qid] = set()
            # A set has no order of its own; the file has one, the same each time.
            grades = judged if isinstance(judged, Mapping) else dict.fromkeys(sorted(judged, key=str), 1)
            for document, value in grades.items():
                doc_id = _writable(path, f"query {qid!r}: document id", document)
                if doc_id in seen[qid]:
                    raise ValueError(f"{path}: query {qid!r}: document {doc_id!r} is judged twice; ids are strings")
                seen[qid].add(doc_id)
                yield f"{qid} 0 {doc_id} {_grade(path, qid, doc_id, value)}\n"

    replace_file(path, written(), "no judgment")


def _graded(path: FilePath, *, in_beir_folder: bool) -> Qrels:
    qrels: Qrels = {}
    for number, qid, doc_id, text in _judgments(path, in_beir_folder=in_beir_folder):
        if not _WHOLE.fullmatch(text):
            raise ValueError(
                f"{path} line {number}: the grade is {text!r}, expected a whole number. Write 0 for judged "
                "irrelevant and 1 or more for relevant"
            )
        grades = qrels.setdefault(qid, {})
        if doc_id in grades:
            pairs = ((at, (q, d)) for at, q, d, _ in _judgments(path, in_beir_folder=in_beir_folder))
            raise _repeated(path, number, qid, doc_id, pairs)
        grades[doc_id] = int(text)
    if not qrels:
        raise ValueError(f"{path} holds no judgment; expected lines of {QRELS}. Was it written to its end?")
    return qrels


def _judgments(path: FilePath, *, in_beir_folder: bool) -> Iterator[tuple[int, str, str, str]]:
    """Line number, query, document and the text of the grade. The first line decides what the others must be."""
    beir: bool | None = None
    for number, text in progress(filled(path), Path(path).name):
        fields = _FIELD.findall(text)
        if fields == BEIR.split():
            if beir is not None:
                raise ValueError(
                    f"{path} line {number}: BEIR's header, in the middle. Were two files joined? Remove the line"
                )
            beir = True
            continue
        if beir is None:
            beir = in_beir_folder and text.count("\t") == 2
        if beir:
            fields = text.split("\t")
            if len(fields) != 3:
                raise ValueError(
                    f"{path} line {number}: {_fields(len(fields))}, expected 3 ({BEIR}, separated by tabs). The "
                    "first line says that this is a BEIR file; use tabs, and the same form throughout"
                )
            qid, doc_id, grade = fields
            if not (qid and doc_id):
                raise ValueError(f"{path} line {number}: an id is empty. Give every query and document an id")
            yield number, qid, doc_id, grade.strip(WHITE)
            continue
        if len(fields) != 4:
            asked = {3: "Is this a BEIR file? Use load_collection on its folder.", 6: "Is this a run? Use read_run."}
            hint = asked.get(len(fields), "An id holds no white space in TREC.")
            raise ValueError(f"{path} line {number}: {_fields(len(fields))}, expected 4 ({QRELS}). {hint}")
        yield number, fields[0], fields[2], fields[3]


def _grade(path: FilePath, qid: str, doc_id: str, value: object) -> str:
    try:
        grade = str(int(index(value)))  # type: ignore[arg-type]
    except TypeError:
        grade = ""
    if not _WHOLE.fullmatch(grade):
        raise ValueError(
            f"{path}: query {qid!r}: document {doc_id!r} has the grade {value!r}, expected a whole number of at most "
            "18 digits. Map labels to grades with qrels_from_labels"
        )
    return grade


# runs


def read_run(path: FilePath) -> Run:
    """Read ranked lists: {query id: hits, best first}. The record holds the run's tag and the file's name.

    A line is `query-id Q0 doc-id rank score tag`, separated by white space. Order comes from the scores and the one
    tie rule, as in trec_eval: the fields Q0 and rank are not used. Queries keep the order of the file. A file packed
    with gzip is unpacked.

    ValueError, with file and line, for another number of fields, a score that is no finite number, a document that
    stands twice in a ranking, a second tag, a file that is empty or not UTF-8.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "bm25.run")
    ...     _ = path.write_text("q1 Q0 d1 1 0.5 bm25\\nq1 Q0 d2 2 1.5 bm25\\n")
    ...     run = read_run(path)
    >>> run.ids("q1"), run
    (('d2', 'd1'), Run(1 queries, record={'run': 'bm25', 'file': 'bm25.run'}))
    """
    scores: dict[str, dict[str, float]] = {}
    first: tuple[int, str] | None = None
    for number, qid, doc_id, text, tag in _entries(path):
        if not _DECIMAL.fullmatch(text) or not isfinite(score := float(text)):
            raise ValueError(
                f"{path} line {number}: the score is {text!r}, expected a finite number. A document without a score "
                "has no line in a run"
            )
        first = first or (number, tag)
        if tag != first[1]:
            raise ValueError(
                f"{path} line {number}: the tag is {tag!r}, and on line {first[0]} it is {first[1]!r}. A file holds "
                "one run: split it by tag"
            )
        ranking = scores.setdefault(qid, {})
        if doc_id in ranking:
            raise _repeated(path, number, qid, doc_id, ((at, (q, d)) for at, q, d, *_ in _entries(path)))
        ranking[doc_id] = score
    if first is None:
        raise ValueError(f"{path} holds no hit; expected lines of {RUN}. Was it written to its end?")
    ordered = {qid: [(doc_id, ranking[doc_id]) for doc_id in rank(ranking)] for qid, ranking in scores.items()}
    return Run(ordered, {"run": first[1], "file": Path(path).name})


def write_run(path: FilePath, run: Mapping[str, Iterable[tuple[str, float]]], tag: str = "ragkit") -> None:
    """Write ranked lists as TREC's `query-id Q0 doc-id rank score tag`; `read_run` gives them back bit for bit.

    A query without a hit has no line: it is then missing from the file, which counts 0 as well. What stood under
    `path` is replaced when all is written. A name that ends in .gz packs the file. ValueError, and nothing is
    written, for an id or a tag that TREC cannot hold (white space, nothing at all), a score that is not finite, and
    a ranking whose order is not that of its scores, because a reader would order it anew.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_run(Path(folder, "bm25.run"), {"q1": [("d2", 1.5), ("d1", 0.1)]}, tag="bm25")
    ...     Path(folder, "bm25.run").read_text()
    'q1 Q0 d2 1 1.5 bm25\\nq1 Q0 d1 2 0.1 bm25\\n'
    """

    def written() -> Iterator[str]:
        name = _writable(path, "tag", tag)
        for qid, hits in (run if isinstance(run, Run) else Run(run)).items():
            _writable(path, "query id", qid)
            for hit in hits:
                _writable(path, f"query {qid!r}: document id", hit.doc_id)
                if not isfinite(hit.score):
                    raise ValueError(
                        f"{path}: query {qid!r}: document {hit.doc_id!r} has the score {hit.score!r}. Give it a "
                        "finite one, or leave it out"
                    )
            by_score = rank(dict(hits))
            for place, (hit, expected) in enumerate(zip(hits, by_score, strict=True), 1):
                if hit.doc_id != expected:
                    raise ValueError(
                        f"{path}: query {qid!r}: document {hit.doc_id!r} stands at rank {place}, where its score and "
                        f"the tie rule (ragkit.rank) put {expected!r}. A run is read by its scores: give scores that "
                        "fall, or order the hits by rank"
                    )
            yield from (f"{qid} Q0 {hit.doc_id} {place} {hit.score!r} {name}\n" for place, hit in enumerate(hits, 1))

    replace_file(path, written(), "no query with a hit")


def _entries(path: FilePath) -> Iterator[tuple[int, str, str, str, str]]:
    for number, text in progress(filled(path), Path(path).name):
        fields = _FIELD.findall(text)
        if len(fields) != 6:
            asked = {
                4: "Is this a qrels file? Use read_qrels.",
                5: "Is the tag missing? A run has one on every line.",
            }
            hint = asked.get(len(fields), "An id or a tag holds no white space in TREC.")
            raise ValueError(f"{path} line {number}: {_fields(len(fields))}, expected 6 ({RUN}). {hint}")
        qid, _, doc_id, _, score, tag = fields
        yield number, qid, doc_id, score, tag


# files


def lines(path: FilePath) -> Iterator[tuple[int, str]]:
    """Each line of a text file with its number, without its end (LF or CR LF) and without a byte order mark.

    A file packed with gzip, which its first two bytes tell, is unpacked. FileNotFoundError and IsADirectoryError say
    what is expected; ValueError names line and byte of what is not UTF-8, and a packed file that is incomplete.
    """
    source = Path(path)
    if source.is_dir():
        raise IsADirectoryError(f"{path} is a folder, and a file is expected. load_collection reads a folder")
    if not source.exists():
        raise FileNotFoundError(f"there is no file {path}. Check the path; {_here(source)}")
    offset = 0
    with source.open("rb") as file:
        packed = file.peek(2)[:2] == b"\x1f\x8b"
        stream = io.BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file
        try:
            for number, line in enumerate(stream, 1):
                try:
                    text = line.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise ValueError(_not_utf8(path, number, offset, line, error)) from None
                offset += len(line)
                yield (
                    number,
                    (text.removeprefix("\ufeff") if number == 1 else text).removesuffix("\n").removesuffix("\r"),
                )
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{path} is incomplete or damaged: gzip says {error}. Fetch or pack it again") from error


def filled(path: FilePath) -> Iterator[tuple[int, str]]:
    """The lines that hold more than white space, with their numbers in the file."""
    return ((number, text) for number, text in lines(path) if text.strip(WHITE))


def _here(source: Path) -> str:
    folder = source.parent
    return f"{folder.absolute()} is there" if folder.is_dir() else f"there is no folder {folder.absolute()} either"


def _not_utf8(path: FilePath, number: int, offset: int, line: bytes, error: UnicodeDecodeError) -> str:
    at = f"{path} line {number}: byte {error.start + 1} of the line (byte {offset + error.start} of the text, from 0)"
    utf16 = number == 1 and line[:2] in (b"\xff\xfe", b"\xfe\xff")
    other = "UTF-16, by its first two bytes" if utf16 else "perhaps Latin-1"
    known = "utf-16" if utf16 else "latin1"
    return (
        f"{at} is 0x{line[error.start]:02x}, and not UTF-8; it is {other}. Save the file as UTF-8: "
        f"iconv -f {known} -t utf-8"
    )


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"


def _repeated(
    path: FilePath, number: int, qid: str, doc_id: str, pairs: Iterable[tuple[int, tuple[str, str]]]
) -> ValueError:
    first = next(at for at, pair in pairs if pair == (qid, doc_id))
    return ValueError(
        f"{path} line {number}: query {qid!r} and document {doc_id!r} stand together on line {first} already. Keep "
        "one of the two lines"
    )


def _writable(path: FilePath, what: str, value: object) -> str:
    """The id as a string, where a TREC file can hold it."""
    text = str(value)
    if not text:
        raise ValueError(f"{path}: {what} is empty, and TREC has no empty field. Give it a name")
    if any(sign in text for sign in WHITE):
        raise ValueError(
            f"{path}: {what} {text!r} holds white space, which separates the fields of a TREC file. Replace it, for "
            "instance by _, here and in the collection"
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"{path}: {what} {text!r} holds half of a surrogate pair, which UTF-8 cannot hold. Rename it"
        ) from None
    if text.startswith("\ufeff"):
        raise ValueError(f"{path}: {what} {text!r} begins with a byte order mark, which a reader drops. Remove it")
    return text


def replace_file(path: FilePath, pieces: Iterable[str], nothing: str) -> None:
    """Write to a new file beside `path` and let it take its place when it is complete."""
    target = Path(path)
    new = target.with_name(f".{target.name}.{token_hex(4)}")
    try:
        with new.open("xb") as file:
            out = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if target.suffix == ".gz" else file
            count = sum(bool(out.write(piece.encode("utf-8"))) for piece in pieces)
            if out is not file:
                out.close()
        if not count:
            raise ValueError(f"{path}: there is {nothing} to write, and no reader takes an empty file")
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
