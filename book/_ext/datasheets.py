"""What a datasheet shows: `{datasheet} NAME TABLE`, and `{browse} NAME` with `queries`, `documents` or `names`.

Both compute what they show from the collection when the page is read.
"""

from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import ragkit.corpora
from ragkit.corpora.asked import FOLDERS
from ragkit.teach.datasheets import Datasheet

TABLES = ("sizes", "documents_by_kind", "twins", "queries_by_kind", "judged", "by_kind", "agreed", "disagreements")
VIEWS = ("queries", "documents", "names")
sheet = cache(Datasheet.of)


class Shown(SphinxDirective):
    """A directive about one collection; its page is read again when the collection changes."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Show one part of one collection."""
        name, part = self.arguments
        for file in Path(ragkit.corpora.__path__[0], FOLDERS[name]).glob("*.jsonl"):
            self.env.note_dependency(str(file))
        return self.show(sheet(name), part)

    def show(self, of: Datasheet, part: str) -> list[nodes.Node]:
        """The nodes of the part."""
        raise NotImplementedError


class Table(Shown):
    """`{datasheet} NAME TABLE`."""

    def show(self, of: Datasheet, part: str) -> list[nodes.Node]:
        """A table, from Markdown."""
        if part not in TABLES:
            raise self.error(f"no table {part!r}; there is {', '.join(TABLES)}")
        found: list[nodes.Node] = self.parse_text_to_nodes(getattr(of, part)())
        for table in [one for node in found for one in node.findall(nodes.table)]:
            table["classes"].append("rk-table")
        return found


class Browse(Shown):
    """`{browse} NAME queries`, `{browse} NAME documents`, or `{browse} NAME names` for titles without texts."""

    def show(self, of: Datasheet, part: str) -> list[nodes.Node]:
        """A view, which is HTML."""
        if part not in VIEWS:
            raise self.error(f"no view {part!r}; there is {', '.join(VIEWS)}")
        html = of.queries_view() if part == "queries" else of.documents_view(texts=part == "documents")
        return [nodes.raw("", html, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the two directives."""
    app.add_directive("datasheet", Table)
    app.add_directive("browse", Browse)
    return {"env_version": 1, "parallel_read_safe": False}
