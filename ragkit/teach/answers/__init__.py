"""The answers of the exercises, a module for each part of the book: what is right, and what likely mistakes mean."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Exercise:
    """A task whose answer is a number.

    right: gives the answer. within: how far off still counts. unit: what the page asks for.
    hints: likely wrong answers, each with what it tells. nudge: the hint for any other.
    """

    right: Callable[[], float]
    within: float
    unit: str
    hints: tuple[tuple[Callable[[], float], str], ...]
    nudge: str
    praise: str = "Right."
