"""Late interaction: a vector a word piece instead of one a text, compared piece by piece.

Khattab and Zaharia, "ColBERT: Efficient and effective passage search via contextualized late interaction over BERT"
(2020). Their model was trained for it; MiniLM was trained for the mean of its pieces' vectors, so what comes out here
is what an encoder that is already there gives away for nothing but space and time.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragkit.dense.encoder import Encoder, Kind

Pieces = NDArray[np.float32]


def token_vectors(encoder: Encoder, texts: Iterable[str], kind: Kind = "document") -> list[Pieces]:
    """For each text the vectors of its word pieces, each of length 1: float32, shape (pieces, dim).

    The special tokens at either end are left out, and so is what lies beyond the window. ValueError for a blank text.
    """
    listed = encoder._prefixed(encoder._listed(texts, kind), kind)
    if blank := [at for at, text in enumerate(listed) if not text.strip()]:
        raise ValueError(f"{len(blank)} of {len(listed)} texts are blank, the first at {blank[0]}: leave them out")
    given = encoder._network.encode(
        listed, prompt="", output_value="token_embeddings", show_progress_bar=False, convert_to_numpy=False
    )
    found = [np.asarray(one.cpu(), dtype=np.float32)[1:-1] for one in given]
    return [one / np.linalg.norm(one, axis=1, keepdims=True) for one in found]


def maxsim(query: Pieces, passages: Sequence[Pieces]) -> NDArray[np.float32]:
    """A score for each passage: for every piece of the query its nearest piece in the passage; the mean of these.

    The mean orders as the sum does, and is a cosine that can be read. Vectors have length 1. ValueError where a
    passage, or the query, has no piece.

    >>> query = np.eye(3, dtype=np.float32)[:2]
    >>> maxsim(query, [query[::-1], query[:1]]).tolist()
    [1.0, 0.5]
    """
    if not passages:
        return np.zeros(0, dtype=np.float32)
    lengths = [len(passage) for passage in passages]
    if not len(query) or not all(lengths):
        raise ValueError("a text without word pieces has nothing to compare")
    starts = np.cumsum([0, *lengths[:-1]])
    nearest = np.maximum.reduceat(query @ np.concatenate(passages).T, starts, axis=1)
    return np.asarray(nearest.mean(axis=0), dtype=np.float32)
