"""The pages of the book as the prose check sees them: what is prose, what is shown, what may be cited."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from written import Number, find

ROOT = Path(__file__).resolve().parent.parent
CLAIM = "application/vnd.ragkit.claim+json"

# Markdown that is not prose and is blanked, but for group "keep".
_NOT_PROSE = re.compile(
    r"""<!--.*?--> | ^[ \t]*%.*?$                                               # comments
      | ^[ \t]*(?:`{3,}|~{3,}|:{3,})\{[^}\n]+\} (?P<keep>[^\n]*) (?:\n[ \t]*:[\w-]+:[^\n]*)*    # directive, options
      | ^\([^)\n]+\)=$ | \{[#.][A-Za-z][^}\n]*\}                                # anchors, attributes
      | \{(?!math)[\w:-]+\}`[^`\n]+`                                            # roles: terms, references, citations
      | (?<=\]) \( (?:<[^>\n]*> | [^()\s]* (?:\([^()\s]*\)[^()\s]*)* )          # the target of a link or an image
      | ^\[[^\]^\n][^\]\n]*\]:\s*\S+ | (?<=\])\[[^\]\n]*[A-Za-z][^\]\n]*\]      # the same, elsewhere in the page
      | <?https?://[^\s>)]+>? | [\w./-]+\.(?:png|svg|jpg|ipynb|md|html|css|js|py|bib)\b       # addresses, paths
      | </?[A-Za-z][\w-]* (?:\s+[A-Za-z_:][\w:.-]* (?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)* \s*/?> # tags
      | &\#?\w+; | \\[A-Za-z]+                                                # entities, commands of TeX
    """,
    re.X | re.M | re.S,
)


def prose(markdown: str) -> str:
    """The text with everything that is not prose blanked: same length, same lines.

    >>> prose("[8.14](a.md#b12) in {cite}`x94`").split()
    ['[8.14]', ')', 'in']
    """

    def blank(match: re.Match[str]) -> str:
        kept, start = match["keep"] or "", match.start("keep") - match.start()
        blanks = re.sub(r"[^\n]", " ", match[0])
        return blanks[:start] + prose(kept) + blanks[start + len(kept) :] if kept else blanks

    return _NOT_PROSE.sub(blank, markdown)


def typed(code: str) -> str:
    """The strings in code with the rest blanked, and the braces in them too: what a cell says and never computed.

    >>> typed('Markdown(f"It is {x:.2f}, not 8.15")').strip()
    'It is         , not 8.15'
    """
    nodes = list(ast.walk(ast.parse(code)))
    within = {id(inner) for node in nodes if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)}
    lines = code.splitlines(keepends=True)
    kept = re.sub(r"[^\n]", " ", code)
    for node in nodes:
        plain = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in within
        if plain or isinstance(node, ast.JoinedStr):
            start, end = (
                len("".join(lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())
                for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
            )
            kept = kept[:start] + code[start:end] + kept[end:]
    return re.sub(
        r"""\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\b[bfru]{1,2}(?=["'])|["']""", lambda gap: " " * len(gap[0]), kept
    )


_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\n|\n(?=[|*-])")


@dataclass(frozen=True)
class Part:
    """A cell of a notebook or a block of a page of the book, with what it marks as given."""

    where: str
    text: str
    given: Mapping[str, str] = field(default_factory=dict)
    line: int = 1
    near: Sequence[Number] = ()  # shown in the same section, from one heading to the next
    code: bool = False  # a cell that displays Markdown: its strings are the prose

    @property
    def prose(self) -> str:
        """The text with all but the prose blanked."""
        return prose(typed(self.text) if self.code else self.text)

    def place(self, start: int) -> str:
        """Where a number stands, with its sentence."""
        line = self.line + self.text.count("\n", 0, start)
        sentence = _SENTENCE.split(self.text[:start])[-1] + _SENTENCE.split(self.text[start:])[0]
        return f"{self.where}{line}: “{' '.join(sentence.split())}”"


@dataclass(frozen=True)
class Page:
    """The prose of a page, and what its numbers may come from."""

    name: str
    parts: list[Part]
    sources: Mapping[str, list[Number]]  # by the name that a given number cites
    shown: list[Number] = field(default_factory=list)  # in outputs: these need no mark


def readable(output: Mapping[str, Any]) -> str:
    """What a reader sees of an output as text. Pictures, explorers, predictions and exercises show none."""
    if output["output_type"] == "stream":
        return output["text"] if output["name"] == "stdout" else ""
    data = output.get("data", {})
    if CLAIM in data:
        return str(data[CLAIM]["computed"])
    if "text/html" in data:
        if re.search(r"""class=["'][^"']*\brk-(?:explorer|figure|predict|exercise)(?![\w-])""", data["text/html"]):
            return ""
        page = BeautifulSoup(data["text/html"], "html.parser")
        for element in page.select("script, style, svg, template, [hidden]"):
            element.decompose()
        return page.get_text("\n")
    if "text/markdown" in data or "text/latex" in data:
        return prose(data.get("text/markdown") or data["text/latex"])
    seen_otherwise = any(not mime.startswith("text/") for mime in data)
    return "" if seen_otherwise else data.get("text/plain", "")


def numbers_in(texts: Iterable[object]) -> list[Number]:
    """The distinct numbers of texts that programs wrote: there, a space between digits separates numbers."""
    found = [number for text in texts for number in find(re.sub(r"(?<=\d) (?=\d)", "  ", str(text)))]
    return list({(number.value, number.percent): number for number in found}.values())


def literals(code: str) -> list[Number]:
    """The numbers that stand in code."""
    nodes = (node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant))
    return numbers_in(value for value in nodes if isinstance(value, int | float) and not isinstance(value, bool))


def computed(cell: Mapping[str, Any]) -> Iterator[Number]:
    """The numbers that the outputs of a cell show, but for those that only repeat the cell's own strings."""
    said = {number.key for number in find(typed(cell["source"]))}
    for output in cell["outputs"]:
        is_claim = CLAIM in output.get("data", {})
        yield from (number for number in numbers_in([readable(output)]) if is_claim or number.key not in said)


@cache
def exercises() -> dict[str, list[Number]]:
    """The numbers of each exercise, which its task and its solution in the notebook repeat, and the right answer."""
    from ragkit.teach.exercises import EXERCISES

    files = sorted((ROOT / "ragkit/teach/answers").glob("*.py"))
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    pairs = [
        pair for node in nodes if isinstance(node, ast.Dict) for pair in zip(node.keys, node.values, strict=True)
    ]
    return {
        f"exercise:{key.value}": numbers_in([ast.unparse(value), f"{EXERCISES[key.value].right():.2f}"])
        for key, value in pairs
        if isinstance(key, ast.Constant) and ast.unparse(value).startswith("Exercise(")
    }


def notebook_page(path: Path, executed: Path) -> Page:
    """A notebook: its prose from `path`, its outputs from an execution of the same code."""
    cells = nbformat.read(path, 4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    run = {cell.id: cell for cell in nbformat.read(executed, 4).cells if cell.cell_type == "code"}
    if [(cell.id, cell.source) for cell in code] != [(cell.id, cell.source) for cell in run.values()]:
        raise ValueError(f"{path.name} has changed since it was executed; execute it again")

    sources = exercises() | {f"cell:{cell.id}": literals(cell.source) for cell in code}
    sources |= {f"output:{cell.id}": list(computed(cell)) for cell in run.values()}
    for claim in (
        output.data[CLAIM] for cell in run.values() for output in cell.outputs if CLAIM in output.get("data", {})
    ):
        fields = (claim.get(name, "") for name in ("says", "quoted", "computed", "condition", "reference"))
        sources[f"claim:{claim['id']}"] = numbers_in(fields)
    notes = [cell.metadata.get("ragkit", {}) for cell in cells]
    minutes = [note.get("minutes", 0) for note in notes]
    sources["minutes"] = numbers_in([sum(minutes), *minutes])

    parts, shown, near = [], [], []
    for number, (cell, note) in enumerate(zip(cells, notes, strict=True), 1):
        if cell.cell_type == "markdown" and re.search(r"^#+ ", cell.source, re.M):
            near = []  # the parts of this section share the list, and see what it gets below
        if cell.cell_type == "code":
            near += sources[f"output:{cell.id}"]
            shown += sources[f"output:{cell.id}"]
        if cell.cell_type == "markdown" or "Markdown(" in cell.source:
            where = f"notebooks/{path.name}, cell {number} ({cell.id}), line "
            parts.append(Part(where, cell.source, note.get("given", {}), near=near, code=cell.cell_type == "code"))
    return Page(f"notebooks/{path.name}", parts, sources | _files(parts), shown)


def book_page(path: Path, notebooks: Iterable[Page]) -> Page:
    """A page of `book/`: its blocks, and all that the notebooks hold, for it to cite by name."""
    sources: dict[str, list[Number]] = {}
    minutes = []
    for page in notebooks:
        name = Path(page.name).stem
        for source, numbers in page.sources.items():
            kind, _, cell = source.partition(":")
            sources[f"{kind}:{name}:{cell}" if kind in ("cell", "output") else source] = numbers
        minutes.append(max(number.value for number in page.sources["minutes"]))
    sources["minutes"] = numbers_in([sum(minutes), *minutes])
    parts = list(_blocks(f"book/{path.name}:", path.read_text(encoding="utf-8")))
    return Page(f"book/{path.name}", parts, sources | _files(parts))


def _files(parts: Iterable[Part]) -> dict[str, list[Number]]:
    cited = {source for part in parts for source in part.given.values() if source.startswith("file:")}
    paths = {source: ROOT / source.removeprefix("file:") for source in cited}
    return {source: numbers_in([path.read_text("utf-8")]) for source, path in paths.items() if path.is_file()}


@cache
def parser() -> MarkdownIt:
    """Markdown as the book reads it."""
    return create_md_parser(MdParserConfig(enable_extensions={"colon_fence", "deflist", "dollarmath"}), RendererHTML)


def _blocks(where: str, text: str) -> Iterator[Part]:
    """The blocks of a page, each with the given numbers of the comments right above it."""
    lines, given = text.splitlines(), {}
    for token in parser().parse(text):
        if token.level or not token.map:
            continue
        if token.type == "myst_line_comment":
            given |= _given(token.content)
        elif token.type != "front_matter":
            start, end = token.map
            yield Part(where, "\n".join(lines[start:end]), given, start + 1)
            given = {}
    if given:
        yield Part(where, "", given, len(lines))


def _given(comment: str) -> dict[str, str]:
    """The numbers that a comment marks, with their sources."""
    pairs = {}
    for line in comment.splitlines():
        if line.strip().startswith("given:"):
            for entry in line.split(":", 1)[1].split(";"):
                numbers, _, source = entry.strip().rpartition(" ")
                pairs |= {number.written: source for number in find(numbers)} or {numbers: source}
    return pairs


def pages(executed: Path) -> list[Page]:
    """Every page of the book. `executed`: the folder of the executed notebooks."""
    paths = sorted(ROOT.glob("notebooks/*.ipynb"))
    notebooks = [notebook_page(path, executed / path.name) for path in paths]
    return notebooks + [book_page(path, notebooks) for path in sorted(ROOT.glob("book/*.md"))]
