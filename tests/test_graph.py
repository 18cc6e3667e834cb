"""The graph: what it finds is scored as the exact scan scores it, and what it misses is counted."""

import copy
import json
import pickle
import sys
from fractions import Fraction
from math import inf, nan, sqrt

import hnswlib
import numpy as np
import pytest
from scipy import stats

from ragkit import DenseIndex, Hit, HnswIndex, Run, ann_recall
from ragkit.dense import graph as graph_module
from ragkit.dense.graph import AnnRecall, Graph


class Letters:
    """A toy encoder: how often each of three letters stands in a text."""

    dim, window = 3, 6
    record = {"model": "letters", "weights": "none"}  # noqa: RUF012

    def encode(self, texts, kind="document"):
        return np.array([[text[:6].count(letter) for letter in "abc"] for text in texts], dtype=np.float32)

    def count(self, texts, kind="document"):
        return [len(text) for text in texts]


MANUAL = {"d1": "aab", "d2": "abb", "d3": "ccc", "d4": " \n", "d5": "cccccccc", "d6": "zzz"}


@pytest.fixture(scope="module")
def manual():
    return HnswIndex.build(DenseIndex.build(MANUAL, Letters()))


def random_vectors(n, dim, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim)).astype(np.float32)


def index_of(vectors):
    return DenseIndex.from_vectors([f"d{number:04d}" for number in range(len(vectors))], vectors)


def queries_of(n, dim, seed=1):
    return {f"q{number}": vector for number, vector in enumerate(random_vectors(n, dim, seed))}


@pytest.fixture(scope="module")
def random():
    dense = index_of(random_vectors(500, 32))
    return dense, HnswIndex.build(dense)


def ids(hits):
    return [hit.doc_id for hit in hits]


# it agrees with the exact scan


def test_with_all_in_view_the_graph_is_the_exact_scan_to_the_last_bit(random):
    dense, hnsw = random
    for query in queries_of(50, 32).values():
        assert hnsw.search(query, k=10, ef=500) == dense.search(query, k=10)
    assert hnsw.search(query, k=500) == dense.search(query, k=500)  # ef is raised to k


def test_what_both_find_has_one_score_and_one_order(random):
    dense, hnsw = random
    for query in queries_of(50, 32).values():
        exact = dict(dense.search(query, k=500))
        hits = hnsw.search(query, k=10, ef=10)
        assert all(exact[hit.doc_id] == hit.score for hit in hits)
        assert hits == sorted(hits, key=lambda hit: (hit.score, hit.doc_id), reverse=True)
        assert hnsw.search(query, k=5, ef=20) == hnsw.search(query, k=10, ef=20)[:5]


def test_a_text_goes_through_the_encoder_of_the_dense_index(manual):
    assert ids(manual.search("ab", k=2)) == ["d2", "d1"]  # equal scores: the higher id first
    assert manual.search("ab") == manual.dense.search("ab") == manual.search([5, 5, 0])
    assert Hit("d6", 0.0) in manual.search("ab")  # a zero vector has similarity 0
    assert [hit.score for hit in manual.search("zzz")] == [0.0] * 5


def test_blank_and_cut_texts_are_told_as_the_dense_index_tells_them(manual):
    assert manual.search(" \n") == []
    assert manual.search("").reason == "the query is blank"
    assert manual.dense.blank == ("d4",)
    assert dict(manual.dense.truncated) == {"d5": 8}
    with pytest.warns(UserWarning, match="the query has 7 word pieces: the encoder reads the first 6") as told:
        manual.search("aaaaaab")
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="query 'q1' has 7 word pieces") as told:
        manual.run({"q1": "aaaaaab"})
    assert told[0].filename == __file__
    nothing = HnswIndex.build(DenseIndex.build({"d1": "", "d2": " "}, Letters()))
    assert nothing.search("ab") == []
    assert nothing.search("ab").reason == "every document is blank"
    with pytest.raises(ValueError, match="no document to find"):
        ann_recall(nothing, nothing.dense, {"q": "ab"})


def test_a_run_says_how_it_was_made(manual):
    run = manual.run({"q1": "ab", "q2": " ", "q3": [0, 0, 1]}, k=2, ef=3)
    assert isinstance(run, Run)
    assert run["q1"] == tuple(manual.search("ab", k=2, ef=3))
    assert run["q2"] == ()
    made = {"ranker": "dense", "search": "hnsw", "m": 16, "ef_construction": 200, "ef": 3, "seed": 100, "k": 2}
    assert dict(run.record) == {**Letters.record, **made}
    assert manual.run({}, k=60).record["ef"] == 60
    with pytest.raises(TypeError, match=r"give \{query id: text or vector\}"):
        manual.run(["ab"])


# the kinds of faults that users met elsewhere


class Watched:
    """An hnswlib index that must not be asked."""

    def __getattr__(self, name):
        raise AssertionError(f"hnswlib was called: {name}")


@pytest.mark.parametrize("query", [[1, 0], [1] * 4, [[1, 0, 0]], 1.0, [], np.zeros((3, 1))])
def test_a_query_of_another_shape_never_reaches_hnswlib(manual, query):
    guarded = HnswIndex(manual.dense, 16, 200, 50, 100, 0, Watched())
    for ask in (
        guarded.search,
        lambda q: guarded.run({"q": q}),
        lambda q: ann_recall(guarded, manual.dense, {"q": q}),
    ):
        with pytest.raises(ValueError, match=r"has shape .* the vectors here have shape \(3,\)"):
            ask(query)


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_nor_does_one_that_is_no_direction(manual, bad):
    guarded = HnswIndex(manual.dense, 16, 200, 50, 100, 0, Watched())
    with pytest.raises(ValueError, match="the query holds NaN or infinity"):
        guarded.search([1, bad, 0])
    with pytest.raises(TypeError, match="give real numbers"):
        guarded.search(["1", "0", "0"])


def test_k_above_the_number_of_documents_gives_all_and_says_so(manual):
    hits = manual.search("ab", k=1000)
    assert hits == manual.dense.search("ab", k=1000)
    assert hits.reason == "k is 1000, and there are 5 documents"
    assert manual.search("ab", k=5).reason == ""


def sealed():
    """400 copies of one vector, inserted first, and 500 others: the copies link to each other."""
    return np.vstack([np.tile(random_vectors(1, 32, seed=2), (400, 1)), random_vectors(500, 32)])


def test_k_above_what_the_graph_leads_to_gives_fewer_and_says_so():
    island = np.vstack([np.tile([[1.0, 0.0]], (60, 1)), np.tile([[0.0, 1.0]], (60, 1))])
    hnsw = HnswIndex.build(index_of(island), m=2, ef_construction=2)
    raw = hnswlib.Index(space="ip", dim=2)
    raw.init_index(max_elements=120, M=2, ef_construction=2, random_seed=100)
    raw.add_items(island, num_threads=1)
    with pytest.raises(RuntimeError, match="contiguous 2D array"):  # what the library says of it
        raw.knn_query([[1.0, 0.0]], k=120, num_threads=1)
    hits = hnsw.search([1, 0], k=120)
    assert 0 < len(hits) < 120
    assert len(hits) == len(hnsw.graph.walk([1, 0], 120).labels)
    assert hits.reason == (
        f"k is 120, and there are 120 documents, of which the graph led to {len(hits)}: an exact scan reaches all"
    )
    assert hnsw.search([1, 0], k=len(hits)).reason == ""


def test_an_ef_below_k_is_raised_to_k(random):
    _, hnsw = random
    query = random_vectors(1, 32, 5)[0]
    assert hnsw.search(query, k=40, ef=1) == hnsw.search(query, k=40, ef=40)
    assert len(hnsw.search(query, k=60)) == 60  # the default is 50


@pytest.mark.parametrize(("k", "ef", "says"), [(0, None, "k is 0"), (-1, 5, "k is -1"), (5, 0, "ef is 0")])
def test_k_and_ef_are_1_or_more(manual, k, ef, says):
    for ask in (
        lambda: manual.search("ab", k, ef),
        lambda: manual.run({}, k, ef),
        lambda: ann_recall(manual, manual.dense, {}, k, ef),
    ):
        with pytest.raises(ValueError, match=says):
            ask()


@pytest.mark.parametrize("given", [{"m": 1}, {"m": 0}, {"ef_construction": 0}, {"ef": 0}, {"seed": -1}])
def test_a_graph_that_hnswlib_could_not_build_is_refused(manual, given):
    with pytest.raises(ValueError, match="give 2 links or more"):
        HnswIndex.build(manual.dense, **given)


def test_duplicates_are_counted_and_shown():
    rows = [[1, 0], [2, 0], [0, 1], [-0.0, 3], [1, 1]]
    hnsw = HnswIndex.build(index_of(rows))
    assert hnsw.duplicates == 2
    assert repr(hnsw) == ("HnswIndex(5 documents, 2 dimensions, m=16, ef_construction=200, ef=50, 2 duplicates)")
    assert "duplicates" not in repr(HnswIndex.build(index_of([[1, 0], [0, 1]])))


def test_copies_inserted_first_destroy_a_graph_and_deduplication_mends_it():
    queries = queries_of(100, 32)

    def share(vectors, ef=50):
        dense = index_of(vectors)
        return ann_recall(HnswIndex.build(dense), dense, queries, k=10, ef=ef).mean_share

    copies_first = sealed()
    assert share(copies_first[400:]) > 0.99
    assert share(copies_first) < 0.2
    assert 0.7 < share(np.vstack([copies_first[400:], copies_first[:400]])) < 1  # the copies last
    assert share(copies_first[399:]) > 0.99  # one of them


def test_recall_between_equal_similarities_goes_by_similarity():
    vectors = np.vstack([np.tile([[1.0, 0, 0]], (30, 1)), random_vectors(30, 3)])
    dense = index_of(vectors)
    hnsw = HnswIndex.build(dense)
    hits, exact = hnsw.search([1, 0, 0], k=5, ef=8), dense.search([1, 0, 0], k=5)
    assert ids(hits) != ids(exact)  # any five of the thirty are as good
    assert [hit.score for hit in hits] == [hit.score for hit in exact]
    assert ann_recall(hnsw, dense, {"q": [1, 0, 0]}, k=5, ef=8).mean_share == 1.0


# the same every time


def test_a_graph_is_built_the_same_way_twice(random):
    dense, hnsw = random
    twin, other = HnswIndex.build(dense), HnswIndex.build(dense, seed=7)
    assert all(np.array_equal(a, b) for a, b in zip(hnsw.graph.links, twin.graph.links, strict=True))
    assert [set(level) for level in hnsw.graph.upper] != [set(level) for level in other.graph.upper]
    queries = queries_of(30, 32)
    assert dict(hnsw.run(queries, k=10, ef=10)) == dict(twin.run(queries, k=10, ef=10))


def test_an_index_can_be_copied_and_pickled(manual):
    hits = manual.search("ab")
    for twin in (copy.copy(manual), copy.deepcopy(manual), pickle.loads(pickle.dumps(manual))):
        assert twin.search("ab") == hits
        assert repr(twin) == repr(manual)


# files


def test_what_is_saved_comes_back_to_the_bit(random, tmp_path):
    _, hnsw = random
    queries = queries_of(30, 32)
    hnsw = HnswIndex.build(hnsw.dense, m=8, ef_construction=50, ef=17, seed=3)
    hnsw.save(tmp_path / "graph.bin")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.bin", "graph.bin.json"]
    back = HnswIndex.load(tmp_path / "graph.bin")
    assert (back.m, back.ef_construction, back.ef, back.seed) == (8, 50, 17, 3)
    assert back.dense.doc_ids == hnsw.dense.doc_ids
    assert np.array_equal(back.dense.vectors, hnsw.dense.vectors)
    for ef in (None, 10, 100):
        assert dict(back.run(queries, k=10, ef=ef)) == dict(hnsw.run(queries, k=10, ef=ef))
    assert ann_recall(back, hnsw.dense, queries).mean_share == ann_recall(hnsw, hnsw.dense, queries).mean_share


def test_ids_blanks_and_records_come_back(manual, tmp_path):
    path = tmp_path / "grap\u00fc.bin"
    manual.save(path)
    manual.save(path)  # over what stands there
    back = HnswIndex.load(path, Letters())
    assert back.search("ab") == manual.search("ab")
    assert (back.dense.blank, dict(back.dense.truncated)) == (("d4",), {"d5": 8})
    assert dict(back.dense.record) == Letters.record
    assert back.duplicates == manual.duplicates == 1
    strange = HnswIndex.build(DenseIndex.from_vectors(["\ud800", "\n", "\u2028"], np.eye(3)))
    strange.save(path)
    assert HnswIndex.load(path).dense.doc_ids == ("\ud800", "\n", "\u2028")
    nothing = HnswIndex.build(DenseIndex.build({"d1": ""}, Letters()))
    nothing.save(path)
    assert HnswIndex.load(path).search([1, 0, 0]).reason == "every document is blank"


@pytest.mark.parametrize("part", ["bin", "bin.json"])
def test_a_truncated_file_is_an_error_with_its_name(manual, tmp_path, part):
    manual.save(tmp_path / "graph.bin")
    whole = (tmp_path / f"graph.{part}").read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 1):
        (tmp_path / f"graph.{part}").write_bytes(whole[:size])
        with pytest.raises(ValueError, match=rf"graph\.{part} is incomplete"):
            HnswIndex.load(tmp_path / "graph.bin")
    (tmp_path / f"graph.{part}").unlink()
    with pytest.raises(FileNotFoundError, match="one is missing"):
        HnswIndex.load(tmp_path / "graph.bin")


def test_a_file_that_is_another_is_refused(manual, random, tmp_path):
    manual.save(tmp_path / "a"), random[1].save(tmp_path / "b")
    (tmp_path / "a").write_bytes((tmp_path / "b").read_bytes())
    with pytest.raises(ValueError, match="checksum"):
        HnswIndex.load(tmp_path / "a")
    manual.save(tmp_path / "a")
    head = json.loads((tmp_path / "a.json").read_text())
    for changed, says in (({"format": "x"}, "does not describe"), ({"version": 2}, "version 2 of the format")):
        (tmp_path / "a.json").write_text(json.dumps(head | changed))
        with pytest.raises(ValueError, match=says):
            HnswIndex.load(tmp_path / "a")
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(ValueError, match="does not describe"):
        HnswIndex.load(tmp_path / "a")


def test_an_encoder_that_did_not_make_the_vectors_is_refused(manual, tmp_path):
    class Wide(Letters):
        dim = 4

    class Other(Letters):
        record = {"weights": "other"}  # noqa: RUF012

    manual.save(tmp_path / "a")
    with pytest.raises(ValueError, match=r"the encoder gives 4 dimensions, and the vectors in .* have 3"):
        HnswIndex.load(tmp_path / "a", Wide())
    with pytest.raises(ValueError, match="made with weights 'none'"):
        HnswIndex.load(tmp_path / "a", Other())


def test_a_failed_save_leaves_what_was_there(manual, tmp_path, monkeypatch):
    manual.save(tmp_path / "a")
    monkeypatch.setattr(graph_module, "_sha256", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        manual.save(tmp_path / "a")
    monkeypatch.undo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "a.json"]
    assert HnswIndex.load(tmp_path / "a").dense.doc_ids == manual.dense.doc_ids


def test_without_hnswlib_the_error_says_what_it_needs(manual, monkeypatch):
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    with pytest.raises(
        ImportError, match=r"C\+\+ compiler: pip install hnswlib.*conda install -c conda-forge hnswlib"
    ):
        HnswIndex.build(manual.dense)


# the walk


@pytest.mark.parametrize("ef", [1, 3, 10, 50, 200])
def test_the_walk_ends_with_what_hnswlib_ends_with(random, ef):
    _, hnsw = random
    for query in queries_of(40, 32).values():
        unit = hnsw.dense._vector(query, "q")
        walk = hnsw.graph.walk(unit, ef)
        assert list(walk.labels) == hnsw._proposed(unit, ef)[0].tolist()
        assert len(walk.expanded) <= walk.distances


@pytest.mark.parametrize(("m", "n"), [(2, 300), (4, 3000), (16, 3000)])
def test_the_walk_is_hnswlib_s_where_no_rounding_can_part_them(m, n):
    """Whole numbers: float32 holds every squared distance exactly, whichever way it is summed."""
    vectors = np.random.default_rng(m).integers(-400, 400, (n, 8)).astype(np.float32)
    raw = hnswlib.Index(space="l2", dim=8)
    raw.init_index(max_elements=n + 5, M=m, ef_construction=40, random_seed=m)
    raw.add_items(vectors, np.arange(n) + 1000, num_threads=1)
    graph = Graph.read(raw)
    assert len(graph.upper) > 1
    assert graph.labels == tuple(range(1000, 1000 + n))
    for query in np.random.default_rng(9).integers(-400, 400, (30, 8)).astype(np.float32):
        for ef in (1, 10, 40):
            raw.set_ef(ef)
            walk = graph.walk(query, ef)
            exact = ((vectors[np.array(walk.labels) - 1000] - query) ** 2).sum(axis=1)
            try:
                _, distances = raw.knn_query(query, k=ef, num_threads=1)
            except RuntimeError:
                assert len(walk.labels) < ef
            else:
                assert exact.tolist() == distances[0].tolist()


def test_the_distances_are_counted_as_in_a_walk_by_hand():
    # Five points on a line, one link level. Enter at one of them; every point is computed once, the entry twice.
    raw = hnswlib.Index(space="l2", dim=1)
    raw.init_index(max_elements=5, M=5, ef_construction=10, random_seed=1)
    raw.add_items([[0.0], [1.0], [2.0], [3.0], [4.0]], num_threads=1)
    graph = Graph.read(raw)
    above = sum(len(links) for level in graph.upper for links in level.values())
    walk = graph.walk([3.9], 5)
    assert sorted(walk.labels) == sorted(walk.expanded) == [0, 1, 2, 3, 4]
    assert walk.labels == (4, 3, 2, 1, 0)
    assert 6 <= walk.distances <= 6 + 2 * above


def test_cosine_graphs_can_be_walked_and_what_cannot_is_refused():
    raw = hnswlib.Index(space="cosine", dim=8)
    raw.init_index(max_elements=200, M=8, ef_construction=50, random_seed=1)
    with pytest.raises(ValueError, match="the graph is empty"):
        Graph.read(raw)
    raw.add_items(random_vectors(200, 8), num_threads=1)
    raw.set_ef(20)
    graph = Graph.read(raw)
    for query in random_vectors(20, 8, 3):
        assert list(graph.walk(9 * query, 20).labels) == raw.knn_query(query, k=20, num_threads=1)[0][0].tolist()
    for query, ef, says in (([1] * 7, 5, "has shape"), ([1] * 8, 0, "ef is 0")):
        with pytest.raises(ValueError, match=says):
            graph.walk(query, ef)


# the recall of a graph


def test_both_readings_of_recall():
    found = AnnRecall(10, 50, {"q1": 1.0, "q2": 0.9, "q3": 0.7, "q4": 1.0}, 100.0, 900, ("q5",))
    assert (found.n, found.mean_share, found.all_found) == (4, pytest.approx(0.9), 0.5)
    assert repr(found).startswith("AnnRecall(ef=50: 0.900 of the top 10 (")
    assert repr(found).endswith("all of it for 50% of 4 queries, 100 distances a query)")


def test_shares_are_counted_by_hand(random):
    dense, hnsw = random
    queries = queries_of(40, 32)
    found = ann_recall(hnsw, dense, {**queries, "blank": " "}, k=10, ef=10)
    assert found.left_out == ("blank",)
    assert found.scanned == 500
    for qid, query in queries.items():
        exact, hits = set(ids(dense.search(query))), set(ids(hnsw.search(query, ef=10)))
        assert found.shares[qid] == len(exact & hits) / 10
    assert 0 < found.mean_share < 1
    assert found.all_found < found.mean_share
    assert Fraction(found.all_found).limit_denominator(40) == Fraction(
        sum(share == 1 for share in found.shares.values()), 40
    )
    counted = [hnsw.graph.walk(dense._vector(query, "q"), 10).distances for query in queries.values()]
    assert found.distances == pytest.approx(np.mean(counted))


def test_fewer_documents_than_k_are_all_there_is_to_find(manual):
    found = ann_recall(manual, manual.dense, {"q": "ab"}, k=100)
    assert (found.mean_share, found.ef, found.scanned) == (1.0, 100, 5)


def test_the_intervals_are_wilson_s_and_the_bootstrap_s():
    shares = dict(enumerate([1.0] * 30 + [0.9] * 8 + [0.5, 0.0]))
    found = AnnRecall(10, 50, shares, 1.0, 1, ())
    wilson = stats.binomtest(30, 40).proportion_ci(method="wilson")
    assert found.all_found_interval == pytest.approx((wilson.low, wilson.high), abs=1e-12)
    values = (list(shares.values()),)
    boot = stats.bootstrap(values, np.mean, n_resamples=10_000, method="percentile", rng=1).confidence_interval
    assert found.mean_share_interval == pytest.approx((boot.low, boot.high), abs=0.01)
    assert found.mean_share_interval == AnnRecall(10, 50, shares, 1.0, 1, ()).mean_share_interval
    full = AnnRecall(10, 50, dict.fromkeys(range(40), 1.0), 1.0, 1, ())
    wilson = stats.binomtest(40, 40).proportion_ci(method="wilson")
    assert full.mean_share_interval == pytest.approx((wilson.low, wilson.high), abs=1e-12)
    assert np.isnan(AnnRecall(10, 50, {"q": 0.5}, 1.0, 1, ()).mean_share_interval).all()


def test_recall_against_another_index_is_refused(random):
    dense, hnsw = random
    query = {"q": np.ones(32)}
    with pytest.raises(ValueError, match="holds other documents"):
        ann_recall(hnsw, index_of(random_vectors(499, 32)), query)
    with pytest.raises(ValueError, match="holds other vectors"):
        ann_recall(hnsw, index_of(random_vectors(500, 32, seed=9)), query)
    with pytest.raises(ValueError, match="no query is left"):
        ann_recall(hnsw, dense, {"q": " "})
    with pytest.raises(TypeError, match=r"give \{query id: text or vector\}"):
        ann_recall(hnsw, dense, ["q"])


def test_scores_are_cosines_worked_by_hand():
    hits = HnswIndex.build(DenseIndex.from_vectors(["a", "b"], [[1, 1], [0, 2]])).search([0, 5])
    assert ids(hits) == ["b", "a"]
    assert [hit.score for hit in hits] == pytest.approx([1, 1 / sqrt(2)], abs=1e-7)
