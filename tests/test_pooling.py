"""What hangs on who was in the pool; how far a mean moves; answers held against recall."""

import pickle
from math import isnan
from random import Random

import numpy as np
import pytest

from ragkit import load_corpus, qrels_from_labels, recall_at_k
from ragkit.corpora import constructed
from ragkit.measure.answers import ceiling, read_answers
from ragkit.measure.pooling import leave_one_out, recall_bounds
from ragkit.measure.runs import Mean
from ragkit.measure.shifts import shift
from ragkit.teach import recall_views

RUNS = {
    "a": {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5"], "q3": ["d6"]},
    "b": {"q1": ["d2", "d9", "d1"], "q2": ["d5", "d7"], "q3": ["d8"]},
}
QRELS = {"q1": {"d1": 1, "d2": 0, "d9": 0}, "q2": {"d4": 1, "d5": 1, "d7": 0}, "q3": {"d6": 1, "d8": 0, "d0": 0}}

# the pool


def test_labels_that_one_run_alone_brought_go_and_the_others_stay():
    found = leave_one_out(RUNS, QRELS, k=2)
    assert found["a"].removed == (("q1", "d1"), ("q2", "d4"), ("q3", "d6"))
    assert found["b"].removed == (("q1", "d9"), ("q2", "d7"), ("q3", "d8"))  # d0, found in another way, stays


def test_a_run_loses_hits_and_its_queries_leave_the_denominator_of_all():
    out = leave_one_out(RUNS, QRELS, k=2)["a"]
    assert out.emptied == ("q1", "q3")
    assert (out.before["a"], out.before["a"].n) == (1.0, 3)
    assert dict(out.after["a"].values) == {"q2": 1.0}  # by d5, which b brought as well
    assert out.after["b"] > out.before["b"]  # the same ranking


def test_a_label_in_no_top_k_makes_a_miss_of_what_was_a_hit():
    qrels = {**QRELS, "q3": {"d6": 1, "d0": 1}}
    out = leave_one_out(RUNS, qrels, k=2)["a"]
    assert out.after["a"].values["q3"] == 0.0
    assert "q3" not in out.emptied


def test_leaving_out_is_right_on_random_runs():
    random = Random(9)
    ids = [f"d{number}" for number in range(12)]
    for _ in range(50):
        runs = {name: {qid: random.sample(ids, 5) for qid in ("q1", "q2", "q3")} for name in "abc"}
        qrels = {qid: {doc: random.randint(0, 1) for doc in random.sample(ids, 9)} | {"x": 1} for qid in runs["a"]}
        for out, found in leave_one_out(runs, qrels, k=3).items():
            seen = {
                (q, doc) for name in runs if name != out for q, ranking in runs[name].items() for doc in ranking[:3]
            }
            own = {(q, doc) for q, ranking in runs[out].items() for doc in ranking[:3]}
            gone = {(q, doc) for q in qrels for doc in qrels[q] if (q, doc) in own - seen}
            assert set(found.removed) == gone
            kept = {q: {doc: g for doc, g in qrels[q].items() if (q, doc) not in gone} for q in qrels}
            assert found.after == {name: recall_at_k(run, kept, 3) for name, run in runs.items()}


def test_what_cannot_be_left_out_is_refused():
    with pytest.raises(ValueError, match="two or more"):
        leave_one_out({"a": RUNS["a"]}, QRELS)
    with pytest.raises(ValueError, match="1 or more"):
        leave_one_out(RUNS, QRELS, k=0)


def test_recall_of_a_newcomer_lies_between_its_bounds():
    newcomer = {"q1": ["n1", "d1"], "q2": ["d7", "n2"], "q3": ["d8"]}
    least, most = recall_bounds(newcomer, QRELS, k=2)
    assert dict(least.values) == {"q1": 1.0, "q2": 0.0, "q3": 0.0}
    assert dict(most.values) == {"q1": 1.0, "q2": 1.0, "q3": 0.0}  # d8 was read, and is not relevant


def test_a_run_whose_top_was_read_has_one_recall():
    least, most = recall_bounds(RUNS["b"], QRELS, k=2)
    assert least == most
    assert least.n == 3


# shifts


def test_a_shift_says_who_entered_and_who_left():
    moved = shift(Mean({"q1": 1.0, "q2": 0.0}), Mean({"q2": 1.0, "q3": 1.0}))
    assert (float(moved), moved.entered, moved.dropped) == (0.5, ("q3",), ("q1",))
    assert pickle.loads(pickle.dumps(moved)).after == moved.after


def test_nothing_that_changes_has_an_interval_of_nothing():
    same = Mean({f"q{number}": float(number % 2) for number in range(20)})
    assert shift(same, same).interval == (0.0, 0.0)
    one = Mean({"q1": 1.0})
    assert all(isnan(end) for end in shift(one, one).interval)


def test_on_the_same_queries_the_interval_is_that_of_the_paired_differences():
    random = np.random.default_rng(3)
    before = Mean({f"q{n}": float(value) for n, value in enumerate(random.integers(0, 2, 80))})
    after = Mean({f"q{n}": float(value) for n, value in enumerate(random.integers(0, 2, 80))})
    differences = Mean({qid: after.values[qid] - value for qid, value in before.values.items()})
    assert shift(before, after).interval == pytest.approx(differences.interval, abs=0.02)


def test_the_interval_covers_a_shift_of_the_denominator():
    """Sets from a population whose shift is known: about 95 in 100 intervals hold it."""
    random, held = np.random.default_rng(5), 0
    for _ in range(60):
        inside, hit = random.random(120) < 0.75, random.random(120) < 0.6
        values = {f"q{n}": float(one) for n, one in enumerate(hit & inside)}
        scored = Mean({qid: value for (qid, value), one in zip(values.items(), inside, strict=True) if one})
        low, high = shift(scored, Mean(values)).interval
        held += low <= -0.6 * 0.25 <= high
    assert held >= 51


# answers


def test_a_rate_below_recall_may_hide_an_answer_without_evidence():
    runs = {"q1": ["d1"], "q2": ["d2"], "q3": ["x"], "q4": ["y"]}
    qrels = {"q1": {"d1"}, "q2": {"d2"}, "q3": {"d3"}, "q4": set()}
    found = ceiling({"q1": False, "q2": False, "q3": True, "q4": True}, runs, qrels, k=1)
    assert found.rate < found.recall
    assert (found.unused, found.missed, found.elsewhere, found.ignored) == (("q1", "q2"), (), ("q3",), ("q4",))
    assert not found.bounded
    assert "no evidence, and answered" in repr(found)
    assert "q4" in repr(found)


def test_figures_over_different_queries_are_refused():
    with pytest.raises(ValueError, match="1 of the 2 queries that recall counts have no answer, the first is 'q2'"):
        ceiling({"q1": True}, {"q1": ["d1"], "q2": ["d2"]}, {"q1": {"d1"}, "q2": {"d2"}}, k=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1\t1\nq2 0\n", "line 2: 'q2 0'"),
        ("q1\tyes\n", "line 1"),
        ("\t1\n", "line 1"),
        ("q1\t1\nq1\t0\n", "line 2: query 'q1' stands twice"),
    ],
)
def test_a_file_of_answers_names_its_faults(tmp_path, text, message):
    (tmp_path / "answers.tsv").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_answers(tmp_path / "answers.tsv")


def test_a_file_of_answers_is_read(tmp_path):
    (tmp_path / "answers.tsv").write_bytes("\ufeffq1\t1\r\n007\t0\r\n\r\n".encode())
    assert read_answers(tmp_path / "answers.tsv") == {"q1": True, "007": False}


# what the chapter's views read off


def test_the_places_of_the_views_give_the_measures():
    from ragkit import coverage_at_k
    from ragkit.measure.runs import join

    table = recall_views.Table(*constructed.five_queries())
    places = recall_views._places(join(table.runs, table.qrels))
    for k in (1, 2, 4, 7, 10):
        assert recall_views._mean(places, k) == recall_at_k(table.runs, table.qrels, k)
        assert recall_views._mean(places, k, share=True) == coverage_at_k(table.runs, table.qrels, k)


def test_the_labels_of_the_handbook_know_their_pool():
    """Both rankers were in it; so without either some labels go, and the other's figure cannot lose a hit."""
    corpus = load_corpus("handbook")
    passages = corpus.passages()
    from ragkit import BM25Index, DenseIndex

    runs = {
        "BM25": BM25Index.build(passages).run(corpus.queries, k=10),
        "MiniLM": DenseIndex.build(passages, corpus.vectors).run(corpus.queries, k=10),
    }
    for out, found in leave_one_out(runs, qrels_from_labels(corpus.labels, passages.origin)).items():
        [other] = set(runs) - {out}
        assert found.removed
        assert sum(found.after[other].values.values()) == sum(found.before[other].values.values())
        assert found.after[out] < found.before[out]
