"""From documents to postings: the part of an index that no parameter changes.

A posting says: this term stands in this document, so many times. The postings of a term are one run of two arrays
of C ints, four bytes each, where a Python list of tuples would spend over a hundred bytes a posting.

The way there: each piece of text becomes a number by one look-up in a dictionary, which is most of the work; numpy
does the rest. It counts, block of documents by block, how often each term stands in each document, by sorting; at
the end it moves the counts of all blocks to the run of their term.
"""

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragkit.lexical.analysis import Analyzer, Terms
from ragkit.progress import progress

Text = str | Sequence[str]  # a text goes through the analyzer; a list is terms already
Ints = NDArray[np.intc]

BLOCK_DOCS = 1024  # a block ends after so many documents,
BLOCK_PIECES = 1 << 18  # or after so many pieces: its arrays stay small enough for the processor's cache


@dataclass(frozen=True, eq=False, repr=False)
class Postings:
    """The postings of all terms.

    Those of term number t are `doc_numbers[offsets[t]:offsets[t + 1]]`, ascending, and the same slice of
    `frequencies`.
    """

    doc_ids: tuple[str, ...]
    vocabulary: Mapping[str, int]
    offsets: NDArray[np.int64]
    doc_numbers: Ints
    frequencies: Ints
    doc_lengths: Ints

    def of(self, term: str) -> slice:
        """Where the postings of a term stand; an empty slice for an unknown term."""
        number = self.vocabulary.get(term)
        return slice(0, 0) if number is None else slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    @cached_property
    def doc_number(self) -> Mapping[str, int]:
        """Number of each document by id."""
        return {doc_id: number for number, doc_id in enumerate(self.doc_ids)}


def collect(docs: Mapping[str, Text] | Iterable[tuple[str, Text]], analyzer: Analyzer) -> Postings:
    """Read the documents once, and group their terms.

    >>> postings = collect({"d1": "pump belt pump", "d2": "belt"}, Analyzer.standard())
    >>> here = postings.of("belt")
    >>> postings.doc_numbers[here].tolist(), postings.frequencies[here].tolist()
    ([0, 1], [1, 1])
    """
    pieces, doc_ids, lengths = _Pieces(analyzer), dict[str, None](), array("i")
    blocks: deque[_Block] = deque()
    numbers, ends = array("i"), array("i")  # of this block: piece after piece, and where each document ends
    total = len(docs) if isinstance(docs, Mapping | Sequence) else None

    def finish_block() -> None:
        block, its_lengths = _count(pieces, numbers, ends, len(doc_ids) - len(ends))
        blocks.append(block)
        lengths.frombytes(its_lengths.tobytes())
        del numbers[:], ends[:]

    for pair in progress(_pairs(docs), "index", total):
        doc_id, text = _checked(pair)
        if doc_id in doc_ids:
            raise ValueError(f"document id {doc_id!r} is given twice; ids are compared as strings")
        numbers.extend(pieces.numbers(text, f"document {doc_id!r}"))
        ends.append(len(numbers))
        doc_ids[doc_id] = None
        if len(ends) == BLOCK_DOCS or len(numbers) >= BLOCK_PIECES:
            finish_block()
    if not doc_ids:
        raise ValueError("no documents: there is nothing to search")
    finish_block()
    offsets, doc_numbers, frequencies = _group(blocks, len(pieces.vocabulary))
    doc_lengths = np.array(lengths, dtype=np.intc)
    for values in (offsets, doc_numbers, frequencies, doc_lengths):
        values.setflags(write=False)
    return Postings(tuple(doc_ids), pieces.vocabulary, offsets, doc_numbers, frequencies, doc_lengths)


def terms_of(text: Text, analyzer: Analyzer, whose: str) -> Terms:
    """The terms of a text, or of a list of terms. TypeError, saying whose it is, for anything else."""
    return analyzer(text) if isinstance(text, str) else Terms(_listed(text, whose), ())


def _listed(terms: Any, whose: str) -> tuple[str, ...]:  # noqa: ANN401 - whatever the caller gives
    if isinstance(terms, Sequence) and not isinstance(terms, bytes | bytearray):
        listed = tuple(terms)
        if all(map(isinstance, listed, repeat(str))):
            return listed
    raise TypeError(f"{whose} is {type(terms).__name__}; give a text, or a list of terms, each a string")


class _Numbers(dict[str, int]):
    """Number of each piece. One that is new has the number of its bare form, or is handed to `add` for the next."""

    def __init__(self, add: Callable[[str], int], bare: Callable[[str], str]) -> None:
        self.add, self.bare = add, bare

    def __missing__(self, piece: str) -> int:
        bare = self.bare(piece)
        self[piece] = number = self.add(piece) if bare == piece else self[bare]
        return number


class _Pieces:
    """All pieces of text met so far. The terms of piece p are terms[starts[p]:starts[p + 1]], its words first."""

    def __init__(self, analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self.vocabulary: dict[str, int] = {}
        self.terms, self.starts, self.n_words = array("i"), array("i", [0]), array("i")
        self.in_texts = _Numbers(lambda piece: self._add(*analyzer.terms_of(piece)), analyzer.bare)
        self.in_lists = _Numbers(lambda term: self._add((term,), ()), str)

    def numbers(self, text: Text, whose: str) -> Iterable[int]:
        """The pieces of a document, as numbers."""
        if isinstance(text, str):
            return map(self.in_texts.__getitem__, self.analyzer.pieces(text))
        return map(self.in_lists.__getitem__, _listed(text, whose))

    def _add(self, words: tuple[str, ...], parts: tuple[str, ...]) -> int:
        vocabulary = self.vocabulary
        self.terms.extend([vocabulary.setdefault(term, len(vocabulary)) for term in words + parts])
        self.starts.append(len(self.terms))
        self.n_words.append(len(words))
        return len(self.n_words) - 1


class _Block(NamedTuple):
    """Counts of the documents from `first` on: distinct keys, ascending, and how often each stands.

    A key is term number · BLOCK_DOCS + number of the document in its block.
    """

    first: int
    keys: NDArray[np.unsignedinteger[Any]]
    counts: Ints


def _count(pieces: _Pieces, numbers: "array[int]", ends: "array[int]", first: int) -> tuple[_Block, Ints]:
    """Count a block of documents: its block of keys, and the documents' lengths."""
    piece = np.array(numbers, dtype=np.intc)
    end = np.array(ends, dtype=np.intc)
    doc = np.repeat(np.arange(len(end)), np.append(end[:1], end[1:] - end[:-1]))
    words = np.append(0, np.cumsum(np.array(pieces.n_words)[piece]))[np.append(0, end)]
    lengths = (words[1:] - words[:-1]).astype(np.intc)

    # Most pieces are one term; the others, an identifier and its parts or nothing at all, are laid out term by term.
    starts = np.array(pieces.starts)
    n_terms = np.diff(starts)[piece]
    at = np.repeat(starts[piece] - (np.cumsum(n_terms) - n_terms), n_terms) + np.arange(n_terms.sum())
    # Four bytes a key, where they are enough, sort at twice the speed of eight.
    wide = len(pieces.vocabulary) * BLOCK_DOCS >= 1 << 32
    keys = np.array(pieces.terms).astype(np.uint64 if wide else np.uint32)[at]
    keys *= BLOCK_DOCS
    keys += np.repeat(doc, n_terms).astype(keys.dtype)
    keys.sort()
    at, counts = _runs(keys)
    return _Block(first, keys[at], counts.astype(np.intc)), lengths


def _group(blocks: deque[_Block], n_terms: int) -> tuple[NDArray[np.int64], Ints, Ints]:
    """Move the counts of all blocks to the run of their term; blocks come in the order of their documents."""
    df = np.zeros(n_terms, dtype=np.int64)
    for block in blocks:
        terms = block.keys // BLOCK_DOCS
        at, sizes = _runs(terms)
        df[terms[at]] += sizes
    offsets = np.append(0, np.cumsum(df))
    doc_numbers, frequencies = np.empty(offsets[-1], dtype=np.intc), np.empty(offsets[-1], dtype=np.intc)
    free = offsets[:-1].copy()  # where the next posting of each term goes
    while blocks:  # a block is let go as soon as it is moved
        first, keys, counts = blocks.popleft()
        terms = keys // BLOCK_DOCS
        at, sizes = _runs(terms)
        own = terms[at]
        place = np.repeat(free[own] - at, sizes) + np.arange(len(keys))
        doc_numbers[place] = first + (keys % BLOCK_DOCS).astype(np.intc)
        frequencies[place] = counts
        free[own] += sizes
    return offsets, doc_numbers, frequencies


def _runs(ordered: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each run of equal values begins, and how long it is."""
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts = np.append(np.zeros(min(1, len(ordered)), dtype=np.int64), edges)
    return starts, np.append(edges, len(ordered))[: len(starts)] - starts


def _pairs(docs: Mapping[str, Text] | Iterable[tuple[str, Text]]) -> Iterable[tuple[str, Text]]:
    if isinstance(docs, str | bytes):
        raise TypeError('docs is one string; give {"d1": "text", ...} or pairs (id, text)')
    return docs.items() if isinstance(docs, Mapping) else docs


def _checked(pair: Any) -> tuple[str, Text]:  # noqa: ANN401 - whatever the caller's iterable yields
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise TypeError(f"docs holds {str(pair)[:60]!r}; give {{id: text}} or pairs (id, text)")
    return str(pair[0]), pair[1]
