"""The same numbers as another library: bm25s, which shares no code with this one.

bm25s in its Lucene form leaves the factor (k1 + 1) out; multiplied back in, its scores are ours. It fills a list
up with documents of score 0 and breaks ties as its sort happens to: so scores are compared document by document,
and the order wherever two scores differ.
"""

import bm25s
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ragkit import BM25Index, load_corpus

quick = settings(deadline=None, derandomize=True, max_examples=150)

vocabulary = [f"t{number}" for number in range(12)]
corpora = st.lists(st.lists(st.sampled_from(vocabulary), max_size=15), min_size=1, max_size=15)
queries = st.lists(st.sampled_from([*vocabulary, "unknown"]), min_size=1, max_size=6)


class Peer:
    """bm25s over lists of terms."""

    def __init__(self, docs, k1, b):
        self.factor, self.size = k1 + 1, len(docs)
        self.index = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64", backend="numpy")
        self.index.index(docs, show_progress=False)

    def scores(self, query):
        return self.index.get_scores(query) * self.factor

    def ranking(self, query):
        """All documents, best first: numbers and scores."""
        found = self.index.retrieve([query], k=self.size, show_progress=False, backend_selection="numpy")
        return found.documents[0], found.scores[0] * self.factor


def doc_id(number):
    return f"{number:04d}"


def same(ours, theirs):
    return np.isclose(ours, theirs, rtol=1e-9, atol=0)


def check(docs, query, k1, b):
    """Scores to 1e-9 relative, hits where the peer scores above 0, and one order up to exact ties."""
    peer = Peer(docs, k1, b)
    index = BM25Index.build({doc_id(number): terms for number, terms in enumerate(docs)}, k1=k1, b=b)
    hits = index.search(query, k=len(docs) + 1)
    expected = peer.scores(query)
    assert {hit.doc_id for hit in hits} == {doc_id(number) for number in np.flatnonzero(expected)}
    ours = np.array([hit.score for hit in hits])
    assert same(ours, [expected[int(hit.doc_id)] for hit in hits]).all()
    documents, scores = peer.ranking(query)
    documents, scores = documents[: len(hits)], scores[: len(hits)]
    assert same(ours, scores).all()
    tied = same(ours[1:], ours[:-1])
    alone = ~(np.append(tied, False) | np.insert(tied, 0, False)) if len(hits) else []
    for hit, number, has_no_equal in zip(hits, documents, alone, strict=True):
        assert not has_no_equal or hit.doc_id == doc_id(number)


@quick
@given(corpora, queries, st.floats(0, 5), st.floats(0, 1))
def test_scores_and_order_are_those_of_bm25s(docs, query, k1, b):
    assume(any(docs))  # bm25s builds nothing from empty documents alone
    check(docs, query, k1, b)


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (1.5, 0.75), (0, 0), (3, 1)])
def test_scores_and_order_are_those_of_bm25s_over_a_thousand_documents(k1, b):
    rng = np.random.default_rng(20)
    docs = [[f"t{term}" for term in rng.zipf(1.3, size) if term < 5_000] for size in rng.integers(0, 120, 1_000)]
    for _ in range(10):
        check(docs, [f"t{term}" for term in rng.zipf(1.3, 4)], k1, b)


def test_scores_and_order_are_those_of_bm25s_on_real_text():
    docs = [text.lower().split() for text in load_corpus("numpy-docs").docs.values()]
    for query in ("keepdims array", "sort the axis in place", "random integers without replacement", "fft fft"):
        check(docs, query.split(), 1.2, 0.75)


def test_the_check_sees_a_wrong_score(monkeypatch):
    monkeypatch.setattr(Peer, "scores", lambda self, query: self.index.get_scores(query) * self.factor * (1 + 1e-8))
    with pytest.raises(AssertionError):
        check([["a"], ["a", "b"]], ["a"], 1.2, 0.75)


def test_the_check_sees_a_wrong_order(monkeypatch):
    right = Peer.ranking
    monkeypatch.setattr(Peer, "ranking", lambda self, query: (right(self, query)[0][::-1], right(self, query)[1]))
    with pytest.raises(AssertionError):
        check([["a"], ["a", "b"]], ["a"], 1.2, 0.75)
