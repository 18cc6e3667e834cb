"""What chapter 13 shows: a folder as a reader has one, parts of the report on the page, and labels that grow."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from matplotlib.axes import Axes

from ragkit.corpora.collections import load_corpus
from ragkit.diagnosis.levers import Thresholds, diagnose
from ragkit.diagnosis.report import section_html
from ragkit.diagnosis.study import Study
from ragkit.measure.labels import write_labels
from ragkit.measure.runs import Qrels, Runs, judgments
from ragkit.teach.explorers import Control, Explorer, Frame
from ragkit.teach.figures import INK, LINE, PALETTE

LOOK: Mapping[str, Mapping[str, Any]] = {
    "BM25": {**LINE["lexical"], "linestyle": "-"},
    "dense": {**LINE["dense"], "linestyle": "--"},
    "BM25 + dense": {"color": PALETTE["fused"], "linestyle": "-.", "marker": "D"},
}
_STYLE = """<style>
.rk-report{max-width:44rem;overflow-x:auto}
.rk-report.rk-report table{border-collapse:collapse;font-size:.9em;margin:.5em 0;display:table;
font-variant-numeric:tabular-nums}
.rk-report.rk-report :is(th,td){text-align:left;vertical-align:top;padding:.25em .9em .25em 0;
font-weight:400;border:0;background:none;color:inherit;
border-bottom:1px solid color-mix(in srgb,currentColor 22%,transparent)}
.rk-report.rk-report .n{text-align:right;white-space:nowrap}
.rk-report .sys{white-space:nowrap}
.rk-report.rk-report .mark{background:none;padding:0}
.rk-report caption{text-align:left;caption-side:top;color:inherit;opacity:.85;font-size:.95em}
.rk-report.rk-report tr.here>*{font-weight:600}
.rk-report .lexical{color:var(--rk-lexical,#0072b2);fill:var(--rk-lexical,#0072b2);stroke:none}
.rk-report .dense{color:var(--rk-dense,#d55e00);fill:var(--rk-dense,#d55e00)}
.rk-report .fused{color:var(--rk-fused,#cc79a7);fill:var(--rk-fused,#cc79a7)}
.rk-report svg{display:block;max-width:100%;height:auto;overflow:visible}
.rk-report svg text{font-size:13px;fill:currentColor}
.rk-report svg .axis,.rk-report svg .bound{stroke:currentColor;opacity:.6}
.rk-report svg .bound{stroke-dasharray:1 4}
.rk-report svg .bar:not(.lexical,.dense){fill:currentColor;opacity:.5}
.rk-report svg .spread{stroke:currentColor;stroke-width:2}
.rk-report svg .spread.lexical{stroke:var(--rk-lexical,#0072b2)}
.rk-report svg .spread.dense{stroke:var(--rk-dense,#d55e00);stroke-dasharray:6 3}
.rk-report svg .spread.fused{stroke:var(--rk-fused,#cc79a7);stroke-dasharray:2 2}
</style>"""


@dataclass(frozen=True)
class Part:
    """A section of the report, on a page of this book."""

    name: str
    html: str

    def _repr_html_(self) -> str:
        return f'{_STYLE}<div class="rk-report">{self.html}</div>'

    def __repr__(self) -> str:
        return f"the report's section {self.name!r}"


def part(study: Study, name: str) -> Part:
    """One section of the report, to stand in a notebook. KeyError for a name that no section has."""
    return Part(name, section_html(study, name))


def export(folder: Path) -> tuple[Path, Path]:
    """Write the handbook as a reader has their own documents: the folder, and the file of labels beside it.

    A file of Markdown a document, and queries.tsv among them.
    """
    corpus, docs = load_corpus("handbook"), folder / "our-docs"
    docs.mkdir(parents=True)
    for name, text in corpus.docs.items():
        (docs / f"{name}.md").write_text(f"{text}\n", encoding="utf-8")
    lines = [f"{qid}\t{text}\n" for qid, text in corpus.queries.items()]
    (docs / "queries.tsv").write_text("".join(lines), encoding="utf-8")
    labels = folder / "labels.jsonl"
    write_labels(labels, corpus.labels)
    return docs, labels


def some(qrels: Qrels, n: int, draw: int) -> dict[str, dict[str, int]]:
    """The judgments of n queries that have a relevant passage, drawn at random; a larger n holds a smaller one.

    >>> list(some({"q1": {"d1"}, "q2": {"d2"}, "q3": {"d3": 0}}, 1, draw=1))
    ['q1']
    """
    judged = {qid: own for qid, own in judgments(qrels).items() if any(grade >= 1 for grade in own.values())}
    order = Random(f"draw {draw}").sample(sorted(judged), len(judged))
    return {qid: judged[qid] for qid in order[:n]}


def labelled(runs: Mapping[str, Runs], qrels: Qrels, k: int = 50) -> Explorer:
    """Recall, its interval and the lever, as more and more queries are labelled."""
    n_all = len(some(qrels, 10**6, 1))
    sizes = (5, 10, 20, 30, 50, 75, n_all)
    enough = Thresholds().recall_enough
    found = {
        (system, n, draw): diagnose(run, some(qrels, n, draw), candidate_k=k)
        for system, run in runs.items()
        for draw in (1, 2, 3)
        for n in sizes
    }
    names = {"BM25": "bm25", "dense": "dense", "BM25 + dense": "fused"}

    def compute(system: str, n: int, draw: int) -> Frame:
        one = found[system, n, draw]
        low, high = one.recall_candidate.interval
        path = [(size, float(found[system, size, draw].recall_candidate)) for size in sizes]
        return {
            "system": system,
            "n": n,
            "draw": draw,
            "recall": float(one.recall_candidate),
            "low": low,
            "high": high,
            "lever": one.lever,
            "path": path,
        }

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xlim=(0, n_all + 4), ylim=(0, 1.02), xlabel="queries labelled", ylabel=f"recall@{k}")
        axes.plot([0, n_all + 4], [enough] * 2, ":", color=INK, lw=1)
        axes.annotate(f"enough, {enough:g}", (n_all + 3, enough), (0, -11), textcoords="offset points", ha="right",
                      fontsize=8.5)  # fmt: skip

    def draw(axes: Axes, frame: Frame) -> None:
        look = LOOK[frame["system"]]
        line = {"color": look["color"], "linestyle": look["linestyle"]}
        axes.plot(*zip(*frame["path"], strict=True), lw=1, alpha=0.6, **line)
        axes.plot([frame["n"]] * 2, [frame["low"], frame["high"]], "-", color=look["color"], lw=2.4)
        axes.plot(frame["n"], frame["recall"], look["marker"], color=look["color"], markersize=7)
        axes.annotate(frame["lever"], (n_all / 2, 0.12), ha="center", fontsize=11, fontweight="bold")

    return Explorer(
        "How many labels until the verdict holds still?",
        (
            Control("system", "system", tuple(runs), "dense"),
            Control("n", "queries labelled", sizes, 20),
            Control("draw", "which are drawn", (1, 2, 3), 1),
        ),
        compute,
        backdrop,
        draw,
        readout=lambda frame: (
            f"{frame['system']}, {frame['n']} queries: recall@{k} {frame['recall']:.4f}, 95 % interval "
            f"{frame['low']:.3f} to {frame['high']:.3f}. Lever: {frame['lever']}"
        ),
        call=lambda frame: (
            f"recall_at_k({names[frame['system']]}, corpus_views.some(qrels, {frame['n']}, {frame['draw']}), {k})"
        ),
        alt=lambda frame: (
            f"Recall at {k} of {frame['system']} against the number of labelled queries, a line for draw "
            f"{frame['draw']}; at {frame['n']} queries it is {frame['recall']:.2f}, with a bar from "
            f"{frame['low']:.2f} to {frame['high']:.2f}; below stands: {frame['lever']}."
        ),
    )
