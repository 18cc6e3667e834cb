"""Find documents that say the same: word for word, or nearly."""

import re
from collections import defaultdict
from collections.abc import Mapping
from hashlib import sha256
from itertools import combinations
from typing import NamedTuple


class Near(NamedTuple):
    """Two documents that share text: `share` of the shingles of the one that has fewer."""

    first: str
    second: str
    share: float


def content_hash(text: str) -> str:
    """sha256 of a text, its white space aside: a line break more does not make it another text.

    >>> content_hash("one  text\\n") == content_hash("one text"), content_hash("One text") == content_hash("one text")
    (True, False)
    """
    return sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def aliases(docs: Mapping[str, str], titles: Mapping[str, str] | None = None) -> dict[str, str]:
    """Map each document that repeats an earlier one to the first that carries its text.

    `titles` are left out of the comparison where a text begins with its title: the same docstring under two names
    is one text. A document that nothing precedes is not in the map. Blank documents are not twins of one another.

    >>> aliases({"d60": "Set the limit.", "d61": "Set the limit.", "d70": "Another text."})
    {'d61': 'd60'}
    """
    first: dict[str, str] = {}
    repeated: dict[str, str] = {}
    for doc_id, text in docs.items():
        body = text.removeprefix((titles or {}).get(doc_id, ""))
        if body.strip():
            original = first.setdefault(content_hash(body), doc_id)
            if original != doc_id:
                repeated[doc_id] = original
    return repeated


def near_duplicates(docs: Mapping[str, str], share: float = 0.5, size: int = 5) -> list[Near]:
    """Pairs of documents that share at least `share` of their shingles, most alike first.

    A shingle is `size` words in a row, case aside. The share is |A ∩ B| / min(|A|, |B|), the containment of
    Broder (1997), "On the resemblance and containment of documents": a page that holds another whole has share 1.
    A document of fewer than `size` words is one shingle. ValueError for a share outside 0 to 1 or a size below 1.

    >>> near_duplicates({"a": "one two three four five six", "b": "one two three four five seven"})
    [Near(first='a', second='b', share=0.5)]
    """
    if not 0 < share <= 1:
        raise ValueError(f"share is {share}; it is above 0 and at most 1")
    holders: dict[tuple[str, ...], list[str]] = defaultdict(list)
    n_shingles: dict[str, int] = {}
    for doc_id, text in docs.items():
        own = shingles(text, size)
        n_shingles[doc_id] = len(own)
        for shingle in own:
            holders[shingle].append(doc_id)
    common: dict[tuple[str, str], int] = defaultdict(int)
    for doc_ids in holders.values():
        for pair in combinations(doc_ids, 2):
            common[pair] += 1
    pairs = (Near(a, b, n / min(n_shingles[a], n_shingles[b])) for (a, b), n in common.items())
    return sorted((pair for pair in pairs if pair.share >= share), key=lambda pair: (-pair.share, pair))


def shingles(text: str, size: int = 5) -> set[tuple[str, ...]]:
    """Every `size` words in a row, case aside.

    >>> sorted(shingles("Set the limit first", size=3))
    [('set', 'the', 'limit'), ('the', 'limit', 'first')]
    """
    if size < 1:
        raise ValueError(f"size is {size}; a shingle is 1 word or more")
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + size]) for at in range(max(1, len(words) - size + 1))} if words else set()
