"""A graph in place of the scan: HNSW, which looks at a part of the vectors and may miss some of the nearest.

The graph is hnswlib's ("Efficient and robust approximate nearest neighbor search using hierarchical navigable small
world graphs", Malkov and Yashunin, 2016). It only proposes documents: their scores are the exact cosines of
`DenseIndex`, and the one tie rule orders them, so a hit that both find has one score. `Graph` is a copy of hnswlib's
graph that Python can walk; it visits what hnswlib visits, and counts the distances, which hnswlib does not tell.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import file_digest
from heapq import heappop, heappush, heapreplace
from json import JSONDecodeError, dumps, loads
from math import fsum, nan, sqrt
from operator import index as whole
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.dense.encoder import TextEncoder
from ragkit.dense.scan import DenseIndex, Query, _blocks, _check_k
from ragkit.progress import progress
from ragkit.ranking import Hit, Hits, Run, top_k

FORMAT, VERSION = "ragkit hnsw", 1
RESAMPLES, SEED = 10_000, 1979  # of the bootstrap; fixed, so that a page prints the same interval each time
Z = 1.959963984540054  # of a 95 % interval


@dataclass(frozen=True, eq=False, repr=False)
class HnswIndex:
    """An approximate search over the vectors of a `DenseIndex`.

    `m` is the number of links that a document gets, `ef_construction` the breadth of the search that places it, `ef`
    the breadth of a search where none is given: so many documents are kept in view, and the hits are the best of
    them. Built by one thread from a fixed seed: the same vectors in the same order give the same graph, on one
    machine; on another the last bits of a distance, and with them a link, may differ.

    >>> dense = DenseIndex.from_vectors(["d1", "d2", "d3"], [[3, 4], [4, 3], [-1, 0]])
    >>> hnsw = HnswIndex.build(dense)
    >>> hnsw, [f"{hit.doc_id} {hit.score:.4f}" for hit in hnsw.search([0, 2], k=2)]
    (HnswIndex(3 documents, 2 dimensions, m=16, ef_construction=200, ef=50), ['d1 0.8000', 'd2 0.6000'])
    """

    dense: DenseIndex
    m: int
    ef_construction: int
    ef: int
    seed: int
    duplicates: int  # rows whose vector is that of an earlier row
    _graph: Any

    def __len__(self) -> int:
        return len(self.dense)

    def __repr__(self) -> str:
        more = f", {self.duplicates} duplicates" if self.duplicates else ""
        size = f"{len(self)} documents, {self.dense.dim} dimensions"
        return f"HnswIndex({size}, m={self.m}, ef_construction={self.ef_construction}, ef={self.ef}{more})"

    @classmethod
    def build(
        cls, dense: DenseIndex, m: int = 16, ef_construction: int = 200, *, ef: int = 50, seed: int = 100
    ) -> "HnswIndex":
        """Insert the documents one by one, in the order of the index.

        `duplicates` counts the rows that are equal to an earlier one. Many copies of one vector link to each other
        alone, and a search that meets them stays there: deduplicate before you build. ImportError without hnswlib;
        ValueError for m < 2, and for ef_construction or ef < 1.
        """
        m, ef_construction, ef, seed = whole(m), whole(ef_construction), whole(ef), whole(seed)
        if m < 2 or ef_construction < 1 or ef < 1 or seed < 0:
            raise ValueError(
                f"m is {m}, ef_construction {ef_construction}, ef {ef}, seed {seed}; "
                "give 2 links or more, a breadth of 1 or more, and no negative seed"
            )
        graph = _empty(dense.dim)
        graph.init_index(max_elements=max(1, len(dense)), M=m, ef_construction=ef_construction, random_seed=seed)
        graph.set_num_threads(1)
        if len(dense):
            graph.add_items(dense.vectors, np.arange(len(dense)), num_threads=1)
        return cls(dense, m, ef_construction, ef, seed, _duplicates(dense.vectors), graph)

    def search(self, query: Query, k: int = 10, ef: int | None = None) -> Hits:
        """The k best of the documents that the graph leads to, best first; ValueError for k or ef < 1.

        A query is a text or a vector, as for `DenseIndex.search`, and is checked in the same way before hnswlib sees
        it. An `ef` below k is raised to k. Where there are fewer hits than k, because the graph leads to no more or
        because there are no more, the list's `reason` says so.
        """
        breadth = self._breadth(k, ef)
        vector = self.dense._vector(query, "the query")
        self.dense._tell_of_cut({"the query": query})
        if vector is None:
            return Hits((), "the query is blank")
        return self._nearest(vector, k, breadth)

    def run(self, queries: Mapping[str, Query], k: int = 100, ef: int | None = None) -> Run:
        """Search every query, {query id: text or vector}; the record says how the graph was built and searched."""
        if not isinstance(queries, Mapping):
            raise TypeError(f"queries is {type(queries).__name__}; give {{query id: text or vector}}")
        breadth = self._breadth(k, ef)
        rankings: dict[str, Sequence[Hit]] = {}
        for qid, query in progress(queries.items(), "search", len(queries)):
            vector = self.dense._vector(query, f"query {qid!r}")
            rankings[qid] = () if vector is None else self._nearest(vector, k, breadth)
        self.dense._tell_of_cut({f"query {qid!r}": query for qid, query in queries.items()})
        made = {"m": self.m, "ef_construction": self.ef_construction, "ef": breadth, "seed": self.seed}
        return Run(rankings, {**self.dense.record, "ranker": "dense", "search": "hnsw", **made, "k": k})

    @cached_property
    def graph(self) -> "Graph":
        """The graph itself, as Python can walk it."""
        return Graph.read(self._graph)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write hnswlib's own file to `path`, and the ids and everything else to `path`.json beside it.

        Each is replaced when it is written in full; the JSON holds the checksum of the other.
        """
        target = Path(path)
        temporary = _beside(target)
        try:
            self._graph.save_index(str(temporary))
            head = {
                "format": FORMAT,
                "version": VERSION,
                "sha256": _sha256(temporary),
                "dim": self.dense.dim,
                "m": self.m,
                "ef_construction": self.ef_construction,
                "ef": self.ef,
                "seed": self.seed,
                "doc_ids": self.dense.doc_ids,
                "blank": self.dense.blank,
                "truncated": self.dense._truncated,
                "record": dict(self.dense.record),
            }
            text = dumps(head)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        temporary = _beside(_json_of(target))
        temporary.write_text(text, encoding="ascii")
        temporary.replace(_json_of(target))

    @classmethod
    def load(cls, path: str | os.PathLike[str], encoder: TextEncoder | None = None) -> "HnswIndex":
        """Read what `save` wrote; `encoder` is for queries that are texts.

        The vectors are in hnswlib's file, so nothing is encoded again. ValueError for a file that is another,
        incomplete or altered, and for an encoder of another dimension or other weights.
        """
        target = Path(path)
        if not target.exists() or not _json_of(target).exists():
            raise FileNotFoundError(f"{target} and {_json_of(target).name} make an index; one is missing")
        try:
            head = loads(_json_of(target).read_bytes())
        except (JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{_json_of(target)} is incomplete or is no JSON: {error}") from error
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise ValueError(f"{_json_of(target)} does not describe an HNSW index of ragkit")
        if head.get("version") != VERSION:
            raise ValueError(f"{target} is in version {head.get('version')} of the format, not {VERSION}")
        if _sha256(target) != head["sha256"]:
            raise ValueError(f"{target} is incomplete or was altered: its checksum is not that in the JSON beside it")
        n, dim = len(head["doc_ids"]), head["dim"]
        if encoder is not None and encoder.dim != dim:
            raise ValueError(f"the encoder gives {encoder.dim} dimensions, and the vectors in {target} have {dim}")
        graph = _empty(dim)
        graph.load_index(str(target), max_elements=max(1, n))
        graph.set_num_threads(1)
        vectors = np.zeros((0, dim), dtype=np.float32)
        if n:
            vectors = np.asarray(graph.get_items(np.arange(n)), dtype=np.float32)
        vectors.setflags(write=False)
        dense = DenseIndex.from_vectors(
            head["doc_ids"], vectors, encoder, head["record"], truncated=head["truncated"], blank=head["blank"]
        )
        dense = replace(dense, vectors=vectors)  # to the bit: normalised twice, the last one could change
        m, ef_construction, ef, seed = (int(head[name]) for name in ("m", "ef_construction", "ef", "seed"))
        return cls(dense, m, ef_construction, ef, seed, _duplicates(vectors), graph)

    def _breadth(self, k: int, ef: int | None) -> int:
        _check_k(k)
        breadth = self.ef if ef is None else whole(ef)
        if breadth < 1:
            raise ValueError(f"ef is {breadth}; keep 1 document or more in view")
        return max(breadth, k)

    def _nearest(self, query: NDArray[np.float64], k: int, ef: int) -> Hits:
        n = len(self)
        if not n:
            return Hits((), "every document is blank")
        proposed, distances = self._proposed(query, min(ef, n))
        margin = (
            2 * self.dense._error
        )  # hnswlib computes in float32: the k-th may be overrated, and another underrated
        numbers = proposed[distances <= distances[min(k, len(distances)) - 1] + margin]
        scores = self.dense._cosines(numbers, query)
        best = top_k(scores, self.dense._ties[numbers], k)
        reason = ""
        if len(best) < k:
            reason = f"k is {k}, and there are {n} documents"
            if len(proposed) < n:
                reason += f", of which the graph led to {len(proposed)}: an exact scan reaches all"
        pairs = zip(numbers[best].tolist(), scores[best].tolist(), strict=True)
        return Hits((Hit(self.dense.doc_ids[number], score) for number, score in pairs), reason)

    def _proposed(self, query: NDArray[np.float64], ef: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """All rows in view when the search ends, nearest first, and their distances: `ef`, or fewer where it is less.

        hnswlib fills a rectangle or raises ("Cannot return the results in a contiguous 2D array"). How many the
        graph leads to is then found by halving.
        """
        self._graph.set_ef(ef)
        row = query.astype(np.float32)[np.newaxis]
        numbers, distances = np.empty((1, 0)), np.empty((1, 0))
        low, high, wanted = 0, ef + 1, ef
        while high - low > 1:
            try:
                numbers, distances = self._graph.knn_query(row, k=wanted, num_threads=1)
                low = wanted
            except RuntimeError:
                high = wanted
            wanted = (low + high) // 2
        return numbers[0].astype(np.int64), distances[0].astype(np.float64)


@dataclass(frozen=True)
class Walk:
    """One search through a graph: what it ended with, and what that cost."""

    labels: tuple[int, ...]  # in view at the end, nearest first
    distances: int  # computed, each between the query and one vector
    expanded: tuple[int, ...]  # labels whose links were followed on the lowest level, in that order


@dataclass(frozen=True, eq=False)
class Graph:
    """A copy of hnswlib's graph. Nodes have numbers of their own; `labels` says under which each was inserted.

    `links` holds the lowest level, where every node is; `upper` the levels above it, the highest first, each
    {node: its links}. A search enters at `entry`.

    >>> import hnswlib
    >>> raw = hnswlib.Index(space="l2", dim=1)
    >>> raw.init_index(max_elements=4, M=2, ef_construction=10, random_seed=1)
    >>> raw.add_items([[0], [1], [2], [5]], num_threads=1)
    >>> Graph.read(raw).walk([4], ef=2).labels
    (3, 2)
    """

    space: str
    vectors: NDArray[np.float32]
    labels: tuple[int, ...]
    links: tuple[NDArray[np.int64], ...]
    upper: tuple[Mapping[int, NDArray[np.int64]], ...]
    entry: int

    @classmethod
    def read(cls, index: Any) -> "Graph":  # noqa: ANN401 - hnswlib carries no types
        """Take the graph out of an `hnswlib.Index`, through what it gives to be pickled."""
        state = index.__getstate__()[0]
        n = state["cur_element_count"]
        if not n:
            raise ValueError("the graph is empty")
        nodes = state["data_level0"].view(np.uint8).reshape(-1, state["size_data_per_element"])[:n]
        lowest = _columns(nodes, state["offset_level0"], 4 * (1 + state["max_M0"]), "<u4")
        vectors = _columns(nodes, state["offset_data"], 4 * state["dim"], "<f4")
        labels = _columns(nodes, state["label_offset"], 8, "<u8")[:, 0]
        levels = state["element_levels"][:n]
        rows = state["link_lists"].view(np.uint8).reshape(-1, state["size_links_per_element"])
        above = _columns(rows, 0, 4 * (1 + state["max_M"]), "<u4")
        first = np.cumsum(levels) - levels  # a node's rows stand one behind the other, from its level 1 up
        upper = [
            {node: _linked(above[first[node] + level - 1]) for node in np.flatnonzero(levels >= level).tolist()}
            for level in range(state["max_level"], 0, -1)
        ]
        links = tuple(_linked(row) for row in lowest)
        return cls(state["space"], vectors, tuple(labels.tolist()), links, tuple(upper), state["enterpoint_node"])

    def walk(self, query: Any, ef: int) -> Walk:  # noqa: ANN401 - as numpy takes it
        """Search as hnswlib does, and count: down to the lowest level, and there with `ef` nodes in view.

        Python computes all distances at once, which is the faster way for it, and counts those that hnswlib would
        compute. ValueError for a query of another shape, and for ef < 1.
        """
        vector = np.asarray(query, dtype=np.float32)
        if vector.shape != (self.vectors.shape[1],):
            raise ValueError(f"the query has shape {vector.shape}; the vectors have ({self.vectors.shape[1]},)")
        if ef < 1:
            raise ValueError(f"ef is {ef}; keep 1 node or more in view")
        if self.space == "cosine":  # hnswlib normalises the query as it did the vectors
            vector = vector / np.float32(np.sqrt(vector @ vector) + np.float32(1e-30))
        distance = self._distances(vector)
        node, computed = self._descend(distance)
        computed += 1
        view, open_ = (
            [(-distance[node], node)],
            [(distance[node], node)],
        )  # the furthest in view first; the nearest open
        seen = bytearray(len(distance))
        seen[node] = True
        expanded = []
        while open_:
            near, node = heappop(open_)
            if near > -view[0][0]:
                break  # the nearest that is open is further away than all in view
            expanded.append(self.labels[node])
            for other in self.links[node].tolist():
                if seen[other]:
                    continue
                seen[other] = True
                computed += 1
                far = distance[other]
                if len(view) < ef:
                    heappush(view, (-far, other))
                elif far < -view[0][0]:
                    heapreplace(view, (-far, other))
                else:
                    continue
                heappush(open_, (far, other))
        in_view = sorted((-far, node) for far, node in view)
        return Walk(tuple(self.labels[node] for _, node in in_view), computed, tuple(expanded))

    def _descend(self, distance: list[float]) -> tuple[int, int]:
        """Go to the nearest neighbour until none is nearer, level by level: node, distances computed."""
        node, computed = self.entry, 1
        for level in self.upper:
            nearer = True
            while nearer:
                linked = level[node].tolist()
                computed += len(linked)
                best = min(linked, key=distance.__getitem__, default=node)
                nearer = distance[best] < distance[node]
                if nearer:
                    node = best
        return node, computed

    def _distances(self, query: NDArray[np.float32]) -> list[float]:
        if self.space == "l2":
            to_all = ((self.vectors - query) ** 2).sum(axis=1)
        else:  # not @: a product by several threads, over and over, waits for them more than it computes
            to_all = 1 - np.vecdot(self.vectors, query)
        found: list[float] = to_all.tolist()
        return found


@dataclass(frozen=True, repr=False)
class AnnRecall:
    """What a graph found of the exact top k, query by query, and what it computed for it.

    `shares` is {query id: share of the exact top k that was found}. A hit counts where its similarity reaches that
    of the k-th exact one, whatever its id: between equal similarities an id says nothing. `distances` is the mean
    number of vectors that a query was compared with, `scanned` how many the exact scan compares. `left_out` are the
    queries without a vector, because they are blank.
    """

    k: int
    ef: int
    shares: Mapping[str, float]
    distances: float
    scanned: int
    left_out: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many queries were asked."""
        return len(self.shares)

    @property
    def mean_share(self) -> float:
        """The mean share of the exact top k that was found."""
        return fsum(self.shares.values()) / self.n

    @property
    def all_found(self) -> float:
        """The share of the queries for which nothing of the exact top k is missing."""
        return sum(share == 1 for share in self.shares.values()) / self.n

    @cached_property
    def mean_share_interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean share over queries like these: the percentile bootstrap, 10,000 resamples.

        Wilson's where each share is 0 or 1, since equal shares leave nothing to resample. One query whose share is
        neither gives (nan, nan).
        """
        values = np.array(list(self.shares.values()))
        if set(self.shares.values()) <= {0.0, 1.0}:
            return _wilson(round(values.sum()), self.n)
        if self.n == 1:
            return nan, nan
        random = np.random.default_rng(SEED)
        step = max(1, 1_000_000 // self.n)  # resamples that are held in memory at a time
        means = [
            values[random.integers(0, self.n, (min(step, RESAMPLES - done), self.n))].mean(axis=1)
            for done in range(0, RESAMPLES, step)
        ]
        low, high = np.quantile(np.concatenate(means), (0.025, 0.975))
        return float(low), float(high)

    @property
    def all_found_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share of queries with all of it."""
        return _wilson(sum(share == 1 for share in self.shares.values()), self.n)

    def __repr__(self) -> str:
        low, high = self.mean_share_interval
        return (
            f"AnnRecall(ef={self.ef}: {self.mean_share:.3f} of the top {self.k} ({low:.3f} to {high:.3f}), "
            f"all of it for {self.all_found:.0%} of {self.n} queries, {self.distances:,.0f} distances a query)"
        )


def ann_recall(
    hnsw: HnswIndex, dense: DenseIndex, queries: Mapping[str, Query], k: int = 10, ef: int | None = None
) -> AnnRecall:
    """Compare what a graph finds with what the exact scan finds, before anyone blames the model.

    Blank queries are left out. The distances are counted on a walk in Python through the same graph. ValueError
    where `dense` holds other documents or other vectors than the graph, or none, and where no query is left.

    >>> angles = np.linspace(0, 3, 60)
    >>> dense = DenseIndex.from_vectors(range(60), np.column_stack([np.cos(angles), np.sin(angles)]))
    >>> found = ann_recall(HnswIndex.build(dense), dense, {"q1": [1, 0.2], "q2": [-1, 1]}, k=5)
    >>> found.mean_share, found.all_found, found.n
    (1.0, 1.0, 2)
    """
    if not isinstance(queries, Mapping):
        raise TypeError(f"queries is {type(queries).__name__}; give {{query id: text or vector}}")
    breadth = hnsw._breadth(k, ef)
    if dense is not hnsw.dense:
        if dense.doc_ids != hnsw.dense.doc_ids:
            raise ValueError("the exact index holds other documents than the graph, or in another order")
        if not np.array_equal(dense.vectors, hnsw.dense.vectors):
            raise ValueError("the exact index holds other vectors than the graph")
    if not len(dense):
        raise ValueError("there is no document to find: all are blank")
    vectors = {qid: dense._vector(query, f"query {qid!r}") for qid, query in queries.items()}
    asked = {qid: vector for qid, vector in vectors.items() if vector is not None}
    shares, distances = {}, []
    for rows in _blocks(len(asked), 4 * len(dense)):
        qids = list(asked)[rows]
        found = dense._nearest(np.array([asked[qid] for qid in qids]), k)
        for qid, exact in zip(qids, found, strict=True):
            reached = sum(hit.score >= exact[-1].score for hit in hnsw._nearest(asked[qid], k, breadth))
            shares[qid] = reached / len(exact)
            distances.append(hnsw.graph.walk(asked[qid], min(breadth, len(dense))).distances)
    if not shares:
        raise ValueError("no query is left to ask: give one that is not blank")
    return AnnRecall(
        k,
        breadth,
        shares,
        sum(distances) / len(distances),
        len(dense),
        tuple(qid for qid in vectors if qid not in asked),
    )


def _empty(dim: int) -> Any:  # noqa: ANN401 - hnswlib carries no types
    try:
        # Compiled where it is installed, and by default for the processor of that machine alone: a wheel or an
        # image that is built here may crash elsewhere. HNSWLIB_NO_NATIVE=1 at installation makes it portable.
        import hnswlib
    except ImportError as error:
        raise ImportError(
            "the graph needs hnswlib. It is compiled when it is installed, which needs a C++ compiler: "
            "pip install hnswlib. Without a compiler: conda install -c conda-forge hnswlib"
        ) from error
    # The vectors have length 1, or 0: 1 minus their product is 1 minus the cosine, and a zero vector is at 1.
    return hnswlib.Index(space="ip", dim=dim)


def _duplicates(vectors: NDArray[np.float32]) -> int:
    return len(vectors) - len({(row + 0.0).tobytes() for row in vectors})  # -0.0 + 0.0 is 0.0


def _columns(rows: NDArray[np.uint8], first: int, size: int, dtype: str) -> NDArray[Any]:
    """Some bytes of each row, as numbers."""
    return np.ascontiguousarray(rows[:, first : first + size]).view(dtype)


def _linked(row: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The links in a row: how many there are, in two bytes, a mark of deletion, and then their numbers."""
    return row[1 : 1 + (int(row[0]) & 0xFFFF)].astype(np.int64)


def _wilson(hits: int, n: int) -> tuple[float, float]:
    """Wilson's interval of a share ("Probable inference", 1927): it stays inside 0 to 1, and never collapses."""
    share, spread = hits / n, Z * Z / n
    middle = (share + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * sqrt(share * (1 - share) / n + spread / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def _json_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _beside(path: Path) -> Path:
    """An empty file in the same folder, under a name that nobody has."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        return Path(file.name)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
