"""The pages of benchmarks and of validation show the generated results, complete, and nothing typed."""

import json
import re
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
