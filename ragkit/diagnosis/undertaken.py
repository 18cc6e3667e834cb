"""`ragkit diagnose` from its arguments to its files: read, encode, examine, write.

Everything that can be refused is refused before the long work begins. Files are written when all is computed, each
under another name first: a report that is there is whole.
"""

import json
import os
import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ragkit.dense.cache import CachedEncoder
from ragkit.diagnosis.embedding import cache_file, with_vectors
from ragkit.diagnosis.material import Material, read_material
from ragkit.diagnosis.report import report_html
from ragkit.diagnosis.sheet import Pair, sheet_html
from ragkit.diagnosis.study import Settings, Study, examine
from ragkit.measure.summary import AT_K
from ragkit.measure.trec import replace_file

INPUTS = ("queries", "qrels", "labels", "second", "vectors")
_BOUND = re.compile(r"(?P<metric>[a-z]+)@(?P<k>\d+)=(?P<value>\d+(?:\.\d+)?|\.\d+)")


class Bound(NamedTuple):
    """What must hold: a metric of the diagnosed system is no lower than this."""

    metric: str
    k: int
    value: float


def undertake(args: Any) -> tuple[list[str], list[str]]:  # noqa: ANN401 - argparse's Namespace
    """Do what the command line asks; what there is to print, and a line for each bound that does not hold."""
    out, json_file = _targets(args)
    bounds = [bound(text) for text in args.fail_under]
    settings = Settings(
        k=args.k,
        candidate_k=args.candidate_k,
        consumer_k=args.consumer_k,
        budget_ms=args.budget_ms,
        rerank_ms_per_pair=args.rerank_ms_per_pair,
        system=args.system,
        pool_queries=args.pool_queries,
        made_on=_today(),
    )
    material = read_material(
        args.collection,
        queries=args.queries,
        qrels=args.qrels,
        labels=args.labels,
        second=args.second,
        runs=args.runs,
        chunking=args.chunking,
    )
    if bounds and material.qrels is None:
        raise ValueError("--fail-under needs labels: give --labels or --qrels")
    vectors, no_dense = _vectors(args, material, out)
    extra = [(one.metric, one.k) for one in bounds]
    study, pairs = examine(material, settings, vectors=vectors, no_dense=no_dense, extra=extra)
    sheet, lines = _sheet(out.with_name("pool.html"), pairs)
    replace_file(json_file, [json.dumps(study.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"], "it")
    replace_file(out, [report_html(study, _command(args), sheet)], "it")
    failures = [
        f"{one.metric}@{one.k} of {study.system} is {value:.4f}, under {one.value:g}"
        for one in bounds
        if (value := study.value(one.metric, one.k)) < one.value
    ]
    return [f"{out}: {_outcome(study)}", *lines, f"{json_file}: the same for programs"], failures


def bound(text: str) -> Bound:
    """Read METRIC@K=VALUE. ValueError that says what it may be.

    >>> bound("recall@10=0.8")
    Bound(metric='recall', k=10, value=0.8)
    """
    found = _BOUND.fullmatch(text.strip())
    if not found or found["metric"] not in AT_K or int(found["k"]) < 1 or float(found["value"]) > 1:
        raise ValueError(
            f"--fail-under {text}: expected METRIC@K=VALUE, such as recall@10=0.8, with a metric of "
            f"{', '.join(AT_K)}, k of 1 or more, and a value between 0 and 1"
        )
    return Bound(found["metric"], int(found["k"]), float(found["value"]))


def _targets(args: Any) -> tuple[Path, Path]:  # noqa: ANN401
    """The report and the JSON; they must be writable, and no input of the same command."""
    out = Path(args.out)
    if out.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--out {out}: a report is one HTML page. Give a name that ends in .html")
    json_file = Path(args.json) if args.json else out.with_suffix(".json")
    given = [getattr(args, name) for name in INPUTS if getattr(args, name)]
    given += [one if Path(one).exists() else one.partition("=")[2] for one in args.runs]
    for target in (out, json_file):
        if not target.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {target.parent.absolute()} to write {target.name} into")
        if target.is_dir():
            raise ValueError(f"{target} is a folder. Give the name of a file")
        for file in given:
            if target.exists() and Path(file).exists() and target.samefile(file):
                raise ValueError(f"{target} would write over an input of this command. Give another name")
    if out == json_file or (out.exists() and json_file.exists() and out.samefile(json_file)):
        raise ValueError(f"--out and --json are both {out}. Give two names")
    return out, json_file


def _vectors(args: Any, material: Material, out: Path) -> tuple[CachedEncoder | None, str]:  # noqa: ANN401
    """The vectors, and why there are none."""
    asked = args.encoder or args.vectors
    if not material.texts or material.runs or args.encoder == "none":
        return None, "left out, as --encoder none says" if args.encoder == "none" else "the rankings are given"
    known = material.corpus.vectors if material.name in _PACKAGED and not asked and material.corpus else None
    file = Path(args.vectors) if args.vectors else cache_file(out, args.encoder)
    try:
        texts, queries = list(material.texts.values()), list(material.queries.values())
        return with_vectors(texts, queries, file, args.encoder, known), ""
    except ImportError as error:
        if args.encoder:
            raise
        return None, str(error)


_PACKAGED = ("handbook", "numpy-docs")


def _sheet(path: Path, pairs: Sequence[Pair]) -> tuple[str, list[str]]:
    """Write the pool, unless another one is there: somebody may be labelling it."""
    if not pairs:
        return "", []
    page = sheet_html(pairs)
    if path.exists() and path.read_text(encoding="utf-8") != page:
        return "", [f"{path}: is there already, holds other pairs, and was left alone. Move it, and run this again"]
    replace_file(path, [page], "no pair")
    return path.name, [f"{path}: {len(pairs)} pairs of {len({pair.query_id for pair in pairs})} queries to label"]


def _outcome(study: Study) -> str:
    if study.diagnosis is None:
        return "no labels, so no lever; what to label next is named"
    return f"{study.diagnosis['lever']} ({study.system}): {study.diagnosis['why']}"


def _command(args: Any) -> str:  # noqa: ANN401
    words = ["ragkit", "diagnose", *([args.collection] if args.collection else [])]
    for name in ("queries", "qrels", "labels", "second", "system", "encoder", "vectors", "budget_ms",
                 "rerank_ms_per_pair", "json"):  # fmt: skip
        if (value := getattr(args, name)) is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    if args.runs:
        words += ["--runs", *args.runs]
    words += ["--chunking", args.chunking, "--k", str(args.k), "--candidate-k", str(args.candidate_k)]
    words += ["--consumer-k", str(args.consumer_k), "--out", args.out]
    for text in args.fail_under:
        words += ["--fail-under", text]
    return shlex.join(words)


def _today() -> str:
    """The date, or that of SOURCE_DATE_EPOCH, with which one input gives one report to the byte."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        at = datetime.fromtimestamp(int(given), UTC) if given else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"SOURCE_DATE_EPOCH is {given!r}; it is a number of seconds") from None
    return at.date().isoformat()
