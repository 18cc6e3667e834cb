"""What chapter 06 shows: the recall of a graph against its breadth and its time, and what it computes as it grows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import thread_time
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import ArrayLike

from ragkit.dense.graph import AnnRecall, Graph, HnswIndex, ann_recall
from ragkit.dense.scan import DenseIndex
from ragkit.teach.benchmarks import Table
from ragkit.teach.explorers import Control, Explorer, Frame
from ragkit.teach.figures import INK, LINE, PALETTE, Picture, canvas, picture

BAND = (0.95, 0.99)  # what the source says a graph typically returns


@dataclass(frozen=True)
class Point:
    """One setting of ef, measured."""

    recall: AnnRecall
    ms: float  # median of the queries


def one_search(n: int = 90, ef: int = 4) -> Picture:
    """A graph over points of a plane, and the nodes whose links one search follows, in their order."""
    import hnswlib

    points = np.random.default_rng(4).random((n, 2))
    raw = hnswlib.Index(space="l2", dim=2)
    raw.init_index(max_elements=n, M=3, ef_construction=20, random_seed=4)
    raw.add_items(points, num_threads=1)
    graph = Graph.read(raw)
    query = np.array([0.9, 0.12])
    walk = graph.walk(query, ef)
    figure, axes = canvas("tall", left=0.03, right=0.97)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.06, 1.03), xticks=[], yticks=[], aspect="auto")
    axes.spines[["left", "bottom"]].set_visible(False)
    pairs = [points[[node, other]] for node, linked in enumerate(graph.links) for other in linked if other > node]
    axes.add_collection(LineCollection(pairs, colors=PALETTE["other"], linewidths=0.5, alpha=0.7))
    axes.plot(*points.T, "s", color=PALETTE["other"], ms=3.5)
    axes.plot(*points[list(walk.expanded)].T, "s", color=PALETTE["dense"], ms=8)
    axes.plot(*query, "x", color=INK, ms=9, mew=2)
    axes.annotate("query", tuple(query), (0, -17), textcoords="offset points", ha="center")
    axes.plot(*points[walk.expanded[0]], "o", color=PALETTE["dense"], mfc="none", ms=16)
    return picture(
        figure,
        alt=f"A graph of {n} points on a plane; the {len(walk.expanded)} whose links a search follows are marked "
        "and gather around the query.",
        caption=f"With ef = {ef} the search follows the links of {len(walk.expanded)} of {n} points, and computes "
        f"{walk.distances} distances. The upper levels brought it to the ringed one.",
    )


def milliseconds(search: Callable[[Any], Any], queries: Mapping[str, Any]) -> float:
    """Median time of one search, query by query: of this thread alone, whatever else the machine does.

    >>> milliseconds(len, {"q1": "a", "q2": "b"}) < 100
    True
    """
    times = []
    for query in queries.values():
        start = thread_time()
        search(query)
        times.append(thread_time() - start)
    return 1000 * median(times)


def sweep(hnsw: HnswIndex, queries: Mapping[str, ArrayLike], efs: Sequence[int], k: int = 10) -> dict[int, Point]:
    """Recall and time of a graph, for each breadth. The queries are vectors: a model's time is not the graph's."""
    return {
        ef: Point(
            ann_recall(hnsw, hnsw.dense, queries, k, ef),
            milliseconds(lambda query, ef=ef: hnsw.search(query, k, ef), queries),  # type: ignore[misc]
        )
        for ef in efs
    }


def sweep_table(passages: Mapping[int, Point], random: Mapping[int, Point], scan: float) -> Table:
    """Both readings, distances and time over ef, for real and for random vectors."""
    rows = []
    for ef, point in passages.items():
        row = [str(ef)]
        for found in (point, random[ef]):
            row += [f"{found.recall.mean_share:.3f}", f"{found.recall.all_found:.3f}"]
            row += [f"{found.recall.distances:,.0f}", f"{found.ms:.2f}"]
        rows.append(tuple(row))
    head = ("share", "all ten", "distances", "ms")
    recall, other_n = next(iter(passages.values())).recall, next(iter(random.values())).recall.n
    return Table(
        ("ef", *(f"passages: {head[0]}", *head[1:]), *(f"random: {head[0]}", *head[1:])),
        tuple(rows),
        f"{recall.scanned:,} vectors; {recall.n} queries, {other_n} for random. The scan: all of the ten, "
        f"{recall.scanned:,} distances, {scan:.2f} ms on one core.",
    )


def scan_ms(dense: DenseIndex, queries: Mapping[str, ArrayLike], k: int = 10) -> float:
    """Median time of the least that a scan does on one core: the product with all vectors, and the k best of it."""
    units = {qid: np.asarray(query, dtype=np.float32) for qid, query in queries.items()}
    return milliseconds(lambda query: np.argpartition(np.vecdot(dense.vectors, query), -k)[-k:], units)


def in_band(points: Mapping[int, Point]) -> str:
    """Where a sweep is inside the source's band, for each reading of recall."""
    said = []
    for name, reading in (("mean share", "mean_share"), ("all ten", "all_found")):
        found = [(getattr(point.recall, reading), ef, point.ms) for ef, point in points.items()]
        inside = [f"{value:.3f} at ef = {ef}, {ms:.2f} ms" for value, ef, ms in found if BAND[0] <= value <= BAND[1]]
        said.append(f"{name}: {' and '.join(inside) or 'at none of the breadths tried'}")
    return "; ".join(said)


def trade_off(passages: Mapping[int, Point], random: Mapping[int, Point], scan: float) -> Picture:
    """Both readings of recall against milliseconds, for real and for random vectors; the scan is a line."""
    figure, axes = canvas("tall")
    points = [*passages.values(), *random.values()]
    axes.set(xscale="log", ylim=(-0.03, 1.1), xlabel="milliseconds a query, logarithmic", ylabel="recall")
    axes.set_xlim(0.38 * min(p.ms for p in points), 1.4 * max(p.ms for p in points))
    _plain(axes.set_xticks, axes.get_xlim())
    axes.minorticks_off()
    axes.axhspan(*BAND, color=PALETTE["relevant"], alpha=0.25, lw=0)
    axes.plot([scan, scan], [-0.03, 1.04], ":", color=INK, linewidth=1)
    axes.annotate("exact scan", (scan, 1.04), (0, 2), textcoords="offset points", ha="center")
    for name, points_of, colour in (("passages", passages, "dense"), ("random", random, "other")):
        ms = [p.ms for p in points_of.values()]
        share, whole = ([getattr(p.recall, of) for p in points_of.values()] for of in ("mean_share", "all_found"))
        axes.plot(ms, share, "--", marker="s", color=PALETTE[colour])
        axes.plot(ms, whole, ":", marker="s", mfc="none", color=PALETTE[colour])
        begins = (2, 3) if name == "random" else (0, 0)
        for values, what, place in ((share, "mean share", begins[0]), (whole, "all ten", begins[1])):
            low = name == "random" and what == "all ten"
            axes.annotate(
                f"{name}, {what}" if low else f"{name},\n{what}",
                (ms[place], values[place]),
                (0, 8) if low else (-9, 0),
                textcoords="offset points",
                ha="right",
                va="bottom" if low else "center",
            )
    reached = min(passages, key=lambda ef: abs(passages[ef].recall.mean_share - 0.97))
    at = passages[reached]
    return picture(
        figure,
        alt=f"Recall rises with milliseconds. Passages reach {at.recall.mean_share:.2f} mean share at "
        f"{at.ms:.2f} ms and lie far above random vectors; all ten found lies below the mean share.",
        caption="Shaded: the band of the source. "
        f"The mean share gets there at {_reached(passages):.2f} ms for passages, at {_reached(random):.2f} ms for "
        f"random vectors; the scan takes {scan:.2f} ms. Filled: mean share; open: queries with all ten.",
    )


def _plain(set_ticks: Callable[..., object], limits: tuple[float, float]) -> None:
    """Ticks of a logarithmic axis at 1, 2 and 5 of each power of ten, written out."""
    ticks = [m * 10.0**power for power in range(-3, 6) for m in (1, 2, 5)]
    ticks = [tick for tick in ticks if limits[0] <= tick <= limits[1]]
    set_ticks(ticks, [f"{tick:,g}" for tick in ticks])


def _reached(points: Mapping[int, Point]) -> float:
    """Milliseconds at the first breadth whose mean share reaches the band."""
    return next(point.ms for point in points.values() if point.recall.mean_share >= BAND[0])


def breadth(passages: Mapping[int, Point], random: Mapping[int, Point], scan: float) -> Explorer:
    """Both readings over ef, for the passages and for random vectors. The call names what the notebook names."""
    sets = {"passages": passages, "random": random}
    calls = {"passages": "hnsw, dense, queries", "random": "random_hnsw, random_dense, random_queries"}

    def compute(ef: int, vectors: str) -> Frame:
        curve, at = sets[vectors], sets[vectors][ef]
        return {
            "ef": ef,
            "vectors": vectors,
            "share": at.recall.mean_share,
            "all": at.recall.all_found,
            "n": at.recall.n,
            "distances": at.recall.distances,
            "scanned": at.recall.scanned,
            "ms": at.ms,
            "shares": [p.recall.mean_share for p in curve.values()],
            "alls": [p.recall.all_found for p in curve.values()],
        }

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xscale="log", xlim=(8, 1.25 * max(passages)), ylim=(-0.03, 1.1), xlabel="ef", ylabel="recall")
        axes.set_xticks(list(passages), [str(ef) for ef in passages])
        axes.minorticks_off()
        axes.axhspan(*BAND, color=PALETTE["relevant"], alpha=0.25, lw=0)

    def draw(axes: Axes, frame: Frame) -> None:
        axes.plot(list(passages), frame["shares"], "--", color=PALETTE["dense"])
        axes.plot(list(passages), frame["alls"], ":", color=PALETTE["dense"])
        axes.plot([frame["ef"]] * 2, [frame["share"], frame["all"]], "-", color=PALETTE["other"], lw=1)
        axes.plot(frame["ef"], frame["share"], "s", color=PALETTE["dense"], ms=8)
        axes.plot(frame["ef"], frame["all"], "s", mfc="none", color=PALETTE["dense"], ms=8)

    def readout(frame: Frame) -> str:
        return (
            f"ef = {frame['ef']}: {frame['share']:.4f} of the ten (filled), all ten for {frame['all']:.4f} of "
            f"{frame['n']} queries (open); {frame['distances']:,.0f} distances of the scan's {frame['scanned']:,}; "
            f"{frame['ms']:.2f} ms, the scan {scan:.2f} ms"
        )

    return Explorer(
        "How much of the ten a graph finds",
        (
            Control("ef", "ef", tuple(passages), 50),
            Control("vectors", "vectors", tuple(sets), "passages"),
        ),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: f"ann_recall({calls[frame['vectors']]}, k=10, ef={frame['ef']}).mean_share",
        alt=lambda frame: (
            f"Two curves over ef for {frame['vectors']}. At {frame['ef']} the mean share is {frame['share']:.2f}, "
            f"and {frame['all']:.2f} of the queries have all ten."
        ),
        measured=True,
    )


@dataclass(frozen=True)
class Grown:
    """What a query computes in a graph of n vectors: at a fixed ef, and where the recall reaches a goal."""

    n: int
    fixed: AnnRecall
    needed: float


def growth(
    dense: DenseIndex,
    queries: Mapping[str, ArrayLike],
    sizes: Sequence[int],
    full: Mapping[int, Point],
    *,
    ef: int = 50,
    goal: float = 0.95,
) -> list[Grown]:
    """Build graphs over ever more of the vectors, in a seeded order, and count the distances of a query.

    `full` is the sweep over all of them; its breadths are tried at the other sizes. Between two of them, what the
    goal (a mean share of the ten) needs lies on a line through their logarithms.
    """
    order = np.random.default_rng(0).permutation(len(dense))
    tries, start, grown = list(full), 0, []
    for n in sizes:
        rows = order[:n]
        part = DenseIndex.from_vectors([dense.doc_ids[row] for row in rows], dense.vectors[rows])
        hnsw = HnswIndex.build(part)
        tried = {ef: ann_recall(hnsw, part, queries, ef=ef)}
        for place, breadth in enumerate(tries[start:], start):
            tried.setdefault(breadth, ann_recall(hnsw, part, queries, ef=breadth))
            if tried[breadth].mean_share >= goal:
                start = max(0, place - 1)
                break
        grown.append(Grown(n, tried[ef], _needed(tried.values(), goal)))
    whole = {breadth: point.recall for breadth, point in full.items()}
    return [*grown, Grown(len(dense), whole[ef], _needed(whole.values(), goal))]


def growth_table(passages: Sequence[Grown], random: Sequence[Grown], *, ef: int, goal: float) -> Table:
    """Distances a query as a collection grows, at a fixed ef with what it finds, and at the goal."""
    rows = []
    for one, other in zip(passages, random, strict=True):
        row = [f"{one.n:,}"]
        for grown in (one, other):
            row += [f"{grown.fixed.distances:,.0f}", f"{grown.fixed.mean_share:.3f}", f"{grown.needed:,.0f}"]
        rows.append(tuple(row))
    head = ("share", f"for {goal:.0%}")
    return Table(
        ("vectors", f"passages: ef = {ef}", *head, f"random: ef = {ef}", *head),
        tuple(rows),
        f"Distances a query at ef = {ef}, the share of the ten that they find, and those that {goal:.0%} takes.",
    )


def _needed(tried: Iterable[AnnRecall], goal: float) -> float:
    ordered = sorted(tried, key=lambda found: found.ef)
    at = next((place for place, found in enumerate(ordered) if found.mean_share >= goal), None)
    if at is None:
        raise ValueError(f"no breadth that was tried reaches {goal:.0%}")
    if at == 0:
        return ordered[0].distances
    below, above = ordered[at - 1], ordered[at]
    part = (goal - below.mean_share) / (above.mean_share - below.mean_share)
    return float(below.distances * (above.distances / below.distances) ** part)


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The power of the size that the values grow with: the slope of a line through the logarithms.

    >>> f"{exponent([10, 100, 1000], [1, 10, 100]):.2f}"
    '1.00'
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def distances_picture(passages: Sequence[Grown], random: Sequence[Grown]) -> Picture:
    """Distances a query against the number of vectors, where each graph has the breadth that the goal needs."""
    figure, axes = canvas("tall", right=0.74)
    sizes = [row.n for row in passages]
    curves = (
        ("exact scan", sizes, sizes, {"color": INK, "linestyle": "-", "marker": "", "linewidth": 1}),
        (
            "random",
            [row.n for row in random],
            [row.needed for row in random],
            LINE["other"] | {"marker": "s"},
        ),
        ("passages", sizes, [row.needed for row in passages], LINE["dense"]),
    )
    for name, x, y, look in curves:
        axes.plot(x, y, **look)
        axes.annotate(
            f"{name}\nn to the {exponent(x, y):.2f}",
            (x[-1], y[-1]),
            (8, 6 if name == "exact scan" else -6),
            textcoords="offset points",
            va="center" if name != "random" else "top",
        )
    axes.set(xscale="log", yscale="log", xlabel="vectors, logarithmic", ylabel="distances a query")
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
    _plain(axes.set_yticks, axes.get_ylim())
    axes.minorticks_off()
    return picture(
        figure,
        alt="Three rising lines on logarithmic axes: the scan steepest, random vectors close below it, "
        "passages far below both and flatter.",
        caption=f"At equal recall and {sizes[-1]:,} vectors, passages need {passages[-1].needed / sizes[-1]:.0%} of "
        f"the scan's distances, random vectors {random[-1].needed / sizes[-1]:.0%}.",
    )
