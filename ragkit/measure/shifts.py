"""How far a mean moves when something is changed: the rule, the labels, the cutoff, or which queries count."""

from functools import cached_property
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.measure.runs import LEVEL, RESAMPLES, SEED, Mean


class Shift(float):
    """after − before, of two means: a float with `.before`, `.after` and `.interval`; `shift` makes it.

    `.entered` are the queries that only `after` runs over, `.dropped` those that only `before` does.
    """

    before: Mean
    after: Mean

    def __new__(cls, before: Mean, after: Mean) -> "Shift":  # noqa: D102 - the class says it
        moved = super().__new__(cls, float(after) - float(before))
        moved.before, moved.after = before, after
        return moved

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.before, self.after)

    @property
    def entered(self) -> tuple[str, ...]:
        """The queries that only the later mean runs over, in its order."""
        return tuple(qid for qid in self.after.values if qid not in self.before.values)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The queries that only the earlier mean runs over, in its order."""
        return tuple(qid for qid in self.before.values if qid not in self.after.values)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the shift over queries like these: (low, high).

        The percentile bootstrap of whole queries, each with its value in both means, or with none in one of them:
        10,000 resamples with a fixed seed. Where no query changes it is (0, 0), which says that none of these did,
        and not that none will. Two means over one and the same query give (nan, nan). ImportError without scipy.
        """
        try:
            from scipy import stats
        except ImportError as error:
            raise ImportError("the interval of a shift needs scipy: pip install scipy") from error
        queries = [*self.before.values, *self.entered]
        if len(queries) < 2:
            return nan, nan  # nothing to resample
        columns = [
            np.array([value(qid) for qid in queries], dtype=np.float64)
            for mean in (self.before, self.after)
            for value in (lambda qid, own=mean.values: own.get(qid, 0.0), mean.values.__contains__)
        ]
        found = stats.bootstrap(
            columns,
            _difference_of_means,
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            batch=max(1, 1_000_000 // len(queries)),
            confidence_level=LEVEL,
            method="percentile",
            rng=SEED,
        ).confidence_interval
        return float(found.low), float(found.high)

    def __repr__(self) -> str:
        return f"{self:+.3f} (from {self.before!r} to {self.after!r})"


def shift(before: Mean, after: Mean) -> Shift:
    """How far a mean has moved, also where the two do not run over the same queries.

    A change of what counts as relevant brings queries in and drops others, so the two means cannot be paired value
    by value; the interval of the shift resamples queries and takes both means anew each time.

    >>> moved = shift(Mean({"q1": 1.0, "q2": 0.0}), Mean({"q1": 1.0, "q2": 1.0, "q3": 0.0, "q4": 0.0}))
    >>> moved, moved.entered
    (+0.000 (from 0.50 (1 of 2) to 0.50 (2 of 4)), ('q3', 'q4'))
    """
    return Shift(before, after)


def _difference_of_means(
    old: NDArray[np.float64],
    in_old: NDArray[np.float64],
    new: NDArray[np.float64],
    in_new: NDArray[np.float64],
    axis: int = -1,
) -> NDArray[np.float64]:
    """Of many resamples at once. One that drew no query of a mean has no such mean, and counts it as 0.

    >>> ones, some = np.ones(2), np.array([1.0, 0.0])
    >>> float(_difference_of_means(some, ones, some, some))
    0.5
    """
    means = [own.sum(axis=axis) / np.maximum(here.sum(axis=axis), 1) for own, here in ((old, in_old), (new, in_new))]
    return np.asarray(means[1] - means[0], dtype=np.float64)
