"""`ragkit evaluate` and `ragkit compare`: runs and judgments in; a table, JSON, and a table query by query out."""

import csv
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from ragkit import compare, ndcg_at_k, read_qrels, read_run, recall_at_k, write_qrels, write_run
from ragkit.__main__ import main

QRELS = {
    "q1": {"d1": 1, "d2": 0},
    "q2": {"d3": 2, "d4": 1},
    "q3": {"d5": 1},
    "q4": {"d6": 1},
    "q5": {"d7": 0},  # nothing relevant
}
TODAY = {
    "q1": [("d1", 3.0), ("d2", 2.0)],
    "q2": [("d8", 3.0), ("d3", 2.5), ("d4", 1.0)],
    "q3": [("d5", 2.0), ("d1", 1.0)],
    "q5": [("d1", 1.0)],
    "q9": [("d1", 1.0)],  # nobody labelled it
}
LAST_MONTH = {
    "q1": [("d2", 3.0), ("d9", 2.0)],
    "q2": [("d3", 3.0), ("d8", 2.5)],
    "q3": [("d1", 2.0), ("d8", 1.0)],
    "q4": [("d6", 2.0)],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_qrels("qrels.txt", QRELS)
    write_run("today.run", TODAY, tag="bm25")
    write_run("last-month.run", LAST_MONTH, tag="bm25")
    write_run("dense.run", {"q1": [("d1", 0.5)], "q4": [("d6", 0.4)]}, tag="dense")
    return tmp_path


def table(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_evaluate_prints_each_metric_with_its_k_its_interval_and_what_was_left_out(folder, capsys):
    assert main(["evaluate", "today.run", "--qrels", "qrels.txt", "--k", "2", "1"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    title, head, *lines = out.splitlines()
    assert title == "bm25 (today.run) by qrels.txt: 4 queries with a relevant document"
    assert head.split() == ["metric", "k", "value", "95", "%", "interval", "hits"]
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in lines if " to " in line}
    assert list(rows)[:2] == [("recall", "1"), ("recall", "2")]
    assert {metric for metric, _ in rows} == {"recall", "coverage", "precision", "ndcg", "judged", "mrr", "map"}
    found = recall_at_k(read_run("today.run"), read_qrels("qrels.txt"), k=2)
    low, high = found.interval
    assert rows["recall", "2"] == ["0.7500", f"{low:.4f}", "to", f"{high:.4f}", "3", "of", "4"]
    assert rows["mrr", "all"][0] == "0.6250"
    assert lines[-3:] == [
        "left out, nothing relevant: 1 (q5)",
        "missing from the run, counted as 0: 1 (q4)",
        "without labels, ignored: 1 (q9)",
    ]


def test_evaluate_says_where_lists_are_too_short(folder, capsys):
    assert main(["evaluate", "today.run", "dense.run", "--qrels", "qrels.txt", "--k", "50"]) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert "no list is longer than 3: figures at a larger k may be too low" in first
    assert second.startswith("dense (dense.run)")
    assert "no list is longer than 1" in second


def test_evaluate_gives_json(folder, capsys):
    assert main(["evaluate", "today.run", "last-month.run", "--qrels", "qrels.txt", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [run["run"] for run in found["runs"]] == ["today.run", "last-month.run"]  # one tag: told apart by file
    today = found["runs"][0]
    assert (today["queries"], today["left_out"], today["missing"], today["unlabelled"]) == (4, ["q5"], ["q4"], ["q9"])
    [ndcg] = [one for one in today["metrics"] if (one["metric"], one["k"]) == ("ndcg", 10)]
    expected = ndcg_at_k(read_run("today.run"), read_qrels("qrels.txt"), k=10)
    assert (ndcg["value"], tuple(ndcg["interval"])) == (float(expected), expected.interval)
    assert {one["k"] for one in today["metrics"]} == {5, 10, 50, None}


def test_evaluate_writes_every_query(folder, capsys):
    args = ["evaluate", "today.run", "last-month.run", "--qrels", "qrels.txt", "--k", "2", "--per-query", "all.tsv"]
    assert main(args) == 0
    rows = table("all.tsv")
    assert [(row["run"], row["query"]) for row in rows[:5]] == [("today.run", f"q{n}") for n in range(1, 6)]
    assert [row["recall@2"] for row in rows[:5]] == ["1", "1", "1", "0", ""]
    assert [row["note"] for row in rows[:5]] == ["", "", "", "missing from the run", "nothing relevant"]
    assert (rows[1]["precision@2"], rows[1]["mrr"]) == ("0.5", "0.5")
    assert len(rows) == 10
    assert main(args) == 0  # what a command made, it makes again


def test_qrels_of_relevant_documents_alone_have_no_share_of_judged_ones(folder, capsys):
    write_qrels("relevant.txt", {"q1": {"d1": 1}})
    assert main(["evaluate", "today.run", "--qrels", "relevant.txt"]) == 0
    out = capsys.readouterr().out
    assert "judged" not in out
    assert "without labels, ignored: 4 (q2, q3, q5, q9)" in out


def test_qrels_of_beir_are_read(folder, capsys):
    (folder / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    assert main(["evaluate", "today.run", "--qrels", "test.tsv", "--k", "1"]) == 0
    assert "recall         1   1.0000" in capsys.readouterr().out


def test_compare_holds_today_s_run_against_last_month_s(folder, capsys):
    assert main(["compare", "today.run", "last-month.run", "--qrels", "qrels.txt", "--k", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    names = ("today.run", "last-month.run")
    shown = compare(read_run("today.run"), read_run("last-month.run"), read_qrels("qrels.txt"), 2, names=names)
    assert out.startswith(repr(shown))
    lines = out.splitlines()
    assert "today.run − last-month.run in other metrics, paired, with 95 % intervals" in lines
    assert [line.split()[:3] for line in lines if line.startswith("ndcg")] == [["ndcg", "2", "+0.1799"]]
    assert lines[-4:] == [
        "only today.run hits: 2 (q1, q3)",
        "only last-month.run hits: 1 (q4)",
        "left out, nothing relevant: 1 (q5)",
        "missing from today.run, counted as misses: 1 (q4)",
    ]


def test_compare_adjusts_for_several_pairs(folder, capsys):
    runs = ["today.run", "last-month.run", "dense.run"]
    assert main(["compare", *runs, "--qrels", "qrels.txt", "--json", "--per-query", "pairs.tsv"]) == 0
    found = json.loads(capsys.readouterr().out)
    pairs = found["pairs"]
    assert [(one["a"], one["b"]) for one in pairs] == [(runs[0], runs[1]), (runs[0], runs[2]), (runs[1], runs[2])]
    assert pairs[0]["only_a"] == ["q1", "q3"]
    assert (pairs[0]["p"], pairs[0]["p_holm"], pairs[0]["k"], pairs[0]["queries"]) == (1.0, 1.0, 10, 4)
    assert pairs[0]["left_out"] == ["q5"]
    assert all(low <= one["difference"] <= high for one in pairs for low, high in [one["interval"]])
    rows = table("pairs.tsv")
    assert len(rows) == 3 * 5
    assert [row["hit by"] for row in rows[:5]] == ["only a", "both", "only a", "only b", "nothing relevant"]
    assert main(["compare", *runs, "--qrels", "qrels.txt"]) == 0
    assert "4 queries, 3 pairs; p: McNemar, exact, and after Holm" in capsys.readouterr().out


def test_long_lists_of_ids_are_cut_in_the_table_and_whole_in_json(folder, capsys):
    many = {f"q{number:02}": {"d1": 1} for number in range(30)}
    write_qrels("many.txt", many)
    write_run("hits.run", {qid: [("d1", 1.0)] for qid in many}, tag="hits")
    write_run("misses.run", {qid: [("d2", 1.0)] for qid in many}, tag="misses")
    assert main(["compare", "hits.run", "misses.run", "--qrels", "many.txt"]) == 0
    assert "only hits hits: 30 (q00, " in (out := capsys.readouterr().out)
    assert "q11 and 18 more)" in out
    assert main(["compare", "hits.run", "misses.run", "--qrels", "many.txt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"][0]["only_a"] == list(many)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["evaluate", "no.run", "--qrels", "qrels.txt"], "there is no file no.run"),
        (["evaluate", "bad.run", "--qrels", "qrels.txt"], "bad.run line 2: 3 fields, expected 6"),
        (["evaluate", "today.run", "--qrels", "bad.txt"], "bad.txt line 1: the grade is 'yes'"),
        (["evaluate", "today.run", "--qrels", "today.run"], "today.run line 1: 6 fields, expected 4"),
        (
            ["evaluate", "today.run", "--qrels", "none.txt"],
            "none.txt: none of the 1 queries has a document of grade 1",
        ),
        (["evaluate", "other.run", "--qrels", "qrels.txt"], "other.run: the run answers none of the 4 queries"),
        (["evaluate", "today.run", "--qrels", "qrels.txt", "--k", "0"], "k is 0"),
        (["evaluate", "today.run", "today.run", "--qrels", "qrels.txt"], "today.run is given twice"),
        (["evaluate", "today.run", "--qrels", "qrels.txt", "--per-query", "qrels.txt"], "would write over an input"),
        (["evaluate", "today.run", "--qrels", "qrels.txt", "--per-query", "no/such/a.tsv"], "no/such"),
        (["compare", "today.run", "--qrels", "qrels.txt"], "1 run given, and a comparison needs two or more"),
        (["compare", "today.run", "other.run", "--qrels", "qrels.txt"], "other: the run answers none"),
        (["compare", "today.run", "dense.run", "--qrels", "qrels.txt", "--k", "-1"], "k is -1"),
        (["compare", "today.run", "dense.run", "--qrels", "none.txt"], "none.txt: none of the 1 queries"),
    ],
)
def test_an_error_is_one_line_with_the_file_and_leaves_nothing_behind(folder, capsys, args, message):
    (folder / "bad.run").write_text("q1 Q0 d1 1 2.0 a\nq1 0 d1\n")
    (folder / "bad.txt").write_text("q1 0 d1 yes\n")
    (folder / "none.txt").write_text("q1 0 d1 0\n")
    (folder / "other.run").write_text("x1 Q0 d1 1 2.0 other\n")
    before = {path: path.read_bytes() for path in folder.rglob("*")}
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("ragkit: ")
    assert message in err
    assert {path: path.read_bytes() for path in folder.rglob("*")} == before


def test_qrels_must_be_named(folder, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["compare", "today.run", "dense.run"])
    assert stopped.value.code == 2
    assert "--qrels" in capsys.readouterr().err


def test_recall_never_falls_in_k(folder, capsys):
    assert main(["evaluate", "today.run", "--qrels", "qrels.txt", "--json", "--k", "1", "2", "3", "4"]) == 0
    metrics = json.loads(capsys.readouterr().out)["runs"][0]["metrics"]
    recalls = [one["value"] for one in metrics if one["metric"] == "recall"]
    assert all(a <= b for a, b in pairwise(recalls))


def test_they_stand_in_the_help():
    done = subprocess.run([sys.executable, "-m", "ragkit", "--help"], capture_output=True, text=True, check=True)
    assert {"evaluate", "compare"} <= set(done.stdout.split())
    told = subprocess.run(
        [sys.executable, "-m", "ragkit", "compare", "--help"], capture_output=True, text=True, check=True
    )
    assert "ragkit compare today.run last-month.run" in " ".join(told.stdout.split())
