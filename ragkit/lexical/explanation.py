"""Why a document has its score, as a table: one row for each term of the query."""

from dataclasses import dataclass
from html import escape
from typing import NamedTuple


class TermScore(NamedTuple):
    """One row of an explanation: what one term of the query adds to the score."""

    term: str
    is_part: bool  # a piece of an identifier of the query
    tf: int
    df: int
    idf: float
    saturation: float
    score: float  # idf · saturation


@dataclass(frozen=True)
class Explanation:
    """Why a document has its score: one row for each term of the query. `total` equals the score."""

    doc_id: str
    rows: tuple[TermScore, ...]
    doc_len: int
    length_factor: float
    k1: float
    b: float
    note: str = ""  # why no row can count, where the reason is not this document

    @property
    def total(self) -> float:
        """The score: the sum of the rows, in the order of the query."""
        return sum(row.score for row in self.rows)

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                f"{row.term} (part)" if row.is_part else row.term,
                str(row.tf),
                str(row.df),
                f"{row.idf:.4f}",
                f"{row.saturation:.4f}",
                f"{row.score:.4f}",
            )
            for row in self.rows
        ]

    def _caption(self) -> str:
        if self.note:
            return f"{self.doc_id}: 0 ({self.note})"
        return (
            f"{self.doc_id}: {self.total:.4f} "
            f"({self.doc_len} terms, length factor {self.length_factor:.4f}, k1 = {self.k1:g}, b = {self.b:g})"
        )

    def __str__(self) -> str:
        table = [_HEAD, *self._cells(), ("total", "", "", "", "", f"{self.total:.4f}")]
        widths = [max(len(row[column]) for row in table) for column in range(len(_HEAD))]
        lines = [
            "  ".join(
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]
        return "\n".join([self._caption(), *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{cell}</th>" for cell in _HEAD)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._cells()
        )
        total = f'<tr><th colspan="{len(_HEAD) - 1}">total</th><td>{self.total:.4f}</td></tr>'
        return (
            f'<table class="rk-table"><caption>{escape(self._caption())}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody><tfoot>{total}</tfoot></table>"
        )


_HEAD = ("term", "tf", "df", "idf", "saturation", "score")
