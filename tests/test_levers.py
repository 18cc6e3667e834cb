"""The levers: every figure by hand, each lever where the numbers support it, nothing taken for absent."""

import json
import sys
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ragkit import Diagnosis, Label, diagnose, precision_at_k, qrels_from_labels, recall_at_k, triage
from ragkit.corpora import constructed
from ragkit.diagnosis.buckets import misses
from ragkit.diagnosis.levers import BUCKET_LEVERS

quick = settings(deadline=None, derandomize=True, max_examples=60)


def lists(places, n_queries, depth=50):
    """Each query has its relevant documents at these places of a list of `depth`."""
    runs = {
        f"q{n}": [f"{'yes' if place in places else 'no'}-{place}" for place in range(1, depth + 1)]
        for n in range(n_queries)
    }
    return runs, {qid: {f"yes-{place}" for place in places} for qid in runs}


def triaged_as(n=20, **counts):
    """A triage of failing queries that fall into buckets as the counts say."""
    whole, cut = "Close the valve first. Then wait.", "Close the valve first. Then wait until the"
    texts, queries, qrels, lexical, second = {}, {}, {}, {}, {}
    number = 0
    for kind, count in counts.items():
        for _ in range(count):
            qid, doc = f"q{number}", f"d{number}"
            number += 1
            queries[qid], qrels[qid] = ("err_4021" if kind == "code" else "why"), {doc}
            second[qid] = {doc: int(kind != "disputed")}
            if kind != "absent":
                texts[doc] = cut if kind == "cut" else whole
            if kind == "lexical":
                lexical[qid] = [doc]
    return triage(queries, qrels, texts, queries, dense={}, lexical=lexical, second=second)


LOW = ({f"q{n}": ["yes"] * (n < 10) + ["no"] for n in range(20)}, {f"q{n}": {"yes"} for n in range(20)})


# the figures


def test_by_hand():
    """q1 has two of three within 6, one of them within 2; q2 one, below 2; q3 none; q4 has nothing relevant."""
    runs = {
        "q1": ["a", "x1", "x2", "b", "x3", "x4", "c"],
        "q2": ["x1", "x2", "d"],
        "q3": ["x1", "x2", "x3", "x4", "x5", "x6"],
    }
    qrels = {"q1": {"a": 1, "b": 2, "c": 1, "x1": 0}, "q2": {"d": 1}, "q3": {"e": 1}, "q4": {"x1": 0}}
    found = diagnose(runs, qrels, candidate_k=6, consumer_k=2)
    assert (found.n, found.recall_candidate.left_out) == (3, ("q4",))
    assert found.recall_candidate.values == {"q1": 1, "q2": 1, "q3": 0}
    assert found.recall_consumer.values == {"q1": 1, "q2": 0, "q3": 0}
    assert found.precision.values == {"q1": 0.5, "q2": 0, "q3": 0}
    assert found.attainable_precision.values == {"q1": 1.0, "q2": 0.5, "q3": 0}
    assert found.recall_gain.values == {"q1": 0, "q2": 1, "q3": 0}
    assert found.precision_gain.values == {"q1": 0.5, "q2": 0.5, "q3": 0}
    assert found.judged.values == {"q1": 1.0, "q2": 0.0, "q3": 0.0}


def test_precision_is_compared_with_what_is_attainable():
    """0.162 of 0.203 is four fifths: reordering is worth it. 0.2 of 0.2 is all there is, however low it looks."""
    runs, qrels = lists([1], 20)
    found = diagnose(runs, qrels)
    assert (found.precision, found.attainable_precision, found.lever) == (0.2, 0.2, "leave it")
    runs = {f"q{n}": [f"n{m}" for m in range(7)] for n in range(1000)}
    qrels = {qid: {"yes"} for qid in runs}
    for n in range(1000):
        runs[f"q{n}"][0 if n < 795 else 6] = "yes"
        if n < 15:
            runs[f"q{n}"][1 if n < 15 else 6] = "too"
            qrels[f"q{n}"] = {"yes", "too"}
    found = diagnose(runs, qrels, precision_enough=0.85)
    assert f"{found.precision:.3f} {found.attainable_precision:.3f}" == "0.162 0.203"
    assert found.lever == "rerank"
    assert diagnose(runs, qrels, precision_enough=0.75, worth=0.3).lever == "leave it"


def test_five_near_duplicates_are_one_answer():
    runs, qrels, texts = constructed.five_near_duplicates()
    found = diagnose(runs, qrels, texts=texts)
    assert (found.precision, found.distinct, found.attainable_distinct) == (1.0, 1.0, 5.0)
    assert found.repeats == pytest.approx(0.8)
    assert found.lever == "deduplicate"
    assert "a query gets 1.00 distinct answers" in found.why
    one = diagnose(*constructed.five_near_duplicates(labelled=1)[:2], texts=texts)
    assert (one.precision, one.distinct, one.lever) == (0.2, 1.0, "deduplicate")
    blind = diagnose(runs, qrels)
    assert (blind.distinct, blind.lever) == (None, "leave it")
    assert blind.not_assessed["distinct answers"] == "texts, or aliases"


def test_twins_by_hash_and_by_alias():
    runs, qrels, texts = constructed.five_queries()
    for told in ({"texts": texts}, {"aliases": {"d61": "d60", "d62": "d60"}}):
        found = diagnose(runs, qrels, candidate_k=10, **told)
        assert found.distinct.values["q5"] == 1
        assert found.repeats.values["q5"] == 0.2
        assert any("1 of the queries that miss show the text of a relevant document" in c for c in found.caveats)
    found = diagnose(runs, qrels, candidate_k=10, aliases={"d62": "d61", "d61": "d60"})
    assert found.distinct.values["q5"] == 1


def test_attainable_precision_in_the_published_case():
    found = diagnose(*constructed.high_recall_low_precision())
    assert found.lever == "rerank"
    assert (f"{found.recall_candidate:.2f}", f"{found.precision:.2f}") == ("0.93", "0.41")
    assert set(found.figures) == {"recall_gain", "precision", "attainable_precision"}
    two = lists([20, 30], 10)
    assert diagnose(*two).attainable_precision == pytest.approx(0.4)


def test_no_gap_in_recall_and_yet_a_gap_in_precision():
    found = diagnose(*constructed.one_above_two_below())
    assert (found.recall_gain, found.precision) == (0, 0.2)
    assert found.attainable_precision == pytest.approx(0.6)
    assert found.lever == "rerank"


def test_the_shallow_prompt():
    found = diagnose(*constructed.shallow_prompt(), consumer_k=8)
    assert f"{found.recall_gain:.2f}" == "0.32"
    assert found.lever == "rerank"


# latency


@pytest.mark.parametrize(
    ("budget", "before", "pairs"), [(40, 0, 57), (35, 0, 50), (40, 5, 50), (40, 10, 42), (5, 5, 0), (5, 9, 0)]
)
def test_how_many_pairs_fit(budget, before, pairs):
    runs, qrels = constructed.shallow_prompt()
    found = diagnose(runs, qrels, budget_ms=budget, rerank_ms_per_pair=0.7, first_stage_ms=before)
    assert found.pairs == pairs
    if pairs:
        assert found.recall_pairs == recall_at_k(runs, qrels, min(pairs, 50))
    else:
        assert found.recall_pairs is None


def test_fewer_candidates_where_only_some_fit_and_the_first_stage_where_none_does():
    runs, qrels = constructed.shallow_prompt()
    some = diagnose(runs, qrels, budget_ms=20, rerank_ms_per_pair=0.7)
    assert some.lever == "fewer candidates"
    assert "28 pairs fit the budget, not 50" in some.why
    none = diagnose(runs, qrels, budget_ms=3, rerank_ms_per_pair=0.7)
    assert none.lever == "triage first"
    assert "recall at 5 governs" in none.why
    enough = diagnose(runs, qrels, budget_ms=40, rerank_ms_per_pair=0.7)
    assert enough.lever == "rerank"
    late = [f"no-{n}" for n in range(50)]
    found = diagnose({"q": ["yes", *late[:30], "too"]}, {"q": {"yes", "too"}}, budget_ms=1, rerank_ms_per_pair=1)
    assert found.lever == "leave it"
    assert "1 pairs fit" in found.why


def test_half_of_a_budget_is_not_assessed():
    runs, qrels = lists([1], 3)
    assert diagnose(runs, qrels, budget_ms=3).not_assessed["latency"] == "budget_ms and rerank_ms_per_pair"
    assert "latency" not in diagnose(runs, qrels, budget_ms=3, rerank_ms_per_pair=1).not_assessed


# a low recall


def test_a_low_recall_asks_for_a_triage():
    found = diagnose(*LOW)
    assert found.lever == "triage first"
    assert "10 of 20 queries miss" in found.why


@pytest.mark.parametrize(
    ("counts", "lever"),
    [
        ({"absent": 4, "cut": 3, "disputed": 2, "lexical": 1}, "fix ingestion"),
        ({"absent": 3, "cut": 4, "disputed": 2, "lexical": 1}, "re-chunk"),
        ({"absent": 2, "cut": 2, "disputed": 4, "lexical": 2}, "label more"),
        ({"absent": 1, "cut": 2, "lexical": 2, "code": 2, "blind": 3}, "fuse"),  # both code-like buckets together
        ({"absent": 2, "cut": 2, "lexical": 2, "blind": 4}, "fix ingestion"),  # of equal ones the most upstream
        ({"absent": 2, "lexical": 2, "blind": 6}, "adapt the encoder"),
        ({"absent": 1, "lexical": 4, "blind": 5}, "fuse"),  # half is not more than half
        ({"blind": 10}, "adapt the encoder"),
    ],
)
def test_the_buckets_name_the_lever(counts, lever):
    found = diagnose(*LOW, triaged=triaged_as(**counts))
    assert found.lever == lever
    assert found.caveats == () or not any("the triage is of" in caveat for caveat in found.caveats)


def test_the_encoder_is_not_blamed_for_what_was_not_assessed():
    texts = {f"d{n}": "Close the valve first. Then wait." for n in range(10)}
    queries = {f"q{n}": "why" for n in range(10)}
    bare = triage(queries, {f"q{n}": {f"d{n}"} for n in range(10)}, texts, queries)
    found = diagnose(*LOW, triaged=bare)
    assert found.lever == "triage first"
    assert "not assessed: judgment error, lexical finds it, dense ranks" in found.why


def test_a_bucket_of_ones_own_names_no_lever():
    from ragkit.diagnosis.buckets import Test

    queries = {f"q{n}": "why" for n in range(10)}
    qrels = {qid: {"d"} for qid in queries}
    mine = triage(queries, qrels, {"d": "x"}, queries, tests=[Test("mine", lambda case: True)])
    assert diagnose(*LOW, triaged=mine).lever == "triage first"
    assert diagnose(*LOW, triaged=triage([], {}, {}, {})).lever == "triage first"


def test_the_published_triage():
    made = constructed.failures_of_240()
    done = triage(
        misses(made.runs, made.qrels), made.qrels, made.texts, made.queries,
        dense=made.runs, lexical=made.lexical, second=made.second,
    )  # fmt: skip
    found = diagnose(made.runs, made.qrels, triaged=done)
    assert found.lever == "re-chunk"
    assert "31 of 125" in found.why
    assert found.to_dict()["triage"] == done.counts


def test_answers_that_are_not_indexed_point_at_ingestion():
    runs, _ = LOW
    qrels = {qid: {"yes" if n < 10 else f"pdf-{n}"} for n, qid in enumerate(runs)}
    texts = {"yes": "one", "no": "other"}
    found = diagnose(runs, qrels, texts=texts)
    assert (found.lever, found.indexed) == ("fix ingestion", 0.5)
    assert "of 10 of these no answer is in the index" in found.why
    twins = diagnose(runs, qrels, texts=texts, aliases={f"pdf-{n}": "no" for n in range(10, 20)})
    assert twins.indexed == 1.0
    assert diagnose(*LOW, texts={"yes": "one"}).lever == "triage first"


def test_a_triage_of_other_failures_is_told():
    found = diagnose(*LOW, triaged=triaged_as(cut=3))
    assert "the triage is of 3 failures, and 10 queries miss at 50" in found.caveats


# labels


def test_where_few_are_judged_the_labels_come_first():
    runs = {f"q{n}": [f"n{m}" for m in range(9)] + ["yes"] for n in range(20)}
    sparse = {qid: {"yes": 1, "zero": 0} for qid in runs}
    found = diagnose(runs, sparse)
    assert (found.lever, found.judged) == ("label more", 0)
    full = {qid: {"yes": 1, **{f"n{m}": 0 for m in range(9)}} for qid in runs}
    assert (diagnose(runs, full).lever, diagnose(runs, full).judged) == ("rerank", 1)
    good = {qid: ["yes", "n1", "n2", "n3", "n4"] for qid in runs}
    assert diagnose(good, sparse).lever == "leave it"  # nothing is blamed


@pytest.mark.parametrize("qrels", [{"q": {"yes"}}, {"q": {"yes": 1}}, {"q": {"yes": 1}, "r": {"no"}}])
def test_labels_that_only_list_what_is_relevant_do_not_tell_what_is_judged(qrels):
    found = diagnose({"q": ["yes", "no"]}, qrels)
    assert found.judged is None
    assert "grade 0" in found.not_assessed["judged share"]


def test_labels_that_no_passage_holds_are_told():
    labels = [Label(f"q{n}", f"d{n}", 0, 50, "relevant", span=(10, 20)) for n in range(3)]
    qrels = qrels_from_labels(labels, {"d0#1": ("d0", 0, 50), "d1#1": ("d1", 0, 15)})
    found = diagnose({"q0": ["d0#1"]}, qrels)
    assert any(caveat.startswith("2 labels name answers that no passage holds") for caveat in found.caveats)


# what is shown


def test_everything_that_was_not_given_is_not_assessed_and_never_absent():
    found = diagnose(*lists([1], 3))
    assert list(found.not_assessed) == [
        "distinct answers",
        "judged share",
        "answers that are not indexed",
        "latency",
        "causes of the misses",
    ]
    assert (found.distinct, found.judged, found.indexed, found.pairs, found.recall_pairs) == (None,) * 5
    for what in found.not_assessed:
        assert f"not assessed: {what}" in repr(found)
        assert f"Not assessed: {what}" in found._repr_html_()


def test_a_short_list_and_an_interval_that_holds_the_threshold_are_told():
    found = diagnose(*lists([1], 3, depth=10))
    assert "no list is longer than 10, so recall at 50 may be too low" in found.caveats
    assert any("do not settle it" in caveat for caveat in found.caveats)
    many = diagnose(*lists([1], 300))
    assert many.caveats == ()


def test_results_are_frozen_and_become_json():
    runs, qrels, texts = constructed.five_near_duplicates()
    found = diagnose(runs, qrels, texts=texts, budget_ms=40, rerank_ms_per_pair=0.7)
    assert isinstance(found, Diagnosis)
    with pytest.raises(FrozenInstanceError):
        found.lever = "rerank"
    with pytest.raises(TypeError):
        found.figures["precision"] = 0
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (said["lever"], said["precision"]["value"], said["judged"]) == ("deduplicate", 1.0, None)
    assert said["repeats"]["interval"] is None  # one query
    assert said["recall_gain"] == {"value": 0.0, "n": 1, "interval": None}
    assert "none, from one query" in repr(found)


def test_intervals_without_scipy(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)
    found = diagnose(*lists([1], 3))
    assert found.lever == "leave it"
    assert "pip install scipy" in repr(found)
    assert found.to_dict()["precision"]["interval"] is None


def test_the_html_escapes():
    found = diagnose({"q": ["a"]}, {"q": {"<b>"}})
    assert "<b>" not in found._repr_html_()


# bad input

GOOD = {"runs": {"q": ["d1"]}, "qrels": {"q": {"d1"}}}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"candidate_k": 0}, ValueError, "candidate_k: k is 0"),
        ({"consumer_k": True}, ValueError, "consumer_k: k is True"),
        ({"consumer_k": None}, ValueError, "consumer_k: k is None"),
        ({"candidate_k": 5, "consumer_k": 10}, ValueError, "candidate_k is 5, below consumer_k, 10"),
        ({"budget_ms": 0}, ValueError, "budget_ms is 0"),
        ({"budget_ms": float("nan")}, ValueError, "budget_ms is nan"),
        ({"rerank_ms_per_pair": -1}, ValueError, "rerank_ms_per_pair is -1"),
        ({"first_stage_ms": -1}, ValueError, "first_stage_ms is -1"),
        ({"worth": 0}, ValueError, "worth is 0"),
        ({"recall_enough": 1.1}, ValueError, "recall_enough is 1.1"),
        ({"aliases": {"a": "b", "b": "a"}}, ValueError, "circle"),
        ({"runs": {"r": ["d1"]}}, ValueError, "Are the ids of one kind"),
        ({"runs": ["d1"]}, TypeError, "the run is a list"),
        ({"qrels": {"q": set()}}, ValueError, "nothing to measure"),
        ({"runs": {"q": ["d1", "d1"]}}, ValueError, "stands twice"),
        ({"texts": ["a"]}, TypeError, "texts is a list"),
        ({"triaged": {"cut": 3}}, TypeError, "triaged is a dict"),
    ],
)
def test_bad_input_is_a_clear_error(given, error, message):
    with pytest.raises(error, match=message):
        diagnose(**GOOD | given)


# for any input

ids = st.sampled_from("abcdefgh")
qids = st.sampled_from([f"q{n}" for n in range(6)])


@quick
@given(
    st.dictionaries(qids, st.lists(ids, unique=True, max_size=8), min_size=1),
    st.dictionaries(qids, st.dictionaries(ids, st.integers(0, 2)), min_size=1),
    st.none() | st.dictionaries(ids, st.sampled_from(["", "one text", "One text", "another text of five words"])),
    st.integers(1, 4),
    st.integers(0, 6),
    st.none() | st.floats(0.1, 20),
)
def test_the_figures_hold_together(runs, qrels, texts, k, more, budget):
    answerable = {qid for qid, own in qrels.items() if any(own.values())}
    assume(answerable & set(runs))
    found = diagnose(
        runs, qrels, candidate_k=k + more, consumer_k=k, texts=texts, budget_ms=budget, rerank_ms_per_pair=1.0
    )
    assert found.recall_consumer == recall_at_k(runs, qrels, k)
    assert found.precision == precision_at_k(runs, qrels, k)
    assert 0 <= found.precision <= found.attainable_precision + 1e-12
    assert found.attainable_precision <= found.recall_candidate + 1e-12  # the bound of the source, seldom attained
    assert min(found.recall_gain.values.values()) >= 0
    assert min(found.precision_gain.values.values()) >= 0
    assert found.lever in {
        *BUCKET_LEVERS.values(),
        "leave it",
        "rerank",
        "deduplicate",
        "fewer candidates",
        "triage first",
    }
    if texts is not None:
        assert all(value <= k for value in found.distinct.values.values())
        assert all(found.distinct.values[q] <= k * found.precision.values[q] + k for q in found.distinct.values)
        assert all(0 <= value < 1 for value in found.repeats.values.values())
    assert found.why
    json.dumps(found.to_dict(), allow_nan=False)
