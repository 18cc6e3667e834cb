"""Two systems: who finds what, intervals and tests against scipy and statsmodels, and the constructed ties."""

import sys
from dataclasses import FrozenInstanceError
from math import comb, isnan

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as peer_mcnemar
from statsmodels.stats.multitest import multipletests

from ragkit import Run, compare, compare_all, fold, ndcg_at_k, queries_needed, recall_at_k, reciprocal_rank
from ragkit.measure.paired import Difference, alike, holm, mcnemar, paired_difference

quick = settings(deadline=None, derandomize=True, max_examples=100)


def constructed(both, only_a, only_b, neither=0):
    """Constructed runs of one document a query, whose hits fall as the counts say."""
    hits = [(1, 1)] * both + [(1, 0)] * only_a + [(0, 1)] * only_b + [(0, 0)] * neither
    qids = [f"q{number:03}" for number in range(len(hits))]
    runs = [{qid: ["yes" if hit[side] else "no"] for qid, hit in zip(qids, hits, strict=True)} for side in (0, 1)]
    return *runs, {qid: {"yes"} for qid in qids}


def sizes(found):
    return tuple(map(len, (found.both, found.only_a, found.only_b, found.neither)))


documents = st.sampled_from("abcdefgh")
query_ids = st.sampled_from([f"q{number}" for number in range(8)])
some_runs = st.dictionaries(query_ids, st.lists(documents, unique=True, max_size=8), min_size=1)
some_qrels = st.dictionaries(query_ids, st.sets(documents, max_size=3), min_size=1)


@st.composite
def cases(draw):
    """Two runs and qrels that can be measured: each run answers some query that has a relevant document."""
    run_a, run_b, qrels = draw(some_runs), draw(some_runs), draw(some_qrels)
    answerable = {qid for qid, relevant in qrels.items() if relevant}
    assume(answerable & set(run_a) and answerable & set(run_b))
    return run_a, run_b, qrels


# who finds what


def test_by_hand():
    """Five queries: both by one document, both by two different ones, A alone, B alone below the cut, none."""
    a = {"q1": ["d1", "d2"], "q2": ["d3", "x"], "q3": ["d5", "y"], "q4": ["x", "y"], "q5": ["x", "y"]}
    b = {"q1": ["x", "d1"], "q2": ["y", "d4"], "q3": ["x", "y"], "q4": ["x", "y", "d6"], "q5": ["y", "x"]}
    qrels = {"q1": {"d1"}, "q2": {"d3", "d4"}, "q3": {"d5"}, "q4": {"d6"}, "q5": {"d7"}, "q6": set()}
    found = compare(a, b, qrels, 2)
    assert (found.both, found.only_a, found.only_b, found.neither) == (("q1", "q2"), ("q3",), (), ("q4", "q5"))
    assert found.disjoint == ("q2",)
    assert (found.recall_a, found.recall_b, found.union, found.n, found.k) == (0.6, 0.4, 0.6, 5, 2)
    assert (found.recall_a_2k, found.recall_b_2k) == (0.6, 0.6)
    assert found.union_size == (3 + 4 + 3 + 2 + 2) / 5
    assert found.difference == pytest.approx(0.2)
    assert found.difference.values == {"q1": 0, "q2": 0, "q3": 1, "q4": 0, "q5": 0}
    assert found.union.left_out == ("q6",)
    assert found.short == (
        "A: no list is longer than 2, so its recall at 4 may be too low",
        "B: no list is longer than 3, so its recall at 4 may be too low",
    )


def test_the_union_of_two_top_ks_is_beaten_by_one_system_at_its_budget():
    a, b = {"q1": ["x", "d1"], "q2": ["d2", "y"]}, {"q1": ["y", "z"], "q2": ["y", "d2"]}
    found = compare(a, b, {"q1": {"d1"}, "q2": {"d2"}}, 1)
    assert (found.union, found.union_size, found.recall_a_2k) == (0.5, 2.0, 1.0)


def test_a_query_that_a_run_lacks_is_its_miss_and_is_told():
    found = compare({"q1": ["d"]}, {"q2": ["d"]}, {"q1": {"d"}, "q2": {"d"}, "q3": {"d"}}, 1)
    assert (found.only_a, found.only_b, found.neither) == (("q1",), ("q2",), ("q3",))
    assert (found.recall_a.missing, found.recall_b.missing, found.union.missing) == (
        ("q2", "q3"),
        ("q1", "q3"),
        ("q3",),
    )
    assert "A lacks 2 of the queries: counted as misses" in repr(found)


def test_runs_with_scores_are_ranked_by_the_one_tie_rule():
    found = compare({"q": {"d1": 1.0, "d2": 1.0}}, {"q": [("d1", 0.5), ("d2", 0.9)]}, {"q": {"d2": 2, "d1": 0}}, 1)
    assert found.both == ("q",)


@quick
@given(cases(), st.integers(1, 5))
def test_the_groups_are_all_queries_and_the_shares_are_the_measures(case, k):
    run_a, run_b, qrels = case
    found = compare(run_a, run_b, qrels, k)
    groups = [*found.both, *found.only_a, *found.only_b, *found.neither]
    assert sorted(groups) == sorted(qid for qid, relevant in qrels.items() if relevant)
    for mean, run, depth in (
        (found.recall_a, run_a, k),
        (found.recall_b, run_b, k),
        (found.recall_a_2k, run_a, 2 * k),
        (found.recall_b_2k, run_b, 2 * k),
    ):
        same = recall_at_k(run, qrels, depth)
        assert (mean, mean.values, mean.missing, mean.unlabelled) == (
            same,
            same.values,
            same.missing,
            same.unlabelled,
        )
    assert max(found.recall_a, found.recall_b) <= found.union <= 1
    assert found.recall_a_2k >= found.recall_a
    assert found.recall_b_2k >= found.recall_b
    assert found.union_size <= 2 * k
    assert found.difference == pytest.approx(found.recall_a - found.recall_b, abs=1e-15)
    assert set(found.disjoint) <= set(found.both)
    together = {qid: {*run_a.get(qid, [])[:k], *run_b.get(qid, [])[:k]} for qid in groups}
    assert found.union == sum(bool(together[qid] & qrels[qid]) for qid in groups) / len(groups)


@quick
@given(cases(), st.integers(1, 4))
def test_to_swap_the_systems_swaps_the_sides(case, k):
    run_a, run_b, qrels = case
    one, other = compare(run_a, run_b, qrels, k), compare(run_b, run_a, qrels, k)
    assert (one.both, one.only_a, one.only_b, one.neither) == (other.both, other.only_b, other.only_a, other.neither)
    assert (one.union, one.union_size, one.disjoint) == (other.union, other.union_size, other.disjoint)
    assert (one.difference, one.p_value) == (-other.difference, other.p_value)


@quick
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_queries_and_judgments_does_not_matter(case, random):
    def shuffled(mapping):
        items = list(mapping.items())
        random.shuffle(items)
        return dict(items)

    run_a, run_b, qrels = case
    one, other = compare(run_a, run_b, qrels, 2), compare(*map(shuffled, case), 2)
    for name in ("both", "only_a", "only_b", "neither", "disjoint"):
        assert set(getattr(one, name)) == set(getattr(other, name))
    assert (one.union, one.difference, one.p_value) == (other.union, other.difference, other.p_value)
    assert list(one.difference.values.items()) == list(other.difference.values.items())


def test_a_comparison_cannot_be_written_to():
    found = compare(*constructed(1, 1, 0), 1)
    with pytest.raises(FrozenInstanceError):
        found.k = 2


# the constructed cases of chapter 10: what a tie hides


@pytest.mark.parametrize("discordant", [0, 1, 39, 77, 78])
def test_222_hits_each_of_300_have_any_union_from_0_74_to_1(discordant):
    found = compare(*constructed(222 - discordant, discordant, discordant, 78 - discordant), 10)
    assert found.recall_a == found.recall_b == 0.74
    assert found.union == (222 + discordant) / 300
    assert found.difference == 0
    assert found.p_value == 1.0  # at any disagreement: the rates are tested, and they are equal


def test_the_ends_of_the_tie():
    """A 79th discordant query a side would need 222 + 79 queries: more than the 300."""
    unions = [float(compare(*constructed(222 - d, d, d, 78 - d), 10).union) for d in (0, 78)]
    assert unions == [0.74, 1.0]


def test_223_and_221_of_300_print_as_a_tie_and_are_nested():
    found = compare(*constructed(221, 2, 0, 77), 10)
    assert f"{found.recall_a:.2f}" == f"{found.recall_b:.2f}" == "0.74"
    assert (found.difference > 0, len(found.only_b)) == (True, 0)
    assert found.union == found.recall_a  # nested: not strictly larger than the larger


def test_nested_hits_disagree_and_the_union_is_no_larger():
    """{1, 2, 3} and {1, 2}: some query hits under one and misses under the other."""
    found = compare(*constructed(2, 1, 0), 1)
    assert (sizes(found), found.union, found.recall_a) == ((2, 1, 0, 0), 1.0, 1.0)


def test_equal_bits_with_disjoint_documents():
    a, b = ({f"q{i}": [doc_id] for i in range(10)} for doc_id in ("d1", "d2"))
    found = compare(a, b, {f"q{i}": {"d1", "d2"} for i in range(10)}, 1)
    assert sizes(found) == (10, 0, 0, 0)
    assert len(found.disjoint) == 10
    assert "Of 10 that both hit, 10 through no document in common." in repr(found)


def test_identical_systems_have_p_1_and_a_difference_of_0():
    run, _, qrels = constructed(5, 2, 0, 3)
    found = compare(run, run, qrels, 1)
    assert (found.p_value, found.difference, found.difference.interval) == (1.0, 0.0, (0.0, 0.0))
    assert sizes(found) == (7, 0, 0, 3)


# McNemar and Holm


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"), [(0, 0, 1.0), (1, 0, 1.0), (6, 0, 2 / 64), (5, 1, 14 / 64), (26, 12, 0.033552)]
)
def test_mcnemar_by_hand(only_a, only_b, p):
    assert mcnemar(only_a, only_b) == mcnemar(only_b, only_a) == pytest.approx(p, abs=5e-7)


@quick
@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_is_that_of_statsmodels_and_of_the_definition(only_a, only_b):
    p, n = mcnemar(only_a, only_b), only_a + only_b
    assert 0 < p <= 1
    if n:
        assert p == pytest.approx(float(peer_mcnemar([[3, only_a], [only_b, 4]], exact=True).pvalue), rel=1e-9)
    tail = sum(comb(n, i) for i in range(min(only_a, only_b) + 1))
    assert p == pytest.approx(min(1, 2 * tail / 2**n), rel=1e-9)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])  # 3 x 0.01; 2 x 0.03; no less than before
    assert (holm([]), holm([0.2]), holm([1.0, 1.0])) == ([], [0.2], [1.0, 1.0])


@settings(quick, max_examples=15)  # a call of statsmodels takes 0.07 s
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_step_down_rule_in_the_order_given(ps):
    adjusted, so_far = [0.0] * len(ps), 0.0
    for step, at in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        so_far = max(so_far, min(1.0, (len(ps) - step) * ps[at]))
        adjusted[at] = so_far
    assert holm(ps) == pytest.approx(adjusted)


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(p):
    with pytest.raises(ValueError, match="is no p-value"):
        holm([0.5, p])


# intervals


def test_the_interval_is_that_of_whole_queries_drawn_again():
    found = compare(*constructed(226, 26, 12, 36), 10)
    low, high = found.difference.interval
    rng = np.random.default_rng(5)  # other resamples: counts of the three values are multinomial
    drawn = rng.multinomial(300, [26 / 300, 12 / 300, 262 / 300], size=200_000)
    expected = np.percentile((drawn[:, 0] - drawn[:, 1]) / 300, [2.5, 97.5])
    assert (low, high) == pytest.approx(expected, abs=1 / 300)  # the grid of the possible values
    assert low < found.difference < high
    assert found.difference.interval == compare(*constructed(226, 26, 12, 36), 10).difference.interval


def test_pairs_are_kept_together():
    """Unpaired, two rates near 1/2 of 40 queries would be 0.2 uncertain; here they differ on one query."""
    low, high = compare(*constructed(20, 1, 0, 19), 1).difference.interval
    assert 0 <= low < high <= 0.1


def test_the_interval_turns_with_the_sides():
    a, b, qrels = constructed(11, 7, 2, 10)
    low, high = compare(a, b, qrels, 1).difference.interval
    assert compare(b, a, qrels, 1).difference.interval == pytest.approx((-high, -low), abs=1e-12)


def test_nested_systems_have_a_bootstrap_interval_as_well():
    """All differences are 0 or 1: still a difference, and not a share with Wilson's interval."""
    assert compare(*constructed(5, 0, 0, 5), 1).difference.interval == (0.0, 0.0)
    assert compare(*constructed(0, 10, 0, 0), 1).difference.interval == (1.0, 1.0)


def test_one_query_has_no_interval_and_the_table_says_so():
    found = compare(*constructed(0, 1, 0), 1)
    assert all(isnan(end) for end in found.difference.interval)
    assert "none, from one query" in repr(found)


def test_the_difference_of_any_measure():
    a, b = {"q1": ["d1", "x"], "q2": ["x", "d1"]}, {"q1": ["x", "d1"], "q2": ["x", "y"]}
    qrels = {"q1": {"d1"}, "q2": {"d1"}}
    found = paired_difference(reciprocal_rank, a, b, qrels)
    assert (found, found.values) == (0.5, {"q1": 0.5, "q2": 0.5})
    assert repr(found) == "+0.5000 (mean of 2 differences)"
    gain = paired_difference(ndcg_at_k, a, b, qrels, 2)
    assert gain == pytest.approx(ndcg_at_k(a, qrels, 2) - ndcg_at_k(b, qrels, 2))
    hits = paired_difference(recall_at_k, a, b, qrels, 1)
    assert hits.values == compare(a, b, qrels, 1).difference.values
    assert isinstance(hits, Difference)
    with pytest.raises(ValueError, match="A ranks passages by x"):
        paired_difference(recall_at_k, Run(pairs(a), {"chunking": "x"}), Run(pairs(b), {"chunking": "y"}), qrels, 1)


# how many queries


@pytest.mark.parametrize(
    ("difference", "discordant", "power", "n"),
    [
        (0.40, 0.50, 0.8, 23),  # the worked example of calculators that cite Connor: p10 0.45, p01 0.05
        (0.15, 0.45, 0.8, 155),  # and another: p10 0.30, p01 0.15
        (-0.15, 0.45, 0.8, 155),
        (0.05, 0.13, 0.8, 406),
        (0.05, 0.13, 0.9, 543),
        (1.0, 1.0, 0.8, 6),  # with five, the exact test cannot reach 0.05
    ],
)
def test_queries_needed_by_hand(difference, discordant, power, n):
    assert queries_needed(difference, discordant=discordant, power=power) == n


def exact_power(n, discordant, difference, alpha):
    """The chance that the exact test rejects, over the number of discordant queries and their split."""
    reached = 0.0
    for m in range(n + 1):
        one_side = np.arange(m + 1)
        p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(one_side, m - one_side), m, 0.5))
        split = stats.binom.pmf(one_side, m, (discordant + difference) / (2 * discordant))
        reached += stats.binom.pmf(m, n, discordant) * split[p <= alpha].sum()
    return reached


@pytest.mark.parametrize(
    ("difference", "discordant", "power", "alpha"),
    [(0.05, 0.13, 0.8, 0.05), (0.1, 0.1, 0.8, 0.05), (0.1, 0.3, 0.9, 0.05), (0.08, 0.13, 0.9, 0.01)],
)
def test_the_exact_test_has_nearly_the_power_that_was_asked_for(difference, discordant, power, alpha):
    n = queries_needed(difference, discordant=discordant, power=power, alpha=alpha)
    assert power - 0.04 < exact_power(n, discordant, difference, alpha) < power + 0.01


def test_a_simulation_gives_the_power_of_the_test_without_correction():
    n = queries_needed(0.05, discordant=0.13)
    drawn = np.random.default_rng(0).multinomial(n, [0.09, 0.04, 0.87], size=100_000)
    z = (drawn[:, 0] - drawn[:, 1]) / np.sqrt(drawn[:, 0] + drawn[:, 1])
    assert np.mean(np.abs(z) >= stats.norm.ppf(0.975)) == pytest.approx(0.8, abs=0.02)


@quick
@given(st.floats(0.01, 0.5), st.floats(0, 1))
@example(0.3, 0.0)
def test_more_disagreement_needs_more_queries_and_a_larger_difference_fewer(difference, more):
    discordant = difference + more * (0.9 - difference)
    n = queries_needed(difference, discordant=discordant)
    assert n <= queries_needed(difference, discordant=min(1, discordant + 0.1))
    assert n >= queries_needed(min(difference * 1.1, discordant), discordant=discordant)
    assert n <= queries_needed(difference, discordant=discordant, power=0.9)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"difference": 0.0, "discordant": 0.1}, "difference of 0"),
        ({"difference": 0.2, "discordant": 0.1}, "disagree on a share of d or more"),
        ({"difference": 0.2, "discordant": 1.1}, "at most 1"),
        ({"difference": float("nan"), "discordant": 0.1}, "the difference is nan"),
        ({"difference": 0.1, "discordant": float("nan")}, "the discordant share nan"),
        ({"difference": 0.1, "discordant": 0.2, "power": 1.0}, "power is 1.0"),
        ({"difference": 0.1, "discordant": 0.2, "alpha": 0}, "alpha is 0"),
    ],
)
def test_a_number_of_queries_that_there_is_not_is_refused(given, named):
    with pytest.raises(ValueError, match=named):
        queries_needed(**given)


# records


def pairs(run):
    return {qid: [(doc_id, -place) for place, doc_id in enumerate(ids)] for qid, ids in run.items()}


def with_record(**record):
    return Run({"q": [("d", 1.0)]}, record)


HANDBOOK = {"corpus": "handbook", "corpus_sha256": "a" * 64}


@pytest.mark.parametrize(
    ("one", "other", "named"),
    [
        ({"chunking": "window(60)"}, {"chunking": "whole()"}, r"window\(60\), B ranks .*whole\(\).*ragkit.fold"),
        ({"chunking": "window(60)", "folded": "first"}, {"chunking": "window(60)"}, r"documents \(folded\), B ranks"),
        (HANDBOOK, HANDBOOK | {"corpus_sha256": "b" * 64}, r"handbook \(sha256 aaaaaaaaaaaa…\).*bbbb.*dict\(run\)"),
        ({"corpus": "handbook"}, {"corpus": "numpy-docs"}, "made on handbook, B on numpy-docs"),
        (HANDBOOK, {"corpus": "numpy-docs"}, "B on numpy-docs"),
    ],
)
def test_unlike_records_are_refused(one, other, named):
    with pytest.raises(ValueError, match=named):
        compare(with_record(**one), with_record(**other), {"q": {"d"}}, 1)


@pytest.mark.parametrize(
    ("one", "other", "unknown"),
    [
        (HANDBOOK | {"chunking": "w"}, HANDBOOK | {"chunking": "w", "k1": 2}, ()),
        (HANDBOOK | {"chunking": "w"}, {}, ("B: chunking unknown, corpus unknown",)),
        (HANDBOOK, HANDBOOK | {"chunking": "w"}, ("A: chunking unknown",)),
        (
            {"corpus": "handbook", "chunking": "w"},
            HANDBOOK | {"chunking": "w"},
            ("A: version of the corpus unknown",),
        ),
        # the same texts under another name are the same corpus
        (HANDBOOK | {"chunking": "w"}, HANDBOOK | {"chunking": "w", "corpus": "mine"}, ()),
        # folded into documents, the chunking no longer matters
        (HANDBOOK | {"chunking": "w", "folded": "f"}, HANDBOOK | {"chunking": "v", "folded": "f"}, ()),
    ],
)
def test_what_records_do_not_say_is_said(one, other, unknown):
    found = compare(with_record(**one), with_record(**other), {"q": {"d"}}, 1)
    assert found.unknown == unknown
    assert all(note in repr(found) for note in unknown)


def test_a_plain_dict_has_no_record_and_gets_past_with_a_word():
    run = with_record(chunking="v", **HANDBOOK)
    found = compare(dict(run), with_record(chunking="w", **HANDBOOK), {"q": {"d"}}, 1)
    assert found.unknown == ("A: chunking unknown, corpus unknown",)


def test_folded_runs_of_two_chunkings_are_compared():
    a = Run({"q": [("d1#2", 2.0), ("d2#1", 1.0)]}, {"chunking": "v", **HANDBOOK})
    b = Run({"q": [("d2#9", 2.0)]}, {"chunking": "w", **HANDBOOK})
    with pytest.raises(ValueError, match=r"Fold both"):
        compare(a, b, {"q": {"d1"}}, 1)
    found = compare(fold(a, {"d1#2": "d1", "d2#1": "d2"}), fold(b, {"d2#9": "d2"}), {"q": {"d1"}}, 1)
    assert (found.only_a, found.unknown) == (("q",), ())


def test_what_records_have_in_common():
    common, unknown = alike({"x": {"chunking": "w", "k1": 1}, "y": {"chunking": "w", "k1": 1}, "z": {}})
    assert (common, len(unknown)) == ({}, 3)
    assert alike({"x": HANDBOOK | {"chunking": "w"}, "y": HANDBOOK})[0] == HANDBOOK


# what is refused


@pytest.mark.parametrize("k", [0, -1, 1.5, None])
def test_k_is_a_whole_number(k):
    with pytest.raises(ValueError, match="k is"):
        compare({"q": ["d"]}, {"q": ["d"]}, {"q": {"d"}}, k)


@pytest.mark.parametrize(
    ("run_b", "error", "named"),
    [
        ({"q": ["d", "d"]}, ValueError, "dense: query 'q': document 'd' stands twice"),
        ({"other": ["d"]}, ValueError, "dense: the run answers none"),
        ({"q": [("d", float("nan"))]}, ValueError, "dense: .*NaN"),
        ([["d"]], TypeError, "dense: the run is a list"),
    ],
)
def test_an_error_names_the_run(run_b, error, named):
    with pytest.raises(error, match=named):
        compare({"q": ["d"]}, run_b, {"q": {"d"}}, 1, names=("BM25", "dense"))


def test_two_equal_names_are_refused():
    with pytest.raises(ValueError, match="both runs are named 'x'"):
        compare({"q": ["d"]}, {"q": ["d"]}, {"q": {"d"}}, 1, names=("x", "x"))


def test_nothing_relevant_at_all_is_an_error():
    with pytest.raises(ValueError, match="nothing to measure"):
        compare({"q": ["d"]}, {"q": ["d"]}, {"q": set()}, 1)


# several systems


def test_all_pairs_with_holm():
    run_a, run_b, qrels = constructed(226, 26, 12, 36)
    third = {qid: ["no"] for qid in qrels}
    found = compare_all({"bm25": run_a, "dense": run_b, "none": third}, qrels, 10)
    assert list(found) == [("bm25", "dense"), ("bm25", "none"), ("dense", "none")]
    assert len(found) == 3
    assert sizes(found["bm25", "dense"]) == (226, 26, 12, 36)
    ps = [one.p_value for one in found.values()]
    assert list(found.adjusted.values()) == pytest.approx(multipletests(ps, method="holm")[1])
    assert list(found.adjusted) == list(found)
    row = next(line for line in repr(found).splitlines() if line.startswith("bm25   dense"))
    assert row.split()[2:5] == ["26", "12", "+0.0467"]
    assert row.split()[-2:] == ["0.0336", "0.0336"]
    assert repr(found).count("dense: chunking unknown") == 1


def test_two_systems_need_no_adjustment_and_one_is_refused():
    run_a, run_b, qrels = constructed(5, 6, 0)
    found = compare_all({"a": run_a, "b": run_b}, qrels, 1)
    assert found.adjusted == {("a", "b"): 0.03125}
    with pytest.raises(ValueError, match="needs two or more"):
        compare_all({"a": run_a}, qrels, 1)


# the table


def test_the_table_of_the_published_tie():
    found = compare(*constructed(186, 36, 36, 42), 10, names=("BM25", "dense"))
    rows = dict([line.rsplit(None, 2)[0], line.split()[-2:]] for line in repr(found).splitlines()[2:11])
    assert rows == {
        "both": ["186", "0.6200"],
        "only BM25": ["36", "0.1200"],
        "only dense": ["36", "0.1200"],
        "neither": ["42", "0.1400"],
        "BM25 at 10": ["222", "0.7400"],
        "dense at 10": ["222", "0.7400"],
        "union of the two": ["258", "0.8600"],
        "BM25 at 20": ["222", "0.7400"],
        "dense at 20": ["222", "0.7400"],
    }
    assert "McNemar, exact, 36 against 36: p = 1" in repr(found)
    assert str(found) == repr(found)


def test_without_scipy_and_statsmodels_the_counts_are_there_and_the_rest_is_named(monkeypatch):
    for name in ("scipy", "scipy.stats", "statsmodels", "statsmodels.stats.multitest"):
        monkeypatch.setitem(sys.modules, name, None)
    a, b, qrels = constructed(5, 2, 1)
    found = compare(a, b, qrels, 1)
    assert sizes(found) == (5, 2, 1, 0)
    assert repr(found).count("pip install scipy") == 2
    assert "pip install scipy" in repr(compare_all({"a": a, "b": b}, qrels, 1))
    with pytest.raises(ImportError, match="pip install scipy"):
        _ = found.p_value
    with pytest.raises(ImportError, match="pip install statsmodels"):
        holm([0.1, 0.2])
