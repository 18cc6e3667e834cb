"""What chapter 08 shows: one page whole and in pieces, what each ranker makes of it, and the four ways to cut."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from ragkit.corpora.chunks import Chunking, Passages
from ragkit.corpora.collections import Corpus
from ragkit.dense.encoder import TextEncoder
from ragkit.dense.scan import DenseIndex
from ragkit.lexical.index import BM25Index
from ragkit.lexical.scoring import length_factor
from ragkit.measure.labels import Qrels
from ragkit.measure.metrics import judged_at_k, recall_at_k
from ragkit.measure.paired import Difference
from ragkit.measure.runs import Mean
from ragkit.ranking import Run
from ragkit.teach.benchmarks import Table
from ragkit.teach.explorers import Control, Explorer, Frame
from ragkit.teach.figures import INK, LINE, PALETTE, Picture, canvas, picture

DEPTH = 10


@dataclass(frozen=True)
class Place:
    """Where the unit that holds an answer stands under one chunking, and what each ranker makes of it.

    `matched` of the query's `n_terms` terms stand in the unit, which has `doc_len` terms where the average is `avgdl`
    (two decimals), and `pieces` word pieces of which the encoder reads `read`. Ranks are among `n` units; `lexical`
    is None where the unit shares no term with the query.
    """

    passage: str
    n: int
    doc_len: int
    avgdl: float
    matched: int
    n_terms: int
    pieces: int
    read: int
    lexical: int | None
    dense: int

    @property
    def factor(self) -> float:
        """The length factor that BM25 applies."""
        return float(length_factor(self.doc_len, self.avgdl))


def answers_after(corpus: Corpus, doc_id: str, start: int) -> dict[str, int]:
    """{query id: where its answer begins} for the labels of a document from a character on; relevant ones first."""
    found: dict[str, int] = {}
    labels = [label for label in corpus.labels if label.doc_id == doc_id and label.span and label.span[0] >= start]
    for label in sorted(labels, key=lambda label: (label.label != "relevant", label.query_id, label.span)):
        assert label.span
        found.setdefault(label.query_id, label.span[0])
    return found


def places(
    corpus: Corpus,
    chunkings: Mapping[str, Chunking],
    doc_id: str,
    answers: Mapping[str, int],
    encoder: TextEncoder,
) -> dict[str, dict[str, Place]]:
    """{chunking: {query id: Place}}: the unit of a document in which each answer begins, under each chunking."""
    found: dict[str, dict[str, Place]] = {}
    for name, chunking in chunkings.items():
        passages = corpus.passages(chunking)
        lexical, dense = BM25Index.build(passages), DenseIndex.build(passages, encoder)
        own = {passage: at for passage, at in passages.origin.items() if at.doc_id == doc_id}
        found[name] = {}
        for qid, begin in answers.items():
            passage = next(passage for passage, at in own.items() if at.start <= begin < at.end)
            text, explained = corpus.queries[qid], lexical.explain(corpus.queries[qid], passage)
            count, window = getattr(encoder, "count", None), getattr(encoder, "window", None)
            pieces = count([passages[passage]])[0] if count else 0
            found[name][qid] = Place(
                passage,
                len(passages),
                explained.doc_len,
                round(lexical.avgdl, 2),
                sum(row.tf > 0 for row in explained.rows),
                len(explained.rows),
                pieces,
                pieces if window is None else min(pieces, window),
                lexical.rank_of(text, passage),
                dense.rank_of(text, passage) or len(passages),
            )
    return found


def worse_and_better(old: Mapping[str, Place], new: Mapping[str, Place]) -> tuple[int, int]:
    """For how many queries BM25's rank is worse than before, and for how many the encoder's is better."""
    last = max(place.n for place in (*old.values(), *new.values())) + 1
    return (
        sum((new[qid].lexical or last) > (old[qid].lexical or last) for qid in old),
        sum(new[qid].dense < old[qid].dense for qid in old),
    )


def moved_table(found: Mapping[str, Mapping[str, Place]], before: str, after: str) -> Table:
    """Before and after a change of chunking, query by query: factor, matched terms and both ranks."""
    rows = []
    for qid, old in found[before].items():
        new = found[after][qid]
        pairs = (
            (f"{old.factor:.2f}", f"{new.factor:.2f}"),
            (f"{old.matched} of {old.n_terms}", f"{new.matched} of {new.n_terms}"),
            (_rank(old.lexical), _rank(new.lexical)),
            (_rank(old.dense), _rank(new.dense)),
        )
        rows.append((qid, *(f"{a} → {b}" for a, b in pairs)))
    some_old, some_new = next(iter(found[before].values())), next(iter(found[after].values()))
    return Table(
        ("query", "length factor", "terms that match", "BM25 rank", "dense rank"),
        tuple(rows),
        f"{before} → {after}; ranks of the unit in which the answer begins, "
        f"among {some_old.n:,} → {some_new.n:,} units.",
    )


def explore_sizes(corpus: Corpus, found: Mapping[str, Mapping[str, Place]], encoder: TextEncoder) -> Explorer:
    """The unit that holds an answer, over the chunk size: length factor, what is read, both ranks."""
    sizes, qids = tuple(found), tuple(next(iter(found.values())))
    last = max(place.n for own in found.values() for place in own.values())
    none = last * 2.0

    def compute(size: str, query: str) -> Frame:
        return {"size": size, "query": query, "place": found[size][query]}

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xscale="log", xlim=(0.8, last * 3.5), ylim=(-0.45, 1.75), yticks=[], xlabel="rank of the unit")
        axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
        axes.minorticks_off()
        axes.spines["left"].set_visible(False)
        for low, high in ((-0.04, 0.1), (0.96, 1.1), (1.42, 1.58)):  # between them stands text
            axes.plot([DEPTH, DEPTH], [low, high], color=INK, linewidth=1)
        axes.annotate("the first 10", (DEPTH, 1.6), (0, 3), textcoords="offset points", ha="center", fontsize=9)

    def draw(axes: Axes, frame: Frame) -> None:
        place: Place = frame["place"]
        says = {
            "lexical": f"BM25: {place.matched} of {place.n_terms} terms, length factor {place.factor:.2f}",
            "dense": f"encoder: reads {place.read:,} of {place.pieces:,} pieces",
        }
        for height, kind, rank in ((1, "lexical", place.lexical), (0, "dense", place.dense)):
            at, line = none if rank is None else rank, LINE[kind]
            axes.plot([0.8, at], [height, height], line["linestyle"], color=line["color"], linewidth=1.4)
            axes.plot(at, height, line["marker"], color=line["color"], markersize=8)
            axes.annotate(_rank(rank), (at, height), (0, 7), textcoords="offset points", ha="center", fontsize=9)
            axes.annotate(says[kind], (0.8, height), (0, -13), textcoords="offset points", fontsize=9)

    def readout(frame: Frame) -> str:
        place: Place = frame["place"]
        factor = f"1 − 0.75 + 0.75 × {place.doc_len:,} / {place.avgdl:.2f} = {place.factor:.4f}"
        return (
            f"“{_short(corpus.queries[frame['query']])}” {place.passage} of {place.n:,} units: "
            f"length factor {factor}; "
            f"the encoder reads {place.read / place.pieces:.0%} of the unit"
        )

    return Explorer(
        "One answer under five chunk sizes",
        (
            Control("size", "characters in a chunk", sizes, sizes[-1]),
            Control("query", "query", qids, qids[0]),
        ),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: f"length_factor({frame['place'].doc_len}, {frame['place'].avgdl})",
        alt=lambda frame: (
            f"Two marks on a logarithmic axis of ranks for query {frame['query']} at chunk size {frame['size']}: "
            f"BM25 {_rank(frame['place'].lexical)}, encoder {_rank(frame['place'].dense)} "
            f"of {frame['place'].n:,} units."
        ),
        left=0.04,
    )


@dataclass(frozen=True)
class Dilution:
    """Cosines of a query with the mean of ever more windows of a page, beginning with the one that answers."""

    cosines: tuple[float, ...]
    shares: tuple[float, ...]  # of the answering window in the mean, by word pieces


def dilution(
    index: DenseIndex, query: str, own: Sequence[str], answer: str, weights: Mapping[str, float]
) -> Dilution:
    """Take windows into the mean from the answering one outwards: its neighbours, theirs, and so on to the page."""
    middle = own.index(answer)
    order = sorted(range(len(own)), key=lambda at: (abs(at - middle), at))
    row = {name: number for number, name in enumerate(index.doc_ids)}
    vectors = np.array([index.vectors[row[own[at]]] for at in order], dtype=np.float64)
    shares = np.array([weights[own[at]] for at in order], dtype=np.float64)
    sums = np.cumsum(shares[:, np.newaxis] * vectors, axis=0)
    assert index.encoder is not None
    asked = index.encoder.encode([query], kind="query")[0].astype(np.float64)
    cosines = sums @ asked / np.linalg.norm(sums, axis=1) / np.linalg.norm(asked)
    return Dilution(tuple(map(float, cosines)), tuple(map(float, shares[0] / np.cumsum(shares))))


def dilution_picture(found: Mapping[str, Dilution]) -> Picture:
    """How the cosine moves while the answering window becomes a smaller part of the vector."""
    figure, axes = canvas("tall", left=0.13, right=0.87)
    ends = sorted(found, key=lambda qid: found[qid].cosines[-1])
    longest = max(len(one.cosines) for one in found.values())
    top = max(max(one.cosines) for one in found.values())
    axes.set(
        xlim=(0.9, longest), ylim=(0, top * 1.1), xscale="log", xlabel="windows in the mean, from the answer outwards"
    )
    ticks = [n for n in (1, 2, 5, 10, 20, 50) if n <= longest]
    axes.set_xticks(ticks, map(str, ticks))
    axes.minorticks_off()
    axes.set_ylabel("cosine with the query")
    placed = -1.0
    for qid in ends:
        one = found[qid]
        axes.plot(range(1, len(one.cosines) + 1), one.cosines, "s--", color=PALETTE["dense"], markersize=3)
        placed = max(one.cosines[-1], placed + 0.07 * top)
        axes.annotate(qid, (longest, placed), (6, 0), textcoords="offset points", va="center", annotation_clip=False)
    falls = sum(one.cosines[-1] < one.cosines[0] for one in found.values())
    words = ", ".join(f"{qid} from {one.cosines[0]:.2f} to {one.cosines[-1]:.2f}" for qid, one in found.items())
    return picture(
        figure,
        alt=f"Dashed lines of the cosine over the number of windows in the mean, one a query: {words}.",
        caption=f"From the answering window alone to the mean of the page the cosine falls for {falls} of "
        f"{len(found)} queries: {words}.",
    )


def margins_picture(found: Mapping[str, Sequence[Difference]]) -> Picture:
    """What leaving whole documents did to each ranker, per chunking: {chunking: (BM25's move, the encoder's)}."""
    figure, axes = canvas("tall", left=0.27)
    axes.set(ylim=(-0.6, len(found) - 0.2), xlim=(-0.25, 0.25), xlabel="change of recall against whole documents")
    axes.set_yticks(range(len(found)), list(found))
    axes.plot([0, 0], [-0.6, len(found) - 0.2], ":", color=INK, linewidth=1)
    for height, moves in enumerate(found.values()):
        for kind, move, up in (("lexical", moves[0], 0.14), ("dense", moves[1], -0.14)):
            line, (low, high) = LINE[kind], move.interval
            axes.plot([low, high], [height + up] * 2, line["linestyle"], color=line["color"], linewidth=1.4)
            axes.plot(float(move), height + up, line["marker"], color=line["color"], markersize=6)
    top, uppermost = len(found) - 1, list(found.values())[-1]
    for kind, move, up, name in (
        ("lexical", uppermost[0], 0.14, "BM25"),
        ("dense", uppermost[1], -0.14, "dense"),
    ):
        at = move.interval[0] if kind == "lexical" else move.interval[1]
        axes.annotate(
            name,
            (at, top + up),
            (-5 if kind == "lexical" else 5, 0),
            textcoords="offset points",
            ha="right" if kind == "lexical" else "left",
            va="center",
        )
    words = "; ".join(f"{name}: BM25 {a:+.3f}, dense {b:+.3f}" for name, (a, b) in found.items())
    opposite = sum(float(a) * float(b) < 0 for a, b in found.values())
    return picture(
        figure,
        alt=f"For each of {len(found)} chunkings two marks with intervals, circle for BM25, square for the encoder. "
        f"{words}.",
        caption=f"Against whole documents, recall at {DEPTH} of documents: {words}. The two move in opposite "
        f"directions under {opposite} of {len(found)}.",
    )


def unit_row(name: str, units: Passages, qrels: Qrels, runs: Sequence[Run]) -> tuple[str, ...]:
    """A line of `ways_table`: units, answers that none of them holds, what was judged, and both recalls."""
    judged = (f"{float(judged_at_k(run, qrels, DEPTH)):.2f}" for run in runs)
    recalls = [recall_at_k(run, qrels, DEPTH) for run in runs]
    return (name, f"{len(units):,}", str(len(qrels.lost)), *judged, str(recalls[0].n), *map(_share, recalls))


def ways_table(rows: Sequence[tuple[str, ...]]) -> Table:
    """What each chunking gives, in its own units."""
    return Table(
        ("cut by", "units", "answers lost", "judged, BM25", "judged, dense", "queries", "BM25", "dense"),
        tuple(rows),
        f"Recall at {DEPTH}: a unit that holds an answer whole, with 95 % intervals; judged: the share of the first "
        f"{DEPTH} that somebody has read.",
    )


def documents_table(folded: Mapping[str, Sequence[Run]], grades: Qrels) -> Table:
    """The same runs folded into documents, which are the same under every chunking: recalls, and what was judged."""
    rows = []
    for name, runs in folded.items():
        recalls = (_share(recall_at_k(run, grades, DEPTH)) for run in runs)
        judged = (f"{float(judged_at_k(run, grades, DEPTH)):.2f}" for run in runs)
        rows.append((name, *recalls, *judged))
    return Table(
        ("cut by", "BM25", "dense", "judged, BM25", "judged, dense"),
        tuple(rows),
        f"Recall at {DEPTH} of documents that hold an answer, with 95 % intervals.",
    )


def apart(moves: Mapping[str, Sequence[Difference]]) -> dict[str, Difference]:
    """The difference of two differences, query by query: how much further the first ranker moved than the second."""
    return {
        name: Difference({qid: first.values[qid] - second.values[qid] for qid in first.values})
        for name, (first, second) in moves.items()
    }


def _share(mean: Mean) -> str:
    low, high = mean.interval
    return f"{mean:.2f} ({low:.2f}\u2060–\u2060{high:.2f})"  # joined: an interval is not broken over two lines


def _rank(rank: int | None) -> str:
    return "no hit" if rank is None else f"{rank:,}"


def _short(text: str, most: int = 48) -> str:
    return text if len(text) <= most else text[: text.rfind(" ", 0, most)] + " …"
