"""The four formulas: hand-worked values, their shape, and what they refuse."""

from decimal import Decimal, localcontext
from inspect import signature
from math import inf, isclose, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import BM25Index, bm25_score, idf, length_factor, saturation

quick = settings(deadline=None, derandomize=True, max_examples=200)

k1s = st.floats(0, 10)
bs = st.floats(0, 1)
tfs = st.integers(1, 10_000)
words = st.sampled_from("pump alarm reset belt motor valve".split())


def close(a, b):
    return isclose(a, b, rel_tol=1e-12, abs_tol=0)


# idf


def exact_idf(n_docs, df):
    """ln((N + 1) / (df + 1/2)), which is the formula over one denominator, to 40 digits."""
    with localcontext() as context:
        context.prec = 40
        return float((Decimal(2 * (n_docs + 1)) / Decimal(2 * df + 1)).ln())


@pytest.mark.parametrize(
    ("n_docs", "df", "value"),
    [
        (12_000, 1, "8.9873"),
        (12_000, 3, "8.1400"),
        (12_000, 410, "3.3754"),
        (4, 2, "0.693147"),  # in exactly half of the documents: ln 2, never 0
        (3, 3, "0.133531"),  # in all of them: small, never negative
        (1, 1, "0.287682"),
        (1, 0, "1.386294"),
    ],
)
def test_idf_by_hand(n_docs, df, value):
    decimals = len(value.partition(".")[2])
    assert f"{idf(n_docs, df):.{decimals}f}" == value


@quick
@given(st.integers(1, 10**9), st.data())
def test_idf_is_exact_up_to_a_term_in_all_of_a_billion_documents(n_docs, data):
    df = data.draw(st.integers(0, n_docs))
    assert close(idf(n_docs, df), exact_idf(n_docs, df))


@quick
@given(st.integers(1, 10_000))
def test_idf_falls_strictly_with_df_and_stays_positive(n_docs):
    weights = idf(n_docs, np.arange(n_docs + 1))
    assert (np.diff(weights) < 0).all()
    assert weights[-1] > 0


def test_idf_gives_a_float_for_scalars_and_an_array_for_arrays():
    assert type(idf(10, 2)) is float
    assert type(idf(np.int32(10), np.int8(2))) is float
    assert idf(10, [1, 2]).tolist() == [idf(10, 1), idf(10, 2)]
    assert idf([[10], [20]], [1, 2, 3]).shape == (2, 3)
    assert idf(10, []).shape == (0,)


@pytest.mark.parametrize(
    ("n_docs", "df"), [(0, 0), (-1, 0), (10, 11), (10, -1), (nan, 1), (10, nan), (inf, 1), (inf, inf), ([10, 0], 0)]
)
def test_idf_refuses_counts_that_cannot_be(n_docs, df):
    with pytest.raises(ValueError, match="n_docs is"):
        idf(n_docs, df)


# saturation


@pytest.mark.parametrize(
    ("tf", "k1", "factor", "value"),
    [
        (1, 1.2, 1.0, 1.0),
        (2, 1.2, 1.0, 1.375),
        (12, 1.2, 1.0, 2.0),  # twelve mentions are worth two: 12 · 2.2 / 13.2
        (12, 1.5, 1.0, 30 / 13.5),
        (3, 1.2, 2.0, 6.6 / 5.4),
        (1, 1.2, 0.0, 2.2),
        (0, 1.2, 1.0, 0.0),
        (0, 0, 1.0, 0.0),  # not 0/0
        (0, 1.2, 0.0, 0.0),
        (7, 0, 1.0, 1.0),
        (7, 0, 5.0, 1.0),
    ],
)
def test_saturation_by_hand(tf, k1, factor, value):
    assert close(saturation(tf, k1, factor), value)


@quick
@given(k1s)
def test_one_mention_at_average_length_is_worth_one(k1):
    assert close(saturation(1, k1), 1.0)


@quick
@given(st.floats(0.01, 10), st.floats(0.05, 20))
def test_saturation_rises_with_tf_and_stays_below_k1_plus_1(k1, factor):
    worth = saturation(np.arange(1, 200), k1, factor)
    assert (np.diff(worth) > 0).all()
    assert worth[-1] < k1 + 1


@quick
@given(tfs, st.floats(0.01, 10))
def test_saturation_falls_with_the_length_factor(tf, k1):
    assert (np.diff(saturation(tf, k1, np.linspace(0, 20, 50))) < 0).all()


@quick
@given(st.lists(st.integers(0, 3), min_size=1), st.sampled_from([0, 0.0, 1.2]))
def test_saturation_of_an_array_is_that_of_its_elements(tf, k1):
    assert saturation(tf, k1).tolist() == [saturation(one, k1) for one in tf]


def test_saturation_broadcasts_and_leaves_its_arguments_alone():
    tf, factor = np.array([[0], [1], [2]]), np.array([0.5, 1.0])
    assert saturation(tf, 1.2, factor).shape == (3, 2)
    assert tf.tolist() == [[0], [1], [2]]
    assert factor.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((-1,), "tf is -1"),
        ((nan,), "tf is nan"),
        ((inf,), "tf is inf"),
        (([1, -1],), "tf is"),
        ((1, -0.1), "k1 is -0.1"),
        ((1, nan), "k1 is nan"),
        ((1, inf), "k1 is inf"),
        ((1, 1.2, -1), "length_factor is -1"),
        ((1, 1.2, nan), "length_factor is nan"),
        ((1, 1.2, inf), "length_factor is inf"),
    ],
)
def test_saturation_refuses(arguments, named):
    with pytest.raises(ValueError, match=named):
        saturation(*arguments)


# length


@pytest.mark.parametrize(
    ("doc_len", "avgdl", "b", "value"),
    [(200, 400, 0.5, 0.75), (200, 400, 0.75, 0.625), (4000, 400, 0.75, 7.75), (0, 400, 0.75, 0.25), (0, 7, 1, 0)],
)
def test_length_factor_by_hand(doc_len, avgdl, b, value):
    assert close(length_factor(doc_len, avgdl, b), value) or value == length_factor(doc_len, avgdl, b) == 0


@quick
@given(st.floats(0.1, 1e6), bs)
def test_length_factor_is_1_at_average_length_whatever_b_is(avgdl, b):
    assert close(length_factor(avgdl, avgdl, b), 1.0)


@quick
@given(st.integers(0, 10**6), st.floats(0.1, 1e6))
def test_b_of_0_ignores_length_and_b_of_1_counts_it_in_full(doc_len, avgdl):
    assert length_factor(doc_len, avgdl, b=0) == 1.0
    assert length_factor(doc_len, avgdl, b=1) == doc_len / avgdl


@quick
@given(st.floats(0.01, 1))
def test_length_factor_rises_with_length(b):
    assert (np.diff(length_factor(np.arange(100), 50, b)) > 0).all()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((10, 10, -0.1), "b is -0.1"),
        ((10, 10, 1.1), "b is 1.1"),
        ((10, 10, nan), "b is nan"),
        ((10, 10, inf), "b is inf"),
        ((-1, 10), "doc_len is -1"),
        ((nan, 10), "doc_len is nan"),
        ((inf, 10), "doc_len is inf"),
        ((10, 0), "avgdl is 0"),
        ((10, -3), "avgdl is -3"),
        ((10, nan), "avgdl is nan"),
        ((10, inf), "avgdl is inf"),
        (([10, -1], 10), "doc_len is"),
    ],
)
def test_length_factor_refuses(arguments, named):
    with pytest.raises(ValueError, match=named):
        length_factor(*arguments)


@pytest.mark.parametrize("scalar", [np.float16, np.float32, np.float64, np.longdouble])
def test_a_numpy_parameter_counts_for_its_value_and_drags_nothing_down(scalar):
    k1, b = scalar(1.2), scalar(0.3)
    assert saturation(7, k1, 0.9) == saturation(7, float(k1), 0.9)
    assert length_factor(7, 30, b) == length_factor(7, 30, float(b))


# the score of one document

PUMPS = {"pump": 3, "alarm": 2, "reset": 1, "belt": 1}


def score(query, doc, df=PUMPS, n_docs=3, avgdl=7 / 3, **parameters):
    return bm25_score(query, doc, df, n_docs, avgdl, **parameters)


@pytest.mark.parametrize(
    ("doc", "value"),
    [(["pump", "alarm"], 0.141820), (["pump", "alarm", "reset"], 0.119557), (["pump", "belt"], 0.141820)],
)
def test_a_term_in_every_document_still_scores_above_0(doc, value):
    assert f"{score(['pump'], doc):.6f}" == f"{value:.6f}"


@pytest.mark.parametrize(("doc", "value"), [([], 0), (["a"], 0.470004), (["b", "a"], 0.333551)])
def test_an_empty_document_counts_in_n_and_in_avgdl(doc, value):
    assert f"{bm25_score(['a'], doc, {'a': 2, 'b': 1}, n_docs=3, avgdl=1.0):.6f}" == f"{value:.6f}"


def test_the_score_is_the_sum_over_the_terms_of_idf_times_saturation():
    doc = ["pump", "alarm", "alarm", "reset"]
    factor = length_factor(4, 7 / 3)
    by_hand = idf(3, 3) * saturation(1, 1.2, factor) + idf(3, 2) * saturation(2, 1.2, factor)
    assert close(score(["pump", "alarm"], doc), by_hand)


def test_a_query_term_counts_each_time_it_stands_there():
    assert close(score(["pump"] * 3, ["pump", "belt"]), 3 * score(["pump"], ["pump", "belt"]))


def test_terms_that_the_document_or_the_corpus_does_not_have_add_nothing():
    assert score(["unknown", "pump", "reset"], ["pump", "belt"]) == score(["pump"], ["pump", "belt"])
    assert score(["unknown"], ["pump"]) == score([], ["pump"]) == score(["pump"], []) == 0.0


def test_a_corpus_of_empty_documents_has_no_average_length_and_needs_none():
    assert bm25_score(["a"], [], {}, n_docs=2, avgdl=0.0) == 0.0


def test_the_defaults_are_those_of_lucene_everywhere():
    functions = (saturation, length_factor, bm25_score, BM25Index.build, BM25Index)
    defaults = [{name: p.default for name, p in signature(function).parameters.items()} for function in functions]
    assert {found["k1"] for found in defaults if "k1" in found} == {1.2}
    assert {found["b"] for found in defaults if "b" in found} == {0.75}
    assert saturation(12) == saturation(12, 1.2, 1.0)
    assert length_factor(200, 400) == length_factor(200, 400, 0.75)


def test_k1_of_0_leaves_the_idf_alone():
    assert score(["pump"], ["pump"] * 5 + ["belt"], k1=0) == idf(3, 3)


def test_b_of_0_takes_length_out():
    assert score(["pump"], ["pump"], b=0) == score(["pump"], ["pump"] + ["belt"] * 50, b=0)


def test_doc_len_stands_in_for_the_number_of_terms():
    doc = ["page_size", "page", "size"]  # one word and its two parts
    assert bm25_score(["page"], doc, {"page": 1}, 2, 1.0, doc_len=1) == idf(2, 1)
    assert bm25_score(["page"], doc, {"page": 1}, 2, 1.0) < idf(2, 1)


def test_lists_and_tuples_of_terms_are_alike():
    assert score(("pump",), ("pump", "belt")) == score(["pump"], ["pump", "belt"])


@pytest.mark.parametrize("terms", ["pump", "", b"pump"])
def test_one_string_in_place_of_terms_is_a_type_error(terms):
    with pytest.raises(TypeError, match="query_terms is one string"):
        score(terms, ["pump"])
    with pytest.raises(TypeError, match="doc_terms is one string"):
        score(["pump"], terms)


def test_counts_of_another_corpus_are_refused():
    with pytest.raises(ValueError, match="'motor', yet its df is 0"):
        score(["motor"], ["motor"])
    with pytest.raises(ValueError, match="df is 3 and n_docs is 2"):
        score(["pump"], ["pump"], n_docs=2)


@pytest.mark.parametrize("parameters", [{"k1": -1}, {"k1": nan}, {"k1": inf}, {"b": -0.1}, {"b": 1.1}, {"b": nan}])
@pytest.mark.parametrize("query", [["pump"], ["unknown"], []])
def test_a_parameter_out_of_range_is_refused_whether_or_not_it_would_count(parameters, query):
    with pytest.raises(ValueError, match="is"):
        score(query, ["pump"], **parameters)


@quick
@given(st.lists(words, max_size=4), st.lists(words, max_size=12), k1s, bs)
def test_an_added_word_that_the_query_does_not_have_never_raises_a_score(query, doc, k1, b):
    df = dict.fromkeys("pump alarm reset belt motor valve noise".split(), 5)
    before = bm25_score(query, doc, df, n_docs=9, avgdl=4.0, k1=k1, b=b)
    assert bm25_score(query, [*doc, "noise"], df, n_docs=9, avgdl=4.0, k1=k1, b=b) <= before


@quick
@given(st.lists(words, min_size=1, max_size=4), st.lists(words, max_size=12), k1s, bs)
def test_a_score_lies_between_0_and_the_ceiling_of_its_terms(query, doc, k1, b):
    df = dict.fromkeys("pump alarm reset belt motor valve".split(), 5)
    value = bm25_score(query, doc, df, n_docs=9, avgdl=4.0, k1=k1, b=b)
    assert 0 <= value <= len(query) * idf(9, 5) * (k1 + 1) * (1 + 1e-12)
    assert (value > 0) == bool(set(query) & set(doc))


@quick
@given(st.permutations(["pump", "alarm", "alarm", "reset", "belt"]), st.permutations(["pump", "reset", "alarm"]))
def test_bm25_sees_a_bag_of_words(doc, query):
    assert close(score(query, doc), score(["pump", "reset", "alarm"], ["pump", "alarm", "alarm", "reset", "belt"]))
