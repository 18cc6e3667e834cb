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
    return _PLATFORM_LINE.sub("", inspect.getdoc(thing) or "").strip()
