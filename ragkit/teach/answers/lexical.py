"""Answers of part I."""

import math

from ragkit.lexical.analysis import Analyzer
from ragkit.lexical.scoring import idf, length_factor, saturation
from ragkit.teach.answers import Exercise

_PART_NUMBER = Analyzer.standard()("MX-4471-B")

ANSWERS = {
    "01-a": Exercise(
        lambda: float(idf(51_310, 12)),
        0.005,
        "idf",
        (
            (lambda: math.log(51_310 / 12), "That is ln(N/df), the older form without the halves and the 1."),
            (lambda: float(idf(12_000, 12)), "That is the weight in a corpus of 12,000. This one has 51,310."),
            (lambda: float(idf(51_310, 12)) / math.log(10), "That is a base-10 logarithm; this one is natural."),
        ),
        "The weight is idf(n_docs, df), with n_docs first.",
    ),
    "01-b": Exercise(
        lambda: float(next(df for df in range(1, 12_001) if idf(12_000, df) < float(idf(12_000, 3)) / 2)),
        0.0,  # a whole number
        "documents",
        (
            (lambda: 6.0, "Twice as many documents is far from half the weight: the logarithm sees to that."),
            (
                lambda: float(next(df for df in range(1, 12_001) if idf(12_000, df) < idf(12_000, 3) / 2) - 1),
                "There the weight is still half or more. One document further.",
            ),
        ),
        "Try values of df until idf(12_000, df) is below idf(12_000, 3) / 2.",
    ),
    "02-a": Exercise(
        lambda: float(next(tf for tf in range(1, 1000) if saturation(tf, k1=1.2) >= 0.9 * 2.2)),
        0.0,  # a whole number
        "mentions",
        (
            (lambda: 2.0, "Two mentions are worth more than one, yet far from nine tenths of the ceiling."),
            (lambda: 12.0, "Twelve are enough. So are fewer."),
            (lambda: round(0.9 * 2.2, 2), "That is nine tenths of the ceiling. How many mentions get there?"),
        ),
        "The ceiling is k1 + 1. Raise tf until saturation(tf) reaches 0.9 of it.",
    ),
    "02-b": Exercise(
        lambda: 1 / 8.9,
        0.005,
        "k1",
        ((lambda: 0.5, "At k1 = 0.5 ten mentions are worth about 1.43 of one."),),
        "Solve 10 (k1 + 1) / (10 + k1) = 1.1 for k1, or scan values of k1.",
    ),
    "03-a": Exercise(
        lambda: float(length_factor(4_000, 500, b=0.75)),
        0.005,
        "length factor",
        (
            (lambda: 8.0, "That is dl/avgdl, the factor at b = 1."),
            (lambda: 6.0, "That is 0.75 × 8. What is excused is a quarter of what exceeds the average, not of all."),
            (lambda: float(length_factor(500, 4_000, b=0.75)), "The two lengths stand the wrong way round."),
        ),
        "length_factor(doc_len, avgdl, b).",
    ),
    "03-b": Exercise(
        lambda: 4_000 / 200,
        0.0,  # a whole number
        "mentions",
        (
            (
                lambda: 1.0,
                "Then the long page would need no more than the short one; at b = 1 it needs its length back.",
            ),
        ),
        "At b = 1 the score depends on tf divided by length. Set the two shares equal.",
    ),
    "04-a": Exercise(
        lambda: 1_800_000 * 250 * 8 / 1e9,
        0.03,
        "GB",
        (
            (lambda: 1_800_000 * 250 * 4 / 1e9, "A posting is two numbers: the document, and how often."),
            (lambda: 1_800_000 * 250 / 1e9, "That is the number of postings, in billions. Each takes eight bytes."),
            (lambda: 1_800_000 * 250 * 8 / 2**30, "That is in GiB, of 1,024 × 1,024 × 1,024 bytes."),
        ),
        "Passages × distinct terms × bytes a posting, divided by 1e9.",
    ),
    "04-b": Exercise(
        lambda: float(len(_PART_NUMBER.words) + len(_PART_NUMBER.parts)),
        0.0,  # a whole number
        "terms",
        (
            (lambda: 1.0, "That is the whole. Its parts are terms as well."),
            (lambda: 3.0, "Those are the parts. The whole is a term as well."),
        ),
        'Print Analyzer.standard()("MX-4471-B").',
    ),
}
