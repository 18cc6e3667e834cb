"""Figures in one style: inline SVG that takes its colours from the page, in light and in dark.

Colour carries meaning and is never alone: lexical is blue, solid, with circles; dense is vermilion, dashed, with
squares. The palette is Okabe and Ito's ("Color Universal Design", 2008).
"""

import io
import re
from dataclasses import dataclass
from typing import Any, Literal

from cycler import cycler
from matplotlib import style as matplotlib_style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ragkit.teach.page import escape, style

PALETTE = {
    "lexical": "#0072b2",
    "dense": "#d55e00",
    "fused": "#cc79a7",
    "relevant": "#009e73",
    "partial": "#e69f00",
    "other": "#767676",
}
LINE = {  # what goes with the colour, so that a print in grey says the same
    "lexical": {"color": PALETTE["lexical"], "linestyle": "-", "marker": "o"},
    "dense": {"color": PALETTE["dense"], "linestyle": "--", "marker": "s"},
    "other": {"color": PALETTE["other"], "linestyle": ":", "marker": ""},
}
INK = "#000000"  # becomes the page's text colour

WIDTH = 4.8  # inches; the page scales it
HEIGHTS = {"low": 2.4, "tall": 3.4}
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, selected and read aloud
    "svg.hashsalt": "ragkit",  # the same figure gives the same bytes
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=[PALETTE["lexical"], PALETTE["dense"], PALETTE["fused"]]),
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
}
# For the whole kernel, once: an artist takes its style when it is made, and notebooks make theirs themselves.
matplotlib_style.use(STYLE)


def canvas(height: Literal["low", "tall"] = "low", *, left: float = 0.13, right: float = 0.96) -> tuple[Figure, Axes]:
    """A figure of the book's width and one pair of axes in its style. `left` and `right` are the axes' edges.

    Not a pyplot figure: it is gone when nobody holds it, and a slider moved often leaves none behind.
    """
    figure = Figure(figsize=(WIDTH, HEIGHTS[height]))
    axes = figure.subplots()
    bottom = 0.45 / HEIGHTS[height]  # the same margin in inches at either height
    figure.subplots_adjust(left=left, right=right, bottom=bottom, top=1 - 0.2 / HEIGHTS[height])
    return figure, axes


def svg(figure: Figure) -> str:
    """The figure as an SVG element without a fixed size, its colours tied to the page's."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # no size: the page gives it. What matplotlib leaves at SVG's own default, black, is the page's ink as well
    text = re.sub(r'<svg([^>]*?) width="[^"]*" height="[^"]*"', r'<svg fill="currentColor"\1', text, count=1)
    text = re.sub(r"font-family: [^;\"]*(; )?", "", text)  # the page's own type
    text = text.replace(INK, "currentColor")
    for name, colour in PALETTE.items():
        text = re.sub(colour, f"var(--rk-{name}, {colour})", text, flags=re.IGNORECASE)
    return re.sub(r"\s*\n\s*", " ", text).replace("> <", "><").strip()


@dataclass(frozen=True)
class Picture:
    """A finished figure; it shows itself on a page."""

    svg: str
    alt: str
    caption: str = ""

    def _repr_html_(self) -> str:
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        image = self.svg.replace("<svg ", f'<svg role="img" aria-label="{escape(self.alt)}" ', 1)
        return f'{style()}<figure class="rk-figure">{image}{caption}</figure>'

    def __repr__(self) -> str:
        return f"Picture: {self.alt}"


def picture(figure: Figure, *, alt: str, caption: str = "") -> Picture:
    """Finish a figure. `alt` says what one would see; `caption` gives the answer to the figure's question.

    ValueError for an alt text of fewer than four words: a reader who cannot see the figure has nothing else.

    >>> figure, axes = canvas()
    >>> _ = axes.plot([0, 1], [0, 1])
    >>> picture(figure, alt="A straight line from zero to one.")
    Picture: A straight line from zero to one.
    """
    if len(alt.split()) < 4:
        raise ValueError(f"the alt text is {alt!r}; say in a sentence what one would see")
    return Picture(svg(figure), alt, caption)
