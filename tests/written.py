"""Numbers as people write them: 8.14, 12,000, 3 427.86, 95 %, 1.8 million, 10^{-9}, twenty-eight, a hundredfold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from random import Random

from text_to_num import alpha2digit

SHORT = 2


@dataclass(frozen=True)
class Number:
    """A number in a text. `step` is one unit of the last digit written: 0.01 for 8.14, 100,000 for 1.8 million."""

    written: str
    start: int
    value: Decimal
    step: Decimal
    percent: bool = False

    @property
    def key(self) -> str:
        """The same for one number in any grouping: 12,000 and 12_000 and 12{,}000."""
        return re.sub(rf"(?<=\d)(?:{_GROUPING})(?=\d{{3}})", "", " ".join(self.written.split()).casefold())

    @property
    def counts(self) -> bool:
        """Whether it has two or more significant digits as written, or is a word above twelve."""
        digits = re.sub(r"\D", "", self.written).lstrip("0")
        return len(digits) > 1 or (re.search(r"[a-z]", self.written, re.I) is not None and self.value > 12)

    @property
    def short(self) -> bool:
        """Whether it has so few digits that many a page shows the same number by chance; words always."""
        return len(re.sub(r"\D", "", self.written).lstrip("0")) <= SHORT

    def readings(self) -> tuple[Decimal, ...]:
        """90.9 %, as it stands and as a share."""
        return (self.value, self.value / 100) if self.percent else (self.value,)

    def equals(self, other: "Number") -> bool:
        """Whether both are one value."""
        return any(mine == theirs for mine in self.readings() for theirs in other.readings())

    def rounds_from(self, other: "Number") -> bool:
        """Whether the other, rounded to the digits written here, is this number. A tie may go either way."""
        if abs(other.value - self.value) * 2 <= self.step:
            return True
        share = abs(other.value * 100 - self.value) * 2 <= self.step if self.percent else False
        return share or (other.percent and abs(other.value / 100 - self.value) * 2 <= self.step)


# What has digits and is no number. A letter or an underscore ties the digits behind it to a name.
_NAMES = r"""
    \b [A-Z][A-Z0-9]* (?:-[A-Z0-9]+)*? -\d\w* (?:[-.]\w+)*           # MX-4471-B, ISO-8859-1
  | \b \d+_[^\W\d]\w*                                                # 01_rarity
  | \b \w*[^\W\d_]\w*\d\w* (?:\.\d+)*                                # BM25, k1, d61, ERR_4021, float32, v2.4
  | \b \d+ (?:\.\d+){2,}                                             # the version 2.4.6
  | \b [Cc]hapters?\s \d\d \b (?: (?<=s\s\d\d) (?: (?:,|\sand|\sto|\sor|–)\s?\d\d\b )+ )?   # chapters 05 and 06
"""
_GROUPING = r"[,_\x20\u00a0\u2009\u202f]|\{,\}|\\,"
_DIGITS = rf"""
    10 (?:\^|\*\*) \{{? (?P<power>[-−]?\d+) \}}?                     # 10^{-9}
  | 10 (?P<raised>[⁻⁰¹²³⁴-⁹]+)                                       # 10⁻⁹
  | \d{{1,3}} (?: (?:{_GROUPING}) \d{{3}} )+ (?!\d) (?:\.\d+)?           # 12,000 and 3 427.86
  | \d+ (?:\.\d+)?
  | \.\d+
"""
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_PERCENT = re.compile(r"(?:\s|\\,)?\\?%|\sper\s?cent\b")
_TOKEN = re.compile(
    rf"(?P<e>\b\d+(?:\.\d+)?[eE][+-]?\d+\b)|(?P<name>{_NAMES})"
    rf"|(?P<digits>{_DIGITS})(?:\s(?P<scale>thousand|million|billion)\b)?",
    re.X,
)


def find(text: str) -> list[Number]:
    """Every number of a text, in order; words only above twelve. A sign is not part of a number.

    Digits are not a number behind a letter or an underscore (k1, MX-4471-B, ERR_4021), before an underscore
    (01_rarity), in a version of three parts (2.4.6) and in "chapter 04". In front of a letter they are: 35MB, 10th.

    >>> [number.written for number in find("BM25 with k1=1.2, recall@10 of 3 427.86; 95 % of four thousand; v2.31")]
    ['1.2', '10', '3 427.86', '95', 'four thousand']
    >>> [str(number.value) for number in find("1.8 million, three and a half thousand, 10^{-3}, 1e-9, a hundredfold")]
    ['1800000.0', '3500.0', '0.001', '1E-9', '100']
    """
    digits = list(_in_digits(text))
    for number in digits:
        end = number.start + len(number.written)
        text = text[: number.start] + "#" * len(number.written) + text[end:]  # the million of 1.8 million is taken
    return sorted([*digits, *_in_words(text)], key=lambda number: number.start)


def _in_digits(text: str) -> Iterator[Number]:
    for match in _TOKEN.finditer(text):
        if match["name"]:
            continue
        raised = (match["raised"] or "").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
        if power := (match["power"] or raised).replace("−", "-"):
            value = step = Decimal(1).scaleb(int(power))
        else:
            value = Decimal(match["e"] or re.sub(r"[^\d.]", "", match["digits"]))
            scale = _SCALES.get(match["scale"], 1)
            step, value = Decimal(1).scaleb(int(value.as_tuple().exponent)) * scale, value * scale
        yield Number(match[0], match.start(), value, step, _PERCENT.match(text, match.end()) is not None)


@cache
def _in_vocabulary(word: str) -> bool:
    word = word.casefold().removesuffix("fold")
    if word.endswith("s"):  # hundreds of: how many is not said
        return False
    return word in ("a", "an", "and", "half", "point", "dozen") or alpha2digit(word, "en", threshold=0) != word


@cache
def _value(words: str) -> Decimal | None:
    """The value of a number word. The library knows neither "a hundred" nor halves, dozens and -fold."""
    words = re.sub(r"[\s-]+", " ", words).casefold().removesuffix("fold")
    words = re.sub(rf"^an? (?={'|'.join(_SCALES)})", "one ", words)
    if half := re.fullmatch(rf"(?:(.+?) and a )?half(?: an?)?(?: ({'|'.join(_SCALES)}))?", words):
        whole = _value(half[1]) if half[1] else Decimal(0)
        return None if whole is None else (whole + Decimal("0.5")) * _SCALES.get(half[2], 1)
    if dozens := re.fullmatch(r"(.+) dozen", words):
        return None if (count := _value(dozens[1])) is None else count * 12
    digits = re.fullmatch(r"(\d+(?:\.\d+)?)(?:st|nd|rd|th)?", alpha2digit(words, "en", threshold=0))
    return Decimal(digits[1]) if digits else None


def _in_words(text: str) -> Iterator[Number]:
    words = [word for word in re.finditer(r"[^\W\d_]+", text) if _in_vocabulary(word[0])]
    while words:
        end = 1
        while end < len(words) and re.fullmatch(r"\s+|-", text[words[end - 1].end() : words[end].start()]):
            end += 1
        start = words[0].start()
        values = ((n, _value(text[start : words[n - 1].end()])) for n in range(end, 0, -1))
        used, value = next(((n, value) for n, value in values if value is not None), (1, None))
        stop = words[used - 1].end()
        if value is not None and value > 12:
            yield Number(text[start:stop], start, value, Decimal(1), _PERCENT.match(text, stop) is not None)
        words = words[used:]


_EXCHANGED = (
    "one two three four five six seven eight nine".split(),
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),
    "twenty thirty forty fifty sixty seventy eighty ninety".split(),
    list(_SCALES),
)


def changed(number: Number, random: Random) -> str | None:
    """The number with one digit (or one of its words) changed: another value, of as many digits."""
    text, options = number.written, []
    for match in re.finditer(r"\d", text):
        options += [text[: match.start()] + digit + text[match.end() :] for digit in "0123456789"]
    for row in _EXCHANGED:
        for match in re.finditer(rf"\b(?:{'|'.join(row)})(?=th\b|fold\b|\b)", text, re.I):
            others = (word.capitalize() if match[0].istitle() else word for word in row)
            options += [text[: match.start()] + word + text[match.end() :] for word in others]

    def differs(option: str) -> bool:
        numbers = find(option)
        return (
            len(numbers) == 1
            and numbers[0].written == option
            and numbers[0].counts
            and numbers[0].value != number.value
        )

    options = [option for option in options if differs(option)]
    return random.choice(options) if options else None
