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
QUERIES = {"q1": 'reset <img src=x onerror="alert(1)"> the gateway?', "q2": "restart"}
POOL = {"q1": ("1e5", "007", "null"), "q2": ("007", "null", "1e5")}
PAIRS = sheet_pairs(POOL, QUERIES, TEXTS)


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
    assert page.locator("#count").inner_text() == "pair 1 of 6, 1 labelled"

    press(page, "ArrowRight")
    assert page.locator("#passage").evaluate("passage => passage.textContent") == TEXTS["007"]
    select(page, 13, len("Hold <b>the</b> button & wait </script><!-- for") + 1 + len("ten"))  # \r\n is one step
    press(page, "s")
    marked = page.locator("#passage mark").evaluate("mark => mark.textContent")
    assert marked == "Hold <b>the</b> button & wait </script><!-- for\r\nten"
    press(page, "r", "w")
    page.keyboard.type("says how to reset: hold; j and r are letters here")
    press(page, "Enter", "j")

    press(page, "i", "u")
    assert page.locator("#count").inner_text() == "pair 4 of 6, 3 labelled"
    select(page, 10, 2)  # two emoji, the second of three code points
    press(page, "s", "p", "w")
    page.keyboard.type("naïve 😀")
    press(page, "Escape", "j", "i", "u")

    page.reload()
    assert page.locator("#count").inner_text() == "pair 6 of 6, 5 labelled"
    assert page.locator("[aria-pressed=true]").count() == 0
    press(page, "t", "Control+End", "Shift+Control+Home", "s", "r", "w")
    page.keyboard.type("all of it")
    press(page, "Enter", "u")
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
    page.get_by_role("button", name="mark the answer").click()
    page.get_by_role("button", name="relevant r", exact=True).click()
    page.get_by_label("Why, in a line").fill("it does")
    [label] = exported(page, tmp_path)
    assert TEXTS["007"][slice(*label.span)] == "Hold <b>the</b> button &"
    page.get_by_role("button", name="irrelevant").click()
    assert page.locator("#passage mark").count() == 0
    page.get_by_role("button", name="withdraw").click()
    assert page.locator("#count").inner_text() == "pair 2 of 6, 0 labelled"
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
    assert page.locator("#count").inner_text() == "pair 1 of 6, 0 labelled"
    press(page, "p")
    assert page.locator("[data-label=partial]").get_attribute("aria-pressed") == "true"


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
    page.wait_for_function("document.getElementById('count').textContent === 'pair 1 of 6, 1 labelled'")


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


# pairs


def test_passages_carry_their_place_in_the_document():
    passages = Passages({"d1": "abcdefghij"}, characters(4))
    assert sheet_pairs({"q1": ["d1#2"]}, QUERIES, passages, passages.origin) == [
        Pair("q1", "d1", 4, 8, QUERIES["q1"], "efgh")
    ]


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
        pairs.append(Pair(qid, doc_id, start, end, draw(SPREAD), text))
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
    assert [(row["query_id"], row["doc_id"], row["text"]) for row in read] == [(p[0], p[1], p.text) for p in pairs]


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
    lines = [json.dumps({"_id": name, "text": text}) for name, text in docs.items()]
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
    assert main([*POOLED, "--out", out]) == 2  # it may hold labels by now
    assert "is there already" in capsys.readouterr().err
    assert main([*POOLED, "--out", out, "--replace", "--k", "1"]) == 0
    assert capsys.readouterr().out == f"{out}: 3 pairs of 2 queries\n"


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
