"""The injector: its truth is exact. What was drawn, what was done, and that nothing else was."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import Label, triage
from ragkit.corpora.chunks import Passages, characters, sentences
from ragkit.diagnosis.buckets import misses
from ragkit.diagnosis.injection import CAUSES, World, inject

quick = settings(deadline=None, derandomize=True, max_examples=25)

N = 60


def world(n=N, chunking=None, per_doc=1):
    """`n` documents of three sentences each; each query is answered by the middle one."""
    docs, labels, queries = {}, [], {}
    for number in range(n):
        doc, qid = f"d{number:03}", f"q{number:03}"
        first, answer, last = (
            f"Pump {number} stands in hall {number % 7}. ",
            f"It is oiled every {number + 2} days with oil of grade {number % 5}. ",
            f"Ask at desk {number % 3}.",
        )
        docs[doc] = first + answer + last
        span = (len(first), len(first) + len(answer) - 1)
        for _ in range(per_doc):
            labels.append(Label(qid, doc, 0, len(docs[doc]), "relevant", span=span))
            labels.append(Label(qid, f"d{(number + 1) % n:03}", 0, 20, "irrelevant"))
        queries[qid] = f"how often is pump {number} oiled"
    passages = Passages(docs, chunking or sentences(size=200))
    return World(docs, passages.origin, queries, dict.fromkeys(labels))


WORLD = world()


@pytest.mark.parametrize("seed", range(5))
def test_the_numbers_that_were_asked_for(seed):
    made = inject(WORLD, seed, n=8)
    assert len(made.given) == 32
    assert sum(len(causes) == 2 for causes in made.given.values()) == round(0.2 * 32) == 6
    counted = Counter(cause for causes in made.given.values() for cause in causes)
    assert all(counted[cause] >= 8 for cause in CAUSES)
    assert counted.total() == 38
    assert all(causes == tuple(sorted(causes, key=CAUSES.index)) for causes in made.given.values())
    assert set(made.causes) >= set(made.given)


def test_numbers_a_cause():
    made = inject(WORLD, 1, n={"drop": 3, "flip": 4}, two=0)
    assert Counter(made.given.values()) == {("drop",): 3, ("flip",): 4}
    assert (made.codes, made.cut) == ({}, ())
    assert inject(WORLD, 1, n=0).given == {}
    assert inject(WORLD, 1, n=0, two=0.0).world.texts == WORLD.texts


def test_every_query_can_be_broken_in_two_ways():
    made = inject(WORLD, 3, n=15, two=1)
    assert Counter(map(len, made.given.values())) == {2: 60}


def test_one_seed_one_world_whatever_the_order():
    made, again, other = inject(WORLD, 7), inject(WORLD, 7), inject(WORLD, 8)
    turned = World(
        dict(reversed(WORLD.docs.items())),
        dict(reversed(WORLD.origin.items())),
        dict(reversed(WORLD.queries.items())),
        tuple(reversed(WORLD.labels)),
    )
    assert made == again
    assert made.given != other.given
    same = inject(turned, 7)
    assert (same.given, same.causes, same.codes, same.flipped) == (made.given, made.causes, made.codes, made.flipped)
    assert (same.dropped, set(same.cut), same.mistaken) == (made.dropped, set(made.cut), made.mistaken)
    assert same.world.texts == made.world.texts


def test_nothing_that_was_given_is_changed():
    before = (dict(WORLD.docs), dict(WORLD.origin), dict(WORLD.queries), WORLD.labels)
    inject(WORLD, 2, n=12)
    assert (dict(WORLD.docs), dict(WORLD.origin), dict(WORLD.queries), WORLD.labels) == before


def test_dropped_documents_have_no_passage_and_all_others_do():
    made = inject(WORLD, 5, n=6)
    asked = {qid for qid, causes in made.given.items() if "drop" in causes}
    named = {label.doc_id for label in made.world.labels if label.query_id in asked and label.label == "relevant"}
    assert made.dropped == named
    assert {at.doc_id for at in made.world.origin.values()} == set(WORLD.docs) - named
    assert set(made.world.docs) == set(WORLD.docs)  # what was written stays known


def test_cuts_lie_within_the_answer_and_lose_nothing():
    made = inject(WORLD, 5, n={"cut": 12}, two=0)
    assert len(made.cut) == 12
    spans = {label.doc_id: label.span for label in WORLD.labels if label.label == "relevant"}
    for cut in made.cut:
        begin, stop = spans[cut.doc_id]
        assert begin < cut.at < stop
        one, other = made.world.origin[cut.passage], made.world.origin[cut.other]
        assert {one.start, one.end} & {other.start, other.end} == {cut.at}
        assert made.world.texts.keys() >= {cut.passage, cut.other}
        pieces = sorted((one, other))
        assert pieces[0].start == WORLD.origin[cut.passage].start
        assert pieces[1].end == WORLD.origin[cut.passage].end
        kept = [min(at.end, stop) - max(at.start, begin) for at in (one, other)]
        assert kept[0] >= kept[1]  # the id stays with the larger part
    assert len(made.world.origin) == len(WORLD.origin) + 12


def test_every_overlapping_passage_that_holds_the_answer_is_cut():
    made = inject(world(20, characters(size=90, overlap=80)), 5, n={"cut": 5}, two=0)
    for qid in made.given:
        (label,) = (one for one in made.world.labels if one.query_id == qid and one.label == "relevant")
        begin, stop = label.span
        holders = [
            a for a in made.world.origin.values() if a.doc_id == label.doc_id and a.start <= begin < stop <= a.end
        ]
        assert holders == []


def test_flips_turn_the_labels_and_the_second_reader_reads_the_truth():
    made = inject(WORLD, 5, n={"flip": 10}, two=0, wrong=0)
    assert len(made.flipped) == 10
    assert made.mistaken == frozenset()
    for qid, name in made.flipped.items():
        first = {label.stretch: label.label for label in made.world.labels if label.query_id == qid}
        second = {label.stretch: label.label for label in made.world.second if label.query_id == qid}
        true = {label.stretch: label.label for label in WORLD.labels if label.query_id == qid}
        decoy = made.world.origin[name]
        assert second == true | {(qid, *decoy): "irrelevant"}
        assert first[(qid, *decoy)] == "relevant"
        assert [at for at, label in true.items() if label == "relevant" and first[at] != "irrelevant"] == []
        assert decoy.doc_id not in {at.doc_id for at in true}
    untouched = [label for label in WORLD.labels if label.query_id not in made.flipped]
    assert [label for label in made.world.labels if label.query_id not in made.flipped] == sorted(
        untouched, key=lambda label: (label.stretch, label.label, label.span or (0, 0))
    )


def test_decoys_are_what_a_flip_may_take():
    decoys = {qid: ["d050#1", "d051#1"] for qid in WORLD.queries}
    made = inject(WORLD, 5, n={"flip": 10}, two=0, decoys=decoys)
    assert set(made.flipped.values()) <= {"d050#1", "d051#1"}
    with pytest.raises(ValueError, match="'gone' is no passage of the world"):
        inject(WORLD, 5, n={"flip": 1}, two=0, decoys={qid: ["gone"] for qid in WORLD.queries})
    with pytest.raises(ValueError, match="there is no passage"):
        inject(WORLD, 5, n={"flip": 1}, two=0, decoys={qid: [] for qid in WORLD.queries})


@pytest.mark.parametrize("wrong", [0.0, 0.1, 0.5, 1.0])
def test_the_second_reader_is_wrong_on_that_share(wrong):
    made = inject(WORLD, 5, n=0, wrong=wrong)
    assert len(made.mistaken) == round(wrong * 2 * N)
    first = {label.stretch: label.label for label in WORLD.labels}
    second = {label.stretch: label.label for label in made.world.second}
    assert {at for at in first if first[at] != second[at]} == made.mistaken


def test_identifiers_stand_in_the_passage_and_in_lower_case_in_the_query():
    made = inject(WORLD, 5, n={"code": 20}, two=0)
    assert len(set(made.codes.values())) == 20
    for qid, code in made.codes.items():
        (label,) = (one for one in made.world.labels if one.query_id == qid and one.label == "relevant")
        holding = [text for text in made.world.texts.values() if code in text]
        assert len(holding) == 1
        assert made.world.docs[label.doc_id][slice(*label.span)] in holding[0]
        assert code.lower() in made.world.queries[qid]
        assert code not in made.world.queries[qid] or code == code.lower()
        assert not any(code.lower() in text.lower() for text in WORLD.texts.values())


def test_what_stands_behind_a_planted_text_moves_with_it():
    """Every answer is still the text that it was, in every passage that held it; in the second reading too."""
    small = world(20, characters(size=60))
    made = inject(small, 5, n={"code": 15}, two=0, wrong=0)
    said = {label.query_id: small.docs[label.doc_id][slice(*label.span)] for label in small.labels if label.span}
    for label in (*made.world.labels, *made.world.second):
        if label.span:
            assert made.world.docs[label.doc_id][slice(*label.span)].startswith(said[label.query_id])
    for name, text in small.texts.items():
        left = made.world.texts[name]
        for code in made.codes.values():
            left = left.replace(f" Reference: {code}.", "")
        assert left == text


def test_who_is_hit_by_what_was_done_to_another_is_in_the_truth():
    docs = {"d1": "Oil it daily, and wipe it dry.", "d2": "Nothing of the kind."}
    origin = {"d1#1": ("d1", 0, 30), "d2#1": ("d2", 0, 20)}
    labels = [Label(qid, "d1", 0, 30, "relevant", span=(0, 29)) for qid in ("q1", "q2")]
    small = World(docs, origin, {"q1": "a", "q2": "b"}, labels)
    for cause in ("drop", "cut"):
        made = inject(small, 0, n={cause: 1}, two=0)
        assert len(made.given) == 1
        assert made.causes == {"q1": (cause,), "q2": (cause,)}


def test_ids_say_what_the_labels_say_for_one_who_notes_no_spans():
    made = inject(WORLD, 5, n=8, two=0)
    by_cause = {cause: [qid for qid, own in made.given.items() if own == (cause,)] for cause in CAUSES}
    for qid in by_cause["drop"]:
        assert not made.gold[qid] & set(made.world.origin)
    for qid in by_cause["cut"]:
        assert made.gold[qid] == {next(cut.passage for cut in made.cut if cut.doc_id == f"d{qid[1:]}")}
    for qid in by_cause["flip"]:
        assert made.gold[qid] == {made.flipped[qid]}
    for qid in set(WORLD.queries) - set(made.given):
        assert made.gold[qid] == {f"d{qid[1:]}#1"}
    assert set(made.second_ids) == set(WORLD.queries)


def test_a_triage_that_knows_the_spans_finds_what_was_dropped_and_cut():
    made = inject(WORLD, 9, n={"drop": 8, "cut": 8}, two=0)
    texts, labels = made.world.texts, made.world.labels
    failing = misses({qid: [] for qid in WORLD.queries} | {"q000": ["d000#1"]}, labels, 10, origin=made.world.origin)
    found = triage(failing, labels, texts, made.world.queries, docs=made.world.docs, origin=made.world.origin)
    for qid, causes in made.causes.items():
        wanted = {"drop": "not indexed", "cut": "chunk suspect"}[causes[0]]
        assert found.findings[qid].bucket == wanted
    assert found.counts["not indexed"] + found.counts["chunk suspect"] == len(made.causes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 16}, "64 queries are to be broken, and 60 have a relevant label"),
        ({"n": {"melt": 1}}, "no cause is called 'melt'"),
        ({"n": -1}, "-1 queries for 'drop'"),
        ({"two": 1.1}, "two is 1.1"),
        ({"wrong": -0.1}, "wrong is -0.1"),
        ({"n": {"drop": 5}}, "only 'drop' is: set two to 0"),
    ],
)
def test_what_cannot_be_done_is_an_error(options, message):
    with pytest.raises(ValueError, match=message):
        inject(WORLD, 0, **options)


def test_a_world_that_does_not_hold_together_is_an_error():
    with pytest.raises(ValueError, match="no such place"):
        World({"d1": "abc"}, {"d1#1": ("d1", 0, 4)}, {})
    with pytest.raises(ValueError, match="no such place"):
        World({"d1": "abc"}, {"d2#1": ("d2", 0, 2)}, {})
    with pytest.raises(ValueError, match="the document has 3"):
        World({"d1": "abc"}, {}, {}, [Label("q", "d1", 0, 4, "irrelevant")])
    label = Label("q", "d1", 0, 3, "relevant", span=(0, 3))
    with pytest.raises(ValueError, match="'q' has labels and no text"):
        inject(World({"d1": "abc"}, {}, {}, [label]), 0, n={"drop": 1}, two=0)
    with pytest.raises(ValueError, match="second reader already"):
        inject(World({"d1": "abc"}, {}, {"q": "a"}, [label], [label]), 0, n=0)


@quick
@given(st.integers(0, 10**6), st.integers(0, 5), st.floats(0, 1), st.floats(0, 1), st.integers(20, 120))
def test_any_seed_any_share_any_chunking(seed, n, two, wrong, size):
    small = world(24, characters(size=size))
    made = inject(small, seed, n=n, two=two, wrong=wrong)
    assert sum(len(own) == 2 for own in made.given.values()) == round(two * 4 * n)
    texts = made.world.texts
    assert all(texts.values())
    for qid, causes in made.causes.items():
        own = [label for label in made.world.labels if label.query_id == qid and label.label == "relevant"]
        if "drop" in causes:
            assert not {label.doc_id for label in own} & {at.doc_id for at in made.world.origin.values()}
