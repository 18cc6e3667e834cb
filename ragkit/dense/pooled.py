"""One vector for a document out of the vectors of its passages: what a pooled average keeps of each, and dilutes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragkit.dense.scan import DenseIndex


def mean_of_passages(
    index: DenseIndex, origin: Mapping[str, Any], weights: Sequence[float] | None = None
) -> DenseIndex:
    """An index of documents, each the mean of its passages' vectors, so that nothing is cut and all is diluted.

    `origin` maps a passage id to its document's id, or to a tuple that begins with it, as `Passages.origin` does.
    `weights` are those of the passages, in the order of the index: with numbers of word pieces, each piece counts the
    same however the text was cut. Without them each passage does. The record of the runs notes the pooling.
    ValueError for weights of another length, or not above 0; LookupError for a passage that `origin` does not have.

    >>> index = DenseIndex.from_vectors(["d1#1", "d1#2", "d2#1"], [[1, 0], [0, 1], [0, 1]])
    >>> pooled = mean_of_passages(index, {"d1#1": "d1", "d1#2": "d1", "d2#1": "d2"}, weights=[3, 1, 5])
    >>> [f"{hit.doc_id} {hit.score:.3f}" for hit in pooled.search([1, 0])]
    ['d1 0.949', 'd2 0.000']
    """
    shares = np.ones(len(index)) if weights is None else np.asarray(weights, dtype=np.float64)
    if shares.shape != (len(index),) or not (shares > 0).all():
        raise ValueError(f"{len(index)} passages need as many weights, each above 0; shape {shares.shape} was given")
    rows: dict[str, list[int]] = {}
    for number, passage in enumerate(index.doc_ids):
        if passage not in origin:
            raise LookupError(f"the passage {passage!r} is not in origin")
        at = origin[passage]
        rows.setdefault(str(at[0] if isinstance(at, tuple) else at), []).append(number)
    means = [shares[own] @ index.vectors[own].astype(np.float64) / shares[own].sum() for own in rows.values()]
    record = {**index.record, "pooled": "mean of passages", "folded": "mean of the passages of each document"}
    return DenseIndex.from_vectors(list(rows), np.array(means), index.encoder, record)
