"""Cut documents into passages. Offsets are exact: `text[start:end]` is the passage, so a label can follow it.

A chunking is a rule and the record of it. The record travels with every run that is made on the passages, because
two runs on different passages cannot be compared.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from types import MappingProxyType
from typing import Any, NamedTuple

WINDOW = 254  # word pieces that MiniLM reads: 256, less the two marks at the ends

Spans = list[tuple[int, int]]


class Passage(NamedTuple):
    """One passage: the document it comes from, and where it stands there."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True)
class Chunking:
    """A way to cut a text: `cut(text)` gives spans (start, end) in order, `record` names it with its settings."""

    name: str
    settings: Mapping[str, Any]
    cut: Callable[[str], Spans]

    @property
    def record(self) -> dict[str, Any]:
        """What a run remembers of the chunking."""
        return {"chunking": str(self)}

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"


class Passages(Mapping[str, str]):
    """Passages of a collection by id, read-only: a mapping {passage id: text}, which any index takes.

    The id is the document's, "#", and the passage's number in it. `origin` says where each stands; `record` says
    how they were cut, and what else is given of the collection. A document without any text gives no passage.

    >>> passages = Passages({"d1": "abcdefghij"}, characters(size=4, overlap=2))
    >>> passages["d1#2"], passages.origin["d1#2"]
    ('cdef', Passage(doc_id='d1', start=2, end=6))
    """

    def __init__(self, docs: Mapping[str, str], chunking: Chunking, record: Mapping[str, Any] | None = None) -> None:
        self.chunking = chunking
        self.record: Mapping[str, Any] = MappingProxyType({**(record or {}), **chunking.record})
        origin = {
            f"{doc_id}#{number}": Passage(str(doc_id), start, end)
            for doc_id, text in docs.items()
            for number, (start, end) in enumerate(chunking.cut(text), 1)
        }
        self.origin: Mapping[str, Passage] = MappingProxyType(origin)
        self._texts = {name: docs[at.doc_id][at.start : at.end] for name, at in origin.items()}

    def __getitem__(self, passage_id: str) -> str:
        return self._texts[passage_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return f"Passages({len(self)} by {self.chunking!r})"


# ways to cut


def whole() -> Chunking:
    """Leave a document as it is, without the white space at its ends.

    >>> whole().cut(" one text ")
    [(1, 9)]
    """
    return Chunking("whole", {}, lambda text: _trimmed(text, [(0, len(text))]))


def characters(size: int = 800, overlap: int = 0) -> Chunking:
    """Cut every `size` characters, whatever stands there; each chunk repeats the last `overlap` of the one before.

    The last chunk ends where the text ends, and none lies within another. ValueError for a size below 1 and for
    an overlap that is negative or not smaller than the size.

    >>> characters(size=4, overlap=2).cut("abcdefghij")
    [(0, 4), (2, 6), (4, 8), (6, 10)]
    """
    if size < 1:
        raise ValueError(f"size is {size}; a chunk has 1 character or more")
    if not 0 <= overlap < size:
        raise ValueError(f"overlap is {overlap} and size is {size}; the overlap is 0 or more, and less than the size")

    def cut(text: str) -> Spans:
        starts = range(0, max(len(text) - overlap, 1), size - overlap)
        # A chunk of white space alone says nothing; the others keep theirs, so that the sizes are exact.
        return [(at, end) for at in starts if text[at : (end := min(at + size, len(text)))].strip()]

    return Chunking("characters", {"size": size, "overlap": overlap}, cut)


def sentences(size: int = 800) -> Chunking:
    """Fill chunks with whole sentences, up to `size` characters. A sentence longer than that is cut between words.

    Sentences end at a full stop, question mark or exclamation mark before white space, and at the end of a
    paragraph, a heading, a list item or a table row. ValueError for a size below 1.

    >>> text = "One. Two is longer. Three."
    >>> [text[start:end] for start, end in sentences(size=20).cut(text)]
    ['One. Two is longer.', 'Three.']
    """
    if size < 1:
        raise ValueError(f"size is {size}; a chunk has 1 character or more")
    return Chunking("sentences", {"size": size}, lambda text: _filled(text, (0, len(text)), len, size))


def headings() -> Chunking:
    """Cut before each heading: Markdown's (#, outside of code) and the underlined ones of reST and docstrings.

    >>> text = "# A\\n\\nWords.\\n\\n## B\\n\\nMore."
    >>> [text[start:end] for start, end in headings().cut(text)]
    ['# A\\n\\nWords.', '## B\\n\\nMore.']
    """
    return Chunking("headings", {}, lambda text: _trimmed(text, _sections(text)))


def window(
    limit: int = WINDOW, least: int = 48, count: Callable[[str], int] | None = None, counted_by: str = ""
) -> Chunking:
    """Cut before headings, and where a section does not fit an encoder's window, between its sentences.

    `limit` and `least` are in word pieces: nothing longer than `limit` comes out, and a section of fewer than
    `least` joins its neighbour where both fit. `count` gives the number of pieces of a text, `encoder.count` for
    instance, and `counted_by` names it for the record. Without it `pieces_at_most` counts: that needs no model,
    and is on the safe side. ValueError for a limit below 1, and for a `count` without a name.

    >>> text = "# A\\n\\n" + "word " * 300
    >>> [end - start for start, end in window().cut(text)]
    [1049, 454]
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}; a window holds 1 word piece or more")
    if count is not None and not counted_by:
        raise ValueError("counted_by names what counts the pieces: runs whose passages differ must not look alike")
    measure = count or pieces_at_most

    def cut(text: str) -> Spans:
        return [
            piece
            for section in _joined(text, _trimmed(text, _sections(text)), measure, limit, least)
            for piece in _filled(text, section, measure, limit)
        ]

    return Chunking("window", {"limit": limit, "least": least, "counted_by": counted_by or "pieces_at_most"}, cut)


def pieces_at_most(text: str) -> int:
    """Count word pieces without a model, rather too many than too few.

    Four letters, two digits, and each other sign count as a piece, and a fifth is added. A common word is one
    piece however long it is, so English comes out at about 1.4 times what MiniLM's own tokenizer gives; tests hold
    that no passage of the two collections has more pieces than this.

    >>> pieces_at_most("pagination: page_size=50")
    11
    """
    return ceil(len(_PIECE.findall(text)) * 1.2)


_PIECE = re.compile(r"[^\W\d_]{1,4}|\d{1,2}|[^\w\s]|_")

# where a text can be cut


def boundaries(text: str) -> list[int]:
    """Where a sentence, a heading or a paragraph begins, the end of the text, and 0: in order.

    White space belongs to what stands before it. `sentences` and `window` cut at these places, and elsewhere only
    where what lies between two of them is too long.

    >>> boundaries("# A\\n\\nOne is here. Two, e.g. this.")
    [0, 5, 18, 33]
    """
    span = (0, len(text))
    return sorted({*span, *_sentence_ends(text, span), *(at for section in _sections(text) for at in section)})


_FENCE = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)[^\S\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} .*$|^(?=\S)(?!\|).+\n(?:-{3,}|={3,})[^\S\n]*$", re.MULTILINE)
# After a sentence; after a line that ends a paragraph; after the line before a list item, a table row or a prompt.
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]*`]*\s+(?=[\"'(\[*`]?[A-Z0-9])|\n\s*\n|\n(?=\s*(?:[-*|]|\d+[.)]|>>>) ?)")
_SPACE = re.compile(r"\s+")
_SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|etc|vs|no|fig|eq|para|reg|s|p|pp)|\b[A-Z])\.[\"')\]*`]*\s+$", re.IGNORECASE
)


def _sections(text: str) -> Spans:
    code = [match.span() for match in _FENCE.finditer(text)]
    begins = [match.start() for match in _HEADING.finditer(text)]
    begins = [at for at in begins if not any(start <= at < end for start, end in code)]
    return list(zip([0, *begins], [*begins, len(text)], strict=True))


def _joined(text: str, sections: Spans, count: Callable[[str], int], limit: int, least: int) -> Spans:
    """Let a section that is too short for a passage of its own join its neighbour, where both fit."""
    joined: Spans = []
    for start, end in sections:
        before = joined[-1][0] if joined else start
        short = joined and min(count(text[before : joined[-1][1]]), count(text[start:end])) < least
        if short and count(text[before:end]) <= limit:
            joined[-1] = (before, end)
        else:
            joined.append((start, end))
    return joined


def _filled(text: str, span: tuple[int, int], count: Callable[[str], int], limit: int) -> Spans:
    """Fill chunks up to `limit` with whole sentences; where one does not fit alone, with words, then with letters."""
    spans: Spans = []
    for start, end in _parts(text, span, count, limit):
        if spans and count(text[spans[-1][0] : end].strip()) <= limit:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return _trimmed(text, spans)


def _parts(text: str, span: tuple[int, int], count: Callable[[str], int], limit: int) -> Iterator[tuple[int, int]]:
    for sentence in _between(span, _sentence_ends(text, span)):
        if count(text[slice(*sentence)].strip()) <= limit:
            yield sentence
            continue
        for word in _between(sentence, (match.end() for match in _SPACE.finditer(text, *sentence))):
            if count(text[slice(*word)].strip()) <= limit:
                yield word
            else:
                yield from _halved(text, word, count, limit)


def _sentence_ends(text: str, span: tuple[int, int]) -> Iterator[int]:
    for match in _SENTENCE.finditer(text, *span):
        if not _SHORT.search(text, max(span[0], match.start() - 5), match.end()):
            yield match.end()


def _halved(text: str, span: tuple[int, int], count: Callable[[str], int], limit: int) -> Iterator[tuple[int, int]]:
    start, end = span
    if end - start <= 1 or count(text[start:end].strip()) <= limit:
        yield span
        return
    middle = (start + end) // 2
    yield from _halved(text, (start, middle), count, limit)
    yield from _halved(text, (middle, end), count, limit)


def _between(span: tuple[int, int], cuts: Iterable[int]) -> Spans:
    places = sorted({span[0], span[1], *(at for at in cuts if span[0] < at < span[1])})
    return list(pairwise(places))


def _trimmed(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """Leave out the white space at both ends of each span, and the spans that hold nothing else."""
    trimmed = []
    for start, end in spans:
        piece = text[start:end]
        if piece.strip():
            trimmed.append((end - len(piece.lstrip()), start + len(piece.rstrip())))
    return trimmed
