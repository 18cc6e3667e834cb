"""The exact scan: a query is compared with every vector, and nothing is missed.

Scores are cosines, the dot product of two vectors over the product of their lengths. A product in float32 over all
documents picks the few that can be among the k best; their cosines are then computed in float64, each from its own
row alone. So equal vectors have equal scores, wherever they stand and however many queries are asked at a time:
the float32 product promises neither, for its library adds up in an order that depends on the place and the shape.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from types import MappingProxyType
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ragkit.dense.encoder import Kind, TextEncoder
from ragkit.progress import progress
from ragkit.ranking import Hit, Hits, Run, reached_by, tie_order, top_k

Query = str | ArrayLike  # a text goes through the encoder; a vector is taken as it is

BLOCK_BYTES = 1 << 24  # of each temporary array: 16 MiB, or one row where a row is longer
ROUNDING = 2.0**-24  # the largest relative error of one rounding to float32


@dataclass(frozen=True, eq=False, repr=False)
class DenseIndex:
    """Vectors of documents, and an exact search over them by cosine.

    `vectors` is float32, shape (number of documents, dim), read-only; rows are normalised to length 1, but for zero
    vectors, whose similarity with everything is 0. `doc_ids` names the rows. Every document is a hit for every
    query; those with a blank text have no vector: `blank` names them, and they are never hits.

    >>> index = DenseIndex.from_vectors(["d1", "d2", "d3"], [[3, 4], [4, 3], [-1, 0]])
    >>> [f"{hit.doc_id} {hit.score:.4f}" for hit in index.search([0, 2], k=2)]
    ['d1 0.8000', 'd2 0.6000']
    >>> index.rank_of([0, 2], "d3")
    3
    """

    doc_ids: tuple[str, ...]
    vectors: NDArray[np.float32]
    encoder: TextEncoder | None
    blank: tuple[str, ...]
    _record: dict[str, Any]
    _truncated: dict[str, int] | None

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __repr__(self) -> str:
        more = f", {len(self.truncated)} truncated" if self.truncated else ""
        more += f", {len(self.blank)} blank" if self.blank else ""
        return f"DenseIndex({len(self)} documents, {self.dim} dimensions{more})"

    @classmethod
    def build(cls, docs: Mapping[str, str] | Iterable[tuple[str, str]], encoder: TextEncoder) -> "DenseIndex":
        """Encode `docs`: {id: text}, or pairs (id, text). Equal texts are encoded once, and have equal vectors.

        Blank texts are not encoded; `blank` names them. `truncated` says which texts the encoder cuts, and how many
        word pieces each has. Where `docs` has a record, as passages have, it goes into the record of each run.

        ValueError for no document at all, for a repeated id, and for vectors of another shape than (number of texts,
        dim); TypeError for one string in place of documents and for a text that is none.

        >>> class Lengths:  # a toy: an encoder is anything with dim and encode
        ...     dim = 2
        ...     def encode(self, texts, kind="document"):
        ...         return np.array([[len(text), 1] for text in texts], dtype=np.float32)
        >>> index = DenseIndex.build({"d1": "pump", "d2": "a", "d3": " "}, Lengths())
        >>> index, index.search("belt", k=1)
        (DenseIndex(2 documents, 2 dimensions, 1 blank), [Hit(doc_id='d1', score=1.0)])
        """
        texts = _texts_by_id(docs)
        blank = [doc_id for doc_id, text in texts.items() if not text.strip()]
        read = {doc_id: text for doc_id, text in texts.items() if text.strip()}
        distinct = {text: at for at, text in enumerate(dict.fromkeys(read.values()))}
        too_long = _too_long(encoder, list(distinct), "document")
        vectors = np.zeros((0, encoder.dim), dtype=np.float32)
        if distinct:
            vectors = np.asarray(encoder.encode(list(distinct), kind="document"))
            if vectors.shape != (len(distinct), encoder.dim):
                wanted = (len(distinct), encoder.dim)
                raise ValueError(f"the encoder gave shape {vectors.shape} for {len(distinct)} texts, not {wanted}")
        at = [distinct[text] for text in read.values()]
        truncated = None
        if too_long is not None:
            truncated = {doc_id: too_long[n] for doc_id, n in zip(read, at, strict=True) if n in too_long}
        source = getattr(docs, "record", {})
        return cls.from_vectors(list(read), vectors[at], encoder, source, truncated=truncated, blank=blank)

    @classmethod
    def from_vectors(
        cls,
        doc_ids: Iterable[str],
        vectors: ArrayLike,
        encoder: TextEncoder | None = None,
        record: Mapping[str, Any] | None = None,
        *,
        truncated: Mapping[str, int] | None = None,
        blank: Iterable[str] = (),
    ) -> "DenseIndex":
        """Take vectors that are there already: shape (number of ids, dim), any type of real numbers, of any length.

        They are copied, and normalised once. `encoder` is for queries that are texts; `record` says how the vectors
        were made. ValueError with the document's id for NaN or infinity and for a repeated id; for no document; for
        another shape; for an encoder of another dimension, other weights or another prefix of documents.
        """
        names, blanks = _ids(doc_ids), _ids(blank)
        repeated = _repeated((*names, *blanks))
        if repeated is not None:
            raise ValueError(f"document id {repeated!r} is given twice; ids are compared as strings")
        if not names and not blanks:
            raise ValueError("no documents: there is nothing to search")
        given = _real(vectors, "vectors")
        if given.ndim != 2 or len(given) != len(names) or not given.shape[1]:
            raise ValueError(f"vectors has shape {given.shape}; give ({len(names)}, dim), a row for each id")
        made, used = dict(record or {}), dict(getattr(encoder, "record", {}))
        if encoder is not None and encoder.dim != given.shape[1]:
            raise ValueError(f"the encoder gives {encoder.dim} dimensions, and the vectors have {given.shape[1]}")
        for key in ("weights", "document_prefix"):
            if key in made and key in used and made[key] != used[key]:
                raise ValueError(f"the vectors were made with {key} {made[key]!r}, the encoder has {used[key]!r}")
        units = np.empty(given.shape, dtype=np.float32)
        for rows in _blocks(len(given), 8 * given.shape[1]):
            block = np.array(given[rows], dtype=np.float64, order="C")
            for bad in np.flatnonzero(~np.isfinite(block).all(axis=1)):
                raise ValueError(f"the vector of document {names[rows.start + bad]!r} holds NaN or infinity")
            units[rows] = _normalised(block)
        units.setflags(write=False)
        return cls(names, units, encoder, blanks, made | used, None if truncated is None else dict(truncated))

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    @property
    def record(self) -> Mapping[str, Any]:
        """How the vectors were made: what the encoder or the caller says. Empty where nobody said anything."""
        return MappingProxyType(self._record)

    @property
    def truncated(self) -> Mapping[str, int] | None:
        """{id: word pieces} of the documents that are longer than the encoder's window; None where nobody counted."""
        return None if self._truncated is None else MappingProxyType(self._truncated)

    def search(self, query: Query, k: int = 10) -> Hits:
        """The k best documents, best first: a list of `Hit`, fewer where there are fewer. ValueError for k < 1.

        A query is a text or a vector, shape (dim,). A blank text has no hits, and the list's `reason` says so; one
        beyond the encoder's window is cut, and a warning says so. ValueError for a vector of another shape or with
        NaN or infinity, and for a text where the index has no encoder.
        """
        _check_k(k)
        vector = self._vector(query, "the query")
        self._tell_of_cut({"the query": query})
        if vector is None:
            return Hits((), "the query is blank")
        return self._nearest(vector[np.newaxis], k)[0]

    def run(self, queries: Mapping[str, Query], k: int = 100) -> Run:
        """Search every query, {query id: text or vector}, and keep how the vectors were made in the run's record.

        The hits are those of `search` to the last bit: texts are encoded one by one, since in a batch their vectors
        would depend on their company. Vectors are then compared in blocks of queries, which bound the memory.
        """
        if not isinstance(queries, Mapping):
            raise TypeError(f"queries is {type(queries).__name__}; give {{query id: text or vector}}")
        _check_k(k)
        found = {
            qid: self._vector(query, f"query {qid!r}")
            for qid, query in progress(queries.items(), "search", len(queries))
        }
        self._tell_of_cut({f"query {qid!r}": query for qid, query in queries.items()})
        vectors = {qid: vector for qid, vector in found.items() if vector is not None}
        rankings: dict[str, Sequence[Hit]] = dict.fromkeys(queries, ())
        for rows in _blocks(len(vectors), 4 * len(self)):
            qids = list(vectors)[rows]
            rankings |= zip(qids, self._nearest(np.array([vectors[qid] for qid in qids]), k), strict=True)
        return Run(rankings, {**self.record, "ranker": "dense", "search": "exact scan", "k": k})

    def rank_of(self, query: Query, doc_id: str) -> int | None:
        """Rank of a document, from 1; None where it is not a hit. LookupError for an id that is not here."""
        name = str(doc_id)
        number = self._number.get(name)
        if number is None and name not in self.blank:
            raise LookupError(f"no document {doc_id!r} in this index of {len(self) + len(self.blank)} documents")
        vector = self._vector(query, "the query")
        if number is None or vector is None:
            return None
        score = self._cosines(np.array([number]), vector)[0]
        rough = self.vectors @ vector.astype(np.float32)
        near = np.flatnonzero((rough >= score - self._error) & (rough <= score + self._error))
        scores = self._cosines(near, vector)
        ahead = (scores > score) | ((scores == score) & (self._ties[near] < self._ties[number]))
        return int((rough > score + self._error).sum() + ahead.sum()) + 1

    @cached_property
    def _number(self) -> Mapping[str, int]:
        return {doc_id: number for number, doc_id in enumerate(self.doc_ids)}

    @cached_property
    def _ties(self) -> NDArray[np.int64]:
        return tie_order(self.doc_ids)

    @property
    def _error(self) -> float:
        """How far the float32 product can be from the cosine, at most.

        A dot product of unit vectors is off by dim roundings at most, in whatever order it is added up (Higham,
        Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1); a few more round the query, the rows
        and the bound. Twice all that is on the safe side, and admits hardly a candidate more.
        """
        return 2 * (self.dim + 4) * ROUNDING

    def _vector(self, query: Query, whose: str) -> NDArray[np.float64] | None:
        """The unit vector of a query; None for a blank text."""
        if not isinstance(query, str):
            given = _real(query, whose)
        elif not query.strip():
            return None
        elif self.encoder is None:
            raise ValueError(f"{whose} is a text, and this index has no encoder: give one, or a vector")
        else:
            encoded = np.asarray(self.encoder.encode([query], kind="query"))
            if encoded.shape != (1, self.dim):
                raise ValueError(f"the encoder gave shape {encoded.shape} for {whose}, not (1, {self.dim})")
            given = encoded[0]
        if given.shape != (self.dim,):
            raise ValueError(f"{whose} has shape {given.shape}; the vectors here have shape ({self.dim},)")
        if not np.isfinite(given).all():
            raise ValueError(f"the vector of {whose} holds NaN or infinity")
        unit: NDArray[np.float64] = _normalised(np.array(given, dtype=np.float64)[np.newaxis])[0]
        return unit

    def _tell_of_cut(self, queries: Mapping[str, Query]) -> None:
        texts = {whose: query for whose, query in queries.items() if isinstance(query, str)}
        too_long = _too_long(self.encoder, list(texts.values()), "query") if texts else None
        if too_long:
            counts = ", ".join(f"{list(texts)[at]} has {count} word pieces" for at, count in too_long.items())
            warn(f"{counts}: the encoder reads the first {getattr(self.encoder, 'window', '')}", stacklevel=3)

    def _nearest(self, queries: NDArray[np.float64], k: int) -> list[Hits]:
        """The hits of some queries, unit vectors of shape (number of queries, dim)."""
        if not len(self):
            return [Hits((), "every document is blank") for _ in queries]
        found = []
        for query, rough in zip(queries, queries.astype(np.float32) @ self.vectors.T, strict=True):
            numbers = self._candidates(rough, k)
            scores = self._cosines(numbers, query)
            best = top_k(scores, self._ties[numbers], k)
            pairs = zip(numbers[best].tolist(), scores[best].tolist(), strict=True)
            found.append(Hits(Hit(self.doc_ids[number], score) for number, score in pairs))
        return found

    def _candidates(self, rough: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        """Documents among which the k best are: the k-th best of them may be overrated, and another underrated."""
        if k >= len(rough):
            return np.arange(len(rough))
        margin = 2 * self._error
        found = np.flatnonzero(rough >= float(reached_by(rough, k)) - margin)
        reached = rough[found]
        return found[reached >= float(np.partition(reached, -k)[-k]) - margin]

    def _cosines(self, numbers: NDArray[np.int64], query: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cosines in float64 of some documents with a unit vector, each from its own row alone."""
        scores = np.empty(len(numbers))
        for part in _blocks(len(numbers), 8 * self.dim):
            rows = self.vectors[numbers[part]].astype(np.float64)
            lengths = _lengths(rows)  # 1 to within float32: divided out, the scores are exact cosines of the rows
            dots = (rows * query).sum(axis=1)
            scores[part] = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
        return np.clip(scores, -1, 1)  # 1.0000000000000002 is a rounding, and has no angle


@dataclass(frozen=True)
class ScanCost:
    """What the scan of one query costs: what it reads, what it computes, and how long that takes at the least."""

    n: int
    dim: int
    dtype: str
    bytes: int
    mib: float  # bytes / 2^20
    multiply_adds: int
    seconds: float | None  # None where no bandwidth was given


def scan_cost(n: int, dim: int, dtype: DTypeLike = "float32", bandwidth: float | None = None) -> ScanCost:
    """Cost of one exact scan over `n` vectors of `dim` numbers: n · dim numbers are read, each for one multiply-add.

    `bandwidth` is what the memory delivers, in bytes per second. A scan does so little with a number that memory is
    what it waits for: `seconds`, bytes / bandwidth, is the least that it takes for one query, caches aside.
    ValueError for n < 0, dim < 1, a bandwidth that is not positive, and a dtype that is no type of real numbers.

    >>> cost = scan_cost(12_000, 768)
    >>> f"{cost.bytes:,} bytes, {cost.mib:.2f} MiB, {cost.multiply_adds:,} multiply-adds"
    '36,864,000 bytes, 35.16 MiB, 9,216,000 multiply-adds'
    >>> f"{scan_cost(12_000, 768, bandwidth=10e9).seconds * 1000:.2f} ms at 10 GB/s"
    '3.69 ms at 10 GB/s'
    """
    n, dim, kind = index(n), index(dim), np.dtype(dtype)
    if n < 0 or dim < 1:
        raise ValueError(f"n is {n} and dim is {dim}; give 0 vectors or more, of one number or more")
    if kind.kind not in "fiu":
        raise ValueError(f"dtype is {kind.name}; give a type of real numbers")
    if bandwidth is not None and not 0 < bandwidth < np.inf:
        raise ValueError(f"bandwidth is {bandwidth}; give bytes per second, more than 0")
    size = n * dim * kind.itemsize
    return ScanCost(
        n, dim, kind.name, size, size / 2**20, n * dim, None if bandwidth is None else size / float(bandwidth)
    )


def _texts_by_id(docs: Mapping[str, str] | Iterable[tuple[str, str]]) -> dict[str, str]:
    if isinstance(docs, str | bytes):
        raise TypeError('docs is one string; give {"d1": "text", ...} or pairs (id, text)')
    texts: dict[str, str] = {}
    for pair in docs.items() if isinstance(docs, Mapping) else docs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise TypeError(f"docs holds {str(pair)[:60]!r}; give {{id: text}} or pairs (id, text)")
        doc_id, text = str(pair[0]), pair[1]
        if not isinstance(text, str):
            raise TypeError(f"document {doc_id!r} is {type(text).__name__}; give a text")
        if doc_id in texts:
            raise ValueError(f"document id {doc_id!r} is given twice; ids are compared as strings")
        texts[doc_id] = text
    return texts


def _ids(doc_ids: Iterable[str]) -> tuple[str, ...]:
    if isinstance(doc_ids, str | bytes):
        raise TypeError(f"ids are given as one string, {str(doc_ids)[:60]!r}; give a list of them")
    return tuple(str(doc_id) for doc_id in doc_ids)


def _repeated(names: Sequence[str]) -> str | None:
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]


def _real(values: Any, whose: str) -> NDArray[Any]:  # noqa: ANN401 - whatever the caller gives
    given = np.asarray(values)
    if given.dtype.kind not in "fiu":
        raise TypeError(f"{whose} holds {given.dtype}; give real numbers")
    return given


def _too_long(encoder: TextEncoder | None, texts: Sequence[str], kind: Kind) -> dict[int, int] | None:
    """{position: word pieces} of the texts beyond the encoder's window; None for an encoder that does not count."""
    count, window = getattr(encoder, "count", None), getattr(encoder, "window", None)
    if count is None:
        return None
    return {at: n for at, n in enumerate(count(texts, kind=kind)) if window is not None and n > window}


def _check_k(k: int) -> None:
    if k < 1:
        raise ValueError(f"k is {k}; ask for 1 hit or more")


def _blocks(n: int, bytes_each: int) -> Iterator[slice]:
    """Slices of 0 to n, so that a block takes BLOCK_BYTES at most, or is one item."""
    step = max(1, BLOCK_BYTES // max(1, bytes_each))
    return (slice(first, min(n, first + step)) for first in range(0, n, step))


def _lengths(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.sqrt((rows * rows).sum(axis=1))
    return lengths


def _normalised(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of length 1; zero rows stay. Divided by its largest value first, no row can over- or underflow."""
    peaks = np.abs(rows).max(axis=1, initial=0.0)
    rows = rows / np.where(peaks > 0, peaks, 1.0)[:, np.newaxis]
    lengths = _lengths(rows)
    unit: NDArray[np.float64] = rows / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis]
    return unit
