"""What do the documents of a bucket have in common? That is how an ingestion filter is found."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from math import comb
from typing import Any, NamedTuple

LEAST, LIFT, SURE, COVER = 3, 2.0, 0.01, 0.5  # a group: documents, times its share of all, p, share of the bucket


class Group(NamedTuple):
    """What the documents of a bucket have in common: `inside` of its `of` documents, and `share` of all there are.

    `p` is the chance that as many or more of them fall into the group where they are drawn from all at random (the
    upper tail of the hypergeometric distribution). Many groups were looked at, so a p of 0.01 alone says little.
    """

    attribute: str
    value: str
    inside: int
    of: int
    share: float
    p: float

    def __str__(self) -> str:
        return f"{self.attribute} {self.value}: {self.inside} of {self.of} here, {self.share:.1%} of all"


def common_traits(
    documents: Mapping[str, set[str]], about: Mapping[str, Mapping[str, Any]]
) -> dict[str, tuple[Group, ...]]:
    """The groups that explain each bucket, the least likely first; buckets without any are not there.

    `documents` are those of each bucket, `about` is {document id: {attribute: value}} of all that are known. Numbers
    and dates are grouped by a bound, other values as they are. TypeError for another shape.

    >>> about = {f"d{n}": {"size_mb": n} for n in range(40)}
    >>> str(common_traits({"not indexed": {"d37", "d38", "d39"}}, about)["not indexed"][0])
    'size_mb ≥ 37: 3 of 3 here, 7.5% of all'
    """
    if not isinstance(about, Mapping) or not all(isinstance(own, Mapping) for own in about.values()):
        raise TypeError("about is {document id: {attribute: value}}")
    known = {str(doc_id): own for doc_id, own in about.items()}
    attributes = list(dict.fromkeys(name for own in known.values() for name in own))
    groups = {}
    for bucket, names in documents.items():
        inside = [name for name in names if name in known]
        found = [
            group
            for attribute in attributes
            for group in _common(
                attribute,
                [known[name].get(attribute) for name in sorted(inside)],
                [own.get(attribute) for own in known.values()],
            )
        ]
        groups[bucket] = tuple(sorted(found, key=lambda group: (group.p, group.share, group.attribute)))
    return {bucket: found for bucket, found in groups.items() if found}


def _common(attribute: str, inside: Sequence[Any], everywhere: Sequence[Any]) -> Iterator[Group]:
    """The groups of one attribute that explain a bucket: a value, or for what can be ordered a bound."""
    values, others = [v for v in inside if v is not None], [v for v in everywhere if v is not None]
    if len(values) < LEAST:
        return
    counted, all_over = Counter(map(str, values)), Counter(map(str, others))
    candidates = _bounds(values, others) or [(value, n, all_over[value]) for value, n in counted.items()]
    found = []
    for value, n_inside, n_all in candidates:
        share, part = n_all / len(others), n_inside / len(inside)
        if n_inside >= LEAST and part >= COVER and part >= LIFT * share:
            p = _tail(n_inside, len(inside), n_all, len(others))
            if p <= SURE:
                found.append(Group(attribute, value, n_inside, len(inside), share, p))
    if found:
        yield min(found, key=lambda group: (group.p, group.share))


def _bounds(values: Sequence[Any], others: Sequence[Any]) -> list[tuple[str, int, int]]:
    """What can be ordered, by "at least" and "at most": (name, how many here, how many of all); else nothing."""
    if not all(isinstance(value, int | float | date) and not isinstance(value, bool) for value in others):
        return []
    found = []
    try:
        for bound in sorted(set(values)):
            shown = f"{bound:g}" if isinstance(bound, float) else str(bound)
            found.append((f"≥ {shown}", sum(v >= bound for v in values), sum(v >= bound for v in others)))
            found.append((f"≤ {shown}", sum(v <= bound for v in values), sum(v <= bound for v in others)))
    except TypeError:  # numbers among dates, or a time zone on some of them: no order
        return []
    return found


def _tail(inside: int, drawn: int, marked: int, total: int) -> float:
    """The chance of `inside` marked ones or more among `drawn` of `total`, of which `marked` are.

    >>> _tail(2, 2, 2, 4)   # 1 of 6 pairs
    0.16666666666666666
    """
    ways = sum(comb(marked, n) * comb(total - marked, drawn - n) for n in range(inside, min(drawn, marked) + 1))
    return ways / comb(total, drawn) if drawn <= total else 1.0
