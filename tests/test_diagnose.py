"""`ragkit diagnose`: from a folder, from labels, from runs alone, to one page; resumed after a kill; every error."""

import json
import re
import subprocess
import sys
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import Label, load_corpus, recall_at_k, write_labels, write_qrels, write_run
from ragkit.__main__ import main
from ragkit.corpora.duplicates import near_duplicates
from ragkit.dense.cache import CachedEncoder
from ragkit.diagnosis import drawing, embedding
from ragkit.diagnosis.advice import next_steps
from ragkit.diagnosis.material import family, read_material
from ragkit.diagnosis.report import SECTIONS, report_html, section_html
from ragkit.diagnosis.study import DENSE, FUSED, Settings, examine
from ragkit.diagnosis.twins import COMMON, find_twins
from ragkit.diagnosis.undertaken import Bound, bound

DOCS = {
    "reset": "# Factory reset\n\nHold the button for ten seconds. The light turns red.",
    "limits": "# Rate limits\n\nA client may send 600 requests a minute. Beyond that the answer is 429.",
    "api/paging": "# Paging\n\nSet page_size to at most 200. The next page is named in the answer.",
    "api/errors": "# Errors\n\nERR_4021 says that the token has expired. Ask for another one.",
    "api/copy": "# Errors\n\nERR_4021 says that the token has expired. Ask for another one.",
    "billing": "# Invoices\n\nAn invoice is sent on the first day of each month, by mail.",
}
QUERIES = {
    "q1": "how do I reset the gateway",
    "q2": "ERR_4021",
    "q3": "how large may a page be",
    "q4": "xyzzy",
    "q5": "when is the invoice sent",
}
QRELS = {
    "q1": {"reset": 1, "billing": 0},
    "q2": {"api/errors": 1},
    "q3": {"api/paging": 1, "limits": 0},
    "q5": {"gone": 1},
}


class Words:
    """An encoder without a model: hashed words. It counts what it encodes, and may give up."""

    dim, window = 64, 254
    record = {"model": "words", "weights": "none", "window": 254}  # noqa: RUF012 - a toy

    def __init__(self, most=10**9):
        self.most, self.seen = most, []

    def encode(self, texts, kind="document"):
        if len(self.seen) + len(texts) > self.most:
            raise KeyboardInterrupt
        self.seen += texts
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[sum(map(ord, word)) % self.dim] += 1
        return rows + 0.01

    def count(self, texts, kind="document"):
        return [len(text.split()) for text in texts]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder as a reader has it, and the place to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    for name, text in DOCS.items():
        path = tmp_path / "docs" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    (tmp_path / "docs/queries.tsv").write_text("".join(f"{qid}\t{text}\n" for qid, text in QUERIES.items()))
    write_qrels("qrels.txt", QRELS)
    return tmp_path


@pytest.fixture
def words(monkeypatch):
    """The toy in place of the model."""
    made = Words()
    monkeypatch.setattr(embedding, "load_encoder", lambda name=None: made)
    return made


def diagnosed(*args, status=0):
    assert main(["diagnose", *map(str, args), "--out", "report.html"]) == status
    with open("report.json", encoding="utf-8") as file:  # noqa: PTH123
        return json.load(file), checked("report.html")


def checked(path):
    """A page that is whole and self-contained; as soup."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        source = file.read()
    soup = BeautifulSoup(source, "html.parser")
    assert source.startswith("<!doctype html>")
    assert source.rstrip().endswith("</html>")
    assert soup.html["lang"] == "en"
    assert not re.search(r"https?://|@import|url\(", source)
    assert not soup.find_all(["script", "iframe", "img", "object"])
    assert all(link["href"] == "data:," for link in soup.find_all("link"))
    assert not re.search(r"\b(?:nan|inf|None)\b", soup.get_text())
    ids = [tag["id"] for tag in soup.find_all(id=True)]
    assert len(ids) == len(set(ids))
    targets = [link["href"] for link in soup.select("nav a")]
    assert targets == [f"#{section['id']}" for section in soup.select("main section")]
    for picture in soup.find_all("svg"):
        assert picture["role"] == "img"
        assert len(picture["aria-label"].split()) >= 8
    for row in soup.select("table"):
        widths = {len(line.find_all(["td", "th"])) for line in row.find_all("tr")}
        assert len(widths) == 1
        assert row.caption
    return soup


# from a folder


def test_a_folder_with_labels_gives_figures_a_lever_and_what_to_do(folder, words, capsys):
    found, page = diagnosed("docs", "--qrels", "qrels.txt", "--consumer-k", "1", "--k", "2", "--candidate-k", "4")
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[0].startswith(f"report.html: {found['diagnosis']['lever']} (dense): ")
    assert [one["name"] for one in found["systems"]] == ["BM25", DENSE, FUSED]
    assert (found["system"], found["unit"]) == (DENSE, "documents")
    assert found["collection"]["documents"] == 6
    assert found["collection"]["distinct documents"] == 5
    assert found["collection"]["same"] == 1
    assert [one[0] for one in found["queries"]["no term"]] == ["q4"]
    assert found["labels"]["absent"] == ["gone"]
    assert (found["labels"]["queries scored"], found["labels"]["unlabelled"]) == (4, 1)
    assert found["triage"]["counts"]["not indexed"] == 1
    assert found["triage"]["findings"]["q5"]["why"] == "missing: gone"
    assert {(row["metric"], row["k"]) for row in found["metrics"]} >= {("recall", 4), ("recall", 2), ("judged", 1)}
    assert all(row["interval"][0] <= row["value"] <= row["interval"][1] for row in found["metrics"])
    assert [section["id"] for section in page.select("section")] == [name for name, _, _ in SECTIONS]
    monday = [line.get_text() for line in page.select("#monday li")]
    assert monday == found["steps"]
    assert monday[0].startswith("Look for 1 judged document that the collection does not have (gone)")
    assert "1970-01-01" in page.footer.get_text()
    assert page.footer.pre.get_text().startswith("ragkit diagnose docs --qrels qrels.txt --chunking window --k 2")
    assert found["diagnosis"]["lever"] == "label more"  # one in two of the first places was never judged
    assert page.select_one("header a[href='pool.html']")


def test_what_the_report_says_is_what_the_package_computes(folder, words):
    found, _ = diagnosed("docs", "--qrels", "qrels.txt")
    material = read_material("docs", qrels="qrels.txt")
    study, _ = examine(material, vectors=embedding.with_vectors([], [], folder / ".ragkit-cache/minilm.npz"))
    assert study.value("recall", 10) == next(
        row["value"] for row in found["metrics"] if (row["system"], row["metric"], row["k"]) == (DENSE, "recall", 10)
    )
    with pytest.raises(LookupError, match="recall@7"):
        study.value("recall", 7)


def test_one_input_gives_one_report_to_the_byte(folder, words):
    files = ("report.html", "report.json")
    diagnosed("docs", "--qrels", "qrels.txt")
    before = [(folder / name).read_bytes() for name in files]
    diagnosed("docs", "--qrels", "qrels.txt")
    assert [(folder / name).read_bytes() for name in files] == before


def test_without_labels_there_is_no_lever_and_a_pool_to_label(folder, words, capsys):
    found, page = diagnosed("docs", "--k", "2", "--candidate-k", "5")
    assert found["diagnosis"] is None
    assert found["metrics"] is None
    assert "recall, precision, lever and triage" in found["not_assessed"]
    assert page.select_one("header a[href='pool.html']")
    assert found["steps"][0].startswith(f"Label the pool: {found['pool']['pairs']} pairs of 5 queries.")
    sheet = (folder / "pool.html").read_text(encoding="utf-8")
    assert f"Labels: {found['pool']['pairs']} pairs" in sheet
    assert found["overlap"][0]["a"] == "BM25"
    assert {section["id"] for section in page.select("section")} == {
        "monday", "collection", "queries", "rankers", "not-assessed",
    }  # fmt: skip
    capsys.readouterr()
    (folder / "pool.html").write_text("another pool")  # which somebody may be labelling
    diagnosed("docs", "--k", "2", "--candidate-k", "5")
    assert "was left alone" in capsys.readouterr().out
    assert (folder / "pool.html").read_text() == "another pool"


def test_a_pool_is_drawn_from_many_queries_and_always_the_same(folder, words):
    first, _ = diagnosed("docs", "--pool-queries", "2")
    sheet = (folder / "pool.html").read_bytes()
    second, _ = diagnosed("docs", "--pool-queries", "2")
    assert first["pool"] == second["pool"]
    assert (first["pool"]["queries"], first["pool"]["of"]) == (2, 5)
    assert (folder / "pool.html").read_bytes() == sheet


def test_labels_with_spans_judge_passages_of_any_chunking(folder, words):
    span = (DOCS["reset"].index("Hold"), DOCS["reset"].index(" The light"))
    labels = [
        Label("q1", "reset", 0, len(DOCS["reset"]), "relevant", span=span),
        Label("q5", "gone", 0, 9, "relevant", span=(0, 9)),
        Label("q3", "limits", 0, 20, "irrelevant"),
    ]
    write_labels("labels.jsonl", labels)
    # an answer that is in no passage is no pair of them, and a document that is not there is one of documents
    for chunking, unit, n in (("window", "passages", 1), ("sentences", "passages", 1), ("whole", "documents", 2)):
        found, _ = diagnosed("docs", "--labels", "labels.jsonl", "--chunking", chunking)
        assert found["unit"] == unit
        assert found["labels"]["relevant"] == n
        assert found["labels"]["absent"] == ["gone"]


def test_a_second_reader_makes_judgment_errors_known(folder, words):
    write_qrels("second.txt", {"q2": {"api/errors": 0}})
    qrels = {"q2": {"api/errors": 1}, "q1": {"reset": 1}}
    write_qrels("first.txt", qrels)
    write_run("bad.run", {"q1": [("reset", 1.0)], "q2": [("billing", 1.0)]}, tag="mine")
    args = ("docs", "--qrels", "first.txt", "--second", "second.txt", "--runs", "bad.run")
    found, _ = diagnosed(*args, "--chunking", "whole")
    assert found["triage"]["counts"]["judgment error"] == 1
    assert "judgment error" not in found["triage"]["not_assessed"]


def test_a_collection_of_this_book_needs_no_model(folder, monkeypatch):
    def refuse(name=None):
        raise ImportError("an encoder needs sentence-transformers")

    monkeypatch.setattr(embedding, "load_encoder", refuse)
    found, page = diagnosed("handbook", "--fail-under", "recall@50=0.5")
    corpus = load_corpus("handbook")
    assert found["system"] == DENSE
    assert found["collection"]["units"] == len(corpus.passages())
    assert len(page.select("svg")) == 3
    assert not (folder / ".ragkit-cache").exists()


# vectors


def test_without_a_model_bm25_alone_is_diagnosed_and_dense_is_not_assessed(folder, monkeypatch):
    def refuse(name=None):
        raise ImportError("an encoder needs sentence-transformers: pip install sentence-transformers")

    monkeypatch.setattr(embedding, "load_encoder", refuse)
    found, page = diagnosed("docs", "--qrels", "qrels.txt")
    assert [one["name"] for one in found["systems"]] == ["BM25"]
    assert "pip install" in found["not_assessed"]["dense retrieval, fusion and overlap"]
    assert "pip install" in page.select_one("#not-assessed").get_text()
    assert "dense ranks" in found["triage"]["not_assessed"]
    assert found["compared"] == []
    assert main(["diagnose", "docs", "--encoder", "some/model", "--out", "other.html"]) == 2
    assert not (folder / "other.html").exists()


def test_dense_can_be_left_out(folder, words):
    found, _ = diagnosed("docs", "--encoder", "none")
    assert [one["name"] for one in found["systems"]] == ["BM25"]
    assert words.seen == []


def test_a_killed_run_goes_on_where_it_stopped(folder, monkeypatch):
    monkeypatch.setattr(embedding, "BLOCK", 2)
    monkeypatch.setattr(embedding.with_vectors, "__defaults__", (None, None, 2))
    first = Words(most=4)
    monkeypatch.setattr(embedding, "load_encoder", lambda name=None: first)
    assert main(["diagnose", "docs", "--out", "report.html"]) == 130
    assert sorted(path.name for path in folder.iterdir()) == [".ragkit-cache", "docs", "qrels.txt"]
    cache = folder / ".ragkit-cache/minilm.npz"
    assert len(CachedEncoder.load(cache)) == 4
    second = Words()
    monkeypatch.setattr(embedding, "load_encoder", lambda name=None: second)
    diagnosed("docs")
    assert not set(first.seen) & set(second.seen)
    assert len(first.seen) + len(second.seen) == len(CachedEncoder.load(cache)) == 5 + len(QUERIES)  # a twin is one
    third = Words(most=0)
    monkeypatch.setattr(embedding, "load_encoder", lambda name=None: third)
    diagnosed("docs")
    assert sorted(path.name for path in cache.parent.iterdir()) == ["minilm.npz"]


def test_vectors_can_lie_elsewhere_and_belong_to_one_model(folder, words, capsys):
    diagnosed("docs", "--vectors", "mine.npz")
    assert len(CachedEncoder.load(folder / "mine.npz")) == 5 + len(QUERIES)
    assert not (folder / ".ragkit-cache").exists()
    assert main(["diagnose", "docs", "--vectors", "mine.npz", "--encoder", "other", "--out", "b.html"]) == 2
    assert "mine.npz holds vectors of words, and the encoder is other" in capsys.readouterr().err
    words.record = {**words.record, "weights": "others"}
    (folder / "docs/new.md").write_text("A new page.")
    assert main(["diagnose", "docs", "--vectors", "mine.npz", "--out", "b.html"]) == 2
    assert "Give --vectors another file, or delete this one" in capsys.readouterr().err
    (folder / "mine.npz").write_bytes(b"PK no archive")
    assert main(["diagnose", "docs", "--vectors", "mine.npz", "--out", "b.html"]) == 2
    assert "Delete it, and its texts are encoded again" in capsys.readouterr().err


def test_what_the_window_cuts_is_counted(folder, words):
    (folder / "docs/long.md").write_text("# Long\n\n" + "many words of one page " * 100)
    found, _ = diagnosed("docs", "--chunking", "whole")
    window = found["collection"]["window"]
    assert (window["cut"], window["longest"][0], window["counted by"]) == (1, ["long", 502], "the model")
    assert any("with --chunking window" in step for step in found["steps"])


# from runs


RUNS = {
    "bm25": {"q1": [("reset", 2.0), ("limits", 1.0)], "q2": [("api/errors", 3.0)], "q3": [("limits", 1.0)]},
    "minilm": {"q1": [("limits", 0.9), ("reset", 0.8)], "q2": [("billing", 0.5)], "q3": [("api/paging", 0.4)]},
}


@pytest.fixture
def runs(folder):
    for name, run in RUNS.items():
        write_run(f"{name}.run", run, tag=name)
    return folder


def test_runs_alone_are_diagnosed(runs):
    found, page = diagnosed("--runs", "minilm.run", "bm25.run", "--qrels", "qrels.txt")
    assert found["system"] == "minilm"
    assert {one["name"]: one["family"] for one in found["systems"]} == {"minilm": "dense", "bm25": "lexical"}
    assert found["collection"] is None
    assert found["triage"] is None
    expected = recall_at_k(RUNS["minilm"], QRELS, 5)
    row = next(row for row in found["metrics"] if (row["system"], row["metric"], row["k"]) == ("minilm", "recall", 5))
    assert row["value"] == float(expected)
    assert row["interval"] == list(expected.interval)
    assert found["labels"]["missing"] == ["q5"]
    assert "Not assessed" in page.get_text()
    assert "texts: chunking, window, twins, queries, triage" in found["not_assessed"]


def test_runs_without_labels_still_overlap(runs):
    found, _ = diagnosed("--runs", "minilm.run", "bm25.run")
    assert [row["shared"] for row in found["overlap"] if row["k"] == 5] == [pytest.approx(0.4 / 3)]
    assert found["overlap"][0]["apart"] == 2
    assert found["pool"] is None


def test_runs_with_their_documents_are_triaged_and_named_by_the_reader(runs):
    args = ("docs", "--runs", "new=minilm.run", "--qrels", "qrels.txt", "--candidate-k", "10", "--system", "new")
    found, _ = diagnosed(*args)
    assert [one["name"] for one in found["systems"]] == ["new", "BM25"]  # ours, since none of theirs is lexical
    assert found["triage"]["findings"]["q2"]["bucket"] == "lexical finds it"


def test_a_run_of_passages_is_folded_where_documents_are_judged(runs):
    write_run("passages.run", {"q1": [("limits#1", 2.0), ("reset#1", 1.0)]}, tag="passages")
    found, _ = diagnosed("docs", "--runs", "passages.run", "--qrels", "qrels.txt", "--system", "passages")
    assert found["unit"] == "documents"
    row = next(row for row in found["metrics"] if (row["system"], row["metric"]) == ("passages", "mrr"))
    assert row["value"] == 0.5 / 4


def test_a_run_that_finds_more_is_named(runs):
    qrels = {f"q{n}": {"d1": 1} for n in range(40)}
    write_qrels("many.txt", qrels)
    write_run("poor.run", {qid: [("d2", 1.0)] for qid in qrels}, tag="poor")
    write_run("good.run", {qid: [("d1", 1.0)] for qid in qrels}, tag="good")
    found, _ = diagnosed("--runs", "poor.run", "good.run", "--qrels", "many.txt")
    assert any(step.startswith("Diagnose good too (--system “good”)") for step in found["steps"])
    better, _ = diagnosed("--runs", "poor.run", "good.run", "--qrels", "many.txt", "--system", "good")
    assert better["diagnosis"]["lever"] == "leave it"


def test_latency_is_assessed_where_both_times_are_given(runs):
    args = ("--runs", "minilm.run", "--qrels", "qrels.txt")
    assert diagnosed(*args)[0]["diagnosis"]["pairs"] is None
    found, page = diagnosed(*args, "--budget-ms", "40", "--rerank-ms-per-pair", "2")
    assert found["diagnosis"]["pairs"] == 20
    assert "20 pairs fit the budget" in page.get_text()


# bounds


def test_fail_under_gives_status_1_and_a_line(folder, words, capsys):
    args = ["docs", "--qrels", "qrels.txt", "--fail-under", "recall@3=0.99", "--fail-under", "ndcg@10=0"]
    diagnosed(*args, status=1)
    err = capsys.readouterr().err
    assert re.fullmatch(r"ragkit: recall@3 of dense is 0\.\d{4}, under 0\.99\n", err)
    diagnosed("docs", "--qrels", "qrels.txt", "--fail-under", "recall@3=0.1", status=0)


@pytest.mark.parametrize("text", ["recall", "recall@0=0.5", "recall@10=80", "mrr@10=0.5", "recall@10=x", "=0.5"])
def test_a_bound_that_says_nothing_is_refused(text):
    with pytest.raises(ValueError, match="expected METRIC@K=VALUE"):
        bound(text)
    assert bound("ndcg@10=.65") == Bound("ndcg", 10, 0.65)


# errors


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "nothing to diagnose: give a folder"),
        (["nowhere/at/all.md"], "nowhere/at/all.md"),
        (["empty"], "looked for corpus.jsonl"),
        (["silent"], "silent: there are documents and no queries. Put queries.tsv"),
        (["docs", "--queries", "bad.tsv"], "bad.tsv line 2: 'no tab here', expected query-id, tab, text"),
        (["docs", "--queries", "none.tsv"], "there is no file none.tsv"),
        (["docs", "--qrels", "bad.txt"], "bad.txt line 1: the grade is 'yes'"),
        (["docs", "--qrels", "irrelevant.txt"], "irrelevant.txt: none of the 1 queries has a document of grade 1"),
        (["docs", "--qrels", "strange.txt"], "strange.txt: none of its 1 ids is in the collection: it has 'x99'"),
        (["docs", "--labels", "bad.jsonl"], "bad.jsonl line 1: not JSON"),
        (
            ["docs", "--labels", "behind.jsonl"],
            "behind.jsonl: query 'q1', document 'reset' from 0 to 900 ends behind",
        ),
        (["docs", "--labels", "passages.jsonl"], "passages.jsonl: none of its 1 labels is of a document of docs"),
        (["docs", "--labels", "no.jsonl"], "no.jsonl: none of its 1 labels is relevant"),
        (["docs", "--labels", "sheet.html"], "sheet.html: an HTML sheet keeps its labels in the browser"),
        (["docs", "--second", "qrels.txt"], "--second qrels.txt: there is no first reader"),
        (["docs", "--runs", "bad.run"], "bad.run line 1: 3 fields, expected 6"),
        (["docs", "--runs", "strange.run"], "the run strange: none of its 1 ids is in the collection"),
        (["docs", "--runs", "a=good.run", "a=good.run"], "good.run is given twice"),
        (["docs", "--system", "nobody"], "--system nobody: there is no such run. There is BM25"),
        (["--runs", "good.run", "--labels", "no.jsonl"], "--labels no.jsonl: labels are of documents"),
        (["--runs", "good.run", "--queries", "bad.tsv"], "--queries bad.tsv: without documents"),
        (["--runs", "good.run", "--second", "qrels.txt"], "--second qrels.txt: a triage needs the documents"),
        (["--runs", "good.run", "--qrels", "strange.txt"], "none of its 1 judged ids is in a run: good has"),
        (["docs", "--k", "0"], "--k: k is 0"),
        (["docs", "--candidate-k", "3"], "--candidate-k is 3: fewer than what is read, 10"),
        (["docs", "--qrels", "qrels.txt", "--budget-ms", "-1"], "budget_ms is -1.0"),
        (["docs", "--fail-under", "recall@10=0.5"], "--fail-under needs labels"),
        (["docs", "--qrels", "qrels.txt", "--fail-under", "recall"], "expected METRIC@K=VALUE"),
        (["docs", "--json", "no/such/a.json"], "there is no folder"),
        (["docs", "--json", "report.html"], "--out and --json are both report.html"),
        (["docs", "--qrels", "qrels.txt", "--json", "qrels.txt"], "qrels.txt would write over an input"),
        (["handbook", "--queries", "bad.tsv"], "handbook has queries of its own"),
    ],
)
def test_an_error_is_one_line_with_file_and_remedy_and_leaves_nothing_behind(folder, words, capsys, args, message):
    (folder / "empty").mkdir()
    (folder / "silent").mkdir()
    (folder / "silent/a.md").write_text("A page.")
    (folder / "bad.tsv").write_text("q1\ta query\nno tab here\n")
    (folder / "bad.txt").write_text("q1 0 d1 yes\n")
    (folder / "irrelevant.txt").write_text("q1 0 reset 0\n")
    (folder / "strange.txt").write_text("q1 0 x99 1\n")
    (folder / "bad.jsonl").write_text("{\n")
    (folder / "sheet.html").write_text("<!doctype html>")
    write_labels("behind.jsonl", [Label("q1", "reset", 0, 900, "relevant", span=(0, 900))])
    write_labels("passages.jsonl", [Label("q1", "reset#1", 0, 9, "relevant", span=(0, 9))])
    write_labels("no.jsonl", [Label("q1", "reset", 0, 9, "irrelevant")])
    (folder / "bad.run").write_text("q1 Q0 d1\n")
    (folder / "strange.run").write_text("q1 Q0 x99 1 2.0 strange\n")
    (folder / "good.run").write_text("q1 Q0 reset 1 2.0 good\n")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert main(["diagnose", *args, "--out", "report.html"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("ragkit: ")
    assert message in err
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {path: text for path, text in after.items() if path.parent.name != ".ragkit-cache"} == before


def test_the_report_must_be_a_page_and_the_date_a_number(folder, capsys, monkeypatch):
    assert main(["diagnose", "docs", "--out", "report.pdf"]) == 2
    assert "--out report.pdf: a report is one HTML page" in capsys.readouterr().err
    (folder / "a.html").mkdir()
    assert main(["diagnose", "docs", "--out", "a.html"]) == 2
    assert "a.html is a folder" in capsys.readouterr().err
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    assert main(["diagnose", "docs", "--out", "report.html"]) == 2
    assert "SOURCE_DATE_EPOCH is 'today'" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_leaves_the_old_one(folder, words, monkeypatch, capsys):
    diagnosed("docs", "--qrels", "qrels.txt")
    before = (folder / "report.html").read_bytes()
    monkeypatch.setattr("ragkit.diagnosis.undertaken.report_html", lambda *given: "half of it\udcff")  # no UTF-8
    assert main(["diagnose", "docs", "--qrels", "qrels.txt", "--out", "report.html"]) == 2
    assert (folder / "report.html").read_bytes() == before
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".report")]


# pieces


def test_texts_are_escaped(folder, words):
    (folder / "docs/<b>.md").write_text("# <script>alert(1)</script> & more\n\nxyzzy <img src=x>")
    (folder / "docs/queries.tsv").write_text("q<i>\t<script>alert(2)</script>\nq1\treset\n")
    (folder / "bold.txt").write_text("q<i> 0 <u>gone</u> 1\nq1 0 reset 1\n")
    _, page = diagnosed("docs", "--qrels", "bold.txt", "--chunking", "whole")
    assert not page.find_all(["b", "i", "u"])
    assert "<u>gone</u>" in page.get_text()


def test_a_section_can_be_shown_alone():
    study, _ = examine(read_material("handbook"), Settings(k=5))
    assert section_html(study, "plane").count("<svg") == 1
    assert section_html(study, "collection") in report_html(study)
    with pytest.raises(KeyError, match="no section 'all'"):
        section_html(study, "all")


def test_nothing_to_do_is_said():
    nothing = dict.fromkeys(("diagnosis", "pool", "queries", "collection", "compared", "labels", "triage"))
    assert next_steps({**nothing, "systems": [], "system": "a"}) == []


def test_names_in_the_plane_do_not_touch():
    points = [
        {"system": f"s{n}", "recall": 0.9, "interval": None, "share": 0.8, "enough": [0.9, 0.9]} for n in range(5)
    ]
    soup = BeautifulSoup(drawing.plane(points, {f"s{n}": "dense" for n in range(5)}, (50, 5)), "html.parser")
    heights = sorted(
        float(text["y"]) for text in soup.find_all("text") if text.get_text() in {f"s{n}" for n in range(5)}
    )
    assert len(heights) == 5
    assert min(b - a for a, b in pairwise(heights)) >= 18 - 1e-9


def test_the_kind_of_a_run_is_read_from_its_name():
    names = ("BM25", "Lucene-8", "minilm", "rrf60", "Hybrid v2", "run-3")
    assert [family(name) for name in names] == ["lexical", "lexical", "dense", "fused", "fused", "dense"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("ab ", max_size=30), max_size=8))
def test_near_duplicates_are_those_of_the_slow_way(texts):
    docs = {f"d{n}": text for n, text in enumerate(texts)}
    found = find_twins(docs)
    alone = {name: text for name, text in docs.items() if text.strip()}
    for group in found.same:
        assert len({" ".join(docs[name].split()) for name in group}) == 1
        for name in group[1:]:
            del alone[name]
    slow = {frozenset((pair.first, pair.second)) for pair in near_duplicates(alone, share=0.8)}
    together = {frozenset((a, b)) for group in found.near for a in group for b in group if a != b}
    assert slow <= together  # closed over chains, so there may be more
    assert {name for group in found.near for name in group} == {name for pair in slow for name in pair}


def test_a_footer_on_every_page_makes_no_twins():
    footer = " see the terms of use and the privacy policy of this site"
    docs = {f"d{n}": " ".join(f"w{n}x{i}" for i in range(40)) + footer for n in range(3 * COMMON)}
    assert find_twins(docs) == ((), ())
    alike = {f"d{n}": f"page {n} " + " ".join(f"w{i}" for i in range(60)) for n in range(3 * COMMON)}
    [group] = find_twins(alike).near
    assert len(group) == 3 * COMMON


def test_it_stands_in_the_help_and_costs_nothing_before_it_is_used():
    done = subprocess.run([sys.executable, "-m", "ragkit", "--help"], capture_output=True, text=True, check=True)
    assert "diagnose" in done.stdout.split()
    code = "import sys, ragkit.diagnosis.undertaken; print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
    assert import_module("ragkit.diagnosis.undertaken").undertake
