"""Late interaction against two loops, and where the chapter's order of candidates comes from."""

import numpy as np
import pytest

from ragkit import load_corpus, load_encoder
from ragkit.dense.late import maxsim, token_vectors
from ragkit.teach import lever_views


def pieces(count, seed):
    vectors = np.random.default_rng(seed).standard_normal((count, 16)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_it_is_the_mean_of_the_nearest():
    query, passages = pieces(5, 0), [pieces(count, seed) for seed, count in enumerate((1, 9, 3, 40), 1)]
    wanted = [np.mean([max(float(q @ p) for p in passage) for q in query]) for passage in passages]
    np.testing.assert_allclose(maxsim(query, passages), wanted, atol=1e-6)


def test_a_text_that_holds_the_query_scores_one():
    query = pieces(4, 7)
    assert maxsim(query, [np.concatenate([pieces(6, 8), query])])[0] == pytest.approx(1, abs=1e-6)


def test_nothing_to_compare_is_an_error_and_no_passages_are_none():
    assert maxsim(pieces(2, 0), []).shape == (0,)
    for query, passages in ((pieces(0, 0), [pieces(2, 1)]), (pieces(2, 0), [pieces(2, 1), pieces(0, 2)])):
        with pytest.raises(ValueError, match="nothing to compare"):
            maxsim(query, passages)


def test_the_pieces_of_the_packaged_model():
    encoder = load_encoder()
    texts = ["Set page_size to fifty", "pump", "alarm " * 400]
    found = token_vectors(encoder, texts)
    assert [len(one) for one in found] == [min(count, encoder.window) for count in encoder.count(texts)]
    for one in found:
        np.testing.assert_allclose(np.linalg.norm(one, axis=1), 1, atol=1e-5)
    with pytest.raises(ValueError, match="blank"):
        token_vectors(encoder, ["pump", " "])


# the chapter's figures


def test_the_kept_order_has_each_candidate_once_and_is_of_this_handbook():
    corpus = load_corpus("handbook")
    late = lever_views.late_interaction(corpus)
    assert set(late.run) == set(corpus.queries)
    passages = corpus.passages()
    for ids in late.run.values():
        assert len(set(ids)) == len(ids) == late.depth
        assert all(doc_id in passages for doc_id in ids)


def test_an_order_of_another_collection_is_refused():
    with pytest.raises(ValueError, match="another version of the handbook"):
        lever_views.late_interaction(load_corpus("numpy-docs"))


@pytest.mark.parametrize(("hits", "places"), [(223, 492), (240, 1200), (10, 0), (5, 25), (5, 3)])
def test_the_bounds_of_the_best_order_are_reached(hits, places):
    least, most = lever_views.precision_bounds(hits, places, 240)
    assert places / 1200 <= least <= most == hits / 240
    with pytest.raises(ValueError, match="cannot be"):
        lever_views.precision_bounds(hits, 5 * hits + 1, 240)


def test_the_best_and_the_worst_order():
    runs, qrels = {"q": ["a", "b", "c"], "r": ["d"]}, {"q": {"c"}}
    assert lever_views.best_first(runs, qrels) == {"q": ["c", "a", "b"], "r": ["d"]}
    assert lever_views.best_first(runs, qrels, worst=True)["q"] == ["a", "b", "c"]
