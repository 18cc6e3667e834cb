"""Answers of part II."""

from ragkit.teach.answers import Exercise

ANSWERS: dict[str, Exercise] = {}
