"""The docstrings of the installed numpy, as documents that nobody wrote for this book.

One function or class a document, under its public dotted name. Some objects have several public names, and some
docstrings stand on several objects: those are twins, and they stay in, because every real collection has them.
"""

import inspect
import re
import warnings
from importlib import import_module
from types import ModuleType

MODULES = (
    "numpy",
    "numpy.char",
    "numpy.ctypeslib",
    "numpy.dtypes",
    "numpy.exceptions",
    "numpy.fft",
    "numpy.lib.array_utils",
    "numpy.lib.format",
    "numpy.lib.recfunctions",
    "numpy.lib.scimath",
    "numpy.lib.stride_tricks",
    "numpy.linalg",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.polynomial.chebyshev",
    "numpy.polynomial.hermite",
    "numpy.polynomial.hermite_e",
    "numpy.polynomial.laguerre",
    "numpy.polynomial.legendre",
    "numpy.polynomial.polynomial",
    "numpy.polynomial.polyutils",
    "numpy.random",
    "numpy.rec",
    "numpy.strings",
    "numpy.testing",
)
MIN_WORDS = 10  # below that a docstring is a pointer to another one

# What differs from machine to machine stays out: these lines, and the types whose width is the C compiler's choice
# (numpy.long and numpy.int64 share a docstring on Linux and not on Windows; numpy.float128 is not everywhere).
_PLATFORM_LINE = re.compile(r"^ *:Alias on this platform.*\n?", re.MULTILINE)
_PLATFORM_NAME = re.compile(
    r"numpy\.(u?int(_|c|p|32|64)?|u?long(long)?|float(96|128)|complex(192|256)|dtypes\.U?(Int|Long|LongLong)DType)"
)


def harvest() -> dict[str, str]:
    """Docstrings by dotted name, in alphabetical order."""
    docs: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated names warn when they are looked at
        for module_name in MODULES:
            module = import_module(module_name)
            for name in _public_names(module):
                full_name = f"{module_name}.{name}"
                text = _docstring(getattr(module, name, None))
                if len(text.split()) >= MIN_WORDS and not _PLATFORM_NAME.fullmatch(full_name):
                    docs[full_name] = text
    return dict(sorted(docs.items()))


def numpy_version() -> str:
    """Release of the installed numpy."""
    return str(import_module("numpy").__version__)


def _public_names(module: ModuleType) -> list[str]:
    declared = getattr(module, "__all__", None)
    return sorted(set(declared or [name for name in dir(module) if not name.startswith("_")]))


def _docstring(thing: object) -> str:
    if isinstance(thing, ModuleType) or not callable(thing):
        return ""
    if getattr(thing, "__module__", None) == "unittest.case":  # numpy.testing lends them; they change with Python
        return ""
    # Of numpy's dispatchers, the docstring of what they dispatch to: another library may have rewritten theirs, as
    # scipy does with numpy.sinc, and the corpus must not depend on what else was imported.
    own = getattr(thing, "_implementation", thing)
    return _PLATFORM_LINE.sub("", inspect.getdoc(own) or inspect.getdoc(thing) or "").strip()


# where a label stands: offsets of a docstring change with a release, its sections seldom do

_HEADING = re.compile(r"^(?=\S)(?!\|)(.+)\n-{3,}[^\S\n]*$", re.MULTILINE)
_ENTRY = re.compile(r"^(\*{0,2}\w[^\n:]*?)\s*:\s", re.MULTILINE)
SUMMARY = "Summary"  # what stands before the first section


def sections(text: str) -> dict[str, tuple[int, int]]:
    """Where each section of a docstring begins and ends, by its heading. A repeated heading counts once, the first.

    >>> sections("f\\n\\nDo it.\\n\\nReturns\\n-------\\nout : int")
    {'Summary': (0, 11), 'Returns': (11, 36)}
    """
    begins = [(SUMMARY, 0)] + [(match[1].strip(), match.start()) for match in _HEADING.finditer(text)]
    ends = [start for _, start in begins[1:]] + [len(text)]
    found: dict[str, tuple[int, int]] = {}
    for (name, start), end in zip(begins, ends, strict=True):
        found.setdefault(name, (start, end))
    return found


def section_of(text: str, at: int) -> tuple[str, int]:
    """The section in which a place of a docstring lies, and where that section begins."""
    return next((name, start) for name, (start, end) in reversed(sections(text).items()) if start <= at < end)


def parameter_of(text: str, at: int) -> str | None:
    """The parameter, or the returned value, whose entry holds a place of a docstring; None outside of such lists.

    >>> parameter_of("f\\n\\nDo it.\\n\\nReturns\\n-------\\nout : int\\n    A number.", 45)
    'out'
    """
    name, start = section_of(text, at)
    if not re.search("Param|Return|Yield|Attrib|Raise", name):
        return None
    entries = [match for match in _ENTRY.finditer(text, start) if match.start() <= at]
    return entries[-1][1] if entries else None


def entry_of(text: str, section: tuple[int, int], parameter: str) -> tuple[int, int] | None:
    """Where the entry of a parameter begins and ends within a section; None where there is no such entry."""
    entries = list(_ENTRY.finditer(text, *section))
    for number, match in enumerate(entries):
        if match[1] == parameter:
            end = entries[number + 1].start() if number + 1 < len(entries) else section[1]
            return match.start(), match.start() + len(text[match.start() : end].rstrip())
    return None
