"""Labels: what somebody who read a stretch of a document says about it, and what follows for any chunking.

A label is tied to characters of the document, `text[start:end]`, and not to a passage: passages change with every
chunking, and the answer stays where it is. `qrels_from_labels` derives what each passage is worth. Offsets count
characters as Python does, so an emoji is one; all are of the document, those of the span as well.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import nan
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ragkit.measure.metrics import originals
from ragkit.measure.runs import LEVEL, RESAMPLES, SEED
from ragkit.measure.trec import FilePath, filled, replace_file

LabelName = Literal["relevant", "partial", "irrelevant"]
Partial = Literal["exclude", "relevant", "graded"]
Span = tuple[int, int]

LABELS: tuple[LabelName, ...] = get_args(LabelName)
GRADES: Mapping[str, tuple[int, int]] = {"exclude": (1, 0), "relevant": (1, 1), "graded": (2, 1)}
_BEST_FIRST = ("relevant", "partial", "cut", "irrelevant")

EXAMPLE = (
    '{"query_id": "q1", "doc_id": "d1", "start": 0, "end": 120, "label": "relevant", "span": [8, 40], "reason": ""}'
)
_REQUIRED, _OPTIONAL = ("query_id", "doc_id", "start", "end", "label"), ("span", "reason")


class Stretch(NamedTuple):
    """What was read for a query: `start` to `end` of a document."""

    query_id: str
    doc_id: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"query {self.query_id!r}, document {self.doc_id!r} from {self.start} to {self.end}"


@dataclass(frozen=True)
class Label:
    """One judgment: what `text[start:end]` of a document is worth for a query.

    `span` is where the answer stands in the document: within what was read, required for "relevant", possible for
    "partial", and absent for "irrelevant". `reason` says why, in a line. Ids become strings. ValueError for any other
    label, for offsets that are not whole numbers in order, and for a span that breaks these rules.

    >>> Label("q1", "d1", 0, 120, "relevant", span=(8, 40)).stretch
    Stretch(query_id='q1', doc_id='d1', start=0, end=120)
    """

    query_id: str
    doc_id: str
    start: int
    end: int
    label: LabelName
    span: Span | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        for name in ("query_id", "doc_id"):
            object.__setattr__(self, name, str(getattr(self, name)))
            if not getattr(self, name):
                raise ValueError(f"the {name} is empty. Give the id")
        if self.label not in LABELS:
            raise ValueError(f"the label is {self.label!r}; it is 'relevant', 'partial' or 'irrelevant'")
        _ordered("start and end", (self.start, self.end))
        if self.span is not None:
            _ordered("the span", self.span)
            object.__setattr__(self, "span", tuple(self.span))
        if self.label == "relevant" and self.span is None:
            raise ValueError(
                "relevant without a span. Say where the answer stands: span [start, end] of the document"
            )
        if self.label == "irrelevant" and self.span is not None:
            raise ValueError(
                f"irrelevant, and yet with the span {list(self.span)}. Drop the span, or change the label"
            )
        if self.span and not self.start <= self.span[0] < self.span[1] <= self.end:
            raise ValueError(
                f"the span {list(self.span)} is not within {self.start} to {self.end}, which was read. Spans count "
                "from the beginning of the document, not of the passage"
            )

    @property
    def stretch(self) -> Stretch:
        """What was read, and for which query."""
        return Stretch(self.query_id, self.doc_id, self.start, self.end)


def _ordered(name: str, pair: Sequence[Any]) -> None:
    whole = isinstance(pair, tuple | list) and len(pair) == 2 and all(type(at) is int for at in pair)
    if not (whole and 0 <= pair[0] < pair[1]):
        raise ValueError(f"{name}: {pair!r}. Give two whole numbers from 0 on, the first below the second")


# files


def read_labels(path: FilePath, *, reasons: bool = False) -> list[Label]:
    """Read labels, one JSON object a line, in the order of the file; `write_labels` writes them.

    `reasons` asks for a reason with every relevant and every partial label. ValueError, with file, line and remedy,
    for what is not JSON, a field that is missing or unknown, an id that is no string, whatever `Label` refuses, the
    same label twice, and two labels of one stretch that differ.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_labels(f"{folder}/labels.jsonl", [Label("q1", "007", 0, 9, "irrelevant")])
    ...     read_labels(f"{folder}/labels.jsonl")
    [Label(query_id='q1', doc_id='007', start=0, end=9, label='irrelevant', span=None, reason='')]
    """
    numbers, labels = [], []
    for number, line in filled(path):
        try:
            labels.append(_label(json.loads(line), reasons))
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{path} line {number}: not JSON: {error.msg}. A label is a line such as {EXAMPLE}"
            ) from None
        except ValueError as error:
            raise ValueError(f"{path} line {number}: {error}") from None
        numbers.append(number)
    seen: dict[Label, int] = {}
    for number, label in zip(numbers, labels, strict=True):
        if label in seen:
            raise ValueError(
                f"{path} line {number}: {label.stretch} is line {seen[label]} once more. Drop one of them"
            )
        seen[label] = number
    by_stretch(labels, lambda place: f"{path} line {numbers[place]}")
    return labels


def _label(entry: Any, reasons: bool) -> Label:  # noqa: ANN401 - JSON may be anything
    if not isinstance(entry, dict):
        raise ValueError(f"a {type(entry).__name__}, expected an object such as {EXAMPLE}")
    if missing := [name for name in _REQUIRED if name not in entry]:
        raise ValueError(f"no {missing[0]!r}. A label is a line such as {EXAMPLE}")
    if unknown := [name for name in entry if name not in _REQUIRED + _OPTIONAL]:
        raise ValueError(f"a label has no field {unknown[0]!r}; it has {', '.join(_REQUIRED + _OPTIONAL)}. Remove it")
    for name in ("query_id", "doc_id", "reason"):
        if not isinstance(entry.get(name, ""), str):
            raise ValueError(f"the {name} is {entry[name]!r}, expected a string. Put it in quotes")
    label = Label(**entry)
    if reasons and label.label != "irrelevant" and not label.reason.strip():
        raise ValueError(f"{label.label} without a reason. Say in a line why")
    return label


def write_labels(path: FilePath, labels: Iterable[Label]) -> None:
    """Write labels, one JSON object a line. What stood under `path` is replaced when all is written.

    ValueError, and nothing is written, for no labels at all, for a label twice, and for two labels of one stretch
    that differ: no reader would take them.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_labels(f"{folder}/labels.jsonl", [Label("q1", "d1", 0, 9, "partial", reason="half of it")])
    ...     print(Path(folder, "labels.jsonl").read_text())
    {"query_id": "q1", "doc_id": "d1", "start": 0, "end": 9, "label": "partial", "span": null, "reason": "half of it"}
    """
    listed = list(labels)
    if twice := next((label for label, count in Counter(listed).items() if count > 1), None):
        raise ValueError(f"{path}: {twice.stretch} is given twice. Drop one of the two labels")
    by_stretch(listed)
    replace_file(path, (json.dumps(asdict(label), ensure_ascii=False) + "\n" for label in listed), "no label")


def by_stretch(
    labels: Sequence[Label], named: Callable[[int], str] = lambda place: f"label {place + 1}"
) -> dict[Stretch, list[Label]]:
    """Labels by what was read. Several of one stretch may name several spans; ValueError where they contradict.

    >>> labels = [Label("q1", "d1", 0, 9, "irrelevant"), Label("q1", "d1", 0, 9, "partial")]
    >>> by_stretch(labels)
    Traceback (most recent call last):
    ValueError: label 2: query 'q1', document 'd1' from 0 to 9 is partial, and irrelevant in label 1. Keep one
    """
    found: dict[Stretch, list[tuple[int, Label]]] = {}
    for place, label in enumerate(labels):
        first, other = found.setdefault(label.stretch, [(place, label)])[0]
        if other.label != label.label:
            raise ValueError(
                f"{named(place)}: {label.stretch} is {label.label}, and {other.label} in {named(first)}. Keep one"
            )
        if place != first:
            found[label.stretch].append((place, label))
    return {stretch: [label for _, label in own] for stretch, own in found.items()}


# labels to grades


class Qrels(Mapping[str, Mapping[str, int]]):
    """Graded judgments by query, read-only: {query id: {id: grade}}, which every measure takes; `qrels_from_labels`.

    `.counts` holds how many pairs of query and id are relevant, partial, irrelevant and cut, and all `pairs`, which
    is their sum. `.cut` lists the pairs (query id, passage id) that hold part of an answer and not all of it; `.lost`
    the relevant labels whose answer no passage holds whole; `.absent` the labels whose document has no passage.
    `.record` says how the grades were made.

    >>> qrels = qrels_from_labels([Label("q1", "d1", 0, 9, "relevant", span=(2, 5))])
    >>> qrels["q1"]["d1"], qrels
    (1, Qrels(1 query; 1 relevant, 0 partial, 0 irrelevant, 0 cut))
    """

    def __init__(
        self,
        kinds: Mapping[str, Mapping[str, str]],
        partial: Partial = "exclude",
        lost: Iterable[Label] = (),
        absent: Iterable[Label] = (),
        record: Mapping[str, Any] | None = None,
    ) -> None:
        relevant, partly = GRADES[partial]
        grade = {"relevant": relevant, "partial": partly, "cut": 0, "irrelevant": 0}
        self._grades: dict[str, Mapping[str, int]] = {
            qid: MappingProxyType({name: grade[kind] for name, kind in own.items()}) for qid, own in kinds.items()
        }
        every = [(qid, name, kind) for qid, own in kinds.items() for name, kind in own.items()]
        counts = {kind: sum(found == kind for _, _, found in every) for kind in (*LABELS, "cut")}
        self.counts: Mapping[str, int] = MappingProxyType({**counts, "pairs": len(every)})
        self.cut = tuple((qid, name) for qid, name, kind in every if kind == "cut")
        self.lost, self.absent = tuple(lost), tuple(absent)
        self.record: Mapping[str, Any] = MappingProxyType({**(record or {}), "partial": partial})

    def __getitem__(self, qid: str) -> Mapping[str, int]:
        return self._grades[qid]

    def __iter__(self) -> Iterator[str]:
        return iter(self._grades)

    def __len__(self) -> int:
        return len(self._grades)

    def __repr__(self) -> str:
        shown = ", ".join(f"{n} {kind}" for kind, n in self.counts.items() if kind != "pairs")
        lost = f"; {len(self.lost)} answers in no passage" if self.lost else ""
        absent = f"; {len(self.absent)} labels of absent documents" if self.absent else ""
        return f"Qrels({len(self)} {'query' if len(self) == 1 else 'queries'}; {shown}{lost}{absent})"


def qrels_from_labels(
    labels: Iterable[Label],
    origin: Mapping[str, tuple[str, int, int]] | None = None,
    partial: Partial = "exclude",
    aliases: Mapping[str, str] | None = None,
    *,
    record: Mapping[str, Any] | None = None,
) -> Qrels:
    """Grades for documents, or with `origin` for the passages of any chunking; `Passages.origin` is one.

    A passage that holds the whole span of a relevant label is *relevant*, one that holds that of a partial label
    *partial*; a partial label without a span stands for all that was read. A passage that holds part of a span is
    *cut*: grade 0, counted and listed. One that lies within what was read for the query, and holds nothing of a span,
    is *irrelevant*: grade 0. Any other was not judged, and is not there. Where several hold, the first counts.
    Without `origin` a document is worth its best label, and one with any label was judged.

    `partial` says what partials are worth: "exclude" 0, "relevant" 1 as the relevant have, "graded" 1 where the
    relevant have 2. The pairs are the same in all three. `aliases` maps a document to the one whose text it repeats:
    a label of either holds for both, at the same place. `record` is kept with the grades: that of the passages.

    ValueError for another `partial`, for aliases in a circle, and for one stretch of one text with two labels.

    >>> labels = [Label("q1", "d1", 0, 100, "relevant", span=(40, 60)), Label("q1", "d2", 0, 50, "irrelevant")]
    >>> origin = {"d1#1": ("d1", 0, 50), "d1#2": ("d1", 30, 80), "d2#1": ("d2", 0, 50), "d2#2": ("d2", 50, 90)}
    >>> qrels = qrels_from_labels(labels, origin)
    >>> dict(qrels["q1"]), qrels.cut
    ({'d1#1': 0, 'd1#2': 1, 'd2#1': 0}, (('q1', 'd1#1'),))
    """
    if partial not in GRADES:
        raise ValueError(f"partial is {partial!r}; it is 'exclude', 'relevant' or 'graded'")
    listed = list(labels)
    by_stretch(listed)
    original = originals(aliases or {})
    judged: dict[str, dict[str, list[Label]]] = {}
    for label in listed:
        text = original.get(label.doc_id, label.doc_id)
        judged.setdefault(label.query_id, {}).setdefault(text, []).append(label)
    for by_text in judged.values():
        for own in by_text.values():
            _same_on_twins(own)
    places = _places(origin, original, {text for by_text in judged.values() for text in by_text})
    kinds: dict[str, dict[str, str]] = {}
    lost: list[Label] = []
    absent: list[Label] = []
    for qid, by_text in judged.items():
        kinds[qid] = {}
        for text, own in by_text.items():
            if text not in places:
                absent += own
                continue
            read = _united((label.start, label.end) for label in own)
            for name, at in places[text]:
                if kind := _kind(at, own, read):
                    kinds[qid][name] = kind
            lost += [label for label in own if label.label == "relevant" and not _held(label, places[text])]
    digest = sha256("\n".join(sorted(json.dumps(asdict(label)) for label in listed)).encode()).hexdigest()
    made = {**(record or {}), "labels_sha256": digest, "unit": "documents" if origin is None else "passages"}
    return Qrels(kinds, partial, lost, absent, made)


def _same_on_twins(labels: Sequence[Label]) -> None:
    """Two documents with one text: what is said of a stretch of the one holds for the other."""
    seen: dict[Span, Label] = {}
    for label in labels:
        other = seen.setdefault((label.start, label.end), label)
        if other.label != label.label:
            raise ValueError(
                f"{label.stretch} is {label.label}, and the same text in document {other.doc_id!r} is {other.label}. "
                "Keep one of the two"
            )


def _places(
    origin: Mapping[str, tuple[str, int, int]] | None, original: Mapping[str, str], texts: Iterable[str]
) -> dict[str, list[tuple[str, Span | None]]]:
    """What there is to judge of each text: (id, where it stands), and None for a document as a whole."""
    places: dict[str, list[tuple[str, Span | None]]] = {}
    if origin is None:
        names = dict.fromkeys([*texts, *original])
        for name in sorted(names):
            places.setdefault(original.get(name, name), []).append((name, None))
    else:
        for passage, (doc_id, start, end) in origin.items():
            places.setdefault(original.get(doc_id, doc_id), []).append((passage, (start, end)))
    return places


def _united(stretches: Iterable[Span]) -> list[Span]:
    """Stretches that touch or overlap, as one.

    >>> _united([(5, 9), (0, 5), (20, 30)])
    [(0, 9), (20, 30)]
    """
    united: list[Span] = []
    for start, end in sorted(stretches):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united


def _kind(at: Span | None, labels: Iterable[Label], read: Iterable[Span]) -> str | None:
    """What a passage is worth; a document as a whole, where `at` is None. None: it was not judged."""
    if at is None:
        return min((label.label for label in labels), key=_BEST_FIRST.index)
    start, end = at
    kinds = ["irrelevant"] if any(begin <= start and end <= stop for begin, stop in read) else []
    for label in labels:
        if label.label != "irrelevant":
            begin, stop = label.span or (label.start, label.end)
            if start <= begin and stop <= end:
                kinds.append(label.label)
            elif start < stop and begin < end:
                kinds.append("cut")
    return min(kinds, key=_BEST_FIRST.index, default=None)


def _held(label: Label, places: Iterable[tuple[str, Span | None]]) -> bool:
    begin, stop = label.span or (label.start, label.end)
    return any(at is None or (at[0] <= begin and stop <= at[1]) for _, at in places)


# two passes over the same pairs


@dataclass(frozen=True)
class Agreement:
    """How far two passes agree on the `n` pairs that both labelled; `agreement` makes it.

    `raw` is the share of equal labels, `raw_interval` Wilson's. `kappa` is Cohen's, `interval` its percentile
    bootstrap over the pairs; both are nan where they are not defined. `table` counts (first label, second label), all
    nine. `disagreements` lists the pairs of labels that differ; `apart` those that are relevant in both passes, with
    spans that share no character. `only_first` and `only_second` count what the other pass did not label.
    """

    n: int
    raw: float
    raw_interval: tuple[float, float]
    kappa: float
    interval: tuple[float, float]
    table: Mapping[tuple[str, str], int]
    disagreements: tuple[tuple[Label, Label], ...]
    apart: tuple[tuple[Label, Label], ...]
    only_first: int
    only_second: int


def agreement(first: Iterable[Label], second: Iterable[Label]) -> Agreement:
    """Compare two passes over the same pairs: raw agreement, Cohen's kappa, and every disagreement.

    Kappa is (raw − expected) / (1 − expected), where `expected` is the agreement of two passes that draw their labels
    at random in the proportions each of them used: Cohen, "A coefficient of agreement for nominal scales" (1960),
    computed by statsmodels. It has no value where both passes gave all pairs one and the same label; a resample of
    the bootstrap that does so counts as 1. Spans and reasons do not enter. ValueError where no pair is in both
    passes, or a pass contradicts itself; ImportError that says what to install.

    >>> first = [Label("q1", f"d{n}", 0, 9, "irrelevant") for n in range(4)]
    >>> second = [Label("q1", "d0", 0, 9, "partial"), *first[1:]]
    >>> found = agreement(first, second)
    >>> found.n, found.raw, found.kappa, [(a.label, b.label) for a, b in found.disagreements]
    (4, 0.75, 0.0, [('irrelevant', 'partial')])
    """
    ours, theirs = by_stretch(list(first)), by_stretch(list(second))
    pairs = [(own[0], theirs[stretch][0]) for stretch, own in ours.items() if stretch in theirs]
    if not pairs:
        raise ValueError(
            f"no pair is in both passes: {len(ours)} and {len(theirs)} were labelled. Are query ids, document ids "
            "and offsets from the same sheet?"
        )
    try:
        from scipy import stats
        from statsmodels.stats.inter_rater import cohens_kappa
    except ImportError as error:
        raise ImportError("agreement needs scipy and statsmodels: pip install scipy statsmodels") from error
    codes = np.array([[LABELS.index(label.label) for label in pair] for pair in pairs]).T
    table = np.zeros((len(LABELS), len(LABELS)), dtype=np.int64)
    np.add.at(table, (codes[0], codes[1]), 1)
    same = int(table.trace())
    wilson = stats.binomtest(same, len(pairs)).proportion_ci(LEVEL, method="wilson")
    kappa, interval = nan, (nan, nan)
    if len(np.unique(codes)) > 1:
        kappa = float(cohens_kappa(table, return_results=False))
        if len(pairs) > 1:
            found = stats.bootstrap(
                (codes[0], codes[1]),
                _kappas,
                paired=True,
                vectorized=True,
                n_resamples=RESAMPLES,
                batch=max(1, 1_000_000 // len(pairs)),
                confidence_level=LEVEL,
                method="percentile",
                rng=SEED,
            ).confidence_interval
            interval = float(found.low), float(found.high)
    spans = [(a, b, a.span, b.span) for a, b in pairs if a.label == b.label == "relevant"]
    return Agreement(
        n=len(pairs),
        raw=same / len(pairs),
        raw_interval=(float(wilson.low), float(wilson.high)),
        kappa=kappa,
        interval=interval,
        table=MappingProxyType(
            {(a, b): int(table[i, j]) for i, a in enumerate(LABELS) for j, b in enumerate(LABELS)}
        ),
        disagreements=tuple((a, b) for a, b in pairs if a.label != b.label),
        apart=tuple((a, b) for a, b, x, y in spans if x and y and (x[1] <= y[0] or y[1] <= x[0])),
        only_first=len(ours) - len(pairs),
        only_second=len(theirs) - len(pairs),
    )


def _kappas(first: NDArray[np.int64], second: NDArray[np.int64], axis: int = -1) -> NDArray[np.float64]:
    """Cohen's kappa of many resamples at once; the libraries take one at a time.

    >>> _kappas(np.array([[0, 0, 2, 2], [0, 0, 0, 0]]), np.array([[0, 0, 2, 0], [0, 0, 0, 0]])).tolist()
    [0.5, 1.0]
    """
    raw = (first == second).mean(axis=axis)
    expected = sum((first == code).mean(axis=axis) * (second == code).mean(axis=axis) for code in range(len(LABELS)))
    below = np.asarray(1 - expected, dtype=np.float64)
    return np.where(below > 1e-12, (raw - expected) / np.where(below > 1e-12, below, 1), 1.0)
