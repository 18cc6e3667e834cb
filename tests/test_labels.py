"""Labels: what they are worth for any chunking, files that keep them, pools, and two passes that are compared."""

import json
import sys
from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from ragkit import (
    Label,
    Qrels,
    agreement,
    coverage_at_k,
    judged_at_k,
    pool,
    qrels_from_labels,
    read_labels,
    recall_at_k,
    write_labels,
)
from ragkit.corpora.chunks import Passages, characters, sentences, whole, window
from ragkit.corpora.duplicates import aliases
from ragkit.measure.labels import LABELS, _kappas

RELEVANT = Label("q1", "d1", 10, 90, "relevant", span=(40, 60), reason="says how")


def irrelevant(qid, doc_id, start=0, end=100):
    return Label(qid, doc_id, start, end, "irrelevant")


# a label


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "good"}, "it is 'relevant', 'partial' or 'irrelevant'"),
        ({"query_id": ""}, "query_id is empty"),
        ({"span": None}, "relevant without a span"),
        ({"label": "irrelevant"}, "irrelevant, and yet with the span"),
        ({"span": (0, 20)}, "not within 10 to 90"),
        ({"span": (80, 91)}, "not within 10 to 90"),
        ({"span": (50, 50)}, "the first below the second"),
        ({"span": [40]}, "two whole numbers"),
        ({"span": (40.0, 60)}, "two whole numbers"),
        ({"start": -1}, "two whole numbers"),
        ({"start": True}, "two whole numbers"),
        ({"end": 10}, "the first below the second"),
    ],
)
def test_what_is_no_label_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(RELEVANT, **change)


def test_ids_are_strings_and_a_label_cannot_be_changed():
    label = Label(7, 8, 0, 9, "partial", [1, 2])
    assert (label.query_id, label.doc_id, label.span) == ("7", "8", (1, 2))
    with pytest.raises(AttributeError):
        label.label = "relevant"


# files

IDS = st.sampled_from(["007", "NA", "1e5", "null", "7", "q\u2028", "é😀", 'a"b']) | st.text(min_size=1)


@st.composite
def labels_of(draw, query_ids=IDS, doc_ids=IDS, length=60):
    start = draw(st.integers(0, length - 2))
    end = draw(st.integers(start + 1, length))
    label = draw(st.sampled_from(LABELS))
    span = None
    if label == "relevant" or (label == "partial" and draw(st.booleans())):
        begin = draw(st.integers(start, end - 1))
        span = (begin, draw(st.integers(begin + 1, end)))
    reason = draw(st.text(max_size=20))
    return Label(draw(query_ids), draw(doc_ids), start, end, label, span, reason)


def each_once(labels):
    return st.lists(labels, unique_by=lambda label: label.stretch)


@settings(max_examples=60, deadline=None)
@given(each_once(labels_of()).filter(bool))
def test_labels_come_back_from_a_file_as_they_were(tmp_path_factory, labels):
    path = tmp_path_factory.getbasetemp() / "labels.jsonl"
    write_labels(path, labels)
    assert read_labels(path) == labels


LINE = '{"query_id": "q1", "doc_id": "d1", "start": 0, "end": 9, "label": "irrelevant"}'


def test_a_mark_carriage_returns_and_blank_lines_do_not_matter(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + LINE.encode() + b"\r\n\r\n" + LINE.replace("q1", "q2").encode() + b"\n\n")
    assert read_labels(path) == [irrelevant("q1", "d1", 0, 9), irrelevant("q2", "d1", 0, 9)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not JSON"),
        ("[]", "line 2: a list, expected an object"),
        (LINE.replace('"q1"', "1e5"), "line 2: the query_id is 100000.0, expected a string. Put it in quotes"),
        (LINE.replace('"doc_id": "d1", ', ""), "line 2: no 'doc_id'"),
        (LINE.replace("}", ', "score": 1}'), "line 2: a label has no field 'score'.*Remove it"),
        (LINE.replace("}", ', "reason": 3}'), "line 2: the reason is 3, expected a string"),
        (LINE.replace("irrelevant", "relevant"), "line 2: relevant without a span"),
        (LINE.replace("irrelevant", "partial"), "line 2: .* is partial, and irrelevant in .*line 1. Keep one"),
        (LINE, "line 2: .* is line 1 once more"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_line(tmp_path, line, message):
    path = tmp_path / "labels.jsonl"
    path.write_text(f"{LINE}\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"labels.jsonl {message}"):
        read_labels(path)


def test_reasons_are_asked_for_where_that_is_wanted(tmp_path):
    path = tmp_path / "labels.jsonl"
    write_labels(path, [irrelevant("q1", "d1"), replace(RELEVANT, reason=" ")])
    assert len(read_labels(path)) == 2
    with pytest.raises(ValueError, match="line 2: relevant without a reason"):
        read_labels(path, reasons=True)


@pytest.mark.parametrize(
    "labels",
    [
        [],
        [RELEVANT, RELEVANT],
        [RELEVANT, replace(RELEVANT, label="partial")],
        [RELEVANT, replace(RELEVANT, reason="\ud800")],
    ],
)
def test_where_writing_fails_what_was_there_stays(tmp_path, labels):
    path = tmp_path / "labels.jsonl"
    write_labels(path, [RELEVANT])
    with pytest.raises(ValueError, match=r"."):
        write_labels(path, labels)
    assert read_labels(path) == [RELEVANT]
    assert [file.name for file in tmp_path.iterdir()] == ["labels.jsonl"]


# what passages are worth

TEXT = "One sentence here. Another 😀 there! A third?\n\n# Head\n\nMore of it; and more."
CHUNKINGS = [whole(), characters(10), characters(16, 7), sentences(24), window(limit=12, least=2)]


def worth(at, labels):
    """What a passage of a document is worth, read off its characters one by one."""
    own, read, spans = set(range(*at)), set(), []
    for label in labels:
        read |= set(range(label.start, label.end))
        if label.label != "irrelevant":
            spans.append((label.label, set(range(*(label.span or (label.start, label.end))))))
    for kind in ("relevant", "partial"):
        if any(name == kind and span <= own for name, span in spans):
            return kind
    if any(span & own for _, span in spans):
        return "cut"
    return "irrelevant" if own <= read else None


@settings(max_examples=150, deadline=None)
@given(
    each_once(labels_of(st.sampled_from("ab"), st.sampled_from(["d1", "d2", "gone"]), len(TEXT))),
    st.sampled_from(CHUNKINGS),
)
def test_a_passage_is_relevant_where_it_holds_the_answer_whatever_the_chunking(labels, chunking):
    passages = Passages({"d1": TEXT, "d2": TEXT[::-1]}, chunking)
    expected = {
        qid: {
            name: kind
            for name, at in passages.origin.items()
            if (own := [one for one in labels if (one.query_id, one.doc_id) == (qid, at.doc_id)])
            if (kind := worth(at[1:], own))
        }
        for qid in dict.fromkeys(label.query_id for label in labels)
    }
    grades = {
        "exclude": {"relevant": 1, "partial": 0},
        "relevant": {"relevant": 1, "partial": 1},
        "graded": {"relevant": 2, "partial": 1},
    }
    for partial, grade in grades.items():
        qrels = qrels_from_labels(labels, passages.origin, partial)
        assert {qid: {n: grade.get(kind, 0) for n, kind in own.items()} for qid, own in expected.items()} == qrels
        counts = dict(qrels.counts)
        assert counts.pop("pairs") == sum(map(len, qrels.values())) == sum(counts.values())
        every = [(qid, name, kind) for qid, own in expected.items() for name, kind in own.items()]
        assert counts == {kind: sum(k == kind for *_, k in every) for kind in counts}
        assert sorted(qrels.cut) == sorted((qid, name) for qid, name, kind in every if kind == "cut")
        assert sorted(map(str, qrels.absent)) == sorted(str(one) for one in labels if one.doc_id == "gone")
        for label in labels:
            if label.label == "relevant" and label.doc_id != "gone":
                held = [
                    name
                    for name, at in passages.origin.items()
                    if at.doc_id == label.doc_id and at.start <= label.span[0] and label.span[1] <= at.end
                ]
                assert (label in qrels.lost) == (not held)
                assert all(qrels[label.query_id][name] == grade["relevant"] for name in held)


def test_without_passages_a_document_is_worth_its_best_label():
    labels = [irrelevant("q1", "d1", 0, 9), RELEVANT, irrelevant("q1", "d2"), Label("q2", "d3", 0, 9, "partial")]
    qrels = qrels_from_labels(labels)
    assert qrels == {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 0}}
    assert qrels.counts == {"relevant": 1, "partial": 1, "irrelevant": 1, "cut": 0, "pairs": 3}
    assert qrels_from_labels(labels, partial="graded") == {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}


def test_stretches_that_were_read_join():
    origin = {"across": ("d1", 4, 14), "beyond": ("d1", 4, 21)}
    labels = [irrelevant("q1", "d1", 10, 20), irrelevant("q1", "d1", 0, 10)]
    assert qrels_from_labels(labels, origin) == {"q1": {"across": 0}}


def test_two_answers_in_one_stretch_are_two_labels():
    labels = [RELEVANT, replace(RELEVANT, span=(70, 80))]
    origin = {"a": ("d1", 10, 65), "b": ("d1", 65, 90), "c": ("d1", 0, 10), "d": ("d1", 10, 40)}
    assert qrels_from_labels(labels, origin) == {"q1": {"a": 1, "b": 1, "d": 0}}


def test_a_judgment_follows_to_the_twin():
    docs = {"d60": "Set the limit.", "d61": "Set the limit.", "d70": "Another."}
    labels = [Label("q1", "d61", 0, 14, "relevant", span=(8, 13)), Label("q1", "d70", 0, 8, "irrelevant")]
    twins = aliases(docs)
    assert qrels_from_labels(labels) == {"q1": {"d61": 1, "d70": 0}}
    assert qrels_from_labels(labels, aliases=twins) == {"q1": {"d60": 1, "d61": 1, "d70": 0}}
    kept = Passages({"d60": docs["d60"], "d70": docs["d70"]}, whole())  # the twin was left out of the index
    qrels = qrels_from_labels(labels, kept.origin, aliases=twins)
    assert qrels == {"q1": {"d60#1": 1, "d70#1": 0}}
    assert (qrels.absent, qrels.lost) == ((), ())
    run = {"q1": ["d60#1", "d70#1"]}
    assert (recall_at_k(run, qrels, 1), coverage_at_k(run, qrels, 2), judged_at_k(run, qrels, 2)) == (1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="the same text in document 'd61' is relevant"):
        qrels_from_labels([*labels, Label("q1", "d60", 0, 14, "irrelevant")], aliases=twins)
    with pytest.raises(ValueError, match="circle"):
        qrels_from_labels(labels, aliases={"d60": "d61", "d61": "d60"})


def test_one_stretch_with_two_labels_is_an_error_that_names_both():
    with pytest.raises(ValueError, match=r"label 3: query 'q1', document 'd1' .* partial, and relevant in label 1"):
        qrels_from_labels([RELEVANT, irrelevant("q1", "d2"), replace(RELEVANT, label="partial")])
    with pytest.raises(ValueError, match="it is 'exclude', 'relevant' or 'graded'"):
        qrels_from_labels([RELEVANT], partial="include")


def test_partials_cannot_lower_a_query_and_can_lower_the_mean():
    labels = [Label("q1", "d1", 0, 9, "relevant", (0, 4)), Label("q2", "d2", 0, 9, "partial")]
    run = {"q1": ["d1"], "q2": ["d9"]}
    means = {one: recall_at_k(run, qrels_from_labels(labels, partial=one), 1) for one in ("exclude", "relevant")}
    assert (means["exclude"], means["exclude"].left_out) == (1.0, ("q2",))
    assert (means["relevant"], means["relevant"].left_out) == (0.5, ())


def test_qrels_say_what_they_are_and_stay_so():
    passages = Passages({"d1": "x" * 100}, characters(50))
    qrels = qrels_from_labels([RELEVANT], passages.origin, record=passages.record)
    assert isinstance(qrels, Qrels)
    assert repr(qrels) == "Qrels(1 query; 0 relevant, 0 partial, 0 irrelevant, 2 cut; 1 answers in no passage)"
    assert (qrels.record["partial"], qrels.record["unit"]) == ("exclude", "passages")
    assert qrels.record["chunking"] == passages.record["chunking"]
    assert len(qrels.record["labels_sha256"]) == 64
    for mapping in (qrels, qrels["q1"], qrels.counts, qrels.record):
        with pytest.raises(TypeError):
            mapping["q1"] = {}
    gone = qrels_from_labels([RELEVANT], {"other#1": ("other", 0, 5)})
    assert (gone, gone.absent) == ({"q1": {}}, (RELEVANT,))


# pools


def test_a_pool_is_the_union_of_the_tops_and_says_nothing_else():
    runs = [
        {"q1": ["d1", "d2", "d3"], "q2": {"d1": 0.5, "d2": 0.5}},
        {"q1": [("d9", 3.0), ("d1", 2.0), ("d8", 1.0)], "q3": ["d4"]},
    ]
    pooled = pool(runs, k=2)
    assert {qid: set(ids) for qid, ids in pooled.items()} == {
        "q1": {"d1", "d2", "d9"},
        "q2": {"d1", "d2"},
        "q3": {"d4"},
    }
    assert pool(runs[::-1], k=2) == pooled
    assert pool([{"q1": runs[0]["q1"]}, {"q1": runs[1]["q1"]}], k=2)["q1"] == pooled["q1"]


def test_a_pool_is_shuffled_by_its_seed():
    run = {"q1": [f"d{n}" for n in range(20)], "q2": [f"d{n}" for n in range(20)]}
    orders = {pool([run], k=20, seed=seed)[qid] for seed in range(5) for qid in run}
    assert len(orders) == 10
    first = [pool([run], k=20, seed=seed)["q1"][0] for seed in range(200)]
    assert 0.2 < sum(int(one[1:]) < 10 for one in first) / 200 < 0.8  # the best are not the first


@pytest.mark.parametrize(("runs", "k", "message"), [([], 1, "no run"), ([{}], 0, "pool 1 place or more")])
def test_a_pool_of_nothing_is_refused(runs, k, message):
    with pytest.raises(ValueError, match=message):
        pool(runs, k=k)


def test_a_document_twice_in_a_ranking_is_named():
    with pytest.raises(ValueError, match="'d1' stands twice"):
        pool([{"q1": ["d1", "d1"]}])


# two passes


def passes(table):
    """Labels of two passes with these counts of (first, second)."""
    first, second = [], []
    for (a, b), count in table.items():
        for _ in range(count):
            stretch = ("q1", f"d{len(first)}", 0, 9)
            first.append(Label(*stretch, a, (0, 5) if a == "relevant" else None))
            second.append(Label(*stretch, b, (4, 9) if b == "relevant" else None))
    return first, second


def test_kappa_by_hand():
    """The example of many textbooks: 20, 5, 10 and 15 of 50."""
    counts = {("relevant", "relevant"): 20, ("irrelevant", "irrelevant"): 15, ("relevant", "irrelevant"): 5}
    counts |= {("irrelevant", "relevant"): 10}
    first, second = passes(counts)
    found = agreement(first, second[::-1])
    # Cohen's table with margins 25/25 and 30/20: raw 35/50, expected (25·30 + 25·20)/50² = 0.5, kappa 0.2/0.5
    assert (found.n, found.raw) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.interval[0] < 0.4 < found.interval[1]
    assert found.raw_interval == pytest.approx((0.5625, 0.8090), abs=1e-4)  # Wilson, by its formula
    assert found.table["irrelevant", "relevant"] == 10
    assert sum(found.table.values()) == 50
    assert len(found.table) == 9
    assert [(a.label, b.label) for a, b in found.disagreements].count(("relevant", "irrelevant")) == 5
    assert found.disagreements[0][0].doc_id == found.disagreements[0][1].doc_id
    assert (found.apart, found.only_first, found.only_second) == ((), 0, 0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(range(3)), st.sampled_from(range(3))), min_size=2, max_size=30))
def test_kappa_is_that_of_scikit_learn(pairs):
    first, second = np.array(pairs).T
    if len({*first, *second}) > 1:
        expected = cohen_kappa_score(first, second)
        assert _kappas(first, second) == pytest.approx(expected)
        made = [
            [Label("q", f"d{n}", 0, 1, LABELS[c], (0, 1) if c == 0 else None) for n, c in enumerate(one)]
            for one in (first, second)
        ]
        if len(pairs) < 12:
            assert agreement(*made).kappa == pytest.approx(expected)


def test_two_passes_that_gave_one_label_have_no_kappa():
    found = agreement(*passes({("irrelevant", "irrelevant"): 3}))
    assert (found.raw, isnan(found.kappa), isnan(found.interval[0])) == (1.0, True, True)


def test_what_only_one_pass_labelled_is_counted_and_distant_answers_are_named():
    first, second = passes({("relevant", "relevant"): 3, ("partial", "partial"): 2})
    second[0] = replace(second[0], span=(5, 9))
    found = agreement(first, second[:-1])
    assert (found.n, found.only_first, found.only_second) == (4, 1, 0)
    assert found.apart == ((first[0], second[0]),)
    with pytest.raises(ValueError, match="no pair is in both passes: 5 and 1"):
        agreement(first, [RELEVANT])


def test_agreement_is_the_same_each_time():
    made = passes({("relevant", "relevant"): 9, ("relevant", "partial"): 3, ("irrelevant", "irrelevant"): 8})
    assert agreement(*made) == agreement(*made)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.stats.inter_rater", None)
    with pytest.raises(ImportError, match="pip install scipy statsmodels"):
        agreement(*passes({("relevant", "partial"): 2}))


def test_a_written_label_is_plain_json(tmp_path):
    write_labels(tmp_path / "labels.jsonl", [RELEVANT])
    assert json.loads((tmp_path / "labels.jsonl").read_text()) == {
        **{"query_id": "q1", "doc_id": "d1", "start": 10, "end": 90},
        **{"label": "relevant", "span": [40, 60], "reason": "says how"},
    }
