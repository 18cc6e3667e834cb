"""What chapter 09 shows: constructed runs with recall's traps in them, its explorers and its pictures."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from ragkit.measure.pooling import LeftOut
from ragkit.measure.runs import Joined, Mean, Qrels, Runs, join
from ragkit.measure.shifts import Shift
from ragkit.teach.explorers import Control, Explorer, Frame
from ragkit.teach.figures import INK, LINE, PALETTE, Picture, canvas, picture

GREEN, ORANGE, GREY = PALETTE["relevant"], PALETTE["partial"], PALETTE["other"]
CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100)
SYSTEMS: dict[str, dict[str, Any]] = {"BM25": LINE["lexical"], "MiniLM": LINE["dense"]}


class Table(NamedTuple):
    """A few constructed queries: rankings, relevant ids, and the texts of some documents."""

    runs: dict[str, list[str]]
    qrels: dict[str, set[str]]
    texts: dict[str, str]


def worsened(table: Table, k: int = 10) -> dict[str, list[str]]:
    """The runs with one relevant document left to each query that found any, and that one at place k.

    >>> worsened(Table({"q1": ["d1", "d2", "d3"]}, {"q1": {"d1", "d3"}}, {}), k=3)
    {'q1': ['d2', 'q1-2', 'd1']}
    """
    runs = {}
    for qid, ranking in table.runs.items():
        found = [doc_id for doc_id in ranking[:k] if doc_id in table.qrels[qid]][:1]
        others = [doc_id for doc_id in ranking if doc_id not in table.qrels[qid]]
        others += [f"{qid}-{place}" for place in range(len(others) + 1, k + 1)]
        runs[qid] = others[: k - len(found)] + found
    return runs


class Partials(NamedTuple):
    """One constructed run, and its labels under both conventions."""

    run: dict[str, list[str]]
    strict: dict[str, dict[str, int]]
    lenient: dict[str, dict[str, int]]


def ten_queries() -> Partials:
    """Ten constructed queries: eight have a relevant document, two only a partial one, far down.

    The partials of q8, q9 and q10 stand at places 15, 30 and 30, so the two conventions differ in either direction.

    >>> from ragkit.measure.metrics import recall_at_k
    >>> case = ten_queries()
    >>> recall_at_k(case.run, case.strict, k=10), recall_at_k(case.run, case.lenient, k=10)
    (0.88 (7 of 8; 2 left out: nothing relevant), 0.70 (7 of 10))
    """
    relevant = {"q1": 1, "q2": 1, "q3": 1, "q4": 2, "q5": 3, "q6": 4, "q7": 8}
    partly = {"q8": 15, "q9": 30, "q10": 30}
    run = {qid: _ranking({place: f"{qid}-answer"}, qid, 50) for qid, place in relevant.items()}
    run |= {qid: _ranking({place: f"{qid}-part"}, qid, 50) for qid, place in partly.items()}
    answers = [*relevant, "q8"]  # the answer to q8 is in no list
    strict = {qid: {f"{qid}-answer": 1} if qid in answers else {} for qid in run}
    strict = {qid: own | ({f"{qid}-part": 0} if qid in partly else {}) for qid, own in strict.items()}
    return Partials(run, strict, {qid: dict.fromkeys(own, 1) for qid, own in strict.items()})


def _ranking(places: Mapping[int, str], qid: str, length: int = 10) -> list[str]:
    """A ranking with these documents at these places, and documents that nobody asked for at the others."""
    return [places.get(place, f"{qid}-{place}") for place in range(1, length + 1)]


# explorers

_NOWHERE = 10**6  # the place of what is in no list


def _places(joined: Joined) -> dict[str, list[int]]:
    """Where the relevant ones of each query stand, so that every k can be read off without ranking anew."""
    found = {}
    for qid, grades in joined.grades.items():
        place = {doc_id: number for number, doc_id in enumerate(joined.rankings[qid], 1)}
        found[qid] = [place.get(doc_id, _NOWHERE) for doc_id, grade in grades.items() if grade >= 1]
    return found


def _mean(places: Mapping[str, list[int]], k: int, share: bool = False) -> Mean:
    """`recall_at_k`, or with `share` `coverage_at_k`, from the places of the relevant ones.

    >>> _mean({"q1": [3, 12], "q2": [_NOWHERE]}, 10), _mean({"q1": [3, 12], "q2": [_NOWHERE]}, 10, share=True)
    (0.50 (1 of 2), 0.250 (mean of 2))
    """
    within = {qid: [place <= k for place in own] for qid, own in places.items()}
    return Mean({qid: sum(own) / len(own) if share else float(any(own)) for qid, own in within.items()})


def hits(
    runs: Mapping[str, Mapping[str, Runs]], qrels: Mapping[str, Qrels], kinds: Mapping[str, Mapping[str, str]]
) -> Explorer:
    """Every query a cell, filled where it is a hit, over k, for each collection and system."""
    first: dict[tuple[str, str], dict[str, int]] = {}  # the place of the first relevant passage
    coverage: dict[tuple[str, str, int], float] = {}
    at: dict[str, dict[str, tuple[int, int]]] = {}  # where a query's cell is
    rows: dict[str, list[str]] = {}
    for name, judged in qrels.items():
        systems = runs[name]
        for system, run in systems.items():
            found = _places(join(run, judged))
            first[name, system] = {qid: min(places) for qid, places in found.items()}
            coverage |= {(name, system, k): _mean(found, k, share=True) for k in CUTOFFS}
        scored = first[name, next(iter(systems))]
        rows[name] = list(dict.fromkeys(kinds[name][qid] for qid in scored))
        at[name], used = {}, dict.fromkeys(rows[name], 0)
        for qid in scored:
            kind = kinds[name][qid]
            at[name][qid] = (used[kind], rows[name].index(kind))
            used[kind] += 1
    deepest = max(len(own) for own in rows.values())
    widest = max(x for own in at.values() for x, _ in own.values())

    def compute(collection: str, system: str, k: int) -> Frame:
        places, before = first[collection, system], CUTOFFS[max(CUTOFFS.index(k) - 1, 0)] if k > 1 else 0
        return {
            "collection": collection,
            "system": system,
            "k": k,
            "n": len(places),
            "hits": [at[collection][qid] for qid, place in places.items() if place <= before],
            "new": [at[collection][qid] for qid, place in places.items() if before < place <= k],
            "misses": [at[collection][qid] for qid, place in places.items() if place > k],
            "coverage": coverage[collection, system, k],
        }

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xlim=(-0.6, widest + 0.6), ylim=(deepest - 0.2, -1.8), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        for x, (name, look) in zip((0, 2.2, 6.8), _CELLS.items(), strict=True):
            axes.plot(x, -1.3, ls="", **look)
            axes.annotate(name, (x, -1.3), (7, 0), textcoords="offset points", va="center", fontsize=9)

    def draw(axes: Axes, frame: Frame) -> None:
        for place, kind in enumerate(rows[frame["collection"]]):
            axes.annotate(
                kind, (-0.6, place), (-4, 0), textcoords="offset points", ha="right", va="center", fontsize=9
            )
        for cells, look in zip((frame["hits"], frame["new"], frame["misses"]), _CELLS.values(), strict=True):
            axes.plot([x for x, _ in cells], [y for _, y in cells], ls="", **look)

    def count(frame: Frame) -> int:
        return len(frame["hits"]) + len(frame["new"])

    def readout(frame: Frame) -> str:
        return (
            f"recall@{frame['k']} = {count(frame)} hits / {frame['n']} queries = {count(frame) / frame['n']:.4f}; "
            f"{len(frame['new'])} of the hits are new since the step before; coverage {frame['coverage']:.4f}"
        )

    return Explorer(
        "Every query is a cell",
        (
            Control("collection", "collection", tuple(qrels), next(iter(qrels))),
            Control("system", "system", tuple(SYSTEMS), "BM25"),
            Control("k", "k", CUTOFFS, 10),
        ),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: (
            f'recall_at_k(runs["{frame["collection"]}"]["{frame["system"]}"], '
            f'strict["{frame["collection"]}"], k={frame["k"]})'
        ),
        alt=lambda frame: (
            f"A grid of {frame['n']} cells in rows by kind of query, {frame['collection']} under {frame['system']}: "
            f"{count(frame)} filled, of them {len(frame['new'])} new at k = {frame['k']}; "
            f"{len(frame['misses'])} hollow."
        ),
        height="tall",
        left=0.32,
    )


_CELLS: dict[str, dict[str, Any]] = {
    "hit": {"marker": "s", "color": GREEN, "markersize": 7},
    "new at this k": {"marker": "D", "color": GREEN, "mec": INK, "mew": 1.3, "markersize": 6.5},
    "miss": {"marker": "s", "mfc": "none", "mec": GREY, "mew": 1, "markersize": 7},
}


def partials(
    runs: Mapping[str, Mapping[str, Runs]], strict: Mapping[str, Qrels], lenient: Mapping[str, Qrels]
) -> Explorer:
    """Both conventions for partials, over k: what becomes a hit, and which queries come into the denominator."""
    cases = {f"{name}, {system}": (name, system) for name, own in runs.items() for system in own}
    cutoffs = (1, 5, 10, 20, 50)
    places = {
        case: [_places(join(runs[name][system], labels[name])) for labels in (strict, lenient)]
        for case, (name, system) in cases.items()
    }
    figures = {(case, k): [_mean(own, k) for own in places[case]] for case in cases for k in cutoffs}

    def compute(case: str, k: int, convention: str) -> Frame:
        before, after = figures[case, k]
        hits = round(sum(before.values.values()))
        pulled = [value for qid, value in after.values.items() if qid not in before.values]
        return {
            "case": case,
            "k": k,
            "counted": convention == "relevant",
            "hits": hits,
            "n": before.n,
            "turned": round(sum(after.values[qid] for qid in before.values)) - hits,
            "pulled": len(pulled),
            "pulled_hits": round(sum(pulled)),
            "before": float(before),
            "after": float(after),
        }

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xlim=(0, 100), ylim=(-0.6, 1.95), yticks=[], xlabel="% of the queries with any positive label")
        axes.spines["left"].set_visible(False)
        axes.annotate("have a relevant passage", (0, 1.6), va="center")
        axes.annotate("have only partials", (0, 0.55), va="center")

    def draw(axes: Axes, frame: Frame) -> None:
        scale = 100 / (frame["n"] + frame["pulled"])
        turned = frame["turned"] if frame["counted"] else 0
        upper = ((frame["hits"], "hit"), (turned, "turned"), (frame["n"] - frame["hits"] - turned, "miss"))
        lower: tuple[tuple[int, str], ...] = ((frame["pulled"], "left out"),)
        if frame["counted"]:
            lower = ((frame["pulled_hits"], "turned"), (frame["pulled"] - frame["pulled_hits"], "miss"))
        for y, bars in ((1.15, upper), (0.1, lower)):
            left = 0.0
            for count, name in bars:
                axes.barh(y, count * scale, 0.45, left, **_BARS[name])
                left += count * scale
            words = {"turned": "by a partial"}
            said = ", ".join(f"{count} {words.get(name, name)}" for count, name in bars if count)
            axes.annotate(said, (100, y + 0.44), ha="right", va="center")

    def readout(frame: Frame) -> str:
        before = f"{frame['hits']} / {frame['n']} = {frame['before']:.4f}"
        if not frame["counted"]:
            return (
                f"partials are not relevant: recall@{frame['k']} = {before}; {frame['pulled']} queries are left out"
            )
        after = f"({frame['hits']} + {frame['turned']} + {frame['pulled_hits']}) / ({frame['n']} + {frame['pulled']})"
        return f"partials are relevant: recall@{frame['k']} = {after} = {frame['after']:.4f}, against {before}"

    def call(frame: Frame) -> str:
        name, system = cases[frame["case"]]
        labels = "lenient" if frame["counted"] else "strict"
        return f'recall_at_k(runs["{name}"]["{system}"], {labels}["{name}"], k={frame["k"]})'

    return Explorer(
        "Count partials, or do not",
        (
            Control("case", "run", tuple(cases), list(cases)[-1]),
            Control("k", "k", cutoffs, 10),
            Control("convention", "partials are", ("excluded", "relevant"), "excluded"),
        ),
        compute,
        backdrop,
        draw,
        readout,
        call,
        alt=lambda frame: (
            f"Two bars for {frame['case']} at k = {frame['k']}: of {frame['n']} queries with a relevant passage "
            f"{frame['hits']} hit{', ' + str(frame['turned']) + ' more by a partial' if frame['counted'] else ''}; "
            f"{frame['pulled']} queries with only partials "
            + (f"count, and {frame['pulled_hits']} hit." if frame["counted"] else "are left out.")
        ),
        left=0.04,
    )


_BARS: dict[str, dict[str, Any]] = {
    "hit": {"color": GREEN, "ec": INK, "lw": 0.8},
    "turned": {"fc": ORANGE, "ec": INK, "lw": 0.8, "hatch": "////"},
    "miss": {"fc": "none", "ec": INK, "lw": 0.8},
    "left out": {"fc": "none", "ec": INK, "lw": 1, "ls": ":"},
}


# pictures

_MARKS = ({"marker": "o", "color": INK}, {"marker": "D", "color": GREY})


def sizes(traps: Mapping[str, Mapping[str, Shift]], system: str) -> Picture:
    """How far each trap moves the figure, with its interval, a mark for each collection."""
    figure, axes = canvas("tall", left=0.4)
    names = list(next(iter(traps.values())))
    looks: dict[str, dict[str, Any]] = dict(zip(names, _MARKS, strict=True))
    axes.plot([0, 0], [-0.5, len(traps) - 0.4], "-", color=INK, lw=0.8, scalex=False)
    axes.spines["left"].set_visible(False)
    for row, moved in enumerate(traps.values()):
        for offset, (name, by) in zip((-0.17, 0.17), moved.items(), strict=True):
            axes.plot(by.interval, [row + offset] * 2, "-", color=looks[name]["color"], lw=1.4)
            axes.plot(by, row + offset, ls="", markersize=5.5, **looks[name])
    axes.set(yticks=range(len(traps)), yticklabels=list(traps), ylim=(len(traps) - 0.4, -1.1), xlabel="moves by")
    axes.tick_params(axis="y", length=0, labelsize=9)
    for x, name in zip((0.02, 0.42), names, strict=True):
        axes.plot(x, 0.965, ls="", transform=axes.transAxes, clip_on=False, **looks[name])
        axes.annotate(name, (x + 0.03, 0.965), xycoords="axes fraction", va="center", fontsize=9)
    by_size = sorted(traps, key=lambda row: max(abs(by) for by in traps[row].values()))
    said = "; ".join(f"{row}: {', '.join(f'{by:+.2f}' for by in moved.values())}" for row, moved in traps.items())
    return picture(
        figure,
        alt=f"Marks with intervals for {len(traps)} traps, {' and '.join(names)}. {said}.",
        caption=f"{system}. Furthest: {by_size[-1]}. Least: {by_size[0]}. The lines are 95 % intervals.",
    )


def left_out(pools: Mapping[str, Mapping[str, LeftOut]], k: int) -> Picture:
    """Recall of both systems with all labels, and with those that remain when one of them was not in the pool."""
    figure, axes = canvas("tall")
    ticks, labels = [], []
    orders = []
    for number, (collection, found) in enumerate(pools.items()):
        whole = next(iter(found.values())).before
        columns = {"both": whole} | {f"no\n{name}": found[name].after for name in found}
        xs = [number * 4 + place for place in range(len(columns))]
        for system, look in SYSTEMS.items():
            ys = [means[system] for means in columns.values()]
            axes.plot(xs, ys, **look)
            above = ys[1] == max(columns[list(columns)[1]].values())
            axes.annotate(
                system, (xs[1], ys[1]), (0, 9 if above else -16), textcoords="offset points", ha="center", fontsize=9
            )
        orders.append(len({max(means, key=means.__getitem__) for means in columns.values()}))
        axes.annotate(collection, (xs[1], 1.0), ha="center", va="bottom", fontweight="bold")
        ticks += xs
        labels += list(columns)
    axes.set(xticks=ticks, ylim=(0, 1), xlim=(-0.6, ticks[-1] + 0.6), ylabel=f"recall@{k}")
    axes.set_xticklabels(labels, fontsize=9)
    turned = "turns round" if min(orders) > 1 else "does not turn round everywhere"
    said = "; ".join(
        f"{collection}, no {name} in the pool: "
        + ", ".join(f"{system} {mean:.2f}" for system, mean in one.after.items())
        for collection, found in pools.items()
        for name, one in found.items()
    )
    return picture(
        figure,
        alt=f"Lines of recall for BM25 and MiniLM under three pools, for each collection. {said}.",
        caption=f"Which systems were in the pool decides which looks better: the order {turned}.",
    )
