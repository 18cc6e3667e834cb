"""Figures on a real collection, published or computed elsewhere. It is found by RAGKIT_COLLECTIONS, else skipped."""

import importlib.util
import json
import os
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from ragkit import (
    BM25Index,
    compare,
    coverage_at_k,
    load_encoder,
    ndcg_at_k,
    precision_at_k,
    read_run,
    recall_at_k,
    rrf,
)

ROOT = Path(__file__).parents[1]
FOLDER = Path(os.environ.get("RAGKIT_COLLECTIONS", ""), "scifact")
pytestmark = pytest.mark.skipif(
    not (os.environ.get("RAGKIT_COLLECTIONS") and FOLDER.is_dir()),
    reason="RAGKIT_COLLECTIONS names no folder with scifact",
)


@pytest.fixture(scope="module")
def scifact():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        spec = importlib.util.spec_from_file_location("scifact", ROOT / "benchmarks/scifact.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return module


@pytest.fixture(scope="module")
def collection(scifact):
    queries, qrels = scifact.load_queries()
    return scifact.lowered(scifact.load_docs()), scifact.lowered(queries), qrels


@pytest.fixture(scope="module")
def built(scifact, collection):
    analyzers = {"plain": scifact.plain(), "stop_porter": scifact.stop_porter()}
    return {name: BM25Index.build(collection[0], analyzer) for name, analyzer in analyzers.items()}


def test_the_collection_is_complete(collection):
    docs, queries, qrels = collection
    assert (len(docs), len(queries), sum(map(len, qrels.values()))) == (5_183, 300, 339)


NAMES = ("nDCG@10", "MAP", "any-hit@1", "any-hit@5", "any-hit@10", "any-hit@50", "R@50", "P@5")


@pytest.mark.parametrize(
    ("analyzer", "k1", "b", "values"),
    [
        ("plain", 1.2, 0.75, (0.662213, 0.623235, 0.536667, 0.746667, 0.803333, 0.880000, 0.870389, 0.156667)),
        ("stop_porter", 1.2, 0.75, (0.683263, 0.640147, 0.546667, 0.766667, 0.84, 0.906667, 0.900222, 0.162)),
        ("stop_porter", 0.9, 0.4, (0.676655, 0.637940, 0.55, 0.763333, 0.823333, 0.906667, 0.900222, 0.16)),
        ("stop_porter", 1.5, 0.75, (0.688107, 0.646871, 0.556667, 0.763333, 0.84, 0.906667, 0.901889, 0.160667)),
    ],
)
def test_the_figures_are_those_of_a_brute_force_computation(scifact, collection, built, analyzer, k1, b, values):
    _, queries, qrels = collection
    found = scifact.figures(built[analyzer].with_params(k1, b).run(queries, 1_000), qrels)
    assert [found[name] for name in NAMES] == pytest.approx(values, abs=1e-6)


def test_the_figures_of_the_table_of_bm25s_are_near_with_another_release_of_its_stemmer(scifact, collection):
    docs, queries, qrels = collection
    for release, stem in scifact.stemmers().items():
        index = BM25Index.build(docs, scifact.of_bm25s(stem))
        assert int(index.postings.doc_lengths.sum()) == 812_074, release
        for (k1, b), published in scifact.PUBLISHED.items():
            found = scifact.figures(index.with_params(k1, b).run(queries, 1_000), qrels)
            assert 100 * found["nDCG@10"] == pytest.approx(published, abs=0.15), release
            assert f"{100 * found['R@1000']:.1f}" == f"{scifact.PUBLISHED_RECALL:.1f}"


def test_the_page_shows_what_is_computed_here(scifact, collection):
    docs, queries, qrels = collection
    rows = json.loads((ROOT / "benchmarks/results/scifact.json").read_text(encoding="utf-8"))["rows"]
    release, stem = next(iter(scifact.stemmers().items()))
    index = BM25Index.build(docs, scifact.of_bm25s(stem), k1=1.5)
    found = scifact.figures(index.run(queries, 1_000), qrels)
    assert rows[release]["1.5, 0.75"] == pytest.approx([found["nDCG@10"], found["R@1000"]], abs=1e-9)


def test_the_accelerator_finds_the_same_on_real_text(collection, built):
    _, queries, _ = collection
    fast = built["stop_porter"].accelerated()
    for query in queries.values():
        for k in (1, 10, 100):
            assert fast.search(query, k) == built["stop_porter"].search(query, k)


# the dense side: encoding takes minutes, so its run is kept, made by benchmarks/scifact_dense.py


@pytest.fixture(scope="module")
def minilm():
    return read_run(ROOT / "tests/data/scifact-minilm.run.gz")


@pytest.fixture(scope="module")
def bm25(collection, built):
    return built["stop_porter"].run(collection[1], 1_000)


def test_the_kept_run_has_the_published_figures_of_minilm(scifact, collection, minilm):
    _, queries, qrels = collection
    assert set(minilm) == set(queries)
    assert {len(hits) for hits in minilm.values()} == {1_000}
    published = {"nDCG@10": 0.64508, "R@10": 0.78333, "R@100": 0.925, "P@5": 0.164, "P@1": 0.50333}
    found = {
        "nDCG@10": ndcg_at_k(minilm, qrels, 10),
        "R@10": coverage_at_k(minilm, qrels, 10),
        "R@100": coverage_at_k(minilm, qrels, 100),
        "P@5": precision_at_k(minilm, qrels, 5),
        "P@1": precision_at_k(minilm, qrels, 1),
    }
    assert {name: round(float(value), 5) for name, value in found.items()} == published
    values = (0.645082, 0.603433, 0.503333, 0.753333, 0.793333, 0.9, 0.892, 0.164)
    reference = scifact.figures(minilm, qrels)
    assert [reference[name] for name in NAMES] == pytest.approx(values, abs=1e-6)


def test_the_kept_run_is_what_the_model_computes(scifact, collection, minilm):
    pairs = [(qid, hit) for qid in minilm for hit in minilm[qid]]
    drawn = Random(7).sample(pairs, 30)
    docs, (queries, _) = scifact.load_docs(), scifact.load_queries()
    encoder = load_encoder()
    documents = encoder.encode([docs[hit.doc_id] for _, hit in drawn]).astype(np.float64)
    asked = encoder.encode([queries[qid] for qid, _ in drawn], kind="query").astype(np.float64)
    cosines = (documents * asked).sum(axis=1)
    assert cosines == pytest.approx([hit.score for _, hit in drawn], abs=1e-5)


def test_two_systems_find_different_documents(collection, bm25, minilm):
    qrels = collection[2]
    found = compare(bm25, minilm, qrels, k=10)
    shares = [len(ids) / found.n for ids in (found.only_a, found.only_b, found.both, found.neither)]
    assert shares == pytest.approx([0.0867, 0.0400, 0.7533, 0.1200], abs=5e-5)
    assert [found.union, found.recall_a_2k, found.recall_b_2k] == pytest.approx([0.8800, 0.8900, 0.8467], abs=5e-5)
    assert found.union < found.recall_a_2k  # one top twenty beats two top tens here


@pytest.mark.parametrize(
    ("depth", "recall"), [(100, 0.8633), (10, 0.8533), (20, 0.8500), (50, 0.8567), (1_000, 0.8667)]
)
def test_fusion_cut_at_ten_depends_on_how_deep_it_reads(collection, bm25, minilm, depth, recall):
    assert recall_at_k(rrf([bm25, minilm], c=60, depth=depth), collection[2], 10) == pytest.approx(recall, abs=5e-5)
