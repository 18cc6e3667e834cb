"""The vectors that come with the collections of this book, so that no chapter has to wait for a model.

`python -m ragkit.corpora.vectors` makes the files anew. A text whose vector is not in them is encoded when it is
asked for, which needs the model.
"""

import sys
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path

from ragkit.corpora.collections import Corpus, load_corpus
from ragkit.dense.cache import CachedEncoder
from ragkit.dense.encoder import load_encoder

FOLDERS = {"handbook": "handbook", "numpy-docs": "numpy_docs"}
PARTS = ("window", "queries")  # a file each: the passages of the default chunking, and the queries


def packaged_vectors(name: str) -> CachedEncoder:
    """An encoder that knows the passages and the queries of a collection of this book.

    Other texts, and those that another release of numpy has changed, go through the model, where it is installed.

    >>> encoder = packaged_vectors("handbook")
    >>> encoder.encode(["page_size"], kind="query").shape
    (1, 384)
    """
    caches = []
    for part in PARTS:
        with as_file(_folder(name) / f"vectors-{part}.npz") as path:
            caches.append(CachedEncoder.load(path, load_encoder))
    first, *others = caches
    for other in others:
        first = first.with_cache(other)
    return first


def make_vectors(corpus: Corpus, folder: Path) -> None:
    """Encode the passages and the queries of a collection with the packaged model, into files in `folder`."""
    encoder = load_encoder()
    empty = CachedEncoder.empty(dict(encoder.record), encoder.dim, lambda: encoder)
    passages = list(dict.fromkeys(corpus.passages().values()))
    empty.with_texts(passages).save(folder / "vectors-window.npz")
    empty.with_texts(list(corpus.queries.values()), "query").save(folder / "vectors-queries.npz")


def _folder(name: str) -> Traversable:
    if name not in FOLDERS:
        raise ValueError(f"no vectors are packaged for {name!r}; there are some for {', '.join(map(repr, FOLDERS))}")
    return files("ragkit.corpora") / FOLDERS[name]


if __name__ == "__main__":
    for wanted in sys.argv[1:] or FOLDERS:
        with as_file(_folder(wanted)) as target:
            make_vectors(load_corpus(wanted), target)
