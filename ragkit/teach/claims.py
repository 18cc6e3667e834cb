"""Claims: a figure that a source states, beside its computation, with the verdict that follows.

The verdict is computed. A quoted number holds when the computed one rounds to it at the digits written. It "rounds
differently" when the last digit is off by one and the whole by less than a hundredth: 8.15 for 8.14, not 1.9 for
2.0. Otherwise it does not hold. A statement holds when its check does. A condition that the source does not state
makes a claim conditional. What a machine decides is measured.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from math import isfinite
from typing import Any, Literal

from ragkit.teach.page import escape, style

SOURCES = {
    "D1": "BM25, bi-encoders and recall@k",
    "D2": "BM25 and lexical search",
    "D3": "recall@50 against precision@5",
}
Verdict = Literal["holds", "rounds differently", "conditional", "does not hold", "measured"]
MIME = "application/vnd.ragkit.claim+json"


@dataclass(frozen=True)
class Claim:
    """A stated figure or sentence, what it computes to, and the verdict."""

    id: str
    source: str
    says: str
    computed: str
    verdict: Verdict
    quoted: str = ""
    condition: str = ""
    reference: str = ""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:  # noqa: ANN401
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {"text/plain": self._text(), "text/html": self._html(), MIME: fields}

    def _rows(self) -> list[tuple[str, str]]:
        rows = [(f"“{SOURCES[self.source]}”, in short", self.says)]
        rows.append(("by reference" if self.reference else "computed", self.computed))
        rows += [("under the condition" if self.verdict == "conditional" else "it would hold", self.condition)]
        return [(name, value) for name, value in [*rows, ("see", self.reference)] if value]

    def _text(self) -> str:
        return "\n".join([f"{self.id}: {self.verdict}", *(f"  {name}: {value}" for name, value in self._rows())])

    def _html(self) -> str:
        rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in self._rows())
        kind, name = self.verdict.replace(" ", "-"), escape(self.id)
        return (
            f'{style()}<div class="rk-claim rk-{kind}" id="claim-{name}"><p class="rk-verdict">'
            f'<a href="#claim-{name}">{name}</a> <strong>{self.verdict}</strong></p><dl>{rows}</dl></div>'
        )


def claim(
    id: str,
    source: str,
    says: str,
    *,
    computed: float | str,
    quoted: str = "",
    holds: bool | None = None,
    measured: bool = False,
    condition: str = "",
    reference: str = "",
    show: str = "{}",
) -> Claim:
    """State a claim of a source and judge it.

    quoted: the number as the source writes it ("8.15"); the verdict compares `computed`, a number, with it.
    holds: for what is not one number: whether it was seen to hold, a value that the page computes.
    measured: for what a machine decides: `computed` says what was measured, and there is no right or wrong.
    condition: what must be so for the claim to be right, where the source does not say it.
    reference: where to read it, for a fact that no computation settles.
    show: format of a computed number, "{:.4f}".
    ValueError for an unknown source, and unless exactly one of `quoted`, `holds` and `measured` is given.

    >>> claim("idf-rare", "D1", "idf is about 8.15", quoted="8.15", computed=8.13998, show="{:.4f}").verdict
    'rounds differently'
    >>> claim("sat-twelve", "D1", "twelve score about 1.9 times one", quoted="1.9", computed=2.0).verdict
    'does not hold'
    """
    if source not in SOURCES:
        raise ValueError(f"claim {id}: no source {source!r}; the sources are {', '.join(SOURCES)}")
    if [bool(quoted), holds is not None, measured].count(True) != 1:
        raise ValueError(f"claim {id}: give one of the quoted number, whether it holds, and that it is measured")
    verdict: Verdict = "measured" if measured else "holds" if holds else "does not hold"
    if quoted:
        verdict = compare_quoted(quoted, float(computed))
    if verdict == "holds" and condition:
        verdict = "conditional"
    return Claim(id, source, says, show.format(computed), verdict, quoted, condition, reference)


def compare_quoted(quoted: str, computed: float) -> Verdict:
    """Judge a number as written against its computed value. ValueError for a computed NaN or infinity.

    >>> compare_quoted("3.38", 3.3754), compare_quoted("8.15", 8.13998), compare_quoted("1.9", 2.0)
    ('holds', 'rounds differently', 'does not hold')
    """
    if not isfinite(computed):
        raise ValueError(f"{computed} was computed where {quoted} is quoted: that is no number to compare")
    written = Decimal(quoted.replace(",", ""))
    digit = Decimal(1).scaleb(int(written.as_tuple().exponent))
    rounded = Decimal(repr(computed)).quantize(digit, ROUND_HALF_EVEN)
    if rounded == written:
        return "holds"
    close = abs(rounded - written) == digit and abs(float(written) - computed) < 0.01 * abs(computed)
    return "rounds differently" if close else "does not hold"
