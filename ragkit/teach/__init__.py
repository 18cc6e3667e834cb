"""Everything that a page shows: explorers, figures, predictions, exercises, claims.

>>> from ragkit.teach import picture, predict, check, claim
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # so that editors and the type checker see what __getattr__ finds at run time
    from ragkit.teach.claims import claim as claim
    from ragkit.teach.exercises import check as check
    from ragkit.teach.explorers import Control as Control
    from ragkit.teach.explorers import Explorer as Explorer
    from ragkit.teach.figures import canvas as canvas
    from ragkit.teach.figures import picture as picture
    from ragkit.teach.predictions import predict as predict

# public name -> the module that defines it; matplotlib is loaded by what draws, and by nothing else
_HOME = {
    "canvas": "ragkit.teach.figures",
    "picture": "ragkit.teach.figures",
    "Control": "ragkit.teach.explorers",
    "Explorer": "ragkit.teach.explorers",
    "predict": "ragkit.teach.predictions",
    "check": "ragkit.teach.exercises",
    "claim": "ragkit.teach.claims",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute may be anything
    if name not in _HOME:
        raise AttributeError(f"ragkit.teach has no public name {name!r}; it has {', '.join(_HOME)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
