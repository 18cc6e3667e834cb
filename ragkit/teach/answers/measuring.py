"""Answers of part III."""

from ragkit.measure.paired import queries_needed
from ragkit.teach.answers import Exercise

ANSWERS: dict[str, Exercise] = {
    "09-a": Exercise(
        lambda: 340 * 0.70 / 400,
        0.0051,
        "share of the queries",
        (
            (lambda: 0.70, "That is the share of the queries that have a relevant passage. They divide by all 400."),
            (lambda: 340 / 400, "That is the share that has a relevant passage at all. How many of these are hits?"),
        ),
        "How many hits are there? Divide them by all queries.",
        "Right: 0.595. The retriever is the same.",
    ),
    "09-b": Exercise(
        lambda: float(next(hits for hits in range(16) if (48 + 2 + hits) / (60 + 15) >= 48 / 60)),
        0.0,  # a whole number
        "queries",
        (
            (lambda: 12.0, "That would be 48/60 of the 15. The two misses that became hits help as well."),
            (lambda: 15.0, "With all of them recall rises. How many are enough?"),
            (lambda: 8.0, "Then the sum falls short of 0.80 of 75."),
        ),
        "Solve (48 + 2 + hits) / (60 + 15) = 48 / 60.",
    ),
    "10-a": Exercise(
        lambda: (162 + 46 / 2) / 200,
        0.0051,
        "recall",
        (
            (lambda: (162 + 46) / 200, "The 46 are not all on one side: at an exact tie each side has as many."),
            (lambda: 0.81, "That is what either has alone. What does the other bring?"),
            (lambda: (162 - 46 / 2) / 200, "That is the share that both hit."),
        ),
        "At a tie, each of the two hits half of the 46. What does one add to the hits of the other?",
    ),
    "10-b": Exercise(
        lambda: float(queries_needed((12 - 8) / 80, discordant=(12 + 8) / 80)),
        0.0,  # a whole number
        "queries",
        (
            (
                lambda: float(queries_needed(0.05, discordant=0.05)),
                "That is for hits that are nested. Here 20 of 80 differ.",
            ),
            (lambda: float(queries_needed(0.20, discordant=0.25)), "The difference is 4 of 80, not 4 of 20."),
        ),
        "The difference is (12 − 8)/80; the discordant share is (12 + 8)/80.",
    ),
}
