"""What chapter 11 shows: the plane of recall and precision, what fits a budget, and what wrong labels teach."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ragkit.corpora.collections import Corpus
from ragkit.dense.scan import DenseIndex
from ragkit.diagnosis.levers import Diagnosis, Thresholds, diagnose
from ragkit.measure.runs import Qrels, Runs, join, judgments, rankings
from ragkit.teach.benchmarks import RESULTS
from ragkit.teach.explorers import Control, Explorer, Frame
from ragkit.teach.figures import INK, PALETTE, Picture, canvas, picture

GREEN, GREY = PALETTE["relevant"], PALETTE["other"]
CANDIDATES, CONSUMER = 50, 5
DEPTHS = (5, 8, 10, 20, 30, 40, 50)
ENOUGH = Thresholds()
BUDGETS = (10, 20, 40, 60, 80, 120)  # milliseconds
A_PAIR = (0.1, 0.3, 0.7, 1.0, 2.0, 5.0)
BEFORE = 10  # milliseconds, for reading the query and searching


def precision_bounds(hits: int, places: int, n: int, k: int = CONSUMER) -> tuple[float, float]:
    """The least and the most that the best order's precision@k can be, where all that is known are two figures.

    `hits` of n queries have a relevant document among the candidates, and `places` of the n · k places hold one. The
    least is what is there already; the most, that every hit has k of them. ValueError where the counts contradict.

    >>> precision_bounds(223, 492, 240)
    (0.41, 0.9291666666666667)
    """
    if not 0 <= hits <= n or not 0 <= places <= hits * k:
        raise ValueError(f"{places} relevant places in the top {k}, from {hits} of {n} queries: that cannot be")
    return max(places, hits) / (n * k), hits / n


def best_first(runs: Runs, qrels: Qrels, *, worst: bool = False) -> dict[str, list[str]]:
    """The same candidates in the best order there is, the relevant ones first; or last.

    >>> best_first({"q1": ["d1", "d2"]}, {"q1": {"d2"}})
    {'q1': ['d2', 'd1']}
    """
    grades = judgments(qrels)
    return {
        qid: sorted(ranking, key=lambda doc_id: (grades.get(qid, {}).get(doc_id, 0) >= 1) == worst)
        for qid, ranking in rankings(runs).items()
    }


# late interaction, as the benchmark of the project left it


@dataclass(frozen=True)
class Reordered:
    """MiniLM's candidates in the order of MaxSim, and what that took: CPU milliseconds a query, bytes of vectors."""

    run: Mapping[str, list[str]]
    depth: int
    ms: Mapping[str, float]
    size: Mapping[str, int]
    where: str


def late_interaction(corpus: Corpus) -> Reordered:
    """What benchmarks/maxsim.py wrote for a collection.

    FileNotFoundError where ragkit is installed without the project around it; ValueError for another collection,
    or another version of it: the order is of passages that may not be there.
    """
    path = RESULTS / "maxsim.json"
    if not path.exists():
        raise FileNotFoundError("no results of the benchmark 'maxsim': they come with the project, in benchmarks/")
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if kept["corpus_sha256"] != corpus.fingerprint:
        raise ValueError(f"{path.name} is of another version of the handbook: run python benchmarks/maxsim.py")
    machine = kept["machine"]
    where = f"{machine['processor']}, one thread, load {machine['load']:g}, {machine['date']}"
    run = {qid: order.split(" ") for qid, order in kept["orders"].items()}
    return Reordered(run, kept["depth"], kept["cpu_ms"], kept["bytes"], where)


# explorers

_MARKS: tuple[dict[str, Any], ...] = (
    {"marker": "D", "color": INK},
    {"marker": "o", "color": PALETTE["lexical"]},
    {"marker": "s", "color": PALETTE["dense"]},
    {"marker": "^", "color": PALETTE["dense"]},
    {"marker": "s", "color": PALETTE["dense"], "mfc": "none"},
)
_AXES = ("of the attainable", "as measured")


def plane(runs: Mapping[str, Runs], qrels: Mapping[str, Qrels]) -> Explorer:
    """A point a system: recall where the candidates end, precision where the consumer reads, and the lever."""
    marks = dict(zip(runs, _MARKS, strict=False))
    found: dict[tuple[str, int], Diagnosis] = {
        (system, k): diagnose(run, qrels[system], candidate_k=k, consumer_k=CONSUMER)
        for system, run in runs.items()
        for k in DEPTHS
    }
    lines = {
        (system, height): [_place(found[system, k], height) for k in DEPTHS] for system in runs for height in _AXES
    }

    def compute(system: str, k: int, height: str) -> Frame:
        one = found[system, k]
        return {
            "system": system,
            "k": k,
            "height": height,
            "lever": one.lever,
            "recall": float(one.recall_candidate),
            "precision": float(one.precision),
            "attainable": float(one.attainable_precision),
            "gain": float(one.recall_gain),
            "line": lines[system, height],
            "at": _place(one, height),
            "others": [_place(found[other, k], height) for other in runs if other != system],
        }

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xlim=(0.3, 1), ylim=(0, 1.04), xlabel="recall where the candidates end")
        axes.set_ylabel(f"precision@{CONSUMER}")
        axes.plot([ENOUGH.recall_enough] * 2, [0, 1.04], ":", color=GREY, lw=1)

    def draw(axes: Axes, frame: Frame) -> None:
        (x, y), system = frame["at"], frame["system"]
        if frame["height"] == _AXES[0]:
            axes.plot([0.3, 1], [ENOUGH.precision_enough] * 2, ":", color=GREY, lw=1)
            for place, low, ha, name in (
                (0.995, 0.925, "right", "leave it"),
                (0.995, 0.03, "right", "rerank"),
                (0.31, 0.925, "left", "triage"),
                (0.31, 0.03, "left", "triage"),
            ):
                axes.annotate(name, (place, low), ha=ha, va="bottom", fontsize=8.5, style="italic")
        else:
            axes.plot([x, x], [y, frame["attainable"]], "-", color=GREEN, lw=1.4)
            axes.plot(x, frame["attainable"], "_", color=GREEN, markersize=12, mew=2)
            axes.annotate("attainable", (x, frame["attainable"]), (6, 4), **_LABEL, ha="right", va="bottom")
        axes.plot(*zip(*frame["others"], strict=True), "o", color=GREY, markersize=4)
        axes.plot(*zip(*frame["line"], strict=True), "-", color=marks[system]["color"], lw=0.8)
        axes.plot(x, y, ls="", **{"markersize": 8, "mew": 1.5, **marks[system]})
        shift, ha = ((4, -8), "left") if x > ENOUGH.recall_enough else ((-4, -8), "right")
        axes.annotate(frame["lever"], (x, y), shift, **_LABEL, ha=ha, va="top", fontweight="bold")

    return Explorer(
        "Two coordinates and a lever",
        (
            Control("system", "system", tuple(runs), next(iter(runs))),
            Control("k", "candidates", DEPTHS, CANDIDATES),
            Control("height", f"precision@{CONSUMER}", _AXES, _AXES[0]),
        ),
        compute,
        backdrop,
        draw,
        readout=lambda frame: (
            f"recall@{frame['k']} {frame['recall']:.4f}; precision@{CONSUMER} {frame['precision']:.4f} of "
            f"{frame['attainable']:.4f} attainable, {frame['precision'] / frame['attainable']:.0%}; reordering "
            f"could win {frame['gain']:.4f} in recall@{CONSUMER}. Lever: {frame['lever']}"
        ),
        call=lambda frame: (
            f'diagnose(runs["{frame["system"]}"], qrels["{frame["system"]}"], '
            f"candidate_k={frame['k']}).attainable_precision"
        ),
        alt=lambda frame: (
            f"A plane of recall and precision, {frame['height']}, with {len(runs)} points. {frame['system']} with "
            f"{frame['k']} candidates is at recall {frame['recall']:.2f} and precision {frame['precision']:.2f}, "
            f"of {frame['attainable']:.2f} attainable; beside it stands: {frame['lever']}."
        ),
        height="tall",
    )


def _place(one: Diagnosis, height: str) -> tuple[float, float]:
    share = height == _AXES[0]
    return float(one.recall_candidate), float(one.precision / one.attainable_precision if share else one.precision)


_LABEL: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9}


def budget(runs: Mapping[str, Runs], qrels: Mapping[str, Qrels]) -> Explorer:
    """How many pairs fit what a query may take, and the recall among those: what a reranker can work with."""
    curves = {system: _recalls(run, qrels[system]) for system, run in runs.items()}

    def compute(system: str, budget: int, a_pair: float) -> Frame:
        fit = max(0, floor((budget - BEFORE) / a_pair + 1e-9))
        k = max(CONSUMER, min(fit, CANDIDATES))
        if fit >= CANDIDATES:
            says = f"all {CANDIDATES} can be reordered"
        elif fit > CONSUMER:
            says = "fewer candidates"
        else:
            says = f"recall@{CONSUMER} governs"
        return {
            "system": system,
            "budget": budget,
            "a_pair": a_pair,
            "fit": fit,
            "k": k,
            "curve": curves[system],
            "recall": curves[system][k - 1],
            "says": says,
        }

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xlim=(0, CANDIDATES + 1), ylim=(0, 1.02), xlabel="candidates", ylabel="recall")

    def draw(axes: Axes, frame: Frame) -> None:
        k, recall, curve = frame["k"], frame["recall"], frame["curve"]
        axes.plot(range(1, len(curve) + 1), curve, "-", color=GREY, lw=1.2)
        axes.plot(range(1, k + 1), curve[:k], "-", color=INK, lw=2.4)
        axes.plot([k, k], [0, recall], "-", color=GREEN, lw=1.4)
        axes.plot(k, recall, "o", color=GREEN, markersize=7)
        side: dict[str, Any] = {"ha": "right"} if k > CANDIDATES / 2 else {"ha": "left"}
        shift = -6 if k > CANDIDATES / 2 else 6
        said = f"{frame['says']}: {recall:.2f}"
        axes.annotate(said, (k, 0.12), (shift, 0), textcoords="offset points", fontweight="bold", **side)

    return Explorer(
        "What the budget leaves to reorder",
        (
            Control("system", "system", tuple(runs), next(iter(runs))),
            Control("budget", "budget", BUDGETS, 40, "{} ms"),
            Control("a_pair", "a pair takes", A_PAIR, 0.7, "{} ms"),
        ),
        compute,
        backdrop,
        draw,
        readout=lambda frame: (
            f"({frame['budget']} − {BEFORE}) / {frame['a_pair']:g} ms: {frame['fit']} pairs fit; "
            f"{frame['says']}; recall@{frame['k']} = {frame['recall']:.4f}"
        ),
        call=lambda frame: f'recall_at_k(runs["{frame["system"]}"], qrels["{frame["system"]}"], k={frame["k"]})',
        alt=lambda frame: (
            f"The recall of {frame['system']} over the number of candidates, heavy up to {frame['k']}: "
            f"{frame['fit']} pairs of {frame['a_pair']:g} ms fit {frame['budget']} ms, with recall "
            f"{frame['recall']:.2f}. {frame['says']}."
        ),
    )


def _recalls(runs: Runs, qrels: Qrels) -> list[float]:
    """Any-hit recall at 1, 2, … candidates, from the place of the first relevant one of each query."""
    joined = join(runs, qrels)
    first = [
        next((place for place, doc_id in enumerate(ids, 1) if joined.grades[qid].get(doc_id, 0) >= 1), CANDIDATES + 1)
        for qid, ids in joined.rankings.items()
    ]
    return [sum(place <= k for place in first) / len(first) for k in range(1, CANDIDATES + 1)]


# wrong labels as training signal

Vectors = NDArray[np.float32]
Labels = Mapping[str, list[str]]
FOLDS, SEEDS, K = 5, 5, 10
HABIT = 20  # of so many, the labeller with a habit marks the longest


class Learnt(NamedTuple):
    """Recall@10 before and after a map was learnt from labels; `seen` on the queries that it learnt from.

    `measured` is by the labels that it learnt from, `true` by the right ones; both are over queries held out.
    """

    before: float
    seen: float
    measured: float
    true_before: float
    true: float


def bad_labels(
    learn: Callable[[Vectors, Vectors], Vectors], corpus: Corpus, index: DenseIndex, qrels: Qrels
) -> dict[str, Learnt]:
    """Learn a map of the query vectors from right labels and from wrong ones; measure it with either.

    `learn` takes query vectors and the vectors they should have, and gives the matrix that is added to the identity.
    Three labellers: one who is right; one who, for three queries in ten, marks another passage of the first 50, drawn
    (the mean over five draws); one with a habit, who marks the longest of the first 20. Queries are held out in five
    parts, so that each is measured by a map that did not see it.
    """
    right = {qid: [doc for doc, grade in own.items() if grade >= 1] for qid, own in judgments(qrels).items()}
    right = {qid: own for qid, own in right.items() if own}
    queries = corpus.vectors.encode([corpus.queries[qid] for qid in right], kind="query")
    lists = [ids[:CANDIDATES] for ids in _tops(index, queries, CANDIDATES)]
    passages = corpus.passages()
    longest = [max(ids[:HABIT], key=lambda doc_id: len(passages[doc_id])) for ids in lists]
    habit = {qid: [doc_id] for qid, doc_id in zip(right, longest, strict=True)}
    before = [ids[:K] for ids in lists]

    def learnt(labels: Labels) -> Learnt:
        seen, after = _moved(learn, index, queries, labels)
        return Learnt(
            before=_recall(before, labels),
            seen=_recall(seen, labels),
            measured=_recall(after, labels),
            true_before=_recall(before, right),
            true=_recall(after, right),
        )

    drawn = [learnt(_flipped(right, lists, seed)) for seed in range(SEEDS)]
    return {
        "right labels": learnt(right),
        "flipped at random": Learnt(*(float(np.mean(column)) for column in zip(*drawn, strict=True))),
        "flipped by habit": learnt(habit),
    }


def _flipped(right: Labels, lists: list[list[str]], seed: int, share: float = 0.3) -> dict[str, list[str]]:
    random = np.random.default_rng(seed)
    flipped = {}
    for (qid, own), ids in zip(right.items(), lists, strict=True):
        wrong = [doc_id for doc_id in ids if doc_id not in own]
        flipped[qid] = [str(random.choice(wrong))] if random.random() < share else own
    return flipped


def _moved(
    learn: Callable[[Vectors, Vectors], Vectors], index: DenseIndex, queries: Vectors, labels: Labels
) -> tuple[list[list[str]], list[list[str]]]:
    """The first K of each query under a map that was learnt from all of them, and under one that did not see it."""
    row = {doc_id: number for number, doc_id in enumerate(index.doc_ids)}
    targets = np.array([index.vectors[[row[doc_id] for doc_id in own]].mean(axis=0) for own in labels.values()])
    fold = np.arange(len(queries)) % FOLDS
    held_out = queries.copy()
    for one in range(FOLDS):
        held_out[fold == one] += queries[fold == one] @ learn(queries[fold != one], targets[fold != one])
    seen = np.asarray(queries + queries @ learn(queries, targets), dtype=np.float32)
    return _tops(index, seen, K), _tops(index, held_out, K)


def _tops(index: DenseIndex, queries: Vectors, k: int) -> list[list[str]]:
    scores = -(queries @ index.vectors.T)
    first = np.argpartition(scores, k, axis=1)[:, :k]
    return [
        [index.doc_ids[at] for at in own[np.argsort(row[own], kind="stable")]]
        for row, own in zip(scores, first, strict=True)
    ]


def _recall(tops: list[list[str]], labels: Labels) -> float:
    return float(np.mean([not set(top).isdisjoint(own) for top, own in zip(tops, labels.values(), strict=True)]))


def labels_picture(found: Mapping[str, Mapping[str, Learnt]]) -> Picture:
    """Arrows from before to after, on queries held out: by the labeller's own labels, and by the right ones."""
    figure, axes = canvas("tall", left=0.36)
    axes.spines["left"].set_visible(False)
    ticks: dict[float, str] = {}
    at = 0.0
    for name, rows in found.items():
        axes.annotate(name, (0, at), (-6, 0), **_heading(axes))
        for labeller, one in rows.items():
            at += 1
            ticks[at] = labeller
            _arrow(axes, at - 0.17, one.before, one.measured, GREY, "s")
            _arrow(axes, at + 0.17, one.true_before, one.true, GREEN, "o")
        at += 1.3
    axes.set(xlim=(0.3, 0.9), ylim=(at - 0.7, -1.2), xlabel=f"recall@{K}, queries held out")
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.tick_params(axis="y", length=0)
    for x, word, color, mark in ((0.02, "by the labels learnt from", GREY, "s"), (0.62, "true", GREEN, "o")):
        axes.plot(x, 0.97, mark, color=color, transform=axes.transAxes, clip_on=False)
        axes.annotate(word, (x + 0.03, 0.97), xycoords="axes fraction", va="center", fontsize=9)
    said = "; ".join(
        f"{name}, {labeller}: measured {one.before:.2f} to {one.measured:.2f}, true {one.true_before:.2f} to "
        f"{one.true:.2f}"
        for name, rows in found.items()
        for labeller, one in rows.items()
    )
    habits = [rows["flipped by habit"] for rows in found.values()]
    rises = sum(one.measured > one.before for one in habits)
    falls = sum(one.true < one.true_before for one in habits)
    return picture(
        figure,
        alt=f"Arrows of recall from before to after, for three labellers on each collection. {said}.",
        caption=f"Hollow before, filled after. Measured by the habit that was learnt, recall rises on {rises} of "
        f"{len(habits)} collections; by the right labels it falls on {falls}.",
    )


def _heading(axes: Axes) -> dict[str, Any]:
    return {
        "xycoords": axes.get_yaxis_transform(),
        "textcoords": "offset points",
        "ha": "right",
        "va": "center",
        "fontweight": "bold",
    }


def _arrow(axes: Axes, y: float, start: float, end: float, color: str, mark: str) -> None:
    axes.plot(start, y, mark, mfc="none", mec=color)
    axes.plot([start, end], [y, y], "-", color=color, lw=1.6)
    axes.plot(end, y, mark, color=color)
