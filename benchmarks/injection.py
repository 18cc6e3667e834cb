"""What the triage finds of faults that were put there on purpose: `python benchmarks/injection.py`.

`ragkit.diagnosis.injection` was written first. The triage's patterns were then set on the seeds 0 to 4 (`python
benchmarks/injection.py tune`, which keeps nothing); the table comes from the seeds 100 to 104,
which had not been looked at before. numpy-docs is measured with its labels of the first reading; scifact where the
environment variable RAGKIT_COLLECTIONS names the folder it lies in. Its qrels have no spans: there the sentence of a
relevant abstract that shares most with the claim stands for the answer. Vectors of scifact are kept in the file that
RAGKIT_VECTORS names, where it names one: encoding takes some minutes.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

from common import publish, table

from ragkit import BM25Index, DenseIndex, Label, load_collection, load_corpus, load_encoder
from ragkit.corpora.chunks import boundaries, whole
from ragkit.dense.cache import CachedEncoder
from ragkit.diagnosis.buckets import (
    CHUNK_SUSPECT,
    CODE_LIKE,
    DENSE_BLIND,
    JUDGMENT_ERROR,
    LEXICAL_FINDS_IT,
    NOT_INDEXED,
    misses,
    triage,
)
from ragkit.diagnosis.injection import Injected, World, inject

TUNED, REPORTED = range(5), range(100, 105)
PER_CAUSE = {"numpy-docs": 8, "scifact": 20}
CANDIDATE_K = 50
BUCKETS = (NOT_INDEXED, CHUNK_SUSPECT, JUDGMENT_ERROR, LEXICAL_FINDS_IT, CODE_LIKE, DENSE_BLIND)
TRUE = {
    "drop": (NOT_INDEXED,),
    "cut": (CHUNK_SUSPECT,),
    "flip": (JUDGMENT_ERROR,),
    "code": (LEXICAL_FINDS_IT, CODE_LIKE),  # which of the two, BM25 decides
}
READINGS = ("spans", "ids alone")


def numpy_docs() -> tuple[World, CachedEncoder]:
    """Passages of numpy's docstrings; a twin without labels is left out, as a collection would be deduplicated."""
    corpus = load_corpus("numpy-docs")
    labelled = {label.doc_id for label in corpus.labels}
    twins = {one for one in corpus.aliases if one not in labelled}
    passages = corpus.passages()
    origin = {name: at for name, at in passages.origin.items() if at.doc_id not in twins}
    return World(corpus.docs, origin, corpus.queries, corpus.labels), corpus.vectors


def scifact(folder: Path) -> tuple[World, CachedEncoder]:
    """Abstracts as they are, one passage each: most are longer than MiniLM's window, which reads their beginning."""
    corpus = load_collection(folder / "scifact")
    labels = [
        Label(
            qid, doc_id, 0, len(corpus.docs[doc_id]), "relevant", _nearest(corpus.queries[qid], corpus.docs[doc_id])
        )
        for qid, own in corpus.judgments.items()
        for doc_id, grade in own.items()
        if grade > 0 and doc_id in corpus.docs
    ]
    origin = {name.removesuffix("#1"): at for name, at in corpus.passages(whole()).origin.items()}
    return World(corpus.docs, origin, corpus.queries, labels), _vectors(corpus.docs, corpus.queries)


def _nearest(query: str, text: str) -> tuple[int, int]:
    """The sentence that shares most words with the query, the title aside where there is more than one."""
    words = set(re.findall(r"\w+", query.lower()))
    places = boundaries(text)
    spans = [(at, at + len(text[at:end].rstrip())) for at, end in pairwise(places)]
    return max(spans, key=lambda span: len(words & set(re.findall(r"\w+", text[slice(*span)].lower()))))


def _vectors(docs: Mapping[str, str], queries: Mapping[str, str]) -> CachedEncoder:
    kept = os.environ.get("RAGKIT_VECTORS")
    if kept and Path(kept).exists():
        return CachedEncoder.load(kept, load_encoder)
    encoder = load_encoder()
    made = CachedEncoder.empty(dict(encoder.record), encoder.dim, lambda: encoder)
    made = made.with_texts(list(docs.values())).with_texts(list(queries.values()), "query")
    if kept:
        made.save(kept)
    return made


def broken(world: World, per_cause: int, seed: int, decoys: Mapping[str, Sequence[str]]) -> Injected:
    return inject(world, seed, n=per_cause, two=0.2, wrong=0.1, decoys=decoys)


def one_seed(made: Injected, encoder: CachedEncoder) -> tuple[dict[str, list[tuple[str, str, Any]]], CachedEncoder]:
    """For both readings: (query id, cause or "natural", bucket) of each failing query."""
    world, texts = made.world, made.world.texts
    encoder = encoder.with_texts(list(texts.values())).with_texts(list(world.queries.values()), "query")
    dense, lexical = DenseIndex.build(texts, encoder), BM25Index.build(texts)
    run = dense.run({label.query_id: world.queries[label.query_id] for label in world.labels}, CANDIDATE_K)
    rankers = {"dense": dense, "lexical": lexical, "candidate_k": CANDIDATE_K}
    by_span = misses(run, world.labels, CANDIDATE_K, origin=world.origin)
    by_id = misses(run, made.gold, CANDIDATE_K)
    sorted_out = {
        "spans": triage(
            by_span,
            world.labels,
            texts,
            world.queries,
            second=world.second,
            docs=world.docs,
            origin=world.origin,
            **rankers,
        ),
        "ids alone": triage(by_id, made.gold, texts, world.queries, second=made.second_ids, **rankers),
    }
    return {
        name: [(qid, made.causes.get(qid, ("natural",)), one.bucket, one.why) for qid, one in found.findings.items()]
        for name, found in sorted_out.items()
    }, encoder


def wilson(n: int, of: int, z: float = 1.959964) -> tuple[float, float]:
    if not of:
        return float("nan"), float("nan")
    share, more = n / of, z * z / of
    middle, half = share + more / 2, z * sqrt(share * (1 - share) / of + more / of / 4)
    return max(0.0, (middle - half) / (1 + more)), min(1.0, (middle + half) / (1 + more))


def shown(n: int, of: int) -> str:
    low, high = wilson(n, of)
    return f"{n} of {of} = {n / of:.2f} ({low:.2f} to {high:.2f})" if of else "none"


def _decoys(qid: str, ranked: Sequence[str], world: World) -> list[str]:
    """What shares words with the query, is ranked low, and stands in a document without a label of it."""
    labelled = {label.doc_id for label in world.labels if label.query_id == qid}
    return [name for name in ranked if world.origin[name].doc_id not in labelled]


def measures(rows: Sequence[tuple[Any, ...]]) -> dict[str, dict[str, tuple[int, int]]]:
    """Precision and recall of each cause: (right, of). Downstream of the labels, natural failures are not counted."""
    found = {}
    for cause, buckets in TRUE.items():
        there = [causes for _, causes, bucket, _ in rows if bucket in buckets]
        if cause == "code":
            there = [causes for causes in there if causes[0] != "natural"]
        with_it = [bucket for _, causes, bucket, _ in rows if causes[0] == cause]
        found[cause] = {
            "precision": (sum(causes[0] == cause for causes in there), len(there)),
            "any": (sum(cause in causes for causes in there), len(there)),
            "recall": (sum(bucket in buckets for bucket in with_it), len(with_it)),
        }
    return found


def measured(name: str, world: World, encoder: CachedEncoder, seeds: Sequence[int]) -> dict[str, Any]:
    texts = world.texts
    relevant = {label.query_id for label in world.labels if label.label == "relevant"}
    queries = {qid: world.queries[qid] for qid in sorted(relevant)}
    run = BM25Index.build(texts).run(queries, 200)
    decoys = {qid: _decoys(qid, run.ids(qid)[CANDIDATE_K:], world) for qid in queries}
    decoys = {qid: own for qid, own in decoys.items() if own}  # for the others any passage is one
    rows: dict[str, list[Any]] = {reading: [] for reading in READINGS}
    masked: Counter[str] = Counter()
    drawn: Counter[str] = Counter()
    for seed in seeds:
        made = broken(world, PER_CAUSE[name], seed, decoys)
        found, encoder = one_seed(made, encoder)
        for reading in READINGS:
            rows[reading] += [(f"{seed} {qid}", *rest) for qid, *rest in found[reading]]
        failing = {qid for qid, *_ in found["spans"]}
        drawn.update(causes[0] for causes in made.given.values())
        masked.update(causes[0] for qid, causes in made.given.items() if qid not in failing)
    return {
        "queries": len(queries),
        "passages": len(texts),
        "seeds": list(seeds),
        "drawn": dict(drawn),
        "drawn and not failing": dict(masked),
        "rows": rows,
    }


def as_text(name: str, found: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"\n### {name}: {found['queries']} queries with an answer, {found['passages']:,} passages, "
        f"seeds {found['seeds'][0]} to {found['seeds'][-1]}\n\n"
    )
    hidden = found["drawn and not failing"]
    drawn = ", ".join(f"{cause} {n} ({hidden.get(cause, 0)})" for cause, n in found["drawn"].items())
    yield f"Drawn, by first cause, and in brackets those that do not fail for all that: {drawn}.\n\n"
    for reading in READINGS:
        rows = found["rows"][reading]
        scores = measures(rows)
        yield f"Labels read as {reading}: {len(rows)} failing queries.\n\n"
        yield table(
            ["cause", "precision", "recall", "one of its causes"],
            [
                [
                    f"{cause}: {' or '.join(TRUE[cause])}",
                    shown(*own["precision"]),
                    shown(*own["recall"]),
                    shown(*own["any"]),
                ]
                for cause, own in scores.items()
            ],
        )
        cells = Counter((causes[0], bucket) for _, causes, bucket, _ in rows)
        yield "\n"
        yield table(
            ["first cause", *BUCKETS],
            [[cause, *(cells[cause, bucket] for bucket in BUCKETS)] for cause in (*TRUE, "natural")],
        )
        yield "\n"


NOTE = (
    "Faults put into collections, each into as many queries, a fifth of these with a second one; the second reader "
    "is wrong on one stretch in ten. A failing query counts for its most upstream cause. Precision: of those in the "
    "bucket, how many belong there; a natural failure, whose cause nobody knows, counts as wrong in the first "
    "three rows, and is left out of the last. Recall: of those with the cause that fail, how many are in it. In the "
    "last column a query in the bucket counts where the cause is one of its two. Intervals are Wilson's, 95 %; the "
    "same queries come again with every seed, so they are somewhat too narrow.\n\n"
    "The triage was tuned on the seeds 0 to 4; these were not looked at while it was. The seeds choose the faults, "
    "and not the collection: passages and natural queries are the same in both. With spans, an absence and a cut "
    "are read off the labels and not inferred, so 1.00 in these two rows says that the bookkeeping holds, and no "
    "more; where only ids were noted, a cut must be seen from the text. No fault takes away the language around an "
    "answer that stays whole: that part of the chunk test is not measured here, but for its false alarms.\n"
)


def main() -> None:
    tuning = sys.argv[1:] == ["tune"]
    seeds = TUNED if tuning else REPORTED
    found = {"numpy-docs": measured("numpy-docs", *numpy_docs(), seeds)}
    if folder := os.environ.get("RAGKIT_COLLECTIONS"):
        found["scifact"] = measured("scifact", *scifact(Path(folder)), seeds)
    text = NOTE + "".join(part for name, own in found.items() for part in as_text(name, own))
    if tuning:
        sys.stdout.write(text)
        for name, own in found.items():
            for reading in READINGS:
                wrong = [row for row in own["rows"][reading] if row[2] not in TRUE.get(row[1][0], BUCKETS[3:])]
                for row in wrong:
                    sys.stdout.write(f"{name} {reading} {row}\n")
        return
    publish("injection", text, {"tuned on": list(TUNED), "collections": found})


if __name__ == "__main__":
    main()
