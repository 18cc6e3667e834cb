"""Seeded collections with planted document frequencies: for arithmetic and cost, never for quality."""

from collections.abc import Iterator, Mapping

import numpy as np

from ragkit.corpora.collections import Corpus

PUBLISHED = {"page_size": 3, "pagination": 410}  # the two terms of the source, in a corpus of 12,000


def planted_corpus(
    n_docs: int = 12_000,
    planted: Mapping[str, int] | None = None,
    *,
    mean_words: int = 60,
    n_words: int = 20_000,
    seed: int = 7,
) -> Corpus:
    """Generate `n_docs` documents in which each planted term stands in exactly so many.

    The other words are w0, w1, …, drawn with Zipf's frequencies (the r-th with weight 1/(r + 1)); lengths are
    log-normal with mean `mean_words`, at least 1. A planted term stands once or more in each of its documents.
    The same arguments give the same corpus. ValueError where a term is planted in more documents than there are,
    is not one word, or is one of the other words.

    >>> corpus = planted_corpus(200, {"page_size": 3})
    >>> sum("page_size" in text.split() for text in corpus.docs.values())
    3
    """
    planted = PUBLISHED if planted is None else planted
    if n_docs < 1:
        raise ValueError(f"n_docs is {n_docs}; a corpus has 1 document or more")
    if not (mean_words > 0 and n_words >= 1):
        raise ValueError(f"mean_words is {mean_words} and n_words is {n_words}; a document needs words to draw")
    words = np.char.add("w", np.arange(n_words).astype(str))
    for term, df in planted.items():
        if not 0 <= df <= n_docs:
            raise ValueError(f"{term!r} is planted in {df} of {n_docs} documents")
        if term.split() != [term] or term in words:
            raise ValueError(f"{term!r} cannot be planted: it must be one word, and none of w0, w1, …")
    rng = np.random.default_rng(seed)
    sigma = 0.6
    lengths = np.maximum(1, rng.lognormal(np.log(mean_words) - sigma**2 / 2, sigma, n_docs).round()).astype(int)
    weights = 1.0 / np.arange(1, n_words + 1)
    drawn = words[rng.choice(n_words, size=int(lengths.sum()), p=weights / weights.sum())]
    texts = [list(map(str, piece)) for piece in np.split(drawn, np.cumsum(lengths)[:-1])]
    for term, df in planted.items():
        for number in rng.choice(n_docs, size=df, replace=False):
            at = rng.integers(0, len(texts[number]) + 1)
            texts[number][at:at] = [term] * int(rng.geometric(0.6))
    ids = [f"s{number:05d}" for number in range(n_docs)]
    return Corpus(
        "synthetic",
        {doc_id: " ".join(text) for doc_id, text in zip(ids, texts, strict=True)},
        dict.fromkeys(ids, ""),
        {
            "source": "ragkit.planted_corpus",
            "seed": seed,
            "planted": dict(planted),
            "mean_words": mean_words,
            "n_words": n_words,
        },
    )


def large_texts(
    n_docs: int = 51_310, *, mean_words: int = 449, n_words: int = 200_000, seed: int = 7
) -> Iterator[str]:
    """Generate texts for measuring what an index costs: at the defaults, 23 million words, 292 distinct in a text.

    Words are w0, w1, …, the r-th with Zipf's weight (r + 1) ** -1.06; lengths are log-normal, at least 1. Every
    twelfth word begins with a capital, and the one before it ends in a full stop, so that a tokenizer has work.

    >>> [text[:17] for text in large_texts(2, n_words=90, seed=1)]
    ['W0 w68 w2 w4 w37 ', 'W3 w5 w51 w4 w1 w']
    """
    rng = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(n_words)]
    forms = np.array([*words, *(word.capitalize() for word in words), *(f"{word}." for word in words)], dtype=object)
    for length in np.maximum(1, rng.lognormal(np.log(mean_words) - 0.3**2 / 2, 0.3, n_docs).round()).astype(int):
        # The inverse of the distribution: with probability rng.random() the rank is lower than this.
        ranks = (1 - rng.random(length) * (1 - (n_words + 1) ** -0.06)) ** (-1 / 0.06)
        numbers = np.minimum(ranks.astype(int), n_words) - 1
        numbers[0::12] += n_words
        numbers[11::12] += 2 * n_words
        yield " ".join(forms[numbers])
