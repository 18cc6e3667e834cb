"""Files that readers bring: what is there is read as it is, and what is wrong is named with file, line and remedy."""

import gzip
import json
import os
import struct
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragkit import (
    BM25Index,
    Corpus,
    Run,
    load_collection,
    load_corpus,
    rank,
    read_qrels,
    read_run,
    write_qrels,
    write_run,
)
from ragkit.corpora import formats

COLLECTIONS = os.environ.get("RAGKIT_COLLECTIONS", "")
SCIFACT = Path(COLLECTIONS, "scifact")

AWKWARD = ("007", "NA", "1e5", "null", "-0", "nan", "True", "ä", "東京", "a\u2028b", "a\u0085b", "a\u00a0b", "a\x1cb")


@pytest.fixture
def put(tmp_path):
    """Write files, {name: text or bytes}, and give the folder."""

    def write(files, folder="c"):
        (tmp_path / folder).mkdir(exist_ok=True)
        for name, content in files.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return tmp_path / folder

    return write


def refused(call, *parts, kind=ValueError):
    """The call fails, and its message holds all these parts."""
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert str(part) in str(caught.value), f"{part!r} is not in: {caught.value}"


def jsonl(*entries):
    return "".join(f"{json.dumps(entry)}\n" for entry in entries)


# judgments


def test_graded_judgments_with_tabs_spaces_zero_and_negative_grades(put):
    path = put({"qrels": "q1 0 d1 2\nq1\t0\td2\t0\nq2  Q0 \td1 -1\nq2 0 d3 +1\n"}) / "qrels"
    assert read_qrels(path) == {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": -1, "d3": 1}}
    assert read_qrels(str(path)) == read_qrels(path)


def test_the_header_of_beir_is_recognised(put):
    path = put({"t.tsv": "query-id\tcorpus-id\tscore\nq1\td 1\t1\n007\tNA\t0\n"}) / "t.tsv"
    assert read_qrels(path) == {"q1": {"d 1": 1}, "007": {"NA": 0}}


@pytest.mark.parametrize("doc_id", AWKWARD)
def test_ids_stay_as_they_are(put, tmp_path, doc_id):
    qrels = {doc_id: {doc_id: 1, "d": 0}}
    write_qrels(tmp_path / "q", qrels)
    assert read_qrels(tmp_path / "q") == qrels
    write_run(tmp_path / "r", {doc_id: [(doc_id, 0.1)]})
    assert dict(read_run(tmp_path / "r")) == {doc_id: ((doc_id, 0.1),)}
    beir = put({"b.tsv": f"query-id\tcorpus-id\tscore\n{doc_id}\t{doc_id}\t3\n"}) / "b.tsv"
    assert read_qrels(beir) == {doc_id: {doc_id: 3}}
    folder = put({"corpus.jsonl": jsonl({"_id": doc_id, "text": "x"}), "queries.tsv": f"{doc_id}\tx\n"})
    corpus = load_collection(folder)
    assert (list(corpus.docs), list(corpus.queries)) == ([doc_id], [doc_id])


SMALL = {"q1": {"d1": 1}, "q2": {"d2": 0}}


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffq1 0 d1 1\nq2 0 d2 0\n",
        "q1 0 d1 1\r\nq2 0 d2 0\r\n",
        "q1 0 d1 1\nq2 0 d2 0",
        "q1 0 d1 1\nq2 0 d2 0\n\n",
        "q1 0 d1 1\r\n\r\nq2 0 d2 0\r\n \t\r\n",
        "\ufeffquery-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq2\td2\t0\r\n\r\n",
        gzip.compress(b"q1 0 d1 1\nq2 0 d2 0\n"),
    ],
)
def test_a_byte_order_mark_crlf_blank_lines_and_gzip_change_nothing(put, content):
    assert read_qrels(put({"qrels.gz": content}) / "qrels.gz") == SMALL


VOICE = "3 fields, expected 4 (query-id 0 doc-id grade). Is this a BEIR file? Use load_collection on its folder."


def test_the_message_of_the_style_guide(put):
    path = put({"qrels": "".join(f"q 0 d{n} 1\n" for n in range(13)) + "q 0 d13\n"}) / "qrels"
    with pytest.raises(ValueError, match="line 14") as caught:
        read_qrels(path)
    assert str(caught.value) == f"{path} line 14: {VOICE}"


HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("q1 0 d1 1\nq1 0 d1\n", ("line 2: 3 fields, expected 4", "load_collection")),
        ("q1\td1\t1\n", ("line 1: 3 fields, expected 4", "load_collection")),
        ("q1 Q0 d1 1 0.5 tag\n", ("line 1: 6 fields", "read_run")),
        ("q1,0,d1,1\n", ("line 1: 1 field, expected 4", "white space")),
        ("q1 0 my doc 1\n", ("line 1: 5 fields", "no white space")),
        ("q1 0 d1 1.0\n", ("line 1: the grade is '1.0'", "whole number", "Write 0")),
        ("q1 0 d1 nan\n", ("line 1: the grade is 'nan'",)),
        ("q1 0 d1 1_0\n", ("line 1: the grade is '1_0'",)),
        ("q1 0 d1 ١\n", ("line 1: the grade is '١'",)),
        (f"q1 0 d1 {'9' * 5000}\n", ("line 1: the grade is '9",)),
        ("query-id 0 doc-id grade\nq1 0 d1 1\n", ("line 1: the grade is 'grade'",)),
        ("q1 0 d1 1\nq2 0 d1 1\n\nq1 0 d1 0\n", ("line 4", "'q1'", "'d1'", "line 1 already", "Keep one")),
        (f"{HEADER}q1\td1\t1\nq1\td1\t1\n", ("line 3", "line 2 already")),
        (f"{HEADER}q1\td1\t1\n{HEADER}q2\td1\t1\n", ("line 3", "header, in the middle", "Remove the line")),
        (f"q1 0 d1 1\n{HEADER}", ("line 2", "header, in the middle", "Remove the line")),
        (f"{HEADER}q1 0 d1 1\n", ("line 2: 1 field, expected 3", "tabs", "first line", "use tabs")),
        (f"{HEADER}q1\t0\td1\t1\n", ("line 2: 4 fields, expected 3",)),
        (f"{HEADER}\td1\t1\n", ("line 2: an id is empty", "Give every")),
        (f"{HEADER}q1\td1\thigh\n", ("line 2: the grade is 'high'",)),
        ("", ("holds no judgment", "Was it written to its end?")),
        (" \n\n", ("holds no judgment",)),
        (HEADER, ("holds no judgment",)),
        (
            b"q1 0 d1 1\nq1 0 caf\xe9 1\n",
            ("line 2: byte 9 of the line (byte 18 of the text", "0xe9", "iconv -f latin1"),
        ),
        ("q1 0 d1 1\n".encode("utf-16"), ("line 1: byte 1", "UTF-16", "iconv -f utf-16")),
        (gzip.compress(b"q1 0 d1 1\n" * 99)[:-9], ("incomplete or damaged", "again")),
        (gzip.compress(b"q1 0 d1 1\n")[:12] + b"\xff" * 20, ("incomplete or damaged", "again")),
    ],
)
def test_judgments_that_cannot_be_read(put, content, parts):
    path = put({"qrels.txt": content}) / "qrels.txt"
    refused(lambda: read_qrels(path), path, *parts)


@pytest.mark.parametrize("read", [read_qrels, read_run])
def test_a_file_that_is_none(tmp_path, read):
    refused(lambda: read(tmp_path / "no" / "f"), tmp_path / "no" / "f", "no folder", kind=FileNotFoundError)
    refused(lambda: read(tmp_path / "f"), tmp_path / "f", "Check the path", kind=FileNotFoundError)
    refused(lambda: read(tmp_path), tmp_path, "is a folder", "load_collection", kind=IsADirectoryError)


def test_judgments_are_written_in_the_form_of_trec(tmp_path):
    write_qrels(tmp_path / "q", {"q2": {"d": 3, "c": -1}, 7: {9: True}, "q1": {"b", "a"}})
    assert (tmp_path / "q").read_bytes() == b"q2 0 d 3\nq2 0 c -1\n7 0 9 1\nq1 0 a 1\nq1 0 b 1\n"


@pytest.mark.parametrize(
    ("qrels", "parts"),
    [
        ({"q 1": {"d": 1}}, ("query id 'q 1' holds white space", "Replace it")),
        ({"q": {"a\tb": 1}}, ("query 'q': document id 'a\\tb' holds white space",)),
        ({"q": {"a\n": 1}}, ("white space",)),
        ({"": {"d": 1}}, ("query id is empty",)),
        ({"q": {"": 1}}, ("document id is empty",)),
        ({"\ufeffq": {"d": 1}}, ("byte order mark",)),
        ({"q": {"\ud800": 1}}, ("surrogate", "Rename it")),
        ({"q": {"d": 1.0}}, ("query 'q': document 'd' has the grade 1.0", "qrels_from_labels")),
        ({"q": {"d": "relevant"}}, ("has the grade 'relevant'",)),
        ({"q": {"d": 10**18}}, ("18 digits",)),
        ({"q": {7: 1, "7": 0}}, ("document '7' is judged twice",)),
        ({7: {"d": 1}, "7": {"d": 1}}, ("query '7' is given twice",)),
        ({"q": {}}, ("query 'q' has no judged document", "grade 0")),
        ({"q": "d1"}, ("query 'q' has 'd1', expected",)),
        ({}, ("no judgment to write",)),
    ],
)
def test_judgments_that_cannot_be_written_leave_what_was_there(tmp_path, qrels, parts):
    path = tmp_path / "q"
    path.write_text("what was there")
    refused(lambda: write_qrels(path, {"ok": {"d": 1}} | qrels if qrels else qrels), path, *parts)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_writer_leaves_what_was_there(tmp_path):
    class Broken(dict):
        def items(self):
            yield "d1", 1
            raise KeyboardInterrupt

    path = tmp_path / "q"
    path.write_text("what was there")
    with pytest.raises(KeyboardInterrupt):
        write_qrels(path, {"q1": Broken(d1=1)})
    assert (path.read_text(), list(tmp_path.iterdir())) == ("what was there", [path])


def test_files_are_packed_by_name_and_the_same_each_time(tmp_path):
    write_qrels(tmp_path / "a.gz", SMALL)
    write_qrels(tmp_path / "b.gz", SMALL)
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"q1 0 d1 1\nq2 0 d2 0\n"
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert read_qrels(tmp_path / "a.gz") == SMALL
    write_run(tmp_path / "r.gz", {"q": [("d", 1.0)]})
    assert read_run(tmp_path / "r.gz").ids("q") == ("d",)


# runs


def test_a_run_is_ordered_by_its_scores_and_the_one_tie_rule(put):
    path = (
        put({"r": "q2 Q0 d1 1 0.5 bm25\nq1 Q0 d1 1 1.5 bm25\nq1\tQ0\td2\t9\t1.5\tbm25\nq1 x d3 0 2e1 bm25\n"}) / "r"
    )
    run = read_run(path)
    assert isinstance(run, Run)
    assert run.record == {"run": "bm25", "file": "r"}
    assert list(run) == ["q2", "q1"]
    assert run["q1"] == (("d3", 20.0), ("d2", 1.5), ("d1", 1.5))


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("q1 0 d1 1\n", ("line 1: 4 fields, expected 6", "read_qrels")),
        ("q1 Q0 d1 1 0.5\n", ("line 1: 5 fields", "tag")),
        ("q1 Q0 my doc 1 0.5 t\n", ("line 1: 7 fields", "no white space")),
        ("q1 Q0 d1 1 nan t\n", ("line 1: the score is 'nan'", "finite")),
        ("q1 Q0 d1 1 inf t\n", ("line 1: the score is 'inf'", "finite")),
        ("q1 Q0 d1 1 -Infinity t\n", ("line 1: the score is '-Infinity'",)),
        ("q1 Q0 d1 1 1e999 t\n", ("line 1: the score is '1e999'",)),
        ("q1 Q0 d1 1 1,5 t\n", ("line 1: the score is '1,5'",)),
        ("q1 Q0 d1 1 1_5 t\n", ("line 1: the score is '1_5'",)),
        (
            "q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n",
            ("line 3", "'q1'", "'d1'", "line 1 already", "Keep one"),
        ),
        ("q1 Q0 d1 1 2 a\nq1 Q0 d2 2 1 b\n", ("line 2: the tag is 'b'", "line 1 it is 'a'", "split it")),
        ("", ("holds no hit", "Was it written to its end?")),
        (b"q1 Q0 d\xff 1 2 t\n", ("line 1: byte 8", "UTF-8")),
    ],
)
def test_a_run_that_cannot_be_read(put, content, parts):
    path = put({"a.run": content}) / "a.run"
    refused(lambda: read_run(path), path, *parts)


@pytest.mark.parametrize(
    ("run", "tag", "parts"),
    [
        ({"q": [("a b", 1.0)]}, "t", ("query 'q': document id 'a b' holds white space", "Replace it")),
        ({"q\n": [("a", 1.0)]}, "t", ("query id 'q\\n' holds white space",)),
        ({"q": [("a", 1.0)]}, "my run", ("tag 'my run' holds white space",)),
        ({"q": [("a", 1.0)]}, "", ("tag is empty",)),
        ({"q": [("a", float("inf"))]}, "t", ("document 'a' has the score inf", "finite")),
        ({"q": [("a", 1.0), ("b", 2.0)]}, "t", ("'a' stands at rank 1", "'b'", "scores that fall")),
        ({"q": [("a", 1.0), ("b", 1.0)]}, "t", ("'a' stands at rank 1", "tie rule")),
        ({"q": []}, "t", ("no query with a hit",)),
        ({}, "t", ("no query with a hit",)),
    ],
)
def test_a_run_that_cannot_be_written(tmp_path, run, tag, parts):
    refused(lambda: write_run(tmp_path / "r", run, tag), tmp_path / "r", *parts)
    assert list(tmp_path.iterdir()) == []


def test_a_query_without_hits_has_no_line(tmp_path):
    write_run(tmp_path / "r", {"q1": [], "q2": [("d", 1.0)]})
    assert (tmp_path / "r").read_text() == "q2 Q0 d 1 1.0 ragkit\n"


def test_what_a_search_gives_is_what_is_read_back(tmp_path):
    docs = {f"d{n}": "alarm pump belt reset"[: 5 + n % 17] for n in range(60)}
    run = BM25Index.build(docs).run({"q1": "pump alarm", "q2": "belt", "q3": "nothing"}, k=100)
    write_run(tmp_path / "r", run, tag="bm25")
    assert dict(read_run(tmp_path / "r")) == {qid: hits for qid, hits in run.items() if hits}


# round trips

IDS = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters=" \t\n\r\f\v\ufeff"), min_size=1),
)
FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, 1.7976931348623157e308]), st.floats(allow_nan=False, allow_infinity=False)
)
TRIPS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@TRIPS
@given(
    st.dictionaries(
        IDS, st.dictionaries(IDS, st.integers(-(10**17), 10**17), min_size=1, max_size=5), min_size=1, max_size=4
    )
)
def test_judgments_come_back(tmp_path, qrels):
    write_qrels(tmp_path / "q", qrels)
    read = read_qrels(tmp_path / "q")
    assert read == qrels
    assert [list(grades) for grades in read.values()] == [list(grades) for grades in qrels.values()]
    assert list(read) == list(qrels)


@TRIPS
@given(st.dictionaries(IDS, st.dictionaries(IDS, FLOATS, min_size=1, max_size=5), min_size=1, max_size=4), IDS)
def test_a_run_comes_back_bit_for_bit(tmp_path, scores, tag):
    run = Run({qid: [(doc_id, own[doc_id]) for doc_id in rank(own)] for qid, own in scores.items()})
    write_run(tmp_path / "r", run, tag)
    read = read_run(tmp_path / "r")
    assert list(read) == list(run)
    for qid in run:
        assert read.ids(qid) == run.ids(qid)
        bits = [[struct.pack("d", hit.score) for hit in ranking[qid]] for ranking in (run, read)]
        assert bits[0] == bits[1]
    assert read.record == {"run": tag, "file": "r"}


# BEIR


BEIR = {
    "corpus.jsonl": jsonl(
        {"_id": "d1", "title": "Reset", "text": "Hold the button.", "metadata": {}},
        {"_id": "d2", "title": "", "text": "No title."},
        {"_id": "007", "text": "a\u2028b\u0085c"},
    ),
    "queries.jsonl": jsonl(
        {"_id": "q1", "text": "reset"}, {"_id": "q2", "text": "title"}, {"_id": "q3", "text": "x"}
    ),
    "qrels/test.tsv": f"{HEADER}q1\td1\t1\nq1\td9\t1\nq9\td1\t1\nq9\td8\t0\n",
    "qrels/train.tsv": f"{HEADER}q2\td2\t2\n",
}


def test_a_folder_of_beir(put):
    corpus = load_collection(put(BEIR, "notes"))
    assert isinstance(corpus, Corpus)
    assert corpus.name == "notes"
    assert corpus.docs == {"d1": "Reset Hold the button.", "d2": "No title.", "007": "a\u2028b\u0085c"}
    assert corpus.titles == {"d1": "Reset", "d2": "", "007": ""}
    assert corpus.queries == {"q1": "reset"}
    assert corpus.judgments == {"q1": {"d1": 1, "d9": 1}, "q9": {"d1": 1, "d8": 0}}
    assert corpus.record == {
        "source": "BEIR folder",
        "documents from": "corpus.jsonl",
        "queries from": "queries.jsonl",
        "labels from": "test.tsv",
        "split": "test",
        "queries of other splits": 2,
        "labels": 4,
        "labels of absent documents": 2,
        "absent documents": ("d9", "d8"),
        "labels of absent queries": 2,
        "absent queries": ("q9",),
        "queries without labels": (),
    }


def test_another_split_and_one_that_is_not_there(put):
    folder = put(BEIR)
    assert load_collection(folder, split="train").queries == {"q2": "title"}
    assert load_collection(str(folder), "train").judgments == {"q2": {"d2": 2}}
    refused(
        *(lambda: load_collection(folder, split="dev"), folder, "no split 'dev'", "'test', 'train'", "split="),
        kind=FileNotFoundError,
    )


def test_within_a_folder_of_beir_the_header_may_be_missing(put):
    folder = put(BEIR | {"qrels/test.tsv": "q1\td1\t1\nq1\td2\t0\n"})
    refused(lambda: read_qrels(folder / "qrels/test.tsv"), VOICE)
    assert load_collection(folder).judgments == {"q1": {"d1": 1, "d2": 0}}
    folder = put({"qrels/test.tsv": "query_id\tdoc_id\tscore\nq1\td1\t1\n"})
    refused(lambda: load_collection(folder), folder / "qrels/test.tsv", "line 1: the grade is 'score'")


def test_a_folder_of_beir_packed_and_without_labels(put):
    packed = {f"{name}.gz": gzip.compress(text.encode()) for name, text in BEIR.items()}
    assert load_collection(put(packed, "packed")).docs == load_collection(put(BEIR, "plain")).docs
    assert load_collection(put(packed, "packed")).judgments == load_collection(put(BEIR, "plain")).judgments
    bare = load_collection(put({name: text for name, text in BEIR.items() if "qrels" not in name}, "bare"))
    assert (list(bare.queries), bare.judgments) == (["q1", "q2", "q3"], {})
    assert bare.record == {"source": "JSON lines", "documents from": "corpus.jsonl", "queries from": "queries.jsonl"}


@pytest.mark.skipif(not (COLLECTIONS and SCIFACT.is_dir()), reason="RAGKIT_COLLECTIONS names no folder with scifact")
def test_scifact_is_complete():
    corpus = load_collection(SCIFACT)
    pairs = sum(map(len, corpus.judgments.values()))
    assert (len(corpus), len(corpus.queries), pairs) == (5_183, 300, 339)
    assert corpus.docs["4983"].startswith(
        "Microstructural development of human newborn cerebral white matter assessed"
    )
    assert (corpus.record["labels of absent documents"], corpus.record["labels of absent queries"]) == (0, 0)
    train = load_collection(SCIFACT, split="train")
    assert train.fingerprint == corpus.fingerprint
    assert not train.queries.keys() & corpus.queries.keys()


# JSON lines


@pytest.mark.parametrize(
    "content",
    [
        '\ufeff{"id": "a", "contents": "x"}\r\n{"id": "b", "contents": "y"}\r\n\r\n',
        '{"_id": "a", "text": "x"}\n\n{"_id": "b", "text": "y", "title": null}',
        gzip.compress(b'{"_id": "a", "id": 1, "text": "x"}\n{"id": "b", "text": "y"}\n'),
    ],
)
def test_one_file_of_json_lines(put, content):
    corpus = load_collection(put({"notes.jsonl": content}) / "notes.jsonl")
    assert (corpus.name, corpus.docs, corpus.queries) == ("notes", {"a": "x", "b": "y"}, {})


def test_separators_within_a_text_do_not_end_its_line(put):
    text = "one\u2028two\u2029three\u0085four\x0bfive\x0csix\x1cseven"
    line = json.dumps({"id": "a", "text": text}, ensure_ascii=False)  # which escapes the last three
    folder = put({"documents.jsonl": line, "queries.tsv": f"q1\t{text}\n", "qrels.tsv": "q1\t0\ta\t1\n"})
    corpus = load_collection(folder)
    assert (corpus.docs, corpus.queries, corpus.judgments) == ({"a": text}, {"q1": text}, {"q1": {"a": 1}})


def test_numbers_become_ids_and_7_is_one_id_with_its_string(put):
    path = put({"d.jsonl": jsonl({"id": 7, "text": "x"}, {"id": "8", "text": "y"})}) / "d.jsonl"
    assert list(load_collection(path).docs) == ["7", "8"]
    path = put({"d.jsonl": jsonl({"id": 7, "text": "x"}, {"id": "7", "text": "y"})}) / "d.jsonl"
    refused(
        lambda: load_collection(path), f"{path} line 2: document id '7' is given already, in {path} line 1", "rename"
    )


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ('{"id": "b", "text": "x"', ("line 2 column 24: not JSON", "one object")),
        ('{"id": "b" "text": "x"}', ("line 2 column 12: not JSON", "','")),
        ("id,text", ("line 2 column 1: not JSON",)),
        ('["b", "x"]', ("line 2: list, expected an object", "on each line")),
        ('"b"', ("line 2: str, expected an object",)),
        ("[" * 100_000, ("line 2: JSON that cannot be read",)),
        ('{"id": 1%s, "text": "x"}' % ("0" * 5000), ("line 2: JSON that cannot be read",)),
        ('{"docno": "b", "text": "x"}', ("line 2: no '_id' (or 'id'); there is 'docno', 'text'", "Rename")),
        ('{"id": "b", "body": "x"}', ("line 2: no 'text' (or 'contents'); there is 'id', 'body'", "Rename")),
        ("{}", ("line 2: no '_id'", "nothing")),
        ('{"id": "b", "text": null}', ("line 2: the text is None, expected a string",)),
        ('{"id": "b", "contents": ["x"]}', ("line 2: the contents is ['x'], expected a string",)),
        ('{"id": "b", "text": "x", "title": 3}', ("line 2: the title is 3, expected a string", "quotes")),
        ('{"id": 1.5, "text": "x"}', ("line 2: the id is 1.5", "quotes")),
        ('{"id": true, "text": "x"}', ("line 2: the id is True",)),
        ('{"_id": null, "text": "x"}', ("line 2: the _id is None",)),
        ('{"id": "", "text": "x"}', ("line 2: the id is ''", "not empty")),
        ('{"id": "a", "text": "x"}', ("line 2: document id 'a' is given already", "line 1")),
        (b'{"id": "b", "text": "\xe9"}', ("line 2: byte 22", "iconv")),
    ],
)
def test_json_lines_that_cannot_be_read(put, line, parts):
    line = line if isinstance(line, bytes) else line.encode()
    path = put({"documents.jsonl": b'{"id": "a", "text": "x"}\n' + line + b"\n"}) / "documents.jsonl"
    refused(lambda: load_collection(path.parent), path, *parts)


def test_queries_as_json_lines_and_with_tabs(put):
    docs = jsonl({"id": "d", "text": "x"})
    folder = put({"documents.jsonl": docs, "queries.jsonl": jsonl({"id": 1, "text": "a", "kind": "code"})}, "a")
    corpus = load_collection(folder)
    assert (corpus.queries, corpus.kinds) == ({"1": "a"}, {"1": "code"})
    folder = put({"documents.jsonl": docs, "queries.tsv": "\ufeffquery-id\ttext\r\n1\ta\tb\r\n2\t\r\n"}, "b")
    assert load_collection(folder).queries == {"1": "a\tb", "2": ""}
    folder = put({"documents.jsonl": docs, "topics.txt": "1\ta\n", "qrels.txt": "1 0 d 1\n"}, "c")
    assert load_collection(folder).judgments == {"1": {"d": 1}}


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("queries.tsv", "q1\tx\nq2 y\n", ("line 2: 'q2 y', expected query-id, tab, text", "tab before the text")),
        ("queries.tsv", "\tx\n", ("line 1", "expected query-id, tab, text")),
        ("queries.tsv", "q1\tx\n\nq1\ty\n", ("line 3: query id 'q1' is given already", "line 1", "rename")),
        ("queries.tsv", "q1\tx\nquery-id\ttext\nquery-id\ttext\n", ("line 3", "'query-id' is given already")),
        ("queries.tsv", "", ("holds no query", "end?")),
        ("topics.txt", "<top>\n<num> 1\n", ("line 1: '<top>'", "TREC's topics", "on one line")),
        (
            "queries.jsonl",
            jsonl({"id": 1, "text": "x"}, {"id": "1", "text": "y"}),
            ("line 2: query id '1'", "line 1"),
        ),
        ("queries.jsonl", jsonl({"id": 1, "query": "x"}), ("line 1: no 'text'", "'query'")),
        ("queries.jsonl", "{\n", ("line 1 column 2: not JSON",)),
        ("qrels.txt", "1 0 d\n", ("line 1: 3 fields",)),
        ("qrels.tsv", "1\t0\td\tx\n", ("line 1: the grade is 'x'",)),
    ],
)
def test_queries_and_labels_that_cannot_be_read(put, name, content, parts):
    folder = put({"documents.jsonl": jsonl({"id": "d", "text": "x"}), name: content})
    refused(lambda: load_collection(folder), folder / name, *parts)


def test_queries_without_labels_stay_and_are_named(put):
    folder = put({"documents.jsonl": jsonl({"id": "d", "text": "x"}), "queries.tsv": "q1\tx\nq2\ty\n"})
    put({"qrels.txt": "q1 0 d 1\n"}, "elsewhere")
    corpus = load_collection(folder, qrels=folder.parent / "elsewhere/qrels.txt")
    assert list(corpus.queries) == ["q1", "q2"]
    assert corpus.record["queries without labels"] == ("q2",)
    assert corpus.record["labels of absent documents"] == 0


# TREC


TREC = """<DOC>
<DOCNO> FT-1 </DOCNO>
<DATE>940101</DATE>
<HEADLINE><P>
Pumps &amp; alarms</P></HEADLINE>
<TEXT>
<P>First &lt;paragraph&gt;, a < b, ?x=1&copy=2.</P>

<P>Second.</P>
</TEXT>
<TEXT>Third.</TEXT>
</DOC>
<DOC><DOCNO>007</DOCNO><TEXT>One line.</TEXT></DOC><doc><docno>NA</docno>Without a text mark.</doc>
"""


def test_documents_of_trec(put):
    corpus = load_collection(put({"ft.trec": TREC}) / "ft.trec")
    assert list(corpus.docs) == ["FT-1", "007", "NA"]
    assert corpus.titles == {"FT-1": "Pumps & alarms", "007": "", "NA": ""}
    assert corpus.docs["FT-1"].startswith("Pumps & alarms First <paragraph>, a < b, ?x=1&copy=2.")
    assert corpus.docs["FT-1"].split() == (
        "Pumps & alarms First <paragraph>, a < b, ?x=1&copy=2. Second. Third.".split()
    )
    assert (corpus.docs["007"], corpus.docs["NA"]) == ("One line.", "Without a text mark.")


def test_several_files_of_trec_with_topics_and_qrels(put):
    folder = put(
        {
            "docs/b/two": gzip.compress(b"\n<DOC><DOCNO>d2</DOCNO><TEXT>y</TEXT></DOC>"),
            "docs/a/one.sgml": "<DOC>\r\n<DOCNO>d1</DOCNO>\r\n<TEXT>\r\nx\r\n</TEXT></DOC>\r\n",
            "docs/.hidden/three": "<DOC><DOCNO>d3</DOCNO></DOC>",
            "README.md": "# About",
            "picture": b"\x89PNG\xff",
            "topics.txt": "101\tpump\n",
            "qrels.txt": "101 0 d1 1\n101 0 d3 1\n",
        }
    )
    corpus = load_collection(folder)
    assert corpus.docs == {"d1": "x", "d2": "y"}
    assert (corpus.queries, corpus.judgments) == ({"101": "pump"}, {"101": {"d1": 1, "d3": 1}})
    assert corpus.record["source"] == "TREC documents"
    assert corpus.record["documents from"] == "docs/a/one.sgml, docs/b/two"
    assert corpus.record["files left out"] == 2
    assert corpus.record["absent documents"] == ("d3",)


def test_the_pieces_can_be_named(put):
    put({"one": TREC, "two": "<DOC><DOCNO>d2</DOCNO>y</DOC>"}, "a")
    put({"asked.tab": "1\tpump\n", "judged": "1 0 d2 1\n"}, "b")
    folder = put({"unrelated.csv": "x"}, "c")
    at = folder.parent
    corpus = load_collection(
        folder, docs=[at / "a/one", at / "a/two"], queries=at / "b/asked.tab", qrels=at / "b/judged"
    )
    assert (corpus.name, len(corpus), corpus.queries) == ("c", 4, {"1": "pump"})
    assert corpus.judgments == {"1": {"d2": 1}}
    assert list(load_collection(folder, docs=str(at / "a/two")).docs) == ["d2"]
    assert len(load_collection(folder, docs=at / "a")) == 4
    put({"x.jsonl": jsonl({"id": 1, "text": "x"})}, "b")
    refused(
        lambda: load_collection(folder, docs=[at / "a/two", at / "b/x.jsonl"]), "several forms", "TREC", "JSON lines"
    )
    refused(lambda: load_collection(folder, docs=[]), "docs names no file")
    refused(lambda: load_collection(folder, docs=at / "no"), at / "no", kind=FileNotFoundError)
    refused(lambda: load_collection(at / "a", queries=at / "no"), at / "no", kind=FileNotFoundError)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("<DOC>\n<DOCNO>a</DOCNO>\n<DOC>\n", ("line 3: <DOC>, and the one on line 1 has no end", "Put </DOC>")),
        ("<DOC><DOCNO>a</DOCNO></DOC>\n</DOC>\n", ("line 2: </DOC> without a <DOC>", "remove")),
        ("<DOC><DOCNO>a</DOCNO></DOC>\n\nstray\n", ("line 3: 'stray' stands outside", "remove")),
        ("\n<DOC>\n<DOCNO>a</DOCNO>\n", ("line 2: <DOC> without an end", "Add </DOC>")),
        ("<DOC>\n<TEXT>x</TEXT></DOC>\n", ("line 1: expected one <DOCNO>", "none")),
        ("<DOC>\n<DOCNO> </DOCNO></DOC>\n", ("line 1: expected one <DOCNO>", "an empty one")),
        ("<DOC><DOCNO>a</DOCNO><DOCNO>b</DOCNO></DOC>", ("line 1: expected one <DOCNO>", "2")),
        ("<DOC><DOCNO>a</DOCNO></DOC>\n<DOC><DOCNO>a</DOCNO></DOC>", ("line 2: document id 'a'", "line 1")),
        (b"<DOC>\n<DOCNO>a</DOCNO>\nna\xefve</DOC>", ("line 3: byte 3", "iconv")),
    ],
)
def test_documents_of_trec_that_cannot_be_read(put, content, parts):
    path = put({"docs.trec": content}) / "docs.trec"
    refused(lambda: load_collection(path.parent), path, *parts)


# Markdown and plain text


def test_a_folder_of_markdown(put):
    folder = put(
        {
            "guide/setup.md": "\ufeff---\ntitle: not this\n---\r\n\r\n# Set up ##\r\n\r\nText.\r\n",
            "guide/v1.2.markdown": "```\n# a comment\n```\n\nLearn C#\n========\n",
            "guide/queries.txt": "A document of its own.",
            "reset.md": "## Use C#\n",
            "reset.txt": "Plain.",
            "empty.txt": "",
            "Ünïcode name.MD": "x",
            ".git/notes.md": "# hidden",
            ".hidden.md": "# hidden",
            "logo.png": b"\x89PNG",
            "queries.tsv": "q1\thow\n",
            "qrels.txt": "q1 0 guide/setup 1\n",
        }
    )
    corpus = load_collection(folder)
    assert corpus.titles == {
        "empty": "",
        "guide/queries": "",
        "guide/setup": "Set up",
        "guide/v1.2": "Learn C#",
        "reset.md": "Use C#",
        "reset.txt": "",
        "Ünïcode name": "",
    }
    assert corpus.docs["guide/setup"] == "---\ntitle: not this\n---\n\n# Set up ##\n\nText."
    assert (corpus.queries, corpus.judgments) == ({"q1": "how"}, {"q1": {"guide/setup": 1}})
    assert corpus.record["source"] == "text files"
    assert corpus.record["files left out"] == 1
    assert corpus.record["labels of absent documents"] == 0


def test_one_text_file(put):
    folder = put({"a.md": "# A", "b.md": "# B"})
    assert load_collection(folder / "b.md").titles == {"b": "B"}


def test_a_text_file_that_is_not_utf8(put):
    folder = put({"a.md": b"# A\n\ncaf\xe9\n"})
    refused(lambda: load_collection(folder), f"{folder / 'a.md'} line 3: byte 4", "Save the file as UTF-8")


def test_two_files_that_would_have_one_id(put):
    folder = put({"a.md": "x", "a.txt": "y", "a.md.txt": "z"})
    refused(
        lambda: load_collection(folder), "document id 'a.md' is given already", folder / "a.md", folder / "a.md.txt"
    )


# what is not recognised


def test_a_path_that_does_not_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "no", str(tmp_path / "no"), "./no", "no.jsonl", Path("no"), "~/no-such-folder-of-ragkit"):
        refused(
            *(
                lambda path=path: load_collection(path),
                "no file or folder",
                "corpus.jsonl or documents.jsonl",
                "<DOC>",
            ),
            *(".md", "Check the path", tmp_path),
            kind=FileNotFoundError,
        )


def test_a_folder_in_which_nothing_is_recognised(put):
    for files in ({}, {"a.csv": "x", "b.py": "y", "queries.txt": "q\tx"}):
        folder = put(files)
        refused(
            *(lambda folder=folder: load_collection(folder), folder, "corpus.jsonl or documents.jsonl", "<DOC>"),
            *(".md, .markdown, .rst, .txt", "docs="),
            kind=FileNotFoundError,
        )


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("d.json", "[\n{}]", ("begins with '['", "corpus.jsonl or documents.jsonl", "jq -c '.[]'")),
        ("d.csv", "id,text\n", ("begins with 'id,text'", "<DOC>", "Convert it")),
        ("d.jsonl", "", ("is empty", "Was it written to its end?")),
    ],
)
def test_a_file_that_is_not_recognised(put, name, content, parts):
    path = put({name: content}) / name
    refused(lambda: load_collection(path), path, *parts)


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        (("corpus.jsonl", "documents.jsonl"), ("corpus.jsonl, documents.jsonl", "docs=")),
        (("corpus.jsonl", "queries.jsonl", "queries.tsv"), ("queries.jsonl, queries.tsv", "queries=")),
        (("corpus.jsonl", "qrels.txt", "qrels.tsv"), ("qrels.tsv, qrels.txt", "qrels=")),
        (("corpus.jsonl", "qrels.txt", "qrels/test.tsv"), ("qrels.txt, qrels/test.tsv", "qrels=")),
        (("docs.jsonl", "README.md"), ("docs.jsonl beside 1 text file", "docs=")),
        (("docs.jsonl",), ("docs.jsonl: are these the documents?", "docs=")),
    ],
)
def test_of_two_files_for_one_purpose_none_is_guessed(put, files, parts):
    folder = put(dict.fromkeys(files, jsonl({"id": "d", "text": "x"})))
    refused(lambda: load_collection(folder), folder, *parts)


def test_an_empty_corpus_is_refused(put):
    folder = put({"corpus.jsonl": "\n"})
    refused(lambda: load_collection(folder), folder / "corpus.jsonl", "holds no document", "end?")


def test_a_collection_of_the_book_is_loaded_by_another_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(lambda: load_collection("numpy-docs"), "load_corpus('numpy-docs')")
    assert load_corpus("numpy-docs").judgments == {}


# ir_datasets


class Dataset:
    def __init__(self, docs=None, queries=None, qrels=None):
        self.parts = {"docs": docs, "queries": queries, "qrels": qrels}

    def __getattr__(self, name):
        what, _, part = name.partition("_")
        if what == "has":
            return lambda: self.parts[part] is not None
        return lambda: iter(self.parts[what])


def one(**fields):
    return SimpleNamespace(**fields)


BEIR_TEST = Dataset(
    [one(doc_id="007", title="Reset", text="Hold."), one(doc_id=8, title="", text="Plain.")],
    [one(query_id="q1", text="reset")],
    [one(query_id="q1", doc_id="007", relevance=1), one(query_id="q1", doc_id="9", relevance=0)],
)


@pytest.fixture
def library(monkeypatch, tmp_path):
    """A module in the place of ir_datasets that knows three collections."""
    known = {
        "beir/scifact/test": BEIR_TEST,
        "msmarco-document": Dataset([one(doc_id="D1", title="T", body="B", default_text=lambda: "T B")]),
        "no-docs": Dataset(queries=[]),
        "twice": Dataset([one(doc_id="a", text="x"), one(doc_id="a", text="y")]),
        "judged-twice": Dataset([one(doc_id="a", text="x")], None, [one(query_id=1, doc_id="a", relevance=1)] * 2),
        "no-text": Dataset([one(doc_id="a", body="x")]),
    }
    module = ModuleType("ir_datasets")
    module.load = known.__getitem__
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    monkeypatch.chdir(tmp_path)


def test_a_collection_of_ir_datasets(library):
    corpus = load_collection("beir/scifact/test")
    assert (corpus.name, corpus.docs) == ("beir/scifact/test", {"007": "Reset Hold.", "8": "Plain."})
    assert (corpus.titles, corpus.queries) == ({"007": "Reset", "8": ""}, {"q1": "reset"})
    assert corpus.judgments == {"q1": {"007": 1, "9": 0}}
    assert corpus.record["absent documents"] == ("9",)
    assert corpus.record["source"] == "ir_datasets"
    bare = load_collection("msmarco-document")
    assert (bare.docs, bare.queries, bare.judgments) == ({"D1": "T B"}, {}, {})


def test_the_pieces_of_ir_datasets_can_be_replaced(library, put):
    folder = put({"q.tsv": "1\treset\n", "judged": "1 0 007 1\n"})
    corpus = load_collection("beir/scifact/test", queries=folder / "q.tsv", qrels=folder / "judged")
    assert (corpus.queries, corpus.judgments) == ({"1": "reset"}, {"1": {"007": 1}})


def test_a_folder_is_taken_before_a_name(library, put, tmp_path):
    put({"a.md": "x"}, "twice")
    assert list(load_collection("twice").docs) == ["a"]


def test_collections_of_ir_datasets_that_cannot_be_used(library):
    refused(lambda: load_collection("beir/no"), "beir/no", "knows no", "Check the path", kind=FileNotFoundError)
    refused(lambda: load_collection("no-docs"), "no-docs", "no documents")
    refused(lambda: load_collection("twice"), "twice, document 'a': document id 'a' is given already")
    refused(lambda: load_collection("judged-twice"), "judged-twice", "'1'", "'a'", "judged twice", "qrels=")
    refused(lambda: load_collection("no-text"), "no-text, document 'a': there is no text")


def test_without_ir_datasets_the_error_names_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    monkeypatch.chdir(tmp_path)
    parts = ("beir/scifact/test", "no file or folder", "pip install ir_datasets")
    refused(lambda: load_collection("beir/scifact/test"), *parts, kind=ImportError)


# the corpus that comes out


def test_a_collection_is_a_corpus_like_the_others(put):
    corpus = load_collection(put(BEIR))
    assert corpus.passages().record["corpus_sha256"] == corpus.fingerprint
    assert BM25Index.build(corpus.docs).search("reset button", k=1)[0].doc_id == "d1"
    assert repr(corpus) == "Corpus('c', 3 documents, 3 distinct, 1 queries)"


def test_long_files_show_their_progress(put, monkeypatch):
    labels = []
    monkeypatch.setattr(formats, "progress", lambda items, label, total=None: (labels.append(label), items)[1])
    load_collection(put(BEIR))
    assert labels == ["corpus.jsonl", "queries.jsonl"]
