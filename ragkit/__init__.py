"""Measure retrieval: BM25, dense retrieval and recall, each number explained.

`import ragkit` loads numpy and nothing else. A public name is fetched from its room when it is first used,
so a reader meets `from ragkit import idf` and never needs to know that `idf` lives in `ragkit.lexical.scoring`.

>>> from ragkit import idf
>>> f"{idf(12_000, 3):.4f}"
'8.1400'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # so that editors and the type checker see what __getattr__ finds at run time
    from ragkit.corpora.collections import Corpus as Corpus
    from ragkit.corpora.collections import load_corpus as load_corpus
    from ragkit.corpora.synthetic import planted_corpus as planted_corpus
    from ragkit.lexical.analysis import Analyzer as Analyzer
    from ragkit.lexical.index import BM25Index as BM25Index
    from ragkit.lexical.scoring import bm25_score as bm25_score
    from ragkit.lexical.scoring import idf as idf
    from ragkit.lexical.scoring import length_factor as length_factor
    from ragkit.lexical.scoring import saturation as saturation
    from ragkit.ranking import Hit as Hit
    from ragkit.ranking import Run as Run
    from ragkit.ranking import rank as rank

__version__ = "0.1.0"

# public name -> the module that defines it
_HOME = {
    "idf": "ragkit.lexical.scoring",
    "saturation": "ragkit.lexical.scoring",
    "length_factor": "ragkit.lexical.scoring",
    "bm25_score": "ragkit.lexical.scoring",
    "Analyzer": "ragkit.lexical.analysis",
    "BM25Index": "ragkit.lexical.index",
    "Hit": "ragkit.ranking",
    "Run": "ragkit.ranking",
    "rank": "ragkit.ranking",
    "Corpus": "ragkit.corpora.collections",
    "load_corpus": "ragkit.corpora.collections",
    "planted_corpus": "ragkit.corpora.synthetic",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute may be anything
    if name not in _HOME:
        raise AttributeError(f"ragkit has no public name {name!r}; the public names are {', '.join(_HOME)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
