"""Answers of part IV and V."""

from math import comb

from ragkit.teach.answers import Exercise

ANSWERS: dict[str, Exercise] = {
    "11-a": Exercise(
        lambda: 223 / 240 / 5,
        0.005,
        "precision",
        (
            (lambda: 223 / 240, "That is recall@50, which counts queries. Of five places one can be relevant."),
            (lambda: 0.93 - 0.13, "Two measures, and nothing cancels: one counts queries, the other places."),
            (lambda: 1 / 5, "For a query that hits. The queries that miss have 0, and are in the mean."),
            (lambda: 223 / 240 / 5 - 0.13, "That is what it wins. What does it have?"),
        ),
        "min(relevant among the candidates, 5) / 5 for each query, and the mean over all 240.",
    ),
    "11-b": Exercise(
        lambda: float((120 - 30) // 2.4),
        0.0,  # a whole number
        "candidates",
        (
            (lambda: float(120 // 2.4), "Something is spent before the first pair."),
            (lambda: 38.0, "The last of them would end after the budget."),
            (lambda: 37.5, "Half a pair cannot be scored."),
        ),
        "What is left of the budget, divided by what a pair takes, rounded down.",
    ),
    "12-a": Exercise(
        lambda: (0.62 * 300 + 0.75 * (20 + 31 + 9 + 24)) / 300,
        0.0051,
        "recall",
        (
            (lambda: (0.62 * 300 + 20 + 31 + 9 + 24) / 300, "That is all of them. Expect three in four."),
            (lambda: 0.75 * (20 + 31 + 9 + 24) / 300, "That is what comes back. Add it to what hits already."),
        ),
        "How many hit now? Add three quarters of the four named buckets, not of the 30; divide by all queries.",
    ),
    "12-b": Exercise(
        lambda: 40 * 0.8 / 0.5,
        0.01,
        "queries",
        (
            (lambda: 40 * 0.8, "So many of the 40 belong there. And the others, which the bucket does not have?"),
            (lambda: 40 / 0.5, "Not all of the 40 belong there."),
            (lambda: 40 * 0.5 / 0.8, "The other way round: precision says how many of the 40 are right."),
        ),
        "Precision says how many of the 40 are right; recall, what share of all they are.",
    ),
    "13-a": Exercise(
        lambda: 50 * (10 + 10 - 2) * 20 / 3600,
        0.051,
        "hours",
        (
            (lambda: 50 * 10 * 20 / 3600, "That is one system's list. The other brings eight more for each query."),
            (lambda: 50 * 20 * 20 / 3600, "What both find is read once."),
            (lambda: 50 * 18 * 20 / 60, "In minutes."),
        ),
        "The union of the two top tens, for 50 queries, at 20 seconds each.",
    ),
    "13-b": Exercise(
        lambda: _red(80),
        0.006,
        "share of nights",
        (
            (lambda: 0.5, "Nearly. But a night of exactly 80 hits is not red, and that is not rare."),
            (lambda: _red(81), "That counts the nights of exactly 80 hits too, and these are not under 0.8."),
            (lambda: 0.0, "It is the system that did not change. The queries did."),
            (lambda: 0.05, "That is the level of the interval. The bar is at the mean, not at its end."),
        ),
        "Each query hits with a chance of 0.8. How likely are fewer than 80 hits in 100?",
    ),
}


def _red(hits: int, n: int = 100, chance: float = 0.8) -> float:
    """The chance of fewer hits than that in n queries."""
    return sum(comb(n, found) * chance**found * (1 - chance) ** (n - found) for found in range(hits))
