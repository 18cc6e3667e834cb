"""Answers of part III."""

from ragkit.teach.answers import Exercise

ANSWERS: dict[str, Exercise] = {}
