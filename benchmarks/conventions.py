"""Where the measures of several libraries part: `python benchmarks/conventions.py` asks each about small cases.

The cases are constructed, one for each convention. Every library gets the same ranking and judgments in the shape
that it takes, with its defaults, and its answer is kept: a value, or the error's first words. A second table puts our
measures beside those of trec_eval. Libraries that are not installed keep no column; requirements-bench.txt has all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from io import StringIO
from math import isnan, log2, nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common import installed, publish, table

import ragkit
from ragkit.ranking import rank

Scored = Sequence[tuple[str, float]]
ABSENT = "–"  # no such measure, or no way to say it
MISSING = object()  # an answer of a library that does not know the measure


@dataclass(frozen=True)
class Case:
    """One constructed case: rankings as (document, score), grades, and the measure that is asked for."""

    name: str
    measure: str
    k: int
    run: Mapping[str, Scored]
    qrels: Mapping[str, Mapping[str, int]]
    fate: bool = False  # what becomes of the second of two queries

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """Scores by document."""
        return {qid: dict(ranking) for qid, ranking in self.run.items()}

    @property
    def twice(self) -> bool:
        """Does a document stand twice in a ranking? A dict of scores cannot say so, and a file can."""
        return any(len(dict(ranking)) < len(ranking) for ranking in self.run.values())

    @property
    def lines(self) -> str:
        """The run as the lines of trec_eval's format."""
        return "".join(
            f"{qid} Q0 {doc_id} {place} {score} run\n"
            for qid, ranking in self.run.items()
            for place, (doc_id, score) in enumerate(ranking, 1)
        )

    @property
    def arrays(self) -> list[tuple[list[float], list[int]]]:
        """What the ranking's entries give: scores and grades, 0 where nobody judged, a pair a query."""
        return [
            ([score for _, score in ranking], [self.qrels.get(qid, {}).get(doc_id, 0) for doc_id, _ in ranking])
            for qid, ranking in self.run.items()
        ]


GOOD: Scored = (("d1", 2.0), ("d2", 1.0))
YES = {"d1": 1, "d2": 0}
SECOND = {"d1": 0, "d2": 1}  # relevant at place 2: no mean can be mistaken for another
TIE, TURNED = (("d1", 1.0), ("d2", 1.0)), (("d2", 1.0), ("d1", 1.0))

CASES = {
    "judged-none-relevant": Case(
        "judged, none relevant", "nDCG", 3, {"q1": GOOD, "q2": GOOD}, {"q1": SECOND, "q2": {"d1": 0, "d2": 0}}, True
    ),
    "no-judgments": Case(
        "an empty set of judgments", "nDCG", 3, {"q1": GOOD, "q2": GOOD}, {"q1": SECOND, "q2": {}}, True
    ),
    "missing": Case("missing from the run", "nDCG", 3, {"q1": GOOD}, {"q1": SECOND, "q2": YES}, True),
    "empty": Case("an empty ranking", "nDCG", 3, {"q1": GOOD, "q2": ()}, {"q1": SECOND, "q2": YES}, True),
    "unlabelled": Case("in the run, not in the judgments", "nDCG", 3, {"q1": GOOD, "q2": GOOD}, {"q1": SECOND}, True),
    "none-relevant": Case("no query has a relevant document", "nDCG", 3, {"q1": GOOD}, {"q1": {"d1": 0, "d2": 0}}),
    "disjoint": Case("the run answers other queries only", "nDCG", 3, {"q9": GOOD}, {"q1": YES}),
    "short": Case("two retrieved, both relevant", "P", 5, {"q": GOOD}, {"q": {"d1": 1, "d2": 1}}),
    "recall": Case("one of two relevant documents retrieved", "recall", 3, {"q": GOOD}, {"q": {"d1": 1, "d8": 1}}),
    "ideal": Case("one of two relevant documents retrieved", "nDCG", 3, {"q": GOOD}, {"q": {"d1": 1, "d8": 1}}),
    "average": Case("one of two relevant documents retrieved", "AP", 3, {"q": GOOD}, {"q": {"d1": 1, "d8": 1}}),
    "above-k": Case("two relevant documents, k of one", "AP", 1, {"q": GOOD}, {"q": {"d1": 1, "d2": 1}}),
    "gains": Case("grade 1 before grade 2", "nDCG", 2, {"q": GOOD}, {"q": {"d1": 1, "d2": 2}}),
    "negative-grade": Case("grade −2 before grade 1", "nDCG", 2, {"q": GOOD}, {"q": {"d1": -2, "d2": 1}}),
    "single": Case("one document retrieved, relevant", "nDCG", 3, {"q": GOOD[:1]}, {"q": {"d1": 1}}),
    "tie": Case("a tie, d1 before d2 as given, d1 relevant", "nDCG", 1, {"q": TIE}, {"q": YES}),
    "tie-turned": Case("a tie, d2 before d1 as given, d1 relevant", "nDCG", 1, {"q": TURNED}, {"q": YES}),
    "tie-rr": Case("a tie, d1 before d2 as given, d1 relevant", "RR", 1, {"q": TIE}, {"q": YES}),
    "tie-rr-turned": Case("a tie, d2 before d1 as given, d1 relevant", "RR", 1, {"q": TURNED}, {"q": YES}),
    "near-tie": Case(
        "scores apart in float64 only, the higher relevant",
        "nDCG",
        1,
        {"q": (("d1", 1 + 1e-8), ("d2", 1.0))},
        {"q": YES},
    ),
    "below-zero": Case(
        "scores below zero, the first relevant", "P", 1, {"q": (("d1", -1.0), ("d2", -2.0))}, {"q": YES}
    ),
    "nan": Case(
        "the score NaN before a relevant document", "nDCG", 1, {"q": (("d1", nan), ("d2", 1.0))}, {"q": {"d2": 1}}
    ),
    "twice": Case(
        "a relevant document twice, another not retrieved",
        "nDCG",
        2,
        {"q": (("d1", 2.0), ("d1", 1.0))},
        {"q": {"d1": 1, "d8": 1}},
    ),
    "judged": Case("two retrieved, one of them judged", "Judged", 5, {"q": GOOD}, {"q": {"d1": 1}}),
    "judged-empty": Case(
        "an empty ranking beside one all judged", "Judged", 5, {"q1": GOOD, "q2": ()}, {"q1": YES, "q2": YES}
    ),
}


# one function a library: the mean over the queries with its defaults; MISSING where it has no such measure


def ours(case: Case) -> Any:
    measures = {
        "nDCG": ragkit.ndcg_at_k,
        "P": ragkit.precision_at_k,
        "recall": ragkit.recall_at_k,
        "AP": ragkit.average_precision,
        "RR": ragkit.reciprocal_rank,
        "Judged": ragkit.judged_at_k,
    }
    return measures[case.measure](case.run, case.qrels, case.k)


def of_pytrec_eval(case: Case) -> Any:
    """With the mean of its own example: over the queries that it gives a value."""
    import pytrec_eval

    names = {"nDCG": "ndcg_cut", "P": "P", "recall": "recall", "AP": "map_cut"}
    if case.measure not in names:  # recip_rank has no cut
        return MISSING
    name, asked = f"{names[case.measure]}_{case.k}", f"{names[case.measure]}.{case.k}"
    run = pytrec_eval.parse_run(StringIO(case.lines)) if case.twice else case.scores
    found = pytrec_eval.RelevanceEvaluator(case.qrels, {asked}).evaluate(run)
    values = [by_name[name] for by_name in found.values()]
    return pytrec_eval.compute_aggregated_measure(name, values) if values else nan


def of_ir_measures(case: Case) -> Any:
    import ir_measures

    measure = ir_measures.parse_measure(f"{'R' if case.measure == 'recall' else case.measure}@{case.k}")
    run = list(ir_measures.read_trec_run(case.lines)) if case.twice else case.scores
    return ir_measures.calc_aggregate([measure], case.qrels, run)[measure]


def of_scikit_learn(case: Case, ignore_ties: bool = False) -> Any:
    import numpy as np
    from sklearn.metrics import ndcg_score

    if case.measure != "nDCG":
        return MISSING
    scores, grades = zip(*case.arrays, strict=True)
    if len({len(own) for own in scores}) == 1:
        return ndcg_score(np.array(grades), np.array(scores), k=case.k, ignore_ties=ignore_ties)
    # rows of different lengths make no array: one by one
    values = [
        ndcg_score(np.array([given]), np.array([own]), k=case.k, ignore_ties=ignore_ties)
        for own, given in zip(scores, grades, strict=True)
    ]
    return sum(values) / len(values)


def of_sentence_transformers(case: Case) -> Any:
    """Its evaluator searches itself: here it gets the hits instead, by its own step that computes the metrics."""
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    names = {"nDCG": "ndcg@k", "P": "precision@k", "recall": "recall@k", "AP": "map@k", "RR": "mrr@k"}
    relevant = {qid: {doc_id for doc_id, grade in own.items() if grade >= 1} for qid, own in case.qrels.items()}
    if case.measure not in names or not case.qrels.keys() <= case.run.keys():
        return MISSING
    ks = [case.k]
    evaluator = InformationRetrievalEvaluator(
        dict.fromkeys(case.run, ""), {}, relevant, 1, ks, ks, ks, ks, ks, write_csv=False
    )
    hits = [
        [{"corpus_id": doc_id, "score": score} for doc_id, score in case.run[qid]] for qid in evaluator.queries_ids
    ]
    return evaluator.compute_metrics(hits)[names[case.measure]][case.k]


def of_ranx(case: Case, measure: str = "", **options: bool) -> Any:
    from ranx import Qrels, Run, evaluate

    names = {"nDCG": "ndcg", "P": "precision", "recall": "recall", "AP": "map", "RR": "mrr"}
    if case.measure not in names:
        return MISSING
    if case.twice:
        with TemporaryDirectory() as folder:
            path = Path(folder, "run.trec")
            path.write_text(case.lines, encoding="utf-8")
            run = Run.from_file(str(path), kind="trec")
    else:
        run = Run.from_dict(case.scores)
    qrels = Qrels.from_dict({qid: dict(own) for qid, own in case.qrels.items()})
    return evaluate(qrels, run, f"{measure or names[case.measure]}@{case.k}", **options)


def of_torchmetrics(case: Case, **options: Any) -> Any:
    import torch
    from torchmetrics import retrieval

    measures = {
        "nDCG": retrieval.RetrievalNormalizedDCG,
        "P": retrieval.RetrievalPrecision,
        "recall": retrieval.RetrievalRecall,
        "AP": retrieval.RetrievalMAP,
        "RR": retrieval.RetrievalMRR,
    }
    if case.measure not in measures:
        return MISSING
    scores, grades, queries = [], [], []
    for number, (own, given) in enumerate(case.arrays):
        scores += own
        grades += given if case.measure == "nDCG" else [int(grade >= 1) for grade in given]
        queries += [number] * len(own)
    measure = measures[case.measure](top_k=case.k, **options)
    return float(measure(torch.tensor(scores), torch.tensor(grades), indexes=torch.tensor(queries)))


LIBRARIES: dict[str, Callable[[Case], Any]] = {
    "ragkit": ours,
    "pytrec_eval-terrier": of_pytrec_eval,
    "ir_measures": of_ir_measures,
    "scikit-learn": of_scikit_learn,
    "sentence-transformers": of_sentence_transformers,
    "ranx": of_ranx,
    "torchmetrics": of_torchmetrics,
}


def exponential(case: Case) -> Case:
    """The same with 2^grade − 1 for the grade."""
    grades = {qid: {doc_id: 2**grade - 1 for doc_id, grade in own.items()} for qid, own in case.qrels.items()}
    return Case(case.name, case.measure, case.k, case.run, grades)


def _by_gains(case: Case) -> Any:
    import ir_measures

    measure = ir_measures.nDCG(gains={1: 1, 2: 3}) @ case.k
    return ir_measures.calc_aggregate([measure], case.qrels, case.scores)[measure]


def _over_all(case: Case) -> float:
    """The values that pytrec_eval gives, over the queries of the qrels."""
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(case.qrels, {f"ndcg_cut.{case.k}"}).evaluate(case.scores)
    return float(sum(own[f"ndcg_cut_{case.k}"] for own in found.values()) / len(case.qrels))


def _float32(case: Case) -> Any:
    run = {qid: rank(scores, precision="float32") for qid, scores in case.scores.items()}
    return ragkit.ndcg_at_k(run, case.qrels, case.k)


# what a caller can choose instead of the default: library, how, case, and what it then answers
CHOICES: list[tuple[str, str, str, Callable[[Case], Any]]] = [
    ("ragkit", '`rank(…, precision="float32")`', "near-tie", _float32),
    ("pytrec_eval-terrier", "the sum over all queries of the qrels, as `trec_eval -c`", "missing", _over_all),
    ("ir_measures", "`nDCG(gains={1: 1, 2: 3})`", "gains", _by_gains),
    ("scikit-learn", "2^grade − 1 for the grade", "gains", lambda case: of_scikit_learn(exponential(case))),
    ("scikit-learn", "`ignore_ties=True`", "tie", lambda case: of_scikit_learn(case, ignore_ties=True)),
    ("ranx", "`ndcg_burges`", "gains", lambda case: of_ranx(case, "ndcg_burges")),
    ("ranx", "`make_comparable=True`", "missing", lambda case: of_ranx(case, make_comparable=True)),
    (
        "torchmetrics",
        '`empty_target_action="skip"`',
        "judged-none-relevant",
        lambda case: of_torchmetrics(case, empty_target_action="skip"),
    ),
    (
        "torchmetrics",
        '`empty_target_action="pos"`',
        "judged-none-relevant",
        lambda case: of_torchmetrics(case, empty_target_action="pos"),
    ),
    (
        "torchmetrics",
        '`empty_target_action="error"`',
        "judged-none-relevant",
        lambda case: of_torchmetrics(case, empty_target_action="error"),
    ),
    ("torchmetrics", "`adaptive_k=True`", "short", lambda case: of_torchmetrics(case, adaptive_k=True)),
]


def first_words(message: str, n: int = 16) -> str:
    words = message.replace("|", "/").split()
    return " ".join(words[:n]) + (" …" if len(words) > n else "")


def answer(ask: Callable[[Case], Any], case: Case) -> float | str | None:
    """What a library answers: a value, None where it has no such measure, or the error's first words."""
    try:
        found = ask(case)
    except Exception as error:  # whatever it is, it is the answer
        return f"{type(error).__name__}: {first_words(str(error))}".removesuffix(": ")
    if found is MISSING:
        return None
    return "no value" if isnan(found) else float(found)


def answers(names: Sequence[str] = tuple(LIBRARIES)) -> dict[str, dict[str, float | str | None]]:
    """Each case with the answers of these libraries."""
    return {key: {name: answer(LIBRARIES[name], case) for name in names} for key, case in CASES.items()}


FIRST = 1 / log2(3)  # nDCG@3 of the first query
FATES = {"left out": FIRST, "counts 0": FIRST / 2, "counts 1": (FIRST + 1) / 2}


def cell(found: float | str | None, case: Case, errors: list[str]) -> str:
    """An answer as the table shows it; an error by its number in the list below the table."""
    if found is None or found == "no value":
        return found or ABSENT
    if isinstance(found, str):
        if found not in errors:
            errors.append(found)
        return f"error {errors.index(found) + 1}"
    if case.fate:
        return next(fate for fate, mean in FATES.items() if abs(mean - found) < 1e-6)
    return f"{found:.3f}"


# our measures beside trec_eval's, on one constructed query: six retrieved, grades 0 to 2, one relevant not retrieved

EXAMPLE = Case(
    "an example",
    "",
    5,
    {"q": (("d1", 6.0), ("d2", 5.0), ("d3", 4.0), ("d4", 3.0), ("d5", 2.0), ("d6", 1.0))},
    {"q": {"d2": 1, "d3": 0, "d4": 2, "d6": 1, "d9": 1}},
)
# function, k, name for pytrec_eval or ir_measures, formula, where they differ
DEFINITIONS = [
    (
        "recall_at_k",
        5,
        "success_5",
        "1 with a relevant document in the top k, else 0",
        "the name: its `recall` is the next row",
    ),
    ("coverage_at_k", 5, "recall_5", "relevant documents in the top k / all relevant documents", "the name"),
    ("precision_at_k", 5, "P_5", "relevant documents in the top k / k, also for a shorter list", ""),
    (
        "reciprocal_rank",
        None,
        "recip_rank",
        "1 / place of the first relevant document, else 0",
        "with a k: ours ends there, trec_eval has no cut",
    ),
    (
        "average_precision",
        None,
        "map",
        "precision at the place of each relevant document, summed / all relevant documents",
        "",
    ),
    ("average_precision", 5, "map_cut_5", "the same for the top k, still / all relevant documents", ""),
    (
        "ndcg_at_k",
        5,
        "ndcg_cut_5",
        "Σ grade / log2(place + 1) over the top k / the same for the best order of the judged",
        "",
    ),
    ("ndcg_at_k", None, "ndcg", "the same for the whole ranking", ""),
    (
        "judged_at_k",
        5,
        "Judged@5",
        "documents with a judgment in the top k / documents shown there",
        "not in trec_eval: ir_measures'",
    ),
    ("distinct_at_k", 5, "", "different relevant answers in the top k, twins counted once", "not in trec_eval"),
]


def definitions() -> list[tuple[str, int | None, str, float, float | None]]:
    """Each measure with its value on the example, and the peer's."""
    import ir_measures
    import pytrec_eval

    found = []
    for function, k, peer, *_ in DEFINITIONS:
        value = float(getattr(ragkit, function)(EXAMPLE.run, EXAMPLE.qrels, k))
        theirs = None
        if "@" in peer:
            measure = ir_measures.parse_measure(peer)
            theirs = ir_measures.calc_aggregate([measure], EXAMPLE.qrels, EXAMPLE.scores)[measure]
        elif peer:
            name, _, cut = peer.rpartition("_")
            asked = f"{name}.{cut}" if cut.isdecimal() else peer
            theirs = pytrec_eval.RelevanceEvaluator(EXAMPLE.qrels, {asked}).evaluate(EXAMPLE.scores)["q"][peer]
        found.append((function, k, peer, value, theirs))
    return found


def in_words(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table whose columns are text."""
    return table(head, rows).replace("--:", "---")


def shown(found: Mapping[str, Any], choices: Sequence[Sequence[Any]], versions: Mapping[str, str]) -> str:
    """The tables of the answers, as the page shows them."""
    names = list(next(iter(found.values())))
    heads, errors = [f"{name.removesuffix('-terrier')} {versions[name]}" for name in names], list[str]()

    def cells(key: str) -> list[str]:
        return [cell(found[key][name], CASES[key], errors) for name in names]

    fates = in_words(
        ["the second query is", *heads], [[case.name, *cells(key)] for key, case in CASES.items() if case.fate]
    )
    means = ", ".join(
        f"{mean:.3f} where it {'is left out' if fate == 'left out' else fate}" for fate, mean in FATES.items()
    )
    values = table(
        ["case", "measure", *heads],
        [[case.name, f"{case.measure}@{case.k}", *cells(key)] for key, case in CASES.items() if not case.fate],
    )
    chosen = in_words(
        ["library", "chosen", "case", "by default", "then"],
        [
            [
                name.removesuffix("-terrier"),
                how,
                CASES[key].name,
                cell(found[key][name], CASES[key], errors),
                cell(new, CASES[key], errors),
            ]
            for name, how, key, new in choices
        ],
    )
    return (
        f"Two queries, the relevant document of the first at its second place. The mean of nDCG@3 is {means}.\n\n"
        f"{fates}\nOne query, unless the case says otherwise:\n\n{values}\n"
        f"What a caller can choose instead of the default:\n\n{chosen}\nThe errors begin:\n\n"
        + "".join(f"{number}. {error}\n" for number, error in enumerate(errors, 1))
    )


def defined(values: Sequence[Sequence[Any]]) -> str:
    """The table of the definitions, as the page shows it."""
    return in_words(
        ["ragkit", "trec_eval", "for one query", "difference", "example"],
        [
            [
                f"`{function}`",
                f"`{peer}`" if peer else ABSENT,
                formula,
                differs or "none",
                f"ours {value:.4f}" + ("" if theirs is None else f", theirs {theirs:.4f}"),
            ]
            for (function, _, peer, value, theirs), (*_, formula, differs) in zip(values, DEFINITIONS, strict=True)
        ],
    )


def main() -> None:
    names = [name for name in LIBRARIES if installed(name)]
    found = answers(names)
    choices = [[name, how, key, answer(ask, CASES[key])] for name, how, key, ask in CHOICES if name in names]
    text = shown(found, choices, {name: version(name) for name in names})
    publish("conventions", text, {"answers": found, "choices": choices}, [name for name in names if name != "ragkit"])
    values = definitions()
    publish("definitions", defined(values), {"rows": values}, ("pytrec_eval-terrier", "ir_measures"))


if __name__ == "__main__":
    main()
