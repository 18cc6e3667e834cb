"""Labelling sheets: in a real browser, as CSV and JSON lines, and from the command line."""

import csv
import io
import json
import subprocess
import sys
from contextlib import contextmanager
from html.parser import HTMLParser

import pytest
from axe_playwright_python.sync_playwright import Axe
from built import Visit
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import expect

from ragkit import Label, read_labels, write_labels, write_run
from ragkit.__main__ import main
from ragkit.corpora.chunks import Passages, characters
from ragkit.diagnosis.sheet import (
    COLUMNS,
    Pair,
    fingerprint,
    labels_in,
    read_sheet,
    sheet_html,
    sheet_pairs,
    write_sheet,
)

TEXTS = {
    "007": "Preamble. 😀👩‍💻 Hold <b>the</b> button & wait </script><!-- for\r\nten\u2028seconds.",
    "1e5": "The gateway restarts.\n\n    indented 𝒳 text",
    "null": "Nothing of the kind. " * 60,
}
TITLES = {"007": "Reset <b>&amp; wait</b>", "1e5": "Restarting"}
QUERIES = {"q1": 'reset <img src=x onerror="alert(1)"> the gateway?', "q2": "restart"}
POOL = {"q1": ("1e5", "007", "null"), "q2": ("007", "null", "1e5")}
PAIRS = sheet_pairs(POOL, QUERIES, TEXTS, titles=TITLES)

# sentences of a passage as `n` goes through them: prose in wrapped lines, a table, a list, code
PARTS = (
    "## Limits. And more",
    "The first sentence is in one line, e.g. this one 😀,\nand it goes on in the next.",
    "Is this the third?",
    "| a | One. Two. |",
    "|---|---|",
    "| b | Three. |",
    "*Hold.*",
    "Then wait.",
    "A second item.",
    ">>> a.b(1.). c",
    "array([1., 2.])",
)
PROSE = "{}\n\n{} {}\n\n{}\n{}\n{}\n\n1. {} {}\n- {}\n\n{}\r\n{}\n".format(*PARTS)
SOME = [Pair("q1", "d1", 5, 5 + len(PROSE), "limits?", PROSE), *PAIRS]


# in a browser


@contextmanager
def opened(browser, path, **options):
    """A tab with the sheet; afterwards nothing may have been asked for, and nothing may be on the console."""
    options = {"viewport": {"width": 1280, "height": 900}, **options}
    visit = Visit(browser.new_context(service_workers="block", **options), (path.as_uri(),))
    yield visit.open(path.as_uri())
    visit.context.close()
    visit.assert_quiet()


@pytest.fixture
def page(browser, tmp_path):
    write_sheet(tmp_path / "sheet.html", PAIRS)
    with opened(browser, tmp_path / "sheet.html") as page:
        yield page


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def status(page):
    return page.locator("#status").inner_text()


def count(page):
    return page.locator("#count").inner_text()


def shown(page):
    """The label that is chosen, and the words that are marked."""
    labels = page.locator("[aria-pressed=true]").evaluate_all("all => all.map(one => one.dataset.label)")
    marks = page.locator("#passage mark").evaluate_all("all => all.map(one => one.textContent)")
    return (*labels, *marks)


def chosen(page):
    return page.evaluate("getSelection().toString()")


def select(page, before, length):
    """Select `length` caret steps of the passage by keyboard, after `before` of them."""
    press(page, "t", *["ArrowRight"] * before, *["Shift+ArrowRight"] * length)


def exported(page, tmp_path, name="labels.jsonl"):
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    assert download.value.suggested_filename == f"labels-{fingerprint(PAIRS)}.jsonl"
    download.value.save_as(tmp_path / name)
    return read_labels(tmp_path / name, reasons=True)


def test_labels_are_made_by_keyboard_and_come_back_exact(page, tmp_path):
    assert page.locator("#passage").evaluate("passage => passage.textContent") == TEXTS["1e5"]
    assert page.locator("#query").evaluate("query => query.textContent") == QUERIES["q1"]
    press(page, "r")
    assert "Relevant needs its answer" in status(page)
    press(page, "s")
    assert "Nothing is selected" in status(page)
    press(page, "i")
    assert count(page) == "pair 1 of 6, 1 labelled, 1 not exported"

    press(page, "ArrowRight")
    assert page.locator("#passage").evaluate("passage => passage.textContent") == TEXTS["007"]
    select(page, 13, len("Hold <b>the</b> button & wait </script><!-- for") + 1 + len("ten"))  # \r\n is one step
    press(page, "s")
    marked = page.locator("#passage mark").evaluate("mark => mark.textContent")
    assert marked == "Hold <b>the</b> button & wait </script><!-- for\r\nten"
    press(page, "r", "w")
    page.keyboard.type("says how to reset: hold; j and r are letters here")
    press(page, "Enter")
    assert count(page) == "pair 3 of 6, 2 labelled, 2 not exported"

    press(page, "i", "u")
    assert count(page) == "pair 4 of 6, 3 labelled, 3 not exported"
    select(page, 10, 2)  # two emoji, the second of three code points
    press(page, "s", "p", "w")
    page.keyboard.type("naïve 😀")
    press(page, "Escape", "j", "i", "u")

    page.reload()
    assert count(page) == "pair 6 of 6, 5 labelled, 5 not exported"
    assert page.locator("[aria-pressed=true]").count() == 0
    press(page, "t", "Control+End", "Shift+Control+Home", "s", "r", "w")
    page.keyboard.type("all of it")
    press(page, "Enter")
    assert "Every pair has a label" in status(page)
    press(page, "k", "k")
    assert page.locator("#passage mark").evaluate("mark => mark.textContent") == "😀👩‍💻"
    assert page.locator("#reason").input_value() == "naïve 😀"

    labels = exported(page, tmp_path)
    assert [label.stretch for label in labels] == [pair.stretch for pair in PAIRS]
    assert [label.label[0] for label in labels] == list("iripir")
    answers = [TEXTS[label.doc_id][slice(*label.span)] if label.span else None for label in labels]
    assert answers == [None, marked, None, "😀👩‍💻", None, TEXTS["1e5"]]
    assert labels[1].reason == "says how to reset: hold; j and r are letters here"


def test_the_mouse_does_all_of_it_too(page, tmp_path):
    page.get_by_role("button", name="next j", exact=True).click()
    page.get_by_role("button", name="relevant r", exact=True).click()
    assert "Relevant needs its answer" in status(page)
    page.locator("#passage").evaluate(
        """passage => {  // as a double click does that takes the space along, and goes on past the end
          const range = document.createRange(), [text] = passage.childNodes;
          range.setStart(text, text.data.indexOf(" Hold"));
          range.setEnd(text, text.data.indexOf(" wait") + 1);
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }"""
    )
    page.get_by_role("button", name="mark answer").click()
    page.get_by_role("button", name="relevant r", exact=True).click()
    page.get_by_label("Why, in a line").fill("it does")
    [label] = exported(page, tmp_path)
    assert TEXTS["007"][slice(*label.span)] == "Hold <b>the</b> button &"
    page.get_by_role("button", name="irrelevant").click()
    assert page.locator("#passage mark").count() == 0
    page.get_by_role("button", name="withdraw").click()
    assert count(page) == "pair 2 of 6, 0 labelled, 1 not exported"
    page.get_by_role("button", name="undo").click()
    page.get_by_role("button", name="undo").click()
    assert count(page) == "pair 2 of 6, 1 labelled"
    page.get_by_role("button", name="withdraw").click()
    page.get_by_role("button", name="Export").click()
    assert status(page) == "There is no label to export yet."
    for name, place in (("next without a label", 3), ("before", 2), ("before", 1), ("before", 1)):
        page.get_by_role("button", name=name).click()
        assert page.locator("#count").inner_text().startswith(f"pair {place} ")


def test_a_selection_that_leaves_the_passage_ends_with_it(page):
    press(page, "Control+a", "s")
    marked = page.locator("#passage mark").evaluate("mark => mark.textContent")
    assert marked == TEXTS["1e5"]
    page.locator("#query").select_text()
    press(page, "x", "s")
    assert "Nothing is selected in the passage" in status(page)


def test_the_passage_takes_no_change(page):
    before = page.locator("#passage").inner_html()
    press(page, "t", "a", "Backspace", "Delete", "Enter", "Control+b", "Control+a", "Control+x", "Control+v")
    page.keyboard.insert_text("more")
    assert page.locator("#passage").inner_html() == before


def test_a_mark_on_an_irrelevant_passage_withdraws_that_label(page):
    press(page, "i")
    select(page, 4, 7)
    press(page, "s")
    assert "no longer irrelevant" in status(page)
    assert count(page) == "pair 1 of 6, 0 labelled"
    press(page, "p")
    assert shown(page) == ("partial", "gateway")


def test_relevant_marks_what_is_selected(page):
    select(page, 4, 7)
    page.get_by_role("button", name="relevant r", exact=True).click()
    assert status(page) == "Marked what was selected, and labelled relevant."
    assert shown(page) == ("relevant", "gateway")
    press(page, "Control+a", "r")  # what is marked already stays
    assert shown(page) == ("relevant", "gateway")
    press(page, "j")
    select(page, 0, 8)
    press(page, "p")
    assert shown(page) == ("partial",)
    assert chosen(page) == "Preamble"  # and can still be marked
    press(page, "s")
    assert shown(page) == ("partial", "Preamble")


def test_a_label_by_a_slip_takes_no_mark_along(page, tmp_path):
    select(page, 4, 7)
    press(page, "r", "i")
    assert shown(page) == ("irrelevant",)
    assert "The mark comes back with r or p" in status(page)
    assert [label.span for label in exported(page, tmp_path)] == [None]
    press(page, "p")
    assert shown(page) == ("partial", "gateway")
    press(page, "i", "i", "r")
    assert shown(page) == ("relevant", "gateway")
    press(page, "w")
    page.keyboard.type("it stays, z")
    press(page, "Escape", "x")
    assert shown(page) == ()
    states = [("relevant", "gateway"), ("irrelevant",), ("irrelevant",), ("partial", "gateway"), ("irrelevant",)]
    for state in [*states, ("relevant", "gateway"), ()]:
        press(page, "z")
        assert shown(page) == state
    assert page.locator("#reason").input_value() == "it stays, z"
    press(page, "z")
    assert "nothing to undo" in status(page)
    select(page, 4, 7)
    press(page, "r", "i", "j", "k", "z", "r")  # the pair was left
    assert shown(page) == ("irrelevant",)


def test_a_key_selects_sentences_lines_and_rows(browser, tmp_path):
    write_sheet(tmp_path / "sheet.html", SOME)
    with opened(browser, tmp_path / "sheet.html", viewport={"width": 600, "height": 500}) as page:
        found = []
        for _ in PARTS:
            press(page, "n")
            found.append(chosen(page))
        assert [part.replace("\r", "") for part in found] == list(PARTS)
        assert page.evaluate(
            "getSelection().getRangeAt(0).getBoundingClientRect().bottom"
            " <= document.getElementById('passage').getBoundingClientRect().bottom"
        )
        press(page, "n")
        assert chosen(page) == PARTS[-1]
        press(page, "b", "b", "Shift+N", "Shift+N", "Shift+B")
        assert chosen(page) == "\n\n".join(PARTS[8:10])
        press(page, "t", "Control+Home", *["ArrowDown"] * 2, "n")
        assert chosen(page) == PARTS[1]  # where the caret is
        press(page, "ArrowLeft", *["Shift+ArrowRight"] * 5, "n")
        assert chosen(page) == PARTS[1]  # and what is selected in part
        press(page, "n", "r")
        assert shown(page) == ("relevant", PARTS[2])
        press(page, "n", "Shift+N", "s")  # from the mark on
        assert shown(page) == ("relevant", "\n\n".join(PARTS[2:4]))
        press(page, "j", "b")
        assert chosen(page) == "indented 𝒳 text"


def test_export_has_a_key_and_what_is_new_since_is_counted(page, tmp_path):
    press(page, "i", "j", "p")
    assert count(page) == "pair 2 of 6, 2 labelled, 2 not exported"
    with page.expect_download():
        press(page, "e")
    assert status(page) == "Exported 2 of 6."
    press(page, "j", "i", "k", "i")
    assert count(page) == "pair 2 of 6, 3 labelled, 2 not exported"
    press(page, "z")
    page.reload()
    assert count(page) == "pair 2 of 6, 3 labelled, 1 not exported"


def test_the_title_is_shown_where_there_is_one(page):
    title = page.get_by_text("Title of the document")
    assert page.locator("#title").inner_text() == "Restarting"
    press(page, "j")
    assert page.locator("#title").inner_text() == TITLES["007"]
    assert title.is_visible()
    press(page, "j")
    assert not title.is_visible()


def test_help_says_what_the_labels_mean_and_holds_the_rules_of_the_caller(page, browser, tmp_path):
    press(page, "?")
    help_ = page.get_by_role("dialog")
    for line in (
        "states the answer",
        "one part of several",
        "does not help",
        "In doubt, the lower.",
        "except in the text",
    ):
        assert line in help_.inner_text()
    assert not page.locator("#rubric").is_visible()
    write_sheet(tmp_path / "own.html", PAIRS, rubric="1. <b>Twins</b> & $title\n   get one label.\n" * 40)
    with opened(browser, tmp_path / "own.html") as own:
        press(own, "?")
        assert own.locator("#rubric").inner_text().startswith("1. <b>Twins</b> & $title\n   get one label.\n1.")
        assert own.get_by_role("dialog").evaluate("dialog => dialog.scrollTop") == 0
        press(own, "Enter", "i")
        assert shown(own) == ("irrelevant",)


def test_the_buttons_stay_where_they_are_and_tables_are_monospaced(browser, tmp_path):
    write_sheet(tmp_path / "sheet.html", SOME)
    with opened(browser, tmp_path / "sheet.html") as page:
        places, fonts = [], []
        for keys in ("", "i", "j", "r", "j", "p", "j"):  # long and short, with title and without, a refusal
            press(page, *keys)
            boxes = "all => all.map(one => one.getBoundingClientRect()).map(box => [box.x, box.y, box.width])"
            places.append(page.locator("main button").evaluate_all(boxes))
            fonts.append(page.locator("#passage").evaluate("it => getComputedStyle(it).fontFamily.includes('mono')"))
        assert all(place == places[0] for place in places)
        assert fonts == [True, True, *[False] * 5]


def test_an_export_is_imported_again(page, browser, tmp_path):
    other = Label("q9", "elsewhere", 0, 9, "irrelevant")
    labels = [
        Label("q1", "007", 0, len(TEXTS["007"]), "relevant", span=(10, 19), reason="é"),
        Label("q2", "null", 0, len(TEXTS["null"]), "irrelevant"),
    ]
    write_labels(tmp_path / "some.jsonl", [*labels, other])
    page.locator("#file").set_input_files(tmp_path / "some.jsonl")
    page.get_by_text("Imported 2 labels; 1 are of other sheets and were left out.").wait_for()
    assert page.locator("#count").inner_text() == "pair 1 of 6, 2 labelled"
    assert exported(page, tmp_path) == labels
    for number, (line, message) in enumerate(
        [
            ("{", "Line 2: not a label in JSON"),
            (json.dumps({**vars(labels[0]), "span": None}), "Line 2: relevant without a span"),
            (json.dumps({**vars(labels[0]), "span": [0, 999]}), "Line 2: a span outside of what was read"),
            (json.dumps({**vars(labels[0]), "label": "good"}), "Line 2: no label that this sheet knows"),
        ]
    ):
        bad = tmp_path / f"bad{number}.jsonl"
        bad.write_text(json.dumps({**vars(labels[1]), "label": "partial"}) + f"\n{line}\n")
        page.locator("#file").set_input_files(bad)
        page.get_by_text(message).wait_for()
    assert exported(page, tmp_path) == labels  # nothing of a bad file


def test_two_tabs_of_a_sheet_show_the_same(page):
    second = page.context.new_page()
    second.goto(page.url)
    press(second, "i")
    expect(page.locator("#count")).to_have_text("pair 1 of 6, 1 labelled, 1 not exported")


def test_a_sheet_can_be_filled_in_beforehand(browser, tmp_path):
    given = [Label("q2", "007", 0, len(TEXTS["007"]), "partial", span=(10, 11), reason="before")]
    write_sheet(tmp_path / "sheet.html", PAIRS, given)
    with opened(browser, tmp_path / "sheet.html") as page:
        assert page.locator("#count").inner_text() == "pair 1 of 6, 1 labelled"
        assert exported(page, tmp_path) == given


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_every_reader_can_use_it(browser, tmp_path, width, theme):
    write_sheet(tmp_path / "sheet.html", PAIRS)
    look = {"viewport": {"width": width, "height": 900}, "color_scheme": theme}
    with opened(browser, tmp_path / "sheet.html", **look) as page:
        select(page, 0, 9)
        press(page, "s", "r", "j", "r")
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 18, 18)"}[theme]
        for state in ("refused", "relevant", "keys"):
            press(page, *{"refused": [], "relevant": ["k"], "keys": ["?"]}[state])
            found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            serious = [(rule["id"], node["target"]) for rule in found for node in rule["nodes"]]
            assert serious == [], state
        press(page, "Escape")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        seen = []
        for _ in range(14):
            press(page, "Tab")
            focus = page.evaluate(
                "[document.activeElement.id || document.activeElement.dataset.label,"
                " getComputedStyle(document.activeElement).outlineStyle]"
            )
            seen.append(tuple(focus))
        controls = (
            "export import help passage relevant partial irrelevant mark withdraw reason before after unlabelled"
        )
        assert {name for name, outline in seen if outline == "solid"} >= set(controls.split())


def test_where_the_browser_keeps_nothing_it_says_so(browser, tmp_path):
    write_sheet(tmp_path / "sheet.html", PAIRS)
    visit = Visit(browser.new_context(), ((tmp_path / "sheet.html").as_uri(),))
    visit.context.add_init_script("Storage.prototype.setItem = () => { throw new Error('full') }")
    page = visit.open((tmp_path / "sheet.html").as_uri())
    press(page, "i")
    assert "keeps nothing, export before you close" in page.locator("#count").inner_text()
    visit.context.close()
    visit.assert_quiet()


def test_the_page_names_no_address_and_tells_no_origin():
    class Links(HTMLParser):
        found = ()

        def handle_starttag(self, tag, attrs):
            self.found += tuple(value for name, value in attrs if name in ("src", "href"))

    page = sheet_html(PAIRS)
    links = Links()
    links.feed(page)
    assert links.found == ("data:,",)
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page
    assert page.count("</script>") == 1


def test_other_pairs_or_another_order_have_another_name():
    names = {fingerprint(pairs) for pairs in (PAIRS, PAIRS[::-1], PAIRS[1:])}
    assert len(names) == 3
    changed = [PAIRS[0]._replace(text=PAIRS[0].text.upper()), *PAIRS[1:]]
    assert fingerprint(changed) not in names
    assert fingerprint([pair._replace(title="") for pair in PAIRS]) in names  # labels are found again without titles


# pairs


def test_passages_carry_their_place_in_the_document():
    passages = Passages({"d1": "abcdefghij"}, characters(4))
    assert sheet_pairs({"q1": ["d1#2"]}, QUERIES, passages, passages.origin, titles={"d1": "ABC"}) == [
        Pair("q1", "d1", 4, 8, QUERIES["q1"], "efgh", "ABC")
    ]


def test_pairs_come_query_by_query_or_shuffled_or_as_ordered():
    def names(pairs):
        return [pair[:2] for pair in pairs]

    grouped = [(qid, name) for qid, ids in POOL.items() for name in ids]
    assert names(PAIRS) == grouped
    shuffled = names(sheet_pairs(POOL, QUERIES, TEXTS, order=1))
    assert shuffled != grouped
    assert sorted(shuffled) == sorted(grouped)
    other = {qid: POOL[qid][::-1] for qid in ("q2", "q1")}
    assert names(sheet_pairs(other, QUERIES, TEXTS, order=1)) == shuffled
    assert names(sheet_pairs(POOL, QUERIES, TEXTS, order=2)) != shuffled
    wanted = json.loads(json.dumps(shuffled))  # as a file gives them
    labels = [Label(*shuffled[0], 0, len(TEXTS[shuffled[0][1]]), "irrelevant")]
    assert names(sheet_pairs(POOL, QUERIES, TEXTS, None, labels, order=wanted)) == shuffled[1:]
    for wrong in (wanted[1:], [*wanted, wanted[0]], [*wanted[1:], ("q9", "007")]):
        with pytest.raises(ValueError, match=r"do not hold the same pairs: \('q"):
            sheet_pairs(POOL, QUERIES, TEXTS, order=wrong)


def test_what_is_judged_already_is_left_out_whatever_it_was_judged_on():
    labels = [Label("q1", "d1", 0, 8, "irrelevant"), Label("q2", "d1", 0, 9, "relevant", span=(5, 7))]
    passages = Passages({"d1": "abcdefghij"}, characters(4))
    pooled = {"q1": ["d1#1", "d1#2", "d1#3"], "q2": ["d1#2", "d1#3"]}
    pairs = sheet_pairs(pooled, QUERIES, passages, passages.origin, labels)
    assert [pair.stretch[:3] for pair in pairs] == [("q1", "d1", 8), ("q2", "d1", 8)]


@pytest.mark.parametrize(
    ("pooled", "message"),
    [
        ({"q9": ["007"]}, "query 'q9' is not in the collection"),
        ({"q1": ["d1#1"]}, "have no id 'd1#1'. Were the runs made on passages"),
        ({"q1": ["007", "007"]}, "twice"),
    ],
)
def test_a_pool_of_another_collection_is_named(pooled, message):
    with pytest.raises(ValueError, match=message):
        sheet_pairs(pooled, QUERIES, TEXTS)


# CSV and JSON lines

SPREAD = st.text(st.sampled_from('abr ",;\n\r\t=#\u2028😀é') | st.characters(codec="utf-8"), min_size=1, max_size=40)
NAMES = st.sampled_from(["007", "1e5", "null", "NA", "=1+1"]) | SPREAD


@st.composite
def filled_sheets(draw):
    names = draw(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=4, unique=True))
    pairs, labels = [], []
    for qid, doc_id in names:
        text, start = draw(SPREAD), draw(st.integers(0, 9))
        end = start + len(text)
        pairs.append(Pair(qid, doc_id, start, end, draw(SPREAD), text, draw(st.just("") | SPREAD)))
        if (label := draw(st.sampled_from(["relevant", "partial", "irrelevant", ""]))) == "":
            continue
        begin = draw(st.integers(start, end - 1))
        span = (begin, draw(st.integers(begin + 1, end))) if label == "relevant" else None
        labels.append(Label(qid, doc_id, start, end, label, span, draw(SPREAD).strip()))
    return pairs, labels


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@settings(max_examples=60, deadline=None)
@given(made=filled_sheets())
def test_a_filled_sheet_comes_back_as_it_was(tmp_path_factory, suffix, made):
    path = tmp_path_factory.getbasetemp() / f"sheet.{suffix}"
    pairs, labels = made
    write_sheet(path, pairs, labels)
    assert read_sheet(path) == labels == labels_in(path)
    if suffix == "csv":
        read = list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
    else:
        read = [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]]
    texts = ("query_id", "doc_id", "query", "title", "text")
    assert [[row[name] for name in texts] for row in read] == [
        [getattr(pair, name) for name in texts] for pair in pairs
    ]


def filled_in(tmp_path, **values):
    pair = Pair("q1", "d1", 100, 121, "a?", "the cat and the dog 😀")
    row = {**dict.fromkeys(COLUMNS, ""), **pair._asdict(), **values}
    path = tmp_path / "sheet.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerow(row)
    return path


@pytest.mark.parametrize(
    ("values", "span"),
    [
        ({"label": "r", "answer": "the dog"}, (112, 119)),
        ({"label": "Relevant ", "answer": " dog 😀 "}, (116, 121)),
        ({"label": "relevant", "answer": "the", "answer_start": "112", "answer_end": "115"}, (112, 115)),
        ({"label": "partial", "answer_start": "100", "answer_end": "103"}, (100, 103)),
        ({"label": "p"}, None),
        ({"label": "I"}, None),
    ],
)
def test_an_answer_is_the_words_or_their_place(tmp_path, values, span):
    [label] = read_sheet(filled_in(tmp_path, **values))
    assert label.span == span


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"label": "good"}, "row 2: the label is 'good'"),
        ({"label": "r"}, "row 2: relevant without a span"),
        ({"label": "r", "answer": "the"}, "row 2: the answer 'the' stands 2 times in the text. Copy more"),
        ({"label": "r", "answer": "bird"}, "row 2: the answer 'bird' stands 0 times in the text"),
        ({"label": "r", "answer": "  "}, "stands 0 times"),
        ({"label": "r", "answer": "the dog", "answer_start": "100", "answer_end": "107"}, "stands 'the cat'"),
        ({"label": "r", "answer_start": "100"}, "Give both, or neither"),
        ({"label": "r", "answer_start": "0", "answer_end": "3"}, "not within 100 to 121"),
        ({"label": "i", "answer": "the dog"}, "irrelevant, and yet with the span"),
        ({"answer": "the dog"}, "an answer without a label"),
        ({"start": "1e2"}, "the start is '1e2', expected a whole number"),
        ({"text": "the cat"}, "the text has 7 characters, and from start to end there are 21"),
    ],
)
def test_what_is_wrong_in_a_sheet_is_named_with_its_row(tmp_path, values, message):
    with pytest.raises(ValueError, match=f"sheet.csv .*{message}"):
        read_sheet(filled_in(tmp_path, **values))


def test_a_broken_sheet_is_named(tmp_path):
    path = filled_in(tmp_path)
    whole = path.read_text(encoding="utf-8")
    for text, message in (
        (whole.replace("reason", "why"), "line 1: no column 'reason'"),
        (whole.replace(",a?,", ","), "row 2: not as many fields"),
        (whole + '"open', "near line 2: not CSV"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            read_sheet(path)
    path.write_text(whole.replace(",title,", ",").replace(",a?,,", ",a?,"), encoding="utf-8")
    assert read_sheet(path) == []  # sheets had no titles once
    path.write_bytes(whole.encode("utf-16"))
    with pytest.raises(ValueError, match="not UTF-8"):
        read_sheet(path)


@pytest.mark.parametrize("name", ["sheet.xlsx", "sheet"])
def test_a_sheet_of_another_form_is_refused_and_nothing_is_written(tmp_path, name):
    with pytest.raises(ValueError, match=r"ends in \.html, \.csv or \.jsonl"):
        write_sheet(tmp_path / name, PAIRS)
    with pytest.raises(ValueError, match="nothing to label"):
        write_sheet(tmp_path / "sheet.csv", [])
    with pytest.raises(ValueError, match="on the sheet twice"):
        write_sheet(tmp_path / "sheet.csv", [*PAIRS, PAIRS[0]])
    assert list(tmp_path.iterdir()) == []


# the command line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A collection with two runs, as somebody would have them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    docs = {"007": "Hold the button.", "1e5": "The gateway restarts.", "d3": "Something else."}
    lines = [json.dumps({"_id": name, "title": text.split()[0], "text": text}) for name, text in docs.items()]
    (tmp_path / "mine/corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "mine/queries.tsv").write_text("q1\treset the gateway\nq2\trestart\n")
    write_run("a.run", {"q1": [("007", 2.0), ("1e5", 1.0)], "q2": [("1e5", 1.0)]}, tag="a")
    write_run("b.run", {"q1": [("d3", 2.0), ("007", 1.0)]}, tag="b")
    return tmp_path


POOLED = ("pool", "a.run", "b.run", "--collection", "mine", "--chunking", "whole")


@pytest.mark.parametrize("out", ["sheet.html", "sheet.csv", "sheet.jsonl"])
def test_pool_writes_a_sheet(folder, capsys, out):
    assert main([*POOLED, "--out", out]) == 0
    assert capsys.readouterr() == (f"{out}: 4 pairs of 2 queries\n", "")
    text = (folder / out).read_text(encoding="utf-8-sig")
    assert text.count("Hold the button.") == 1
    assert text.count('"The"' if out != "sheet.csv" else ",The,") == 2  # the title
    assert main([*POOLED, "--out", out]) == 2  # it may hold labels by now
    assert "is there already" in capsys.readouterr().err
    assert main([*POOLED, "--out", out, "--replace", "--k", "1"]) == 0
    assert capsys.readouterr().out == f"{out}: 3 pairs of 2 queries\n"


def test_pool_mixes_the_queries_and_takes_a_rubric(folder):
    (folder / "rules.txt").write_text("A <rule>\nof ours")
    assert main([*POOLED, "--out", "all.jsonl", "--shuffle", "--seed", "2"]) == 0
    assert [pair.query_id for pair in pairs_of(folder / "all.jsonl")] == ["q1", "q2", "q1", "q1"]
    assert main([*POOLED, "--out", "sheet.html", "--rubric", "rules.txt"]) == 0
    assert "A &lt;rule&gt;\nof ours" in (folder / "sheet.html").read_text()


def test_pool_goes_on_where_labels_end(folder, capsys):
    main([*POOLED, "--out", "first.csv"])
    rows = (folder / "first.csv").read_text(encoding="utf-8-sig")
    (folder / "first.csv").write_text(rows.replace("Hold the button.,,", "Hold the button.,r,the button"))
    capsys.readouterr()
    assert main([*POOLED, "--out", "rest.jsonl", "--labels", "first.csv"]) == 0
    assert capsys.readouterr().out.startswith("rest.jsonl: 3 pairs of 2 queries; 1 of 4 left out")
    assert "Hold" not in (folder / "rest.jsonl").read_text()
    write_labels("all.jsonl", [Label(*pair.stretch, "irrelevant") for pair in pairs_of(folder / "rest.jsonl")])
    both = (folder / "all.jsonl").read_text()
    write_labels("first.jsonl", labels_in("first.csv"))
    (folder / "all.jsonl").write_text(both + (folder / "first.jsonl").read_text())
    assert main([*POOLED, "--out", "none.html", "--labels", "all.jsonl"]) == 2
    assert "nothing to label" in capsys.readouterr().err
    assert not (folder / "none.html").exists()


def pairs_of(path):
    return [Pair(*(json.loads(line)[name] for name in Pair._fields)) for line in path.read_text().splitlines()]


def test_pool_reads_passages_of_a_collection_of_this_book(folder, capsys):
    write_run("c.run", {"n001": [("numpy.squeeze#1", 1.0)]}, tag="c")
    assert main(["pool", "c.run", "--collection", "numpy-docs", "--out", "sheet.jsonl"]) == 0
    [pair] = pairs_of(folder / "sheet.jsonl")
    assert (pair.query, pair.doc_id, pair.start) == ("keepdims", "numpy.squeeze", 0)
    assert pair.text.startswith("numpy.squeeze")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([*POOLED, "--out", "sheet.doc"], "a sheet ends in"),
        ([*POOLED, "--out", "no/such/sheet.csv"], "no/such"),
        ([*POOLED, "--out", "sheet.csv", "--k", "0"], "k is 0"),
        (["pool", "no.run", *POOLED[3:], "--out", "sheet.csv"], "there is no file no.run"),
        (["pool", "bad.run", *POOLED[3:], "--out", "sheet.csv"], "bad.run line 2: 3 fields, expected 6"),
        ([*POOLED[:5], "--out", "sheet.csv"], "have no id '"),
        (["pool", "a.run", "--collection", "elsewhere", "--out", "sheet.csv"], "elsewhere"),
        (["agree", "bad.jsonl", "bad.jsonl"], "bad.jsonl line 1: not JSON"),
        (["agree", "sheet.html", "bad.jsonl"], "sheet.html: an HTML sheet keeps its labels in the browser"),
        (["agree", "no.jsonl", "bad.jsonl"], "no.jsonl"),
    ],
)
def test_an_error_is_one_line_and_leaves_nothing_behind(folder, capsys, args, message):
    (folder / "bad.run").write_text("q1 Q0 007 1 2.0 a\nq1 0 007\n")
    (folder / "bad.jsonl").write_text("{\n")
    before = sorted(folder.rglob("*"))
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("ragkit: ")
    assert message in err
    assert sorted(folder.rglob("*")) == before


def test_agree_prints_the_figures_and_every_disagreement(folder, capsys):
    first = [
        Label("q1", f"d{n}", 0, 9, "relevant" if n < 5 else "irrelevant", (0, 4) if n < 5 else None) for n in range(9)
    ]
    second = [Label("q1", "d0", 0, 9, "irrelevant", reason="another gateway"), *first[1:8]]
    write_labels("first.jsonl", first)
    write_labels("second.jsonl", second)
    assert main(["agree", "first.jsonl", "second.jsonl"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "pairs in both passes: 8 (1 only in the first, 0 in the second)",
        "raw agreement: 0.875 (7 of 8; 95 % interval 0.529 to 0.978)",
        "Cohen's kappa: 0.750 (95 % interval 0.158 to 1.000, bootstrap of the pairs)",
        "first, down; second:      relevant     partial  irrelevant",
        "  relevant                       4           0           1",
        "  partial                        0           0           0",
        "  irrelevant                     0           0           3",
        "disagreements: 1",
        "  query 'q1', document 'd0' from 0 to 9: relevant / irrelevant; - / another gateway",
        "relevant in both, with answers that share nothing: 0",
    ]
    assert main(["agree", "first.jsonl", "second.jsonl", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["pairs"], found["raw"], found["kappa"]) == (8, 0.875, 0.75)
    assert found["disagreements"][0]["second"]["reason"] == "another gateway"
    write_labels("one.jsonl", second[:1])
    assert main(["agree", "one.jsonl", "one.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kappa"] is None


def test_it_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "ragkit", "--help"], capture_output=True, text=True, check=True)
    assert {"pool", "agree"} <= set(done.stdout.split())
