"""The index: what it finds, in which order, and that every score can be accounted for."""

import copy
import pickle
from math import inf, isclose, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import Analyzer, BM25Index, Hit, bm25_score, idf, rank

quick = settings(deadline=None, derandomize=True, max_examples=80)

PUMPS = {"d1": ["pump", "alarm"], "d2": ["pump", "alarm", "reset"], "d3": ["pump", "belt"]}
MANUAL = {
    "d1": "Reset the pump, then set page_size to 50",
    "d2": "The MX-4471-B raises ERR_4021",
    "d3": "Size of a page: pages of 4471 lines",
    "d4": "",
    "d5": "The pump and the pump belt",
}


@pytest.fixture(scope="module")
def manual():
    return BM25Index.build(MANUAL)


def scores(index, query, k=1000):
    return {hit.doc_id: hit.score for hit in index.search(query, k)}


def ids(index, query, k=1000):
    return [hit.doc_id for hit in index.search(query, k)]


def by_hand(docs, query, analyzer=None, **parameters):
    """Score every document with the plain function, from counts made here: no index, no array."""
    analyzer = analyzer or Analyzer.standard()

    def read(text):
        return analyzer(text) if isinstance(text, str) else (tuple(text), ())

    read_docs = {doc_id: read(text) for doc_id, text in docs.items()}
    terms = {doc_id: words + parts for doc_id, (words, parts) in read_docs.items()}
    lengths = {doc_id: len(words) for doc_id, (words, _) in read_docs.items()}
    df = {term: sum(term in held for held in terms.values()) for held in terms.values() for term in held}
    average = sum(lengths.values()) / len(docs)
    wanted = sum(read(query), ())
    return {
        doc_id: bm25_score(wanted, held, df, len(docs), average, doc_len=lengths[doc_id], **parameters)
        for doc_id, held in terms.items()
        if set(wanted) & set(held)
    }


def agree(one, other, rel=1e-12):
    return one.keys() == other.keys() and all(isclose(one[i], other[i], rel_tol=rel, abs_tol=0) for i in one)


# random corpora: few terms, so that they meet; identifiers, so that parts and lengths differ

tokens = st.sampled_from(
    "pump Alarm reset belt C page size page_size MX-4471-B 4471 pageSize a/b/page page.size".split()
)
texts = st.lists(tokens, max_size=12).map(" ".join)
term_lists = st.lists(st.sampled_from("pump alarm reset belt size".split()), max_size=12)
corpora = st.dictionaries(st.text("abc12", min_size=1, max_size=3), texts | term_lists, min_size=1, max_size=12)
queries = st.lists(tokens, max_size=5).map(" ".join) | st.lists(st.sampled_from(["pump", "size", "new"]), max_size=4)
k1s, bs = st.floats(0, 5), st.floats(0, 1)


@quick
@given(corpora, queries, k1s, bs)
def test_search_gives_the_scores_of_the_plain_function(docs, query, k1, b):
    index = BM25Index.build(docs, k1=k1, b=b)
    assert agree(scores(index, query), by_hand(docs, query, k1=k1, b=b))


@quick
@given(corpora, queries)
def test_search_gives_the_scores_of_the_plain_function_in_english_too(docs, query):
    english = Analyzer.english()
    assert agree(scores(BM25Index.build(docs, english), query), by_hand(docs, query, english))


@quick
@given(corpora, queries, k1s, bs)
def test_search_is_the_rank_of_all_scores(docs, query, k1, b):
    index = BM25Index.build(docs, k1=k1, b=b)
    hits = index.search(query, k=1000)
    assert [hit.doc_id for hit in hits] == rank(scores(index, query))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@quick
@given(corpora, queries, st.integers(1, 12), st.integers(1, 12))
def test_a_shorter_list_starts_the_longer_one(docs, query, k, more):
    index = BM25Index.build(docs)
    assert index.search(query, k) == index.search(query, k + more)[:k]


@quick
@given(corpora, queries, st.randoms(use_true_random=False))
def test_the_order_of_the_documents_does_not_matter(docs, query, random):
    shuffled = list(docs.items())
    random.shuffle(shuffled)
    assert BM25Index.build(shuffled).search(query, 1000) == BM25Index.build(docs).search(query, 1000)


@quick
@given(corpora, queries, k1s, bs)
def test_the_rows_of_an_explanation_sum_to_the_score(docs, query, k1, b):
    index = BM25Index.build(docs, k1=k1, b=b)
    found = scores(index, query)
    for doc_id in docs:
        explanation = index.explain(query, doc_id)
        assert isclose(explanation.total, found.get(doc_id, 0.0), rel_tol=1e-12)
        assert explanation.total == sum(row.score for row in explanation.rows)
        for row in explanation.rows:
            assert isclose(row.score, row.idf * row.saturation, rel_tol=1e-12)
            assert (row.tf > 0) == (row.score > 0)


@quick
@given(corpora, queries)
def test_rank_of_is_the_place_in_the_search(docs, query):
    index = BM25Index.build(docs)
    places = {doc_id: place for place, doc_id in enumerate(ids(index, query), start=1)}
    assert {doc_id: index.rank_of(query, doc_id) for doc_id in docs} == {i: places.get(i) for i in docs}


@quick
@given(corpora, queries, k1s, bs)
def test_other_parameters_are_those_of_a_fresh_index_and_the_way_back_is_exact(docs, query, k1, b):
    index = BM25Index.build(docs)
    before = index.search(query)
    other = index.with_params(k1=k1, b=b)
    assert other.search(query) == BM25Index.build(docs, k1=k1, b=b).search(query)
    assert index.search(query) == before
    assert other.with_params(k1=1.2, b=0.75).search(query) == before


@quick
@given(corpora)
def test_the_counts_are_those_of_the_documents(docs):
    index, analyzer = BM25Index.build(docs), Analyzer.standard()
    read = [analyzer(text) if isinstance(text, str) else (tuple(text), ()) for text in docs.values()]
    held = [set(words + parts) for words, parts in read]
    stats = index.stats()
    assert (stats.n_docs, stats.n_terms) == (len(docs), len(set().union(*held)))
    assert stats.n_postings == sum(map(len, held))
    assert stats.avgdl == index.avgdl == sum(len(words) for words, _ in read) / len(docs)
    assert all(index.df(term) == sum(term in terms for terms in held) for term in [*set().union(*held), "new"])


# hand-worked values


@pytest.mark.parametrize(("doc_id", "value"), [("d1", "0.141820"), ("d2", "0.119557"), ("d3", "0.141820")])
def test_a_term_in_every_document_still_finds_them_all(doc_id, value):
    assert f"{scores(BM25Index.build(PUMPS), ['pump'])[doc_id]:.6f}" == value


def test_a_term_in_half_of_the_documents_weighs_ln_2():
    index = BM25Index.build({"a": "x", "b": "x", "c": "y", "d": "y"})
    assert index.explain("x", "a").rows[0].idf == idf(4, 2)
    assert f"{scores(index, 'x')['a']:.6f}" == "0.693147"


def test_an_empty_document_counts_in_n_and_in_avgdl_and_is_no_hit():
    index = BM25Index.build({"d1": [], "d2": ["a"], "d3": ["b", "a"]})
    assert [(hit.doc_id, f"{hit.score:.6f}") for hit in index.search(["a"])] == [
        ("d2", "0.470004"),
        ("d3", "0.333551"),
    ]
    assert (index.stats().n_docs, index.avgdl) == (3, 1.0)


def test_a_single_document_is_found():
    assert BM25Index.build({"only": "pump"}).search("pump") == [Hit("only", idf(1, 1))]


def test_a_query_term_counts_each_time_and_the_explanation_shows_it():
    index = BM25Index.build(PUMPS)
    once, thrice = index.explain(["belt"], "d3"), index.explain(["belt"] * 3, "d3")
    assert [row.term for row in thrice.rows] == ["belt"] * 3
    assert isclose(thrice.total, 3 * once.total, rel_tol=1e-12)
    assert isclose(scores(index, ["belt"] * 3)["d3"], 3 * scores(index, ["belt"])["d3"], rel_tol=1e-12)


# identifiers


@pytest.mark.parametrize("query", ["ERR_4021", "err_4021", "4021", "MX-4471-B", "mx-4471-b", "4471", "MX", "B"])
def test_an_identifier_is_found_whole_and_by_part(manual, query):
    assert "d2" in ids(manual, query)


def test_between_documents_alike_the_whole_match_comes_first():
    docs = {"z": "set page and size here", "a": "set the page_size here", "m": "size of one page"}
    assert ids(BM25Index.build(docs), "page_size")[0] == "a"


def test_parts_count_as_terms_and_not_in_the_length():
    index = BM25Index.build({"a": "page_size", "b": "page size"})
    assert [index.explain("page", doc_id).doc_len for doc_id in "ab"] == [1, 2]
    assert index.avgdl == 1.5
    assert index.df("page") == index.df("size") == 2
    assert index.df("page_size") == 1


def test_the_explanation_marks_parts(manual):
    explanation = manual.explain("page_size", "d1")
    rows = [(row.term, row.is_part, row.tf, row.df) for row in explanation.rows]
    assert rows == [("page_size", False, 1, 1), ("page", True, 1, 2), ("size", True, 1, 2)]
    for shown in (str(explanation), explanation._repr_html_()):
        assert "page (part)" in shown
        assert shown.count("(part)") == 2


def test_one_letter_terms_are_found():
    index = BM25Index.build({"d1": "C and R", "d2": "unit B"}, Analyzer.english())
    assert ids(index, "r") == ["d1"]
    assert ids(index, "b") == ["d2"]


# queries that find nothing


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("", "the query is blank"),
        (" \t\r\n", "the query is blank"),
        ([], "the query is blank"),
        ((), "the query is blank"),
        ("?!", "the analyzer keeps no word of it"),
        ("the of and", "the analyzer keeps no word of it"),
        ("unknown words", "no document holds any of the query's terms"),
        (["THE"], "no document holds any of the query's terms"),
    ],
)
def test_a_query_without_hits_says_why(query, reason):
    index = BM25Index.build(MANUAL, Analyzer.english())
    hits = index.search(query)
    assert hits == []
    assert hits.reason == reason
    assert reason in repr(hits)
    assert index.explain(query, "d1").total == 0
    assert reason in str(index.explain(query, "d1"))
    assert index.rank_of(query, "d1") is None


def test_a_query_with_hits_has_no_reason(manual):
    assert manual.search("pump").reason == ""
    assert manual.explain("pump", "d4").note == ""  # d4 is empty: that is the document's doing, not the query's


def test_documents_without_any_term_build_and_are_never_hits():
    for docs in ({"a": [], "b": []}, {"a": "", "b": "  "}, {"a": "?!"}):
        index = BM25Index.build(docs)
        assert index.search("pump") == []
        assert index.explain("pump", "a").total == 0
        assert index.stats().avgdl == index.stats().bytes_per_posting == 0.0
        assert index.with_params(b=1).search("pump") == []


def test_k_larger_than_the_hits_gives_the_hits(manual):
    assert ids(manual, "pump", 10**12) == ids(manual, "pump", 2) == ["d5", "d1"]
    assert manual.search("belt", k=5) == manual.search("belt", k=1)


def test_a_search_gives_10_hits_and_a_run_keeps_100_where_nothing_else_is_asked():
    index = BM25Index.build({f"d{number}": "pump" for number in range(120)})
    assert len(index.search("pump")) == 10
    assert len(index.run({"q": "pump"})["q"]) == 100


@pytest.mark.parametrize("k", [0, -1, np.int64(0), 0.5])
@pytest.mark.parametrize("query", ["pump", "unknown", ""])
def test_k_below_1_is_refused_whatever_the_query(manual, k, query):
    with pytest.raises(ValueError, match=f"k is {k}"):
        manual.search(query, k)


@pytest.mark.parametrize("k", [1.5, 2.0, "3", None, nan])
def test_k_is_a_whole_number(manual, k):
    with pytest.raises(TypeError):
        manual.search("pump", k)


def test_k_may_be_a_numpy_integer(manual):
    assert manual.search("pump", np.int64(1)) == manual.search("pump", 1)


# what an index is built from


def test_documents_come_as_a_mapping_or_in_any_iterable_of_pairs():
    pairs = list(MANUAL.items())
    expected = BM25Index.build(MANUAL).search("pump")
    for docs in (pairs, iter(pairs), (pair for pair in pairs), dict(pairs).items(), map(list, pairs)):
        assert BM25Index.build(docs).search("pump") == expected


def test_texts_go_through_the_analyzer_and_lists_are_terms():
    index = BM25Index.build({"text": "The Motor runs", "terms": ["Motor"]})
    assert ids(index, "MOTOR") == ids(index, ["motor"]) == ["text"]
    assert ids(index, ["Motor"]) == ids(index, ("Motor",)) == ["terms"]


@pytest.mark.parametrize(
    "docs", ["one string", b"bytes", "", ["text", "text"], [1, 2], [("a",)], [("a", "b", "c")], [{}]]
)
def test_what_is_no_collection_of_documents_is_a_type_error(docs):
    with pytest.raises(TypeError, match=r"docs (is one string|holds)"):
        BM25Index.build(docs)


@pytest.mark.parametrize("docs", [[], {}, (), iter([])])
def test_no_documents_is_a_value_error(docs):
    with pytest.raises(ValueError, match="nothing to search"):
        BM25Index.build(docs)


@pytest.mark.parametrize(
    "text", [None, 7, nan, b"pump", b"", bytearray(), {"pump"}, [1], ["pump", None], np.array(["pump"])]
)
def test_a_text_of_another_type_is_named_with_its_document(text):
    with pytest.raises(TypeError, match="document 'd7' is"):
        BM25Index.build([("d6", "fine"), ("d7", text)])


@pytest.mark.parametrize("query", [None, 7, b"pump", b"", {"pump": 1}, {"pump"}, [7], iter(["pump"])])
def test_a_query_of_another_type_is_a_type_error(manual, query):
    for ask in (manual.search, lambda query: manual.rank_of(query, "d1"), lambda query: manual.explain(query, "d1")):
        with pytest.raises(TypeError, match="the query is"):
            ask(query)


@pytest.mark.parametrize(
    "docs", [[("7", "a"), ("7", "b")], [(7, "a"), ("7", "b")], [("a", "x"), ("7", ""), ("7", "")]]
)
def test_a_repeated_id_is_refused_and_named(docs):
    with pytest.raises(ValueError, match="'7' is given twice"):
        BM25Index.build(docs)


def test_ids_are_strings_and_kept_as_they_are():
    index = BM25Index.build({7: "pump", "007": "pump", "NA": "pump", "1e5": "pump", "": "pump", np.int64(8): "pump"})
    assert ids(index, "pump") == ["NA", "8", "7", "1e5", "007", ""]
    assert all(type(doc_id) is str for doc_id in ids(index, "pump"))
    assert index.rank_of("pump", 7) == index.rank_of("pump", "7") == 3
    assert index.explain("pump", 7).doc_id == "7"


def test_one_text_under_two_ids_is_two_documents_that_tie():
    index = BM25Index.build({"d1": "the pump", "d2": "the pump", "d0": "the belt"})
    first, second = index.search("pump")
    assert (first.doc_id, second.doc_id) == ("d2", "d1")
    assert first.score == second.score


def test_ties_at_the_cut_fall_by_id_descending():
    docs = {f"d{number:02d}": "pump" for number in np.random.default_rng(1).permutation(60)}
    assert ids(BM25Index.build(docs), "pump", 5) == ["d59", "d58", "d57", "d56", "d55"]


def test_a_document_that_is_not_there_is_named(manual):
    with pytest.raises(LookupError, match="'d99'"):
        manual.rank_of("pump", "d99")
    with pytest.raises(LookupError, match="'d99'"):
        manual.explain("pump", "d99")


def test_a_long_document_and_a_long_query_are_searched():
    index = BM25Index.build({"long": "pump " * 100_000 + "needle", "short": "pump belt"})
    assert index.explain("needle", "long").doc_len == 100_001
    assert ids(index, "needle") == ["long"]
    assert ids(index, "belt " * 2_000) == ["short"]


def test_the_lines_of_windows_and_of_unix_are_alike():
    assert BM25Index.build({"d": "a\r\nb"}).search("b") == BM25Index.build({"d": "a\nb"}).search("b")


def test_an_error_while_the_documents_are_read_is_not_swallowed():
    def broken():
        yield "d1", "pump"
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        BM25Index.build(broken())


# parameters


@pytest.mark.parametrize(
    "bad", [{"k1": -1}, {"k1": nan}, {"k1": inf}, {"b": -0.1}, {"b": 1.1}, {"b": nan}, {"b": inf}, {"k1": -inf}]
)
def test_parameters_out_of_range_are_refused_when_the_index_is_made(manual, bad):
    (name,) = bad
    with pytest.raises(ValueError, match=f"{name} is"):
        BM25Index.build(PUMPS, **bad)
    with pytest.raises(ValueError, match=f"{name} is"):
        manual.with_params(**bad)


def test_0_is_a_value_and_none_keeps_the_present_one():
    index = BM25Index.build(PUMPS, k1=1.5, b=0.5)
    assert (index.with_params().k1, index.with_params().b) == (1.5, 0.5)
    assert (index.with_params(k1=0).k1, index.with_params(k1=0).b) == (0, 0.5)
    assert (index.with_params(b=0).k1, index.with_params(b=0).b) == (1.5, 0)


def test_k1_of_0_leaves_the_idf_alone():
    index = BM25Index.build({"a": "pump pump pump belt", "b": "pump", "c": "belt"}, k1=0)
    assert scores(index, "pump") == {"b": idf(3, 2), "a": idf(3, 2)}


def test_b_of_0_takes_length_out():
    index = BM25Index.build({"a": "pump " + "belt " * 50, "b": "pump"}, b=0)
    assert scores(index, "pump")["a"] == scores(index, "pump")["b"]


def test_parameters_changed_and_changed_back_leave_nothing_behind():
    index = BM25Index.build(MANUAL)
    for k1, b in [(1.2, 0.75), (0, 0), (3, 1), (1.2, 0.75)]:
        index = index.with_params(k1, b)
        assert index.search("reset the pump") == BM25Index.build(MANUAL, k1=k1, b=b).search("reset the pump")


@pytest.mark.parametrize("scalar", [np.float32, np.float64, np.longdouble, np.int64])
def test_numpy_parameters_count_for_their_value(scalar):
    index = BM25Index.build(PUMPS, k1=scalar(2.2), b=scalar(1))
    assert index.search(["alarm"]) == BM25Index.build(PUMPS, k1=float(scalar(2.2)), b=1.0).search(["alarm"])
    assert type(index.k1) is type(index.b) is float


def test_scores_are_plain_floats_and_ids_plain_strings(manual):
    for hit in manual.search("the pump"):
        assert (type(hit.doc_id), type(hit.score)) == (str, float)


# the run


def test_a_run_holds_what_search_gives_and_remembers_how(manual):
    run = manual.run({"q1": "pump", 2: "unknown", "q3": ["belt"]}, k=1)
    assert list(run) == ["q1", "2", "q3"]
    assert list(run["q1"]) == manual.search("pump", k=1)
    assert run["2"] == ()
    assert (run.record["k1"], run.record["b"]) == (1.2, 0.75)
    assert run.record["analyzer"] == manual.analyzer.record()


@pytest.mark.parametrize("queries", ["pump", ["pump"], [("q1", "pump")], None])
def test_queries_without_ids_are_a_type_error(manual, queries):
    with pytest.raises(TypeError, match=r"give \{query id: text\}"):
        manual.run(queries)


def test_a_run_refuses_two_queries_that_are_one_id(manual):
    with pytest.raises(ValueError, match="query '7' is given twice"):
        manual.run({7: "pump", "7": "belt"})


# what is built stays as it is


def test_the_postings_cannot_be_written_to(manual):
    p = manual.postings
    for values in (p.offsets, p.doc_numbers, p.frequencies, p.doc_lengths):
        with pytest.raises(ValueError, match="read-only"):
            values[:] = 0
    for thing in (manual, p, manual.stats(), manual.explain("pump", "d1"), manual.explain("pump", "d1").rows[0]):
        name = next(iter(getattr(thing, "__dataclass_fields__", ["term"])))
        with pytest.raises(AttributeError):
            setattr(thing, name, None)


def test_what_the_caller_does_with_the_documents_afterwards_does_not_matter():
    terms, docs = ["pump"], {"d1": "belt"}
    docs["d2"] = terms
    index = BM25Index.build(docs)
    terms.append("belt")
    docs["d1"] = "pump"
    assert ids(index, ["pump"]) == ["d2"]
    index.search(["pump"]).clear()
    assert ids(index, ["pump"]) == ["d2"]


def test_the_numbers_are_c_ints(manual):
    p = manual.postings
    assert {p.doc_numbers.dtype, p.frequencies.dtype, p.doc_lengths.dtype} == {np.dtype(np.intc)}
    bytes_held = p.offsets.nbytes + p.doc_numbers.nbytes + p.frequencies.nbytes + p.doc_lengths.nbytes
    assert manual.stats().bytes_per_posting == bytes_held / len(p.doc_numbers)


def test_an_index_that_was_used_can_be_copied_pickled_compared_and_hashed(manual):
    hits = manual.search("pump page_size")
    for twin in (copy.copy(manual), copy.deepcopy(manual), pickle.loads(pickle.dumps(manual))):
        assert twin.search("pump page_size") == hits
    assert manual.with_params() != manual
    assert BM25Index.build(PUMPS) != BM25Index.build(PUMPS)
    assert BM25Index.build(PUMPS).postings != BM25Index.build(PUMPS).postings
    assert len({manual, manual, manual.with_params(k1=2)}) == 2


def test_an_index_shows_itself_in_one_short_line(manual):
    assert (
        repr(manual)
        == f"BM25Index(5 documents, {manual.stats().n_terms} terms, analyzer 'standard', k1 = 1.2, b = 0.75)"
    )
    assert len(repr(manual.postings)) < 120


# what an explanation shows


def test_an_explanation_shows_a_row_a_term_and_the_total():
    lines = str(BM25Index.build(PUMPS).explain(["pump", "belt"], "d3")).splitlines()
    assert lines[0] == "d3: 1.1835 (2 terms, length factor 0.8929, k1 = 1.2, b = 0.75)"
    assert lines[1].split() == ["term", "tf", "df", "idf", "saturation", "score"]
    assert [line.split()[0] for line in lines[2:]] == ["pump", "belt", "total"]
    assert lines[-1].split()[-1] == "1.1835"


def test_the_table_of_an_explanation_escapes_what_the_documents_hold():
    page = BM25Index.build({"<b>&": ["<script>", "x"]}).explain(["<script>"], "<b>&")._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page


def test_a_term_that_no_document_holds_has_a_weight_and_adds_nothing(manual):
    (row,) = manual.explain("page_szie", "d1").rows[:1]
    assert (row.tf, row.df, row.score) == (0, 0, 0.0)
    assert row.idf == idf(5, 0) > manual.explain("page_size", "d1").rows[0].idf
