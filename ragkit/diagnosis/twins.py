"""Texts that say the same among many thousands: the same words in another file, or nearly.

`ragkit.corpora.near_duplicates` compares every pair that shares a shingle, which a footer on every page makes
quadratic. Here a shingle that many texts hold links each of them to the next one only, so the work stays linear.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragkit.corpora.duplicates import content_hash
from ragkit.progress import progress

COMMON = 20  # a shingle that more texts hold than this links neighbours, and not all pairs
_WORD = re.compile(r"\w+")


class Twins(NamedTuple):
    """Groups of ids, each with two or more: `same` word for word, `near` with most of their shingles in common.

    One text of each group of `same` stands for it in `near`.
    """

    same: tuple[tuple[str, ...], ...]
    near: tuple[tuple[str, ...], ...]


def find_twins(texts: Mapping[str, str], share: float = 0.8, size: int = 5) -> Twins:
    """Group texts that repeat one another; white space aside for `same`, case and signs too for `near`.

    Two are near where at least `share` of the shingles (`size` words in a row) of the one with fewer stand in the
    other; groups are closed over such pairs. Blank texts are left out. Of shingles that more than 20 texts hold, only
    neighbours in the order of the texts are compared: a pair may be overlooked so, and none is made up.

    >>> find_twins({"a": "one two three four five six", "b": "one two  three four five six", "c": "seven"})
    Twins(same=(('a', 'b'),), near=())
    """
    by_hash: dict[str, list[str]] = {}
    for name, text in texts.items():
        if text.strip():
            by_hash.setdefault(content_hash(text), []).append(name)
    firsts = [own[0] for own in by_hash.values()]
    pairs = _near_pairs([texts[name] for name in firsts], share, size)
    same = tuple(tuple(own) for own in by_hash.values() if len(own) > 1)
    return Twins(same, tuple(tuple(firsts[at] for at in group) for group in _groups(pairs)))


def _near_pairs(texts: Sequence[str], share: float, size: int) -> list[tuple[int, int]]:
    vocabulary: dict[str, int] = {}
    owned = [_shingles(text, size, vocabulary) for text in progress(texts, "near-duplicates", len(texts))]
    if not owned:
        return []
    counts = np.array([len(own) for own in owned])
    hashes, owners = np.concatenate(owned), np.repeat(np.arange(len(owned)), counts)
    order = np.lexsort((owners, hashes))
    hashes, owners = hashes[order], owners[order]
    begins = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))
    sizes = np.diff(np.append(begins, len(hashes)))
    pairs = [_pairs_of(owners, begins[sizes == n], int(n)) for n in np.unique(sizes) if n > 1]
    if not pairs:
        return []
    codes, common = np.unique(np.concatenate(pairs), return_counts=True)
    first, second = codes // len(owned), codes % len(owned)
    kept = common >= share * np.minimum(counts[first], counts[second])
    return list(zip(first[kept].tolist(), second[kept].tolist(), strict=True))


def _shingles(text: str, size: int, vocabulary: dict[str, int]) -> NDArray[np.uint64]:
    """A number for each distinct shingle: a polynomial of the numbers of its words, modulo 2^64."""
    words = _WORD.findall(text.casefold())
    numbers = np.array([vocabulary.setdefault(word, len(vocabulary) + 1) for word in words], np.uint64)
    width = min(size, len(numbers))
    found = np.zeros(len(numbers) - width + 1 if width else 0, np.uint64)
    for place in range(width):
        found = found * np.uint64(0x9E3779B97F4A7C15) + numbers[place : place + len(found)]
    return np.unique(found)


def _pairs_of(owners: NDArray[np.int64], begins: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Pairs of texts that hold a shingle of `size` holders, each as first · number of texts + second."""
    held = owners[begins[:, np.newaxis] + np.arange(size)]
    one, other = np.triu_indices(size, 1) if size <= COMMON else (np.arange(size - 1), np.arange(1, size))
    codes: NDArray[np.int64] = (held[:, one] * (owners.max() + 1) + held[:, other]).ravel()
    return codes


def _groups(pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    first: dict[int, int] = {}

    def root(at: int) -> int:
        while first.setdefault(at, at) != at:
            at = first[at]
        return at

    for one, other in pairs:
        a, b = sorted((root(one), root(other)))
        first[b] = a
    found: dict[int, list[int]] = {}
    for at in sorted(first):
        found.setdefault(root(at), []).append(at)
    return list(found.values())
