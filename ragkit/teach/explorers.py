"""Explorers: one object, two faces.

An explorer computes a frame from the values of its controls and draws it. With a kernel the controls are
ipywidgets that call Python. Without one the page holds every frame of the grid, computed and drawn beforehand in
Python, and a few lines of JavaScript that select one. The formula exists once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from re import findall
from typing import Any, Literal

from matplotlib.axes import Axes

from ragkit.teach.figures import canvas, svg
from ragkit.teach.page import attributes, escape, key_of, script, style

Value = float | int | str
Frame = Mapping[str, Any]


@dataclass(frozen=True)
class Control:
    """A slider over a list of values. ValueError for no values, or a start that is not among them.

    >>> Control("k1", "k1", (0.0, 1.2, 3.0), start=1.2).written(1.2)
    '1.2'
    """

    name: str
    label: str
    values: tuple[Value, ...]
    start: Value
    show: str = "{}"

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError(f"control {self.name!r} has no values")
        if self.start not in self.values:
            raise ValueError(f"control {self.name!r} starts at {self.start!r}, which is not one of its values")

    def written(self, value: Value) -> str:
        """A value as the page shows it."""
        return self.show.format(value)


def steps(first: float, last: float, step: float) -> tuple[float, ...]:
    """Values from first to last, both included, free of the dust that adding floats leaves.

    >>> steps(0, 0.3, 0.1)
    (0.0, 0.1, 0.2, 0.3)
    """
    return tuple(round(first + i * step, 10) for i in range(round((last - first) / step) + 1))


@dataclass(frozen=True)
class Explorer:
    """Controls, a pure function from their values to a frame, and how a frame looks.

    compute: called with every control's value and every text by name; gives the frame.
    backdrop: draws what no control moves: limits, labels, fixed lines.
    draw: draws what a frame changes, on axes of the same limits.
    readout: the formula with the numbers filled in. call: the Python that gives the same. alt: what one sees.
    texts: text boxes (name, label, text to begin with), which need a kernel.
    measured: it shows what this machine took, so another run of the page shows other numbers.
    """

    title: str
    controls: tuple[Control, ...]
    compute: Callable[..., Frame]
    backdrop: Callable[[Axes, Frame], None]
    draw: Callable[[Axes, Frame], None]
    readout: Callable[[Frame], str]
    call: Callable[[Frame], str]
    alt: Callable[[Frame], str]
    texts: tuple[tuple[str, str, str], ...] = ()
    height: Literal["low", "tall"] = "low"
    left: float = 0.13
    measured: bool = False

    def frame(self, **given: Value) -> Frame:
        """The frame for these values; what is not given keeps its start. KeyError for an unknown control."""
        values = {control.name: control.start for control in self.controls} | {n: t for n, _, t in self.texts}
        unknown = set(given) - set(values)
        if unknown:
            raise KeyError(f"{self.title}: no control {sorted(unknown)}; there is {sorted(values)}")
        return self.compute(**(values | given))

    def grid(self) -> Iterator[Frame]:
        """Every frame of the static face, the last control moving fastest."""
        names = [control.name for control in self.controls]
        for values in product(*(control.values for control in self.controls)):
            yield self.frame(**dict(zip(names, values, strict=True)))

    def image(self, frame: Frame) -> str:
        """The whole picture of a frame, as SVG."""
        figure, axes = canvas(self.height, left=self.left)
        self.backdrop(axes, frame)
        axes.set_autoscale_on(False)
        axes.set_prop_cycle(None)  # from the first colour, as in every frame of _layers
        self.draw(axes, frame)
        return svg(figure)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:  # noqa: ANN401
        frame = self.frame()
        bundle: dict[str, Any] = {
            "text/plain": f"{self.title}\n{self.readout(frame)}\n{self.call(frame)}",
            "text/html": static_face(self),
        }
        try:
            view = live_face(self)
        except ImportError:  # no ipywidgets: the static face moves all the same
            return bundle
        return bundle | {mime: data for mime, data in view._repr_mimebundle_().items() if "widget" in mime}


def static_face(explorer: Explorer) -> str:
    """HTML that moves without a kernel: all frames, native range inputs, a script that selects."""
    start = explorer.frame()
    backdrop, movers = _layers(explorer)
    start_index = _index([control.values.index(control.start) for control in explorer.controls], explorer.controls)
    sheets = [
        [*findall(r"<[^>]*>[^<]*", mover), explorer.readout(frame), explorer.call(frame), explorer.alt(frame)]
        for mover, frame in zip(movers, explorer.grid(), strict=True)
    ]
    key = key_of(explorer.title, backdrop, explorer.alt(start))
    inputs = "".join(_range_input(control) for control in explorer.controls)
    note = "".join(f" {label}." for _, label, _ in explorer.texts)
    note = f'<p class="rk-note">With a kernel you can also change:{escape(note)}</p>' if note else ""
    data = {"key": key, "shown": [[c.written(v) for v in c.values] for c in explorer.controls], **_packed(sheets)}
    return (
        f'{style()}<div class="rk-explorer" data-key="{key}" role="group" aria-label="{escape(explorer.title)}">'
        f'<p class="rk-title">{escape(explorer.title)}</p><div class="rk-controls">{inputs}</div>'
        f'<div class="rk-picture" role="img" aria-label="{escape(explorer.alt(start))}">'
        f"{backdrop}<g class='rk-moves'>{movers[start_index]}</g></svg></div>"
        f'<p class="rk-readout" aria-live="polite">{escape(explorer.readout(start))}</p>'
        f'<pre class="rk-call"><code>{escape(explorer.call(start))}</code></pre>{note}</div>'
        + script("explorer.js", data)
    )


def live_face(explorer: Explorer) -> Any:  # noqa: ANN401 - ipywidgets carries no types
    """Sliders and text boxes that call Python. A frame that cannot be computed says so in place of the picture."""
    import ipywidgets as widgets

    sliders = {
        control.name: widgets.SelectionSlider(
            options=[(control.written(value), value) for value in control.values],
            value=control.start,
            description=control.label,
            layout=widgets.Layout(width="95%"),
            style={"description_width": "initial"},
        )
        for control in explorer.controls
    }
    boxes = {
        name: widgets.Text(value=text, description=label, layout=widgets.Layout(width="95%"), continuous_update=False)
        for name, label, text in explorer.texts
    }
    page = widgets.HTML()
    inputs = sliders | boxes

    def show(_change: object = None) -> None:
        try:
            frame = explorer.frame(**{name: box.value for name, box in inputs.items()})
            page.value = _live_page(explorer, frame)
        except Exception as error:
            page.value = f'{style()}<p class="rk-error" role="alert">{escape(str(error))}</p>'
            raise

    for box in inputs.values():
        box.observe(show, names="value")
    show()
    return widgets.VBox([*inputs.values(), page])


def _live_page(explorer: Explorer, frame: Frame) -> str:
    return (
        f'{style()}<div class="rk-explorer rk-live"><div class="rk-picture" role="img" '
        f'aria-label="{escape(explorer.alt(frame))}">{explorer.image(frame)}</div>'
        f'<p class="rk-readout">{escape(explorer.readout(frame))}</p>'
        f'<pre class="rk-call"><code>{escape(explorer.call(frame))}</code></pre></div>'
    )


def _layers(explorer: Explorer) -> tuple[str, list[str]]:
    """The backdrop, its svg element left open, and for each frame of the grid what is drawn on it.

    Drawing the axes takes ten times as long as drawing what moves on them, and they are the same in every frame.
    """
    figure, axes = canvas(explorer.height, left=explorer.left)
    explorer.backdrop(axes, explorer.frame())
    backdrop = svg(figure).removesuffix("</svg>")
    axes.set_axis_off()
    axes.set_autoscale_on(False)
    _wipe(axes)
    movers = []
    for frame in explorer.grid():
        axes.set_prop_cycle(None)
        explorer.draw(axes, frame)
        drawn = svg(figure)
        movers.append(drawn[drawn.index("<g ") : drawn.rindex("</svg>")])
        _wipe(axes)
    return backdrop, movers


def _wipe(axes: Axes) -> None:
    for artist in [*axes.lines, *axes.texts, *axes.patches, *axes.collections]:
        artist.remove()


def _range_input(control: Control) -> str:
    start = control.values.index(control.start)
    field = attributes(
        type="range",
        min=0,
        max=len(control.values) - 1,
        step=1,
        value=start,
        aria_valuetext=control.written(control.start),
        data_lm_suppress_shortcuts="true",  # else JupyterLab's command mode takes the arrow keys
        autocomplete="off",  # else a browser that comes back moves the slider and not the picture
        disabled=True,  # until the script runs: a control that moves nothing would mislead
    )
    return (  # no id: two copies of one output would share it
        f"<label><span>{escape(control.label)}</span><input{field}>"
        f"<output>{escape(control.written(control.start))}</output></label>"
    )


def _index(positions: Sequence[int], controls: Sequence[Control]) -> int:
    index = 0
    for position, control in zip(positions, controls, strict=True):
        index = index * len(control.values) + position
    return index


def _packed(sheets: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Frames as rows of numbers into one list of distinct strings; the columns that never change stand once.

    >>> _packed([["<a>", "1"], ["<a>", "2"]])
    {'strings': ['<a>', '1', '2'], 'fixed': [0, -1], 'frames': [[1], [2]]}
    """
    number: dict[str, int] = {}
    rows = [[number.setdefault(piece, len(number)) for piece in sheet] for sheet in sheets]
    if len({len(row) for row in rows}) > 1:  # frames of different make: nothing is common to all
        fixed: list[int] = []
    else:
        fixed = [column[0] if len(set(column)) == 1 else -1 for column in zip(*rows, strict=True)]
    frames = [[n for i, n in enumerate(row) if not fixed or fixed[i] < 0] for row in rows]
    return {"strings": list(number), "fixed": fixed, "frames": frames}
