"""Labels of the two collections, and the datasheets that show them."""

import re
from collections import Counter
from hashlib import sha256

import pytest
from bs4 import BeautifulSoup

from ragkit.corpora.numpy_docs import SUMMARY, entry_of, parameter_of, section_of, sections
from ragkit.corpora.numpy_docs.labels import as_made, carried_over
from ragkit.measure.metrics import judged_at_k
from ragkit.teach.datasheets import Datasheet, markdown

NAMES = ("handbook", "numpy-docs")
each = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def sheets():
    return {name: Datasheet.of(name) for name in NAMES}


@pytest.fixture
def sheet(sheets, name):
    return sheets[name]


# labels


@each
def test_all_that_either_ranker_shows_among_its_ten_best_was_judged(sheet):
    assert sheet.unjudged() == []
    for run in sheet.runs.values():
        shown = {qid: hits for qid, hits in run.items() if hits}
        assert judged_at_k(shown, {qid: sheet.qrels[qid] for qid in shown}, 10) == 1.0


@each
def test_every_answer_stands_where_its_label_says_and_has_a_reason(sheet):
    assert len(sheet.corpus.labels) > 2_000
    for label in sheet.corpus.labels:
        text = sheet.corpus.docs[label.doc_id]
        assert text[label.start : label.end].strip() == text[label.start : label.end]
        if label.span:
            assert label.start <= label.span[0] < label.span[1] <= label.end
            answer = text[slice(*label.span)]
            assert answer == answer.strip() != ""
        assert (label.span is not None) or label.label != "relevant"
        assert bool(label.reason.strip()) == (label.label != "irrelevant")


@each
def test_every_query_was_read_for_and_the_unanswerable_have_no_answer(sheet):
    assert {label.query_id for label in sheet.corpus.labels} == set(sheet.corpus.queries)
    relevant = {label.query_id for label in sheet.corpus.labels if label.label == "relevant"}
    assert relevant.isdisjoint(qid for qid, kind in sheet.corpus.kinds.items() if kind == "unanswerable")


@each
def test_one_text_has_one_label_for_a_query(sheet):
    found = {}
    for label in sheet.corpus.labels:
        text = sheet.corpus.docs[label.doc_id][label.start : label.end]
        assert found.setdefault((label.query_id, text), label.label) == label.label


@each
def test_the_labels_stand_on_the_passages_of_the_default_chunking(sheet):
    places = {tuple(at) for at in sheet.passages.origin.values()}
    assert all((label.doc_id, label.start, label.end) in places for label in sheet.corpus.labels)
    assert sheet.qrels.counts["cut"] == 0
    assert not sheet.qrels.lost


# the second reading


def test_two_hundred_pairs_were_read_twice_in_equal_parts_of_the_labels(sheets):
    pairs = [pair for sheet in sheets.values() for pair in sheet.second_reading]
    assert len(pairs) == len({(pair["query_id"], pair["passage"]) for pair in pairs}) == 200
    counts = Counter(pair["first"] for pair in pairs)
    assert max(counts.values()) - min(counts.values()) <= 2


@each
def test_what_was_settled_is_what_the_labels_say(sheet):
    labels = {(label.query_id, label.doc_id, label.start): label.label for label in sheet.corpus.labels}
    for pair in sheet.second_reading:
        at = sheet.passages.origin[pair["passage"]]
        assert labels[pair["query_id"], at.doc_id, at.start] == pair["final"]
        assert (pair["first"] == pair["second"]) == ("why" not in pair)
        assert pair["final"] in (pair["first"], pair["second"])


@each
def test_every_disagreement_is_shown(sheet):
    differ = [pair for pair in sheet.second_reading if pair["first"] != pair["second"]]
    shown = sheet.disagreements().splitlines()[2:]
    assert len(shown) == len(differ) > 0
    for line, pair in zip(shown, differ, strict=True):
        assert f"| {pair['query_id']} |" in line
        assert f"| {pair['first']} | {pair['second']} | {pair['final']} |" in line


# labels in another release of numpy

TEXT = (
    "f\n\nDo it.\n\nParameters\n----------\na : int\n    The number.\nb, c : str\n    Two names.\n\n"
    "Notes\n-----\nNone."
)


def row(section, start, end, **more):
    begin, _ = sections(TEXT)[section]
    read = TEXT[begin + start : begin + end]
    made = {"query_id": "q", "doc_id": "f", "section": section, "start": start, "end": end, "label": "irrelevant"}
    return made | {"sha256": sha256(read.encode()).hexdigest()[:12]} | more


def test_sections_and_entries_of_a_docstring():
    assert list(sections(TEXT)) == [SUMMARY, "Parameters", "Notes"]
    at = TEXT.index("Two names")
    assert section_of(TEXT, at) == ("Parameters", TEXT.index("Parameters"))
    assert parameter_of(TEXT, at) == "b, c"
    assert parameter_of(TEXT, TEXT.index("None.")) is None
    start, end = entry_of(TEXT, sections(TEXT)["Parameters"], "a")
    assert TEXT[start:end] == "a : int\n    The number."
    assert entry_of(TEXT, sections(TEXT)["Parameters"], "z") is None


def test_a_label_stands_as_made_also_where_something_before_it_has_changed():
    made = row("Notes", 0, 17, label="relevant", answer="Notes", span=[12, 17], reason="because")
    for text in (TEXT, TEXT.replace("Do it.", "Do it at once.")):
        label = as_made(made, text)
        assert text[slice(*label.span)] == "None."
    assert as_made(made, TEXT.replace("None.", "Some.")) is None
    assert as_made(made, "") is None


def test_an_answer_is_carried_over_to_its_parameter_and_what_did_not_answer_is_dropped():
    made = row("Parameters", 0, 40, label="relevant", answer="Parameters", parameter="a", span=[22, 29], reason="why")
    changed = TEXT.replace("The number.", "The number of things.")
    label = carried_over(made, changed)
    assert changed[slice(*label.span)] == "a : int\n    The number of things."
    assert carried_over(made, changed.replace("a : int", "z : int")) is None
    assert carried_over(row("Notes", 0, 17), TEXT) is None
    assert carried_over(made, "nothing left") is None


# what is shown


@each
def test_the_views_hold_every_query_and_every_document_and_escape_their_texts(sheet):
    queries = BeautifulSoup(sheet.queries_view(), "html.parser")
    assert len(queries.select(".rk-item")) == len(sheet.corpus.queries)
    marked = [mark.get_text() for mark in queries.select("mark")]
    spans = [sheet.corpus.docs[label.doc_id][slice(*label.span)] for label in sheet.corpus.labels if label.span]
    assert Counter(marked) == Counter(spans)
    documents = BeautifulSoup(sheet.documents_view(texts=False), "html.parser")
    assert len(documents.select(".rk-item")) == len(sheet.corpus)


def test_a_table_escapes_what_would_end_a_cell():
    assert markdown(["a"], [("x | y",)]).splitlines()[-1] == "| x \\| y |"


def plain(text):
    """Without the typographic apostrophes that the page gives a table."""
    return text.replace("’", "'")


@each
def test_the_page_shows_what_is_counted(site, sheet, name):
    page = BeautifulSoup(
        (site.html / f"book/{name.replace('-', '_')}.html").read_text(encoding="utf-8"), "html.parser"
    )
    shown = [[plain(cell.get_text("", strip=True)) for cell in row.select("td, th")] for row in page.select("tr")]
    for table in ("sizes", "documents_by_kind", "queries_by_kind", "judged", "by_kind", "agreed"):
        for line in getattr(sheet, table)().splitlines():
            cells = [plain(cell.strip()) for cell in line.strip("| ").split(" | ")]
            if re.search(r"\d", line) and not line.startswith("|  |"):
                assert cells in shown, line


def test_the_box_of_a_view_finds_a_query(visit, site):
    page = visit().open(site.page("book/handbook_queries"))
    box = page.get_by_label("Find a query")
    box.fill("err_4021")
    found = page.locator(".rk-item:visible")
    assert 0 < found.count() < 140
    assert all("err_4021" in text.lower() for text in found.evaluate_all("all => all.map(one => one.textContent)"))
    assert page.locator('.rk-browse [role="status"]').inner_text() == f"{found.count()} of 140"
    box.fill("")
    assert page.locator(".rk-item:visible").count() == 140
