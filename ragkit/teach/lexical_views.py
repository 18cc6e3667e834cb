"""What the chapters of part I show: explorers over N and df, k1, b and length, two documents; and their figures."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ragkit.lexical.index import BM25Index
from ragkit.lexical.scoring import idf, length_factor, saturation
from ragkit.teach.explorers import Control, Explorer, Frame, steps
from ragkit.teach.figures import INK, PALETTE, Picture, canvas, picture

BLUE, GREY = PALETTE["lexical"], PALETTE["other"]


def rarity() -> Explorer:
    """What a term weighs, over the size of the corpus and the number of documents that hold it."""
    sizes = (12_000, 51_310, 250_000, 1_000_000, 10_000_000)
    held = (1, 2, 3, 5, 10, 20, 50, 100, 200, 410, 1_000, 2_000, 5_000, 12_000)  # none above the smallest corpus

    def compute(n_docs: int, df: int) -> Frame:
        dfs = np.unique(np.geomspace(1, n_docs, 60).round())
        return {"n_docs": n_docs, "df": df, "idf": idf(n_docs, df), "dfs": dfs, "idfs": idf(n_docs, dfs)}

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xscale="log", xlim=(0.8, 1.3e7), ylim=(0, 17), xlabel="documents that hold the term", ylabel="idf")

    def draw(axes: Axes, frame: Frame) -> None:
        axes.plot(frame["dfs"], frame["idfs"], color=BLUE)
        axes.plot(frame["df"], frame["idf"], "o", color=BLUE, markersize=8)
        axes.annotate(f"{frame['idf']:.2f}", (frame["df"], frame["idf"]), (9, 5), textcoords="offset points")

    def readout(frame: Frame) -> str:
        n, df = frame["n_docs"], frame["df"]
        return f"idf = ln(1 + ({n:,} − {df:,} + 0.5) / ({df:,} + 0.5)) = {frame['idf']:.4f}"

    return Explorer(
        "What a term weighs",
        (
            Control("n_docs", "documents, N", sizes, 12_000, "{:,}"),
            Control("df", "that hold it, df", held, 3, "{:,}"),
        ),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: f"idf({frame['n_docs']:_}, {frame['df']:_})",
        alt=lambda frame: (
            f"A curve falls from {frame['idfs'][0]:.1f} at one document to {frame['idfs'][-1]:.1f} at "
            f"{frame['n_docs']:,}; a dot marks {frame['df']:,} documents at {frame['idf']:.2f}."
        ),
    )


def repetition() -> Explorer:
    """What mentions are worth at average length, over k1: the climb, and the ceiling."""
    counts = np.linspace(0, 20, 81)

    def compute(k1: float, tf: int) -> Frame:
        last = saturation(tf, k1) - saturation(tf - 1, k1)
        return {"k1": k1, "tf": tf, "worth": saturation(tf, k1), "last": last, "curve": saturation(counts, k1)}

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(
            xlim=(0, 20), ylim=(0, 4.3), xlabel="mentions, tf", ylabel="worth, in mentions", xticks=range(0, 21, 4)
        )

    def draw(axes: Axes, frame: Frame) -> None:
        ceiling = frame["k1"] + 1
        axes.plot([0, 20], [ceiling, ceiling], ":", color=INK, linewidth=1)
        axes.annotate(
            f"ceiling k1 + 1 = {ceiling:.1f}", (20, ceiling), (0, 4), textcoords="offset points", ha="right"
        )
        axes.plot(counts[1:], frame["curve"][1:], color=BLUE)
        axes.plot(frame["tf"], frame["worth"], "o", color=BLUE, markersize=8)

    def readout(frame: Frame) -> str:
        tf, k1 = frame["tf"], frame["k1"]
        whole = f"{tf} × {k1 + 1:.1f} / ({tf} + {k1:.1f}) = {frame['worth']:.4f}"
        return f"{whole}; the last of the {tf} added {frame['last']:.4f}" if tf > 1 else whole

    return Explorer(
        "What mentions are worth",
        (
            Control("k1", "k1", steps(0, 3, 0.1), 1.2, "{:.1f}"),
            Control("tf", "mentions, tf", (1, 2, 3, 5, 8, 12, 20), 12),
        ),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: f"saturation({frame['tf']}, k1={frame['k1']:.1f})",
        alt=lambda frame: (
            f"A curve {'climbs towards' if frame['k1'] else 'lies flat on'} a dotted ceiling at "
            f"{frame['k1'] + 1:.1f}; a dot marks {frame['tf']} mentions, worth {frame['worth']:.2f}."
        ),
    )


def length(tf: int = 1, k1: float = 1.2) -> Explorer:
    """What `tf` mentions are worth in a document of another length, over b."""
    ratios = np.linspace(0, 10, 101)

    def worth(b: float, ratio: Any) -> Any:  # noqa: ANN401 - one number, or as many as the curve has
        return saturation(tf, k1, length_factor(ratio, 1.0, b))

    def compute(b: float, ratio: float) -> Frame:
        factor = length_factor(ratio, 1.0, b)
        return {"b": b, "ratio": ratio, "factor": factor, "worth": worth(b, ratio), "curve": worth(b, ratios)}

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xlim=(0, 10), ylim=(0, k1 + 1.2), xlabel="length ÷ average length", ylabel="worth, in mentions")
        axes.plot([0, 10], [k1 + 1, k1 + 1], ":", color=INK, linewidth=1)
        axes.annotate(f"ceiling {k1 + 1:g}", (10, k1 + 1), (0, 4), textcoords="offset points", ha="right")
        axes.plot([1, 1], [0, k1 + 1], color=GREY, linewidth=0.8)
        axes.annotate("average", (1, 0), (4, 4), textcoords="offset points")

    def draw(axes: Axes, frame: Frame) -> None:
        axes.plot(ratios, frame["curve"], color=BLUE)
        axes.plot(frame["ratio"], frame["worth"], "o", color=BLUE, markersize=8)

    def readout(frame: Frame) -> str:
        b, ratio, factor = frame["b"], frame["ratio"], frame["factor"]
        return (
            f"length factor = 1 − {b:.2f} + {b:.2f} × {ratio:g} = {factor:.4f}; "
            f"worth = {tf} × {k1 + 1:g} / ({tf} + {k1:g} × {factor:.4f}) = {frame['worth']:.4f}"
        )

    return Explorer(
        f"What {'one mention is' if tf == 1 else f'{tf} mentions are'} worth at another length",
        (
            Control("b", "b", steps(0, 1, 0.05), 0.75, "{:.2f}"),
            Control("ratio", "length ÷ average", (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0, 10.0), 8.0, "{:g}"),
        ),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: (
            f"saturation({tf}, k1={k1:g}, length_factor=length_factor({frame['ratio']:g}, 1, b={frame['b']:.2f}))"
        ),
        alt=lambda frame: (
            f"A curve {'falls' if frame['b'] else 'runs level'} from {frame['curve'][0]:.2f} at length zero to "
            f"{frame['curve'][-1]:.2f} at ten times the average; a dot marks {frame['ratio']:g} times the average, "
            f"worth {frame['worth']:.2f}."
        ),
    )


def two_documents(index: BM25Index, docs: Mapping[str, str], query: str, first: str, second: str) -> Explorer:
    """Two documents under k1 and b, their scores stacked term by term.

    With a kernel the query is free, and a document is an id or a text of the reader's own, scored with the
    index's statistics as if it were the next document to be added.
    """
    k1s, bs = steps(0, 3, 0.2), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)

    def rows(document: str, query: str, k1: float, b: float) -> list[tuple[str, float]]:
        if document in docs:
            explained = index.with_params(k1=k1, b=b).explain(query, document)
            return [(row.term, row.score) for row in explained.rows]
        return _score_new(index, document, query, k1, b)

    @lru_cache(maxsize=8)
    def reach(query: str, names: tuple[str, ...]) -> float:
        """The highest score at any position of the sliders, so that the axis does not move with them."""
        corners = product(names, (k1s[0], k1s[-1]), (bs[0], bs[-1]))
        return max(sum(score for _, score in rows(name, query, k1, b)) for name, k1, b in corners) or 1.0

    def compute(k1: float, b: float, query: str, first: str, second: str) -> Frame:
        bars = {name: rows(name, query, k1, b) for name in (first, second)}
        return {"k1": k1, "b": b, "query": query, "bars": bars, "reach": reach(query, (first, second))}

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xlim=(0, frame["reach"] * 1.02), ylim=(-0.35, 1.75), yticks=[], xlabel="score")
        axes.spines["left"].set_visible(False)

    def draw(axes: Axes, frame: Frame) -> None:
        for place, (name, parts) in zip((1, 0), frame["bars"].items(), strict=False):
            left = 0.0
            for number, (_, score) in enumerate(parts):
                axes.barh(place, score, 0.4, left=left, color=BLUE, alpha=1 - 0.5 * (number % 2), ec=INK, lw=0.8)
                left += score
            axes.text(0, place + 0.28, _sum_line(name, parts), fontsize=8.5)

    def totals(frame: Frame) -> list[tuple[str, float]]:
        return [(name, sum(score for _, score in parts)) for name, parts in frame["bars"].items()]

    def readout(frame: Frame) -> str:
        ranked = sorted(totals(frame), key=lambda pair: -pair[1])
        if len(ranked) < 2:
            return "Give two different documents."
        (best, high), (other, low) = ranked
        if high == low:
            return f"A tie at {high:.4f}."
        return f"{_short(best)} is ahead: {high:.4f} against {low:.4f} for {_short(other)}"

    return Explorer(
        "Two documents, term by term",
        (Control("k1", "k1", k1s, 1.2, "{:.1f}"), Control("b", "b", bs, 0.75, "{:.2f}")),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: (
            f"index.with_params(k1={frame['k1']:.1f}, b={frame['b']:.2f})"
            f".explain({frame['query']!r}, {next(iter(frame['bars']))!r})"
        ),
        alt=lambda frame: "Two stacked bars. " + ". ".join(_sum_line(*bar) for bar in frame["bars"].items()) + ".",
        texts=(
            ("query", "Query", query),
            ("first", "First document: an id, or your own text", first),
            ("second", "Second document", second),
        ),
        left=0.04,
    )


def _score_new(index: BM25Index, text: str, query: str, k1: float, b: float) -> list[tuple[str, float]]:
    """Score a text that is not in the index, counting it in N and in the df of its own terms."""
    terms, wanted = index.analyzer(text), index.analyzer(query)
    held = [*terms.words, *terms.parts]
    n_docs = len(index.postings.doc_ids) + 1
    factor = length_factor(len(terms.words), index.avgdl, b)
    return [
        (term, float(idf(n_docs, index.df(term) + 1)) * float(saturation(held.count(term), k1, factor)))
        for term in (*wanted.words, *wanted.parts)
    ]


def _sum_line(name: str, parts: list[tuple[str, float]]) -> str:
    """A score as its sum: "numpy.argmax 5.49 = keepdims 5.19 + array 0.30"."""
    total = sum(score for _, score in parts)
    return f"{_short(name)} {total:.2f} = " + (" + ".join(f"{term} {score:.2f}" for term, score in parts) or "0")


def _short(name: str) -> str:
    return name if len(name) <= 32 else name[:30] + "…"


def term_weights(index: BM25Index, terms: Sequence[str]) -> Picture:
    """Bars: what each term weighs in this index, from the most common to the rarest."""
    ordered = sorted(terms, key=index.df, reverse=True)
    n_docs = len(index.postings.doc_ids)
    weights = {term: float(idf(n_docs, index.df(term))) for term in ordered}
    figure, axes = canvas("tall", left=0.22)
    axes.barh(list(weights), list(weights.values()), height=0.55)
    for place, (term, weight) in enumerate(weights.items()):
        label = f"{weight:.2f}  (df {index.df(term):,})"
        axes.annotate(label, (weight, place), (4, -3), textcoords="offset points")
    axes.set(xlim=(0, max(weights.values()) * 1.35), xlabel="idf")
    common, rare = ordered[0], ordered[-1]
    return picture(
        figure,
        alt=f"{len(ordered)} horizontal bars, one a term: {common} is shortest at {weights[common]:.2f}, "
        f"{rare} is longest at {weights[rare]:.2f}.",
        caption=f"{common}, on {index.df(common) / n_docs:.0%} of the pages, weighs {weights[common]:.2f}; "
        f"{rare}, on {index.df(rare) / n_docs:.1%}, weighs {weights[rare]:.2f}.",
    )


def ceiling_shares(k1s: tuple[float, float] = (1.2, 1.5)) -> Picture:
    """Curves: the share of its own ceiling that a number of mentions reaches, under two settings of k1."""
    counts = list(range(1, 21))
    figure, axes = canvas("low")
    for k1, style, colour, offset in zip(k1s, ("o-", "^-"), (BLUE, GREY), ((-30, 6), (4, -16)), strict=True):
        share = np.asarray(saturation(counts, k1)) / (k1 + 1)
        axes.plot(counts, share, style, color=colour, markevery=4)
        axes.annotate(f"k1 = {k1:g}", (4, share[3]), offset, textcoords="offset points")
    axes.axhline(1, color=INK, linestyle=":", linewidth=1)
    axes.annotate("ceiling", (20, 1), (0, 4), textcoords="offset points", ha="right")
    axes.set(xlim=(0, 20.5), ylim=(0, 1.2), xticks=range(0, 21, 4))
    axes.set(xlabel="mentions, tf", ylabel="share of the ceiling")
    low, high = (float(saturation(12, k1)) / (k1 + 1) for k1 in k1s)
    return picture(
        figure,
        alt=f"Two curves climb towards a dotted ceiling at one; the one for k1 {k1s[0]:g}, with circles, stays above "
        f"the one for k1 {k1s[1]:g}, with triangles.",
        caption=f"At twelve mentions the settings are {abs(low - high):.3f} apart, in shares of their own ceilings.",
    )


def length_histogram(index: BM25Index) -> Picture:
    """A histogram of the documents' lengths, with the average marked."""
    lengths = index.postings.doc_lengths
    shorter = float((lengths < index.avgdl).mean())
    figure, axes = canvas("low")
    counts, _, _ = axes.hist(lengths, bins=40, edgecolor=INK, linewidth=0.5)
    axes.axvline(index.avgdl, color=INK, linestyle=":", linewidth=1)
    axes.annotate(f"average {index.avgdl:.0f}", (index.avgdl, np.max(counts)), (5, 6), textcoords="offset points")
    axes.set(xlim=(0, None), ylim=(0, np.max(counts) * 1.15), xlabel="length in terms", ylabel="documents")
    return picture(
        figure,
        alt="A histogram of lengths with a long tail to the right; a dotted line marks the average.",
        caption=f"{shorter:.0%} of the documents are shorter than the average: the tail pulls it up.",
    )
