"""What chapter 10 shows: who finds what, by k and by kind of query, and what fusion makes of two lists."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from ragkit.measure.fused import rrf
from ragkit.measure.metrics import recall_at_k
from ragkit.measure.paired import Comparison, compare
from ragkit.measure.runs import Qrels
from ragkit.ranking import Run
from ragkit.teach.explorers import Control, Explorer, Frame
from ragkit.teach.figures import INK, PALETTE, Picture, canvas, picture

Pair = tuple[Run, Run]  # BM25's run and the dense one, on the same queries
BLUE, ORANGE, PINK, GREY = (PALETTE[name] for name in ("lexical", "dense", "fused", "other"))

# how the four groups of queries look: without colour, the hatches tell them apart
GROUPS: dict[str, dict[str, Any]] = {
    # Pale enough for the text on them, which is light on a dark page.
    "only BM25": {"color": BLUE, "alpha": 0.4},
    "both": {"color": GREY, "alpha": 0.3},
    "only dense": {"facecolor": "none", "edgecolor": ORANGE, "hatch": "//", "linewidth": 0.8},
    "neither": {"facecolor": "none", "edgecolor": GREY, "linewidth": 0.8},
}


def unions(pairs: Mapping[str, Comparison]) -> Picture:
    """Bars: the four groups of queries in each of some ties, from no disagreement to the most there can be."""
    figure, axes = canvas("low", left=0.17)
    axes.spines["left"].set_visible(False)
    first, *_, last = pairs.values()
    for place, (name, found) in enumerate(pairs.items()):
        _stack(axes, -place, [len(ids) for ids in _groups(found).values()], found.n, least=0.05)
        axes.annotate(name, (0, -place), (-6, -4), textcoords="offset points", ha="right")
    a, b = first.names
    _heads(axes, 0.6, first, {"both": "both", "neither": "neither"})
    _heads(axes, 0.4 - len(pairs), last, {"only BM25": f"only {a}", "only dense": f"only {b}"})
    axes.set(xlim=(0, 1), ylim=(-len(pairs), 0.9), yticks=[], xlabel="share of the queries")
    shown = "; ".join(f"{name}: union {found.union:.2f}" for name, found in pairs.items())
    return picture(
        figure,
        alt=f"{len(pairs)} stacked bars of the same queries, each with a tie at {last.recall_a:.2f}. {shown}.",
        caption=f"Every bar is a tie at {last.recall_a:.2f}. The union reaches from {first.union:.2f} to "
        f"{last.union:.2f}.",
    )


def by_kind(found: Comparison, kinds: Mapping[str, str]) -> Picture:
    """Bars: who finds an answer in the top k, for each kind of query that has some with a relevant document."""
    groups = _groups(found)
    ordered = [
        kind for kind in dict.fromkeys(kinds.values()) if any(kinds[qid] == kind for qid in found.union.values)
    ]
    figure, axes = canvas("tall", left=0.32)
    axes.spines["left"].set_visible(False)
    most = 0
    counts = {kind: [sum(kinds[qid] == kind for qid in ids) for ids in groups.values()] for kind in ordered}
    ordered.sort(key=lambda kind: (counts[kind][2] - counts[kind][0], counts[kind][2], kind))
    for place, kind in enumerate(ordered):
        _stack(axes, -place, counts[kind], 1, least=1)
        axes.annotate(kind, (0, -place), (-6, -3), textcoords="offset points", ha="right", fontsize=9)
        most = max(most, sum(counts[kind]))
    for left, (name, look) in zip((0, 0.33, 0.53, 0.85), GROUPS.items(), strict=True):
        axes.barh(1.25, 0.035 * most, 0.6, left=left * most, **look)
        axes.text((left + 0.05) * most, 1.25, name, va="center", fontsize=9)
    axes.set(xlim=(0, most * 1.06), ylim=(-len(ordered) + 0.4, 1.8), yticks=[], xlabel="queries")
    axes.set_xticks(range(0, most + 1, 2))
    first, last = ordered[0], ordered[-1]
    return picture(
        figure,
        alt=f"{len(ordered)} stacked bars, a kind of query each, from {first} (only BM25 {counts[first][0]}, only "
        f"dense {counts[first][2]}) to {last} (only BM25 {counts[last][0]}, only dense {counts[last][2]}).",
        caption=f"At k = {found.k}: {first}, {counts[first][0]} only by BM25 and {counts[first][2]} only by the "
        f"encoder; {last}, {counts[last][0]} and {counts[last][2]}.",
    )


def disagreement(pairs: Mapping[str, Pair], qrels: Mapping[str, Qrels], start: str) -> Explorer:
    """Who finds what in the top k of two collections, and what the union's budget buys either system alone."""
    ks = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50)
    found = {(name, k): compare(*_cut(pairs[name], 2 * k), qrels[name], k) for name in pairs for k in ks}
    fused = {name: rrf(pair) for name, pair in pairs.items()}
    at_k = {(name, k): float(recall_at_k(_ids(fused[name], k), qrels[name], k)) for name, k in found}

    def compute(collection: str, k: int) -> Frame:
        one = found[collection, k]
        shares = {name: len(ids) / one.n for name, ids in _groups(one).items()}
        alone = {
            f"BM25 at {2 * k}": (float(one.recall_a_2k), BLUE),
            f"dense at {2 * k}": (float(one.recall_b_2k), ORANGE),
            f"RRF at {k}": (at_k[collection, k], PINK),
        }
        return {
            "collection": collection,
            "k": k,
            "shares": shares,
            "union": float(one.union),
            "size": one.union_size,
            "alone": alone,
        }

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.spines["left"].set_visible(False)
        axes.set(xlim=(0, 1), ylim=(-5.6, 0.6), yticks=[], xlabel="share of the queries with a hit")

    def draw(axes: Axes, frame: Frame) -> None:
        lexical, both, dense, _ = frame["shares"].values()
        left = lexical + both + dense
        axes.barh(0, lexical, 0.55, **GROUPS["only BM25"])
        axes.barh(0, both, 0.55, left=lexical, **GROUPS["both"])
        axes.barh(-1, both, 0.55, left=lexical, **GROUPS["both"])
        axes.barh(-1, dense, 0.55, left=lexical + both, **GROUPS["only dense"])
        axes.barh(-2, left, 0.55, color=PINK, alpha=0.7)
        axes.plot([left, left], [-5.4, 0.4], ":", color=INK, linewidth=1)
        k = frame["k"]
        names = (f"BM25 at {k}", f"dense at {k}", f"union, {frame['size']:.0f} shown")
        for place, name in enumerate(names):
            axes.annotate(name, (0, -place), (-6, -4), textcoords="offset points", ha="right", annotation_clip=False)
        for place, (name, (share, colour)) in enumerate(frame["alone"].items(), 3):
            marker = "o" if colour == BLUE else "s" if colour == ORANGE else "D"
            axes.plot([0, share], [-place, -place], "--" if colour == ORANGE else "-", color=colour, linewidth=1.4)
            axes.plot(share, -place, marker, color=colour, markersize=6)
            axes.annotate(name, (0, -place), (-6, -4), textcoords="offset points", ha="right", annotation_clip=False)

    def readout(frame: Frame) -> str:
        lexical, both, dense, neither = frame["shares"].values()
        return (
            f"{lexical:.4f} only BM25 + {both:.4f} both + {dense:.4f} only dense = {frame['union']:.4f}; "
            f"neither {neither:.4f}. "
            + ", ".join(f"{name}: {share:.4f}" for name, (share, _) in frame["alone"].items())
        )

    return Explorer(
        "Who finds what in the top k",
        (Control("collection", "collection", tuple(pairs), start), Control("k", "k", ks, 10)),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: (
            f'compare(*runs["{frame["collection"]}"], qrels["{frame["collection"]}"], k={frame["k"]}).union'
        ),
        alt=lambda frame: (
            f"Bars on one axis for {frame['collection']}: the hits of BM25 and of the encoder at {frame['k']} "
            f"overlap on {frame['shares']['both']:.2f}, and the union reaches {frame['union']:.2f}. Below, lines to "
            + ", ".join(f"{share:.2f} for {name}" for name, (share, _) in frame["alone"].items())
            + "."
        ),
        height="tall",
        left=0.25,
    )


def fusion(pairs: Mapping[str, Pair], qrels: Mapping[str, Qrels], start: str, k: int = 10) -> Explorer:
    """Recall of reciprocal rank fusion cut at k, over its constant and the depth that it reads."""
    constants, depths = (0, 10, 60, 1_000), (10, 20, 50, 100)
    judged = {
        name: [Run({qid: run[qid] for qid in qrels[name] if qid in run}) for run in pair]
        for name, pair in pairs.items()
    }
    fused = {
        (name, c, depth): float(recall_at_k(_ids(rrf(judged[name], c, depth), k), qrels[name], k))
        for name in pairs
        for c in constants
        for depth in depths
    }
    alone = {name: [float(recall_at_k(_ids(run, k), qrels[name], k)) for run in pair] for name, pair in pairs.items()}

    def compute(collection: str, c: int, depth: int) -> Frame:
        return {
            "collection": collection,
            "c": c,
            "depth": depth,
            "curve": [fused[collection, c, each] for each in depths],
            "fused": fused[collection, c, depth],
            "alone": dict(zip(("BM25", "dense"), alone[collection], strict=True)),
        }

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xscale="log", xlim=(8.5, 118), ylim=(0.5, 0.85), xlabel="depth: places of each list that are read")
        axes.set_xticks(depths, [str(depth) for depth in depths])
        axes.minorticks_off()
        axes.set_ylabel(f"recall at {k}")

    def draw(axes: Axes, frame: Frame) -> None:
        for name, recall in frame["alone"].items():
            look: dict[str, Any] = (
                {"color": BLUE, "linestyle": "-"} if name == "BM25" else {"color": ORANGE, "linestyle": "--"}
            )
            axes.plot([8.5, 118], [recall, recall], linewidth=1, **look)
            axes.annotate(f"{name} alone", (118, recall), (0, -12), textcoords="offset points", ha="right")
        axes.plot(depths, frame["curve"], "-", color=PINK, marker="D", markersize=4)
        axes.plot(frame["depth"], frame["fused"], "D", color=PINK, markersize=9)
        axes.annotate(
            f"fused {frame['fused']:.3f}",
            (frame["depth"], frame["fused"]),
            (10 if frame["depth"] == depths[-1] else 0, 9),
            textcoords="offset points",
            ha="right" if frame["depth"] == depths[-1] else "center",
        )

    return Explorer(
        f"What fusion finds in {k} places",
        (
            Control("collection", "collection", tuple(pairs), start),
            Control("c", "constant c", constants, 60, "{:,}"),
            Control("depth", "depth", depths, 100),
        ),
        compute,
        backdrop,
        draw,
        readout=lambda frame: (
            f"c = {frame['c']:,}, depth {frame['depth']}: {frame['fused']:.4f}; BM25 {frame['alone']['BM25']:.4f}, "
            f"dense {frame['alone']['dense']:.4f}. "
            f"First place gives 1/{frame['c'] + 1:,}, the tenth 1/{frame['c'] + 10:,}"
        ),
        call=lambda frame: (
            f'recall_at_k(rrf(runs["{frame["collection"]}"], c={frame["c"]}, depth={frame["depth"]}), '
            f'qrels["{frame["collection"]}"], k={k})'
        ),
        alt=lambda frame: (
            f"For {frame['collection']}, a curve of fused recall over depths {depths[0]} to {depths[-1]}: "
            + ", ".join(f"{recall:.2f}" for recall in frame["curve"])
            + f", the one at {frame['depth']:,} marked; level lines at {frame['alone']['BM25']:.2f} for BM25 "
            f"and {frame['alone']['dense']:.2f} for dense."
        ),
        height="tall",
    )


def _groups(found: Comparison) -> dict[str, tuple[str, ...]]:
    """Queries by who has a hit, in the order in which they are drawn: beside one another what one system has."""
    return dict(zip(GROUPS, (found.only_a, found.both, found.only_b, found.neither), strict=True))


def _stack(axes: Axes, place: float, counts: Sequence[int], total: int, least: float) -> None:
    left = 0.0
    for count, look in zip(counts, GROUPS.values(), strict=True):
        axes.barh(place, count / total, 0.6, left=left, **look)
        if count / total >= least:
            axes.text(left + count / total / 2, place, str(count), ha="center", va="center", fontsize=8.5)
        left += count / total


def _heads(axes: Axes, place: float, found: Comparison, names: Mapping[str, str]) -> None:
    """Names of groups, above or below their segments of a bar."""
    left = 0.0
    for group, ids in _groups(found).items():
        share = len(ids) / found.n
        if group in names:
            axes.text(left + share / 2, place, names[group], ha="center", va="center", fontsize=9)
        left += share


def _ids(run: Run, k: int) -> dict[str, tuple[str, ...]]:
    """The first k ids of each ranking: shorter, and in order already."""
    return {qid: run.ids(qid)[:k] for qid in run}


def _cut(pair: Pair, k: int) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    return _ids(pair[0], k), _ids(pair[1], k)
