"""Answers held against recall: what generation did with the evidence, and what it cannot have had from retrieval.

A query whose evidence did not reach the prompt cannot be answered from the prompt. So the share of queries that are
answered rightly is at most the recall at the prompt's k, under three conditions: the labels are complete, both
figures run over the same queries, and k is the number of passages that the prompt holds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ragkit.measure.metrics import recall_at_k
from ragkit.measure.runs import Mean, Qrels, Runs
from ragkit.measure.trec import FilePath, filled


@dataclass(frozen=True)
class Ceiling:
    """The answer rate beside the recall that bounds it, over the same queries; `ceiling` makes it.

    `unused` are the queries whose evidence was in the top k and that were not answered: generation's. `missed` are
    those with neither: retrieval's. `elsewhere` are those that were answered without labelled evidence in the top k:
    from what the model knew, from a passage that nobody labelled, or from another prompt than this k. `ignored` are
    answers to queries that have nothing relevant, which recall leaves out.
    """

    k: int
    rate: Mean
    recall: Mean
    unused: tuple[str, ...]
    missed: tuple[str, ...]
    elsewhere: tuple[str, ...]
    ignored: tuple[str, ...]

    @property
    def bounded(self) -> bool:
        """Whether every answer had its evidence in the top k; a rate below recall does not show that."""
        return not self.elsewhere

    def __repr__(self) -> str:
        rows = {
            "evidence there, not answered": self.unused,
            "no evidence, not answered": self.missed,
            "no evidence, and answered": self.elsewhere,
        }
        lines = [f"answered      {self.rate!r}", f"recall@{self.k:<6} {self.recall!r}"]
        lines += [f"{name:<30}{len(ids):>3}  {', '.join(ids)}".rstrip() for name, ids in rows.items()]
        if self.ignored:
            lines.append(f"{'not scored, nothing relevant':<30}{len(self.ignored):>3}  {', '.join(self.ignored)}")
        return "\n".join(lines)


def ceiling(answered: Mapping[str, bool], runs: Runs, qrels: Qrels, k: int) -> Ceiling:
    """Hold the answers against the evidence that stood in the top k, query by query.

    `answered` says of each query whether its answer was right. ValueError where a query that recall counts has no
    answer: the two figures would run over different queries. Other errors as for the measures.

    >>> found = ceiling({"q1": True, "q2": True}, {"q1": ["d1"], "q2": ["d2"]}, {"q1": {"d1"}, "q2": {"d9"}}, k=1)
    >>> found.rate > found.recall, found.elsewhere
    (True, ('q2',))
    """
    recall = recall_at_k(runs, qrels, k)
    given = {str(qid): bool(right) for qid, right in answered.items()}
    if lacking := [qid for qid in recall.values if qid not in given]:
        raise ValueError(
            f"{len(lacking)} of the {recall.n} queries that recall counts have no answer, the first is "
            f"{lacking[0]!r}. Answer them, or measure recall over the queries that were answered"
        )
    rate = Mean({qid: float(given[qid]) for qid in recall.values}, recall.left_out)

    def those(right: bool, hit: bool) -> tuple[str, ...]:
        return tuple(qid for qid, value in recall.values.items() if given[qid] is right and (value > 0) is hit)

    return Ceiling(
        k=int(k),
        rate=rate,
        recall=recall,
        unused=those(right=False, hit=True),
        missed=those(right=False, hit=False),
        elsewhere=those(right=True, hit=False),
        ignored=tuple(qid for qid in given if qid not in recall.values),
    )


def read_answers(path: FilePath) -> dict[str, bool]:
    """Read a file of answers: a line a query, its id, a tab, and 1 where the answer was right, else 0.

    ValueError, with file, line and remedy, for another line and for a query that stands twice.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "answers.tsv").write_text("q1\\t1\\nq2\\t0\\n")
    ...     read_answers(f"{folder}/answers.tsv")
    {'q1': True, 'q2': False}
    """
    answers: dict[str, bool] = {}
    for number, line in filled(path):
        fields = line.rstrip("\r\n").split("\t")
        if len(fields) != 2 or not fields[0] or fields[1].strip() not in ("0", "1"):
            raise ValueError(
                f"{path} line {number}: {line.strip()!r}. A line is a query id, a tab, and 1 (right) or 0 (wrong)"
            )
        if fields[0] in answers:
            raise ValueError(f"{path} line {number}: query {fields[0]!r} stands twice. Keep one of its answers")
        answers[fields[0]] = fields[1].strip() == "1"
    return answers
