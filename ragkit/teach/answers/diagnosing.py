"""Answers of part IV and V."""

from ragkit.teach.answers import Exercise

ANSWERS: dict[str, Exercise] = {}
