"""Constructed runs: lists that nobody retrieved, made so that published counts come out exactly.

No system made these, and no collection stands behind them. They carry the arithmetic of the sources and nothing
else: 223 of 240 is 223 of 240, whoever retrieved it. Each function says which published figure it reproduces, and
gives (runs, qrels) or more, in the shapes of `ragkit.measure.runs`. Wherever such a run is shown, it is called
constructed.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

Rankings = dict[str, list[str]]
Relevant = dict[str, set[str]]

N_QUERIES = 240


def high_recall_low_precision() -> tuple[Rankings, Relevant]:
    """Recall@50 of 0.93 and precision@5 of 0.41 over 240 queries, as published: 223 hits, and 492 of 1,200 places.

    Published are the two figures. How the relevant ones are spread is chosen here, one of many ways: 164 queries
    have three in the top five and a fourth below, 59 have two, both below, and 17 have theirs nowhere. So the best
    order of the same fifty has a precision of 0.645, and not 0.93.

    >>> runs, qrels = high_recall_low_precision()
    >>> hits = sum(bool(set(ids[:50]) & qrels[qid]) for qid, ids in runs.items())
    >>> hits, f"{hits / 240:.2f}", sum(len(set(ids[:5]) & qrels[qid]) for qid, ids in runs.items()) / (5 * 240)
    (223, '0.93', 0.41)
    """
    places = [(1, 2, 4, 20)] * 164 + [(9, 30)] * 59 + [()] * 17
    return _placed(places)


def shallow_prompt() -> tuple[Rankings, Relevant]:
    """Recall of 0.93 at 50 that is 0.61 at 8, as published, over 240 queries: 223 and 146 hits.

    0.61 is printed for 146 and for 147; it is 146 here. One document is relevant to each query.

    >>> runs, qrels = shallow_prompt()
    >>> [sum(bool(set(ids[:k]) & qrels[qid]) for qid, ids in runs.items()) for k in (50, 8)]
    [223, 146]
    """
    within = [(1 + number % 8,) for number in range(146)]
    return _placed([*within, *[(9 + number % 42,) for number in range(77)], *[()] * 17])


def one_above_two_below() -> tuple[Rankings, Relevant]:
    """One relevant document in the top five and two more below it: nothing to win in recall, and yet in precision.

    The case against "recall at 50 minus recall at 5 is the total value of every reordering": that is 0 here, and
    precision@5 can go from 0.2 to 0.6.

    >>> runs, qrels = one_above_two_below()
    >>> [place for place, doc_id in enumerate(runs["q001"], 1) if doc_id in qrels["q001"]]
    [2, 12, 33]
    """
    return _placed([(2, 12, 33)])


def five_near_duplicates(labelled: int = 5) -> tuple[Rankings, Relevant, dict[str, str]]:
    """Five nearly identical passages of a versioned manual fill the top five, and push four other answers out.

    The published case. With all five labelled, precision@5 is 1.0, and the one who reads gets one answer; with one
    labelled it is 0.2. Gives runs, qrels and the texts. ValueError unless `labelled` is 1 to 5.

    >>> runs, qrels, texts = five_near_duplicates()
    >>> len(set(runs["q001"][:5]) & qrels["q001"]), texts["manual-v1"] == texts["manual-v2"]
    (5, False)
    """
    if not 1 <= labelled <= 5:
        raise ValueError(f"labelled is {labelled}; of five copies 1 to 5 are")
    copies = [f"manual-v{number}" for number in range(1, 6)]
    others = ["checklist", "video-transcript", "field-note", "training-slides"]
    common = (
        "To drain the tank, close the inlet valve, wait until the gauge reads zero, open the outlet by a quarter "
        "turn, and let the water run off into the gully. Never open the outlet while the pump is running, since the "
        "seal takes the pressure of the whole column. Release "
    )
    texts = {name: f"{common}{number}." for number, name in enumerate(copies, 1)} | {
        "checklist": "Before draining: inlet closed, pump off, gauge at zero, gully free.",
        "video-transcript": "Watch how far she turns the outlet: a quarter turn, and then she waits for the gauge.",
        "field-note": "At the Harlow site the gully is blocked, so take a hose when you empty the tank there.",
        "training-slides": "Why the seal fails: pressure of the column, and an outlet that was opened under load.",
    }
    fillers = [f"other-{number:02}" for number in range(1, 42)]
    return {"q001": [*copies, *others, *fillers]}, {"q001": {*copies[:labelled], *others}}, texts


def five_queries() -> tuple[Rankings, Relevant, dict[str, str]]:
    """The table behind a recall@10 of 0.80: four of five queries hit, and a sixth has nothing relevant.

    q4 has three relevant documents, of which two are found: a hit like any other. q5's d60 is not in the run, though
    d61 and d62 carry the same text: a miss. Gives runs, qrels, and the texts of those three.

    >>> runs, qrels, texts = five_queries()
    >>> [qid for qid in runs if set(runs[qid][:10]) & qrels[qid]], sorted(texts)
    (['q1', 'q2', 'q3', 'q4'], ['d60', 'd61', 'd62'])
    """
    runs = {
        "q1": ["d10", "d11", "d12"],
        "q2": ["d21", "d22", "d20"],
        "q3": [*(f"d{number}" for number in range(31, 40)), "d30"],
        "q4": ["d40", "d43", "d41"],
        "q5": ["d61", "d62", "d63"],
        "q6": ["d70", "d71"],
    }
    qrels = {"q1": {"d10"}, "q2": {"d20"}, "q3": {"d30"}, "q4": {"d40", "d41", "d42"}, "q5": {"d60"}, "q6": set()}
    return runs, qrels, dict.fromkeys(("d60", "d61", "d62"), "The limit is 100 requests a minute, for each key.")


def two_systems(both: int, only_a: int, only_b: int, neither: int = 0) -> tuple[Rankings, Rankings, Relevant]:
    """Two runs over as many queries as the counts add up to, which hit as the counts say: runs A, runs B, qrels.

    For the published tie at 0.74 over 300 queries: 222 each, with 0 to 78 discordant queries a side.
    ValueError for a negative count, and where all are 0.

    >>> a, b, qrels = two_systems(both=144, only_a=78, only_b=78)
    >>> [sum(bool(set(run[qid]) & qrels[qid]) for qid in qrels) / 300 for run in (a, b)]
    [0.74, 0.74]
    """
    counts = (both, only_a, only_b, neither)
    if min(counts) < 0 or not any(counts):
        raise ValueError(f"the counts are {counts}; each is 0 or more, and one of them is above 0")
    hits = [(True, True)] * both + [(True, False)] * only_a + [(False, True)] * only_b + [(False, False)] * neither
    qids = [f"q{number:03}" for number in range(1, len(hits) + 1)]
    a, b = (
        {qid: [f"{qid}-answer" if hit[side] else f"{qid}-other"] for qid, hit in zip(qids, hits, strict=True)}
        for side in (0, 1)
    )
    return a, b, {qid: {f"{qid}-answer"} for qid in qids}


class Failures(NamedTuple):
    """A constructed evaluation with its failures: what `triage` takes, under the names it takes it by.

    `runs` are the dense lists, `lexical` the others; `second` has the grades of a second reader; `about` what is
    known of each document that the labels name.
    """

    runs: Rankings
    qrels: Relevant
    queries: dict[str, str]
    texts: dict[str, str]
    lexical: Rankings
    second: dict[str, dict[str, int]]
    about: dict[str, dict[str, Any]]


def failures_of_240() -> Failures:
    """Recall@50 of 0.48 over 240 queries: 115 hits and 125 failures, which fall as published.

    18 have an answer that is not indexed, in PDF files above 20 MB; 31 one that ends in mid-sentence; 22 a judgment
    that a second reader does not share; 29 ask for something code-like, of which a lexical index has 26 at rank 1
    or 2 while the dense list has them below 500; 25 are left. A published chunk is 512 tokens long: here 390 words.

    >>> found = failures_of_240()
    >>> sum(bool(set(ids[:50]) & found.qrels[qid]) for qid, ids in found.runs.items())
    115
    >>> len([doc for own in found.qrels.values() for doc in own if doc not in found.texts])
    18
    """
    kinds = "hit 115, absent 18, cut 31, disputed 22, lexical 26, code 3, blind 25".split(", ")
    made = Failures({}, {}, {}, {}, {}, {}, {})
    fillers = [f"other-{number:03}" for number in range(1, 601)]
    number = 0
    for kind, count in (kind.split() for kind in kinds):
        for nth in range(int(count)):
            number += 1
            qid, doc_id = f"q{number:03}", f"doc-{number:03}"
            dense, lexical = list(fillers), list(fillers[:10])
            if kind == "hit":
                dense.insert(nth % 50, doc_id)
            elif kind == "lexical":
                dense.insert(510 + nth, doc_id)
                lexical.insert(nth % 2, doc_id)
            elif kind in ("blind", "disputed"):
                dense.insert(90 + 3 * nth, doc_id)
            made.runs[qid], made.lexical[qid], made.qrels[qid] = dense, lexical, {doc_id}
            made.queries[qid] = _asked(kind, nth)
            if kind != "absent":
                made.texts[doc_id] = _unfinished() if kind == "cut" else f"Note {number} says what to do about it."
                made.second[qid] = {doc_id: int(kind != "disputed")}
            big = kind == "absent"
            made.about[doc_id] = {
                "type": "pdf" if big or number % 3 == 0 else ("html", "md")[number % 2],
                "size_mb": 21 + nth if big else 1 + number % 20,
                "source": ("wiki", "manuals", "tickets")[number % 3],
            }
    return made


def one_bit() -> Failures:
    """Three queries that fail alike: the answer is ranked 4,000th, is in no index, or was cut in two.

    The published case against reading a low recall as evidence about the encoder.

    >>> found = one_bit()
    >>> [bool(set(found.runs[qid][:50]) & found.qrels[qid]) for qid in ("ranked", "absent", "cut")]
    [False, False, False]
    """
    fillers = [f"other-{number:04}" for number in range(1, 4000)]
    return Failures(
        runs={"ranked": [*fillers, "doc-ranked"], "absent": fillers[:50], "cut": [*fillers[:50], "doc-cut"]},
        qrels={name: {f"doc-{name}"} for name in ("ranked", "absent", "cut")},
        queries={"ranked": "why is it slow", "absent": "who signs it", "cut": "what to do when it leaks"},
        texts={"doc-ranked": "Nothing is fast on a Monday.", "doc-cut": _unfinished()},
        lexical={"ranked": [], "absent": [], "cut": []},
        second={},
        about={},
    )


def _placed(places: list[tuple[int, ...]] | list[Any], depth: int = 50) -> tuple[Rankings, Relevant]:
    """Lists of `depth` with relevant documents at these places; a query without a place has its answer nowhere."""
    runs: Rankings = {}
    qrels: Relevant = {}
    for number, own in enumerate(places, 1):
        qid = f"q{number:03}"
        runs[qid] = [f"{qid}-{'answer' if place in own else 'other'}-{place:02}" for place in range(1, depth + 1)]
        qrels[qid] = {f"{qid}-answer-{place:02}" for place in own} or {f"{qid}-answer-nowhere"}
    return runs, qrels


def _asked(kind: str, nth: int) -> str:
    if kind in ("lexical", "code"):
        codes = (f"MX-{4471 + nth}-B", f"err_{4021 + nth}", f"relay_gate_{nth}", f"E{4021 + nth}")
        return f"{codes[nth % 4]} does not start"
    return ("what to do when it leaks", "who may sign it", "how long does it take", "where does it go")[nth % 4]


def _unfinished(n_words: int = 390) -> str:
    """Prose of 390 words that ends in the middle of a sentence."""

    def words() -> Iterator[str]:
        while True:
            yield from (
                "The light blinks twice and then stays on. Some see water below the housing, and others hear "
                "a hum that comes and goes with the load."
            ).split()

    source = words()
    text = [next(source) for _ in range(n_words - 5)]
    text[-1] = text[-1].rstrip(".,") + "."
    return " ".join([*text, "To", "stop", "it,", "first", "close"])
