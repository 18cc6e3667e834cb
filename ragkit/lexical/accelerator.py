"""A faster way to the same hits, for one index with its k1 and b.

What a posting adds to a score is known as soon as k1 and b are. The accelerator keeps it, rounded up to whole steps
of two bytes; a search adds steps up instead of computing, for terms that are in over a tenth of the documents as one
row over all documents. Steps only pick candidates: a score of s steps over t terms lies between s − t and s, so
whoever is not within t steps of the k-th best cannot be among the k. The index then scores the few candidates
exactly, and the hits are those of the plain search to the last bit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.lexical.postings import Postings
from ragkit.ranking import reached_by

STEPS = np.uint16
MOST_STEPS = 65_535 // 8  # of one posting: eight terms fit into two bytes
COMMON = 0.1  # a term in more than this share of the documents gets a row,
ROWS_BYTES = 2.4  # while all rows together take no more than this, a posting
BATCH = 1 << 20  # postings that are scored at a time while the accelerator is built

# The contributions of the postings of the terms from one number up to another.
Contributions = Callable[[int, int], NDArray[np.float64]]


@dataclass(frozen=True, eq=False, repr=False)
class Accelerator:
    """Contributions in steps: `steps` in the order of the postings, `rows` over all documents for common terms.

    >>> from ragkit import BM25Index
    >>> index = BM25Index.build({"d1": "pump belt", "d2": "pump", "d3": "belt belt"}).accelerated()
    >>> index.search("belt") == index.with_params().search("belt")
    True
    """

    steps: NDArray[np.uint16]
    rows: NDArray[np.uint16]
    row_of: Mapping[int, int]  # term number to row

    @property
    def nbytes(self) -> int:
        """What it takes beside the index."""
        return self.steps.nbytes + self.rows.nbytes

    @classmethod
    def build(cls, postings: Postings, contributions: Contributions) -> "Accelerator":
        """Compute all contributions, twice: to find the largest, and to count each in steps of it."""
        offsets, n_docs = postings.offsets, len(postings.doc_ids)
        step = max((c.max() for _, c in _batches(offsets, contributions)), default=1.0) / MOST_STEPS
        steps = np.empty(len(postings.doc_numbers), dtype=STEPS)
        for where, added in _batches(offsets, contributions):
            steps[where] = np.clip(np.ceil(added / step), 1, MOST_STEPS)
        df = np.diff(offsets)
        most = int(ROWS_BYTES / steps.itemsize * len(steps) / n_docs)
        common = [int(term) for term in np.argsort(-df, kind="stable")[:most] if df[term] > COMMON * n_docs]
        rows = np.zeros((len(common), n_docs), dtype=STEPS)
        for row, term in zip(rows, common, strict=True):
            where = slice(offsets[term], offsets[term + 1])
            row[postings.doc_numbers[where]] = steps[where]
        for values in (steps, rows):
            values.setflags(write=False)
        return cls(steps, rows, {term: row for row, term in enumerate(common)})

    def candidates(self, postings: Postings, terms: Sequence[int], k: int) -> NDArray[np.int64]:
        """Documents among which the k best are, by number, ascending. Needs k below the number of documents."""
        # Two bytes hold eight terms; a longer query counts in eight bytes.
        width = STEPS if len(terms) <= 8 else np.uint64
        total: NDArray[np.unsignedinteger[Any]] = np.zeros(len(postings.doc_ids), dtype=width)
        for term in terms:
            row = self.row_of.get(term)
            if row is None:
                where = slice(postings.offsets[term], postings.offsets[term + 1])
                total[postings.doc_numbers[where]] += self.steps[where]
            else:
                total += self.rows[row]
        margin = len(terms) + 1  # one step more than the terms, for the rounding of float64
        found = np.flatnonzero(total >= max(1, int(reached_by(total, k)) - margin))  # a hit has at least one step
        if len(found) <= k:
            return found
        reached = total[found]
        return found[reached >= int(np.partition(reached, -k)[-k]) - margin]


def _batches(offsets: NDArray[np.int64], contributions: Contributions) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """All contributions, batch by batch of whole terms, and where they stand among the postings."""
    cuts = np.searchsorted(offsets, np.arange(0, offsets[-1], BATCH))
    for first, last in pairwise(np.unique(np.append(cuts, len(offsets) - 1))):
        yield slice(offsets[first], offsets[last]), contributions(int(first), int(last))
