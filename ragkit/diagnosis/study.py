"""The whole diagnosis of a collection, or of runs alone: everything the report shows, as plain figures.

`examine` computes, and gives a `Study`, in which all is what JSON knows. What could not be assessed is named with
what it needs, and is never left out in silence.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from math import isnan
from statistics import fmean, median
from typing import Any

from ragkit.corpora.chunks import WINDOW, pieces_at_most
from ragkit.dense.cache import CachedEncoder
from ragkit.dense.scan import DenseIndex
from ragkit.diagnosis.advice import next_steps
from ragkit.diagnosis.buckets import Triage, misses, triage
from ragkit.diagnosis.levers import Diagnosis, diagnose
from ragkit.diagnosis.material import Material, family
from ragkit.diagnosis.sheet import Pair, sheet_pairs
from ragkit.diagnosis.twins import find_twins
from ragkit.lexical.analysis import ENGLISH_STOP, Analyzer
from ragkit.lexical.index import BM25Index
from ragkit.measure.fused import rrf
from ragkit.measure.labels import Qrels as FromLabels
from ragkit.measure.metrics import checked_k
from ragkit.measure.paired import compare_all, queries_needed
from ragkit.measure.pooling import pool
from ragkit.measure.runs import Mean, Runs, judgments
from ragkit.measure.summary import AT_K, WHOLE
from ragkit.ranking import Run

BM25, DENSE, FUSED = "BM25", "dense", "BM25 + dense"
DEEP = 1_000  # places that a triage looks through for an answer
POOLED = 50  # queries on the sheet, where nothing was labelled yet
NAMED = 12  # ids that a list shows
Plain = dict[str, Any]
Listed = dict[str, dict[str, tuple[str, ...]]]  # system -> query -> ids, best first


@dataclass(frozen=True)
class Settings:
    """What the reader chose. `system` is the run that is diagnosed; `made_on` is a date, for the report's foot.

    ValueError for ks below 1, and candidates fewer than the consumer or the figures read.
    """

    k: int = 10
    candidate_k: int = 50
    consumer_k: int = 5
    budget_ms: float | None = None
    rerank_ms_per_pair: float | None = None
    system: str | None = None
    pool_queries: int = POOLED
    made_on: str = ""

    def __post_init__(self) -> None:
        for name in ("k", "candidate_k", "consumer_k", "pool_queries"):
            try:
                checked_k(getattr(self, name))
            except ValueError as error:
                raise ValueError(f"--{name.replace('_', '-')}: {error}") from None
        if self.candidate_k < max(self.consumer_k, self.k):
            raise ValueError(
                f"--candidate-k is {self.candidate_k}: fewer than what is read, {max(self.consumer_k, self.k)}. "
                "What is shown is retrieved before"
            )


@dataclass(frozen=True)
class Study:
    """What was found, in what JSON knows; None where there is nothing to say, and `not_assessed` says why."""

    name: str
    settings: Plain
    system: str
    unit: str
    collection: Plain | None
    queries: Plain | None
    systems: list[Plain]
    overlap: list[Plain]
    labels: Plain | None
    metrics: list[Plain] | None
    compared: list[Plain] | None
    plane: list[Plain] | None
    diagnosis: Plain | None
    triage: Plain | None
    not_assessed: dict[str, str]
    pool: Plain | None = None
    steps: list[str] = field(default_factory=list)

    def to_dict(self) -> Plain:
        """All of it, for JSON."""
        return asdict(self)

    def value(self, metric: str, k: int) -> float:
        """A metric of the diagnosed system. LookupError where it was not computed."""
        for row in self.metrics or ():
            if (row["system"], row["metric"], row["k"]) == (self.system, metric, k):
                return float(row["value"])
        raise LookupError(f"{metric}@{k} was not computed")


def examine(
    material: Material,
    settings: Settings | None = None,
    *,
    vectors: CachedEncoder | None = None,
    no_dense: str = "no vectors are given",
    extra: Sequence[tuple[str, int]] = (),
) -> tuple[Study, list[Pair]]:
    """Diagnose: the study, and the pairs to label next, empty where none are needed or the texts are not known.

    `vectors` know the texts and the queries; without them dense retrieval is not assessed, for the reason in
    `no_dense`. `extra` are metrics, (name, k), to compute beside the usual ones. ValueError for a `system` that is
    no run, and as for the measures.
    """
    settings = settings or Settings()
    dense = None
    if vectors is not None and material.texts:
        dense = DenseIndex.build(material.texts, vectors)
    lexical = BM25Index.build(material.texts).accelerated() if material.texts else None
    depth = max(settings.candidate_k, 2 * settings.k, *(k for _, k in extra), 1)
    runs = _runs(material, lexical, dense, depth)
    listed = _listed(runs, material, depth)
    system = _system(runs, settings.system)
    not_assessed = _gaps(material, no_dense if dense is None and not material.runs else "")
    found: Plain = {}
    qrels, triaged = material.qrels, None
    if qrels is not None:
        if material.texts:
            triaged = _triaged(material, listed, system, lexical, dense, settings.candidate_k)
        main = _diagnosed(material, listed[system], settings, triaged)
        not_assessed |= {what: needs for what, needs in main.not_assessed.items() if what not in not_assessed}
        found = {
            "labels": _labels(material, listed[system]),
            "metrics": _metrics(listed, qrels, settings, extra),
            "compared": [
                row for k in dict.fromkeys((settings.k, settings.candidate_k)) for row in _compared(listed, qrels, k)
            ],
            "plane": _plane(material, listed, settings),
            "diagnosis": main.to_dict(),
            "triage": None if triaged is None else _findings(triaged),
        }
    study = Study(
        name=material.name,
        settings=asdict(settings),
        system=system,
        unit=material.unit,
        collection=_collection(material, vectors, dense),
        queries=_queries(material, lexical, vectors),
        systems=[_named(name, run, material) for name, run in runs.items()],
        overlap=_overlap(runs, settings),
        not_assessed=not_assessed,
        labels=found.get("labels"),
        metrics=found.get("metrics"),
        compared=found.get("compared"),
        plane=found.get("plane"),
        diagnosis=found.get("diagnosis"),
        triage=found.get("triage"),
    )
    pairs = _to_label(material, runs, settings, study)
    if pairs:
        n_queries = len({pair.query_id for pair in pairs})
        study = _with(study, pool={"pairs": len(pairs), "queries": n_queries, "of": len(material.queries)})
    return _with(study, steps=next_steps(study.to_dict())), pairs


def _with(study: Study, **changed: Any) -> Study:  # noqa: ANN401 - any field
    return Study(**{**{name: getattr(study, name) for name in study.__dataclass_fields__}, **changed})


# the runs


def _runs(material: Material, lexical: BM25Index | None, dense: DenseIndex | None, depth: int) -> dict[str, Run]:
    """Every system, in the unit of the judgments; BM25 of our own beside runs that have no lexical one."""
    if material.origin is not None and material.unit == "documents":
        depth *= 4  # several passages fold into one document
    runs = dict(material.runs)
    if lexical is not None and not any(family(name) == "lexical" for name in runs):
        runs[BM25] = lexical.run(material.queries, depth)
    if dense is not None and not material.runs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # queries beyond the window: the study counts them
            runs[DENSE] = dense.run(material.queries, depth)
    folded = {}
    for name, run in runs.items():
        try:
            folded[name] = material.in_unit(run)
        except ValueError as error:
            raise ValueError(f"the run {name}: {error}") from None
    if set(folded) == {BM25, DENSE}:
        folded[FUSED] = rrf([folded[BM25], folded[DENSE]])
    return folded


def _listed(runs: Mapping[str, Run], material: Material, depth: int) -> Listed:
    """Ids alone, best first, which the measures read several times faster; ours no deeper than they were asked for.

    Where passages were folded, some lists would be longer than others. Runs that were given stay as they are.
    """
    return {
        name: {qid: run.ids(qid) if name in material.runs else run.ids(qid)[:depth] for qid in run}
        for name, run in runs.items()
    }


def _system(runs: Mapping[str, Run], wanted: str | None) -> str:
    """The diagnosed one: as wanted; else dense, which is what a triage asks about; else the first."""
    if wanted is None:
        return DENSE if DENSE in runs else next(iter(runs))
    if wanted not in runs:
        raise ValueError(f"--system {wanted}: there is no such run. There is {', '.join(runs)}")
    return wanted


def _gaps(material: Material, no_dense: str) -> dict[str, str]:
    gaps = {}
    if no_dense:
        gaps["dense retrieval, fusion and overlap"] = no_dense
    if not material.texts:
        gaps["texts: chunking, window, twins, queries, triage"] = "the documents: name their folder"
    if material.qrels is None:
        gaps["recall, precision, lever and triage"] = "labels or qrels"
    return gaps


def _named(name: str, run: Run, material: Material) -> Plain:
    there = {**dict.fromkeys(material.corpus.docs if material.corpus else ()), **dict.fromkeys(material.texts)}
    ids = {hit.doc_id for hits in run.values() for hit in hits}
    return {
        "name": name,
        "family": "fused" if name == FUSED else "dense" if name == DENSE else family(name),
        "given": name in material.runs,
        "queries": len(run),
        "longest": max(map(len, run.values()), default=0),
        "empty": sum(not hits for hits in run.values()),
        "unknown ids": len([one for one in ids if one not in there]) if there else None,
        "record": {key: value for key, value in run.record.items() if isinstance(value, str | int | float)},
    }


def _overlap(runs: Mapping[str, Run], settings: Settings) -> list[Plain]:
    """How much of the top k two systems share, over the queries that both answer."""
    rows = []
    for (a, one), (b, other) in combinations(runs.items(), 2):
        for k in sorted({settings.consumer_k, settings.k, settings.candidate_k}):
            both = [qid for qid in one if qid in other and one[qid] and other[qid]]
            shares = [len({*one.ids(qid)[:k]} & {*other.ids(qid)[:k]}) / k for qid in both]
            if shares:
                apart = sum(not share for share in shares)
                rows.append({"a": a, "b": b, "k": k, "queries": len(both), "shared": fmean(shares), "apart": apart})
    return rows


# without labels


def _collection(material: Material, vectors: CachedEncoder | None, dense: DenseIndex | None) -> Plain | None:
    corpus = material.corpus
    if corpus is None:
        return None
    texts = material.texts
    twins = find_twins(texts)
    per_doc = dict.fromkeys(corpus.docs, 0)
    for name in texts:
        per_doc[material.origin[name][0] if material.origin else name] += 1
    words = [len(text.split()) for text in texts.values()]
    repeated = corpus.aliases
    return {
        "documents": len(corpus.docs),
        "distinct documents": len(corpus.docs) - len(repeated),
        "document twins": [list(pair) for pair in list(repeated.items())[:NAMED]],
        "blank documents": [name for name, text in corpus.docs.items() if not text.strip()][:NAMED],
        "units": len(texts),
        "ranked": "passages" if material.origin else "documents",
        "per document": _spread(list(per_doc.values())),
        "words": _spread(words),
        "histogram": _histogram(words),
        "same": len(twins.same),
        "same extra": sum(len(group) - 1 for group in twins.same),
        "near": len(twins.near),
        "near extra": sum(len(group) - 1 for group in twins.near),
        "examples": [list(group[:4]) for group in (*twins.same[:3], *twins.near[:3])],
        "record": {key: value for key, value in material.record.items() if not isinstance(value, list)},
        "window": _cut(material, vectors, dense),
    }


def _cut(material: Material, vectors: CachedEncoder | None, dense: DenseIndex | None) -> Plain:
    """What an encoder's window cuts: of what is ranked, and of whole documents, had they been ranked."""
    assert material.corpus is not None
    window = (vectors.window if vectors is not None else None) or WINDOW
    counted = dense is not None and dense.truncated is not None
    found = dense.truncated if dense is not None and dense.truncated is not None else {
        name: n for name, text in material.texts.items() if (n := pieces_at_most(text)) > window
    }  # fmt: skip
    whole = [pieces_at_most(text) for text in material.corpus.docs.values()]
    longest = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:NAMED]
    return {
        "window": window,
        "counted by": "the model" if counted else "an estimate that is rather too high",
        "cut": len(found),
        "of": len(material.texts),
        "unread": sum(n - window for n in found.values()),
        "longest": [list(one) for one in longest],
        "documents beyond": sum(n > window for n in whole),
        "documents": len(whole),
        "documents unread": sum(max(0, n - window) for n in whole) / max(1, sum(whole)),
    }


def _queries(material: Material, lexical: BM25Index | None, vectors: CachedEncoder | None) -> Plain | None:
    if lexical is None:
        return None
    stop = Analyzer(stop=ENGLISH_STOP, name="standard, without stop words")
    empty, only_stop, unknown = [], [], {}
    for qid, text in material.queries.items():
        if reason := lexical.search(text, 1).reason:
            empty.append([qid, text, reason])
        elif not any(lexical.df(term) for term in (*stop(text).words, *stop(text).parts) if _known(lexical, term)):
            only_stop.append([qid, text, "it shares nothing but stop words with the documents"])
        lost = [term for term in stop(text).words if not _known(lexical, term)]
        if lost:
            unknown[qid] = lost
    long = []
    if vectors is not None and vectors.window:
        asked = [qid for qid, text in material.queries.items() if text.strip()]
        counts = vectors.count([material.queries[qid] for qid in asked], "query")
        long = [[qid, n] for qid, n in zip(asked, counts, strict=True) if n > (vectors.window or n)]
    return {
        "queries": len(material.queries),
        "words": _spread([len(text.split()) for text in material.queries.values()]),
        "no term": empty[:NAMED],
        "no terms": len(empty),
        "only stop words": only_stop[:NAMED],
        "only stop": len(only_stop),
        "with unknown words": len(unknown),
        "unknown": [[qid, *words[:4]] for qid, words in list(unknown.items())[:NAMED]],
        "beyond the window": long[:NAMED],
        "beyond": len(long),
    }


def _known(lexical: BM25Index, term: str) -> bool:
    return term in lexical.postings.vocabulary


def _to_label(material: Material, runs: Mapping[str, Run], settings: Settings, study: Study) -> list[Pair]:
    """The pool to label next: where nothing is labelled, or so little that the lever is to label more.

    Of many queries `pool_queries` are drawn, in a fixed order that looks random; what is judged is left out.
    """
    if not material.texts or (study.diagnosis is not None and study.diagnosis["lever"] != "label more"):
        return []
    judged = judgments(material.qrels) if material.qrels is not None else {}
    origin = None if material.unit == "documents" else material.origin
    texts = material.texts if origin is not None else (material.corpus.docs if material.corpus else {})
    pooled = pool([dict(run) for name, run in runs.items() if name != FUSED], k=settings.k)
    left = {
        qid: [one for one in ids if one not in judged.get(qid, {}) and texts.get(one, "").strip()]
        for qid, ids in pooled.items()
        if qid in material.queries
    }
    wanted = [qid for qid in left if left[qid]]
    drawn = set(_drawn(wanted, settings.pool_queries))
    titles = material.corpus.titles if material.corpus else {}
    return sheet_pairs(
        {qid: left[qid] for qid in wanted if qid in drawn}, material.queries, texts, origin, titles=titles
    )


def _drawn(qids: Sequence[str], n: int) -> list[str]:
    from random import Random

    return list(qids) if len(qids) <= n else Random(f"{len(qids)} queries").sample(sorted(qids), n)


# with labels


def _labels(material: Material, run: Runs) -> Plain:
    """What the figures stand on, and what they leave out."""
    assert material.qrels is not None
    judged = judgments(material.qrels)
    scored = [qid for qid, own in judged.items() if any(grade >= 1 for grade in own.values())]
    mean = AT_K["recall"](run, material.qrels, 1)
    found: Plain = {
        "queries with labels": len(judged),
        "queries scored": len(scored),
        "pairs": sum(map(len, judged.values())),
        "relevant": sum(grade >= 1 for own in judged.values() for grade in own.values()),
        "relevant a query": fmean(sum(grade >= 1 for grade in judged[qid].values()) for qid in scored),
        "irrelevant are judged": any(grade < 1 for own in judged.values() for grade in own.values()),
        "left out": list(mean.left_out),
        "missing": list(mean.missing),
        "unlabelled": sum(qid not in judged for qid in material.queries)
        if material.queries
        else len(mean.unlabelled),
        "absent ids": len(material.absent),
        "absent": list(material.absent[:NAMED]),
        "queries without a text": [qid for qid in judged if qid not in material.queries] if material.queries else [],
    }
    if isinstance(material.qrels, FromLabels):
        found |= {"cut": len(material.qrels.cut), "lost": len(material.qrels.lost)}
    return found


def _diagnosed(
    material: Material, run: Runs, settings: Settings, triaged: Triage | None, read_texts: bool = True
) -> Diagnosis:
    assert material.qrels is not None
    texts: Mapping[str, str] | None = None
    aliases = None
    if material.corpus is not None and read_texts:
        documents = material.unit == "documents"
        texts = material.corpus.docs if documents else material.texts
        aliases = material.corpus.aliases if documents else None
    return diagnose(
        run,
        material.qrels,
        candidate_k=settings.candidate_k,
        consumer_k=settings.consumer_k,
        texts=texts,
        aliases=aliases,
        budget_ms=settings.budget_ms,
        rerank_ms_per_pair=settings.rerank_ms_per_pair,
        triaged=triaged,
    )


def _metrics(
    runs: Listed,
    qrels: Any,  # noqa: ANN401
    settings: Settings,
    extra: Sequence[tuple[str, int]],
) -> list[Plain]:
    wanted = [
        ("recall", settings.candidate_k),
        ("recall", settings.k),
        ("recall", settings.consumer_k),
        ("coverage", settings.k),
        ("precision", settings.consumer_k),
        ("ndcg", settings.k),
        ("mrr", None),
    ]
    graded = all(isinstance(own, Mapping) for own in qrels.values())
    if graded and any(grade < 1 for own in qrels.values() for grade in own.values()):
        wanted.append(("judged", settings.consumer_k))
    rows = []
    for metric, k in dict.fromkeys([*wanted, *extra]):
        for name, run in runs.items():
            mean = WHOLE[metric](run, qrels) if k is None else AT_K[metric](run, qrels, k)
            rows.append({"system": name, "metric": metric, "k": k, **_mean(mean)})
    return rows


def _compared(runs: Listed, qrels: Any, k: int) -> list[Plain]:  # noqa: ANN401
    if len(runs) < 2:
        return []
    several = compare_all(runs, qrels, k)
    rows = []
    for (a, b), one in several.items():
        discordant = (len(one.only_a) + len(one.only_b)) / one.n
        apart = abs(float(one.difference))
        rows.append(
            {
                "a": a,
                "b": b,
                "k": k,
                "queries": one.n,
                "both": len(one.both),
                "only a": len(one.only_a),
                "only b": len(one.only_b),
                "neither": len(one.neither),
                "union": float(one.union),
                "difference": float(one.difference),
                "interval": _ends(one.difference),
                "p": _or_none(lambda one=one: one.p_value),
                "p after Holm": _or_none(lambda pair=(a, b): several.adjusted[pair]),
                "queries needed": queries_needed(apart, discordant=discordant) if apart else None,
            }
        )
    return rows


def _plane(material: Material, runs: Listed, settings: Settings) -> list[Plain]:
    rows = []
    for name, run in runs.items():
        one = _diagnosed(material, run, settings, None, read_texts=False)
        attainable = float(one.attainable_precision)
        rows.append(
            {
                "system": name,
                "recall": float(one.recall_candidate),
                "interval": _ends(one.recall_candidate),
                "precision": float(one.precision),
                "attainable": attainable,
                "share": float(one.precision) / attainable if attainable else 0.0,
                "enough": [one.thresholds.recall_enough, one.thresholds.precision_enough],
            }
        )
    return rows


def _triaged(
    material: Material,
    runs: Listed,
    system: str,
    lexical: BM25Index | None,
    dense: DenseIndex | None,
    candidate_k: int,
) -> Triage | None:
    """Sort the misses of the system; None where it has none.

    Ranks are looked up `DEEP` places deep in indexes of our own, and as deep as they are in runs that were given.
    """
    corpus, run = material.corpus, runs[system]
    assert corpus is not None
    assert material.qrels is not None
    spans = bool(material.labels) and material.unit == "passages"
    answers: Any = list(material.labels) if spans else material.qrels
    failing = misses(run, answers, candidate_k, origin=material.origin if spans else None)
    failing = tuple(qid for qid in failing if qid in material.queries)
    if not failing:
        return None
    asked = {qid: material.queries[qid] for qid in failing}
    roles: dict[str, Runs] = {}
    for role, name, index in (("lexical", BM25, lexical), ("dense", DENSE, dense)):
        if name in runs and index is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                roles[role] = _first_places(index.run(asked, DEEP), material)
        elif given := next((one for one in (system, *runs) if one in material.runs and family(one) == role), None):
            roles[role] = runs[given]
    documents = material.unit == "documents"
    return triage(
        failing,
        answers,
        corpus.docs if documents else material.texts,
        material.queries,
        dense=roles.get("dense"),
        lexical=roles.get("lexical"),
        docs=corpus.docs,
        second=material.second,
        origin=None if documents else material.origin,
        aliases=corpus.aliases if documents else None,
        about=_about(material),
        candidate_k=candidate_k,
    )


def _first_places(run: Run, material: Material) -> dict[str, list[str]]:
    """Ids in the unit of the judgments, best first: of a document the place of its first passage."""
    origin = None if material.unit == "passages" else material.origin
    return {
        qid: list(dict.fromkeys(hit.doc_id if origin is None else origin[hit.doc_id][0] for hit in hits))
        for qid, hits in run.items()
    }


def _about(material: Material) -> dict[str, dict[str, Any]]:
    """What is known of each document: what the collection says, its length, and the folder that it lies in."""
    assert material.corpus is not None
    known: dict[str, dict[str, Any]] = {}
    for name, text in material.corpus.docs.items():
        known[name] = {**material.corpus.about.get(name, {}), "words": len(text.split())}
        if "/" in name:
            known[name]["folder"] = name.partition("/")[0]
    for name in material.absent:
        if "/" in name and name not in known:
            known[name] = {"folder": name.partition("/")[0]}
    return known


def _findings(found: Triage) -> Plain:
    plain = found.to_dict()
    for qid, one in found.findings.items():
        plain["findings"][qid]["why"] = one.why
    plain["groups"] = {bucket: [str(group) for group in groups] for bucket, groups in found.groups.items()}
    return plain


# small things


def _mean(mean: Mean) -> Plain:
    return {"value": float(mean), "n": mean.n, "interval": _ends(mean)}


def _ends(mean: Mean) -> list[float] | None:
    """The interval; None where there is none, or where scipy, which computes it, is not installed."""
    try:
        low, high = mean.interval
    except ImportError:
        return None
    return None if isnan(low) else [low, high]


def _or_none(value: Any) -> float | None:  # noqa: ANN401 - a function
    try:
        return float(value())
    except ImportError:
        return None


def _spread(values: Sequence[int]) -> Plain:
    if not values:
        return {"least": 0, "median": 0, "most": 0, "mean": 0.0}
    return {"least": min(values), "median": median(values), "most": max(values), "mean": fmean(values)}


def _histogram(values: Sequence[int], bars: int = 20) -> Plain:
    """Counts in steps of a round width; whatever is beyond the last bar is in it."""
    top = sorted(values)[int(0.98 * (len(values) - 1))] if values else 1
    step = next((width for width in (5, 10, 20, 25, 50, 100, 200, 500) if width * bars >= top), 1_000)
    counts = [0] * min(bars, top // step + 1)
    for value in values:
        counts[min(value // step, len(counts) - 1)] += 1
    return {"step": step, "counts": counts}
