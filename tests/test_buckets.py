"""The triage: one bucket a failing query, the tests in their order, and where the printed code is wrong."""

import json
from dataclasses import FrozenInstanceError
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragkit import BM25Index, DenseIndex, Label, Triage, code_like, triage
from ragkit.corpora import constructed
from ragkit.corpora.chunks import Passages, characters, window
from ragkit.diagnosis.buckets import NONE_OF_THESE, TESTS, Test, misses
from ragkit.diagnosis.traits import common_traits
from ragkit.diagnosis.wholeness import breaks_off

quick = settings(deadline=None, derandomize=True, max_examples=80)

WHOLE = "Close the valve first. Then wait until the gauge reads zero."
BUCKETS = [test.name for test in TESTS]


def one(query="why does it stop", gold=("d1",), texts=None, **given):
    """The finding of one failing query."""
    texts = {"d1": WHOLE} if texts is None else texts
    return triage(["q"], {"q": set(gold)}, texts, {"q": query}, **given).findings["q"]


def words(n, end="."):
    return " ".join(["The light blinks twice and stays on."] * (n // 7) + ["word"] * (n % 7)).rstrip(".") + end


# the order, and the counts


def test_the_buckets_stand_from_upstream_to_downstream():
    assert BUCKETS == [
        "not indexed",
        "chunk suspect",
        "judgment error",
        "lexical finds it",
        "other code-like query",
        "dense blind",
    ]


def test_each_bucket():
    assert one(gold=["d9"]).bucket == "not indexed"
    assert one(texts={"d1": "Close the valve. Then wait until the"}).bucket == "chunk suspect"
    assert one(second={"q": {"d1": 0}}).bucket == "judgment error"
    assert one(lexical={"q": ["d1"]}, dense={"q": ["d7"]}).bucket == "lexical finds it"
    assert one("reset err_4021").bucket == "other code-like query"
    assert one().bucket == "dense blind"


def test_the_most_upstream_cause_wins():
    """All at once: absent, disputed, found by BM25, code-like. One is mended after the other."""
    given = {"second": {"q": {"d1": 0}}, "lexical": {"q": ["d1"]}, "dense": {"q": []}, "query": "reset err_4021"}
    cut = {"d1": "Close the valve. Then wait until the"}
    assert one(texts={}, **given).bucket == "not indexed"
    assert one(texts=cut, **given).bucket == "chunk suspect"
    assert one(**given).bucket == "judgment error"
    assert one(**given | {"second": {"q": {"d1": 1}}}).bucket == "lexical finds it"
    assert one(**given | {"second": None, "lexical": None}).bucket == "other code-like query"
    assert one(**given | {"second": None, "lexical": None, "query": "why"}).bucket == "dense blind"


# where the printed code is not right (CLAIMS: triage-code), and KINDS


def test_a_rank_of_none_is_handled():
    found = one(lexical={"q": ["d5"]}, dense={"q": ["d6"]})
    assert (found.bucket, found.evidence["dense"], found.evidence["lexical"]) == ("dense blind", None, None)
    assert "dense: nowhere" in found.why


def test_ranks_count_from_one():
    """0 is no rank, so the first place cannot be taken for a miss: here dense has it first, and BM25 too."""
    found = one(lexical={"q": ["d1"]}, dense={"q": ["d1"]})
    assert (found.bucket, found.evidence) == (NONE_OF_THESE, {"dense": 1, "lexical": 1})
    assert one(lexical={"q": ["d1"]}, dense={"q": ["x"]}).evidence["lexical"] == 1


def test_the_bounds_of_the_ranks():
    ten, fifty = [f"x{n}" for n in range(9)] + ["d1"], [f"x{n}" for n in range(49)] + ["d1"]
    assert one(lexical={"q": ten}, dense={"q": []}).bucket == "lexical finds it"
    assert one(lexical={"q": ["x", *ten]}, dense={"q": []}).bucket == "dense blind"
    assert one(lexical={"q": ten}, dense={"q": fifty}).bucket == NONE_OF_THESE
    assert one(lexical={"q": ten}, dense={"q": ["x", *fifty]}).bucket == "lexical finds it"
    assert one(lexical={"q": ["x", *ten]}, dense={"q": []}, lexical_k=11).bucket == "lexical finds it"
    assert one(dense={"q": fifty}, candidate_k=49).bucket == "dense blind"


def test_of_several_gold_passages_the_present_one_counts():
    found = one(gold=["d1", "d9"], lexical={"q": ["d1"]}, dense={"q": []})
    assert found.bucket == "lexical finds it"
    texts = {"d1": WHOLE, "d2": "Close the valve. Then wait until the"}
    assert one(gold=["d1", "d2"], texts=texts).bucket == "dense blind"
    assert one(gold=["d1", "d2"], texts={**texts, "d2": WHOLE}, second={"q": {"d1": 0}}).bucket == "dense blind"
    assert one(gold=["d2", "d9"], texts=texts).bucket == "chunk suspect"
    assert one(gold=["d8", "d9"], texts=texts).evidence == {"missing": ["d8", "d9"]}


def test_a_disputed_passage_is_not_what_a_ranker_has_to_find():
    """d1 is disputed and found by BM25, d2 is agreed and found by nobody."""
    texts = {"d1": WHOLE, "d2": WHOLE}
    found = one(gold=["d1", "d2"], texts=texts, second={"q": {"d1": 0, "d2": 1}}, lexical={"q": ["d1"]}, dense={})
    assert (found.bucket, found.evidence["passages"]) == ("dense blind", ["d2"])


@pytest.mark.parametrize("gold", [set(), {}, {"d1": 0}])
def test_empty_gold_is_an_error_and_no_bucket(gold):
    with pytest.raises(ValueError, match=r"'q' has no relevant document: no ranking can answer it"):
        triage(["q"], {"q": gold}, {"d1": WHOLE}, {"q": "why"})


def test_only_irrelevant_labels_are_empty_gold_too():
    with pytest.raises(ValueError, match="no relevant document"):
        triage(["q"], [Label("q", "d1", 0, 9, "irrelevant")], {"d1": WHOLE}, {"q": "why"})


def test_390_words_that_end_in_mid_sentence_are_suspect():
    text = words(390, end="")
    assert len(text.split()) == 390
    found = one(texts={"d1": text})
    assert found.bucket == "chunk suspect"
    assert "✂" in found.evidence["passages"]["d1"]


def test_a_short_passage_is_not_suspect_for_being_short():
    assert one(texts={"d1": "Returns the pump."}).bucket == "dense blind"
    assert one(texts={"d1": "... and then wait for the gauge."}).bucket == "chunk suspect"


# code-like


@pytest.mark.parametrize(
    "query",
    "err_4021|E4021|page_size|MX-4471-B|mx-4471-b|ERR_4021|e4021 twice|what is ERR4021?|(page_size)|np.linalg.norm|"
    "LinAlgError: Singular matrix|mean() of two|/etc/hosts|--dry-run|2.1.3|v2.1 or later|il2ra|404B|err 5018|"
    "numpy.linalg|__init__|config.yaml is empty|TDP-43".split("|"),
)
def test_what_is_code_like(query):
    assert code_like(query)


@pytest.mark.parametrize(
    "query",
    "|why does it stop|the 3rd pump|20mb of 5 kg|a 20-year-old pump|mid-2019|since the 1990s|"
    "end-to-end test|e.g. this|i.e. that|24/7 and/or|HTTP or TCP|3.5 volts|100%|U.S. law|it stopped.Then it ran|"
    "500-word page|1 in 5 million|0-dimensional|at 10:30|x|...|- - -|--|_|()".split("|"),
)
def test_what_is_not(query):
    assert code_like(query) == ()


def test_the_names_of_services_are_the_callers():
    assert code_like("is ledger down") == ()
    assert code_like("is Ledger down, or billing  hub?", names=["ledger", "Billing Hub"]) == (
        "Ledger",
        "billing  hub",
    )
    assert code_like("a hedger", names=["edge"]) == ()
    assert code_like("is c++ down", names=["C++", ""]) == ("c++",)
    assert one("is ledger down", names=["ledger"]).bucket == "other code-like query"
    assert one("is ledger down").bucket == "dense blind"


def test_code_like_refuses_what_is_no_query():
    with pytest.raises(TypeError, match="the query is a NoneType"):
        code_like(None)
    with pytest.raises(TypeError, match=r"\['ledger'\]"):
        code_like("a", names="ledger")


# spans and chunkings

DOC = (
    "# Seals\n\nThe housing drips when the pump hums at night. Old seals turn hard. "
    "To mend it, close the inlet and swap the ring. Then open it again."
)
SPAN = (DOC.index("close the inlet"), DOC.index(". Then"))
LABELS = [Label("q", "d", 0, len(DOC), "relevant", span=SPAN)]


def spanned(cuts, query="ring", docs=True, **given):
    origin = {f"d#{n}": ("d", *at) for n, at in enumerate(cuts, 1)}
    texts = {name: DOC[start:end] for name, (_, start, end) in origin.items()}
    given |= {"docs": {"d": DOC}} if docs else {}
    return triage(["q"], LABELS, texts, {"q": query}, origin=origin, **given).findings["q"]


def test_a_span_that_is_cut():
    middle = SPAN[0] + 10
    found = spanned([(0, middle), (middle, len(DOC))])
    assert (found.bucket, list(found.evidence["passages"])) == ("chunk suspect", ["d#1", "d#2"])
    assert found.evidence["passages"]["d#1"].endswith("close the ✂")
    assert found.evidence["passages"]["d#2"].startswith("the answer is cut: ✂ inlet")


def test_a_span_that_one_of_two_overlapping_passages_holds_is_not_cut():
    middle = SPAN[0] + 10
    assert spanned([(0, middle), (9, len(DOC))]).bucket == "dense blind"


def test_the_sentence_of_the_answer_counts_and_no_other():
    sentence = DOC.index("To mend")
    assert spanned([(sentence, len(DOC))]).bucket == "dense blind"
    inside = spanned([(sentence + 9, len(DOC))])
    assert "the sentence of the answer is cut: ✂" in inside.evidence["passages"]["d#1"]
    assert spanned([(sentence, SPAN[1])]).bucket == "chunk suspect"  # without its full stop
    assert spanned([(DOC.index("Old") + 4, len(DOC))]).bucket == "dense blind"  # another sentence is cut


def test_the_language_that_would_retrieve_it_stands_next_to_it():
    cuts = [(0, DOC.index("To mend")), (DOC.index("To mend"), len(DOC))]
    found = spanned(cuts, "housing drips and hums")
    assert found.bucket == "chunk suspect"
    assert "its language stands elsewhere: drips, housing, hums (1.00 of the query) in d#1" in found.why
    assert spanned(cuts, "how to swap the ring").bucket == "dense blind"
    assert spanned(cuts, "drips: swap the ring and close the inlet").bucket == "dense blind"  # less than half is lost
    assert spanned(cuts, "drips: swap the ring and close the inlet", language=0.1).bucket == "chunk suspect"
    assert spanned(cuts, "the of and").bucket == "dense blind"
    assert spanned(cuts, "zebra").bucket == "dense blind"


def test_a_part_of_a_document_that_is_not_indexed():
    assert spanned([(0, SPAN[0] - 5)]).bucket == "not indexed"
    assert triage(["q"], LABELS, {}, {"q": "ring"}).findings["q"].evidence == {"missing": ["d"]}


def test_passages_bring_their_origin():
    passages = Passages({"d": DOC}, characters(size=100))
    found = triage(["q"], LABELS, passages, {"q": "ring"}, docs={"d": DOC})
    assert "lost language" not in found.not_assessed
    assert found.counts["chunk suspect"] == 1
    kept = triage(["q"], LABELS, Passages({"d": DOC}, window()), {"q": "ring"}, docs={"d": DOC})
    assert kept.counts["dense blind"] == 1


def test_labels_of_documents_that_are_indexed_as_they_are():
    assert triage(["q"], LABELS, {"d": DOC}, {"q": "ring"}).counts["dense blind"] == 1
    assert triage(["q"], LABELS, {"d": DOC[: SPAN[0] + 5]}, {"q": "ring"}).counts["chunk suspect"] == 1


def test_a_twin_stands_for_its_document():
    qrels, texts = {"q": {"d60"}}, {"d61": WHOLE}
    assert triage(["q"], qrels, texts, {"q": "why"}).counts["not indexed"] == 1
    found = triage(["q"], qrels, texts, {"q": "why"}, aliases={"d61": "d60"}, lexical={"q": ["d61"]})
    assert found.counts["lexical finds it"] == 1
    labels = [Label("q", "d61", 0, len(DOC), "relevant", span=SPAN)]
    assert triage(["q"], labels, {"d60": DOC}, {"q": "ring"}, aliases={"d61": "d60"}).counts["dense blind"] == 1


def test_ids_with_the_documents_show_a_boundary_in_mid_sentence():
    texts = {"d#1": DOC[:60], "d#2": DOC[60:]}
    origin = {"d#1": ("d", 0, 60), "d#2": ("d", 60, len(DOC))}
    found = triage(["q"], {"q": {"d#2"}}, texts, {"q": "ring"}, docs={"d": DOC}, origin=origin)
    assert "a sentence is cut: ✂" in found.findings["q"].why


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        WHOLE,
        "Keyword arguments",
        "Do this. Then:\n\n- one\n- two",
        "See this. Then run\n\n>>> np.sum(a)\n3",
        "It is so. See\n\n| a | b |\n| 1 | 2 |",
        "numpy.sum\n\nSum of elements",
        '"It is done."',
        "It works (see above).",
        "p53 is a protein. It binds.",
    ],
)
def test_what_does_not_break_off(text):
    assert breaks_off(text) is None


# judgments


def test_the_second_reader_in_labels_and_in_grades():
    second = [Label("q", "d", 0, len(DOC), "irrelevant")]
    assert triage(["q"], LABELS, {"d": DOC}, {"q": "ring"}, second=second).counts["judgment error"] == 1
    partial = [Label("q", "d", 0, len(DOC), "partial")]
    assert triage(["q"], LABELS, {"d": DOC}, {"q": "ring"}, second=partial).counts["judgment error"] == 1
    assert triage(["q"], LABELS, {"d": DOC}, {"q": "ring"}, second=LABELS).counts["judgment error"] == 0


def test_what_the_second_reader_calls_relevant_instead_is_shown():
    found = one(texts={"d1": WHOLE, "d2": WHOLE}, second={"q": {"d1": 0, "d2": 1}}, dense={"q": ["x", "d2"]})
    assert found.evidence == {"disputed": ["d1"], "relevant to the second reader, and retrieved": {"d2": 2}}


def test_what_was_not_read_twice_is_not_disputed_and_is_told():
    found = triage(
        ["q", "r"], {"q": {"d1"}, "r": {"d1"}}, {"d1": WHOLE}, {"q": "a", "r": "b"}, second={"q": {"d1": 1}}
    )
    assert found.counts["judgment error"] == 0
    assert found.not_assessed["judgment error"] == "second: 1 of 2 queries were not read a second time"


def test_a_second_reader_without_grades_cannot_disagree():
    with pytest.raises(TypeError, match="'q' only lists what is relevant"):
        one(second={"q": {"d1"}})


# what comes out


def test_what_is_not_given_is_not_assessed():
    assert list(triage([], {}, {}, {}).not_assessed) == [
        "dense ranks",
        "lexical finds it",
        "judgment error",
        "lost language",
        "common traits",
    ]


def test_indexes_in_place_of_runs():
    texts = {"d1": "The mx-4471-b drips.", "d2": "Something else.", "d3": "Once more."}
    dense = DenseIndex.from_vectors(["d1", "d2", "d3"], [[-1, 0], [1, 0], [1, 1]], encoder=East())
    found = triage(
        ["q"],
        {"q": {"d1"}},
        texts,
        {"q": "mx-4471-b"},
        dense=dense,
        lexical=BM25Index.build(texts),
        candidate_k=2,
    ).findings["q"]
    assert (found.bucket, found.evidence) == ("lexical finds it", {"lexical": 1, "dense": 3, "codes": ["mx-4471-b"]})


class East:
    dim = 2

    def encode(self, texts, kind="document"):
        import numpy as np

        return np.array([[1, 0]] * len(texts), dtype=np.float32)


def test_a_test_of_ones_own_stands_where_it_is_put():
    retired = Test("retired product", lambda case: "mx-3" in case.query and {"product": "MX-3"})
    tests = (*TESTS[:2], retired, *TESTS[2:])
    found = one("the mx-3 stops", second={"q": {"d1": 0}}, tests=tests)
    assert (found.bucket, dict(found.evidence)) == ("retired product", {"product": "MX-3"})
    assert one("the mx-3 stops", gold=["d9"], tests=tests).bucket == "not indexed"
    found = triage(["q"], {"q": {"d1"}}, {"d1": WHOLE}, {"q": "the mx-3"}, tests=tests)
    assert list(found.counts) == [*BUCKETS[:2], "retired product", *BUCKETS[2:]]
    for evidence, kept in ((True, {}), ("a line", {"evidence": "a line"}), ({}, {})):
        found = one(tests=[Test("mine", lambda case, evidence=evidence: evidence)])
        assert (found.bucket, dict(found.evidence)) == ("mine", kept)
    assert one(tests=[]).bucket == NONE_OF_THESE
    with pytest.raises(ValueError, match="two tests are named 'mine'"):
        one(tests=[Test("mine", bool), Test("mine", bool)])


def test_a_case_shows_what_is_known():
    seen = []
    one("err_4021", gold=["d1", "d9"], dense={"q": ["x", "d1"]}, tests=[Test("look", seen.append)])
    (case,) = seen
    assert [answer.doc_id for answer in case.answers] == ["d1", "d9"]
    assert (case.whole, case.agreed, case.disputed) == (("d1",), ("d1",), ())
    assert (case.dense, case.lexical, case.best_dense, case.best_lexical) == ({"d1": 2}, {"d1": None}, 2, None)
    assert (case.codes, case.dense_misses, len(case.present)) == (("err_4021",), False, 1)


def test_results_are_frozen_and_show_themselves():
    made = constructed.failures_of_240()
    found = triage(
        misses(made.runs, made.qrels), made.qrels, made.texts, made.queries, dense=made.runs, about=made.about
    )
    with pytest.raises(FrozenInstanceError):
        found.counts = {}
    with pytest.raises(TypeError):
        found.counts["dense blind"] = 0
    with pytest.raises(TypeError):
        next(iter(found.findings.values())).evidence["x"] = 1
    assert isinstance(found, Triage)
    assert repr(found) == found.table()
    assert "size_mb ≥ 21: 18 of 18 here, 7.5% of all" in found.table()
    html = found._repr_html_()
    assert html.count("<tr>") == 7
    assert "125 failing queries" in html
    assert json.loads(json.dumps(found.to_dict()))["counts"] == found.counts
    with pytest.raises(KeyError, match="no bucket 'blind'"):
        found["blind"]


def test_html_escapes_what_it_shows():
    found = triage(["q"], {"q": {"d1"}}, {"d1": WHOLE}, {"q": "<script>alert(1)</script>"})
    assert "<script>" not in found._repr_html_()


# groups


def test_groups_by_value_by_bound_and_by_date():
    about = {
        f"d{n}": {
            "type": "pdf" if n < 6 else "md",
            "size": float(n % 10),
            "date": date(2025, 1 + (n < 6), 1 + n % 28),
            "site": "x",
            "flag": n < 6,
            "odd": [n],
        }
        for n in range(60)
    }
    found = common_traits({"here": {f"d{n}" for n in range(6)}, "few": {"d0", "d1"}, "none": set()}, about)
    assert list(found) == ["here"]
    assert {(group.attribute, group.value, group.inside, group.of) for group in found["here"]} == {
        ("type", "pdf", 6, 6),
        ("date", "≥ 2025-02-01", 6, 6),
        ("flag", "True", 6, 6),
    }
    assert found["here"][0].share == 0.1


def test_a_document_that_about_does_not_know_does_no_harm():
    assert common_traits({"here": {"d1", "d2"}}, {"d7": {"type": "pdf"}, "d8": {}}) == {}
    with pytest.raises(TypeError, match="about is"):
        common_traits({}, {"d1": "pdf"})


def test_dates_and_numbers_in_one_attribute_are_read_as_they_stand():
    about = {f"d{n}": {"when": date(2025, 1, 1) if n % 2 else n} for n in range(30)}
    common_traits({"here": {f"d{n}" for n in range(1, 12, 2)}}, about)


# misses


def test_a_query_whose_answer_no_passage_holds_is_a_miss():
    labels = [*LABELS, Label("r", "gone", 0, 9, "relevant", span=(0, 9)), Label("s", "d", 0, 9, "irrelevant")]
    assert misses({"q": ["d"], "r": ["d"], "s": []}, labels, 5) == ("r",)
    assert misses({"q": ["d#1"]}, labels, 5, origin={"d#1": ("d", 0, SPAN[1] - 1)}) == ("q", "r")
    assert misses({"q": ["x", "d"]}, {"q": {"d"}, "r": {"d": 0}}, 1) == ("q",)
    assert misses({"q": ["x", "d"]}, {"q": {"d"}}, 2) == ()
    with pytest.raises(ValueError, match="k is 0"):
        misses({}, {}, 0)


# bad input

GOOD = {"failing": ["q"], "labels": {"q": {"d1"}}, "texts": {"d1": WHOLE}, "queries": {"q": "why"}}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"failing": "q"}, TypeError, "failing is a str"),
        ({"failing": 3}, TypeError, "failing is a int"),
        ({"failing": ["q", "q"]}, ValueError, "query 'q' is given twice"),
        ({"failing": ["r"]}, ValueError, "query 'r' fails, and has no text"),
        ({"failing": ["r"], "queries": {"r": "a"}}, ValueError, "query 'r' fails, and the labels do not have it"),
        ({"labels": "labels"}, TypeError, "the labels are a str"),
        ({"labels": None}, TypeError, "the labels are a NoneType"),
        ({"labels": [("q", "d1")]}, TypeError, "is no label"),
        ({"labels": {"q": {"d1": "high"}}}, ValueError, "has the grade 'high'"),
        ({"texts": ["a"]}, TypeError, "texts is a list"),
        ({"texts": {"d1": None}}, TypeError, "texts: 'd1' is a NoneType"),
        ({"texts": {1: "a", "1": "b"}}, ValueError, "texts: '1' is given twice"),
        ({"queries": "why"}, TypeError, "queries is a str"),
        ({"dense": 7}, TypeError, "dense is a int"),
        ({"lexical": {"q": "d1"}}, TypeError, "the ranking is a str"),
        ({"dense": {"q": ["d1", "d1"]}}, ValueError, "stands twice"),
        ({"origin": {}}, ValueError, "texts has 'd1', and origin does not say where"),
        ({"candidate_k": 0}, ValueError, "candidate_k: k is 0"),
        ({"lexical_k": 1.5}, ValueError, "lexical_k: k is 1.5"),
        ({"language": 2}, ValueError, "language is 2"),
        ({"aliases": {"a": "b", "b": "a"}}, ValueError, "circle"),
        ({"about": {"d1": 3}}, TypeError, "about is"),
        ({"names": "ledger"}, TypeError, "names is one string"),
    ],
)
def test_bad_input_is_a_clear_error(given, error, message):
    with pytest.raises(error, match=message):
        triage(**GOOD | given)


def test_a_label_for_a_document_that_is_nowhere_is_named():
    assert one(gold=["gone"]).evidence["missing"] == ["gone"]


# for any input

ids = st.sampled_from(["d1", "d2", "d3", "d4"])
qids = st.sampled_from(["q1", "q2", "q3", "q4", "q5"])
text = st.sampled_from(
    ["", " ", WHOLE, "Close it. Then wait until the", "... and so on.", "err_4021", "- a\n- b", "ß . 9"]
)
lists = st.dictionaries(qids, st.lists(ids, unique=True, max_size=4))


@st.composite
def worlds(draw):
    qrels = draw(st.dictionaries(qids, st.dictionaries(ids, st.just(1), min_size=1), min_size=1))
    return {
        "failing": list(qrels),
        "labels": qrels,
        "texts": draw(st.dictionaries(ids, text)),
        "queries": {qid: draw(st.sampled_from(["", "why", "err_4021", "E4021 of", "…"])) for qid in qrels},
        "dense": draw(st.none() | lists),
        "lexical": draw(st.none() | lists),
        "second": draw(st.none() | st.dictionaries(qids, st.dictionaries(ids, st.integers(0, 2)))),
        "candidate_k": draw(st.integers(1, 5)),
        "lexical_k": draw(st.integers(1, 5)),
        "about": draw(st.none() | st.dictionaries(ids, st.dictionaries(st.sampled_from("ab"), st.integers(0, 3)))),
    }


@quick
@given(worlds())
def test_the_counts_add_up_and_the_order_is_kept(world):
    found = triage(**world)
    assert sum(found.counts.values()) == found.n == len(world["failing"])
    assert list(found.counts)[:6] == BUCKETS
    assert list(found.findings) == world["failing"]
    assert sorted(one.qid for bucket in found.counts for one in found[bucket]) == sorted(world["failing"])
    # each test alone: a query stands in the bucket of the first one that fires by itself
    alone = [triage(**world, tests=[test]) for test in TESTS]
    for qid, finding in found.findings.items():
        fired = [test.name for test, own in zip(TESTS, alone, strict=True) if own.findings[qid].bucket == test.name]
        assert finding.bucket == (fired[0] if fired else NONE_OF_THESE)
    json.dumps(found.to_dict())
    assert found.table()
    assert found._repr_html_()


@quick
@given(st.data())
def test_any_spans_and_any_chunking(data):
    bounds = sorted(data.draw(st.sets(st.integers(0, len(DOC)), min_size=2, max_size=6)))
    cuts = list(pairwise(bounds))
    begin = data.draw(st.integers(0, len(DOC) - 1))
    stop = data.draw(st.integers(begin + 1, len(DOC)))
    labels = [Label("q", "d", 0, len(DOC), "relevant", span=(begin, stop))]
    origin = {f"d#{n}": ("d", *at) for n, at in enumerate(cuts)}
    texts = {name: DOC[start:end] for name, (_, start, end) in origin.items()}
    docs = data.draw(st.sampled_from([None, {"d": DOC}, {"d": "another text"}]))
    found = triage(["q"], labels, texts, {"q": "housing drips"}, origin=origin, docs=docs).findings["q"]
    touched = any(start < stop and begin < end for start, end in cuts)
    held = any(start <= begin and stop <= end for start, end in cuts)
    assert (found.bucket == "not indexed") == (not touched)
    if touched and not held:
        assert found.bucket == "chunk suspect"


@quick
@given(st.text(), st.lists(st.text(), max_size=3))
@example("((((((", ["("])
@example("a." * 30, [])
@example("/" * 200 + "a_" * 50, [])
def test_code_like_takes_any_text(query, names):
    assert all(isinstance(token, str) and token in query for token in code_like(query, names))


@quick
@given(st.text(st.sampled_from("aB.!? \n-|>#:=12,…\"'")))
def test_breaks_off_takes_any_text(text):
    assert breaks_off(text) is None or "✂" in breaks_off(text)
