"""What chapter 07 shows: what each ranker goes by, on queries that were written before anything was ranked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from ragkit.corpora.asked import Asked
from ragkit.corpora.chunks import Passages
from ragkit.dense.scan import DenseIndex
from ragkit.lexical.index import BM25Index
from ragkit.measure.labels import Qrels
from ragkit.measure.paired import Comparison, Difference
from ragkit.measure.runs import Mean
from ragkit.ranking import Run
from ragkit.teach.benchmarks import Table
from ragkit.teach.explorers import Control, Explorer, Frame
from ragkit.teach.figures import INK, LINE, PALETTE, Picture, canvas, picture

DEPTH = 10  # hits that somebody is shown


@dataclass(frozen=True)
class Row:
    """A query, the passage that answers it, and what each family makes of the two.

    `matched` are the query's terms that stand in the passage, with what each adds; `pieces` the word pieces that the
    encoder reads. `lexical` and `dense` are the ranks of the passage; None where it shares no term with the query.
    """

    query: Asked
    answer: str
    matched: tuple[tuple[str, float], ...]
    pieces: tuple[str, ...]
    lexical: int | None
    dense: int | None

    @property
    def outcome(self) -> str:
        """Who has the passage in the first 10, and who is ahead where both have it."""
        low, high = (rank is not None and rank <= DEPTH for rank in (self.lexical, self.dense))
        if low and high:
            ahead = (self.lexical or 0) - (self.dense or 0)
            return "both" if not ahead else f"both, {'dense' if ahead > 0 else 'lexical'} ahead"
        return "lexical" if low else "dense" if high else "neither"


def evidence(
    queries: Iterable[Asked],
    passages: Passages,
    lexical: BM25Index,
    dense: DenseIndex,
    pieces: Mapping[str, Sequence[str]],
) -> list[Row]:
    """Ask each query of both indexes, and rank the passage that answers it. Those without an answer are left out."""
    rows = []
    for query in queries:
        if not query.doc_id:
            continue
        answer = query.answer(passages)
        rows.append(
            Row(
                query,
                answer,
                _matched(lexical, query.text, answer),
                tuple(pieces[query.text]),
                lexical.rank_of(query.text, answer),
                dense.rank_of(query.text, answer),
            )
        )
    return rows


def evidence_table(rows: Sequence[Row]) -> Table:
    """The rows as a table: what each family saw, both ranks, and the outcome."""
    return Table(
        ("query", "kind", "terms that matched", "pieces that the encoder reads", "BM25", "dense", "outcome"),
        tuple(
            (
                row.query.text,
                row.query.kind,
                ", ".join(term for term, _ in row.matched) or "none",
                " ".join(row.pieces),
                _rank(row.lexical),
                _rank(row.dense),
                row.outcome,
            )
            for row in rows
        ),
        f"Ranks are those of the passage that answers; found means in the first {DEPTH}.",
    )


def first_holds(text: str, passages: Passages, ranked: Sequence[str]) -> bool:
    """Whether the first passage of a ranking holds a string, word for word, in any case.

    >>> from ragkit.corpora.chunks import whole
    >>> first_holds("page_size", Passages({"d1": "Set page_size."}, whole()), ["d1#1"])
    True
    """
    return bool(ranked) and text.casefold() in passages[ranked[0]].casefold()


def exact_strings(
    queries: Iterable[Asked], passages: Passages, lexical: BM25Index, dense: DenseIndex
) -> dict[str, dict[str, tuple[bool, bool]]]:
    """For each kind of string that has no answer beside it: does each family's first passage hold it, word for word?

    {kind: {string: (BM25's does, the encoder's does)}}
    """
    found: dict[str, dict[str, tuple[bool, bool]]] = {}
    for query in queries:
        if not query.doc_id:
            tops = ([hit.doc_id for hit in index.search(query.text, k=1)] for index in (lexical, dense))
            held = tuple(first_holds(query.text, passages, top) for top in tops)
            found.setdefault(query.kind, {})[query.text] = (held[0], held[1])
    return found


def missed(found: Mapping[str, Mapping[str, tuple[bool, bool]]]) -> dict[str, tuple[int, int, int]]:
    """By kind: how many strings, and for how many of them BM25's and the encoder's first passage does not hold it."""
    return {
        kind: (
            len(strings),
            sum(not lexical for lexical, _ in strings.values()),
            sum(not dense for _, dense in strings.values()),
        )
        for kind, strings in found.items()
    }


def exact_table(found: Mapping[str, Mapping[str, tuple[bool, bool]]]) -> Table:
    """In how many of the strings another passage, which does not hold it, stands above all that do."""
    rows = []
    for kind, strings in found.items():
        sides = (Mean({text: float(not held[side]) for text, held in strings.items()}) for side in (0, 1))
        rows.append((kind, str(len(strings)), *map(_share, sides)))
    return Table(
        ("kind of string", "strings", "BM25", "dense"),
        tuple(rows),
        "How often the first passage does not hold the string that was asked for; 95 % intervals, Wilson's.",
    )


def kinds_table(found: Mapping[str, Comparison], kinds: Mapping[str, Mapping[str, str]]) -> Table:
    """Every kind of query of labelled collections, {name: comparison}: who finds it, both recalls and intervals."""
    rows = []
    for name, one in found.items():
        groups = (one.both, one.only_a, one.only_b, one.neither)
        for kind in (*dict.fromkeys(kinds[name][qid] for qid in one.recall_a.values), ""):
            of = [[qid for qid in group if not kind or kinds[name][qid] == kind] for group in groups]
            own = [qid for group in of for qid in group]
            recalls = (Mean({qid: mean.values[qid] for qid in own}) for mean in (one.recall_a, one.recall_b))
            label = f"{kind or 'all kinds'}, {name}"
            rows.append((label, str(len(own)), *(str(len(group)) for group in of), *map(_share, recalls)))
    some = next(iter(found.values()))
    a, b = some.names
    return Table(
        ("kind", "queries", "both", f"only {a}", f"only {b}", "neither", f"{a}, recall", f"{b}, recall"),
        tuple(rows),
        f"A relevant passage in the first {some.k}; shares with 95 % intervals, Wilson's.",
    )


@dataclass(frozen=True)
class Overlap:
    """How far two families go together on labelled collections: queries by who finds them, and what lists share.

    `shared` is the mean number of passages that both lists of the first k hold, `deeper` how many of the queries that
    neither finds there have a relevant passage further down in one list or the other.
    """

    both: int
    only_a: int
    only_b: int
    neither: int
    deeper: int
    shared: float

    @property
    def n(self) -> int:
        """All queries that were compared."""
        return self.both + self.only_a + self.only_b + self.neither


def overlap(
    found: Mapping[str, Comparison], runs: Mapping[str, Sequence[Run]], qrels: Mapping[str, Qrels]
) -> Overlap:
    """Add collections up: comparisons, the two runs of each and their labels, by the name of the collection."""
    deeper, shared = 0, 0.0
    for name, one in found.items():
        for qid in one.neither:
            listed = {hit.doc_id for run in runs[name] for hit in run[qid]}
            deeper += any(qrels[name][qid].get(doc_id, 0) > 0 for doc_id in listed)
        tops = [{qid: set(run.ids(qid)[: one.k]) for qid in one.recall_a.values} for run in runs[name]]
        shared += sum(len(tops[0][qid] & tops[1][qid]) for qid in tops[0])
    counts = [sum(len(getattr(one, group)) for one in found.values()) for group in ("both", "only_a", "only_b")]
    neither = sum(len(one.neither) for one in found.values())
    return Overlap(counts[0], counts[1], counts[2], neither, deeper, shared / (sum(counts) + neither))


def _gaps(
    found: Mapping[str, Comparison], kinds: Mapping[str, Mapping[str, str]]
) -> list[tuple[str, int, float, float, float]]:
    """(kind and collection, queries, recall of the second minus that of the first, interval), smallest first."""
    gaps = []
    for name, one in found.items():
        for kind in dict.fromkeys(kinds[name][qid] for qid in one.recall_a.values):
            own = {qid: -gap for qid, gap in one.difference.values.items() if kinds[name][qid] == kind}
            gap = Difference(own)
            gaps.append((f"{kind}, {name}", gap.n, float(gap), *gap.interval))
    return sorted(gaps, key=lambda gap: gap[2])


def clear_kinds(
    found: Mapping[str, Comparison], kinds: Mapping[str, Mapping[str, str]]
) -> tuple[tuple[str, ...], int]:
    """The kinds of query where the interval of the difference leaves out zero, and how many kinds there are."""
    gaps = _gaps(found, kinds)
    return tuple(label for label, _, _, low, high in gaps if low > 0 or high < 0), len(gaps)


def ahead(found: Mapping[str, Comparison]) -> str:
    """How far the second system is ahead of the first on each collection, with the interval, in words."""
    shown = []
    for name, one in found.items():
        low, high = one.difference.interval
        shown.append(f"{-one.difference:+.3f} ({-high:+.3f} to {-low:+.3f}) on {name}")
    return " and ".join(shown)


def kinds_picture(found: Mapping[str, Comparison], kinds: Mapping[str, Mapping[str, str]]) -> Picture:
    """The kinds of all collections by how far the encoder is ahead: a difference in recall, and its interval."""
    gaps = _gaps(found, kinds)
    figure, axes = canvas("tall", left=0.5)
    height = 0.22 * len(gaps) + 0.9
    figure.set_size_inches(4.8, height)
    figure.subplots_adjust(bottom=0.6 / height, top=0.97)
    axes.set(xlim=(-0.9, 0.9), ylim=(-0.7, len(gaps) + 0.1), xlabel="")
    axes.set_xlabel("BM25 ahead ←   → dense ahead", fontsize=9)
    axes.set_yticks(range(len(gaps)), [f"{label} ({n})" for label, n, *_ in gaps], fontsize=8)
    axes.plot([0, 0], [-0.7, len(gaps) + 0.1], ":", color=INK, linewidth=1)
    for place, (_, _, gap, low, high) in enumerate(gaps):
        kind = "dense" if gap > 0 else "lexical" if gap < 0 else "other"
        marker = {"dense": "s", "lexical": "o", "other": "d"}[kind]
        axes.plot([low, high], [place, place], color=PALETTE[kind], linewidth=1.4)
        axes.plot(gap, place, marker, color=PALETTE[kind], markersize=5)
    dense, lexical = sum(gap > 0 for _, _, gap, *_ in gaps), sum(gap < 0 for _, _, gap, *_ in gaps)
    clear = sum(low > 0 or high < 0 for *_, low, high in gaps)
    return picture(
        figure,
        alt=f"{len(gaps)} kinds of query, one line each, ordered by the difference in recall at {DEPTH}: the encoder "
        f"is ahead on {dense}, BM25 on {lexical}; {clear} of the intervals leave out zero.",
        caption=f"Recall of the encoder minus recall of BM25, kind by kind, with paired intervals: {clear} of "
        f"{len(gaps)} leave out zero. In brackets, the queries. A mark without a line: no query differed, which "
        "with so few says little.",
    )


def explore_evidence(rows: Sequence[Row], lexical: BM25Index, dense: DenseIndex) -> Explorer:
    """Query by query: a passage, the terms that it shares with the query, what the encoder reads, both ranks."""
    frames: dict[tuple[str, str], Frame] = {}
    which: dict[str, Callable[[Row], str]] = {
        "the answer": lambda row: row.answer,
        "BM25's first": lambda row: lexical.search(row.query.text, k=1)[0].doc_id,
        "the encoder's first": lambda row: dense.search(row.query.text, k=1)[0].doc_id,
    }
    for row in rows:
        cosine = {hit.doc_id: hit.score for hit in dense.search(row.query.text, k=len(dense))}
        for name, passage_of in which.items():
            passage = passage_of(row)
            matched = _matched(lexical, row.query.text, passage)
            frames[row.query.text, name] = {
                "query": row.query.text,
                "which": name,
                "passage": passage,
                "matched": matched,
                "score": lexical.explain(row.query.text, passage).total,
                "pieces": row.pieces,
                "cosine": cosine[passage],
                "lexical": lexical.rank_of(row.query.text, passage),
                "dense": dense.rank_of(row.query.text, passage) or len(dense),
            }

    def compute(query: str, which: str) -> Frame:
        return frames[query, which]

    last = len(dense)
    none = last * 2.2  # where a passage that shares no term stands, past the end of the list

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xscale="log", xlim=(0.8, last * 4), ylim=(-0.45, 1.75), yticks=[], xlabel="rank of the passage")
        axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
        axes.minorticks_off()
        axes.spines["left"].set_visible(False)
        for low, high in ((-0.04, 0.1), (0.96, 1.1), (1.42, 1.58)):  # between them stands text
            axes.plot([DEPTH, DEPTH], [low, high], color=INK, linewidth=1)
        axes.annotate("the first 10", (DEPTH, 1.6), (0, 3), textcoords="offset points", ha="center", fontsize=9)

    def draw(axes: Axes, frame: Frame) -> None:
        terms = ", ".join(term for term, _ in frame["matched"]) or "none"
        for place, kind, rank, says in (
            (1, "lexical", frame["lexical"], f"terms: {terms}"),
            (0, "dense", frame["dense"], f"pieces: {' '.join(frame['pieces'])}"),
        ):
            at, line = none if rank is None else rank, LINE[kind]
            axes.plot([0.8, at], [place, place], line["linestyle"], color=line["color"], linewidth=1.4)
            axes.plot(at, place, line["marker"], color=line["color"], markersize=8)
            shown = "not a hit" if rank is None else f"{rank:,}"
            axes.annotate(shown, (at, place), (0, 7), textcoords="offset points", ha="center", fontsize=9)
            name = "BM25" if kind == "lexical" else "encoder"
            axes.annotate(f"{name}, {says}", (0.8, place), (0, -13), textcoords="offset points", fontsize=9)

    def readout(frame: Frame) -> str:
        sums = " + ".join(f"{term} {score:.4f}" for term, score in frame["matched"])
        lexical_side = f"{sums} = {frame['score']:.4f}" if len(frame["matched"]) > 1 else f"{frame['score']:.4f}"
        return (
            f"{frame['which']}, {frame['passage']}: BM25 {lexical_side if sums else '0.0000, no term in common'}, "
            f"rank {_rank(frame['lexical'])}; cosine {frame['cosine']:.4f}, rank {frame['dense']:,}"
        )

    texts = tuple(row.query.text for row in rows)
    return Explorer(
        "What each family goes by",
        (Control("query", "query", texts, texts[0]), Control("which", "passage", tuple(which), "the answer")),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: f"lexical.explain({frame['query']!r}, {frame['passage']!r}).total",
        alt=lambda frame: (
            f"Two marks on a logarithmic axis of ranks for {frame['query']}: {frame['which']}, {frame['passage']}, "
            f"BM25 rank {_rank(frame['lexical'])}, encoder rank {frame['dense']:,}."
        ),
        left=0.04,
    )


def _matched(lexical: BM25Index, text: str, passage: str) -> tuple[tuple[str, float], ...]:
    return tuple((row.term, row.score) for row in lexical.explain(text, passage).rows if row.tf)


def _rank(rank: int | None) -> str:
    return "no hit" if rank is None else f"{rank:,}"


def _share(mean: Mean) -> str:
    low, high = mean.interval
    return f"{mean:.2f} ({low:.2f}\u2060–\u2060{high:.2f})"  # joined: an interval is not broken over two lines
