"""The vectors that come with the collections of this book, so that no chapter has to wait for a model.

`python -m ragkit.corpora.vectors` makes the files anew. A text whose vector is not in them is encoded when it is
asked for, which needs the model.
"""

import sys
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from json import dumps
from pathlib import Path

from ragkit.corpora.asked import FOLDERS, asked
from ragkit.corpora.chunks import characters, headings, whole
from ragkit.corpora.collections import Corpus, load_corpus
from ragkit.dense.cache import CachedEncoder
from ragkit.dense.encoder import load_encoder

# A file each: the passages of the default chunking; the queries; those of chapter 07; the chunkings of chapter 08.
PARTS = {"handbook": ("window", "queries", "asked", "chunkings"), "numpy-docs": ("window", "queries", "asked")}
SIZES = (400, 800, 1600, 3200)  # characters, of the chunkings that chapter 08 moves through
CHUNKINGS = (whole(), *(characters(size) for size in SIZES), headings())


def packaged_vectors(name: str) -> CachedEncoder:
    """An encoder that knows the passages and the queries of a collection of this book, and what its chapters ask.

    It also knows the handbook's passages under each of `CHUNKINGS`. Other texts, and those
    that another release of numpy has changed, go through the model, where it is installed.

    >>> encoder = packaged_vectors("handbook")
    >>> encoder.encode(["page_size"], kind="query").shape
    (1, 384)
    """
    caches = []
    folder = _folder(name)
    for part in PARTS[name]:
        with as_file(folder / f"vectors-{part}.npz") as path:
            caches.append(CachedEncoder.load(path, load_encoder))
    first, *others = caches
    for other in others:
        first = first.with_cache(other)
    return first


def make_vectors(corpus: Corpus, folder: Path) -> None:
    """Encode what `PARTS` names with the packaged model, into files in `folder`, and write the pieces of `asked`."""
    encoder = load_encoder()
    empty = CachedEncoder.empty(dict(encoder.record), encoder.dim, lambda: encoder)
    passages = dict.fromkeys(corpus.passages().values())
    free = [query.text for query in dict.fromkeys(asked(corpus.name)) if query.text not in corpus.queries.values()]
    for part in PARTS[corpus.name]:
        match part:
            case "window":
                cache = empty.with_texts(list(passages))
            case "queries":
                cache = empty.with_texts(list(corpus.queries.values()), "query")
            case "asked":
                cache = empty.with_texts(free, "query")
            case "chunkings":
                cut = dict.fromkeys(text for chunking in CHUNKINGS for text in corpus.passages(chunking).values())
                cache = empty.with_texts([text for text in cut if text not in passages])
        cache.save(folder / f"vectors-{part}.npz")
    shown = {query.text: encoder.pieces(query.text, "query") for query in asked(corpus.name)}
    (folder / "pieces.json").write_text(dumps(shown, ensure_ascii=False) + "\n", encoding="utf-8")


def _folder(name: str) -> Traversable:
    if name not in FOLDERS:
        raise ValueError(f"no vectors are packaged for {name!r}; there are some for {', '.join(map(repr, FOLDERS))}")
    return files("ragkit.corpora") / FOLDERS[name]


if __name__ == "__main__":
    for wanted in sys.argv[1:] or FOLDERS:
        with as_file(_folder(wanted)) as target:
            make_vectors(load_corpus(wanted), target)
