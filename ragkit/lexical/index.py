"""An inverted index that explains its scores.

The postings say which documents hold a term, and how often; a search reads those of the query's terms and no other.
Nothing changes after an index is built; other parameters make another index over the same postings.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.lexical.accelerator import Accelerator
from ragkit.lexical.analysis import Analyzer, Terms
from ragkit.lexical.explanation import Explanation, TermScore
from ragkit.lexical.postings import Postings, Text, collect, terms_of
from ragkit.lexical.scoring import check_parameters, length_factor, rarity, saturate
from ragkit.lexical.storage import read, write
from ragkit.progress import progress
from ragkit.ranking import Hit, Hits, Run, tie_order, top_k


@dataclass(frozen=True)
class IndexStats:
    """What an index holds, in numbers."""

    n_docs: int
    n_terms: int
    n_postings: int
    bytes_per_posting: float  # document numbers, frequencies, offsets and lengths; without the vocabulary
    avgdl: float
    accelerator_bytes_per_posting: float = 0.0  # what `accelerated` has added


@dataclass(frozen=True, eq=False)
class BM25Index:
    """BM25 over an inverted index, term by term.

    Scores are those of `bm25_score`, in float64. A document that shares no term with the query is not a hit.

    >>> docs = {"d1": "Reset the pump", "d2": "Set page_size to 50", "d3": "The pump and the belt"}
    >>> index = BM25Index.build(docs)
    >>> index.search("page_size")
    [Hit(doc_id='d2', score=2.942487759035179)]
    >>> index.rank_of("pump", "d3"), index.rank_of("pump", "d2")
    (2, None)
    """

    postings: Postings
    analyzer: Analyzer
    k1: float = 1.2
    b: float = 0.75
    accelerator: Accelerator | None = None
    source: Mapping[str, Any] = field(default_factory=dict)  # what the documents say of themselves: for the runs

    def __post_init__(self) -> None:
        check_parameters(self.k1, self.b)
        object.__setattr__(self, "k1", float(self.k1))
        object.__setattr__(self, "b", float(self.b))

    def __repr__(self) -> str:
        sizes = f"{len(self.postings.doc_ids)} documents, {len(self.postings.vocabulary)} terms"
        return f"BM25Index({sizes}, analyzer {self.analyzer.name!r}, k1 = {self.k1:g}, b = {self.b:g})"

    @classmethod
    def build(
        cls,
        docs: Mapping[str, Text] | Iterable[tuple[str, Text]],
        analyzer: Analyzer | None = None,
        k1: float = 1.2,
        b: float = 0.75,
    ) -> "BM25Index":
        """Index `docs`: {id: text}, or pairs (id, text). A list in place of a text is taken as its terms.

        Where `docs` has a record, as passages have, it goes into the record of each run.
        ValueError for no document at all and for a repeated id; TypeError for one string in place of documents.
        """
        check_parameters(k1, b)
        analyzer = Analyzer.standard() if analyzer is None else analyzer
        return cls(collect(docs, analyzer), analyzer, k1, b, source=dict(getattr(docs, "record", {})))

    def search(self, query: Text, k: int = 10) -> Hits:
        """The k best documents, best first: a list of `Hit`. ValueError for k < 1.

        Fewer hits where fewer documents share a term with the query; a list that is empty because the query has
        no term left, or none that the index knows, says so in its `reason`.
        """
        terms = self._analyse(query)
        known = self._known(terms)
        numbers, scores = self._fast_scores(known, k) or self._all_scores(known)
        best = top_k(scores, self._ties[numbers], k)
        ids = self.postings.doc_ids
        found = zip(numbers[best].tolist(), scores[best].tolist(), strict=True)
        reason = "" if known else self._why_empty(query, terms)
        return Hits([Hit(ids[number], score) for number, score in found], reason)

    def run(self, queries: Mapping[str, Text], k: int = 100) -> Run:
        """Search every query, {query id: text}, and keep what was searched with in the run's record."""
        if not isinstance(queries, Mapping):
            raise TypeError(f"queries is {type(queries).__name__}; give {{query id: text}}")
        rankings = {qid: self.search(text, k) for qid, text in progress(queries.items(), "search", len(queries))}
        ranker = {"ranker": "bm25", "k1": self.k1, "b": self.b, "analyzer": self.analyzer.record(), "k": k}
        return Run(rankings, {**self.source, **ranker})

    def rank_of(self, query: Text, doc_id: str) -> int | None:
        """Rank of a document, from 1; None where it is not a hit. LookupError for an id that is not here."""
        number = self._number(doc_id)
        numbers, scores = self._all_scores(self._known(self._analyse(query)))
        at = np.flatnonzero(numbers == number)
        if not len(at):
            return None
        score, ties = scores[at[0]], self._ties
        ahead = (scores > score) | ((scores == score) & (ties[numbers] < ties[number]))
        return int(ahead.sum()) + 1

    def explain(self, query: Text, doc_id: str) -> Explanation:
        """Account for the score of one document, a row for each term of the query. Rows sum to the score."""
        number = self._number(doc_id)
        terms = self._analyse(query)
        words, parts = terms
        rows = [self._row(term, False, number) for term in words] + [self._row(term, True, number) for term in parts]
        return Explanation(
            self.postings.doc_ids[number],
            tuple(rows),
            doc_len=int(self.postings.doc_lengths[number]),
            length_factor=float(self._length_factors[number]),
            k1=self.k1,
            b=self.b,
            note=self._why_empty(query, terms),
        )

    def with_params(self, k1: float | None = None, b: float | None = None) -> "BM25Index":
        """The same postings under other parameters; None keeps the present value, 0 is a value. Not accelerated."""
        return replace(self, k1=self.k1 if k1 is None else k1, b=self.b if b is None else b, accelerator=None)

    def accelerated(self) -> "BM25Index":
        """The same index, which finds the same hits faster, at the price of about half its size more.

        >>> index = BM25Index.build({str(number): "the pump" for number in range(200)} | {"d": "the belt"})
        >>> fast = index.accelerated()
        >>> fast.search("the belt") == index.search("the belt"), fast.stats().accelerator_bytes_per_posting < 4.5
        (True, True)
        """
        return replace(self, accelerator=Accelerator.build(self.postings, self._contributions))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index into one file, with its analyzer, k1 and b; an accelerator is made anew when it is wanted.

        ValueError for an analyzer whose stemmer is a function of the caller: a file cannot hold it.
        """
        record = self.analyzer.record()
        if Analyzer.from_record(record) != self.analyzer:
            raise ValueError(f"this analyzer cannot be saved: its record, {record}, makes another one")
        write(path, self.postings, {"analyzer": record, "k1": self.k1, "b": self.b, "source": dict(self.source)})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "BM25Index":
        """Read what `save` wrote. ValueError for a file that is not an index, is incomplete, or was altered."""
        postings, settings = read(path)
        analyzer, source = Analyzer.from_record(settings["analyzer"]), settings.get("source", {})
        return cls(postings, analyzer, settings["k1"], settings["b"], source=source)

    def df(self, term: str) -> int:
        """In how many documents a term stands, whole or as a part."""
        return len(self.postings.doc_numbers[self.postings.of(term)])

    def stats(self) -> IndexStats:
        """Size of the index."""
        p = self.postings
        size = p.offsets.nbytes + p.doc_numbers.nbytes + p.frequencies.nbytes + p.doc_lengths.nbytes
        n, more = len(p.doc_numbers), 0 if self.accelerator is None else self.accelerator.nbytes
        return IndexStats(
            len(p.doc_ids), len(p.vocabulary), n, size / n if n else 0.0, self.avgdl, more / n if n else 0.0
        )

    @cached_property
    def avgdl(self) -> float:
        """Average length in terms; documents without terms count."""
        return float(self.postings.doc_lengths.mean())

    @cached_property
    def _length_factors(self) -> NDArray[np.float64]:
        lengths = self.postings.doc_lengths
        return np.atleast_1d(length_factor(lengths, self.avgdl or 1.0, self.b))  # all empty: nothing is scored

    @cached_property
    def _damping(self) -> NDArray[np.float64]:
        return self.k1 * self._length_factors

    @cached_property
    def _ties(self) -> NDArray[np.int64]:
        return tie_order(self.postings.doc_ids)

    def _number(self, doc_id: str) -> int:
        number = self.postings.doc_number.get(str(doc_id))
        if number is None:
            raise LookupError(f"no document {doc_id!r} in this index of {len(self.postings.doc_ids)} documents")
        return number

    def _analyse(self, query: Text) -> Terms:
        return terms_of(query, self.analyzer, "the query")

    def _known(self, terms: Terms) -> list[int]:
        """Numbers of the query's terms that the index holds, in the order of the query."""
        numbers = map(self.postings.vocabulary.get, (*terms.words, *terms.parts))
        return [number for number in numbers if number is not None]

    def _weight(self, df: int) -> float:
        return float(rarity(float(len(self.postings.doc_ids)), float(df)))

    def _why_empty(self, query: Text, terms: Terms) -> str:
        if any(term in self.postings.vocabulary for term in (*terms.words, *terms.parts)):
            return ""
        if terms.words or terms.parts:
            return "no document holds any of the query's terms"
        return "the query is blank" if not query or not "".join(query).strip() else "the analyzer keeps no word of it"

    def _contributions(self, first: int, last: int) -> NDArray[np.float64]:
        """What each posting of the terms from `first` up to `last` adds to the score of its document."""
        p = self.postings
        offsets = p.offsets[first : last + 1]
        where = slice(offsets[0], offsets[-1])
        worth = saturate(p.frequencies[where].astype(np.float64), self._damping[p.doc_numbers[where]], self.k1)
        if last == first + 1:
            return self._weight(len(worth)) * worth
        df = np.diff(offsets)
        return np.repeat(rarity(float(len(p.doc_ids)), df.astype(np.float64)), df) * worth

    def _all_scores(self, terms: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Numbers and scores of all documents that hold one of the terms."""
        scores = np.zeros(len(self.postings.doc_ids))
        for term in terms:
            where = slice(self.postings.offsets[term], self.postings.offsets[term + 1])
            scores[self.postings.doc_numbers[where]] += self._contributions(term, term + 1)
        found = np.flatnonzero(scores > 0)  # every term that a document holds adds something
        return found, scores[found]

    def _fast_scores(self, terms: Sequence[int], k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """The same of the few documents that can be among the k best; None where they are not few, or not known."""
        n_docs = len(self.postings.doc_ids)
        if self.accelerator is None or not 1 <= k <= n_docs // 4:
            return None
        numbers = self.accelerator.candidates(self.postings, terms, k)
        return None if len(numbers) > k + n_docs // 16 else (numbers, self._scores_of(terms, numbers))

    def _scores_of(self, terms: Sequence[int], docs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of some documents, each the same sum in the same order as in `_all_scores`."""
        worth = saturate(self._frequencies(terms, docs), self._damping[docs], self.k1)
        scores = np.zeros(len(docs))
        for term, added in zip(terms, worth, strict=True):
            scores += self._weight(self._df(term)) * added
        return scores

    def _frequencies(self, terms: Sequence[int], docs: NDArray[np.int64]) -> NDArray[np.float64]:
        """How often each term stands in each document, a row a term: looked up in the postings by bisection."""
        p = self.postings
        wanted = docs.astype(np.intc)  # of one type with the postings, or numpy would convert those, all of them
        frequencies = np.zeros((len(terms), len(docs)))
        for row, term in zip(frequencies, terms, strict=True):
            where = slice(p.offsets[term], p.offsets[term + 1])
            held = p.doc_numbers[where]
            at = held.searchsorted(wanted)
            np.copyto(row, p.frequencies[where].take(at, mode="clip"), where=held.take(at, mode="clip") == wanted)
        return frequencies

    def _df(self, term: int) -> int:
        return int(self.postings.offsets[term + 1] - self.postings.offsets[term])

    def _row(self, term: str, is_part: bool, number: int) -> TermScore:
        known = self._known(Terms((term,), ()))
        df = self._df(known[0]) if known else 0
        tf = self._frequencies(known, np.array([number])).sum()
        worth = float(saturate(np.array([tf]), self._damping[[number]], self.k1)[0])
        weight = self._weight(df)
        return TermScore(term, is_part, int(tf), df, weight, worth, weight * worth)
