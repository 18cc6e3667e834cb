"""The few pictures of the report, as SVG written by hand: they take their ink from the page, in light and in dark.

A lexical system is a circle, a dense one a square, a fused one a diamond: the shape says what the colour says.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 16, 44
NAMES = 150  # to the right of the plane


def plane(points: Sequence[Mapping[str, Any]], families: Mapping[str, str], k: tuple[int, int]) -> str:
    """A point a system: recall where the candidates end, and precision as a share of what is attainable there.

    >>> one = {"system": "a", "recall": 0.8, "interval": [0.7, 0.9], "share": 0.5, "enough": [0.9, 0.9]}
    >>> plane([one], {"a": "dense"}, (50, 5)).startswith("<svg")
    True
    """
    least = min((point["interval"] or [point["recall"]])[0] for point in points)
    low = min(0.8, int(least * 10) / 10)
    recall_enough, precision_enough = points[0]["enough"]

    def x(recall: float) -> float:
        return LEFT + (recall - low) / (1 - low) * (WIDTH - LEFT - NAMES)

    def y(share: float) -> float:
        return TOP + (1 - min(share, 1)) * (HEIGHT - TOP - BOTTOM)

    parts = [
        *_axes(
            [(x(v), f"{v:.1f}") for v in _ticks(low, 1)], [(y(v), f"{v:.1f}") for v in _ticks(0, 1, 5)], HEIGHT, NAMES
        ),
        _line(x(recall_enough), y(0), x(recall_enough), y(1), "bound"),
        _line(x(low), y(precision_enough), x(1), y(precision_enough), "bound"),
        _text(x(1) - 4, y(1) + 16, "leave it", "end", "quiet"),
        _text(x(1) - 4, y(0) - 8, "reorder", "end", "quiet"),
        _text(x(low) + 6, y(0) - 8, "triage", "start", "quiet"),
        _text(x(low) + 6, y(1) + 16, "triage", "start", "quiet"),
        _text((x(low) + x(1)) / 2, HEIGHT - 6, f"recall@{k[0]}", "middle"),
        f'<text class="label" transform="rotate(-90 12 {y(0.5):.1f})" x="12" y="{y(0.5):.1f}" '
        f'text-anchor="middle">precision@{k[1]}, share of attainable</text>',
    ]
    ordered = sorted(points, key=lambda one: -one["share"])
    heights = _apart([y(point["share"]) for point in ordered], y(1) + 26, y(0) - 26)
    for point, label in zip(ordered, heights, strict=True):
        look, up = families[point["system"]], y(point["share"])
        ends = [x(max(end, low)) for end in point["interval"] or [point["recall"]] * 2]
        name = point["system"] if len(point["system"]) <= 18 else f"{point['system'][:17]}…"
        parts += [
            _line(x(1) + 16, label, ends[1], up, "axis"),
            _line(ends[0], up, ends[1], up, f"spread {look}"),
            _mark(x(point["recall"]), up, look),
            _text(x(1) + 20, label + 4, name, "start"),
        ]
    said = "; ".join(f"{one['system']} at recall {one['recall']:.2f}, {one['share']:.0%}" for one in points)
    return _svg(parts, f"A plane of recall and of the share of attainable precision, a point a system: {said}.")


def _apart(heights: Sequence[float], top: float, base: float, least: float = 18) -> list[float]:
    """Heights, rising, moved so far that texts at them do not touch, and as near to their places as that allows.

    >>> _apart([50, 52, 90], 0, 100)
    [42.0, 60.0, 90]
    """
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while (
            len(groups) > 1
            and _middle(groups[-1]) - _middle(groups[-2]) < least * (len(groups[-1]) + len(groups[-2])) / 2
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    placed = [
        _middle(group) + least * (at - (len(group) - 1) / 2) if len(group) > 1 else group[0]
        for group in groups
        for at in range(len(group))
    ]
    down = max(0, top - placed[0]) - max(0, placed[-1] - base)
    return [height + down for height in placed]


def _middle(group: Sequence[float]) -> float:
    return sum(group) / len(group)


def histogram(found: Mapping[str, Any], unit: str) -> str:
    """How long passages are, in words."""
    counts, step = found["counts"], found["step"]
    height, top = 150, max(counts)
    width = (WIDTH - LEFT - RIGHT) / len(counts)
    base = height - BOTTOM
    bars = [
        f'<rect class="bar" x="{LEFT + at * width + 1:.1f}" width="{width - 2:.1f}" '
        f'y="{base - n / top * (base - TOP):.1f}" height="{n / top * (base - TOP):.1f}"/>'
        for at, n in enumerate(counts)
    ]
    every = max(1, -(-len(counts) // 10))
    marks = [(LEFT + at * width, f"{at * step:,}") for at in range(0, len(counts), every)]
    parts = [
        *bars,
        *_axes(marks, [(base, "0"), (TOP, f"{top:,}")], height),
        _text((LEFT + WIDTH - RIGHT) / 2, height - 6, f"words; the last bar holds all longer {unit}", "middle"),
    ]
    return _svg(
        parts, f"Bars: how many {unit} have how many words, in steps of {step}; the highest has {top}.", height
    )


def bars(rows: Iterable[tuple[str, int, str]], total: int) -> str:
    """A bar a row, (name, count, family or ""), each with its count."""
    listed = list(rows)
    height, top = 26 * len(listed) + 8, max((count for _, count, _ in listed), default=1) or 1
    parts = []
    for place, (name, count, look) in enumerate(listed):
        y = 4 + 26 * place
        long = count / top * (WIDTH - 270)
        parts += [
            _text(178, y + 16, name, "end"),
            f'<rect class="bar {look}" x="186" y="{y + 3}" width="{long:.1f}" height="16"/>',
            _text(192 + long, y + 16, f"{count:,} ({count / total:.0%})" if total else f"{count:,}", "start"),
        ]
    said = ", ".join(f"{name} {count}" for name, count, _ in listed)
    return _svg(parts, f"Bars, one a row: {said}.", height)


def shape(family: str) -> str:
    """The mark of a family alone, as a sign, to stand before a name in a table."""
    sign = {"dense": "■", "fused": "◆"}.get(family, "●")
    return f'<span class="mark {family}" aria-hidden="true">{sign}</span> '


def _svg(parts: Iterable[str], alt: str, height: int = HEIGHT) -> str:
    return (
        f'<svg role="img" aria-label="{escape(alt)}" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}">{"".join(parts)}</svg>'
    )


def _axes(
    across: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]], height: int = HEIGHT, right: int = RIGHT
) -> list[str]:
    base = height - BOTTOM
    parts = [_line(LEFT, TOP, LEFT, base, "axis"), _line(LEFT, base, WIDTH - right, base, "axis")]
    for at, name in across:
        parts += [_line(at, base, at, base + 4, "axis"), _text(at, base + 18, name, "middle")]
    for at, name in up:
        parts += [_line(LEFT - 4, at, LEFT, at, "axis"), _text(LEFT - 7, at + 4, name, "end")]
    return parts


def _ticks(low: float, high: float, n: int = 0) -> list[float]:
    steps = n or round((high - low) * 10)
    return [low + (high - low) * at / steps for at in range(steps + 1)]


def _mark(x: float, y: float, family: str) -> str:
    if family == "dense":
        return f'<rect class="{family}" x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"/>'
    if family == "fused":
        corners = f"{x:.1f},{y - 6.5:.1f} {x + 6.5:.1f},{y:.1f} {x:.1f},{y + 6.5:.1f} {x - 6.5:.1f},{y:.1f}"
        return f'<polygon class="{family}" points="{corners}"/>'
    return f'<circle class="{family}" cx="{x:.1f}" cy="{y:.1f}" r="5.5"/>'


def _line(x1: float, y1: float, x2: float, y2: float, look: str) -> str:
    return f'<line class="{look}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str, look: str = "label") -> str:
    return f'<text class="{look}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
