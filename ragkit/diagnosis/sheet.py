"""Labelling sheets: one HTML file that works without a network, or the same as CSV or JSON lines.

A sheet is a list of pairs, a query with a passage to read. Whoever labels sees neither which system found a passage
nor where it ranked. What comes back are `Label`s, with offsets into the document.
"""

import csv
import io
import json
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from random import Random
from string import Template
from typing import Any, NamedTuple

from ragkit.measure.labels import Label, Qrels, Stretch, by_stretch, qrels_from_labels, read_labels
from ragkit.measure.trec import FilePath, filled, lines, replace_file

FORMS = (".html", ".csv", ".jsonl")
COLUMNS = (
    *("query_id", "doc_id", "start", "end", "query", "title", "text"),  # what is asked
    *("label", "answer", "answer_start", "answer_end", "reason"),  # what is filled in
)
REQUIRED = tuple(name for name in COLUMNS if name != "title")


class Pair(NamedTuple):
    """A query with `text`, what stands from `start` to `end` of a document, and the title of that, if any."""

    query_id: str
    doc_id: str
    start: int
    end: int
    query: str
    text: str
    title: str = ""

    @property
    def stretch(self) -> Stretch:
        """What is read, and for which query."""
        return Stretch(*self[:4])


def sheet_pairs(
    pooled: Mapping[str, Iterable[str]],
    queries: Mapping[str, str],
    texts: Mapping[str, str],
    origin: Mapping[str, tuple[str, int, int]] | None = None,
    labels: Iterable[Label] = (),
    *,
    titles: Mapping[str, str] | None = None,
    order: int | Iterable[Sequence[str]] | None = None,
) -> list[Pair]:
    """The pairs of a pool, {query id: ids}, with their texts; those that `labels` judge already are left out.

    With `origin`, which is `Passages.origin`, ids are passages; without, whole documents. `titles` are of documents,
    by id. Pairs stand query by query. With a number as `order`, all are shuffled, and the number is the seed; or give
    the pairs of the pool in the order that is wanted, as (query id, id). ValueError for a query or an id that the
    collection does not have, where two ids of a query are one stretch, and for an order of other pairs.

    >>> sheet_pairs({"q1": ["d1"]}, {"q1": "reset?"}, {"d1": "Hold the button."}, titles={"d1": "Reset"})
    [Pair(query_id='q1', doc_id='d1', start=0, end=16, query='reset?', text='Hold the button.', title='Reset')]
    """
    pairs = []
    done = _judged(pooled, texts, origin, list(labels))
    for qid, name in _ordered([(qid, name) for qid, ids in pooled.items() for name in ids], order):
        if qid not in queries:
            raise ValueError(f"query {qid!r} is not in the collection. Were the runs made with other queries?")
        if name not in texts:
            units = "documents" if origin is None else "passages"
            raise ValueError(
                f"query {qid!r}: the {units} of the collection have no id {name!r}. Were the runs made on "
                f"{'passages' if origin is None else 'documents'}, or with another chunking?"
            )
        doc_id, start, end = (name, 0, len(texts[name])) if origin is None else origin[name]
        if start < end and name not in done.get(qid, ()):
            pairs.append(Pair(qid, doc_id, start, end, queries[qid], texts[name], (titles or {}).get(doc_id, "")))
    _once(pairs)
    return pairs


def _ordered(pooled: list[tuple[str, str]], order: int | Iterable[Sequence[str]] | None) -> list[tuple[str, str]]:
    if order is None:
        return pooled
    if isinstance(order, int):
        return Random(order).sample(sorted(pooled), len(pooled))
    wanted = [(qid, name) for qid, name in order]
    given, there = Counter(wanted), Counter(pooled)
    if odd := (given - there) + (there - given):
        raise ValueError(f"order and pool do not hold the same pairs: {min(odd)} is in one of them only, or twice")
    return wanted


def _judged(
    pooled: Mapping[str, Iterable[str]],
    texts: Mapping[str, str],
    origin: Mapping[str, tuple[str, int, int]] | None,
    labels: list[Label],
) -> Qrels:
    named = {name for ids in pooled.values() for name in ids if name in texts}
    return qrels_from_labels(
        labels, {name: (name, 0, len(texts[name])) if origin is None else origin[name] for name in named}
    )


def _once(pairs: Iterable[Pair]) -> None:
    twice = [stretch for stretch, count in Counter(pair.stretch for pair in pairs).items() if count > 1]
    if twice:
        raise ValueError(f"{twice[0]} is on the sheet twice. Leave one of the two out")


def write_sheet(path: FilePath, pairs: Iterable[Pair], labels: Iterable[Label] = (), rubric: str = "") -> None:
    """Write a sheet to label by; the suffix says in which form: .html, .csv or .jsonl.

    `labels` are filled in beforehand where they are of a pair of the sheet. `rubric` is shown on the page, beside the
    keys; the other forms have no place for it. What stood under `path` is replaced when all is written. ValueError,
    and nothing is written, for another suffix, no pairs, and a pair twice.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_sheet(f"{folder}/sheet.csv", [Pair("q1", "d1", 0, 16, "reset?", "Hold the button.")])
    ...     print(Path(folder, "sheet.csv").read_text(encoding="utf-8-sig"))
    query_id,doc_id,start,end,query,title,text,label,answer,answer_start,answer_end,reason
    q1,d1,0,16,reset?,,Hold the button.,,,,,
    """
    listed = list(pairs)
    suffix = Path(path).suffix.lower()
    if suffix not in FORMS:
        raise ValueError(f"{path}: a sheet ends in .html, .csv or .jsonl. Change the name")
    if not listed:
        raise ValueError(f"{path}: there is nothing to label. Are all pairs labelled already?")
    _once(listed)
    filled_in = {stretch: own[0] for stretch, own in by_stretch(list(labels)).items()}
    if suffix == ".html":
        written: Iterable[str] = [sheet_html(listed, filled_in.values(), rubric)]
    else:
        rows = [_row(pair, filled_in.get(pair.stretch)) for pair in listed]
        written = _csv(rows) if suffix == ".csv" else (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    replace_file(path, written, "no pair")


def _row(pair: Pair, label: Label | None) -> dict[str, Any]:
    answer: tuple[Any, ...] = ("", "", "")
    if label and label.span:
        begin, end = label.span
        answer = (pair.text[begin - pair.start : end - pair.start], begin, end)
    given = (label.label, *answer, label.reason) if label else ("", *answer, "")
    values = pair._asdict() | dict(zip(COLUMNS[-5:], given, strict=True))
    return {name: values[name] for name in COLUMNS}


def _csv(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    out = io.StringIO(newline="")
    table = csv.DictWriter(out, COLUMNS)
    table.writeheader()
    table.writerows(rows)
    yield "\ufeff" + out.getvalue()  # the mark tells spreadsheets that it is UTF-8


def read_sheet(path: FilePath) -> list[Label]:
    """Read a filled sheet, CSV or JSON lines; rows without a label are left out.

    `label` is relevant, partial or irrelevant, or its first letter. `answer` holds the words that answer, copied from
    the text: required for relevant, possible for partial. Where they stand there more than once, `answer_start` and
    `answer_end` say which: offsets in the document, as `start` and `end` are. ValueError, with file, row and remedy,
    for a column that is missing, an answer that is not in the text, and whatever `Label` refuses.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     sheet = Path(folder, "sheet.csv")
    ...     write_sheet(sheet, [Pair("q1", "d1", 50, 66, "reset?", "Hold the button.")])
    ...     _ = sheet.write_text(sheet.read_text().replace("button.,,", "button.,relevant,the button"))
    ...     read_sheet(sheet)
    [Label(query_id='q1', doc_id='d1', start=50, end=66, label='relevant', span=(55, 65), reason='')]
    """
    places, labels = [], []
    for place, row in _rows(path):
        try:
            label = _filled_in(row)
        except ValueError as error:
            raise ValueError(f"{path} {place}: {error}") from None
        if label is not None:
            places.append(place)
            labels.append(label)
    by_stretch(labels, lambda number: f"{path} {places[number]}")
    return labels


def labels_in(path: FilePath) -> list[Label]:
    """The labels of a file, whether it is a filled sheet (CSV or JSON lines) or what the HTML sheet exports."""
    if Path(path).suffix.lower() == ".html":
        raise ValueError(f"{path}: an HTML sheet keeps its labels in the browser. Open it, and export them")
    if Path(path).suffix.lower() == ".csv":
        return read_sheet(path)
    _, first = next(filled(path), (0, ""))
    return read_sheet(path) if '"text"' in first and '"query"' in first else read_labels(path)


def _rows(path: FilePath) -> Iterator[tuple[str, dict[str, Any]]]:
    if Path(path).suffix.lower() == ".csv":
        yield from _csv_rows(path)
        return
    for number, line in filled(path):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path} line {number}: not JSON: {error.msg}. A row of a sheet is one object") from None
        if not isinstance(row, dict):
            raise ValueError(f"{path} line {number}: a {type(row).__name__}. A row of a sheet is one object")
        yield f"line {number}", {**dict.fromkeys(COLUMNS[-5:], ""), **row}


def _csv_rows(path: FilePath) -> Iterator[tuple[str, dict[str, Any]]]:
    deque(lines(path), maxlen=0)  # says what is wrong with the file, if anything is
    limit = csv.field_size_limit(sys.maxsize)  # a whole document may stand in a field
    try:
        table = csv.DictReader(io.StringIO(Path(path).read_bytes().decode("utf-8-sig"), newline=""), strict=True)
        if missing := [name for name in REQUIRED if name not in (table.fieldnames or ())]:
            raise ValueError(
                f"{path} line 1: no column {missing[0]!r}. The first line names them, separated by commas: "
                f"{','.join(COLUMNS)}"
            )
        for number, row in enumerate(table, 2):
            if None in row or None in row.values():
                raise ValueError(f"{path} row {number}: not as many fields as the first row. Separate them by commas")
            yield f"row {number}", row
    except csv.Error as error:
        raise ValueError(f"{path} near line {table.line_num}: not CSV: {error}. Write the sheet anew") from None
    finally:
        csv.field_size_limit(limit)


def _filled_in(row: Mapping[str, Any]) -> Label | None:
    if missing := [name for name in REQUIRED if name not in row]:
        raise ValueError(f"no {missing[0]!r}. Keep the columns of the sheet as they are")
    for name in ("query_id", "doc_id", "text", "label", "answer", "reason"):
        if not isinstance(row[name], str):
            raise ValueError(f"the {name} is {row[name]!r}, expected a string. Put it in quotes")
    start, end, text = _whole(row, "start"), _whole(row, "end"), row["text"]
    if start is None or end is None or end - start != len(text):
        raise ValueError(
            f"the text has {len(text)} characters, and from start to end there are "
            f"{'none given' if start is None or end is None else end - start}. Did a program alter the sheet?"
        )
    short = row["label"].strip().lower()
    label = {"r": "relevant", "p": "partial", "i": "irrelevant"}.get(short, short)
    span = _span(row, text, start)
    if not label:
        if span:
            raise ValueError("an answer without a label. Is it relevant, or partial?")
        return None
    return Label(row["query_id"], row["doc_id"], start, end, label, span, row["reason"].strip())


def _span(row: Mapping[str, Any], text: str, start: int) -> tuple[int, int] | None:
    answer, begin, end = row["answer"], _whole(row, "answer_start"), _whole(row, "answer_end")
    if begin is not None or end is not None:
        if begin is None or end is None:
            raise ValueError("one of answer_start and answer_end is missing. Give both, or neither")
        there = text[max(0, begin - start) : max(0, end - start)]
        if answer and answer != there:
            raise ValueError(
                f"from answer_start to answer_end stands {there!r}, and the answer is {answer!r}. Empty one of them"
            )
        return begin, end
    if not answer:
        return None
    found = answer if answer in text else answer.strip()
    count = len([at for at in range(len(text)) if text.startswith(found, at)]) if found else 0
    if count != 1:
        hint = "Copy more of the words around it" if count else "Copy it from the text, letter by letter"
        raise ValueError(f"the answer {answer!r} stands {count} times in the text. {hint}, or give answer_start")
    at = start + text.index(found)
    return at, at + len(found)


def _whole(row: Mapping[str, Any], name: str) -> int | None:
    value = row[name]
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    if type(value) is int and value >= 0:
        return value
    raise ValueError(f"the {name} is {value!r}, expected a whole number from 0 on")


# the sheet as a page


def fingerprint(pairs: Iterable[Pair]) -> str:
    """What a browser keeps the labels of a sheet under: other pairs, or another order, give another.

    Other titles give the same.

    >>> fingerprint([Pair("q1", "d1", 0, 4, "a?", "text")])
    '9b32ab6642019155'
    """
    return sha256(json.dumps([pair[:6] for pair in pairs]).encode()).hexdigest()[:16]


def sheet_html(pairs: Iterable[Pair], labels: Iterable[Label] = (), rubric: str = "") -> str:
    """The sheet as one HTML page, which asks no other file and no network.

    `labels` are filled in beforehand; where a browser has kept some for these pairs, those come first. `rubric`,
    plain text, stands under the definitions of the labels, in the dialog that `?` opens.

    >>> page = sheet_html([Pair("q1", "d1", 0, 9, "a?", "</script>")])
    >>> page.startswith("<!doctype html>"), page.count("</script>")
    (True, 1)
    """
    listed = list(pairs)
    places = {pair.stretch: place for place, pair in enumerate(listed)}
    known = {
        places[label.stretch]: {"label": label.label, "span": label.span, "reason": label.reason}
        for label in labels
        if label.stretch in places
    }
    name = fingerprint(listed)
    payload = json.dumps({"key": name, "pairs": listed, "labels": known}, separators=(",", ":")).replace(
        "<", "\\u003c"
    )
    return Template(_asset("sheet.html")).substitute(
        title=escape(f"Labels: {len(listed)} pairs"),
        style=_asset("sheet.css"),
        rubric=escape(rubric.strip()),
        script=f"({_asset('sheet.js').strip().rstrip(';')})({payload});",
    )


def _asset(name: str) -> str:
    return files("ragkit.diagnosis").joinpath(name).read_text(encoding="utf-8")
