"""The chapters run in this process, so that a test can hold what a cell shows: the explorer itself, not its HTML."""

import ast
import contextlib
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ragkit.teach.explorers import Explorer
from ragkit.teach.predictions import Prediction

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


@dataclass
class Chapter:
    """A notebook after its last cell: its cells, its names, and what each cell showed."""

    cells: list[Any]
    names: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)  # by the cell's id

    def of(self, kind: type) -> list[Any]:
        """What was shown of this kind, in the order of the page."""
        return [value for value in self.shown.values() if isinstance(value, kind)]

    @property
    def explorers(self) -> list[Explorer]:
        return self.of(Explorer)

    @property
    def predictions(self) -> list[Prediction]:
        return self.of(Prediction)


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as a kernel does; gives the value of its last line, where that is an expression."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(tree, "<cell>", "exec"), names)
        return eval(compile(last, "<cell>", "eval"), names) if last else None


@pytest.fixture(scope="session")
def chapters() -> dict[str, Chapter]:
    """Every chapter, by the name of its notebook without the suffix."""
    found = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        chapter = Chapter(nbformat.read(path, 4).cells, {"__name__": "__main__"})
        for cell in chapter.cells:
            if cell.cell_type == "code":
                chapter.shown[cell.id] = run(cell.source, chapter.names)
        found[path.stem] = chapter
    return found
