"""What chapter 12 shows: the printed triage beside ours, faults injected and found, and failures one by one."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten, wrap
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from ragkit.corpora.collections import Corpus
from ragkit.corpora.constructed import Failures, one_bit
from ragkit.diagnosis.buckets import (
    CHUNK_SUSPECT,
    CODE_LIKE,
    DENSE_BLIND,
    JUDGMENT_ERROR,
    LEXICAL_FINDS_IT,
    NOT_INDEXED,
    Finding,
    Ranker,
    Triage,
    triage,
)
from ragkit.diagnosis.injection import Cause, World, inject
from ragkit.measure.runs import Mean
from ragkit.teach.benchmarks import RESULTS, Table
from ragkit.teach.explorers import Control, Explorer, Frame
from ragkit.teach.figures import INK, LINE, PALETTE, Picture, canvas, picture

BUCKETS = (NOT_INDEXED, CHUNK_SUSPECT, JUDGMENT_ERROR, LEXICAL_FINDS_IT, CODE_LIKE, DENSE_BLIND)
SHORT = 40  # words: what the printed function takes for a bad chunk has fewer
GREEN, GREY = PALETTE["relevant"], PALETTE["other"]
Printed = Callable[[str, set[str], Mapping[str, str], Mapping[str, Any], Mapping[str, Any]], str]


def bars(published: Mapping[str, int], hits: int, n: int) -> Picture:
    """One bar of all queries: those that hit, then the failures bucket by bucket, upstream first."""
    figure, axes = canvas("low", left=0.04)
    axes.spines["left"].set_visible(False)
    left = hits
    axes.barh(0, hits, 0.5, color=GREEN, alpha=0.5, ec=INK, lw=0.8)
    axes.annotate(f"{hits} hit", (hits / 2, 0), ha="center", va="center")
    for place, (name, count) in enumerate(published.items()):
        look: dict[str, Any] = {"color": GREY, "alpha": 0.25 + 0.3 * (place % 2)}
        if name == DENSE_BLIND:
            look = {"facecolor": "none", "edgecolor": PALETTE["dense"], "hatch": "////"}
        axes.barh(0, count, 0.5, left=left, **look)
        middle, height = left + count / 2, 0.42 + 0.34 * place
        axes.plot([middle, middle], [0.25, height], "-", color=GREY, lw=0.8)
        axes.annotate(
            f"{name} {count}",
            (middle, height),
            (-5, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=9,
        )
        left += count
    axes.set(xlim=(0, n), ylim=(-0.4, 2.4), yticks=[], xlabel="queries")
    listed = ", ".join(f"{name} {count}" for name, count in published.items())
    return picture(
        figure,
        alt=f"One bar of {n} queries: {hits} hit; the others in segments from upstream to downstream, {listed}.",
        caption=f"Constructed: of {n - hits} failures, {published[DENSE_BLIND]} are left to the encoder.",
    )


# the printed function, and ours, on the same input


class Trial(NamedTuple):
    """An input, and what is right. Ranks are from `first` on, as an index might count them; None is no hit."""

    about: str
    query: str
    gold: frozenset[str]
    texts: Mapping[str, str]
    lexical: Mapping[str, int | None]
    dense: Mapping[str, int | None]
    first: int = 1
    second: Mapping[str, int] = {}
    names: tuple[str, ...] = ()


def trials() -> dict[str, Trial]:
    """Inputs that a triage meets, by query id: what is constructed is one query and one or two passages."""
    whole = "Close the valve before you open the housing, and wait for the light. " * 6
    short = "Close the valve before you open the housing."
    unfinished = one_bit().texts["doc-cut"]
    far = {"a": 800}
    plain = "what comes first"
    made = [
        Trial("two answers, one in neither list", plain, frozenset("ab"), {"a": whole, "b": whole},
              {"a": 40, "b": None}, {"a": 800, "b": None}),
        Trial("ranks that begin with 0, answer first", plain, frozenset("a"), {"a": whole}, {"a": 1}, {"a": 1}, 0),
        Trial("two answers, one of them not indexed", plain, frozenset("ab"), {"a": whole}, {"a": 40}, far),
        Trial("no answer at all", plain, frozenset(), {"a": whole}, {}, {}),
        Trial("390 words that end in mid-sentence", plain, frozenset("a"), {"a": unfinished}, {"a": 40}, far),
        Trial("a short passage that is whole", plain, frozenset("a"), {"a": short}, {"a": 40}, far),
        Trial("the second reader disagrees", plain, frozenset("a"), {"a": whole}, {"a": 40}, far, 1, {"a": 0}),
        *(
            Trial(f"{code} in the query", f"{code} does not start", frozenset("a"), {"a": whole}, {"a": 40}, far,
                  names=("billing hub",))
            for code in ("MX-4471-B", "err_4021", "E4021", "page_size", "billing hub")
        ),
    ]  # fmt: skip
    return {f"t{number:02}": trial for number, trial in enumerate(made, 1)}


def side_by_side(printed: Printed, given: Mapping[str, Trial]) -> Table:
    """What the printed logic makes of each trial, and what `triage` does; an exception by its name."""
    rows = []
    for qid, one in given.items():
        ranks = [
            {name: None if rank is None else rank - 1 + one.first for name, rank in own.items()}
            for own in (one.lexical, one.dense)
        ]
        rows.append((one.about, _outcome(printed, qid, set(one.gold), one.texts, *ranks), _outcome(_ours, qid, one)))
    return Table(("constructed input", "as printed", "ours"), tuple(rows), "An exception is given by its name.")


def _ours(qid: str, one: Trial) -> str:
    lists = [{qid: _ranking(own)} for own in (one.lexical, one.dense)]
    found = triage(
        [qid], {qid: set(one.gold)}, one.texts, {qid: one.query}, lexical=lists[0], dense=lists[1],
        second={qid: dict(one.second)} if one.second else None, names=one.names,
    )  # fmt: skip
    return found.findings[qid].bucket


def _ranking(ranks: Mapping[str, int | None]) -> list[str]:
    """A list that has each document at its rank, among others."""
    places = {rank: name for name, rank in ranks.items() if rank is not None}
    return [places.get(rank, f"other-{rank}") for rank in range(1, max(places, default=0) + 1)]


def _outcome(call: Callable[..., str], *given: Any) -> str:  # noqa: ANN401 - whatever is tried
    try:
        return call(*given)
    except (TypeError, ValueError) as error:
        return type(error).__name__


def blame(printed: Printed, found: Failures, failing: Sequence[str]) -> dict[str, int]:
    """How many of the constructed failures the printed logic puts into each bucket.

    The constructed passages are a line each, which it takes for badly cut: here each is said eight times.
    """
    texts = {name: text if len(text.split()) >= SHORT else " ".join([text] * 8) for name, text in found.texts.items()}
    places = [
        {qid: {name: place for place, name in enumerate(run[qid], 1)} for qid in failing}
        for run in (found.lexical, found.runs)
    ]
    counted = Counter(printed(qid, found.qrels[qid], texts, *(own[qid] for own in places)) for qid in failing)
    return {name: counted[name] for name in BUCKETS}


# faults that were put there: what benchmarks/injection.py wrote

FAULTS = {
    "drop": "document dropped",
    "cut": "answer cut",
    "flip": "label turned round",
    "code": "identifier in lower case",
}
NATURAL = "nothing injected"
RIGHT = {
    "drop": (NOT_INDEXED,),
    "cut": (CHUNK_SUSPECT,),
    "flip": (JUDGMENT_ERROR,),
    "code": (LEXICAL_FINDS_IT, CODE_LIKE),
}


@dataclass(frozen=True)
class Injections:
    """What became of injected faults in one collection: rows of (query, its causes, its bucket, the evidence)."""

    collection: str
    rows: Mapping[str, Sequence[tuple[str, tuple[str, ...], str, str]]]
    seeds: tuple[int, ...]
    masked: int
    drawn: int
    where: str

    def share(self, cause: str, what: str, reading: str = "spans") -> Mean:
        """Precision, recall, or "any": the share of a bucket for which the cause is one of two. By its first cause.

        A natural failure in a bucket counts as wrong; in that of the identifiers it is left out, since those buckets
        are where natural failures belong. ValueError where nothing is in the bucket, or nothing has the cause.
        """
        rows = self.rows[reading]
        if what == "recall":
            values = [bucket in RIGHT[cause] for _, causes, bucket, _ in rows if causes[0] == cause]
        else:
            inside = [causes for _, causes, bucket, _ in rows if bucket in RIGHT[cause]]
            if cause == "code":
                inside = [causes for causes in inside if causes[0] != "natural"]
            values = [cause in (causes if what == "any" else causes[:1]) for causes in inside]
        return Mean({str(place): float(value) for place, value in enumerate(values)})

    def scores(self, reading: str = "spans") -> Table:
        """Precision and recall of each bucket, with intervals."""
        return Table(
            ("fault: where it belongs", "precision", "recall", "one of its causes"),
            tuple(
                (
                    f"{FAULTS[cause]}: {' or '.join(RIGHT[cause])}",
                    *(_interval(self, cause, what, reading) for what in ("precision", "recall", "any")),
                )
                for cause in FAULTS
            ),
            f"{self.collection}, seeds {self.seeds[0]} to {self.seeds[-1]}, {len(self.rows[reading])} failing "
            f"queries; labels read as {reading}. A query counts for its first cause; one into which nothing was "
            "injected counts as wrong in the first three rows, and not at all in the last. Last column: right where "
            "the fault is one of two. Intervals are Wilson's, 95 %, somewhat too narrow: every seed asks the same "
            f"queries. {self.where}",
        )

    def astray(self, reading: str = "spans") -> tuple[dict[tuple[str, str], int], int]:
        """Where the injected faults went that are in the wrong bucket, the most first; and how many there are.

        Keys are the fault and the bucket, in words.
        """
        wrong = Counter(
            {cell: n for cell, n in self.cells(reading).items() if cell[1] not in RIGHT.get(cell[0], BUCKETS)}
        )
        return {(FAULTS[cause], bucket): n for (cause, bucket), n in wrong.most_common()}, wrong.total()

    def cells(self, reading: str = "spans") -> Counter[tuple[str, str]]:
        """How many failing queries of each first cause are in each bucket."""
        return Counter((causes[0], bucket) for _, causes, bucket, _ in self.rows[reading])

    def crossed(self, reading: str = "spans") -> Table:
        """First causes against buckets."""
        cells = self.cells(reading)
        return Table(
            ("first cause", *BUCKETS),
            tuple(
                (FAULTS.get(cause, NATURAL), *(str(cells[cause, bucket]) for bucket in BUCKETS))
                for cause in (*FAULTS, "natural")
            ),
            f"{self.collection}, labels read as {reading}. {self.masked} of {self.drawn} queries with a fault do not "
            "fail, and are in no row.",
        )


def injected(collection: str) -> Injections:
    """What benchmarks/injection.py last wrote of a collection.

    FileNotFoundError where ragkit is installed without the project around it; KeyError for another collection.
    """
    path = RESULTS / "injection.json"
    if not path.exists():
        raise FileNotFoundError("no results of the benchmark 'injection': they come with the project, in benchmarks/")
    kept = json.loads(path.read_text(encoding="utf-8"))
    found = kept["collections"][collection]
    rows = {
        reading: [(qid, tuple(causes), bucket, why) for qid, causes, bucket, why in own]
        for reading, own in found["rows"].items()
    }
    return Injections(
        collection,
        rows,
        tuple(found["seeds"]),
        sum(found["drawn and not failing"].values()),
        sum(found["drawn"].values()),
        f"Measured on {kept['machine']['date']}.",
    )


def _interval(made: Injections, cause: str, what: str, reading: str) -> str:
    try:
        share = made.share(cause, what, reading)
    except ValueError:
        return "none"
    low, high = share.interval
    return f"{round(sum(share.values.values()))}/{share.n} = {share:.2f} ({low:.2f}–{high:.2f})"


# failures one by one

DONE: dict[str, dict[Cause, float]] = {  # what is done to each failing query, as shares of the injections drawn
    "nothing": {},
    "dropped": {"drop": 1},
    "cut": {"cut": 1},
    "dropped and cut": {"drop": 0.5, "cut": 0.5},
    "label turned round": {"flip": 1},
}


def broken(corpus: Corpus, failing: Sequence[str], dense: Ranker, lexical: Ranker, k: int) -> dict[str, Triage]:
    """Triage the same failing queries as they are, and after each thing that can be done to their answers.

    A twin without labels is left out of what is indexed, or a dropped answer would still be there under another id.
    The second reader of what was turned round makes no mistake.
    """
    labelled = {label.doc_id for label in corpus.labels}
    twins = {doc_id for doc_id in corpus.aliases if doc_id not in labelled}
    origin = {name: at for name, at in corpus.passages().origin.items() if at.doc_id not in twins}
    own = [label for label in corpus.labels if label.query_id in set(failing)]
    world = World(corpus.docs, origin, {qid: corpus.queries[qid] for qid in failing}, tuple(own))
    found = {}
    for name, shares in DONE.items():
        made = world
        if shares:
            first = {cause: int(share * len(failing)) for cause, share in shares.items()}
            first[next(iter(shares))] += len(failing) - sum(first.values())
            made = inject(world, seed=12, n=first, two=float(len(shares) > 1), wrong=0.0).world
        found[name] = triage(
            failing, made.labels, made.texts, made.queries, dense=dense, lexical=lexical, candidate_k=k,
            docs=made.docs, origin=made.origin, second=made.second or None,
        )  # fmt: skip
    return found


def ladder(found: Mapping[str, Triage], k: int, start: str) -> Explorer:
    """A failing query, the tests from upstream to downstream, and which of them fired on what."""
    qids = tuple(next(iter(found.values())).findings)

    def compute(query: str, done: str) -> Frame:
        one = found[done].findings[query]
        fired = BUCKETS.index(one.bucket)
        return {
            "query": query,
            "done": done,
            "text": one.query,
            "bucket": one.bucket,
            "fired": fired,
            "lines": [_line(place, fired, one, bool(done == "label turned round")) for place in range(len(BUCKETS))],
            "ranks": {name: one.evidence.get(name) for name in ("lexical", "dense")} if fired > 2 else {},
            # the ids alone: a cut text may say "nan" or "None", and the picture shows it
            "why": f"cut: {', '.join(one.evidence['passages'])}" if one.bucket == CHUNK_SUSPECT else one.why,
            "count": found[done].counts[one.bucket],
            "n": found[done].n,
        }

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xscale="log", xlim=(1, 8_000), ylim=(-2.2, 7.4), yticks=[])
        axes.set_xlabel("best rank of an answer")
        axes.set_xticks([1, 10, 100, 1_000], ["1", "10", "100", "1,000"])
        axes.minorticks_off()
        axes.spines["left"].set_visible(False)
        axes.plot([k, k], [-2.2, -0.8], ":", color=INK, lw=1)
        axes.annotate(
            f"candidates end at {k}", (k, -2.0), (-4, 0), textcoords="offset points", ha="right", fontsize=8
        )

    def draw(axes: Axes, frame: Frame) -> None:
        across = axes.get_yaxis_transform()
        for place, text in enumerate(wrap(shorten(frame["text"], 118, placeholder=" …"), 64)):
            axes.text(0, 7.2 - 0.68 * place, text, transform=across, fontsize=9, style="italic", va="center")
        for place, (name, says) in enumerate(frame["lines"]):
            y, fires, asked = 5.3 - place, place == frame["fired"], place <= frame["fired"]
            axes.plot(
                [0.015], [y], "o", transform=across, markersize=8 if fires else 5,
                mfc=GREEN if fires else "none", mec=GREEN if fires else GREY, alpha=1 if asked else 0.4,
            )  # fmt: skip
            weight, style = "bold" if fires else "normal", "normal" if asked else "italic"
            axes.text(0.045, y, name, transform=across, fontsize=8.5, va="center", style=style, weight=weight)
            axes.text(0.36, y, says, transform=across, fontsize=8, va="center", style=style)
        for family, rank in frame["ranks"].items():
            if rank is not None:
                look: dict[str, Any] = {**LINE[family], "linestyle": ""}
                axes.plot(rank, -1.2, **look, markersize=7)
                name = "BM25" if family == "lexical" else "dense"
                axes.annotate(
                    f"{name} {rank:,}", (rank, -1.2), (0, 7), textcoords="offset points", fontsize=8,
                    ha="right" if rank > 2_000 else "center",
                )  # fmt: skip

    def readout(frame: Frame) -> str:
        return f"{frame['bucket']}, as {frame['count']} of {frame['n']} are. {frame['why']}"

    return Explorer(
        "Which test fires, and on what",
        (
            Control("query", "failing query", qids, start),
            Control("done", "done to its answer", tuple(DONE), "nothing"),
        ),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: f'sorted_out["{frame["done"]}"].counts["{frame["bucket"]}"]',
        alt=lambda frame: (
            f"A ladder of six tests for query {frame['query']}, {frame['done']} done to its answer: the one that "
            f"fires is number {frame['fired'] + 1}, {frame['bucket']}; below, an axis of ranks with a line at {k}."
        ),
        height="tall",
        left=0.02,
    )


def _line(place: int, fired: int, one: Finding, read_twice: bool) -> tuple[str, str]:
    """The name of a test, and in a few words what it found."""
    name, seen = BUCKETS[place], one.evidence
    if place > fired:
        return name, "not asked any more"
    if place == fired:
        return name, shorten(_evidence(place, seen), 46, placeholder=" …")
    return name, (
        "no: something of an answer is there",
        "no: a passage holds an answer whole",
        "no" if read_twice else "not assessed: nobody read it twice",
        f"no: BM25 has it {_at(seen.get('lexical'))}",
        "no: nothing code-like in the query",
    )[place]


def _evidence(place: int, seen: Mapping[str, Any]) -> str:
    if BUCKETS[place] == NOT_INDEXED:
        return "missing: " + ", ".join(seen["missing"])
    if BUCKETS[place] == CHUNK_SUSPECT:
        why = str(next(iter(seen["passages"].values())))
        text = why.removeprefix("the answer is cut: ")
        return f"… {text[-42:]}" if text.endswith("✂") else f"{text[:42]} …"
    if BUCKETS[place] == JUDGMENT_ERROR:
        return "disputed: " + ", ".join(seen["disputed"])
    if BUCKETS[place] == LEXICAL_FINDS_IT:
        return f"BM25 has it {_at(seen['lexical'])}, dense {_at(seen['dense'])}"
    if BUCKETS[place] == CODE_LIKE:
        return "code-like: " + ", ".join(seen["codes"])
    return f"nothing else known; dense has it {_at(seen['dense'])}"


def _at(rank: int | None) -> str:
    return "nowhere" if rank is None else f"at {rank:,}"
