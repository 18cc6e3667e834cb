"""The two collections of the book: what their datasheets promise, counted here."""

import hashlib
import json
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from statistics import median

import numpy as np
import pytest

import ragkit
from ragkit import load_corpus
from ragkit.corpora import handbook as handbook_room
from ragkit.corpora.asked import FOLDERS, Asked, asked, pieces
from ragkit.corpora.chunks import headings, pieces_at_most
from ragkit.corpora.duplicates import near_duplicates
from ragkit.corpora.vectors import CHUNKINGS, PARTS, SIZES, packaged_vectors
from ragkit.dense.cache import CachedEncoder
from ragkit.dense.encoder import PACKAGED_WEIGHTS, load_encoder
from ragkit.dense.scan import DenseIndex

NAMES = ("handbook", "numpy-docs")
PLANTED = json.loads((files("ragkit.corpora.handbook") / "planted.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def corpora():
    return {name: load_corpus(name) for name in NAMES}


@pytest.fixture(scope="module")
def handbook(corpora):
    return corpora["handbook"]


@pytest.fixture(scope="module")
def encoder():
    return load_encoder()


# the handbook's texts


def test_the_handbook_is_as_large_as_it_says(handbook):
    words = {doc_id: len(text.split()) for doc_id, text in handbook.docs.items()}
    assert len(handbook) >= 240
    assert median(words.values()) >= 120
    assert 3_800 <= words["pol-service-level-agreement"] <= 4_500
    assert max(words, key=words.get) == "pol-service-level-agreement"


def test_each_document_has_a_title_sections_a_kind_and_a_date(handbook):
    for doc_id, text in handbook.docs.items():
        assert handbook.titles[doc_id].strip()
        assert text.startswith(f"# {handbook.titles[doc_id]}\n")
        assert len(headings().cut(text)) >= 2 or doc_id == "err-7009-and-7015"  # a conversation, which has none
        assert handbook.about[doc_id]["kind"] in handbook_room.KINDS
        assert handbook.about[doc_id]["date"].year in range(2022, 2027)
    assert {about["kind"] for about in handbook.about.values()} == set(handbook_room.KINDS)


def test_the_exclusions_stand_at_the_end_of_the_service_level_page_and_nowhere_else(handbook):
    page = handbook.docs["pol-service-level-agreement"]
    assert page[headings().cut(page)[-1][0] :].startswith("## Appendix A: Excluded Events")


def test_the_twins_and_near_duplicates_are_those_that_were_planted(handbook):
    near = near_duplicates(handbook.docs, share=0.5)
    assert {frozenset(pair[:2]) for pair in near} == {frozenset(pair) for kind in PLANTED.values() for pair in kind}
    assert {frozenset(pair) for pair in handbook.aliases.items()} == {frozenset(pair) for pair in PLANTED["twins"]}


def test_the_words_of_the_lessons_stand_in_few_or_in_many_documents(handbook):
    def holding(word):
        return sum(word in text.lower() for text in handbook.docs.values())

    assert 1 <= holding("page_size") <= 5
    assert holding("pagination") >= 20
    assert all(holding(word) for word in ("cursor-based iteration", "err_4021", "mx-4471-b", "sob on exertion"))
    assert all(holding(word) for word in ("s. 14(3)", "reg. 7", "excluded event", "material degradation"))


# queries and passages of both


@pytest.mark.parametrize(("name", "at_least"), [("handbook", 120), ("numpy-docs", 100)])
def test_queries_have_one_id_one_text_and_one_kind(corpora, name, at_least):
    corpus = corpora[name]
    assert len(corpus.queries) >= at_least
    assert (
        list(corpus.queries) == list(corpus.kinds) == [f"{name[0]}{n:03d}" for n in range(1, len(corpus.queries) + 1)]
    )
    assert len(set(corpus.queries.values())) == len(corpus.queries)
    assert all(text == text.strip() != "" for text in corpus.queries.values())
    counts = Counter(corpus.kinds.values())
    assert counts["unanswerable"] >= 12
    assert min(counts.values()) >= 6


def test_the_handbook_is_asked_in_every_kind(handbook):
    assert set(handbook.kinds.values()) == {
        "identifier",
        "error code",
        "part number",
        "statute or defined term",
        "typo",
        "paraphrase",
        "negation or polarity",
        "multi-part",
        "shorthand",
        "short keyword",
        "long natural question",
        "unanswerable",
    }


@pytest.mark.parametrize(("name", "at_least"), [("handbook", 500), ("numpy-docs", 2_000)])
def test_every_passage_fits_the_window_of_the_model(corpora, encoder, name, at_least):
    passages = corpora[name].passages()
    assert len(passages) >= at_least
    counts = encoder.count(list(passages.values()))
    assert max(counts) <= encoder.window == 254
    estimated = [pieces_at_most(text) for text in passages.values()]
    assert all(count <= most for count, most in zip(counts, estimated, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_passages_carry_the_collection_and_the_chunking_into_every_run(corpora, name):
    corpus = corpora[name]
    run = ragkit.BM25Index.build(corpus.passages()).run({"q": "the"}, k=3)
    assert run.record["corpus"] == name
    assert run.record["corpus_sha256"] == corpus.fingerprint
    assert run.record["chunking"].startswith("window(")


# packaged vectors


@pytest.mark.parametrize("name", NAMES)
def test_every_passage_and_every_query_has_its_vector(corpora, name):
    stored, corpus = packaged_vectors(name), corpora[name]
    assert all(stored.knows(list(corpus.passages().values())))
    assert all(stored.knows(list(corpus.queries.values()), "query"))
    assert stored.record["weights"] == PACKAGED_WEIGHTS


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_encoded_again_has_the_stored_vectors(corpora, encoder, name):
    stored, corpus = packaged_vectors(name), corpora[name]
    texts, queries = list(corpus.passages().values()), list(corpus.queries.values())
    some = [texts[at] for at in np.random.default_rng(1).choice(len(texts), 40, replace=False)]
    np.testing.assert_allclose(stored.encode(some), encoder.encode(some), atol=5e-4)
    np.testing.assert_allclose(stored.encode(queries[:20], "query"), encoder.encode(queries[:20], "query"), atol=5e-4)
    assert stored.count(some) == encoder.count(some)


DENSE_WITHOUT_TORCH = """
import sys
sys.modules["torch"] = sys.modules["sentence_transformers"] = sys.modules["transformers"] = None
from ragkit import load_corpus, DenseIndex
from ragkit.corpora.vectors import packaged_vectors
corpus = load_corpus("handbook")
run = DenseIndex.build(corpus.passages(), packaged_vectors("handbook")).run(corpus.queries, k=10)
assert len(run) == len(corpus.queries) and all(len(hits) == 10 for hits in run.values())
print(run.record["weights"][:8])
"""


def test_dense_runs_need_no_torch():
    done = subprocess.run([sys.executable, "-W", "error", "-c", DENSE_WITHOUT_TORCH], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [PACKAGED_WEIGHTS[:8]]


# the cache of vectors


class Lengths:
    """A toy encoder, which counts what it is asked."""

    dim, record = 2, {"model": "lengths", "weights": "none"}

    def __init__(self):
        self.asked = []

    def encode(self, texts, kind="document"):
        self.asked += texts
        return np.array([[len(text), 1 + (kind == "query")] for text in texts], dtype=np.float32)

    def count(self, texts, kind="document"):
        return [len(text.split()) for text in texts]


def test_a_text_is_encoded_once_and_the_cache_it_came_from_does_not_change():
    toy = Lengths()
    empty = CachedEncoder.empty(toy.record, 2, lambda: toy)
    full = empty.with_texts(["a", "bb", "a"])
    assert toy.asked == ["a", "bb"]
    assert (len(empty), len(full)) == (0, 2)
    assert full.encode(["bb", "a"]).tolist() == [[2, 1], [1, 1]]
    assert full.count(["a bb"]) == [2]
    assert toy.asked == ["a", "bb", "a bb"]
    assert full.with_texts(["bb"]) is full


def test_a_query_and_a_document_of_one_text_have_each_their_vector():
    toy = Lengths()
    cache = CachedEncoder.empty(toy.record, 2, lambda: toy).with_texts(["a"]).with_texts(["a"], "query")
    assert cache.encode(["a"]).tolist() == [[1, 1]]
    assert cache.encode(["a"], "query").tolist() == [[1, 2]]


def test_a_file_of_vectors_comes_back_as_it_was(tmp_path):
    toy = Lengths()
    cache = CachedEncoder.empty(toy.record, 2, lambda: toy).with_texts(["a", "\u2028", "é"])
    cache.save(tmp_path / "vectors.npz")
    read = CachedEncoder.load(tmp_path / "vectors.npz")
    assert read.keys == cache.keys
    assert read.record == toy.record
    assert (read.vectors == cache.vectors).all()
    assert not read.vectors.flags.writeable
    with pytest.raises(LookupError, match="'new'"):
        read.encode(["new"])


@pytest.mark.parametrize(
    "harm", [lambda data: data[:-40], lambda data: b"PK", lambda data: b"", lambda data: b"text"]
)
def test_a_damaged_file_of_vectors_is_refused(tmp_path, harm):
    CachedEncoder.empty({"model": "none"}, 2).save(tmp_path / "vectors.npz")
    data = (tmp_path / "vectors.npz").read_bytes()
    (tmp_path / "vectors.npz").write_bytes(harm(data))
    with pytest.raises(ValueError, match=r"vectors\.npz"):
        CachedEncoder.load(tmp_path / "vectors.npz")


def test_an_altered_vector_is_seen(tmp_path):
    toy = Lengths()
    CachedEncoder.empty(toy.record, 2, lambda: toy).with_texts(["a"]).save(tmp_path / "vectors.npz")
    with np.load(tmp_path / "vectors.npz") as file:
        arrays = dict(file)
    arrays["vectors"][0, 0] = 7
    np.savez(tmp_path / "vectors.npz", **arrays)
    with pytest.raises(ValueError, match="altered"):
        CachedEncoder.load(tmp_path / "vectors.npz")


def test_vectors_of_two_models_are_not_mixed():
    toy = Lengths()
    other = CachedEncoder.empty({"model": "other"}, 2, lambda: toy)
    with pytest.raises(ValueError, match="do not mix"):
        other.with_texts(["a"])
    with pytest.raises(ValueError, match="do not mix"):
        other.with_cache(CachedEncoder.empty(toy.record, 2))


def test_an_index_over_a_cache_says_what_the_window_cut():
    toy = Lengths()
    cache = CachedEncoder.empty({**toy.record, "window": 2}, 2).with_cache(
        CachedEncoder.empty({**toy.record, "window": 2}, 2)
    )
    assert len(cache) == 0
    assert cache.window == 2
    counted = CachedEncoder(
        cache.record,
        2,
        {hashlib.sha256(b"document\none two three").digest()[:16]: 0},
        np.ones((1, 2), np.float16),
        np.array([3], np.uint32),
    )
    assert dict(DenseIndex.build({"d1": "one two three"}, counted).truncated) == {"d1": 3}


def test_the_parts_are_the_files():
    assert set(PARTS) == set(FOLDERS) == set(NAMES)
    for name, folder in FOLDERS.items():
        here = [file for file in (files("ragkit.corpora") / folder).iterdir() if file.name.endswith(".npz")]
        assert {file.name for file in here} == {f"vectors-{part}.npz" for part in PARTS[name]}
        assert all(len(file.read_bytes()) < 4_000_000 for file in here)


# what chapters 07 and 08 need beyond passages and queries


def test_the_handbook_has_its_vectors_under_every_chunking_of_chapter_08(handbook):
    stored = packaged_vectors("handbook")
    assert {f"characters(size={size}, overlap=0)" for size in SIZES} < {str(chunking) for chunking in CHUNKINGS}
    for chunking in CHUNKINGS:
        assert all(stored.knows(list(handbook.passages(chunking).values()))), chunking


@pytest.mark.parametrize("name", NAMES)
def test_the_free_queries_have_their_vectors_and_the_pieces_that_the_tokenizer_gives(corpora, encoder, name):
    texts = list(dict.fromkeys(query.text for query in asked(name)))
    assert all(packaged_vectors(name).knows(texts, "query"))
    assert pieces(name) == {text: encoder.pieces(text, "query") for text in texts}


def test_a_free_query_has_an_answer_or_is_a_string_that_stands_in_the_collection(corpora):
    for name in NAMES:
        passages, kinds = corpora[name].passages(), Counter()
        for query in asked(name):
            kinds[query.doc_id != ""] += 1
            if query.doc_id:
                assert query.holds in passages[query.answer(passages)]
            else:
                assert any(query.text.lower() in text.lower() for text in passages.values()), query.text
        assert kinds[False] >= 10
    with pytest.raises(LookupError, match="no passage of 'err-4021'"):
        Asked("x", "typo", "err-4021", "words that nobody wrote").answer(corpora["handbook"].passages())
