"""Seconds to build an index: `python benchmarks/build.py`. Raw text in, then the same tokens in; all take turns."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from statistics import median
from typing import Any

from common import N_DOCS, ROUNDS, installed, large_docs, publish, ratio, table, take_turns, tokens
from scifact import COLLECTION, load_docs

from ragkit import BM25Index

HEAD = ["build", "tokens", "rounds", "seconds", "CPU seconds", "of bm25s's", "of its CPU"]


def ragkit_index(docs: Mapping[str, Any]) -> int:
    return int(BM25Index.build(docs).postings.doc_lengths.sum())


def bm25s_text(docs: Mapping[str, str]) -> int:
    import bm25s

    read = bm25s.tokenize(list(docs.values()), stopwords=None, show_progress=False)
    bm25s.BM25(method="lucene", k1=1.2, b=0.75).index(read, show_progress=False)
    return sum(map(len, read.ids))


def bm25s_tokens(docs: Mapping[str, list[str]]) -> int:
    import bm25s

    bm25s.BM25(method="lucene", k1=1.2, b=0.75).index(list(docs.values()), show_progress=False)
    return sum(map(len, docs.values()))


def tantivy_text(docs: Mapping[str, str]) -> str:
    import tantivy

    schema = tantivy.SchemaBuilder().add_text_field("id", stored=True, tokenizer_name="raw")
    index = tantivy.Index(schema.add_text_field("text", stored=False).build())
    writer = index.writer(heap_size=500_000_000, num_threads=2)
    for doc_id, text in docs.items():
        writer.add_document(tantivy.Document(id=doc_id, text=text))
    writer.commit()
    writer.wait_merging_threads()
    return "not told"


def rank_bm25_tokens(docs: Mapping[str, list[str]]) -> int:
    from rank_bm25 import BM25Okapi

    BM25Okapi(list(docs.values()))
    return sum(map(len, docs.values()))


def tuples_of(docs: Iterable[list[str]]) -> dict[str, list[tuple[int, int]]]:
    """The inverted index of a first lesson."""
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, words in enumerate(docs):
        for word, count in Counter(words).items():
            postings[word].append((number, count))
    return postings


def tuples(docs: Mapping[str, list[str]]) -> int:
    tuples_of(docs.values())
    return sum(map(len, docs.values()))


def measure(what: str, contestants: Mapping[str, Callable[[], Any]], base: str, rounds: int) -> list[list[Any]]:
    found = take_turns(contestants, rounds)
    return [
        [
            f"{name}, {what}",
            one["result"] if isinstance(one["result"], str) else f"{one['result']:,}",
            rounds,
            f"{median(one['wall']):.2f}",
            f"{median(one['cpu']):.2f}",
            f"{ratio(one['wall'], found[base]['wall']):.2f}",
            f"{ratio(one['cpu'], found[base]['cpu']):.2f}",
        ]
        for name, one in found.items()
    ]


def main() -> None:
    rows: list[list[Any]] = []
    collections = {f"{N_DOCS:,} synthetic texts": large_docs()}
    if COLLECTION:
        collections["scifact"] = load_docs()
    for what, docs in collections.items():
        text: dict[str, Callable[[], Any]] = {
            "ragkit": partial(ragkit_index, docs),
            "bm25s": partial(bm25s_text, docs),
        }
        if installed("tantivy"):
            text["tantivy, 2 threads"] = partial(tantivy_text, docs)
        rows += measure(what, text, "bm25s", ROUNDS)
        publish("build", table(HEAD, rows), {"head": HEAD, "rows": rows})  # already: the rest takes its time
        lists = {doc_id: tokens(text) for doc_id, text in docs.items()}
        same = {"ragkit": partial(ragkit_index, lists), "bm25s": partial(bm25s_tokens, lists)}
        rows += measure("the same tokens", same, "bm25s", ROUNDS)
        slow = {"bm25s": same["bm25s"], "lists of tuples": partial(tuples, lists)}
        if installed("rank_bm25"):
            slow["rank_bm25"] = partial(rank_bm25_tokens, lists)
        rows += measure("the same tokens", slow, "bm25s", 1)[1:]
        publish("build", table(HEAD, rows), {"head": HEAD, "rows": rows})


if __name__ == "__main__":
    main()
