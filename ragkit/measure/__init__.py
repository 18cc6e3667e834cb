"""Ranked lists and labels to numbers. This room knows ids and labels, and never texts."""
