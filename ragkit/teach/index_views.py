"""What chapter 04 shows: the size of an index, as arrays and as Python objects."""

import tracemalloc

from matplotlib.axes import Axes

from ragkit.teach.explorers import Control, Explorer, Frame
from ragkit.teach.figures import INK, PALETTE

ARRAY_BYTES = 8  # a document number and a frequency, each a C int


def bytes_per_tuple_posting(n_docs: int, distinct: int = 292) -> float:
    """Measure what a posting takes as a tuple (document, frequency) in a list per term, built document by document.

    Bytes a posting, by tracemalloc: the list's slot, the tuple, and its share of the document's int, which the
    document's postings have in common. Frequencies are small ints, which Python shares everywhere.
    ValueError for fewer than 100 documents, where the lists' own headers would still show.

    >>> 40 < bytes_per_tuple_posting(500, distinct=20) < 100
    True
    """
    if n_docs < 100:
        raise ValueError(f"n_docs is {n_docs}; measure 100 documents or more")
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        postings: list[list[tuple[int, int]]] = [[] for _ in range(distinct)]
        for number in range(n_docs):
            for term in range(distinct):
                postings[term].append((number, 1 + (number + term) % 3))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return (after - before) / (n_docs * distinct)


def index_size(tuple_bytes: float) -> Explorer:
    """What the postings of a collection take, over its size: arrays beside tuples of `tuple_bytes` each."""
    tuple_bytes = round(tuple_bytes)  # as the readout writes it, so that its product is the one that it shows
    sizes = (1_000, 5_000, 12_000, 51_310, 200_000, 1_000_000, 1_800_000, 5_000_000)

    def compute(chunks: int, distinct: int) -> Frame:
        postings = chunks * distinct
        bars = {"arrays": postings * ARRAY_BYTES / 1e9, "tuples": postings * tuple_bytes / 1e9}
        return {"chunks": chunks, "distinct": distinct, "postings": postings, "bars": bars}

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xscale="log", xlim=(1e-4, 1e3), ylim=(-0.5, 1.9), yticks=[], xlabel="gigabytes, logarithmic")
        axes.spines["left"].set_visible(False)
        axes.plot([16, 16], [-0.5, 1.7], ":", color=INK, linewidth=1)
        axes.annotate("16 GB", (16, 1.7), (0, 3), textcoords="offset points", ha="center")

    def draw(axes: Axes, frame: Frame) -> None:
        for place, (name, size) in zip((1, 0), frame["bars"].items(), strict=True):
            colour = PALETTE["lexical"] if name == "arrays" else PALETTE["other"]
            axes.barh(place, size, 0.4, color=colour, ec=INK, lw=0.8)
            axes.annotate(f"{name} {size:,.3g} GB", (1e-4, place + 0.28), (2, 0), textcoords="offset points")

    def readout(frame: Frame) -> str:
        product = f"{frame['chunks']:,} × {frame['distinct']} = {frame['postings']:,} postings"
        arrays, tuples = frame["bars"].values()
        return f"{product}; × {ARRAY_BYTES} bytes = {arrays:,.3g} GB; × {tuple_bytes:.0f} bytes = {tuples:,.3g} GB"

    return Explorer(
        "What the postings take",
        (
            Control("chunks", "chunks", sizes, 51_310, "{:,}"),
            Control("distinct", "distinct terms in each", (50, 100, 200, 292, 500, 1_000), 292, "{:,}"),
        ),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: f"{frame['chunks']:_} * {frame['distinct']} * {ARRAY_BYTES} / 1e9",
        alt=lambda frame: (
            f"Two bars on a logarithmic axis: arrays {frame['bars']['arrays']:,.3g} GB, "
            f"tuples {frame['bars']['tuples']:,.3g} GB; a dotted line marks 16 GB."
        ),
        left=0.04,
    )
