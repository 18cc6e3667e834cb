"""The command line: `ragkit`, or `python -m ragkit`.

A subcommand is a function `add_<name>(commands)`: it adds a parser, and sets `run`, a function of the parsed
arguments that prints what it has to say. It stands in `COMMANDS`. Imports are inside, so that `ragkit --help` is
quick. An error is one line on stderr and exit status 2; a traceback is for faults of our own.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from ragkit.corpora.collections import Corpus
    from ragkit.measure.labels import Agreement, Label

    Commands = _SubParsersAction[ArgumentParser]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, the arguments of the process by default; the exit status.

    It is 0; 2 for an error of the input; 1 where a command was asked to hold something, and it does not hold.
    """
    parser = ArgumentParser(prog="ragkit", description="Measure retrieval. Nothing leaves this machine.")
    commands = parser.add_subparsers(metavar="command", required=True)
    for add in COMMANDS:
        add(commands)
    args = parser.parse_args(argv)
    try:
        return args.run(args) or 0
    except (ValueError, OSError, ImportError) as error:
        print(f"ragkit: {_in_a_line(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _in_a_line(error: Exception) -> str:
    named = isinstance(error, OSError) and error.errno is not None and error.filename is not None
    return f"{error.filename}: {error.strerror}" if named else " ".join(str(error).split())  # type: ignore[attr-defined]


# what several commands share


def add_collection(parser: ArgumentParser) -> None:
    """The two options that say which texts a command reads."""
    parser.add_argument(
        "--collection", required=True, metavar="PATH_OR_NAME", help="a file or folder, or handbook, or numpy-docs"
    )
    parser.add_argument(
        "--chunking",
        choices=("window", "headings", "sentences", "whole"),
        default="window",
        help="what the ids of a run are: passages cut so (window), or whole documents",
    )


def collection(where: str) -> "Corpus":
    """The collection under a path; one of this book's where there is no such path and the name is one of theirs."""
    from ragkit.diagnosis.material import read_corpus

    return read_corpus(where)


def units(corpus: "Corpus", chunking: str) -> tuple[Mapping[str, str], Mapping[str, Any] | None]:
    """The texts that the ids of a run name, and where each stands; None where they are whole documents."""
    from ragkit.corpora import chunks

    if chunking == "whole":
        return corpus.docs, None
    passages = corpus.passages(getattr(chunks, chunking)())
    return passages, passages.origin


# commands


def add_pool(commands: "Commands") -> None:
    """`ragkit pool`: from runs to a sheet to label by."""
    parser = commands.add_parser(
        "pool",
        help="make a labelling sheet out of runs",
        description="Write the union of the top k of some runs as a sheet to label by: one HTML page that works "
        "without a network, or CSV, or JSON lines. It tells neither scores nor which run found what.",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run in TREC's format")
    add_collection(parser)
    parser.add_argument("--k", type=int, default=10, help="places of each run that are pooled (10)")
    parser.add_argument("--seed", type=int, default=0, help="of the order of the passages (0)")
    parser.add_argument("--shuffle", action="store_true", help="mix the queries too, and not one after the other")
    parser.add_argument("--rubric", metavar="FILE", help="rules of your own, plain text, to show on the HTML page")
    parser.add_argument("--out", required=True, metavar="SHEET", help="ends in .html, .csv or .jsonl")
    parser.add_argument("--labels", metavar="FILE", help="labels that are there: what they judge is left out")
    parser.add_argument("--replace", action="store_true", help="write over a sheet that is there already")
    parser.set_defaults(run=_pool)


def _pool(args: Namespace) -> None:
    from ragkit.diagnosis.sheet import labels_in, sheet_pairs, write_sheet
    from ragkit.measure.pooling import pool
    from ragkit.measure.trec import lines, read_run

    if Path(args.out).exists() and not args.replace:
        raise ValueError(f"{args.out} is there already, and may hold labels. Give another name, or --replace")
    labels = labels_in(args.labels) if args.labels else []
    rubric = "\n".join(line for _, line in lines(args.rubric)) if args.rubric else ""
    pooled = pool([read_run(run) for run in args.runs], k=args.k, seed=args.seed)
    corpus = collection(args.collection)
    order = args.seed if args.shuffle else None
    cut = units(corpus, args.chunking)
    pairs = sheet_pairs(pooled, corpus.queries, *cut, labels, titles=corpus.titles, order=order)
    write_sheet(args.out, pairs, rubric=rubric)
    n_pooled = sum(len(ids) for ids in pooled.values())
    left_out = (
        f"; {n_pooled - len(pairs)} of {n_pooled} left out: labelled already, or blank"
        if n_pooled > len(pairs)
        else ""
    )
    print(f"{args.out}: {len(pairs)} pairs of {len({pair.query_id for pair in pairs})} queries{left_out}")


def add_agree(commands: "Commands") -> None:
    """`ragkit agree`: how far two passes over the same pairs agree."""
    parser = commands.add_parser(
        "agree",
        help="compare two passes of labels",
        description="Raw agreement, Cohen's kappa with an interval, and every disagreement of two passes.",
    )
    parser.add_argument("first", metavar="FIRST", help="labels: what a sheet exports, or a filled CSV")
    parser.add_argument("second", metavar="SECOND")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=_agree)


def _agree(args: Namespace) -> None:
    from ragkit.diagnosis.sheet import labels_in
    from ragkit.measure.labels import agreement

    found = agreement(labels_in(args.first), labels_in(args.second))
    print(_agreement_json(found) if args.json else "\n".join(_agreement_lines(found)))


def _agreement_json(found: "Agreement") -> str:
    def number(value: float) -> float | None:
        return None if isnan(value) else value  # JSON has no nan

    return json.dumps(
        {
            "pairs": found.n,
            "only_first": found.only_first,
            "only_second": found.only_second,
            "raw": found.raw,
            "raw_interval": found.raw_interval,
            "kappa": number(found.kappa),
            "kappa_interval": [number(end) for end in found.interval],
            "table": [{"first": a, "second": b, "pairs": n} for (a, b), n in found.table.items()],
            "disagreements": [{"first": asdict(a), "second": asdict(b)} for a, b in found.disagreements],
            "spans_apart": [{"first": asdict(a), "second": asdict(b)} for a, b in found.apart],
        },
        ensure_ascii=False,
        indent=1,
    )


def _agreement_lines(found: "Agreement") -> list[str]:
    from ragkit.measure.labels import LABELS

    def between(ends: tuple[float, float]) -> str:
        return f"95 % interval {ends[0]:.3f} to {ends[1]:.3f}"

    def shown(pair: "tuple[Label, Label]") -> str:
        reasons = " / ".join(label.reason or "-" for label in pair) if any(label.reason for label in pair) else ""
        return f"  {pair[0].stretch}: {pair[0].label} / {pair[1].label}{'; ' if reasons else ''}{reasons}"

    same = found.n - len(found.disagreements)
    kappa = "not defined: both passes gave every pair one and the same label"
    if not isnan(found.kappa):
        kappa = f"{found.kappa:.3f} ({between(found.interval)}, bootstrap of the pairs)"
    return [
        f"pairs in both passes: {found.n} ({found.only_first} only in the first, {found.only_second} in the second)",
        f"raw agreement: {found.raw:.3f} ({same} of {found.n}; {between(found.raw_interval)})",
        f"Cohen's kappa: {kappa}",
        f"{'first, down; second:':22}" + "".join(f"{label:>12}" for label in LABELS),
        *(f"  {a:20}" + "".join(f"{found.table[a, b]:12}" for b in LABELS) for a in LABELS),
        f"disagreements: {len(found.disagreements)}",
        *map(shown, found.disagreements),
        f"relevant in both, with answers that share nothing: {len(found.apart)}",
        *map(shown, found.apart),
    ]


def _add_figures(parser: ArgumentParser) -> None:
    """What `evaluate` and `compare` have in common: judgments in, and two more ways out."""
    parser.add_argument("--qrels", required=True, metavar="FILE", help="judgments, in TREC's format or BEIR's")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--per-query", metavar="FILE", help="write a table query by query, separated by tabs")


def add_evaluate(commands: "Commands") -> None:
    """`ragkit evaluate`: what runs are worth by some judgments."""
    parser = commands.add_parser(
        "evaluate",
        help="measure runs by judgments",
        description="Recall (any hit), coverage, precision and nDCG at each k, MRR and MAP over the whole ranking: "
        "each with a 95 %% interval, and with the queries that were left out, missing or without labels.",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run in TREC's format")
    _add_figures(parser)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 50], help="places that are read (5 10 50)")
    parser.set_defaults(run=_evaluate)


def _evaluate(args: Namespace) -> None:
    from ragkit.measure import summary

    found = summary.evaluated(args.runs, summary.read_judgments(args.qrels), args.k)
    if args.json:
        printed = json.dumps(summary.evaluated_json(found, args.qrels), ensure_ascii=False, indent=1)
    else:
        printed = "\n\n".join("\n".join(summary.evaluated_lines(one, args.qrels)) for one in found)
    _write_table(args, summary.evaluated_rows(found))
    print(printed)


def add_compare(commands: "Commands") -> None:
    """`ragkit compare`: two systems or more on the same queries, today's run against last month's among them."""
    parser = commands.add_parser(
        "compare",
        help="compare runs query by query",
        description="Who finds what: both, only one, neither; the union and its budget; differences with paired "
        "intervals, McNemar's test, and Holm's adjustment for more than one pair. Give the new run first: "
        "ragkit compare today.run last-month.run --qrels qrels.txt",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run in TREC's format; two or more")
    _add_figures(parser)
    parser.add_argument("--k", type=int, default=10, help="places that are read (10)")
    parser.set_defaults(run=_compare)


def _compare(args: Namespace) -> None:
    from ragkit.measure import summary

    found = summary.compared(args.runs, summary.read_judgments(args.qrels), args.k)
    if args.json:
        printed = json.dumps(summary.compared_json(found, args.qrels), ensure_ascii=False, indent=1)
    else:
        printed = "\n".join(summary.compared_lines(found))
    _write_table(args, summary.compared_rows(found))
    print(printed)


def _write_table(args: Namespace, rows: Iterable[Sequence[str]]) -> None:
    """Write `--per-query`, never over a file that was read."""
    from ragkit.measure.trec import replace_file

    if not args.per_query:
        return
    target = Path(args.per_query)
    for given in (*args.runs, args.qrels):
        if target.exists() and target.samefile(given):
            raise ValueError(f"--per-query {target} would write over an input of this command. Give another name")
    # a tag or an id that a tab or a line end stands in would shift the columns; TREC's files cannot hold one
    replace_file(target, ("\t".join(row) + "\n" for row in rows), "no query")


def add_diagnose(commands: "Commands") -> None:
    """`ragkit diagnose`: from documents and queries, or from runs, to a report."""
    parser = commands.add_parser(
        "diagnose",
        help="say what is wrong with a retrieval, and what to change",
        description="From a folder of documents and queries, with or without labels, or from runs, to one HTML page "
        "that needs no network: sizes, what the window cut, twins, overlap; with labels also figures with intervals, "
        "why queries miss, and which lever the figures support; without labels a sheet to label by. For example: "
        "ragkit diagnose my-docs --out report.html",
    )
    parser.add_argument(
        "collection", nargs="?", metavar="PATH_OR_NAME", help="a folder or file, or handbook, or numpy-docs"
    )
    parser.add_argument("--queries", metavar="FILE", help="queries, where they do not lie beside the documents")
    judged = parser.add_mutually_exclusive_group()
    judged.add_argument("--qrels", metavar="FILE", help="judgments, in TREC's format or BEIR's")
    judged.add_argument("--labels", metavar="FILE", help="labels: what a sheet exports, or a filled CSV")
    parser.add_argument("--second", metavar="FILE", help="labels or judgments of a second reader")
    parser.add_argument("--runs", nargs="+", default=[], metavar="RUN", help="runs in TREC's format, or NAME=FILE")
    parser.add_argument("--system", metavar="NAME", help="which of the systems is diagnosed")
    parser.add_argument(
        "--chunking",
        choices=("window", "headings", "sentences", "whole"),
        default="window",
        help="how documents are cut into what is ranked (window)",
    )
    parser.add_argument("--k", type=int, default=10, help="places that systems are compared by (10)")
    parser.add_argument("--candidate-k", type=int, default=50, help="places that the first stage hands on (50)")
    parser.add_argument("--consumer-k", type=int, default=5, help="places that a prompt or a page shows (5)")
    parser.add_argument("--encoder", metavar="NAME", help="a model of sentence-transformers, or none (MiniLM)")
    parser.add_argument("--vectors", metavar="FILE", help="where vectors are kept (.ragkit-cache beside the report)")
    parser.add_argument("--budget-ms", type=float, metavar="MS", help="what a query may take")
    parser.add_argument("--rerank-ms-per-pair", type=float, metavar="MS", help="what a reranker takes for a passage")
    parser.add_argument("--pool-queries", type=int, default=50, help="queries on the sheet to label by (50)")
    parser.add_argument("--out", required=True, metavar="REPORT", help="ends in .html")
    parser.add_argument("--json", metavar="FILE", help="the same as JSON (beside the report)")
    parser.add_argument(
        "--fail-under",
        action="append",
        default=[],
        metavar="METRIC@K=VALUE",
        help="exit status 1 where a metric is lower, such as recall@10=0.8; several may be given",
    )
    parser.set_defaults(run=_diagnose)


def _diagnose(args: Namespace) -> int:
    from ragkit.diagnosis.undertaken import undertake

    lines, failures = undertake(args)
    print("\n".join(lines))
    for failure in failures:
        print(f"ragkit: {failure}", file=sys.stderr)
    return 1 if failures else 0


COMMANDS: tuple[Callable[["Commands"], None], ...] = (add_pool, add_agree, add_evaluate, add_compare, add_diagnose)

if __name__ == "__main__":
    sys.exit(main())
