"""Ranked lists: the one tie rule, and what a run refuses."""

from fractions import Fraction
from functools import cmp_to_key
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import Hit, Run, rank
from ragkit.ranking import Hits, tie_order, top_k

quick = settings(deadline=None, derandomize=True, max_examples=200)

ids = st.text(st.characters(codec="utf-8"), max_size=4)
# near ties: values that float32 cannot tell apart, beside values that it can
values = st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-8, 1.0 - 1e-9, 2.0, -1.0]) | st.floats(-1e6, 1e6)
score_maps = st.dictionaries(ids, values, max_size=12)


def trec_eval(scores):
    """trec_eval's comparison: scores as C floats, then strcmp, both descending."""

    def compare(one, other):
        a, b = np.float32(scores[one]), np.float32(scores[other])
        if a != b:
            return -1 if a > b else 1
        return -1 if one.encode() > other.encode() else 1

    return sorted(scores, key=cmp_to_key(compare))


# rank


def test_equal_scores_go_by_id_descending():
    assert rank({"d1": 1.5, "d2": 1.5}) == rank({"d2": 1.5, "d1": 1.5}) == ["d2", "d1"]
    assert rank({"d10": 1, "d9": 1, "d1": 1}) == ["d9", "d10", "d1"]  # as strings


def test_float32_is_trec_evals_precision_and_float64_is_ours():
    near = {"d1": 1.00000001, "d2": 1.0}
    assert rank(near) == rank(near, precision="float64") == ["d1", "d2"]
    assert rank(near, precision="float32") == ["d2", "d1"]


@quick
@given(score_maps)
def test_float32_ranks_as_trec_eval_does(scores):
    assert rank(scores, precision="float32") == trec_eval(scores)


@quick
@given(score_maps, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(scores, random):
    shuffled = list(scores.items())
    random.shuffle(shuffled)
    assert rank(dict(shuffled)) == rank(scores)
    assert rank(dict(shuffled), precision="float32") == rank(scores, precision="float32")


def test_minus_zero_and_zero_tie():
    assert rank({"a": 0.0, "b": -0.0}) == ["b", "a"]


def test_ids_are_compared_as_the_bytes_of_their_text():
    assert rank(dict.fromkeys(["z", "é", "Z", "\U0001f600", "\uffff"], 1.0)) == [
        "\U0001f600",
        "\uffff",
        "é",
        "z",
        "Z",
    ]


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_any_real_number_is_a_score(precision):
    scores = {"a": 3, "b": np.float32(2.5), "c": Fraction(1, 3), "d": np.int64(0), "e": True, "f": -inf, "g": inf}
    assert rank(scores, precision=precision) == ["g", "a", "b", "e", "c", "d", "f"]


def test_scores_beyond_float32_are_infinite_there():
    assert rank({"a": 1e300, "b": 1e200, "c": -1e300, "d": 0}, precision="float32") == ["b", "a", "d", "c"]


def test_integer_ids_become_strings():
    assert rank({10: 1.0, 9: 1.0}) == ["9", "10"]


def test_two_ids_that_are_one_string_are_refused():
    with pytest.raises(ValueError, match="'7' is given twice"):
        rank({7: 1.0, "7": 2.0})


@pytest.mark.parametrize("score", [nan, np.float32("nan"), np.float64("nan")])
def test_a_nan_score_is_refused_and_named(score):
    with pytest.raises(ValueError, match="'d2' has the score NaN"):
        rank({"d1": 1.0, "d2": score})


def test_an_unknown_precision_is_refused():
    with pytest.raises(ValueError, match="precision is 'float16'"):
        rank({"d1": 1.0}, precision="float16")


def test_nothing_is_ranked_as_nothing():
    assert rank({}) == []


# top_k


@quick
@given(score_maps.filter(bool), st.integers(1, 15))
def test_top_k_is_the_start_of_rank(scores, k):
    names = tuple(scores)
    best = top_k(np.array(list(scores.values())), tie_order(names), k)
    assert [names[i] for i in best] == rank(scores)[:k]


@quick
@given(st.lists(st.integers(0, 3), max_size=30), st.randoms(use_true_random=False))
def test_the_top_5_start_the_top_10_whatever_the_ties(scores, random):
    ties = list(range(len(scores)))
    random.shuffle(ties)
    values, ties = np.array(scores, dtype=np.float64), np.array(ties, dtype=np.int64)
    assert top_k(values, ties, 5).tolist() == top_k(values, ties, 10).tolist()[:5]


@pytest.mark.parametrize("k", [1, 10, 999, 1_000, 4_999, 5_000, 5_001])
def test_top_k_of_many_scores_is_the_start_of_their_order(k):
    scores = np.random.default_rng(3).integers(0, 2_000, 5_000).astype(np.float64)
    order = sorted(range(5_000), key=lambda i: (-scores[i], i))
    assert top_k(scores, np.arange(5_000), k).tolist() == order[:k]


@pytest.mark.parametrize("k", [0, -1, -(10**9)])
@pytest.mark.parametrize("n", [0, 3])
def test_k_below_1_is_refused(k, n):
    with pytest.raises(ValueError, match=f"k is {k}"):
        top_k(np.zeros(n), np.arange(n), k)


def test_tie_order_is_the_place_among_equal_scores():
    assert tie_order(("d1", "d3", "d2")).tolist() == [2, 0, 1]
    assert tie_order(()).tolist() == []


# hits and runs


def test_hits_are_a_list_that_can_say_why_it_is_empty():
    hits = Hits([Hit("d1", 1.0)])
    assert hits == [Hit("d1", 1.0)] == [("d1", 1.0)]
    assert repr(hits) == "[Hit(doc_id='d1', score=1.0)]"
    assert (repr(Hits()), repr(Hits(reason="the query is blank"))) == ("[]", "[] (the query is blank)")


def test_a_run_is_a_mapping_in_the_order_given():
    run = Run({"q2": [Hit("d2", 1.5), Hit("d1", 0.5)], "q1": []})
    assert list(run) == ["q2", "q1"]
    assert len(run) == 2
    assert run["q2"] == (("d2", 1.5), ("d1", 0.5))
    assert (run.ids("q2"), run.ids("q1")) == (("d2", "d1"), ())
    assert "q3" not in run
    with pytest.raises(KeyError):
        run["q3"]


def test_a_run_cannot_be_written_to():
    hits = [Hit("d1", 1.0)]
    record = {"k1": 1.2}
    run = Run({"q1": hits}, record)
    hits.append(Hit("d2", 0.5))
    record["k1"] = 2.0
    assert run["q1"] == (("d1", 1.0),)
    assert run.record == {"k1": 1.2}
    with pytest.raises(TypeError):
        run["q1"] = ()
    with pytest.raises(TypeError):
        run.record["k1"] = 2.0


def test_a_run_made_elsewhere_has_an_empty_record():
    assert Run({}).record == Run({}, {}).record == {}


def test_a_run_takes_pairs_and_makes_ids_strings_and_scores_floats():
    run = Run({1: [(7, np.float32(1.5)), ("8", 1)], "2": iter([("7", 0.5)])})
    assert run["1"] == (Hit("7", 1.5), Hit("8", 1.0))
    assert run["2"] == (Hit("7", 0.5),)
    assert {type(hit.doc_id) for hit in run["1"]} == {str}
    assert {type(hit.score) for hit in run["1"]} == {float}


@pytest.mark.parametrize(
    ("rankings", "named"),
    [
        ({"q1": [Hit("d1", 1), Hit("d2", 0.5), Hit("d1", 0.1)]}, "'q1': document 'd1' stands twice"),
        ({"q1": [Hit(7, 1), Hit("7", 0.5)]}, "'q1': document '7' stands twice"),
        ({"q1": [], "q2": [Hit("d1", 1), Hit("d2", nan)]}, "'q2': document 'd2' has the score NaN"),
        ({7: [], "7": []}, "'7' is given twice"),
    ],
)
def test_a_run_refuses_and_names_query_and_document(rankings, named):
    with pytest.raises(ValueError, match=named):
        Run(rankings)


def test_a_document_may_stand_in_the_lists_of_two_queries():
    assert Run({"q1": [Hit("d1", 1)], "q2": [Hit("d1", 1)]}).ids("q2") == ("d1",)


def test_scores_by_id_are_ranked_and_not_taken_for_pairs():
    run = Run({"q": {"d1": 0.5, "d2": 0.5, 7: 1.0}})
    assert run["q"] == (Hit("7", 1.0), Hit("d2", 0.5), Hit("d1", 0.5))
    with pytest.raises(ValueError, match="'7' is given twice"):
        Run({"q": {7: 1.0, "7": 2.0}})
