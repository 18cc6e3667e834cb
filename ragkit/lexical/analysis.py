"""Text to terms.

A retriever compares terms and never sees the text again, so every choice made here is invisible afterwards. An
`Analyzer` is made of visible pieces; the presets are made with it, and `analyzer.record()` says what they are.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from inspect import ismethod
from typing import Any, NamedTuple

# What Lucene's EnglishAnalyzer drops, 33 words. "not" and "no" are among them: negation is gone before scoring.
ENGLISH_STOP = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these "
    "they this to was will with".split()
)

# Typographic apostrophes and hyphens become plain ones; what has no width (soft hyphen, zero-width space, …) goes.
_LOOK_ALIKES = str.maketrans(
    {"\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"}
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)

# One alternative a form, the longest form first. \w is a letter, a digit or an underscore of any script.
# Possessive repeats (++) and the look-behinds keep the search linear: no form is tried again inside a run that
# has failed it once, however long a row of a-a-a-a may be.
WORD = r"\w[\w\u0300-\u036f]*(?:'\w+)*"  # words, snake_case, don't; a combining accent stays with its letter
_STEP = r"\w++(?:[.\-]\w++)*+"  # one step of a path; a full stop at its end is not of it
IDENTIFIER = (
    rf"(?<!\w[.\-]){_STEP}(?:/{_STEP}){{2,}}+"  # a/b/c: a path has two slashes,
    rf"|(?<![\w/])/{_STEP}(?:/{_STEP})*+"  # or begins with one,
    rf"|(?<!\w[.\-]){_STEP}/(?=[\w\-]+\.\w){_STEP}"  # or ends in a file name; "and/or" is two words
    r"|\w++(?:\.\w++)++(?:-\w++)*+"  # numpy.linalg.norm, 1.26.0-rc1
    r"|(?<!\w-)(?=(?:\w++-)*\w*\d)\w++(?:-\w++)++"  # MX-4471-B: hyphens join only where there is a digit
)
STANDARD = rf"{IDENTIFIER}|{WORD}"

# Patterns none of whose matches holds, or looks across, white space: what stands between two spaces is then analysed
# alike wherever it stands. For another pattern that cannot be told without reading it.
WITHIN_SPACES = frozenset({STANDARD, WORD, r"\S+", r"\w+", r"\b\w\w+\b", r"(?u)\b\w\w+\b", "[A-Za-z0-9]+"})

# Patterns by which a plain word, ASCII letters and digits, is one token, whatever of this punctuation it touches.
WORD_ALONE = frozenset({STANDARD, WORD, r"\w+", "[A-Za-z0-9]+"})
_PUNCTUATION = '.,;:!?()[]{}"<>*'

_POSSESSIVE = re.compile(r"'[sS]\Z")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2,})")
_SEPARATORS = (re.compile("/"), re.compile(r"\."), re.compile("-"), re.compile("_"), _CAMEL)


class Terms(NamedTuple):
    """What an analyzer makes of a text.

    `words` are the terms that the text holds as written, in order; their number is its length. `parts` are the
    pieces of its identifiers: terms as well, but they do not add to the length.
    """

    words: tuple[str, ...]
    parts: tuple[str, ...]


def identifier_parts(token: str) -> list[str]:
    """Take an identifier apart, from the loosest separator to the tightest: / . - _ and camelCase.

    Every piece that is itself an identifier stands in the list too, before its own pieces. A plain word has none.

    >>> identifier_parts("MX-4471-B"), identifier_parts("numpy.matrix_norm"), identifier_parts("pump")
    (['MX', '4471', 'B'], ['numpy', 'matrix_norm', 'matrix', 'norm'], [])
    """
    if token.isalnum() and token[1:] == token[1:].lower():
        return []  # the common case first: no separator, and no capital inside
    for separator in _SEPARATORS:
        pieces = [piece for piece in separator.split(token) if piece]
        if len(pieces) > 1:
            return [part for piece in pieces for part in (piece, *identifier_parts(piece))]
        if pieces and pieces[0] != token:  # __init__, /etc: what the separators enclose is the one part
            return [pieces[0], *identifier_parts(pieces[0])]
    return []


@dataclass(frozen=True)
class Analyzer:
    """Text to terms: normalise, find the tokens, take identifiers apart, drop stop words, stem.

    pattern: a regular expression; each match is a token.
    stop: the words to drop, checked after lowercasing.
    stemmer: a function from a word to its stem, or None. Identifiers are never stemmed; their parts are.
    parts: whether identifiers are indexed by part as well as whole.
    lower: whether case is folded.
    name: what the record calls it.

    Text is brought to Unicode NFC, typographic apostrophes and hyphens become plain ones, and characters without
    width are dropped, so that a document and a query that look alike are alike. TypeError for anything that is
    not a string.

    >>> Analyzer.standard()("ERR_4021 on the MX-4471-B")
    Terms(words=('err_4021', 'on', 'the', 'mx-4471-b'), parts=('err', '4021', 'mx', '4471', 'b'))
    >>> Analyzer.english()("Do not restart the pumps").words
    ('do', 'restart', 'pump')
    """

    pattern: str = STANDARD
    stop: Collection[str] = frozenset()
    stemmer: Callable[[str], str] | None = None
    parts: bool = True
    lower: bool = True
    name: str = "custom"

    def __post_init__(self) -> None:
        if isinstance(self.stop, str):
            raise TypeError(f"stop is one string; give a set of words, for example {set(self.stop.split())}")
        object.__setattr__(self, "stop", frozenset(self._fold(_plain(word)) for word in self.stop))

    @classmethod
    def standard(cls) -> "Analyzer":
        """Lowercased words and identifiers; nothing dropped, nothing stemmed."""
        return cls(name="standard")

    @classmethod
    def english(cls, stop: Collection[str] = ENGLISH_STOP) -> "Analyzer":
        """The standard tokens, without English stop words, stemmed with Snowball's English stemmer.

        The stop list drops "not". `Analyzer.english(stop=ENGLISH_STOP - {"no", "not"})` keeps the negation.
        """
        snowball_english("")  # where the library is missing, say so here and not in the middle of a build
        return cls(stop=stop, stemmer=snowball_english, name="english")

    @classmethod
    def whitespace(cls) -> "Analyzer":
        """Whatever stands between two spaces, case kept, no parts."""
        return cls(pattern=r"\S+", parts=False, lower=False, name="whitespace")

    def __call__(self, text: str) -> Terms:
        """Analyse one text."""
        if not isinstance(text, str):
            raise TypeError(f"an analyzer reads a string, not {type(text).__name__}")
        return self._join(self._tokens(text))

    def pieces(self, text: str) -> Sequence[str]:
        """Cut a text into pieces that can be analysed one by one, each by `terms_of`, with the same result.

        A text repeats its pieces, so who reads many texts analyses each piece once. Pieces are what stands between
        white space where the pattern is known to stay within it, which costs one call of str.split; else tokens.

        >>> Analyzer.standard().pieces("the pump's belt, the BELT")
        ['the', "pump's", 'belt,', 'the', 'BELT']
        """
        return text.split() if self.pattern in WITHIN_SPACES else list(self._tokens(text))

    def terms_of(self, piece: str) -> Terms:
        """The terms of one of the `pieces` of a text."""
        if self._is_plain_word(piece):
            return Terms(self._terms([piece]), ())
        return self(piece) if self.pattern in WITHIN_SPACES else self._join([piece])

    def bare(self, piece: str) -> str:
        """A piece that is one plain word, without its punctuation and its capital; any other as it is. Same terms.

        >>> [Analyzer.standard().bare(piece) for piece in ("Belt,", "(belt)", "belt's", "page_size.", "pageSize")]
        ['belt', 'belt', "belt's", 'page_size.', 'pageSize']
        """
        word = piece.strip(_PUNCTUATION)
        if not self._is_plain_word(word):
            return piece
        return word.lower() if self.lower else word

    def _is_plain_word(self, piece: str) -> bool:
        return piece.isalnum() and piece.isascii() and piece[1:] == piece[1:].lower() and self.pattern in WORD_ALONE

    def _join(self, tokens: Iterable[str]) -> Terms:
        words: list[str] = []
        parts: list[str] = []
        for token in tokens:
            own, of_identifier = self._forms(token)
            words += own
            parts += of_identifier
        return Terms(tuple(words), tuple(parts))

    def record(self) -> dict[str, Any]:
        """What a run must remember of its analyzer."""
        return {
            "name": self.name,
            "pattern": self.pattern,
            "stop": sorted(self.stop),
            "stemmer": None if self.stemmer is None else _name_of(self.stemmer),
            "parts": self.parts,
            "lower": self.lower,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Analyzer":
        """The analyzer that a record describes. ValueError where its stemmer is a function that is not of ragkit.

        >>> Analyzer.from_record(Analyzer.english().record()) == Analyzer.english()
        True
        """
        if record["stemmer"] not in STEMMERS:
            raise ValueError(
                f"the stemmer {record['stemmer']!r} is a function of yours, and a record keeps its name alone"
            )
        return cls(**{**record, "stemmer": STEMMERS[record["stemmer"]]})

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # what is remembered stays here

    def _tokens(self, text: str) -> Iterator[str]:
        return (token for match in self._regex.finditer(_plain(text)) if (token := match.group()))

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @cached_property
    def _forms(self) -> Callable[[str], tuple[tuple[str, ...], tuple[str, ...]]]:
        """The terms of one token, remembered: a text repeats its words."""

        def forms(token: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
            identifier = _POSSESSIVE.sub("", token)  # page_size's default is the default of page_size
            pieces = identifier_parts(identifier) if self.parts else []
            if not pieces:
                return self._terms([token]), ()
            return (self._fold(identifier),), self._terms(pieces)

        return lru_cache(maxsize=10_000)(forms)

    def _fold(self, word: str) -> str:
        # casefold can undo NFC (ΐ), so it is normalised again
        return unicodedata.normalize("NFC", word.casefold()) if self.lower else word

    def _terms(self, words: Iterable[str]) -> tuple[str, ...]:
        terms = []
        for word in words:
            folded = self._fold(word)
            if folded in self.stop:
                continue
            # an identifier keeps its form; whether a word is one shows before its case is folded
            terms.append(folded if self.stemmer is None or identifier_parts(word) else self.stemmer(folded))
        return tuple(terms)


def snowball_english(word: str) -> str:
    """Stem a lowercased word with Snowball's English stemmer ("Porter2"), from the library snowballstemmer.

    >>> snowball_english("pagination"), snowball_english("paginated")
    ('pagin', 'pagin')
    """
    try:
        from snowballstemmer.english_stemmer import EnglishStemmer
    except ImportError as error:
        raise ImportError("Analyzer.english() needs a stemmer: pip install snowballstemmer") from error
    return str(EnglishStemmer().stemWord(word))  # a new one each time: it works on itself, and threads would mix


STEMMERS: Mapping[str | None, Callable[[str], str] | None] = {None: None, "snowball_english": snowball_english}


def _plain(text: str) -> str:
    """Make texts that look alike alike."""
    return unicodedata.normalize("NFC", text.translate(_LOOK_ALIKES))


def _name_of(function: Callable[[str], str]) -> str:
    if ismethod(function):  # snowballstemmer's methods all bear the name of their base class
        return f"{type(function.__self__).__qualname__}.{function.__name__}"
    return getattr(function, "__qualname__", type(function).__qualname__)
