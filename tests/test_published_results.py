"""The pages of benchmarks and of validation show the generated results, complete, and nothing typed."""

import importlib
import json
import re
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"


def included(page):
    return re.findall(r"```\{include\} \.\./benchmarks/results/(\w+)\.md", (ROOT / "book" / page).read_text("utf-8"))


def test_every_result_is_on_a_page():
    shown = [*included("benchmarks.md"), *included("validation.md")]
    assert sorted(shown) == sorted(path.stem for path in RESULTS.glob("*.md"))


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_result_says_where_it_was_measured(path):
    here = json.loads(path.read_text(encoding="utf-8"))["machine"]
    text = path.with_suffix(".md").read_text(encoding="utf-8")
    assert all(str(here[name]) in text for name in ("processor", "cores", "date", "python"))
    assert all(f"{name} {release}" in text for name, release in here["versions"].items())


def test_the_model_has_the_figures_that_were_published():
    # make validate wrote it; test_scifact.py computes the last row again, and encodes a sample of its pairs
    found = json.loads((RESULTS / "scifact_dense.json").read_text(encoding="utf-8"))
    assert found["published"] == {"nDCG@10": 0.64508, "R@10": 0.78333, "R@100": 0.925, "P@5": 0.164, "P@1": 0.50333}
    for run in ("computed", "kept"):
        assert {name: round(value, 5) for name, value in found[run].items()} == found["published"]


# where libraries part: the answers of those that the tests have are asked for anew


@pytest.fixture
def conventions(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("conventions")


def kept(name):
    data = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return data, (RESULTS / f"{name}.md").read_text(encoding="utf-8")


ASKED = ("ragkit", "pytrec_eval-terrier", "ir_measures")


def test_the_answers_of_the_libraries_are_those_of_today(conventions):
    data, text = kept("conventions")
    assert {name: data["machine"]["versions"][name] for name in ASKED} == {name: version(name) for name in ASKED}
    today = conventions.answers(ASKED)
    assert today.keys() == data["answers"].keys()
    for key, answers in today.items():
        known = data["answers"][key]
        for name, answer in answers.items():
            assert known[name] == (pytest.approx(answer) if isinstance(answer, float) else answer), (key, name)
    assert all(set(answers) == set(conventions.LIBRARIES) for answers in data["answers"].values())
    assert text.startswith(conventions.shown(data["answers"], data["choices"], data["machine"]["versions"]))


def test_the_definitions_give_the_same_value_as_trec_evals(conventions):
    data, text = kept("definitions")
    rows = conventions.definitions()
    assert [tuple(row) for row in data["rows"]] == [pytest.approx(row) for row in rows]
    assert all(theirs is None or value == pytest.approx(theirs) for *_, value, theirs in rows)
    assert text.startswith(conventions.defined(data["rows"]))


def test_a_query_with_nothing_relevant_has_every_answer_there_is(conventions):
    data, _ = kept("conventions")
    answers = data["answers"]["judged-none-relevant"]
    left_out, zero = (pytest.approx(conventions.FATES[fate], rel=1e-6) for fate in ("left out", "counts 0"))
    assert [answers[name] for name in ("ragkit", "sentence-transformers")] == [left_out, left_out]
    others = set(conventions.LIBRARIES) - {"ragkit", "sentence-transformers"}
    assert {name: answers[name] for name in others} == dict.fromkeys(others, zero)
    assert data["answers"]["no-judgments"]["pytrec_eval-terrier"] == left_out
