"""What chapter 05 shows: a cosine drawn, what a scan takes here, and how far that goes."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from ragkit.dense.scan import scan_cost
from ragkit.dense.timing import ScanTimes, Variant
from ragkit.teach.benchmarks import Table
from ragkit.teach.explorers import Control, Explorer, Frame
from ragkit.teach.figures import INK, PALETTE, Picture, canvas, picture

RAM = 16 * 2**30  # of a usual laptop
AT_ONCE = 0.1  # seconds: a line to read the times against


def arrows() -> Picture:
    """The three vectors of the chapter: the query, a document that points nearly its way, and a longer one."""
    figure, axes = canvas("tall", left=0.1)
    axes.set(xlim=(0, 9.6), ylim=(0, 6.6), aspect="equal", xticks=range(0, 10, 2))
    axes.set(xlabel="first number", ylabel="second number")
    ends = {"query": ((0, 2), PALETTE["other"]), "a": ((3, 4), PALETTE["dense"]), "b": ((8, 6), PALETTE["dense"])}
    for name, (end, colour) in ends.items():
        dashed = "--" if name != "query" else "-"
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.8, "linestyle": dashed, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", end, (0, 0), arrowprops=arrow)
    for label, place in (("query", (0.15, 2.2)), ("a (3, 4)", (2.4, 4.2)), ("b (8, 6)", (8.1, 6.05))):
        axes.annotate(label, place)
    return picture(
        figure,
        alt="Three arrows from the origin: the query straight up, a to the upper right, b further right and longer.",
        caption="The angle between the query and a is the smaller one. How long b is has nothing to do with it.",
    )


def timing_table(times: ScanTimes) -> Table:
    """Sizes, bytes, milliseconds, and the bytes per second that they imply; the line's sizes marked."""
    rows = tuple(
        (
            f"{n:,}",
            f"{scan_cost(n, times.dim).mib:.1f}",
            f"{1000 * times.took(n):.2f}",
            f"{times.implied(n) / 1e9:.1f}",
            "yes" if n in times.past_cache else "",
        )
        for n in times.sizes
    )
    cache = "the system does not say" if times.cache is None else f"{times.cache / 2**20:.0f} MiB"
    return Table(
        ("vectors", "MiB", "ms a scan", "implied GB/s", "past the cache"),
        rows,
        f"Measured on this page, on one core, {times.dim} dimensions of float32. Reading alone goes at "
        f"{times.bandwidth / 1e9:.1f} GB/s. Last cache: {cache}.",
    )


def fitted(times: ScanTimes, reach: int = 5_000_000) -> Picture:
    """The measured times, the line through those past the cache, and the floor that memory sets."""
    figure, axes = canvas("tall")
    sizes = np.geomspace(times.sizes[0], reach, 60)
    floor = sizes * scan_cost(1, times.dim).bytes / times.bandwidth
    line = [times.predict(n) for n in times.past_cache] + [times.predict(reach)]
    axes.set(xscale="log", yscale="log", xlabel="vectors", ylabel="milliseconds a query")
    axes.plot(sizes, 1000 * floor, color=INK, linewidth=0.9)
    orange = PALETTE["dense"]
    axes.plot([*times.past_cache, reach], [1000 * seconds for seconds in line], "--", color=orange)
    axes.plot(times.sizes, [1000 * seconds for seconds in times.seconds], "s", color=orange)
    axes.plot(reach, 1000 * line[-1], "s", color=orange, markerfacecolor="none", markersize=7)
    far = f"{line[-1]:.2f} s"
    axes.annotate(far, (reach, 1000 * line[-1]), (-8, 4), textcoords="offset points", ha="right", va="bottom")
    place = len(sizes) // 2
    axes.annotate(
        "floor: bytes / bandwidth",
        (sizes[place], 1000 * floor[place]),
        (8, -8),
        textcoords="offset points",
        va="top",
    )
    return picture(
        figure,
        alt=f"Squares rise from {times.sizes[0]:,} to {times.sizes[-1]:,} vectors; a dashed line through the last "
        f"{len(times.past_cache)} ends at {reach:,} vectors and {far}; a thin line below is the floor.",
        caption=f"Past the cache the time is a line, and the line reaches {reach:,} vectors at {far}.",
    )


def variants_table(variants: Sequence[Variant], n: int, dim: int) -> Table:
    """What one query costs, way by way, beside the first."""
    base = variants[0].seconds
    rows = tuple(
        (
            variant.name,
            f"{variant.bytes / 1e6:.1f}",
            f"{1000 * variant.seconds:.2f}",
            f"{variant.seconds / base:.2f}",
        )
        for variant in variants
    )
    note = f"Measured on this page: {n:,} vectors of {dim} dimensions; seconds of a core."
    return Table(("way", "MB read", "ms a query", "of float32's"), rows, note)


def scan_costs(bandwidth: float) -> Explorer:
    """What a scan takes at a bandwidth, over the number of vectors, their dimension and their type."""
    rate = float(f"{bandwidth / 1e9:.3g}")  # as the readout writes it
    sizes = (12_000, 51_310, 200_000, 1_000_000, 1_800_000, 5_000_000, 20_000_000, 100_000_000)

    def compute(n: int, dim: int, dtype: str) -> Frame:
        cost = scan_cost(n, dim, dtype, bandwidth=rate * 1e9)
        each = cost.bytes // n
        return {
            "n": n,
            "dim": dim,
            "dtype": dtype,
            "size": cost.bytes,
            "each": each,
            "seconds": cost.seconds,
            "fits": RAM // each,
        }

    def backdrop(axes: Axes, frame: Frame) -> None:
        axes.set(xscale="log", yscale="log", xlim=(6e3, 1e9), ylim=(1e-5, 1e3), xlabel="vectors")
        axes.set(ylabel="seconds, at the least")
        axes.plot([6e3, 1e9], [AT_ONCE, AT_ONCE], ":", color=INK, linewidth=1)
        axes.annotate("100 ms", (8e3, AT_ONCE), (0, 3), textcoords="offset points")

    def draw(axes: Axes, frame: Frame) -> None:
        ends, each = np.array([6e3, 1e9]), frame["seconds"] / frame["n"]
        axes.plot(ends, ends * each, "--", color=PALETTE["dense"])
        # from the line upwards: the label of the square stands below it
        axes.plot([frame["fits"]] * 2, [frame["fits"] * each, 1e2], color=PALETTE["other"], linewidth=1)
        axes.annotate("16 GiB", (frame["fits"], 1e2), (0, 3), textcoords="offset points", ha="center")
        seconds = frame["seconds"]
        axes.plot(frame["n"], seconds, "s", color=PALETTE["dense"], markersize=8)
        label = f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"
        across = 1.1 < seconds / AT_ONCE < 6  # below the square it would stand on the dotted line
        place, side = ((-9, 5), "right") if across else ((9, -13), "left")
        axes.annotate(label, (frame["n"], seconds), place, textcoords="offset points", ha=side)

    def readout(frame: Frame) -> str:
        itemsize = frame["each"] // frame["dim"]
        product = f"{frame['n']:,} × {frame['dim']} × {itemsize} = {frame['size']:,} bytes"
        verdict = "more than 16 GiB of RAM hold" if frame["n"] > frame["fits"] else "fits in 16 GiB of RAM"
        return f"{product}; / {rate:g} GB/s = {frame['seconds']:.4f} s at the least; {verdict}"

    return Explorer(
        "What a scan costs",
        (
            Control("n", "vectors", sizes, 12_000, "{:,}"),
            Control("dim", "dimensions", (384, 768, 1_024, 1_536), 768),
            Control("dtype", "type", ("float32", "float16", "int8"), "float32"),
        ),
        compute,
        backdrop,
        draw,
        readout,
        call=lambda frame: (
            f'scan_cost({frame["n"]:_}, {frame["dim"]}, "{frame["dtype"]}", bandwidth={rate:g}e9).seconds'
        ),
        alt=lambda frame: (
            f"A dashed line of slope one; a square marks {frame['n']:,} vectors at {frame['seconds']:.4f} s; a "
            f"dotted line marks 100 ms, a vertical one the {frame['fits']:,} vectors that 16 GiB hold."
        ),
        height="tall",
        measured=True,
    )
