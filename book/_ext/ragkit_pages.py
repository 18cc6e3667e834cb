"""Two pages made from what the notebooks say: every claim (`{claims}`), the instructor's run sheet (`{run-sheet}`).

A claim is an output that carries `application/vnd.ragkit.claim+json`. A step of the run sheet is a Markdown cell that
begins a section and whose metadata holds `ragkit: {minutes, cut, say}`. Both are taken up when a notebook has been
executed and read, and set into the pages once all notebooks are known.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

CLAIM = "application/vnd.ragkit.claim+json"
FIELDS = ("verdict", "source", "says", "quoted", "computed", "condition")
VERDICTS = ("holds", "rounds differently", "conditional", "does not hold", "measured")
Said = dict[str, dict[str, list[dict[str, Any]]]]  # "claims" or "steps" -> docname -> what its notebook says
logger = logging.getLogger(__name__)


class Place(SphinxDirective):
    """`{claims}` or `{run-sheet}`: leaves a place that is filled when every notebook has been read."""

    def run(self) -> list[nodes.Node]:
        """Leave the place, and note the page that has it."""
        said(self.env)
        self.env.ragkit_pages.add(self.env.docname)  # type: ignore[attr-defined]
        return [nodes.container(ragkit=self.name)]


def said(env: BuildEnvironment) -> Said:
    """What was taken from the notebooks so far; Sphinx keeps it between builds."""
    if not hasattr(env, "ragkit_said"):
        env.ragkit_said, env.ragkit_pages = {"claims": {}, "steps": {}}, set()  # type: ignore[attr-defined]
    found: Said = env.ragkit_said  # type: ignore[attr-defined]
    return found


def warn(docname: str, message: str) -> None:
    """A warning of Sphinx: it fails the build."""
    logger.warning(message, location=docname, type="ragkit")


# Reading


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop what a page said: it is read again, or it is gone."""
    for pages in said(env).values():
        pages.pop(docname, None)
    env.ragkit_pages.discard(docname)  # type: ignore[attr-defined]


def take(app: Sphinx, doctree: nodes.document) -> None:
    """Take the claims and the steps of a notebook that was just read."""
    docname, path = app.env.docname, Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":
        return
    # The outputs come from the cache: myst-nb's copy in jupyter_execute has none when the cache was used.
    notebook = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
    with suppress(KeyError):  # it failed, and the build with it
        cache = get_cache(app.env.mystnb_config.execution_cache_path)  # type: ignore[attr-defined]
        _, notebook = cache.merge_match_into_notebook(notebook)
    said(app.env)["claims"][docname] = list(claims_of(notebook.cells, docname))
    said(app.env)["steps"][docname] = list(steps_of(notebook.cells, doctree, docname))


def claims_of(cells: list[dict[str, Any]], docname: str) -> Iterator[dict[str, Any]]:
    """The claims among the outputs of a notebook, checked."""
    for data in (output.get("data", {}) for cell in cells for output in cell.get("outputs", ())):
        if CLAIM not in data:
            continue
        claim = {"chapter": number(docname)} | data[CLAIM]
        missing = [name for name in ("id", *FIELDS) if not isinstance(claim.get(name), str)]
        missing += [] if claim["chapter"] else ["chapter"]
        if missing:
            warn(docname, f"claim {claim.get('id')!r} has no {' and no '.join(missing)}")
        elif f'id="claim-{claim["id"]}"' not in "".join(data.get("text/html", "")):
            warn(docname, f"claim {claim['id']!r} has no anchor claim-{claim['id']} in its HTML")
        else:
            yield claim


def steps_of(cells: list[dict[str, Any]], doctree: nodes.document, docname: str) -> Iterator[dict[str, Any]]:
    """The sections that carry minutes, in the order of the page."""
    first: dict[int, nodes.section] = {}  # cell -> the first section that begins in it
    for section in doctree.findall(nodes.section):
        first.setdefault(
            (section.line or 0) // 10_000 - 1, section
        )  # to myst-nb, cell i begins at line 10,000 (i + 1)
    for i, cell in enumerate(cells):
        plan = cell["metadata"].get("ragkit", {})
        if "minutes" not in plan:
            continue
        if i not in first or not isinstance(plan["minutes"], int | float):
            warn(docname, f"cell {i}: minutes {plan['minutes']!r}, but it begins no section, or that is no number")
            continue
        title = first[i].children[0].children
        text = "".join(f"`{part.astext()}`" if isinstance(part, nodes.literal) else part.astext() for part in title)
        yield {"title": text, "anchor": first[i]["ids"][0]} | plan


def check(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """No two claims share an id. The pages made here are written at every build, whichever notebook changed."""
    seen: dict[str, str] = {}
    for docname in chapters(env, "claims"):
        for claim in said(env)["claims"][docname]:
            if claim["id"] in seen:
                warn(docname, f"claim {claim['id']!r} was already stated in {seen[claim['id']]}")
            seen[claim["id"]] = docname
    return sorted(env.ragkit_pages)  # type: ignore[attr-defined]


# Writing


def chapters(env: BuildEnvironment, kind: str) -> list[str]:
    """The notebooks that said something, in the order of the table of contents."""

    def toc(docname: str) -> Iterator[str]:
        yield docname
        for child in env.toctree_includes.get(docname, ()):
            yield from toc(child)

    return [docname for docname in toc(env.config.root_doc) if said(env)[kind].get(docname)]


def prose(text: str) -> list[nodes.Node]:
    """Plain text with `code`."""
    parts = re.split(r"`([^`]+)`", text)
    return [nodes.literal(part, part) if i % 2 else nodes.Text(part) for i, part in enumerate(parts)]


def link(app: Sphinx, page: str, to: str, text: str, anchor: str = "") -> nodes.reference:
    """A link from one page to another."""
    uri = app.builder.get_relative_uri(page, to) + (f"#{anchor}" if anchor else "")
    return nodes.reference("", "", *prose(text), internal=True, refuri=uri)


def number(docname: str) -> str:
    """The chapter's number, from the name of its file; "" where it has none."""
    found = re.match(r"\d+", docname.rpartition("/")[2])
    return found[0] if found else ""


def heading(app: Sphinx, page: str, to: str) -> nodes.rubric:
    """Number and title of a chapter, as a heading that leads to it."""
    text = f"{number(to)} {app.env.titles[to].astext()}".strip()
    return nodes.rubric("", "", link(app, page, to, text), **{"heading-level": 2})


def table(head: list[str], rows: Iterable[tuple[str, list[list[nodes.Node]]]], kind: str) -> nodes.table:
    """A table whose rows are an id (or an empty string) and cells of inline nodes."""

    def row(anchor: str, cells: list[list[nodes.Node]]) -> nodes.row:
        entries = [nodes.entry("", nodes.paragraph("", "", *cell)) for cell in cells]
        return nodes.row("", *entries, ids=[anchor] if anchor else [])

    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", row("", [prose(name) for name in head]))
    group += nodes.tbody("", *(row(*cells) for cells in rows))
    return nodes.table("", group, classes=["rk-table", kind])


def fill(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put the tables where the directives left a place."""
    writers = {"claims": claims_page, "run-sheet": run_sheet}
    for place in [node for node in doctree.findall(nodes.container) if "ragkit" in node]:
        place.replace_self(list(writers[place["ragkit"]](app, page)))


def claims_page(app: Sphinx, page: str) -> Iterator[nodes.Node]:
    """How many claims hold, and all of them by chapter."""
    order, claims = chapters(app.env, "claims"), said(app.env)["claims"]
    count = Counter(claim["verdict"] for docname in order for claim in claims[docname])
    ranked = sorted(count, key=lambda verdict: (*(not verdict.startswith(known) for known in VERDICTS), verdict))
    total = ": " + ", ".join(f"{count[verdict]} {verdict}" for verdict in ranked) if count else ""
    yield nodes.paragraph("", f"{count.total()} claims{total}.", classes=["rk-count"])
    for docname in order:
        yield heading(app, page, docname)
        rows = []
        for claim in claims[docname]:
            anchor = f"claim-{claim['id']}"
            first = [link(app, page, docname, claim["id"], anchor)]
            rows.append((anchor, [first, *(prose(claim[name]) for name in FIELDS)]))
        yield table(["claim", *FIELDS], rows, "rk-claims")


def run_sheet(app: Sphinx, page: str) -> Iterator[nodes.Node]:
    """For each chapter: what to do, for how long, and what may be left out."""
    for docname in chapters(app.env, "steps"):
        steps = said(app.env)["steps"][docname]
        whole = sum(step["minutes"] for step in steps)
        late = sum(step["minutes"] for step in steps if not step.get("cut"))
        yield heading(app, page, docname)
        yield nodes.paragraph("", f"{whole:g} minutes" + (f", {late:g} when late." if late < whole else "."))
        rows, at = [], 0
        for step in steps:
            first = [link(app, page, docname, step["title"], step["anchor"])]
            rest = (f"{at:g}", f"{step['minutes']:g}", "skip" if step.get("cut") else "", step.get("say", ""))
            at += step["minutes"]
            rows.append(("", [first, *map(prose, rest)]))
        yield table(["section", "at", "minutes", "when late", "say before the surprise"], rows, "rk-run-sheet")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the two directives."""
    app.add_directive("claims", Place)
    app.add_directive("run-sheet", Place)
    app.connect("env-purge-doc", forget)
    app.connect("doctree-read", take)
    app.connect("env-updated", check)
    app.connect("doctree-resolved", fill)
    return {"env_version": 1, "parallel_read_safe": False}
