"""Fusion: by hand, against brute force, and what does not change it."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import Run, compare, fold, rank, recall_at_k, rrf, weighted_fusion
from ragkit.measure.fused import rrf_scores

quick = settings(deadline=None, derandomize=True, max_examples=100)

documents = st.sampled_from("abcdefghijkl")
id_lists = st.lists(documents, unique=True, max_size=12)
numbers = st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 7.0]) | st.floats(-100, 100)
score_maps = st.dictionaries(documents, numbers, max_size=12)


def ids(run, qid="q"):
    return list(run.ids(qid))


def scores(run, qid="q"):
    return {hit.doc_id: hit.score for hit in run[qid]}


# by places


def test_rrf_by_hand():
    """1/61 for a first place, 1/62 for a second, 2/63 for twice third."""
    lists = [["m1", "m2", "m7"], ["p4", "p5", "m7"]]
    found = rrf_scores(lists, c=60)
    assert {doc_id: f"{score:.6f}" for doc_id, score in found.items()} == {
        "m7": "0.031746",
        "p4": "0.016393",
        "m1": "0.016393",
        "p5": "0.016129",
        "m2": "0.016129",
    }
    assert list(found) == ["m7", "p4", "m1", "p5", "m2"]  # ties: id descending
    run = rrf([{"q": lists[0]}, {"q": lists[1]}])
    assert scores(run) == found
    assert ids(run) == list(found)


def test_an_absent_document_adds_nothing_and_a_list_may_be_empty():
    assert rrf_scores([["a"], []], c=0) == {"a": 1.0}
    assert rrf_scores([["a", "b"], ["b"]], c=0) == {"b": 1.5, "a": 1.0}
    assert rrf_scores([[], []]) == {}


@quick
@given(st.lists(id_lists, min_size=1, max_size=4), st.sampled_from([0, 1, 60, 0.1, 12.5]), st.integers(1, 12))
def test_rrf_is_the_sum_over_the_lists(lists, c, depth):
    expected = {}
    for one in lists:
        for place, doc_id in enumerate(one[:depth], 1):
            expected[doc_id] = expected.get(doc_id, 0) + 1 / (Fraction(c) + place)
    found = rrf_scores(lists, c, depth)
    assert found == {doc_id: float(score) for doc_id, score in expected.items()}  # rounded once
    assert list(found) == rank(expected)


def test_sums_that_are_equal_are_equal_floats():
    """1/72 + 1/90 = 1/80 + 1/80 = 1/40; and in three lists added in two orders."""
    one, other = [f"x{i:02}" for i in range(40)], [f"y{i:02}" for i in range(40)]
    one[11], other[29] = "wide", "wide"
    one[19], other[19] = "even", "even"
    found = rrf_scores([one, other])
    assert found["wide"] == found["even"] == 1 / 40
    assert list(found)[:2] == ["wide", "even"]


@quick
@given(st.lists(id_lists, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_the_lists_does_not_matter(lists, random):
    shuffled = list(lists)
    random.shuffle(shuffled)
    assert list(rrf_scores(shuffled).items()) == list(rrf_scores(lists).items())


@quick
@given(score_maps, score_maps)
def test_rrf_does_not_change_where_scores_are_stretched(one, other):
    """Any monotone change; here to the ranks of the scores, which keeps ties ties."""
    steps = {score: float(step) ** 3 for step, score in enumerate(sorted(set(one.values())))}
    stretched = {doc_id: steps[score] for doc_id, score in one.items()}
    assert rrf([{"q": stretched}, {"q": other}])["q"] == rrf([{"q": one}, {"q": other}])["q"]


@quick
@given(id_lists)
def test_a_list_fused_with_itself_keeps_its_order(one):
    assert ids(rrf([{"q": one}, {"q": one}])) == one


def test_scores_are_ranked_before_places_are_read():
    """The order in which tied scores are given cannot decide."""
    for tied in ([("d1", 1.0), ("d2", 1.0)], [("d2", 1.0), ("d1", 1.0)], {"d1": 1.0, "d2": 1.0}):
        assert scores(rrf([{"q": tied}, {"q": []}], c=0)) == {"d2": 1.0, "d1": 0.5}


def test_depth_cuts_each_list():
    lists = {"q": ["a", "b", "c"]}, {"q": ["c", "d"]}
    assert ids(rrf(lists, depth=1)) == ["c", "a"]
    assert set(ids(rrf(lists, depth=None))) == {"a", "b", "c", "d"}
    assert ids(rrf(lists, depth=2)) == ["c", "a", "d", "b"]
    assert len(rrf([{"q": range(150)}, {"q": range(100, 250)}])["q"]) == 200


def test_c_sets_how_much_the_first_places_stand_out():
    """First in one list against third in both: 1 against 2/3 at c = 0, 1/61 against 2/63 at c = 60."""
    lists = {"q": ["top", "x", "both"]}, {"q": ["y", "z", "both"]}
    assert ids(rrf(lists, c=0))[0] == "y"
    assert ids(rrf(lists, c=60))[0] == "both"


def test_a_fused_list_cut_at_k_can_miss_what_the_union_of_two_top_ks_holds():
    a, b = {"q1": ["d1", "x"], "q2": ["c", "x"]}, {"q1": ["c", "x"], "q2": ["d2", "x"]}
    qrels = {"q1": {"d1"}, "q2": {"d2"}}
    assert compare(a, b, qrels, 1).union == 1.0
    fused = rrf([a, b])
    assert recall_at_k(fused, qrels, 1) == 0.0  # x, second in both lists, comes first
    assert recall_at_k(fused, qrels, 2) == 1.0


# by scores


def test_minmax_by_hand():
    lexical, dense = {"q": {"d1": 12.0, "d2": 9.0, "d3": 6.0}}, {"q": {"d2": 0.75, "d4": 0.25}}
    run = weighted_fusion([lexical, dense])
    assert scores(run) == {"d2": 1.5, "d1": 1.0, "d4": 0.0, "d3": 0.0}
    assert ids(run) == ["d2", "d1", "d4", "d3"]
    assert scores(weighted_fusion([lexical, dense], [2, 0])) == {"d1": 2.0, "d2": 1.0, "d4": 0.0, "d3": 0.0}


def test_zscore_by_hand():
    """(1, 3): mean 2, deviation 1. What a list lacks stands with its lowest, not at its mean."""
    run = weighted_fusion([{"q": {"a": 3.0, "b": 1.0}}, {"q": {"a": 30.0, "c": 10.0}}], normalise="zscore")
    assert scores(run) == {"a": 2.0, "c": -2.0, "b": -2.0}


def test_none_by_hand():
    run = weighted_fusion([{"q": {"a": 3.0, "b": 1.0}}, {"q": [("b", 0.5)]}], [1, 4], normalise="none")
    assert scores(run) == {"a": 3.0, "b": 3.0}
    assert ids(run) == ["b", "a"]


def test_equal_scores_and_empty_lists():
    alone, other = {"q": {"a": 7.0}}, {"q": {"b": 2.0, "c": 1.0}}
    assert scores(weighted_fusion([alone, other])) == {"b": 1.0, "a": 1.0, "c": 0.0}
    assert scores(weighted_fusion([alone, {"q": {}}], normalise="zscore")) == {"a": 0.0}
    assert scores(weighted_fusion([{"q": {"a": 0.1, "b": 0.1, "c": 0.1}}, {"q": []}], normalise="zscore")) == {
        "c": 0.0,
        "b": 0.0,
        "a": 0.0,
    }


def test_scores_are_normalised_over_what_is_read():
    lists = {"q": {"a": 10.0, "b": 5.0, "c": 0.0}}, {"q": {"a": 1.0}}
    assert scores(weighted_fusion(lists, depth=None))["b"] == 0.5
    assert scores(weighted_fusion(lists, depth=2))["b"] == 0.0


@quick
@given(
    st.dictionaries(documents, st.integers(-50, 50), max_size=8),
    st.dictionaries(documents, st.integers(-50, 50), max_size=8),
    st.sampled_from(["minmax", "zscore"]),
)
def test_another_unit_does_not_change_a_normalised_fusion(one, other, normalise):
    runs = [{"q": one}, {"q": other}]
    changed = [{"q": {doc_id: 8 * score + 3 for doc_id, score in one.items()}}, {"q": other}]
    before, after = (scores(weighted_fusion(both, normalise=normalise)) for both in (runs, changed))
    assert after == pytest.approx(before, abs=1e-9)


@quick
@given(score_maps, score_maps, st.sampled_from(["minmax", "zscore", "none"]))
def test_the_order_of_runs_with_their_weights_does_not_matter(one, other, normalise):
    first = weighted_fusion([{"q": one}, {"q": other}], [0.3, 0.7], normalise=normalise)
    second = weighted_fusion([{"q": other}, {"q": one}], [0.7, 0.3], normalise=normalise)
    assert first["q"] == second["q"]


# records


def test_the_record_says_how_and_of_what():
    known = {"chunking": "window(60)", "corpus": "handbook", "corpus_sha256": "a" * 64}
    a = Run({"q1": [("d1", 1.0)], "q2": [("d2", 1.0)]}, {**known, "ranker": "bm25"})
    b = Run({"q2": [("d3", 1.0)], "q3": [("d3", 1.0)]}, {**known, "ranker": "dense"})
    run = rrf([a, b], c=10, depth=50)
    assert run.record == {
        **known,
        "ranker": "rrf",
        "c": 10,
        "depth": 50,
        "of": [dict(a.record), dict(b.record)],
        "missing": [["q3"], ["q1"]],
        "unknown": [],
    }
    assert (list(run), run.ids("q1"), run.ids("q3")) == (["q1", "q2", "q3"], ("d1",), ("d3",))
    assert compare(run, a, {"q1": {"d1"}}, 1).unknown == ()
    weighted = weighted_fusion([a, b], [1, 2])
    assert {name: weighted.record[name] for name in ("ranker", "weights", "normalise")} == {
        "ranker": "weighted",
        "weights": [1.0, 2.0],
        "normalise": "minmax",
    }


def test_what_one_record_does_not_say_the_fused_one_does_not_either():
    run = rrf([Run({"q": [("d", 1.0)]}, {"chunking": "w", "corpus_sha256": "a"}), {"q": ["d"]}])
    assert "chunking" not in run.record
    assert run.record["unknown"] == ["run 2: chunking unknown, corpus unknown"]


@pytest.mark.parametrize("fuse", [rrf, weighted_fusion])
def test_unlike_records_are_refused(fuse):
    a, b = (Run({"q": [("d", 1.0)]}, {"chunking": chunking}) for chunking in ("v", "w"))
    with pytest.raises(ValueError, match="run 1 ranks passages by v, run 2 ranks passages by w"):
        fuse([a, b])


# what is refused


def test_a_document_twice_in_a_list_is_an_error_with_its_id_and_folding_mends_it():
    with pytest.raises(ValueError, match="document 'm1' stands twice"):
        rrf_scores([["m1", "m2", "m1"], ["p4"]])
    with pytest.raises(ValueError, match="run 2: query 'q': document '7' stands twice"):
        rrf([{"q": ["m1"]}, {"q": [7, "7"]}])
    with pytest.raises(ValueError, match="document 'm1' stands twice"):
        rrf([{"q": ["m1", "m2", "m1"]}, {"q": []}], depth=2)  # also below the cut
    passages = {"q": ["m1#1", "m2#1", "m1#2"]}
    folded = fold(passages, {"m1#1": "m1", "m1#2": "m1", "m2#1": "m2"})
    assert ids(rrf([folded, {"q": []}])) == ["m1", "m2"]


@pytest.mark.parametrize("fuse", [rrf, weighted_fusion])
@pytest.mark.parametrize(
    ("runs", "error", "named"),
    [
        ({"q": ["a"]}, TypeError, "the runs are a dict; give a list of them"),
        (Run({"q": [("a", 1.0)]}), TypeError, "the runs are a Run"),
        ("ab", TypeError, "the runs are a str"),
        (None, TypeError, "the runs are a NoneType"),
        ([["a", "b"], ["b"]], TypeError, "run 1 is a list.*rrf_scores"),
        ([], ValueError, r"0 run\(s\) given"),
        ([{"q": [("a", 1.0)]}], ValueError, "needs two or more"),
        ([{"q": [("a", 1.0)]}, {"q": [("a", nan)]}], ValueError, "run 2: query 'q': .*NaN"),
    ],
)
def test_what_is_no_list_of_runs_is_refused(fuse, runs, error, named):
    with pytest.raises(error, match=named):
        fuse(runs)


@pytest.mark.parametrize("c", [-1, nan, inf])
def test_c_is_finite_and_not_negative(c):
    for call in (lambda: rrf([{"q": ["a"]}, {"q": ["a"]}], c=c), lambda: rrf_scores([["a"]], c=c)):
        with pytest.raises(ValueError, match="c is"):
            call()


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "all"])
def test_depth_is_a_number_of_places(depth):
    runs = [{"q": {"a": 1.0}}, {"q": {"a": 1.0}}]
    for call in (rrf, weighted_fusion):
        with pytest.raises(ValueError, match="depth is"):
            call(runs, depth=depth)


def test_numpy_numbers_are_numbers():
    lists = [["a", "b"], ["b"]]
    assert rrf_scores(lists, np.int64(60), np.int64(2)) == rrf_scores(lists, 60.0, 2) == rrf_scores(lists)


@pytest.mark.parametrize("lists", ["ab", {"q": ["a"]}, 3])
def test_what_is_no_list_of_lists_is_refused(lists):
    with pytest.raises(TypeError, match="give one list of them"):
        rrf_scores(lists)


@pytest.mark.parametrize("ranking", [["a", "b"], iter([("a", 1.0)]), "ab"])
def test_score_fusion_needs_scores(ranking):
    with pytest.raises(TypeError, match=r"run 2: query 'q': the ranking has no scores.*rrf"):
        weighted_fusion([{"q": {"a": 1.0}}, {"q": ranking}])


def test_an_infinite_score_is_refused_by_score_fusion_and_ranks_in_rrf():
    runs = [{"q": {"a": 1.0}}, {"q": {"b": inf, "a": 1.0}}]
    with pytest.raises(ValueError, match="run 2: query 'q': document 'b' has the score inf"):
        weighted_fusion(runs)
    assert ids(rrf(runs, c=0)) == ["a", "b"]


@pytest.mark.parametrize("weights", [[1], [1, 1, 1], [1, -1], [0, 0], [1, nan], [1, inf]])
def test_weights_are_one_a_run_and_not_negative(weights):
    with pytest.raises(ValueError, match="weights"):
        weighted_fusion([{"q": {"a": 1.0}}, {"q": {"a": 1.0}}], weights)


def test_an_unknown_normalisation_is_refused():
    with pytest.raises(ValueError, match="normalise is 'max'; it is one of 'minmax', 'zscore', 'none'"):
        weighted_fusion([{"q": {"a": 1.0}}, {"q": {"a": 1.0}}], normalise="max")
