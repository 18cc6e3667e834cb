"""What makes the index fast changes nothing: pieces, blocks, the accelerator, and an index that was saved."""

import re
import sys
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_peers import Peer

from ragkit import Analyzer, BM25Index, bm25_score, load_corpus
from ragkit.corpora.synthetic import large_texts
from ragkit.lexical import postings as postings_module
from ragkit.lexical.analysis import STANDARD, WITHIN_SPACES, WORD, WORD_ALONE, snowball_english

quick = settings(deadline=None, derandomize=True, max_examples=150)

# pieces

SPACES = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
MARKS = "\u0301\u0308\u0345\u00ad\u200b\u200d\ufeff\u2019\u2010"
LETTERS = "abZ09_ßİKǆΐ가각ᄀ1½²"
awkward = st.text(st.sampled_from([*"aB9_.-/'’,:;()*\"", *LETTERS, *MARKS, *SPACES]), max_size=25)
written = st.lists(
    st.sampled_from(
        "Pump, (belt) page_size. MX-4471-B a/b/c.py /etc/x. numpy.sum() don't the Pump's I w1. 1.26.0-rc1 ¿é? "
        'pageSize; "Belt" …and x-ray THE HTTPServer'.split()
    ),
    max_size=8,
).map(" ".join)
any_text = awkward | written | st.text(max_size=20)
ANALYZERS = [
    *(Analyzer(pattern=pattern) for pattern in sorted(WITHIN_SPACES)),
    Analyzer.english(),
    Analyzer.whitespace(),
    Analyzer(lower=False),
    Analyzer(parts=False, stop={"pump", "I", "b"}, stemmer=snowball_english),
    Analyzer(pattern=r"\w+ \w+|\w+"),  # matches across a space
    Analyzer(pattern=r"(?<=\s)\w+"),  # looks at one
    Analyzer(pattern=r"[^,]+"),
]


def in_pieces(analyzer, text):
    read = [analyzer.terms_of(piece) for piece in analyzer.pieces(text)]
    return tuple(sum((terms.words for terms in read), ())), tuple(sum((terms.parts for terms in read), ()))


@settings(quick, max_examples=600)
@given(any_text)
def test_the_terms_of_the_pieces_are_those_of_the_text(text):
    for analyzer in ANALYZERS:
        assert in_pieces(analyzer, text) == analyzer(text)


@settings(quick, max_examples=600)
@given(any_text)
def test_a_bare_piece_has_the_terms_of_the_piece(text):
    for analyzer in ANALYZERS:
        for piece in analyzer.pieces(text):
            assert analyzer.terms_of(analyzer.bare(piece)) == analyzer.terms_of(piece)


@pytest.mark.parametrize("pattern", sorted(WITHIN_SPACES))
def test_no_token_holds_white_space_and_every_separator_of_split_ends_one(pattern):
    for space in SPACES:
        assert [match.group() for match in re.finditer(pattern, f"ab{space}cd")] == ["ab", "cd"]
        assert f"ab{space}cd".split() == ["ab", "cd"]


def test_the_patterns_that_are_known_are_those_of_the_presets():
    assert {STANDARD, WORD} <= WORD_ALONE <= WITHIN_SPACES
    assert {Analyzer.standard().pattern, Analyzer.whitespace().pattern} <= WITHIN_SPACES


def test_a_subset_of_real_text_is_read_alike():
    analyzer = Analyzer.standard()
    for text in list(load_corpus("numpy-docs").docs.values())[::25]:
        assert in_pieces(analyzer, text) == analyzer(text)


# blocks


def counted(docs, analyzer):
    """Postings made with a Counter a document."""
    read = [analyzer(text) if isinstance(text, str) else (tuple(text), ()) for text in docs.values()]
    counts = [Counter(words + parts) for words, parts in read]
    lists = {
        term: [(number, count[term]) for number, count in enumerate(counts) if term in count]
        for term in set().union(*counts)
    }
    return lists, [len(words) for words, _ in read]


@pytest.fixture(params=[(1, 1 << 18), (3, 1 << 18), (1024, 5), (1 << 31, 1 << 18)])
def small_blocks(request, monkeypatch):
    monkeypatch.setattr(postings_module, "BLOCK_DOCS", request.param[0])
    monkeypatch.setattr(postings_module, "BLOCK_PIECES", request.param[1])


documents = st.dictionaries(
    st.text("abc12", min_size=1, max_size=3), any_text | st.lists(st.sampled_from("aBc"), max_size=6), min_size=1
)


@quick
@given(documents)
def test_postings_are_those_of_a_plain_count(docs):
    check_postings(docs)


def check_postings(docs):
    analyzer = Analyzer.standard()
    p = BM25Index.build(docs, analyzer).postings
    lists, lengths = counted(docs, analyzer)
    assert p.doc_lengths.tolist() == lengths
    assert {
        term: list(zip(p.doc_numbers[p.of(term)].tolist(), p.frequencies[p.of(term)].tolist(), strict=True))
        for term in p.vocabulary
    } == lists
    assert list(p.vocabulary.values()) == list(range(len(p.vocabulary)))


def test_postings_do_not_depend_on_the_blocks(small_blocks):
    docs = {str(number): text for number, text in enumerate(large_texts(40, mean_words=8, n_words=30))}
    check_postings({"e1": "", **docs, "e2": [], "e3": "page_size page", "e4": "?!"})


# the accelerator

tokens = st.sampled_from("pump Alarm reset belt C page size page_size MX-4471-B 4471 the".split())
texts = st.lists(tokens, max_size=12).map(" ".join)
corpora = st.lists(texts, min_size=1, max_size=40)
queries = st.lists(tokens, max_size=14).map(" ".join)
k1s, bs = st.sampled_from([0.0, 1.2, 1e-9, 1e6]) | st.floats(0, 5), st.floats(0, 1)


@settings(quick, max_examples=400)
@given(corpora, queries, k1s, bs, st.integers(1, 10))
def test_the_accelerator_finds_the_same_hits_to_the_last_bit(docs, query, k1, b, k):
    index = BM25Index.build(enumerate(docs), k1=k1, b=b)
    assert index.accelerated().search(query, k) == index.search(query, k)


@quick
@given(corpora, queries, k1s, bs, st.integers(1, 10))
def test_the_whole_path_gives_the_scores_of_the_plain_function(docs, query, k1, b, k):
    analyzer = Analyzer.standard()
    read = [analyzer(text) for text in docs]
    terms = [words + parts for words, parts in read]
    df = Counter(term for held in terms for term in set(held))
    average = sum(len(words) for words, _ in read) / len(docs) or 1.0
    wanted = sum(analyzer(query), ())
    expected = {
        str(number): bm25_score(wanted, held, df, len(docs), average, k1=k1, b=b, doc_len=len(words))
        for number, (held, (words, _)) in enumerate(zip(terms, read, strict=True))
    }
    for hit in BM25Index.build(enumerate(docs), k1=k1, b=b).accelerated().search(query, k):
        assert hit.score == pytest.approx(expected[hit.doc_id], rel=1e-12)


@pytest.fixture(scope="module")
def large():
    return BM25Index.build(enumerate(large_texts(4_000, mean_words=60, n_words=3_000)))


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4), (0, 0), (100, 1)])
def test_the_accelerator_finds_the_same_hits_among_many_documents(large, k1, b):
    plain, rng = large.with_params(k1, b), np.random.default_rng(5)
    fast = plain.accelerated()
    for size, k in product([1, 2, 5, 8, 9, 30], [1, 10, 100, 1_000, 5_000]):
        for _ in range(5):
            query = [f"w{rank}" for rank in rng.zipf(1.2, size) if rank < 3_500]
            assert fast.search(query, k) == plain.search(query, k)


def test_the_ten_best_are_those_of_bm25s_for_a_thousand_queries(large):
    docs = [text.lower().replace(".", "").split() for text in large_texts(4_000, mean_words=60, n_words=3_000)]
    peer, fast, rng = Peer(docs, 1.2, 0.75), large.accelerated(), np.random.default_rng(9)
    for size in rng.integers(2, 9, 1_000):
        query = [str(word) for word in rng.choice(docs[rng.integers(4_000)], size)]
        hits, expected = fast.search(query), peer.scores(query)
        ours = np.array([hit.score for hit in hits])
        assert np.allclose(ours, expected[[int(hit.doc_id) for hit in hits]], rtol=1e-9, atol=0)
        # the ten best scores: so whoever stands elsewhere in the other's list is tied
        assert np.allclose(ours, np.sort(expected)[::-1][: len(hits)], rtol=1e-9, atol=0)
        assert len(hits) == min(10, np.count_nonzero(expected))


def test_a_common_term_has_a_row_and_the_accelerator_keeps_its_size(large):
    fast = large.accelerated()
    assert 0 < len(fast.accelerator.rows) < len(large.postings.vocabulary)
    assert 2 < fast.stats().accelerator_bytes_per_posting <= 4.5
    assert large.stats().accelerator_bytes_per_posting == 0


def test_candidates_are_few(large):
    terms = [large.postings.vocabulary[term] for term in ("w3", "w40", "w500")]
    assert len(large.accelerated().accelerator.candidates(large.postings, terms, 10)) < 100


def test_other_parameters_leave_the_accelerator_behind(large):
    fast = large.accelerated()
    assert fast.with_params(k1=2).accelerator is None
    assert fast.with_params(k1=2).search("w3 w40") == large.with_params(k1=2).search("w3 w40")


def test_the_accelerator_cannot_be_written_to(large):
    accelerator = large.accelerated().accelerator
    for values in (accelerator.steps, accelerator.rows):
        with pytest.raises(ValueError, match="read-only"):
            values[:] = 0


@pytest.mark.parametrize("docs", [{"a": []}, {"a": "", "b": "?!"}, {"only": "pump"}])
def test_the_smallest_indexes_are_accelerated(docs):
    index = BM25Index.build(docs)
    assert index.accelerated().search("pump") == index.search("pump")
    assert index.accelerated().search("").reason == "the query is blank"


def test_the_rows_of_kinds_hold_with_the_accelerator():
    docs = {"d1": ["pump", "alarm"], "d2": ["pump", "alarm", "reset"], "d3": ["pump", "belt"], "e": []}
    many = docs | {f"x{number}": ["other"] for number in range(60)}
    plain = BM25Index.build(many)
    fast = plain.accelerated()
    for query, k in product([["pump"], ["belt"] * 3, ["new"], [], ["reset", "alarm", "other"]], [1, 2, 10]):
        assert fast.search(query, k) == plain.search(query, k)
    for k in (0, -1):
        with pytest.raises(ValueError, match=f"k is {k}"):
            fast.search(["pump"], k)
    for k in (1.5, "3", None):
        with pytest.raises(TypeError):
            fast.search(["pump"], k)
    assert list(fast.run({"q": ["belt"]}, k=1)["q"]) == plain.search(["belt"], k=1)
    assert fast.explain(["belt"], "d3").total == fast.search(["belt"], 1)[0].score


# save and load

MANUAL = {
    "d1": "Reset the pump, set page_size",
    "é\ud800\udc00": "The MX-4471-B",
    "d\n3": "",
    "d4": ["naïve", "\ud800\udc00"],
}


@pytest.mark.parametrize(
    "analyzer",
    [
        Analyzer.standard(),
        Analyzer.english(),
        Analyzer.whitespace(),
        Analyzer(pattern=r"[^,]+", stop={"x"}, name="né"),
    ],
    ids=lambda analyzer: analyzer.name,
)
def test_a_saved_index_is_the_same_index(tmp_path, analyzer):
    index = BM25Index.build(MANUAL, analyzer, k1=0.1 + 0.2, b=1 / 3)
    index.save(tmp_path / "manual.index")
    twin = BM25Index.load(tmp_path / "manual.index")
    assert (twin.analyzer, twin.k1, twin.b, twin.stats()) == (analyzer, 0.1 + 0.2, 1 / 3, index.stats())
    assert twin.postings.doc_ids == index.postings.doc_ids
    assert dict(twin.postings.vocabulary) == index.postings.vocabulary
    for name in ("offsets", "doc_numbers", "frequencies", "doc_lengths"):
        ours, theirs = getattr(index.postings, name), getattr(twin.postings, name)
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()
        assert not theirs.flags.writeable
        assert theirs.flags.aligned
    for query in ("pump page_size", "mx-4471-b", ["\ud800\udc00"]):
        assert twin.search(query) == index.search(query)
    twin.accelerated().save(str(tmp_path / "again.index"))
    assert (tmp_path / "again.index").read_bytes() == (tmp_path / "manual.index").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.index", "manual.index"]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "small.index"
    BM25Index.build({"d1": "pump", "d2": "belt pump"}).save(path)
    return path


def test_every_altered_byte_and_every_cut_is_an_error(saved):
    whole = saved.read_bytes()
    broken = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    broken += [whole[:size] for size in range(len(whole))] + [whole + b" ", whole[:-32], whole + whole]
    for data in broken:
        saved.write_bytes(data)
        with pytest.raises(ValueError, match=r"small\.index (is not an index|is in version|is incomplete)"):
            BM25Index.load(saved)


def test_another_version_is_named(saved):
    saved.write_bytes(saved.read_bytes().replace(b"ragkit index 1", b"ragkit index 2", 1))
    with pytest.raises(ValueError, match="in version 2 of the format, not 1"):
        BM25Index.load(saved)


def test_a_stemmer_of_the_callers_own_cannot_be_saved(tmp_path):
    index = BM25Index.build({"d1": "pumps"}, Analyzer(stemmer=lambda word: word[:3]))
    with pytest.raises(ValueError, match=r"the stemmer '.*lambda.*' is a function of yours"):
        index.save(tmp_path / "own.index")
    assert list(tmp_path.iterdir()) == []

    def snowball_english(word):
        return word[:2]

    snowball_english.__qualname__ = "snowball_english"
    with pytest.raises(ValueError, match="cannot be saved"):
        BM25Index.build({"d1": "pumps"}, Analyzer(stemmer=snowball_english)).save(tmp_path / "own.index")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr("ragkit.lexical.storage.sha256", lambda *_: type("Digest", (), {"update": full})())
        with pytest.raises(OSError, match="disk full"):
            BM25Index.build({"x": "y"}).save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["small.index"]
    assert [hit.doc_id for hit in BM25Index.load(saved).search("belt")] == ["d2"]
