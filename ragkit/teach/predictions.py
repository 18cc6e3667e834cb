"""Predictions: the reader commits to an answer, and then sees which one is right and why the others are not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragkit.teach.page import attributes, escape, key_of, script, style


@dataclass(frozen=True)
class Prediction:
    """A question with choices. It shows itself; nothing is revealed before the reader commits."""

    question: str
    choices: tuple[str, ...]
    reasons: tuple[str, ...]
    right: int
    reveal: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ANN401
        listed = "\n".join(f"( ) {choice}" for choice in self.choices)
        return {"text/plain": f"{self.question}\n{listed}", "text/html": self._html()}

    def _html(self) -> str:
        key = key_of(self.question, *self.choices)
        options = "".join(self._option(key, number) for number in range(len(self.choices)))
        return (
            f'{style()}<div class="rk-predict" data-key="{key}"><fieldset><legend>{escape(self.question)}</legend>'
            f'{options}</fieldset><button type="button" disabled>Commit</button>'
            f'<div class="rk-verdict" role="status" aria-live="polite"></div>'
            # without a script the answer can still be opened; with one it opens when the reader has committed
            f'<details class="rk-reveal"><summary>The answer</summary><p><strong>'
            f"{escape(self.choices[self.right])}</strong>. {escape(self.reveal)}</p></details></div>"
            + script("predict.js", {"key": key, "right": self.right, "reasons": list(self.reasons)})
        )

    def _option(self, key: str, number: int) -> str:
        field = attributes(
            type="radio",
            name=f"p{key}",
            value=number,
            autocomplete="off",  # else a browser that comes back shows a choice that the script knows nothing of
            disabled=True,
            data_lm_suppress_shortcuts="true",
        )
        return f"<label><input{field}><span>{escape(self.choices[number])}</span></label>"


def predict(question: str, choices: Mapping[str, str], *, answer: str, reveal: str) -> Prediction:
    """Ask the reader before they see. `choices` maps each choice to why it is wrong; `answer` is the right one.

    The right choice maps to "", since `reveal` explains it. ValueError where the answer is not among the choices,
    or a wrong choice has no reason.

    >>> predict("2 + 2?", {"4": "", "5": "One too many."}, answer="4", reveal="Count.").right
    0
    """
    if answer not in choices:
        raise ValueError(f"the answer {answer!r} is not among the choices {list(choices)}")
    silent = [choice for choice, reason in choices.items() if not reason and choice != answer]
    if silent:
        raise ValueError(f"no reason is given for the wrong choice {silent[0]!r}")
    return Prediction(question, tuple(choices), tuple(choices.values()), list(choices).index(answer), reveal)
