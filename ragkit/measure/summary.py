"""What `ragkit evaluate` and `ragkit compare` say of runs in files: the figures, their intervals, what was left out.

A figure is never without its k, its interval and the queries it stands on. Each summary exists as lines to read, as
JSON, and query by query as rows of a table.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan
from pathlib import Path
from typing import Any

from ragkit.measure.metrics import (
    average_precision,
    checked_k,
    coverage_at_k,
    judged_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from ragkit.measure.paired import Comparison, compare_all, paired_difference
from ragkit.measure.runs import LEVEL, Mean, Qrels
from ragkit.measure.trec import FilePath, read_qrels, read_run
from ragkit.ranking import Run

AT_K: Mapping[str, Callable[..., Mean]] = {
    "recall": recall_at_k,
    "coverage": coverage_at_k,
    "precision": precision_at_k,
    "ndcg": ndcg_at_k,
    "judged": judged_at_k,
}
WHOLE: Mapping[str, Callable[..., Mean]] = {"mrr": reciprocal_rank, "map": average_precision}
LISTED = 12  # ids that a line of the summary names; JSON and the table by query have all

Key = tuple[str, int | None]  # a metric and its k; None: the whole ranking


@dataclass(frozen=True)
class Evaluated:
    """A run in a file, with its figures."""

    name: str
    file: str
    figures: Mapping[Key, Mean]
    longest: int

    @property
    def about(self) -> Mean:
        """What all figures have in common: the queries that they stand on, and those that they leave out."""
        return next(iter(self.figures.values()))


def read_judgments(path: FilePath) -> Qrels:
    """Read qrels; ValueError, with the file's name, also where no query has a relevant document."""
    qrels = read_qrels(path)
    if not any(grade >= 1 for own in qrels.values() for grade in own.values()):
        raise ValueError(
            f"{path}: none of the {len(qrels)} queries has a document of grade 1 or more: there is nothing to find. "
            "Grades of 0 say judged irrelevant"
        )
    return qrels


def read_runs(paths: Sequence[FilePath]) -> dict[str, Run]:
    """Read runs, by the shortest names that tell them apart: their tags, else their files' names, else their paths.

    ValueError for a file that is given twice.
    """
    runs = [read_run(path) for path in paths]
    ways = ([str(run.record["run"]) for run in runs], [Path(path).name for path in paths], [str(p) for p in paths])
    for names in ways:
        if len(set(names)) == len(paths):
            return dict(zip(names, runs, strict=True))
    twice = next(path for path in ways[-1] if ways[-1].count(path) > 1)
    raise ValueError(f"{twice} is given twice. Name two different runs")


def evaluated(paths: Sequence[FilePath], qrels: Qrels, ks: Sequence[int]) -> list[Evaluated]:
    """The figures of runs in files: each metric at each k in rising order, or over the whole ranking.

    `judged` is there where the qrels have grades below 1, without which nobody can tell irrelevant from not judged.
    ValueError, with the file's name, for runs that have nothing in common with the qrels.
    """
    ks = sorted({int(checked_k(k)) for k in ks})
    graded = any(grade < 1 for own in qrels.values() for grade in own.values())  # type: ignore[union-attr]
    found = []
    for path, (name, run) in zip(paths, read_runs(paths).items(), strict=True):
        try:
            figures: dict[Key, Mean] = {
                (metric, k): measure(run, qrels, k)
                for metric, measure in AT_K.items()
                if metric != "judged" or graded
                for k in ks
            }
            figures |= {(metric, None): measure(run, qrels) for metric, measure in WHOLE.items()}
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        found.append(Evaluated(name, str(path), figures, max(map(len, run.values()), default=0)))
    return found


def evaluated_lines(found: Evaluated, qrels_file: FilePath) -> list[str]:
    """A table: a row for each metric and k, with its interval; below it what the figures do not cover."""
    about = found.about
    lines = [
        f"{found.name} ({found.file}) by {qrels_file}: {about.n} queries with a relevant document",
        f"{'metric':10} {'k':>5} {'value':>8}  {100 * LEVEL:.0f} % interval     hits",
    ]
    for (metric, k), mean in found.figures.items():
        hits = f"{sum(mean.values.values()):.0f} of {mean.n}" if metric == "recall" else ""
        row = f"{metric:10} {'all' if k is None else k:>5} {mean:8.4f}  {_between(mean.interval)}  {hits}"
        lines.append(row.rstrip())
    lines += _noted("left out, nothing relevant", about.left_out)
    lines += _noted("missing from the run, counted as 0", about.missing)
    lines += _noted("without labels, ignored", about.unlabelled)
    deepest = max(k for _, k in found.figures if k is not None)
    if found.longest < deepest:
        lines.append(f"no list is longer than {found.longest}: figures at a larger k may be too low")
    return lines


def evaluated_json(found: Sequence[Evaluated], qrels_file: FilePath) -> dict[str, Any]:
    """The same for programs, with all ids."""
    return {
        "qrels": str(qrels_file),
        "level": LEVEL,
        "runs": [
            {
                "run": one.name,
                "file": one.file,
                "queries": one.about.n,
                "metrics": [
                    {"metric": metric, "k": k, "value": float(mean), "interval": _ends(mean.interval)}
                    for (metric, k), mean in one.figures.items()
                ],
                **_not_covered(one.about),
                "longest_list": one.longest,
            }
            for one in found
        ],
    }


def evaluated_rows(found: Sequence[Evaluated]) -> Iterator[Sequence[str]]:
    """A row for each run and query, those that were left out among them, with a column for each metric."""
    keys = list(found[0].figures)
    yield ["run", "query", "note", *(metric if k is None else f"{metric}@{k}" for metric, k in keys)]
    for one in found:
        for qid in one.about.values:
            note = "missing from the run" if qid in one.about.missing else ""
            yield [one.name, qid, note, *(f"{one.figures[key].values[qid]:.6g}" for key in keys)]
        for qid in one.about.left_out:
            yield [one.name, qid, "nothing relevant", *("" for _ in keys)]


@dataclass(frozen=True)
class Compared:
    """Runs in files, compared pair by pair: hits, and the difference in every other metric."""

    pairs: Mapping[tuple[str, str], Comparison]
    adjusted: Mapping[tuple[str, str], float]
    differences: Mapping[tuple[str, str], Mapping[Key, Any]]
    table: str


def compared(paths: Sequence[FilePath], qrels: Qrels, k: int) -> Compared:
    """Compare two runs in files or more, at k. ValueError for fewer than two, and as for `compare`."""
    if len(paths) < 2:
        raise ValueError(f"{len(paths)} run given, and a comparison needs two or more: ragkit compare NEW OLD")
    runs = read_runs(paths)
    several = compare_all(runs, qrels, k)
    measures: dict[Key, Callable[..., Mean]] = {
        (metric, k): AT_K[metric] for metric in ("coverage", "precision", "ndcg")
    }
    measures |= {(metric, None): measure for metric, measure in WHOLE.items()}
    differences = {
        (a, b): {
            key: paired_difference(measure, runs[a], runs[b], qrels, key[1]) for key, measure in measures.items()
        }
        for a, b in combinations(runs, 2)
    }
    # two are told in full, with a table of their own
    table = repr(next(iter(several.values())) if len(runs) == 2 else several)
    return Compared(several, several.adjusted, differences, table)


def compared_lines(found: Compared) -> list[str]:
    """The table, the differences in other metrics, and the queries that only one of two systems answers."""
    lines = found.table.split("\n")
    for (a, b), own in found.differences.items():
        lines += ["", f"{a} − {b} in other metrics, paired, with {100 * LEVEL:.0f} % intervals"]
        lines += [
            f"{metric:10} {'all' if k is None else k:>5} {difference:+8.4f}  {_between(difference.interval, '+')}"
            for (metric, k), difference in own.items()
        ]
        one = found.pairs[a, b]
        lines += [*_noted(f"only {a} hits", one.only_a), *_noted(f"only {b} hits", one.only_b)]
        lines += _noted("left out, nothing relevant", one.recall_a.left_out)
        for name, mean in ((a, one.recall_a), (b, one.recall_b)):
            lines += _noted(f"missing from {name}, counted as misses", mean.missing)
    return lines


def compared_json(found: Compared, qrels_file: FilePath) -> dict[str, Any]:
    """The same for programs, with all ids."""
    return {
        "qrels": str(qrels_file),
        "level": LEVEL,
        "pairs": [
            {
                "a": a,
                "b": b,
                "k": one.k,
                "queries": one.n,
                **{group: list(getattr(one, group)) for group in (*_GROUPS, "disjoint")},
                **{name: float(getattr(one, name)) for name in _SHARES},
                "union_size": one.union_size,
                "difference": float(one.difference),
                "interval": _ends(one.difference.interval),
                "p": one.p_value,
                "p_holm": found.adjusted[a, b],
                "others": [
                    {"metric": metric, "k": k, "difference": float(value), "interval": _ends(value.interval)}
                    for (metric, k), value in found.differences[a, b].items()
                ],
                "left_out": list(one.recall_a.left_out),
                "missing_a": list(one.recall_a.missing),
                "missing_b": list(one.recall_b.missing),
                "notes": [*one.short, *one.unknown],
            }
            for (a, b), one in found.pairs.items()
        ],
    }


def compared_rows(found: Compared) -> Iterator[Sequence[str]]:
    """A row for each pair and query: who hits it, and the difference in every other metric."""
    keys = list(next(iter(found.differences.values())))
    names = (metric if k is None else f"{metric}@{k}" for metric, k in keys)
    yield ["a", "b", "query", "hit by", *(f"{name} a-b" for name in names)]
    for (a, b), one in found.pairs.items():
        by = {qid: group for group in _GROUPS for qid in getattr(one, group)}
        for qid in one.union.values:
            values = (found.differences[a, b][key].values[qid] for key in keys)
            yield [a, b, qid, by[qid].replace("_", " "), *(f"{value:.6g}" for value in values)]
        for qid in one.recall_a.left_out:
            yield [a, b, qid, "nothing relevant", *("" for _ in keys)]


_GROUPS = ("both", "only_a", "only_b", "neither")
_SHARES = ("recall_a", "recall_b", "union", "recall_a_2k", "recall_b_2k")


def _noted(what: str, ids: Sequence[str]) -> list[str]:
    if not ids:
        return []
    more = f" and {len(ids) - LISTED} more" if len(ids) > LISTED else ""
    return [f"{what}: {len(ids)} ({', '.join(ids[:LISTED])}{more})"]


def _between(ends: tuple[float, float], sign: str = "") -> str:
    if isnan(ends[0]):
        return "none, from one query"
    return f"{ends[0]:{sign}.4f} to {ends[1]:{sign}.4f}"


def _ends(ends: tuple[float, float]) -> list[float] | None:
    return None if isnan(ends[0]) else list(ends)


def _not_covered(mean: Mean) -> dict[str, list[str]]:
    return {name: list(getattr(mean, name)) for name in ("left_out", "missing", "unlabelled")}
