"""Two systems on the same queries: who finds what, how far apart they are, and what the queries can tell.

Everything is paired: a query that both systems answer, or neither, says nothing about which is better, and only the
*discordant* ones, where just one of the two has a hit, speak. Hits are those of `recall_at_k`: one relevant document
or more in the top k. Shapes of runs and qrels, and their errors, are those of `ragkit.measure.runs`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from math import ceil, isnan, log2, sqrt
from statistics import NormalDist
from types import MappingProxyType
from typing import Any

from ragkit.measure.metrics import any_hit, checked_k, per_query
from ragkit.measure.runs import LEVEL, RESAMPLES, Grades, Joined, Mean, Qrels, Runs, join

Records = Mapping[str, Mapping[str, Any]]  # a run's name -> its record
ABOUT = ("chunking", "folded", "corpus", "corpus_sha256")  # what a record says of the documents that were ranked


class Difference(Mean):
    """A mean of differences, a query at a time: a float with `.values`, `.n` and `.interval`, as `Mean` has.

    `.interval` is a paired bootstrap: whole queries are drawn, each with what both systems did on it. Percentiles of
    10,000 resamples with a fixed seed, 95 %. It cannot see what did not happen: where no query differs it is (0, 0),
    and yet of n queries without a difference up to 3/n of all queries may differ.

    >>> Difference({"q1": 1.0, "q2": 0.0, "q3": -1.0, "q4": 1.0})
    +0.2500 (mean of 4 differences)
    """

    def _counts(self) -> bool:
        return False  # a difference of two shares is no share, also where all differences happen to be 0 or 1

    def __repr__(self) -> str:
        return f"{self:+.4f} (mean of {self.n} differences)"


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two systems on the same queries; printed, it is a table.

    `both`, `only_a`, `only_b` and `neither` are the ids of the queries by who has a hit in the top `k`, in the order
    of the qrels; `disjoint` are those of `both` where the two found no relevant document in common: equal bits,
    different evidence. `union` is the recall of both top k together, which shows `union_size` documents a query on
    average, up to 2k: so `recall_a_2k` and `recall_b_2k`, what each reaches alone with that budget, stand beside it.
    `difference` is recall_a − recall_b, with its `.interval`. `unknown` says what the records do not, and `short`
    which system has no list as long as 2k, so that its recall there may be too low.

    >>> a, b = {"q1": ["d1"], "q2": ["d9"], "q3": ["d5"]}, {"q1": ["d2"], "q2": ["d3"], "q3": ["d9"]}
    >>> found = compare(a, b, {"q1": {"d1", "d2"}, "q2": {"d3"}, "q3": {"d5"}}, k=1)
    >>> found.both, found.only_a, found.only_b, found.neither, found.disjoint
    (('q1',), ('q3',), ('q2',), (), ('q1',))
    >>> found.union, found.p_value
    (1.00 (3 of 3), 1.0)
    """

    names: tuple[str, str]
    k: int
    both: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    neither: tuple[str, ...]
    disjoint: tuple[str, ...]
    recall_a: Mean
    recall_b: Mean
    union: Mean
    union_size: float
    recall_a_2k: Mean
    recall_b_2k: Mean
    difference: Difference
    unknown: tuple[str, ...]
    short: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many queries were compared: those with a relevant document."""
        return self.recall_a.n

    @cached_property
    def p_value(self) -> float:
        """McNemar's test, exact and two-sided; ImportError without scipy.

        The chance of a split as uneven as `only_a` against `only_b`, or more, if each discordant query fell to
        either side with 1/2: a binomial test ("Note on the sampling error of the difference between correlated
        proportions or percentages", 1947, in its exact form). It tests the difference of the rates and not the
        disagreement: at an exact tie it is 1, whether no query is discordant or every one.
        """
        return mcnemar(len(self.only_a), len(self.only_b))

    def __repr__(self) -> str:
        a, b = self.names
        groups = {"both": self.both, f"only {a}": self.only_a, f"only {b}": self.only_b, "neither": self.neither}
        shares = {
            f"{a} at {self.k}": self.recall_a,
            f"{b} at {self.k}": self.recall_b,
            "union of the two": self.union,
            f"{a} at {2 * self.k}": self.recall_a_2k,
            f"{b} at {2 * self.k}": self.recall_b_2k,
        }
        rows = [(name, len(ids), len(ids) / self.n) for name, ids in groups.items()]
        rows += [(name, round(sum(mean.values.values())), float(mean)) for name, mean in shares.items()]
        width = max(len(name) for name, _, _ in rows)
        lines = [f"{a} against {b}: any-hit recall at {self.k}, {self.n} queries", f"{'':{width}}  queries   share"]
        lines += [f"{name:{width}}  {count:7}  {share:.4f}" for name, count, share in rows]
        budget = f"read it beside the rows at {2 * self.k}, not at {self.k}"
        lines.append(f"The union shows {self.union_size:.1f} documents a query: {budget}.")
        lines.append(f"{a} − {b} = {self.difference:+.4f}; {_or_missing(self._interval)}")
        lines.append(f"    (paired bootstrap of the queries, {RESAMPLES:,} resamples, percentiles)")
        lines.append(f"McNemar, exact, {len(self.only_a)} against {len(self.only_b)}: {_or_missing(self._p)}")
        lines.append(f"Of {len(self.both)} that both hit, {len(self.disjoint)} through no document in common.")
        for name, mean in ((a, self.recall_a), (b, self.recall_b)):
            if mean.missing:
                lines.append(f"{name} lacks {len(mean.missing)} of the queries: counted as misses")
        if left_out := self.recall_a.left_out:
            lines.append(f"{len(left_out)} queries left out: nothing relevant")
        return "\n".join([*lines, *self.short, *self.unknown])

    def _interval(self) -> str:
        return f"{100 * LEVEL:.0f} % interval {_between(self.difference)}"

    def _p(self) -> str:
        return f"p = {self.p_value:.4g}"


def compare(run_a: Runs, run_b: Runs, qrels: Qrels, k: int, *, names: tuple[str, str] = ("A", "B")) -> Comparison:
    """Compare two systems query by query, in the top k: who has a hit where, and what the two have together.

    Runs: a `Run` or {query id: ranking}; qrels: {query id: relevant ids}, graded or not. A query without a relevant
    document is left out, one that a run lacks is a miss of that run. `names` are for the table. The counts and shares
    need numpy alone, `.difference.interval` and `.p_value` scipy. ValueError for runs whose records differ in
    chunking or corpus, since their ids name different things; where a record does not say, `.unknown` does.
    ValueError for two equal names, unless k is a whole number of 1 or more, and as for every measure.

    >>> a, b = {"q1": ["d1", "d2"], "q2": ["d3", "d4"]}, {"q1": ["d2", "d1"], "q2": ["d5", "d6"]}
    >>> compare(a, b, {"q1": {"d1"}, "q2": {"d4"}}, k=2, names=("BM25", "dense"))
    BM25 against dense: any-hit recall at 2, 2 queries
                      queries   share
    both                    1  0.5000
    only BM25               1  0.5000
    only dense              0  0.0000
    neither                 0  0.0000
    BM25 at 2               2  1.0000
    dense at 2              1  0.5000
    union of the two        2  1.0000
    BM25 at 4               2  1.0000
    dense at 4              1  0.5000
    The union shows 3.0 documents a query: read it beside the rows at 4, not at 2.
    BM25 − dense = +0.5000; 95 % interval +0.0000 to +1.0000
        (paired bootstrap of the queries, 10,000 resamples, percentiles)
    McNemar, exact, 1 against 0: p = 1
    Of 1 that both hit, 0 through no document in common.
    BM25: no list is longer than 2, so its recall at 4 may be too low
    dense: no list is longer than 2, so its recall at 4 may be too low
    BM25: chunking unknown, corpus unknown
    dense: chunking unknown, corpus unknown
    """
    k = int(checked_k(k))
    a, b = names
    if a == b:
        raise ValueError(f"both runs are named {a!r}; give two names")
    _, unknown = alike({a: getattr(run_a, "record", {}), b: getattr(run_b, "record", {})})
    joined_a, joined_b = _join(a, run_a, qrels), _join(b, run_b, qrels)
    found_a, found_b = _found(joined_a, k), _found(joined_b, k)
    groups: dict[tuple[bool, bool], list[str]] = {(x, y): [] for x in (True, False) for y in (True, False)}
    for qid in joined_a.grades:
        groups[bool(found_a[qid]), bool(found_b[qid])].append(qid)
    both = groups[True, True]
    shown = [len({*ids[:k], *joined_b.rankings[qid][:k]}) for qid, ids in joined_a.rankings.items()]
    return Comparison(
        names=(a, b),
        k=k,
        both=tuple(both),
        only_a=tuple(groups[True, False]),
        only_b=tuple(groups[False, True]),
        neither=tuple(groups[False, False]),
        disjoint=tuple(qid for qid in both if not found_a[qid] & found_b[qid]),
        recall_a=_recall(joined_a, k),
        recall_b=_recall(joined_b, k),
        union=Mean(
            {qid: float(bool(found_a[qid] | found_b[qid])) for qid in found_a},
            joined_a.left_out,
            [qid for qid in joined_a.missing if qid in joined_b.missing],
            dict.fromkeys([*joined_a.unlabelled, *joined_b.unlabelled]),
        ),
        union_size=sum(shown) / len(shown),
        recall_a_2k=_recall(joined_a, 2 * k),
        recall_b_2k=_recall(joined_b, 2 * k),
        difference=_difference(_recall(joined_a, k), _recall(joined_b, k)),
        unknown=unknown,
        short=(*_short(a, joined_a, 2 * k), *_short(b, joined_b, 2 * k)),
    )


def paired_difference(
    measure: Callable[..., Mean],
    run_a: Runs,
    run_b: Runs,
    qrels: Qrels,
    k: int | None = None,
    **options: Any,  # noqa: ANN401 - what the measure takes
) -> Difference:
    """How far two systems are apart in any measure: the mean of A − B over the queries, with a paired interval.

    `measure` is `ndcg_at_k` or any other, and `options` go to it. Errors as for the measure, and for unlike records
    as for `compare`.

    >>> from ragkit.measure.metrics import reciprocal_rank
    >>> a, b = {"q1": ["d1", "d2"], "q2": ["d3"]}, {"q1": ["d2", "d1"], "q2": ["d3"]}
    >>> paired_difference(reciprocal_rank, a, b, {"q1": {"d1"}, "q2": {"d3"}})
    +0.2500 (mean of 2 differences)
    """
    alike({"A": getattr(run_a, "record", {}), "B": getattr(run_b, "record", {})})
    values_a, values_b = (per_query(measure, run, qrels, k, **options) for run in (run_a, run_b))
    return _difference(Mean(values_a), Mean(values_b))


# several systems


class Comparisons(Mapping[tuple[str, str], Comparison]):
    """Comparisons of several systems, {(name, name): Comparison}, read-only; printed, it is a table.

    `adjusted` has the p of each pair after Holm: what is to be read where more than one pair was looked at.

    >>> runs = {"x": {"q": ["d1"]}, "y": {"q": ["d2"]}, "z": {"q": ["d1"]}}
    >>> list(compare_all(runs, {"q": {"d1"}}, k=1))
    [('x', 'y'), ('x', 'z'), ('y', 'z')]
    """

    def __init__(self, pairs: Mapping[tuple[str, str], Comparison]) -> None:
        self._pairs = dict(pairs)

    def __getitem__(self, pair: tuple[str, str]) -> Comparison:
        return self._pairs[pair]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    @cached_property
    def adjusted(self) -> Mapping[tuple[str, str], float]:
        """The p of each pair, adjusted by `holm` over all pairs; ImportError without scipy and statsmodels."""
        ps = holm([one.p_value for one in self._pairs.values()])
        return MappingProxyType(dict(zip(self._pairs, ps, strict=True)))

    def _tests(self, pair: tuple[str, str]) -> str:
        one = self[pair]
        return f"{_between(one.difference):18}  {one.p_value:.4f}  {self.adjusted[pair]:.4f}"

    def __repr__(self) -> str:
        width = max(len(name) for pair in self for name in pair)
        some = next(iter(self.values()))
        lines = [
            f"any-hit recall at {some.k}, {some.n} queries, {len(self)} pairs; p: McNemar, exact, and after Holm",
            f"{'A':{width}}  {'B':{width}}  only A  only B    A − B  {'95 % interval':18}       p    Holm",
        ]
        for (a, b), one in self.items():
            counts = f"{len(one.only_a):6}  {len(one.only_b):6}  {one.difference:+.4f}"
            lines.append(f"{a:{width}}  {b:{width}}  {counts}  {_or_missing(partial(self._tests, (a, b)))}")
        notes = (note for one in self.values() for note in (*one.short, *one.unknown))
        return "\n".join([*lines, *dict.fromkeys(notes)])


def compare_all(runs: Mapping[str, Runs], qrels: Qrels, k: int) -> Comparisons:
    """Compare each pair of several systems, {name: run}, with p-values adjusted for their number.

    Gives a mapping {(name, name): Comparison}, pairs in the order of the names, with `.adjusted`. ValueError for
    fewer than two systems; other errors as for `compare`.

    >>> a, b, c = ({f"q{i}": ["hit" if i < hits else "miss"] for i in range(20)} for hits in (20, 10, 4))
    >>> found = compare_all({"a": a, "b": b, "c": c}, {f"q{i}": {"hit"} for i in range(20)}, k=1)
    >>> [f"{one.p_value:.4f}" for one in found.values()], [f"{p:.4f}" for p in found.adjusted.values()]
    (['0.0020', '0.0000', '0.0312'], ['0.0039', '0.0001', '0.0312'])
    """
    if len(runs) < 2:
        raise ValueError(f"{len(runs)} system(s) given; a comparison needs two or more")
    pairs = combinations(runs.items(), 2)
    return Comparisons({(a, b): compare(one, other, qrels, k, names=(a, b)) for (a, one), (b, other) in pairs})


# the tests and the number of queries


def mcnemar(only_a: int, only_b: int) -> float:
    """The p-value of McNemar's test, exact and two-sided, from the two numbers of discordant queries.

    Without a discordant query it is 1: nothing speaks against equal rates. ImportError without scipy.

    >>> mcnemar(0, 0), mcnemar(78, 78), f"{mcnemar(26, 12):.4f}"
    (1.0, 1.0, '0.0336')
    """
    if only_a == only_b:
        return 1.0
    try:
        from scipy import stats
    except ImportError as error:
        raise ImportError("McNemar's test needs scipy: pip install scipy") from error
    return float(stats.binomtest(only_a, only_a + only_b, 0.5).pvalue)


def holm(p_values: Iterable[float]) -> list[float]:
    """Adjust p-values for their number: Holm, "A simple sequentially rejective multiple test procedure" (1979).

    Rejecting what is at most alpha after it keeps the chance of one false rejection or more at alpha, however the
    tests depend on one another. In the order given. ValueError for what is no p-value; ImportError without
    statsmodels, whose `multipletests` does it.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    ps = [float(p) for p in p_values]
    if wrong := [p for p in ps if not 0 <= p <= 1]:
        raise ValueError(f"{wrong[0]} is no p-value; it lies between 0 and 1")
    if len(ps) < 2:
        return ps
    try:
        from statsmodels.stats.multitest import multipletests
    except ImportError as error:
        raise ImportError("Holm's adjustment needs statsmodels: pip install statsmodels") from error
    return [float(p) for p in multipletests(ps, method="holm")[1]]


def queries_needed(difference: float, *, discordant: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """How many queries tell a difference apart, where `discordant` is the share on which just one system has a hit.

    Recall is apart by `difference` d, and D is the discordant share: the two sides have (D + d)/2 and (D − d)/2.
    n = (z(1 − alpha/2) · √D + z(power) · √(D − d²))² / d², rounded up, from Connor, "Sample size for testing
    differences in proportions for the paired-sample design" (1987). `power` is the chance that McNemar's test then
    gives p <= alpha, two-sided. The formula is that of the test in its normal form; the exact test reaches a few
    hundredths less. Never fewer than the exact test needs to be able to reject at all. The same difference takes more
    queries where the systems disagree more: a pilot gives D. ValueError unless 0 < |d| <= D <= 1, and power and alpha
    between 0 and 1.

    >>> queries_needed(0.05, discordant=0.13), queries_needed(0.05, discordant=0.30)
    (406, 940)
    """
    d = abs(float(difference))
    if not 0 < d <= discordant <= 1:
        raise ValueError(
            f"the difference is {difference} and the discordant share {discordant}: systems that are apart by d "
            "disagree on a share of d or more, at most 1; and no number of queries tells a difference of 0"
        )
    for name, value in (("power", power), ("alpha", alpha)):
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}; it is a chance between 0 and 1")
    normal = NormalDist()
    root = normal.inv_cdf(1 - alpha / 2) * sqrt(discordant) + normal.inv_cdf(power) * sqrt(max(discordant - d * d, 0))
    least = 1 - log2(alpha)  # n discordant queries on one side have p = 2 / 2^n
    return max(ceil((root / d) ** 2), ceil(least))


# whether runs speak of the same documents


def alike(records: Records) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Check that runs rank the same documents, by their records: what all of them say, and what some do not.

    `records` has the record of each run by its name. Runs of passages are alike where the chunking is; runs that were
    folded into documents are alike whatever it was. A corpus is known by its `corpus_sha256`, or else by its name.
    ValueError for two that differ, with the names of both.

    >>> alike({"A": {"chunking": "whole()", "k1": 1.2}, "B": {"chunking": "whole()"}})
    ({'chunking': 'whole()'}, ('A: corpus unknown', 'B: corpus unknown'))
    """
    for (a, one), (b, other) in combinations(records.items(), 2):
        if _differ(_units(one), _units(other)):
            raise ValueError(
                f"{a} ranks {_units(one)}, {b} ranks {_units(other)}: their ids name different things. "
                "Fold both into documents with ragkit.fold, or make both on one chunking"
            )
        name = "corpus_sha256" if "corpus_sha256" in one and "corpus_sha256" in other else "corpus"
        if _differ(one.get(name), other.get(name)):
            raise ValueError(
                f"{a} was made on {_corpus(one)}, {b} on {_corpus(other)}: make both on one. If they are to be "
                "compared all the same, give dict(run), which has no record"
            )
    unknown = {name: _gaps(record) for name, record in records.items()}
    first = next(iter(records.values()))
    common = {
        key: first[key]
        for key in ABOUT
        if all(key in record and record[key] == first.get(key) for record in records.values())
    }
    return common, tuple(f"{name}: {', '.join(gaps)}" for name, gaps in unknown.items() if gaps)


def _differ(one: Any, other: Any) -> bool:  # noqa: ANN401 - whatever a record holds
    """Are both known, and not the same?"""
    return one is not None and other is not None and one != other


def _units(record: Mapping[str, Any]) -> str | None:
    """What a run ranks; None where its record does not say."""
    if record.get("folded"):
        return "documents (folded)"
    return None if record.get("chunking") is None else f"passages by {record['chunking']}"


def _gaps(record: Mapping[str, Any]) -> list[str]:
    """What a record does not say of the documents."""
    gaps = ["chunking unknown"] if _units(record) is None else []
    if "corpus_sha256" not in record:
        gaps.append("version of the corpus unknown" if "corpus" in record else "corpus unknown")
    return gaps


def _corpus(record: Mapping[str, Any]) -> str:
    name, version = record.get("corpus", "a corpus"), record.get("corpus_sha256")
    return f"{name} (sha256 {str(version)[:12]}…)" if version else str(name)


# the pieces of a comparison


def _join(name: str, run: Runs, qrels: Qrels) -> Joined:
    """`join`, with the name of the run in its errors."""
    try:
        return join(run, qrels)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def _found(joined: Joined, k: int) -> dict[str, set[str]]:
    """The relevant documents in the top k of each query."""
    return {
        qid: {doc_id for doc_id in joined.rankings[qid][:k] if grades.get(doc_id, 0) >= 1}
        for qid, grades in joined.grades.items()
    }


def _recall(joined: Joined, k: int) -> Mean:
    def hit(ranking: tuple[str, ...], grades: Grades) -> float:
        return any_hit([max(grades.get(doc_id, 0), 0) for doc_id in ranking[:k]])

    return joined.mean(hit)


def _difference(a: Mean, b: Mean) -> Difference:
    """A − B. In the order of the ids, so that the resamples do not depend on the order of the qrels."""
    return Difference({qid: a.values[qid] - b.values[qid] for qid in sorted(a.values)})


def _short(name: str, joined: Joined, depth: int) -> list[str]:
    longest = max(map(len, joined.rankings.values()))
    if longest >= depth:
        return []
    return [f"{name}: no list is longer than {longest}, so its recall at {depth} may be too low"]


def _between(difference: Difference) -> str:
    low, high = difference.interval
    if isnan(low):
        return "none, from one query"
    return f"{low:+.4f} to {high:+.4f}"


def _or_missing(shown: Callable[[], str]) -> str:
    """What is to be shown; where a library is missing, what to install."""
    try:
        return shown()
    except ImportError as error:
        return str(error)
