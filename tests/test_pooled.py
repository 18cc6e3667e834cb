"""The mean of passages: what share each has in the vector of its document."""

import numpy as np
import pytest

from ragkit.dense.pooled import mean_of_passages
from ragkit.dense.scan import DenseIndex
from ragkit.measure.paired import alike
from ragkit.ranking import Run

ORIGIN = {"d1#1": ("d1", 0, 5), "d1#2": ("d1", 5, 9), "d2#1": ("d2", 0, 4)}


def index(seed=0, dim=8):
    vectors = np.random.default_rng(seed).normal(size=(3, dim))
    return DenseIndex.from_vectors(list(ORIGIN), vectors, record={"chunking": "window()", "corpus": "toy"})


def test_a_document_of_one_passage_keeps_its_vector():
    one = index()
    pooled = mean_of_passages(one, ORIGIN)
    assert pooled.doc_ids == ("d1", "d2")
    np.testing.assert_allclose(pooled.vectors[1], one.vectors[2], atol=1e-7)


@pytest.mark.parametrize("weights", [None, [1.0, 3.0, 2.0], [10, 1, 7]])
def test_the_vector_is_the_weighted_mean_normalised(weights):
    one = index(1)
    shares = np.array(weights or [1, 1, 1], dtype=float)
    wanted = shares[0] * one.vectors[0].astype(float) + shares[1] * one.vectors[1].astype(float)
    pooled = mean_of_passages(one, ORIGIN, weights)
    np.testing.assert_allclose(pooled.vectors[0], wanted / np.linalg.norm(wanted), atol=1e-6)


def test_the_more_a_passage_weighs_the_nearer_the_document_is_to_it():
    one = index(2)
    cosines = [float(mean_of_passages(one, ORIGIN, [w, 1, 1]).vectors[0] @ one.vectors[0]) for w in (0.01, 1, 5, 100)]
    assert cosines == sorted(cosines)
    assert cosines[-1] > 0.99


def test_its_runs_are_of_documents():
    run = mean_of_passages(index(), ORIGIN).run({"q": np.ones(8)}, k=2)
    other = Run({"q": [("d1", 1.0)]}, {"chunking": "whole()", "folded": "yes", "corpus": "toy"})
    alike({"pooled": run.record, "folded": other.record})


@pytest.mark.parametrize("weights", [[1, 2], [1, 0, 1], [1, -1, 1], [1, float("nan"), 1]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match="3 passages need as many weights"):
        mean_of_passages(index(), ORIGIN, weights)


def test_a_passage_without_origin_is_named():
    with pytest.raises(LookupError, match="'d2#1'"):
        mean_of_passages(index(), {"d1#1": "d1", "d1#2": "d1"})
