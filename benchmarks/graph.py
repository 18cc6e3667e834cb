"""What a graph costs beside other graphs at equal recall: `python benchmarks/graph.py`. Top 10, one thread.

ragkit's HnswIndex, faiss's IndexHNSWFlat and usearch build over the same vectors with the same number of links and
the same breadth. Each is then searched as narrowly as reaches a mean share of the exact ten: that breadth is looked
for by doubling and halving, contestant by contestant, for the same ef means something else to each. All take turns,
and what counts is processor time, which other processes disturb less. hnswlib alone is the library inside ragkit's
index, without checks, ids and exact scores.

The vectors are those of the passages of numpy-docs, equal texts once, with the queries of that collection; and
random ones, of which RAGKIT_BENCHMARK_RANDOM says how many. `python benchmarks/graph.py random` measures these alone,
and the others stay as they were measured.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import faiss
import numpy as np
from common import RESULTS, ROUNDS, machine, publish, ratio, table, take_turns
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from usearch.index import Index

from ragkit import DenseIndex, HnswIndex, load_corpus

M, EF_CONSTRUCTION, K = 16, 200, 10
TARGETS = (0.95, 0.99)
RANDOM, DIM, ASKED = int(os.environ.get("RAGKIT_BENCHMARK_RANDOM", "20000")), 384, 100
RANDOM_BUILDS = 1  # a graph over random vectors takes long to build
FINE = 50  # the breadth is found to this part of itself
BASE = "faiss HNSW"
PEERS = ("hnswlib", "faiss-cpu", "usearch")

Queries = NDArray[np.float32]


@dataclass(frozen=True)
class Graph:
    """A graph that is searched: `widen` sets the breadth of its search, `search` gives the rows that it finds."""

    widen: Callable[[int], None]
    search: Callable[[NDArray[np.float32]], Any]
    rows: Callable[[Any], list[int]]


def make_faiss(dense: DenseIndex) -> Any:
    index = faiss.IndexHNSWFlat(dense.dim, M, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = EF_CONSTRUCTION
    index.add(dense.vectors)
    return index


def make_usearch(dense: DenseIndex) -> Any:
    index = Index(ndim=dense.dim, metric="ip", dtype="f32", connectivity=M, expansion_add=EF_CONSTRUCTION)
    index.add(np.arange(len(dense)), dense.vectors, threads=1)
    return index


MAKERS: Mapping[str, Callable[[DenseIndex], Any]] = {
    "ragkit": lambda dense: HnswIndex.build(dense, M, EF_CONSTRUCTION),
    BASE: make_faiss,
    "usearch": make_usearch,
}


def of_ragkit(index: HnswIndex) -> Graph:
    ef = [index.ef]
    number = {doc_id: row for row, doc_id in enumerate(index.dense.doc_ids)}
    return Graph(
        lambda breadth: ef.__setitem__(0, breadth),
        lambda query: index.search(query, K, ef[0]),
        lambda hits: [number[hit.doc_id] for hit in hits],
    )


def of_hnswlib(index: HnswIndex) -> Graph:
    raw = index._graph
    return Graph(
        raw.set_ef, lambda query: raw.knn_query(query, k=K, num_threads=1), lambda found: found[0][0].tolist()
    )


def of_faiss(index: Any) -> Graph:
    return Graph(
        lambda breadth: setattr(index.hnsw, "efSearch", breadth),
        lambda query: index.search(query[np.newaxis], K),
        lambda found: [row for row in found[1][0].tolist() if row >= 0],  # -1 stands where nothing was found
    )


def of_usearch(index: Any) -> Graph:
    return Graph(
        lambda breadth: setattr(index, "expansion_search", breadth),
        lambda query: index.search(query, K, threads=1),
        lambda found: found.keys.tolist(),
    )


# name: how it is searched, and whose graph it is
SEARCHERS: Mapping[str, tuple[Callable[[Any], Graph], str]] = {
    "ragkit": (of_ragkit, "ragkit"),
    "hnswlib alone": (of_hnswlib, "ragkit"),
    BASE: (of_faiss, BASE),
    "usearch": (of_usearch, "usearch"),
}


@dataclass(frozen=True)
class Judge:
    """What the exact scan finds: a row counts whose cosine reaches that of the tenth, whatever its number."""

    dense: DenseIndex
    queries: Queries
    reached: tuple[float, ...]

    @classmethod
    def of(cls, dense: DenseIndex, queries: Queries) -> "Judge":
        """Ask the exact scan."""
        exact = dense.run({str(number): query for number, query in enumerate(queries)}, K)
        return cls(dense, queries, tuple(exact[str(number)][-1].score for number in range(len(queries))))

    def share(self, graph: Graph, ef: int) -> float:
        """Mean share of the exact ten that is found with that breadth."""
        graph.widen(ef)
        found = []
        for query, least in zip(self.queries, self.reached, strict=True):
            vectors = self.dense.vectors[graph.rows(graph.search(query))].astype(np.float64)
            asked = query.astype(np.float64)
            cosines = vectors @ asked / np.linalg.norm(vectors, axis=1) / np.linalg.norm(asked)
            found.append(int((cosines >= least - 1e-12).sum()) / K)
        return float(np.mean(found))

    def narrowest(self, graph: Graph, target: float) -> tuple[int, float]:
        """The least breadth that reaches the target, and the share at that breadth."""
        shares: dict[int, float] = {}

        def enough(ef: int) -> bool:
            shares[ef] = self.share(graph, ef)
            return shares[ef] >= target

        low, high = K - 1, K
        while not enough(high):
            if high >= len(self.dense):
                raise SystemExit(f"a share of {target} is not reached with all {len(self.dense):,} in view")
            low, high = high, min(2 * high, len(self.dense))
        while high - low > max(1, high // FINE):
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high, shares[high]


def numpy_docs() -> tuple[DenseIndex, Queries]:
    corpus = load_corpus("numpy-docs")
    distinct: dict[str, str] = {}
    for doc_id, text in corpus.passages().items():
        distinct.setdefault(text, doc_id)
    dense = DenseIndex.build({doc_id: text for text, doc_id in distinct.items()}, corpus.vectors)
    return dense, corpus.vectors.encode(list(corpus.queries.values()), "query")


def random_vectors() -> tuple[DenseIndex, Queries]:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((RANDOM, DIM), dtype=np.float32)
    queries = rng.standard_normal((ASKED, DIM), dtype=np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    return DenseIndex.from_vectors(map(str, range(RANDOM)), vectors), queries


def milliseconds(search: Callable[[NDArray[np.float32]], Any], queries: Queries) -> float:
    """Median of a query."""
    taken = []
    for query in queries:
        start = process_time()
        search(query)
        taken.append(1e3 * (process_time() - start))
    return median(taken)


def searched(graphs: Mapping[str, Graph], dense: DenseIndex, queries: Queries) -> dict[str, list[float]]:
    """Milliseconds a query of each graph, at the breadth it was set to, and of the exact scan: a figure a round."""
    ways: dict[str, Callable[[NDArray[np.float32]], Any]] = {name: graph.search for name, graph in graphs.items()}
    ways["exact scan"] = lambda query: dense.search(query, K)
    found: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(ROUNDS + 1):
        for name, search in ways.items():
            taken = milliseconds(search, queries)
            if turn:  # the first warms up
                found[name].append(taken)
    return found


def compare(name: str, dense: DenseIndex, queries: Queries, builds: int) -> dict[str, Any]:
    built = take_turns({maker: partial(make, dense) for maker, make in MAKERS.items()}, builds)
    graphs = {one: search(built[maker]["result"]) for one, (search, maker) in SEARCHERS.items()}
    judge = Judge.of(dense, queries)
    found: dict[str, Any] = {
        "collection": name,
        "vectors": len(dense),
        "dim": dense.dim,
        "queries": len(queries),
        "builds": builds,
        "rounds": ROUNDS,
        "build": {maker: median(taken["cpu"]) for maker, taken in built.items()},
        "build ratio": {maker: ratio(taken["cpu"], built[BASE]["cpu"]) for maker, taken in built.items()},
        "at": {},
    }
    for target in TARGETS:
        narrowest = {maker: judge.narrowest(graphs[maker], target) for maker in MAKERS}
        narrowest = {one: narrowest[maker] for one, (_, maker) in SEARCHERS.items()}  # one graph, one breadth
        for one, (ef, _) in narrowest.items():
            graphs[one].widen(ef)
        taken = searched(graphs, dense, queries)
        found["at"][str(target)] = {
            "ef": {one: ef for one, (ef, _) in narrowest.items()},
            "share": {one: share for one, (_, share) in narrowest.items()} | {"exact scan": 1.0},
            "ms": {maker: median(own) for maker, own in taken.items()},
            "ratio": {maker: ratio(own, taken[BASE]) for maker, own in taken.items()},
        }
    return found | {"machine": machine(PEERS)}


def as_rows(found: Mapping[str, Any]) -> list[list[str]]:
    return [
        [
            f"{found['collection']}, {one}",
            f"{found['build'][one]:.2f}" if one in found["build"] else "",
            f"{found['build ratio'][one]:.2f}" if one in found["build"] else "",
            *(
                cell
                for at in found["at"].values()
                for cell in (
                    f"{at['ef'][one]:,}" if one in at["ef"] else "",
                    f"{at['ms'][one]:.3f}",
                    f"{at['ratio'][one]:.2f}",
                )
            ),
        ]
        for one in (*SEARCHERS, "exact scan")
    ]


def as_note(found: Mapping[str, Any]) -> str:
    """What was measured, and when: a collection may have been measured on another day than the last."""
    built = "once" if found["builds"] == 1 else f"{found['builds']} times"
    return (
        f"{found['collection']}: {found['vectors']:,} × {found['dim']}, {found['queries']} queries, built {built}, "
        f"searched in {found['rounds']} rounds, {found['machine']['date']}, load {found['machine']['load']}"
    )


def main() -> None:
    collections = {"numpy-docs": (numpy_docs, ROUNDS), "random": (random_vectors, RANDOM_BUILDS)}
    kept = RESULTS / "graph.json"
    found = json.loads(kept.read_text(encoding="utf-8"))["collections"] if kept.exists() else {}
    with threadpool_limits(1):
        faiss.omp_set_num_threads(1)
        for name in sys.argv[1:] or collections:
            load, builds = collections[name]
            found[name] = compare(name, *load(), builds)
    rows = [row for name in collections if name in found for row in as_rows(found[name])]
    head = ["top ten, one thread", "build, CPU s", "of faiss's"]
    for target in TARGETS:
        head += [f"ef for {target}", "CPU ms a query", "of faiss's"]
    notes = "; ".join(as_note(found[name]) for name in collections if name in found)
    text = table(head, rows) + (
        f"\n{M} links, breadth {EF_CONSTRUCTION} while building; *ef for {TARGETS[0]}*: the least breadth that finds "
        f"this share of the exact ten. Medians. {notes}.\n"
    )
    publish("graph", text, {"head": head, "rows": rows, "collections": found}, PEERS)


if __name__ == "__main__":
    main()
