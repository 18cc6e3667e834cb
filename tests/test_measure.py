"""The measures: values worked out by hand, the same values as trec_eval's, and what is refused."""

import copy
import pickle
import sys
from itertools import pairwise
from math import isnan, log2, nan

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import ragkit
from ragkit import Hit, Mean, Run, fold, per_query, rank
from ragkit.corpora.chunks import Passages, characters
from ragkit.ranking import Hits

approx = pytest.approx
quick = settings(deadline=None, derandomize=True, max_examples=70)

AT_K = ("recall_at_k", "coverage_at_k", "precision_at_k", "distinct_at_k", "judged_at_k")
AT_K_OR_ALL = ("reciprocal_rank", "average_precision", "ndcg_at_k")
ALL = [getattr(ragkit, name) for name in AT_K + AT_K_OR_ALL]
recall_at_k, coverage_at_k, precision_at_k, distinct_at_k, judged_at_k = ALL[:5]
reciprocal_rank, average_precision, ndcg_at_k = ALL[5:]

each_measure = pytest.mark.parametrize("measure", ALL, ids=lambda measure: measure.__name__)

# the table of chapter 09


def others(n):
    return [f"x{number}" for number in range(n)]


RUN = {
    "q1": ["d10", *others(9)],
    "q2": [*others(3), "d20", *others(12)[3:9]],
    "q3": [*others(9), "d30", "d31"],
    "q4": ["x0", "d40", "x1", "x2", "d41", *others(8)[3:]],
    "q5": ["d61", "d62", *others(8)],
    "q6": others(10),
}
QRELS = {
    "q1": {"d10"},
    "q2": {"d20"},
    "q3": {"d30", "d31"},
    "q4": {"d40", "d41", "d42"},
    "q5": {"d60"},
    "q6": set(),
}


def test_four_of_five_queries_hit():
    recall = recall_at_k(RUN, QRELS, k=10)
    assert recall == 0.8
    assert recall.values == {"q1": 1, "q2": 1, "q3": 1, "q4": 1, "q5": 0}
    assert (recall.n, recall.left_out, recall.missing, recall.unlabelled) == (5, ("q6",), (), ())
    assert str(recall) == repr(recall) == f"{recall}" == "0.80 (4 of 5; 1 left out: nothing relevant)"


def test_the_other_measures_of_the_table():
    assert per_query(coverage_at_k, RUN, QRELS, 10) == approx({"q1": 1, "q2": 1, "q3": 1 / 2, "q4": 2 / 3, "q5": 0})
    assert per_query(precision_at_k, RUN, QRELS, 10) == approx({"q1": 0.1, "q2": 0.1, "q3": 0.1, "q4": 0.2, "q5": 0})
    assert per_query(distinct_at_k, RUN, QRELS, 10) == {"q1": 1, "q2": 1, "q3": 1, "q4": 2, "q5": 0}
    assert per_query(reciprocal_rank, RUN, QRELS) == {"q1": 1, "q2": 1 / 4, "q3": 1 / 10, "q4": 1 / 2, "q5": 0}
    assert per_query(reciprocal_rank, RUN, QRELS, 9)["q3"] == 0
    assert per_query(average_precision, RUN, QRELS) == approx(
        {"q1": 1, "q2": 1 / 4, "q3": (1 / 10 + 2 / 11) / 2, "q4": (1 / 2 + 2 / 5) / 3, "q5": 0}
    )
    assert per_query(average_precision, RUN, QRELS, 10)["q3"] == approx(1 / 10 / 2)
    assert per_query(ndcg_at_k, RUN, QRELS, 10) == approx(
        {
            "q1": 1,
            "q2": 1 / log2(5),
            "q3": 1 / log2(11) / (1 + 1 / log2(3)),
            "q4": (1 / log2(3) + 1 / log2(6)) / (1 + 1 / log2(3) + 1 / log2(4)),
            "q5": 0,
        }
    )


def test_a_twin_that_nobody_labelled_is_found_through_the_aliases():
    twins = {"d61": "d60", "d62": "d60"}
    assert per_query(distinct_at_k, RUN, QRELS, 10, aliases=twins)["q5"] == 1
    one_label = {"d61": "d60", "d60": "d62"}  # d62 is the first, the label is on d60
    assert per_query(distinct_at_k, RUN, QRELS, 10, aliases=one_label)["q5"] == 1


def test_promoting_partials_moves_the_mean_both_ways_and_no_query_down():
    run = {"q1": ["a"], "q2": ["b"], "q3": ["x"]}
    strict = recall_at_k(run, {"q1": {"a": 1}, "q2": {"x": 1, "b": 0}, "q3": {"y": 0}}, k=1)
    up = recall_at_k(run, {"q1": {"a": 1}, "q2": {"x": 1, "b": 1}, "q3": {"y": 0}}, k=1)
    down = recall_at_k(run, {"q1": {"a": 1}, "q2": {"x": 1, "b": 0}, "q3": {"y": 1}}, k=1)
    assert (strict, up, down) == (1 / 2, 1.0, 1 / 3)
    assert (strict.left_out, up.left_out, down.left_out) == (("q3",), ("q3",), ())
    assert all(later.values[qid] >= strict.values[qid] for later in (up, down) for qid in strict.values)


# values of one kind each


def test_precision_divides_by_k_where_fewer_are_retrieved():
    assert precision_at_k({"q": ["a", "b"]}, {"q": {"a", "b"}}, k=5) == 0.4
    assert precision_at_k({"q": []}, {"q": {"a"}}, k=5) == 0


def test_five_relevant_twins_have_precision_1_and_are_one_answer():
    run, qrels = {"q": list("abcde")}, {"q": set("abcdef")}
    twins = dict.fromkeys("bcde", "a")
    assert precision_at_k(run, qrels, k=5) == 1
    assert distinct_at_k(run, qrels, k=5) == 5
    assert distinct_at_k(run, qrels, k=5, aliases=twins) == 1
    assert distinct_at_k(run, {"q": {"c"}}, k=5, aliases=twins) == 1
    assert precision_at_k(run, {"q": {"c"}}, k=5) == 0.2


def test_aliases_are_followed_to_the_end_and_not_in_a_circle():
    run, qrels = {"q": [1, 2, 3, 4]}, {"q": {1, 2, 3, 4}}
    assert distinct_at_k(run, qrels, k=4, aliases={3: 2, 2: 1, "1": 1}) == 2
    with pytest.raises(ValueError, match=r"aliases of '3' lead in a circle: '?1'?, '?2'?, '?3'?"):
        distinct_at_k(run, qrels, k=4, aliases={3: 2, 2: 1, 1: 2})


def test_judged_counts_every_grade_among_those_shown():
    qrels = {"q1": {"a": 1, "b": 0, "c": -1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"a": 0}}
    run = {"q1": list("axbc"), "q2": [], "q4": ["a"]}
    assert per_query(judged_at_k, run, qrels, 1) == {"q1": 1, "q2": 0, "q3": 0}
    assert per_query(judged_at_k, run, qrels, 3)["q1"] == approx(2 / 3)
    assert per_query(judged_at_k, run, qrels, 50)["q1"] == 3 / 4


def test_judged_needs_grades():
    with pytest.raises(TypeError, match=r"judged_at_k needs graded qrels.*query '7' only list what is relevant"):
        judged_at_k({"q1": ["a"]}, {"q1": {"a": 1}, 7: ["a"]}, k=1)


def test_gains_are_linear_and_a_negative_grade_gains_nothing():
    qrels = {"q": {"a": 3, "b": -2, "c": 1, "d": 0}}
    assert ndcg_at_k({"q": ["b", "c", "a"]}, qrels) == approx((1 / log2(3) + 3 / 2) / (3 + 1 / log2(3)))
    assert ndcg_at_k({"q": ["a", "c"]}, qrels, k=10) == 1
    assert ndcg_at_k({"q": ["b", "a"]}, qrels, k=1) == 0


def test_a_grade_below_1_is_not_relevant():
    run, qrels = {"q": ["z", "n", "r"]}, {"q": {"z": 0, "n": -1, "r": 2}}
    assert recall_at_k(run, qrels, k=2) == 0
    assert recall_at_k(run, qrels, k=3) == coverage_at_k(run, qrels, k=3) == 1
    assert reciprocal_rank(run, qrels) == average_precision(run, qrels) == approx(1 / 3)


# ties


@pytest.mark.parametrize("relevant", ["d1", "d2"])
@pytest.mark.parametrize("order", [["d1", "d2"], ["d2", "d1"]])
@pytest.mark.parametrize("shape", [dict, list, tuple, Hits, lambda hits: Run({"q": hits})["q"]])
def test_a_tie_is_trec_evals_whatever_the_order_of_the_input(relevant, order, shape):
    hits = [Hit(doc_id, 1.5) for doc_id in order]
    peer = pytrec_eval.RelevanceEvaluator({"q": {relevant: 1}}, {"success.1"}).evaluate({"q": dict(hits)})
    assert recall_at_k({"q": shape(hits)}, {"q": {relevant}}, k=1) == peer["q"]["success_1"] == (relevant == "d2")


def test_a_near_tie_is_a_tie_in_float32_by_name():
    near = {"d1": 1.00000001, "d2": 1.0}
    assert recall_at_k({"q": near}, {"q": {"d1"}}, k=1) == 1
    assert recall_at_k({"q": rank(near, precision="float32")}, {"q": {"d1"}}, k=1) == 0


# every shape of runs and qrels


def test_every_shape_of_a_ranking_gives_the_same():
    scores = {"d1": 3.0, 7: 2.0, "d3": np.float32(1.0)}
    shapes = [
        {"q": scores},
        {"q": list(scores.items())[::-1]},
        {"q": [list(pair) for pair in scores.items()]},  # as JSON has them
        {"q": [Hit(str(doc_id), float(score)) for doc_id, score in scores.items()]},
        Run({"q": list(scores.items())}),
        {"q": ["d1", 7, "d3"]},
        {"q": ("d1", "7", "d3")},
        {"q": np.array(["d1", "7", "d3"])},
        {"q": iter(["d1", "7", "d3"])},
    ]
    assert [per_query(reciprocal_rank, runs, {"q": {"7"}}) for runs in shapes] == [{"q": 0.5}] * len(shapes)


@pytest.mark.parametrize(
    "given", [{"7"}, {7}, [7], ("7",), frozenset({7}), {7: 1}, {"7": 2.0}, {7: np.int64(1)}, {7: True}, {7: 1, 8: 0}]
)
def test_every_shape_of_judgments_gives_the_same(given):
    assert recall_at_k({1: [7]}, {"1": given}, k=1).values == {"1": 1.0}


def test_7_and_the_string_7_are_one_id():
    assert recall_at_k({7: [1, "2"]}, {"7": {"2"}}, k=2) == 1
    with pytest.raises(ValueError, match="query 'q': document '7' stands twice"):
        recall_at_k({"q": [7, "7"]}, {"q": {"7"}}, k=1)
    with pytest.raises(ValueError, match="the run: query '7' is given twice"):
        recall_at_k({7: ["a"], "7": ["b"]}, {"7": {"a"}}, k=1)
    with pytest.raises(ValueError, match="the qrels: query '7' is given twice"):
        recall_at_k({7: ["a"]}, {"7": {"a"}, "8": {"a"}, 7: {"b"}}, k=1)
    with pytest.raises(ValueError, match="qrels, query 'q': document '7' is judged twice"):
        recall_at_k({"q": ["7"]}, {"q": {7: 1, "7": 0}}, k=1)


# which queries count


@each_measure
def test_a_missing_query_counts_0_and_is_named(measure):
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"b": 0}, "q4": {"b": 1}}
    mean = measure({"q1": ["a"], "q9": ["b"]}, qrels, 1)
    assert mean.values == {"q1": 1, "q2": 0, "q4": 0}
    assert (mean, mean.n) == (approx(1 / 3), 3)
    assert (mean.left_out, mean.missing, mean.unlabelled) == (("q3",), ("q2", "q4"), ("q9",))
    assert str(mean) == (
        "0.33 (1 of 3; 1 left out: nothing relevant; 2 missing from the run, counted as 0; 1 without labels, ignored)"
    )


@each_measure
def test_a_run_of_other_queries_is_refused(measure):
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}}
    with pytest.raises(ValueError, match=r"none of the 1 queries .* it has '1', the qrels have 'q1'"):
        measure({1: ["a"]}, qrels, 1)
    with pytest.raises(ValueError, match=r"none of the 1 queries .* it has 'q2', the qrels have 'q1'"):
        measure({"q2": ["a"]}, qrels, 1)
    with pytest.raises(ValueError, match="it is empty, the qrels have 'q1'"):
        measure({}, qrels, 1)


@each_measure
@pytest.mark.parametrize("qrels", [{}, {"q1": {}}, {"q1": {"a": 0}, "q2": {"a": -1}}])
def test_no_query_with_a_relevant_document_is_refused(measure, qrels):
    with pytest.raises(ValueError, match=f"none of the {len(qrels)} queries in the qrels has a relevant document"):
        measure({"q1": ["a"]}, qrels, 1)


# what is refused


@each_measure
@pytest.mark.parametrize("ranking", [["a", "b", "a"], [("a", 1.0), ("b", 0.5), ("a", 0.2)], [("a", 1), ("a", 1)]])
def test_a_document_twice_in_a_ranking_is_refused(measure, ranking):
    with pytest.raises(ValueError, match="query 'q1': document 'a' stands twice"):
        measure({"q1": ranking}, {"q1": {"a": 1}}, 1)


@each_measure
@pytest.mark.parametrize("score", [nan, np.float32("nan")])
@pytest.mark.parametrize("shape", [dict, list])
def test_a_nan_score_is_refused_with_query_and_document(measure, score, shape):
    with pytest.raises(ValueError, match="query 'q1': document 'b' has the score NaN"):
        measure({"q1": shape([("a", 1.0), ("b", score)])}, {"q1": {"a": 1}}, 1)


@each_measure
@pytest.mark.parametrize("k", [0, -1, 2.5, 5.0, "5", True, nan])
def test_k_is_a_whole_number_of_places(measure, k):
    with pytest.raises(ValueError, match=r"k is .*; it is a whole number of places, 1 or more"):
        measure({"q1": ["a"]}, {"q1": {"a": 1}}, k)


@each_measure
def test_k_none_is_the_whole_ranking_where_that_means_something(measure):
    run, qrels = {"q": [*others(40), "a"]}, {"q": {"a": 1}}
    if measure.__name__ in AT_K:
        with pytest.raises(ValueError, match="k is None"):
            measure(run, qrels, None)
    else:
        assert measure(run, qrels) == measure(run, qrels, None) == measure(run, qrels, np.int64(41)) > 0
        assert measure(run, qrels, 40) == 0


@each_measure
@pytest.mark.parametrize("ranking", ["d1 d2", b"d1", {"d1", "d2"}, None, 3, ["d1", ("d2", 1.0)], [("d1", 1, 2)]])
def test_what_is_no_ranking_is_refused(measure, ranking):
    with pytest.raises(TypeError, match="query 'q1': the ranking"):
        measure({"q1": ranking}, {"q1": {"d1": 1}}, 1)


def test_a_score_that_is_no_number_is_refused_with_its_query():
    with pytest.raises(TypeError, match="query 'q1': "):
        recall_at_k({"q1": {"a": None}}, {"q1": {"a"}}, k=1)
    with pytest.raises(ValueError, match="query 'q1': "):
        recall_at_k({"q1": {"a": "high"}}, {"q1": {"a"}}, k=1)


@pytest.mark.parametrize("given", ["d1", b"d1", None, 3, [("d1", 1)]])
def test_what_are_no_judgments_is_refused(given):
    with pytest.raises(TypeError, match="qrels, query 'q1'"):
        recall_at_k({"q1": ["d1"]}, {"q1": given}, k=1)


@pytest.mark.parametrize("grade", [0.5, nan, np.inf, "1", "relevant", None])
def test_a_grade_is_a_whole_number(grade):
    with pytest.raises(ValueError, match="qrels, query 'q1': document 'd1' has the grade"):
        recall_at_k({"q1": ["d1"]}, {"q1": {"d1": grade}}, k=1)


def test_a_document_listed_twice_as_relevant_is_refused():
    with pytest.raises(ValueError, match="qrels, query 'q1': document 'd1' is judged twice"):
        recall_at_k({"q1": ["d1"]}, {"q1": ["d1", "d2", "d1"]}, k=1)


@pytest.mark.parametrize(
    ("runs", "qrels", "named"), [([["a"]], {"q": {"a"}}, "run"), ({"q": ["a"]}, [{"a"}], "qrels")]
)
def test_runs_and_qrels_map_query_ids(runs, qrels, named):
    with pytest.raises(TypeError, match=f"the {named} is a list; it must map query ids"):
        recall_at_k(runs, qrels, k=1)


def test_per_query_takes_a_measure():
    with pytest.raises(TypeError, match="<lambda> gives a float; a measure gives a Mean"):
        per_query(lambda runs, qrels, k: 0.5, {}, {}, 1)


# the mean


def test_a_mean_is_a_float():
    mean = Mean({"q1": 1.0, "q2": 0.5})
    assert mean == 0.75
    assert f"{mean:.2f} {mean:5.1f}" == "0.75   0.8"
    assert mean + 1 == 1.75
    assert type(mean + 1) is float
    assert str(mean) == "0.750 (mean of 2)"
    with pytest.raises(ValueError, match="a mean needs one value or more"):
        Mean({})


def test_the_values_of_a_mean_are_its_own_and_stay():
    values = {"q1": 1.0, "q2": 0.5}
    mean = Mean(values)
    values["q1"] = 0.0
    assert mean.values == {"q1": 1.0, "q2": 0.5}
    with pytest.raises(TypeError):
        mean.values["q1"] = 0.0


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda mean: pickle.loads(pickle.dumps(mean))])
def test_a_mean_can_be_copied_and_stored(again):
    mean = recall_at_k(RUN, QRELS, k=10)
    other = again(mean)
    assert (other, repr(other), other.values, other.left_out) == (mean, repr(mean), mean.values, ("q6",))
    assert other.interval == mean.interval


def test_a_proportion_has_wilsons_interval():
    assert recall_at_k(RUN, QRELS, k=10).interval == approx((0.375534, 0.963776), abs=1e-6)
    z2 = 1.959963984540054**2
    assert Mean(dict.fromkeys("abcdefgh", 1.0)).interval == approx((8 / (8 + z2), 1.0))
    assert Mean(dict.fromkeys("abcdefgh", 0.0)).interval == approx((0.0, z2 / (8 + z2)))
    assert Mean({"q": 1.0}).interval == approx((1 / (1 + z2), 1.0))


def test_any_other_mean_has_a_bootstrap_interval_that_is_the_same_each_time():
    values = np.random.default_rng(5).beta(2, 3, 400)
    mean = Mean({str(number): value for number, value in enumerate(values)})
    half = 1.96 * values.std() / 20
    assert mean.interval == approx((mean - half, mean + half), abs=0.1 * half)
    assert mean.interval == Mean(dict(mean.values)).interval


def test_one_value_gives_no_interval_and_equal_values_a_point():
    assert all(isnan(bound) for bound in Mean({"q": 0.4}).interval)
    assert Mean({"q1": 0.4, "q2": 0.4}).interval == approx((0.4, 0.4))


def test_without_scipy_there_is_a_mean_and_the_interval_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    mean = recall_at_k(RUN, QRELS, k=10)
    with pytest.raises(ImportError, match="pip install scipy"):
        _ = mean.interval


# fold


ORIGIN = {"d1#1": "d1", "d1#2": "d1", "d2#1": "d2", "d3#1": "d3"}


def test_folding_keeps_the_first_place_and_its_score():
    run = Run({"q": [("d1#2", 3.0), ("d2#1", 2.0), ("d1#1", 1.0), ("d3#1", 0.5)]}, record={"chunking": "words(50)"})
    folded = fold(run, ORIGIN)
    assert folded["q"] == (Hit("d1", 3.0), Hit("d2", 2.0), Hit("d3", 0.5))
    assert folded.record == {"chunking": "words(50)", "folded": "first passage of each document"}
    assert recall_at_k(folded, {"q": {"d3"}}, k=3) == 1


def test_folding_takes_every_shape_of_a_run():
    expected = ("d1", "d2")
    assert fold({"q": ["d1#2", "d2#1", "d1#1"]}, ORIGIN).ids("q") == expected
    assert fold({"q": {"d1#1": 1, "d2#1": 2, "d1#2": 3}}, ORIGIN).ids("q") == expected
    assert fold({"q": []}, ORIGIN).ids("q") == ()


def test_folding_orders_equal_scores_by_document():
    origin = {"a#1": "d9", "b#1": "d1", "c#1": "d5"}
    assert fold({"q": dict.fromkeys(origin, 1.0)}, origin).ids("q") == ("d9", "d5", "d1")


def test_folding_follows_the_passages_of_a_collection():
    passages = Passages({"d1": "abcdefghij", "d2": "klmnop"}, characters(size=4, overlap=2))
    assert fold({"q": ["d2#1", "d1#3", "d2#2"]}, passages.origin).ids("q") == ("d2", "d1")


def test_folding_refuses_what_it_cannot_place():
    with pytest.raises(ValueError, match="query 'q': the passage 'd9' is not in origin"):
        fold({"q": ["d1#1", "d9"]}, ORIGIN)
    with pytest.raises(ValueError, match="query 'q': document 'd1#1' stands twice"):
        fold({"q": ["d1#1", "d1#1"]}, ORIGIN)
    with pytest.raises(ValueError, match="origin has the passage '7' twice"):
        fold({"q": [7]}, {7: "d1", "7": "d2"})


# trec_eval and ir_measures, on the same random queries

KS = (1, 3, 5, 10, 20)
PEERS = {
    **{f"success_{k}": (recall_at_k, k) for k in KS},
    **{f"recall_{k}": (coverage_at_k, k) for k in KS},
    **{f"P_{k}": (precision_at_k, k) for k in KS},
    **{f"map_cut_{k}": (average_precision, k) for k in KS},
    **{f"ndcg_cut_{k}": (ndcg_at_k, k) for k in KS},
    "recip_rank": (reciprocal_rank, None),
    "map": (average_precision, None),
    "ndcg": (ndcg_at_k, None),
}
POOL = np.array([*(f"d{number}" for number in range(1, 13)), "D3", "a", "é", "ü1"])
NEAR_TIES = np.array([0.0, 1.0, 1 + 1e-9, 1 - 1e-9, 1 + 2e-9, 2.0, 2 + 1e-9, -1.0, 2.0**24, 2.0**24 + 1, 1e-9, 0.5])
GRADES = np.array([-2, -1, 0, 0, 1, 1, 2, 3])


def random_queries(n, seed=9):
    """Scores and grades by query: ties, near ties, lists of 1 to 16, unjudged documents, a tenth not in the run."""
    rng = np.random.default_rng(seed)
    scores, qrels = {}, {}
    for number in range(n):
        shown = rng.permutation(POOL)[: rng.integers(1, len(POOL) + 1)]
        judged = rng.permutation(POOL)[: rng.integers(1, len(POOL) + 1)]
        if rng.random() < 0.9:
            scores[f"q{number}"] = dict(zip(shown.tolist(), rng.choice(NEAR_TIES, len(shown)).tolist(), strict=True))
        qrels[f"q{number}"] = dict(zip(judged.tolist(), rng.choice(GRADES, len(judged)).tolist(), strict=True))
    return scores, qrels


def safe(qrels):
    """Qrels without the queries whose grades are all negative: there trec_eval corrupts its memory."""
    return {qid: grades for qid, grades in qrels.items() if max(grades.values()) >= 0}


def by_float32(scores):
    return rank(scores, precision="float32")


def disagreements(scores, qrels, order):
    """How many values differ from trec_eval's by more than 1e-9, by trec_eval's name: of queries, and of the mean."""
    cuts = ",".join(map(str, KS))
    asked = {f"{name}.{cuts}" for name in ("success", "recall", "P", "map_cut", "ndcg_cut")}
    asked |= {"recip_rank", "map", "ndcg", "num_rel"}
    peer = pytrec_eval.RelevanceEvaluator(safe(qrels), asked).evaluate(scores)
    run = {qid: order(own) for qid, own in scores.items()}
    found = {}
    for name, (measure, k) in PEERS.items():
        mean = measure(run, qrels, k)
        assert not any(peer[qid]["num_rel"] for qid in mean.left_out if qid in peer)
        assert set(mean.missing) == set(mean.values) - set(peer)
        theirs = {qid: peer[qid][name] if qid in peer else 0.0 for qid in mean.values}
        found[name] = sum(abs(mean.values[qid] - theirs[qid]) > 1e-9 for qid in theirs)
        found[name] += abs(mean - sum(theirs.values()) / len(theirs)) > 1e-9
    return found


def test_every_value_is_trec_evals():
    scores, qrels = random_queries(2_500)
    tied = sum(len(set(own.values())) < len(own) for own in scores.values())
    left_out = sum(max(own.values()) < 1 for own in qrels.values())
    assert (tied > 1_250, len(scores) < 2_350, left_out > 80) == (True, True, True)
    assert disagreements(scores, qrels, by_float32) == dict.fromkeys(PEERS, 0)


@pytest.mark.parametrize(
    "order",
    [
        lambda scores: sorted(scores, key=lambda doc_id: (-np.float32(scores[doc_id]), doc_id)),  # ids ascending
        lambda scores: sorted(scores, key=lambda doc_id: -np.float32(scores[doc_id])),  # as they came
        rank,  # in float64: near ties are none
        lambda scores: by_float32(scores)[:-1],  # a document is lost
    ],
    ids=["ids ascending", "order of the input", "float64", "the last one lost"],
)
def test_another_order_is_seen(order):
    found = disagreements(*random_queries(400), order)
    assert min(found[name] for name in ("map", "ndcg", "recip_rank", "success_1", "P_3", "recall_3")) > 0


def test_a_slight_fault_in_a_value_is_seen(monkeypatch):
    monkeypatch.setattr("ragkit.measure.metrics.log2", lambda place: log2(place) + 1e-6)
    found = disagreements(*random_queries(400), by_float32)
    assert {name.partition("_")[0] for name, n in found.items() if n} == {"ndcg"}


def test_every_value_is_that_of_ir_measures():
    scores, qrels = random_queries(1_000, seed=10)
    run = {qid: by_float32(own) for qid, own in scores.items()}
    # without ties, which its measures do not all break alike
    places = {qid: {doc_id: -float(place) for place, doc_id in enumerate(ids)} for qid, ids in run.items()}
    pairs = [
        ("Judged@{}", judged_at_k),
        ("RR@{}", reciprocal_rank),
        ("AP@{}", average_precision),
        ("nDCG@{}", ndcg_at_k),
        ("Success@{}", recall_at_k),
        ("R@{}", coverage_at_k),
        ("P@{}", precision_at_k),
    ]
    measures = {
        ir_measures.parse_measure(name.format(k)): (measure, k) for name, measure in pairs for k in (1, 5, 10)
    }
    ours = {peer: per_query(measure, run, qrels, k) for peer, (measure, k) in measures.items()}
    compared = 0
    for metric in ir_measures.iter_calc(list(measures), safe(qrels), places):
        if metric.query_id in ours[metric.measure]:
            assert metric.value == approx(ours[metric.measure][metric.query_id], abs=1e-9), metric
            compared += 1
    assert compared >= len(measures) * len(scores) * 0.8


# properties

doc_ids = st.sampled_from(POOL.tolist())
score_maps = st.dictionaries(doc_ids, st.sampled_from(NEAR_TIES.tolist()), max_size=12)
grade_maps = st.dictionaries(doc_ids, st.sampled_from(GRADES.tolist()), max_size=8)


@st.composite
def evaluations(draw):
    """Scores and grades by query, with at least one query that counts and is in the run."""
    scores = draw(st.dictionaries(st.sampled_from("uvwxyz"), score_maps, max_size=5))
    qrels = draw(st.dictionaries(st.sampled_from("uvwxyz"), grade_maps, max_size=5))
    scores["one"] = draw(score_maps)
    qrels["one"] = {**draw(grade_maps), draw(doc_ids): draw(st.integers(1, 3))}
    return scores, qrels


ks = st.integers(1, 15)


@quick
@given(evaluations())
def test_a_larger_k_takes_nothing_away(evaluation):
    for measure in (recall_at_k, coverage_at_k, distinct_at_k, reciprocal_rank, average_precision):
        by_k = [measure(*evaluation, k) for k in range(1, 15)]
        assert all(
            larger.values[qid] >= smaller.values[qid] for smaller, larger in pairwise(by_k) for qid in smaller.values
        )
        assert by_k == sorted(by_k)


@quick
@given(evaluations(), ks)
def test_coverage_never_passes_recall_nor_average_precision_coverage(evaluation, k):
    recall, coverage, precise = (
        measure(*evaluation, k).values for measure in (recall_at_k, coverage_at_k, average_precision)
    )
    assert all(precise[qid] <= coverage[qid] + 1e-12 <= recall[qid] + 2e-12 for qid in recall)


@quick
@given(evaluations(), ks)
def test_a_mean_is_that_of_the_values_and_lies_in_bounds(evaluation, k):
    _, qrels = evaluation
    for measure in ALL:
        mean, values = measure(*evaluation, k), per_query(measure, *evaluation, k)
        assert mean == approx(sum(values.values()) / len(values), abs=1e-12)
        assert all(0 <= value <= (k if measure is distinct_at_k else 1 + 1e-12) for value in values.values())
        assert sorted([*values, *mean.left_out]) == sorted(qrels)


@quick
@given(evaluations(), ks, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(evaluation, k, random):
    def shuffled(mapping):
        items = [(key, shuffled(value) if isinstance(value, dict) else value) for key, value in mapping.items()]
        random.shuffle(items)
        return dict(items)

    for measure in ALL:
        one, other = measure(*evaluation, k), measure(*map(shuffled, evaluation), k)
        assert (other, dict(other.values)) == (one, dict(one.values))
        for names in ("left_out", "missing", "unlabelled"):
            assert sorted(getattr(one, names)) == sorted(getattr(other, names))


@quick
@given(evaluations(), ks)
def test_an_irrelevant_document_at_the_end_changes_nothing(evaluation, k):
    scores, qrels = evaluation
    longer = {qid: {**own, "irrelevant": -9.0} for qid, own in scores.items()}
    for measure in ALL:
        if measure is not judged_at_k:
            assert measure(longer, qrels, k).values == measure(scores, qrels, k).values


@quick
@given(evaluations(), ks)
def test_grades_and_sets_of_the_relevant_give_the_same(evaluation, k):
    scores, qrels = evaluation
    sets = {qid: {doc_id for doc_id, grade in own.items() if grade >= 1} for qid, own in qrels.items()}
    for measure in (recall_at_k, coverage_at_k, precision_at_k, distinct_at_k, reciprocal_rank, average_precision):
        assert measure(scores, sets, k).values == measure(scores, qrels, k).values
