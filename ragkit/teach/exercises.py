"""Exercises with checks: right, wrong with a hint, or not tried yet.

The task itself stands in the notebook. What is right, and what each likely mistake means, stands here, once, and
serves both the kernel and the page, where a reader types the number.
"""

from dataclasses import dataclass
from typing import Any

from ragkit.teach.answers import Exercise, dense, diagnosing, lexical, measuring
from ragkit.teach.page import attributes, escape, key_of, script, style

EXERCISES: dict[str, Exercise] = lexical.ANSWERS | dense.ANSWERS | measuring.ANSWERS | diagnosing.ANSWERS


@dataclass(frozen=True)
class Outcome:
    """What the check says of an answer; `state` is "right", "wrong" or "not tried yet"."""

    id: str
    state: str
    message: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ANN401
        return {"text/plain": self.message, "text/html": self._html()}

    def _html(self) -> str:
        if self.state != "not tried yet":
            mark = "rk-right" if self.state == "right" else "rk-wrong"
            return f'{style()}<div class="rk-exercise {mark}"><p class="rk-verdict">{escape(self.message)}</p></div>'
        exercise = EXERCISES[self.id]
        key = key_of("exercise", self.id)
        field = attributes(type="text", inputmode="decimal", disabled=True, data_lm_suppress_shortcuts="true")
        data = {
            "key": key,
            "right": [exercise.right(), exercise.within],
            "hints": [[value(), exercise.within, hint] for value, hint in exercise.hints],
            "nudge": exercise.nudge,
            "praise": exercise.praise,
        }
        return (
            f'{style()}<div class="rk-exercise" data-key="{key}"><form><label>Your answer ({escape(exercise.unit)}) '
            f"<input{field}></label> "
            f'<button type="submit" disabled>Check</button></form><p class="rk-verdict" role="status" '
            f'aria-live="polite">{escape(self.message)}</p></div>' + script("exercise.js", data)
        )


def check(id: str, answer: object = ...) -> Outcome:
    """Check an answer. `...` stands for one that was not tried yet. KeyError for an unknown exercise.

    >>> check("01-a", ...).state, check("01-a", 8.0).state
    ('not tried yet', 'wrong')
    """
    if id not in EXERCISES:
        raise KeyError(f"no exercise {id!r}; there is {', '.join(EXERCISES)}")
    exercise = EXERCISES[id]
    if answer is ...:
        return Outcome(id, "not tried yet", "Not tried yet.")
    try:
        number = float(answer)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return Outcome(id, "wrong", f"Give one number; this is {answer!r}.")
    if abs(number - exercise.right()) <= exercise.within:
        return Outcome(id, "right", exercise.praise)
    hints = [hint for value, hint in exercise.hints if abs(number - value()) <= exercise.within]
    return Outcome(id, "wrong", f"Not yet. {hints[0] if hints else exercise.nudge}")
