"""The four functions that BM25 is made of.

Sources: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009) for the form;
Lucene's BM25Similarity for the 1 inside the logarithm, which keeps every weight positive. Lucene has dropped the
factor (k1 + 1) since its release 8; it is kept here, so that one mention at average length is worth exactly one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = float | NDArray[np.float64]
Numbers = float | Sequence[float] | NDArray[Any]  # what a formula takes: a number, or many that broadcast


def check_parameters(k1: float, b: float) -> None:
    """Raise ValueError unless k1 >= 0 and 0 <= b <= 1, both finite. Zero is a value, not "not given"."""
    if not (np.isfinite(k1) and k1 >= 0):
        raise ValueError(f"k1 is {k1}; it must be a finite number, 0 or more (usual: 1.2)")
    if not 0 <= b <= 1:  # also refuses NaN
        raise ValueError(f"b is {b}; it must lie between 0 (length ignored) and 1 (length counts in full)")


def _plain(value: NDArray[np.float64]) -> Float:
    """Give scalars back as float and arrays as arrays."""
    return float(value) if value.ndim == 0 else value


def idf(n_docs: Numbers, df: Numbers) -> Float:
    """Inverse document frequency: the weight of a term, ln(1 + (N − df + 0.5) / (df + 0.5)).

    `n_docs` is N, the number of documents; `df` is how many of them hold the term. Scalars or arrays that
    broadcast; natural logarithm, no unit. A term that no document holds has the largest weight of all, and it
    is multiplied by a term frequency of zero. ValueError unless 0 <= df <= N and N >= 1.

    >>> f"{idf(12_000, 3):.4f}"
    '8.1400'
    >>> f"{idf(4, 2):.6f}"   # in exactly half of the documents: ln 2, never 0
    '0.693147'
    """
    n, d = np.asarray(n_docs, dtype=np.float64), np.asarray(df, dtype=np.float64)
    if not np.all((n >= 1) & (n < np.inf)):
        raise ValueError(f"n_docs is {n_docs}; an idf needs at least one document, and finitely many")
    if not (np.all(d >= 0) and np.all(d <= n)):
        raise ValueError(f"df is {df} and n_docs is {n_docs}; df counts documents, so it lies between 0 and n_docs")
    return _plain(rarity(n, d))


def rarity(n_docs: Float, df: Float) -> NDArray[np.float64]:
    """The formula of `idf`, without its checks.

    >>> f"{rarity(12_000, 3):.4f}"
    '8.1400'
    """
    worth: NDArray[np.float64] = np.log1p((n_docs - df + 0.5) / (df + 0.5))  # log1p(x) is ln(1 + x), for small x too
    return worth


def length_factor(doc_len: Numbers, avgdl: Numbers, b: float = 0.75) -> Float:
    """What a document's length does to its term frequencies: 1 − b + b · doc_len / avgdl.

    Lengths count terms, in the same unit on both sides. 1 at average length, whatever b is; 1 at every length
    when b is 0. Scalars or arrays. ValueError for b outside 0..1, a negative length, or avgdl not above 0.

    >>> length_factor(200, 400, b=0.5)
    0.75
    """
    check_parameters(0.0, b)
    b = float(b)  # a numpy scalar of lower precision would drag the result down with it
    dl, avg = np.asarray(doc_len, dtype=np.float64), np.asarray(avgdl, dtype=np.float64)
    if not np.all((dl >= 0) & (dl < np.inf)):
        raise ValueError(f"doc_len is {doc_len}; a document has 0 terms or more")
    if not np.all((avg > 0) & (avg < np.inf)):
        raise ValueError(f"avgdl is {avgdl}; the average length must be above 0")
    return _plain(1.0 - b + b * dl / avg)


def saturation(tf: Numbers, k1: float = 1.2, length_factor: Numbers = 1.0) -> Float:
    """What a term frequency is worth: tf · (k1 + 1) / (tf + k1 · length_factor).

    1 for one mention at average length (`length_factor` 1), for every k1; never above k1 + 1. It is 0 where tf
    is 0, also at k1 = 0, where the expression alone would be 0/0. Scalars or arrays that broadcast.
    ValueError for a negative tf, k1 or length factor.

    >>> saturation([0, 1, 12]).round(4).tolist()
    [0.0, 1.0, 2.0]
    """
    check_parameters(k1, 0.0)
    k1 = float(k1)
    t, lf = np.asarray(tf, dtype=np.float64), np.asarray(length_factor, dtype=np.float64)
    if not np.all((t >= 0) & (t < np.inf)):
        raise ValueError(f"tf is {tf}; a term occurs 0 times or more")
    if not np.all((lf >= 0) & (lf < np.inf)):
        raise ValueError(f"length_factor is {length_factor}; it must be 0 or more")
    t, damping = np.broadcast_arrays(t, k1 * lf)
    return _plain(saturate(t, damping, k1))


def saturate(tf: NDArray[np.float64], damping: NDArray[np.float64], k1: float) -> NDArray[np.float64]:
    """The formula of `saturation` over arrays, without its checks; `damping` is k1 · length_factor.

    >>> saturate(np.array([0.0, 1.0, 12.0]), np.array([1.2, 1.2, 1.2]), 1.2).round(4).tolist()
    [0.0, 1.0, 2.0]
    """
    numerator = tf * (k1 + 1.0)
    return np.divide(numerator, tf + damping, out=np.zeros_like(numerator), where=numerator > 0)


def bm25_score(
    query_terms: Sequence[str],
    doc_terms: Sequence[str],
    df: Mapping[str, int],
    n_docs: int,
    avgdl: float,
    k1: float = 1.2,
    b: float = 0.75,
    *,
    doc_len: int | None = None,
) -> float:
    """Score one document for one query: the sum over the query's terms of idf · saturation.

    `df` maps a term to the number of documents that hold it; a term that is missing there counts as 0 and adds
    nothing, because its term frequency is 0 too. A term that stands twice in the query counts twice.
    `doc_len` is the length in terms where it is not len(doc_terms): the parts of identifiers do not count.
    TypeError when the query or the document is given as one string; ValueError where a document holds a term
    whose df is 0, because then the statistics belong to another corpus.

    >>> df = {"reset": 1, "pump": 3, "alarm": 2, "belt": 1}
    >>> f'{bm25_score(["pump"], ["pump", "alarm"], df, n_docs=3, avgdl=7 / 3):.6f}'
    '0.141820'
    """
    check_parameters(k1, b)
    for name, terms in (("query_terms", query_terms), ("doc_terms", doc_terms)):
        if isinstance(terms, str | bytes):
            raise TypeError(f"{name} is one string; give a list of terms, for example {terms.split()!r}")
    frequency = Counter(doc_terms)
    present = [term for term in query_terms if frequency[term]]
    if not present:
        return 0.0
    factor = length_factor(len(doc_terms) if doc_len is None else doc_len, avgdl, b)
    score = 0.0
    for term in present:
        if not df.get(term, 0):
            raise ValueError(f"the document holds {term!r}, yet its df is 0: these counts are of another corpus")
        score += float(idf(n_docs, df[term])) * float(saturation(frequency[term], k1, factor))
    return score
