"""scifact, for validation: `python benchmarks/scifact.py` recomputes published figures of BM25 on it.

The collection lies in the folder that the environment variable RAGKIT_COLLECTIONS names. Each run adds a row for the
release of PyStemmer that is installed, beside snowballstemmer's; rows of other releases stay as they were measured.
"""

import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from math import log2
from pathlib import Path
from typing import Any

from common import RESULTS, installed, publish, table

from ragkit import Analyzer, BM25Index, Run
from ragkit.lexical.analysis import ENGLISH_STOP

COLLECTION = os.environ.get("RAGKIT_COLLECTIONS")
Qrels = Mapping[str, Mapping[str, int]]

PUBLISHED = {(0.9, 0.4): 67.6, (1.2, 0.75): 68.0, (1.5, 0.75): 68.7}  # nDCG@10 in per cent, of bm25s's own table
PUBLISHED_RECALL = 97.0  # R@1000, at (1.5, 0.75)


def _read(name: str) -> list[dict[str, Any]]:
    path = Path(COLLECTION or "") / "scifact" / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def load_docs() -> dict[str, str]:
    return {doc["_id"]: f"{doc['title']} {doc['text']}" for doc in _read("corpus.jsonl")}


def load_queries() -> tuple[dict[str, str], Qrels]:
    lines = (Path(COLLECTION or "") / "scifact/qrels/test.tsv").read_text(encoding="utf-8").splitlines()[1:]
    qrels: dict[str, dict[str, int]] = {}
    for qid, doc_id, grade in (line.split("\t") for line in lines):
        qrels.setdefault(qid, {})[doc_id] = int(grade)
    return {query["_id"]: query["text"] for query in _read("queries.jsonl") if query["_id"] in qrels}, qrels


def ndcg(ids: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    gain = sum(grades.get(doc_id, 0) / log2(place + 1) for place, doc_id in enumerate(ids[:k], 1))
    best = sum(g / log2(place + 1) for place, g in enumerate(sorted(grades.values(), reverse=True)[:k], 1))
    return gain / best


def figures(run: Run, qrels: Qrels) -> dict[str, float]:
    """Averages over the judged queries: a query without hits counts 0."""
    totals: dict[str, float] = {}
    for qid, grades in qrels.items():
        ids, relevant = run.ids(qid), {doc_id for doc_id, grade in grades.items() if grade > 0}
        held = [doc_id in relevant for doc_id in ids]
        one = {"nDCG@10": ndcg(ids, grades, 10), "P@5": sum(held[:5]) / 5}
        one["MAP"] = sum(sum(held[:place]) / place for place, hit in enumerate(held, 1) if hit) / len(relevant)
        one |= {f"any-hit@{k}": float(any(held[:k])) for k in (1, 5, 10, 50)}
        one |= {f"R@{k}": sum(held[:k]) / len(relevant) for k in (50, 1000)}
        totals = {name: totals.get(name, 0.0) + value for name, value in one.items()}
    return {name: value / len(qrels) for name, value in totals.items()}


def lowered(texts: Mapping[str, str]) -> dict[str, str]:
    """Texts in lower case, as the published figures read them: an analyzer of ragkit does not stem mRNAs or IL2RA."""
    return {name: text.lower() for name, text in texts.items()}


def porter(word: str) -> str:
    from snowballstemmer.porter_stemmer import PorterStemmer

    return str(PorterStemmer().stemWord(word))


def plain() -> Analyzer:
    return Analyzer(pattern="[A-Za-z0-9]+", parts=False, name="plain")


def stop_porter() -> Analyzer:
    return Analyzer(pattern="[A-Za-z0-9]+", parts=False, stop=ENGLISH_STOP, stemmer=porter, name="stop_porter")


def of_bm25s(stemmer: Any) -> Analyzer:
    """The tokens of bm25s's table: words of two characters or more, without 33 stop words, stemmed."""
    return Analyzer(pattern=r"(?u)\b\w\w+\b", parts=False, stop=ENGLISH_STOP, stemmer=stemmer, name="bm25s")


def stemmers() -> dict[str, Any]:
    """The English Snowball stemmers that are installed, by library and release."""
    # by its own name: snowballstemmer.stemmer("english") would give PyStemmer's where that is installed
    from snowballstemmer.english_stemmer import EnglishStemmer

    found = {f"snowballstemmer {version('snowballstemmer')}": EnglishStemmer().stemWord}
    if installed("PyStemmer"):
        import Stemmer

        found[f"PyStemmer {version('PyStemmer')}"] = Stemmer.Stemmer("english").stemWord
    return found


def main() -> None:
    if not COLLECTION:
        raise SystemExit("RAGKIT_COLLECTIONS names no folder")
    queries, qrels = load_queries()
    docs, queries = lowered(load_docs()), lowered(queries)
    kept = RESULTS / "scifact.json"
    rows = json.loads(kept.read_text(encoding="utf-8"))["rows"] if kept.exists() else {}
    for release, stem in stemmers().items():
        index = BM25Index.build(docs, of_bm25s(stem))
        rows[release] = {"tokens": int(index.postings.doc_lengths.sum())}
        for k1, b in PUBLISHED:
            found = figures(index.with_params(k1, b).run(queries, 1000), qrels)
            rows[release][f"{k1:g}, {b:g}"] = [found["nDCG@10"], found["R@1000"]]
    text = table(
        ["stemmer", "tokens", *(f"nDCG@10 at k1 = {k1:g}, b = {b:g}" for k1, b in PUBLISHED), "R@1000 at the last"],
        [
            ["published", "", *(f"{value:.1f}" for value in PUBLISHED.values()), f"{PUBLISHED_RECALL:.1f}"],
            *(
                [
                    release,
                    f"{row['tokens']:,}",
                    *(f"{100 * row[f'{k1:g}, {b:g}'][0]:.2f}" for k1, b in PUBLISHED),
                    f"{100 * row[f'{k1:g}, {b:g}'][1]:.2f}",
                ]
                for release, row in sorted(rows.items())
            ),
        ],
    )
    publish("scifact", text, {"rows": rows})


if __name__ == "__main__":
    main()
