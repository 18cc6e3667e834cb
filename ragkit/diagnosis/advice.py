"""What to do on Monday morning: a short list that follows from the figures of a study, each step with its figure."""

from collections.abc import Iterator, Mapping
from typing import Any

MOST = 7  # steps; whoever is given more does none
HALF = 0.05  # half an interval of recall beyond which the queries are too few to steer by

DO: Mapping[str, str] = {
    "leave it": "Leave the retrieval as it is, and hold it there: put --fail-under into the build",
    "rerank": "Try a reranker on the candidates that you have, and measure it on these queries",
    "adapt the encoder": "Try another encoder, or adapt this one; read the failing queries first",
    "fuse": "Fuse the two rankers by their places",
    "re-chunk": "Cut the documents in another way, and look at the passages that the triage names",
    "fix ingestion": "Find out why the documents that the triage names are not in the index",
    "deduplicate": "Leave out what repeats an earlier text, and search again",
    "label more": "Label the pool before anything is changed",
    "fewer candidates": "Rerank only as many candidates as fit the budget",
    "triage first": "Read the failing queries, one by one, with the evidence below",
}


def next_steps(study: Mapping[str, Any]) -> list[str]:
    """The steps, most urgent first, as sentences.

    >>> next_steps({"diagnosis": None, "pool": {"pairs": 40, "queries": 5, "of": 5}, "queries": None,
    ...     "collection": None, "compared": None, "labels": None, "triage": None, "systems": [], "system": "BM25"})
    ['Label the pool: 40 pairs of 5 queries. Without labels nothing says whether what is found is right.']
    """
    return [step.replace("-0.", "−0.") for step in dict.fromkeys(_steps(study))][:MOST]


def _steps(study: Mapping[str, Any]) -> Iterator[str]:
    yield from _broken(study)
    yield from _lever(study)
    yield from _texts(study)
    yield from _words(study)
    yield from _compared(study)
    yield from _enough(study)


def _broken(study: Mapping[str, Any]) -> Iterator[str]:
    """Ids that do not match: before these are mended, no other figure is worth a look."""
    labels = study["labels"]
    for one in study["systems"]:
        if one["given"] and one["unknown ids"]:
            many = f"{one['unknown ids']:,} ids that the collection does not have"
            yield f"{one['name']} ranks {many}: was it made on this one?"
    if labels and labels["absent ids"]:
        first = ", ".join(labels["absent"][:3])
        yield (
            f"Look for {_n(labels['absent ids'], 'judged document')} that the collection does not have ({first}"
            f"{', …' if labels['absent ids'] > 3 else ''}): dropped on the way in, or renamed since."
        )
    if labels and labels["missing"]:
        many = _n(len(labels["missing"]), "labelled query", "labelled queries")
        yield f"{many} got no ranking at all, and count as 0."


def _lever(study: Mapping[str, Any]) -> Iterator[str]:
    pooled, found = study["pool"], study["diagnosis"]
    if found is None and pooled:
        yield (
            f"Label the pool: {_n(pooled['pairs'], 'pair')} of {_n(pooled['queries'], 'query', 'queries')}"
            f"{_drawn(pooled)}. Without labels nothing says whether what is found is right."
        )
    if found is None:
        return
    lever = found["lever"]
    yield f"{DO[lever]}: {found['why']}."
    yield from _better(study)
    if pooled:
        many = _n(pooled["queries"], "query", "queries")
        yield f"The pool has {_n(pooled['pairs'], 'pair')} of {many}{_drawn(pooled)}."
    triaged = study["triage"]
    groups = [(bucket, own[0]) for bucket, own in (triaged or {}).get("groups", {}).items() if own]
    for bucket, group in groups[:2]:
        yield f"What the documents of “{bucket}” have in common: {group}."


def _better(study: Mapping[str, Any]) -> Iterator[str]:
    """Systems that find more than the one that is diagnosed, where the interval says so: they are there already."""
    system, k = study["system"], study["diagnosis"]["candidate_k"]
    for pair in study["compared"] or ():
        if pair["k"] != k or system not in (pair["a"], pair["b"]) or not pair["interval"]:
            continue
        sign = 1 if pair["b"] == system else -1
        other = pair["a"] if sign > 0 else pair["b"]
        low, high = sorted(sign * end for end in pair["interval"])
        if low > 0:
            won, lost = (pair["only a"], pair["only b"]) if sign > 0 else (pair["only b"], pair["only a"])
            yield (
                f"Diagnose {other} too (--system “{other}”): its recall@{k} is {sign * pair['difference']:+.3f} over "
                f"{system}, 95 % interval {low:+.3f} to {high:+.3f}, {won:,} queries won and {lost:,} lost."
            )


def _drawn(pooled: Mapping[str, Any]) -> str:
    return f", drawn from {pooled['of']:,}" if pooled["queries"] < pooled["of"] else ""


def _texts(study: Mapping[str, Any]) -> Iterator[str]:
    made = study["collection"]
    if not made:
        return
    extra = made["same extra"] + made["near extra"]
    if extra >= max(1, 0.01 * made["units"]):
        yield (
            f"{extra:,} of {made['units']:,} {made['ranked']} repeat another, {made['same extra']:,} of them word "
            "for word: index each text once."
        )
    cut = made["window"]
    if cut["cut"] >= max(1, 0.01 * cut["of"]):
        yield (
            f"{cut['cut']:,} of {cut['of']:,} {made['ranked']} are longer than the encoder's window of "
            f"{cut['window']} word pieces: the encoder does not read what stands behind it. "
            f"{'Cut passages, with --chunking window.' if made['ranked'] == 'documents' else 'Cut smaller ones.'}"
        )


def _words(study: Mapping[str, Any]) -> Iterator[str]:
    asked = study["queries"]
    if asked and asked["no terms"]:
        yield (
            f"{_n(asked['no terms'], 'query', 'queries')} share no word with any document "
            f"({', '.join(one[0] for one in asked['no term'][:3])}): read them; BM25 cannot answer them."
        )


def _compared(study: Mapping[str, Any]) -> Iterator[str]:
    for pair in study["compared"] or ():
        interval, k = pair["interval"], study["settings"]["k"]
        if not interval or pair["k"] != k or not pair["difference"] or not interval[0] <= 0 <= interval[1]:
            continue
        if study["system"] in (pair["a"], pair["b"]):
            yield (
                f"Do not choose between {pair['a']} and {pair['b']} by recall@{k}: {pair['difference']:+.3f}, 95 % "
                f"interval {interval[0]:+.3f} to {interval[1]:+.3f}. To tell such a difference takes about "
                f"{pair['queries needed']:,} queries; there are {pair['queries']:,}."
            )


def _enough(study: Mapping[str, Any]) -> Iterator[str]:
    found = study["diagnosis"]
    interval = found["recall_candidate"]["interval"] if found else None
    if interval and interval[1] - interval[0] > 2 * HALF:
        yield (
            f"Label more queries: {found['queries']:,} leave recall@{found['candidate_k']} anywhere from "
            f"{interval[0]:.2f} to {interval[1]:.2f}."
        )


def _n(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
