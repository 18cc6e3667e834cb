"""The prose check: every number in the book's Markdown is an output of its page, or says where it comes from.

A page is a notebook or a file of `book/`. A number of two or more significant digits in its Markdown, or a number
word above twelve, must be, at the digits written, a number in an executed output of the notebook: one of up to two
digits in an output of its own section, because a page shows many of those by chance. Any other is marked as given:

- in a notebook, in the metadata of its cell: `{"ragkit": {"given": {"12,000": "cell:counts"}}}`;
- in a file of `book/`, in a comment above the paragraph, heading, list, table or directive:
  `% given: 8.15 claim:idf-rare; 12,000 410 cell:01_rarity:counts`.

A source is looked up, and does hold the number:

- `cell:<id>`: the code of that cell; in `book/`, `cell:<notebook>:<id>`;
- `output:<id>`: the output of that cell, in another section; in `book/`, `output:<notebook>:<id>`;
- `claim:<id>`: what this claim says, computes or has as its condition; in `book/`, a claim of any notebook;
- `exercise:<id>`: that exercise in `ragkit.teach.exercises`;
- `minutes`: the minutes of the notebook, or of one of its cells, in the metadata `ragkit.minutes`; in `book/`, of
  all notebooks together or of one of them;
- `file:<path>`: that file of the project, `file:pyproject.toml` for a version;
- `reference`: a cited work, for a year or a figure. Nobody looks it up, but the cell or block must hold a link or a
  citation, and the table counts these apart.

A mark that is false or that no number needs fails. What a cell displays with `Markdown(f"…")` is prose as well, where
a number in the string is typed and not computed; its marks stand in the metadata of that cell.

`python tests/prose.py [folder of executed notebooks]` prints the table; without a folder it takes the last build.
"""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from pages import ROOT, Page, Part, pages
from written import Number, changed, find


@dataclass
class Result:
    """What the check of a page found."""

    numbers: int = 0
    matched: int = 0
    given: int = 0
    reference: int = 0
    faults: list[str] = field(default_factory=list)


def check(page: Page) -> Result:
    """Look every number of a page up."""
    result = Result()
    for part in page.parts:
        numbers = [number for number in find(part.prose) if number.counts]
        given = {key(written): source for written, source in part.given.items()}
        result.numbers += len(numbers)
        for number in numbers:
            if source := given.get(number.key):
                result.given += 1
                result.reference += source == "reference"
                fault = _false(number, source, page, part)
            else:
                known = any(number.rounds_from(one) for one in (part.near if number.short else page.shown))
                result.matched += known
                fault = "" if known else "is in no output of the page, and not given"
            if fault:
                result.faults.append(f"{part.place(number.start)}: {number.written} {fault}")
        unused = set(given) - {number.key for number in numbers}
        result.faults += [
            f"{part.where}{part.line}: {one} is given, and no checked number here" for one in sorted(unused)
        ]
    return result


def _false(number: Number, source: str, page: Page, part: Part) -> str:
    """Why a number does not come from its source; "" where it does."""
    if source == "reference":
        cited = re.search(r"\]\(|\]\[|https?://|\{(?:cite|doc|ref|any)", part.text)
        return "" if cited else "is given by reference, and nothing is cited beside it"
    if source not in page.sources:
        return f"is given by {source}, which is not there"
    same = number.rounds_from if source.startswith(("claim:", "output:")) else number.equals
    return "" if any(same(one) for one in page.sources[source]) else f"is given by {source}, which does not hold it"


def key(written: str) -> str:
    """A number as its key, so that 12,000 marks 12{,}000 as well."""
    return next((number.key for number in find(written)), written)


def survivors(page: Page, seed: int = 0) -> list[str]:
    """Change each number of a page in turn, in the Markdown; the changes that the check does not notice."""
    unnoticed, random = [], Random(seed)
    for part in page.parts:
        for number in find(part.prose):
            if not number.counts:
                continue
            new = changed(number, random)
            text = part.text[: number.start] + (new or "") + part.text[number.start + len(number.written) :]
            if new is None or not check(replace(page, parts=[replace(part, text=text)])).faults:
                unnoticed.append(f"{part.place(number.start)}: {number.written} -> {new}")
    return unnoticed


@dataclass
class Report:
    """The check and the mutation test over the whole book."""

    results: dict[str, Result]
    unnoticed: dict[str, list[str]]

    @property
    def faults(self) -> list[str]:
        """Every number that is unknown, and every false mark."""
        return [fault for result in self.results.values() for fault in result.faults]

    @property
    def score(self) -> float:
        """The share of the changes that were caught."""
        numbers = sum(result.numbers for result in self.results.values())
        return 1 - sum(map(len, self.unnoticed.values())) / numbers if numbers else 1.0

    def __str__(self) -> str:
        form = "{:34}{:>9}{:>9}{:>7}{:>14}{:>8}{:>16}".format
        lines = [form("page", "numbers", "matched", "given", "by reference", "faults", "changes caught")]
        for name, one in self.results.items():
            caught = f"{one.numbers - len(self.unnoticed[name])} of {one.numbers}"
            lines.append(form(name, one.numbers, one.matched, one.given, one.reference, len(one.faults), caught))
        lines += [f"not caught: {line}" for unnoticed in self.unnoticed.values() for line in unnoticed]
        return "\n".join([*lines, f"changes caught: {self.score:.1%}"])


def report(checked: Iterable[Page], seed: int = 0) -> Report:
    """Check pages, and change each of their numbers in turn."""
    checked = list(checked)
    return Report(
        {page.name: check(page) for page in checked}, {page.name: survivors(page, seed) for page in checked}
    )


if __name__ == "__main__":
    try:
        found = report(pages(Path(sys.argv[1] if sys.argv[1:] else ROOT / "_build/jupyter_execute/notebooks")))
    except (FileNotFoundError, ValueError) as stale:
        sys.exit(f"{stale}\nBuild the book, or name a folder of executed notebooks.")
    print(found, *found.faults, sep="\n")
    sys.exit(1 if found.faults else 0)
