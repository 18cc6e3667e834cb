"""The package's shape: who may import whom, what is public, what an import costs, what a notebook may carry."""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
import tomllib
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest

import ragkit
import ragkit.teach

ROOT = Path(__file__).parents[1]
PACKAGE = Path(ragkit.__file__).parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

PUBLIC = [(package, name) for package in (ragkit, ragkit.teach) for name in package.__all__ if name != "__version__"]
IDS = [f"{package.__name__}.{name}" for package, name in PUBLIC]


def in_a_fresh_process(code):
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


# the order of imports

FLOORS = (
    {"ranking", "progress"},  # know no room
    {"lexical", "dense", "measure"},  # none knows another
    {"corpora"},
    {"diagnosis"},
    {"teach"},
    {"__main__"},
)


def floor(place):
    return next((level for level, places in enumerate(FLOORS) if place in places), None)


def modules(package):
    """Every module of a package folder as (dotted name, is it a package, its syntax tree)."""
    for path in sorted(package.rglob("*.py")):
        steps = [package.name, *path.relative_to(package).with_suffix("").parts]
        is_package = steps[-1] == "__init__"
        yield ".".join(steps[:-1] if is_package else steps), is_package, ast.parse(path.read_text(encoding="utf-8"))


def imported(tree, module, is_package):
    """Dotted names that a module imports anywhere in it: at the top, in a function, for types only, by a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".")[: len(module.split(".")) + is_package - node.level] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{source}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str))


def wrong_imports(package, homes):
    """What breaks the order, one line each. `homes` says where the public names of the top package live."""
    faults = []
    for module, is_package, tree in modules(package):
        if module == package.name:
            continue  # the front door names every room, and opens none before it is asked
        place = module.split(".")[1]
        if floor(place) is None:
            faults.append(f"{module}: has no floor")
            continue
        for name in imported(tree, module, is_package):
            if not name.startswith(f"{package.name}."):
                continue
            target = homes.get(name.removeprefix(f"{package.name}."), name).split(".")[1]
            if target in ("__version__", place):
                continue
            if floor(target) is None or floor(target) >= floor(place):
                faults.append(f"{module}: imports {name}")
    return faults


def test_imports_keep_the_order_of_the_rooms():
    assert wrong_imports(PACKAGE, ragkit._HOME) == []


def made_up(folder, files):
    for name, source in files.items():
        path = folder / "ragkit" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        (path.parent / "__init__.py").touch()
    return folder / "ragkit"


@pytest.mark.parametrize(
    ("where", "source"),
    [
        ("lexical/a.py", "from ragkit.dense import scan"),
        ("lexical/a.py", "import ragkit.measure.metrics"),
        ("lexical/a.py", "from ragkit import measure"),
        ("lexical/a.py", "from ragkit import recall_at_k"),  # a public name stands for its room
        ("lexical/a.py", "from ..measure import metrics"),
        ("lexical/a.py", "from .. import dense"),
        ("lexical/__init__.py", "from ..dense import scan"),
        ("lexical/a.py", "def late():\n    from ragkit.corpora import collections"),
        ("lexical/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import ragkit.teach"),
        ("lexical/a.py", "import importlib\nimportlib.import_module('ragkit.dense')"),
        ("measure/a.py", "from ragkit.lexical.index import BM25Index"),
        ("dense/a.py", "from ragkit.diagnosis import levers"),
        ("corpora/a.py", "from ragkit.diagnosis import levers"),
        ("diagnosis/a.py", "from ragkit.teach import claims"),
        ("teach/a.py", "from ragkit.__main__ import main"),
        ("ranking.py", "from ragkit.lexical import scoring"),
        ("ranking.py", "from .progress import progress"),
        ("elsewhere.py", "import math"),
    ],
)
def test_an_import_against_the_order_is_seen(tmp_path, where, source):
    assert len(wrong_imports(made_up(tmp_path, {where: source}), {"recall_at_k": "ragkit.measure.metrics"})) == 1


def test_imports_that_keep_the_order_are_let_through(tmp_path):
    files = {
        "ranking.py": "import numpy as np",
        "lexical/a.py": "from ragkit.ranking import Hit\nfrom ragkit.lexical.b import f\nfrom . import b",
        "lexical/b.py": "from ragkit import __version__",
        "corpora/a.py": "from ragkit.lexical.b import f\nimport ragkit.dense\nfrom ..measure import metrics",
        "diagnosis/a.py": "from ragkit.corpora import a",
        "teach/a.py": "from ragkit import idf\nfrom ragkit.diagnosis import a",
        "__main__.py": "from ragkit.teach import a\nfrom ragkit import idf",
    }
    assert wrong_imports(made_up(tmp_path, files), {"idf": "ragkit.lexical.b"}) == []


# what an import costs

LOADED = """
import sys
before = set(sys.modules)
{code}
new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(*sorted(new - set(sys.stdlib_module_names)))
"""


def loaded_by(code):
    return set(in_a_fresh_process(LOADED.format(code=code)))


def test_import_ragkit_loads_nothing_beyond_numpy_and_the_standard_library():
    assert "ragkit" in loaded_by("import ragkit") <= {"ragkit", "numpy"}


def test_what_an_import_loads_is_seen():
    assert "tqdm" in loaded_by("import ragkit, tqdm")


NUMPY_ALONE = """
import sys
from importlib.metadata import packages_distributions
installed = set(packages_distributions()) - {"numpy", "ragkit"}
assert {"tqdm", "snowballstemmer", "matplotlib"} <= installed
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in installed:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Nothing())
from ragkit import Analyzer, BM25Index, load_corpus, planted_corpus, rank
index = BM25Index.build(load_corpus("numpy-docs").docs)
index.run({"q": "keepdims array"}), index.explain("keepdims", "numpy.sum"), rank({"a": 1.0})
planted_corpus(10, {})
try:
    Analyzer.english()
except ImportError as error:
    print("named" if "pip install snowballstemmer" in str(error) else error)
"""


def test_searching_needs_numpy_alone_and_what_is_missing_is_named():
    assert in_a_fresh_process(NUMPY_ALONE) == ["named"]


# public names


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=IDS)
def test_a_public_name_is_what_it_says_in_a_fresh_process(package, name):
    code = (
        f"from {package.__name__} import {name} as thing; import inspect;"
        "print('class' if inspect.isclass(thing) else 'function' if inspect.isfunction(thing) else type(thing));"
        "print(thing.__name__, thing.__module__)"
    )
    kind, own_name, module = in_a_fresh_process(code)
    assert (kind, own_name, module) == ("class" if name[0].isupper() else "function", name, package._HOME[name])


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=IDS)
def test_a_public_name_stays_what_it_says_when_every_module_is_loaded(package, name):
    for module, _, _ in modules(PACKAGE):
        if not module.endswith("__main__"):
            importlib.import_module(module)
    assert getattr(package, name).__name__ == name


def test_no_module_and_no_room_bears_the_name_of_a_public_function():
    names = {name for _, name in PUBLIC}
    places = {module.rpartition(".")[2] for module, _, _ in modules(PACKAGE)}
    assert {"lexical", "ranking", "scoring"} <= places
    assert not names & places


@pytest.mark.parametrize("package", [ragkit, ragkit.teach], ids=lambda package: package.__name__)
def test_the_type_checker_sees_the_names_that_a_reader_gets(package):
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    shown = {alias.asname: node.module for node in block.body for alias in node.names}
    assert shown == package._HOME
    assert set(dir(package)) == set(package.__all__)
    assert {name for name in package.__all__ if name != "__version__"} == set(package._HOME)


def test_an_unknown_name_is_refused_with_those_that_there_are():
    with pytest.raises(AttributeError, match=r"no public name 'bm_25'.*BM25Index"):
        _ = ragkit.bm_25
    with pytest.raises(ImportError):
        from ragkit import bm_25  # noqa: F401


WITHOUT_AN_EXAMPLE = {
    "Hit": "a pair",
    "canvas": "gives an empty drawing",
    "Explorer": "is seen, not printed; its faces have their own tests",
}


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=IDS)
def test_a_public_name_is_documented_and_shown_at_work(package, name):
    thing = getattr(package, name)
    doc = inspect.getdoc(thing) or ""
    assert len(doc.split()) > 5
    assert ">>>" in doc or name in WITHOUT_AN_EXAMPLE


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=IDS)
def test_what_a_public_class_does_is_documented(package, name):
    thing = getattr(package, name)
    if inspect.isclass(thing):
        own = {attribute: value for attribute, value in vars(thing).items() if not attribute.startswith("_")}
        doers = {
            attribute: value for attribute, value in own.items() if callable(value) or hasattr(value, "__func__")
        }
        assert [attribute for attribute, value in doers.items() if not inspect.getdoc(value)] == []


# notebooks

LINES_A_CELL, BYTES_A_NOTEBOOK = 15, 25_000


def notebook_faults(notebook):
    """What a notebook in the repository must not carry, one line each."""
    faults = ["metadata: widget state"] if "widgets" in notebook["metadata"] else []
    size = 0
    for number, cell in enumerate(notebook["cells"], start=1):
        source = "".join(cell["source"])
        size += len(source.encode())
        if cell["cell_type"] != "code":
            continue
        if cell["outputs"]:
            faults.append(f"cell {number}: outputs")
        if cell["execution_count"] is not None:
            faults.append(f"cell {number}: execution count {cell['execution_count']}")
        if len(source.splitlines()) > LINES_A_CELL:
            faults.append(f"cell {number}: {len(source.splitlines())} lines, more than {LINES_A_CELL}")
    if size > BYTES_A_NOTEBOOK:
        faults.append(f"{size} bytes of source, more than {BYTES_A_NOTEBOOK}")
    return faults


def test_notebooks_carry_source_and_nothing_else():
    faults = {
        path.name: notebook_faults(json.loads(path.read_text(encoding="utf-8")))
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
    }
    assert {name: found for name, found in faults.items() if found} == {}


def code_cell(source="1 + 1", outputs=(), execution_count=None):
    return {
        "cell_type": "code",
        "metadata": {},
        "source": source.splitlines(keepends=True),
        "outputs": list(outputs),
        "execution_count": execution_count,
    }


@pytest.mark.parametrize(
    ("cell", "metadata", "fault"),
    [
        (code_cell(outputs=[{"output_type": "stream"}]), {}, "cell 1: outputs"),
        (code_cell(execution_count=3), {}, "cell 1: execution count 3"),
        (code_cell("x = 1\n" * 16), {}, "cell 1: 16 lines, more than 15"),
        (code_cell(), {"widgets": {}}, "metadata: widget state"),
        ({"cell_type": "markdown", "source": ["é" * 12_501]}, {}, "25002 bytes of source, more than 25000"),
    ],
)
def test_what_a_notebook_must_not_carry_is_seen(cell, metadata, fault):
    assert notebook_faults({"metadata": metadata, "cells": [cell]}) == [fault]


def test_a_clean_notebook_is_let_through():
    prose = {"cell_type": "markdown", "metadata": {}, "source": ["line\n"] * 30}
    assert notebook_faults({"metadata": {}, "cells": [prose, code_cell("x = 1\n" * 15)]}) == []


# the project file

COMES_WITH = {"cycler": "matplotlib", "IPython": "ipywidgets"} | dict.fromkeys(
    ("sentence_transformers", "transformers", "huggingface_hub"), "sentence-transformers"
)
DONE_WITHOUT = {
    "tqdm",  # ragkit.progress is silent where it is missing
    "ir_datasets",  # load_collection says how to get it; the book itself reads nothing from it
}


def requirement_name(line):
    return re.match(r"[\w.\-]+", line).group()


def extras():
    return {
        requirement_name(line) for lines in PYPROJECT["project"]["optional-dependencies"].values() for line in lines
    }


def test_numpy_is_the_only_dependency():
    assert [requirement_name(line) for line in PYPROJECT["project"]["dependencies"]] == ["numpy"]


def test_every_other_library_that_is_imported_is_in_an_extra():
    third_party = {
        name.partition(".")[0]
        for module, is_package, tree in modules(PACKAGE)
        for name in imported(tree, module, is_package)
    } - {"ragkit", "numpy", *sys.stdlib_module_names}
    assert "snowballstemmer" in third_party
    assert {COMES_WITH.get(name, name) for name in third_party} - DONE_WITHOUT <= extras()


def test_what_the_extras_name_is_pinned_for_the_book():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = {requirement_name(line) for line in lines if re.match(r"[\w.\-]+==\d", line)}
    assert extras() | {"numpy"} <= pinned


def test_the_version_stands_in_one_form():
    assert ragkit.__version__ == PYPROJECT["project"]["version"] == version("ragkit")


def test_what_the_package_reads_is_packaged():
    patterns = PYPROJECT["tool"]["setuptools"]["package-data"]["ragkit"]
    packaged = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    others = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert PACKAGE / "py.typed" in packaged
    assert others <= packaged


def test_a_warning_is_an_error():
    assert PYPROJECT["tool"]["pytest"]["ini_options"]["filterwarnings"] == ["error"]
    with pytest.raises(UserWarning, match="as an error"):
        warnings.warn("as an error", stacklevel=1)
