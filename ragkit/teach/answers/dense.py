"""Answers of part II."""

from functools import cache

from ragkit.corpora.asked import asked, pieces
from ragkit.corpora.collections import load_corpus
from ragkit.dense.scan import DenseIndex
from ragkit.lexical.index import BM25Index
from ragkit.lexical.scoring import length_factor
from ragkit.teach.answers import Exercise


@cache
def _lost_rows(places: int) -> tuple[int, int]:
    """How many rows of chapter 07 BM25 and the encoder lose, where that many passages are shown."""
    corpus = load_corpus("handbook")
    passages = corpus.passages()
    rows = [
        (query.text, query.answer(passages))
        for query in asked("handbook")
        if query.doc_id and query.kind != "twin of a row"
    ]
    indexes = BM25Index.build(passages), DenseIndex.build(passages, corpus.vectors)
    lexical, dense = (
        sum((index.rank_of(text, answer) or len(passages)) > places for text, answer in rows) for index in indexes
    )
    return lexical, dense


ANSWERS: dict[str, Exercise] = {
    "05-a": Exercise(
        lambda: 1_800_000 * 384 * 4 / 1e9,
        0.01,
        "GB",
        (
            (lambda: 1_800_000 * 384 * 2 / 1e9, "That is float16. A float32 takes four bytes."),
            (lambda: 1_800_000 * 384 * 4 / 2**30, "That is in GiB, of 1,024 × 1,024 × 1,024 bytes."),
            (
                lambda: 1_800_000 * 384 / 1e9,
                "That is how many numbers there are, in billions: four bytes each.",
            ),
        ),
        "Passages × dimensions × bytes a number, divided by 1e9.",
    ),
    "05-b": Exercise(
        lambda: float(0.050 * 12 * 1e9 // (1_024 * 4) // 1_000),
        1.0,  # a thousand more or fewer
        "thousand vectors",
        (
            (lambda: 0.050 * 12e9 // 1_024 // 1_000, "A number takes four bytes in float32."),
            (lambda: 12e9 // (1_024 * 4) // 1_000, "That is what a whole second reads. The budget is 50 ms."),
            (lambda: 0.050 * 12e9 // (1_024 * 4), "That is the number of vectors. Give it in thousands."),
        ),
        "Budget × bandwidth is the bytes that can be read. Divide by the bytes of a vector.",
    ),
    "06-a": Exercise(
        lambda: 0.010 / 4.17 * 5_000_000 / 2,
        60.0,  # a hundredth
        "distances",
        (
            (
                lambda: 0.010 / 4.17 * 5_000_000,
                "That is what the scan computes in 10 ms. Here each takes twice as long.",
            ),
            (lambda: 0.010 / 4.17 * 5_000_000 * 2, "A distance that takes longer leaves room for fewer of them."),
        ),
        "The scan says what one distance takes: its seconds divided by the vectors. Double it, and fill the budget.",
    ),
    "06-b": Exercise(
        lambda: 10 * (1 - 0.99),
        0.001,
        "share of the queries",
        (
            (lambda: 1 - 0.99, "That share of all hits is missing. A query has ten, and one is enough to spoil it."),
            (lambda: 1 - 10 * (1 - 0.99), "That is the share that has all ten, at the least. Which share lacks one?"),
        ),
        "Spread the missing hits so that no two of them fall on one query.",
        "Right. If misses fell at random it would be a little less.",
    ),
    "07-a": Exercise(
        lambda: float(254 // len(pieces("handbook")["MX-4471-B"])),
        0.0,  # a whole number
        "part numbers",
        (
            (lambda: 100.0, "A part number is not one piece."),
            (lambda: 254.0, "That many pieces. Each part number is cut into several."),
            (
                lambda: round(254 / len(pieces("handbook")["MX-4471-B"]), 2),
                "Whole ones: the last is cut in the middle.",
            ),
            (lambda: 42.0, "The source says five or six pieces. Count those of this tokenizer."),
        ),
        'The pieces of one are in pieces("handbook")["MX-4471-B"].',
    ),
    "07-b": Exercise(
        lambda: float(min(_lost_rows(5))),
        0.0,  # a whole number
        "rows",
        (
            (lambda: float(max(_lost_rows(5))), "That is the other family. The better one loses fewer."),
            (lambda: float(min(_lost_rows(10))), "That is with ten passages shown. The page shows five."),
        ),
        "Count the ranks above five in each column, and take the smaller count.",
    ),
    "08-a": Exercise(
        lambda: float(length_factor(2_000, 250)),
        0.005,
        "times",
        (
            (lambda: 8.0, "That is the ratio of the lengths, the factor at b = 1."),
            (lambda: 6.0, "That is 0.75 × 8. A quarter of the factor does not depend on length."),
            (lambda: 1 / float(length_factor(2_000, 250)), "That is the share that is left. Turn it over."),
        ),
        "length_factor(2_000, 250), and that of a chunk of average length is one.",
    ),
    "08-b": Exercise(
        lambda: 100 * max(0, 254 - (1_200 - 60)) / 254,
        0.005,
        "per cent",
        (
            (lambda: 100 * 60 / 1_200, "That is its share of the document. The end of it is not read."),
            (lambda: 100 * 60 / 254, "That would be so if the answer stood at the beginning."),
        ),
        "Which pieces does it read, and which ones are the answer?",
    ),
}
