"""The constructed runs give the published counts, to the last one."""

import pytest

from ragkit import (
    compare,
    diagnose,
    distinct_at_k,
    precision_at_k,
    recall_at_k,
    triage,
)
from ragkit.corpora import constructed
from ragkit.corpora.duplicates import aliases
from ragkit.diagnosis.buckets import misses


def test_223_of_240_and_two_of_five():
    runs, qrels = constructed.high_recall_low_precision()
    recall, precision = recall_at_k(runs, qrels, 50), precision_at_k(runs, qrels, 5)
    assert (sum(recall.values.values()), recall.n, f"{recall:.2f}") == (223, 240, "0.93")
    assert precision == pytest.approx(0.41, abs=1e-12)
    assert 5 * precision == pytest.approx(2.05)
    found = sum(precision.values.values()) / 223
    assert f"{found:.3f}" == "0.441"  # over those that the first stage found


def test_the_subtraction_of_the_two_is_no_bound_that_is_attained():
    found = diagnose(*constructed.high_recall_low_precision())
    assert found.attainable_precision == pytest.approx(0.645)
    assert found.recall_candidate - found.precision == pytest.approx(0.519, abs=1e-3)
    assert found.precision_gain == pytest.approx(0.235)


def test_093_at_50_is_061_at_8():
    runs, qrels = constructed.shallow_prompt()
    assert [f"{recall_at_k(runs, qrels, k):.2f}" for k in (50, 8)] == ["0.93", "0.61"]
    assert all(len(set(ids)) == 50 for ids in runs.values())


def test_one_relevant_in_the_top_five_and_two_below():
    runs, qrels = constructed.one_above_two_below()
    assert recall_at_k(runs, qrels, 50) - recall_at_k(runs, qrels, 5) == 0
    assert precision_at_k(runs, qrels, 5) == 0.2


def test_five_near_duplicates():
    runs, qrels, texts = constructed.five_near_duplicates()
    assert precision_at_k(runs, qrels, 5) == 1.0
    assert precision_at_k(*constructed.five_near_duplicates(labelled=1)[:2], 5) == 0.2
    assert len(set(texts.values())) == len(texts) == 9
    assert set(texts) >= qrels["q001"]
    for labelled in (0, 6):
        with pytest.raises(ValueError, match=f"labelled is {labelled}"):
            constructed.five_near_duplicates(labelled)


def test_the_table_of_five_queries():
    runs, qrels, texts = constructed.five_queries()
    found = recall_at_k(runs, qrels, 10)
    assert (found, found.left_out) == (0.8, ("q6",))
    assert found.values["q4"] == 1
    assert len(set(runs["q4"]) & qrels["q4"]) == 2
    twins = aliases(texts)
    assert distinct_at_k(runs, qrels, 10, aliases=twins).values["q5"] == 1
    assert recall_at_k(runs, qrels, 10).values["q5"] == 0


@pytest.mark.parametrize("discordant", [0, 1, 40, 78])
def test_two_systems_at_222_of_300(discordant):
    a, b, qrels = constructed.two_systems(222 - discordant, discordant, discordant, 78 - discordant)
    found = compare(a, b, qrels, 10)
    assert (found.recall_a, found.recall_b, found.n) == (0.74, 0.74, 300)
    assert len(found.only_a) == len(found.only_b) == discordant
    assert found.union == pytest.approx((222 + discordant) / 300)


def test_two_systems_refuse_what_is_no_count():
    for counts in ((0, 0, 0, 0), (-1, 2, 2, 2)):
        with pytest.raises(ValueError, match="each is 0 or more"):
            constructed.two_systems(*counts)


def test_125_failures_of_240():
    made = constructed.failures_of_240()
    recall = recall_at_k(made.runs, made.qrels, 50)
    assert (sum(recall.values.values()), recall.n, f"{recall:.2f}") == (115, 240, "0.48")
    failing = misses(made.runs, made.qrels, 50)
    found = triage(
        failing,
        made.qrels,
        made.texts,
        made.queries,
        dense=made.runs,
        lexical=made.lexical,
        second=made.second,
        about=made.about,
    )
    assert found.counts == {
        "not indexed": 18,
        "chunk suspect": 31,
        "judgment error": 22,
        "lexical finds it": 26,
        "other code-like query": 3,
        "dense blind": 25,
    }
    assert found.n == len(failing) == 125
    by_lexical = found["lexical finds it"]
    assert {one.evidence["lexical"] for one in by_lexical} == {1, 2}
    assert min(one.evidence["dense"] for one in by_lexical) > 500
    assert all(one.evidence["codes"] for one in by_lexical)
    cut = [next(iter(one.evidence["passages"])) for one in found["chunk suspect"]]
    assert {len(made.texts[name].split()) for name in cut} == {390}
    group = found.groups["not indexed"][0]  # how the filter was found
    assert (group.attribute, group.value, group.inside, group.of) == ("size_mb", "≥ 21", 18, 18)
    assert [name for name in found.groups if name != "not indexed"] == []


def test_all_hundred_recovered_would_be_nine_in_ten():
    made = constructed.failures_of_240()
    found = triage(misses(made.runs, made.qrels), made.qrels, made.texts, made.queries, dense=made.runs,
                   lexical=made.lexical, second=made.second)  # fmt: skip
    named = found.n - found.counts["dense blind"]
    assert (named, f"{(115 + named) / 240:.3f}") == (100, "0.896")
    assert [f"{(115 + n) / 240:.2f}" for n in (74, 75)] == ["0.79", "0.79"]


def test_one_bit_for_three_causes():
    made = constructed.one_bit()
    assert set(recall_at_k(made.runs, made.qrels, 50).values.values()) == {0.0}
    found = triage(made.runs, made.qrels, made.texts, made.queries, dense=made.runs, lexical=made.lexical)
    assert {qid: one.bucket for qid, one in found.findings.items()} == {
        "ranked": "dense blind",
        "absent": "not indexed",
        "cut": "chunk suspect",
    }
    assert found.findings["ranked"].evidence["dense"] == 4000
