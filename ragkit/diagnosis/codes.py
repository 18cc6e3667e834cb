"""Which words of a query stand for one thing, and are shattered by an encoder's tokenizer?"""

import re
from collections.abc import Collection, Sequence

_ERROR = re.compile(r"\b(?:err|error|errno|code|fault)\s+#?\d{2,}\b", re.IGNORECASE)
_TOKEN = re.compile(r"--?[A-Za-z][\w-]*|[\w/\\][\w.\-/\\]*[\w/\\](?:\(\))?|\w+\(\)")
_UNITS = (
    "st nd rd th s d h m g k w v a x ms us ns min hr hrs am pm km cm mm nm kg mg ug ml kb mb gb tb kib mib gib tib "
    "hz khz mhz ghz bit bits px pt dpi fps rpm kw mw kwh mah fold year years day days"
).split()
_UNIT = re.compile(rf"\d+(?:[.,]\d+)*(?:{'|'.join(_UNITS)})")
_YEAR = re.compile(r"(?:19|20)\d\d")


def code_like(query: str, names: Collection[str] = ()) -> tuple[str, ...]:
    """The words of a query that stand for one thing, and that an encoder shatters: empty where there are none.

    Recognised, in any case: letters with two or more digits in a row, joined or parted by a hyphen, a dot or an
    underscore (err_4021, E4021, MX-4471-B), and letters on both sides of a digit (IL2RA); words joined by an
    underscore (page_size) or a dot (numpy.linalg.norm); camelCase (LinAlgError); calls (mean()); paths, flags and
    versions (/etc/hosts, --dry-run, 2.1.3); a number after err, error, code or fault (err 5018). `names` are your
    own: services, products. Not recognised: what is parted by a space (mx 4471 b), quantities and ordinals (20mb,
    3rd), years (mid-2019), words joined by a hyphen alone (end-to-end), capitals alone (HTTP). A word of everyday
    language that is built so is recognised too (covid-19), and an identifier that is a word of everyday language
    (keepdims) is not, unless it is among the `names`. TypeError where the query is no string.

    >>> code_like("reset err_4021 on the mx-4471-b"), code_like("reset the pump twice")
    (('err_4021', 'mx-4471-b'), ())
    >>> code_like("is billing hub down", names={"Billing Hub"})
    ('billing hub',)
    """
    if not isinstance(query, str):
        raise TypeError(f"the query is a {type(query).__name__}; give its text")
    if isinstance(names, str):
        raise TypeError(f"names is one string; give a list of names, [{names!r}]")
    found = [(match.start(), match.group()) for match in _TOKEN.finditer(query) if _is_code(match.group())]
    found += [(match.start(), match.group()) for match in _ERROR.finditer(query)]
    for name in names:
        if name.strip():
            words = r"\s+".join(map(re.escape, name.split()))
            found += [(m.start(), m.group()) for m in re.finditer(rf"(?<!\w){words}(?!\w)", query, re.IGNORECASE)]
    return tuple(dict.fromkeys(text for _, text in sorted(found)))


def _is_code(token: str) -> bool:
    if token.endswith("()") or token.startswith("--"):
        return True
    token = token.strip("-.")
    if re.fullmatch(r"[/\\]\w[\w.\-/\\]*|\w+(?:[/\\][\w.\-]+){2,}[/\\]?|[\w\-/\\]+[/\\][\w\-]+\.\w+", token):
        return True
    if "_" in token.strip("_") or re.fullmatch(r"__\w+__", token):
        return True
    if re.search(r"[a-z]{2}[A-Z][a-z]", token) or re.fullmatch(r"[vV]?\d+(?:\.\d+){2,}|[vV]\d+(?:\.\d+)+", token):
        return True
    pieces = [piece for piece in re.split(r"[-./\\]", token) if piece]
    run_on = re.fullmatch(r"[a-z]+\.[A-Z][a-z]*", token)  # a full stop without its space
    if (
        not run_on
        and "." in token
        and "/" not in token
        and len(pieces) > 1
        and all(re.fullmatch(r"[^\W\d]{2,}\d?", p) for p in pieces)
    ):
        return True
    return bool(re.search(r"\d", token)) and bool(re.search(r"[^\W\d]", token)) and _digits_and_letters(pieces)


def _digits_and_letters(pieces: Sequence[str]) -> bool:
    numbers = [piece for piece in pieces if piece.isdigit()]
    words = [piece for piece in pieces if not re.search(r"\d", piece)]
    for piece in (piece for piece in pieces if piece not in numbers and piece not in words):
        low = piece.lower()
        if not _UNIT.fullmatch(low) and re.search(r"[^\W\d]+\d{2,}|\d{3,}[^\W\d]|[^\W\d]\d+[^\W\d]", low):
            return True
    if not words or not numbers:
        return False
    if pieces[0].isdigit() and any(len(word) > 2 for word in words):
        return False  # 20-year-old, 500-word
    return any(len(number) > 1 and not _YEAR.fullmatch(number) for number in numbers)
