"""The prose check, on broken pages made here and on the book."""

import re
from pathlib import Path
from random import Random

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from pages import CLAIM, Page, book_page, notebook_page, pages, parser
from prose import check, report, survivors
from written import changed, find

# --- a page made of a few cells, with the outputs that an execution would have left ---


def say(text, id="prose", minutes=0, **given):
    return new_markdown_cell(text, id=id, metadata={"ragkit": {"given": given, "minutes": minutes}})


def run(source="compute()", *outputs, id="code", given=None):
    return new_code_cell(source, id=id, outputs=list(outputs), metadata={"ragkit": {"given": given or {}}})


def printed(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def shown(text="", mime="text/html", **more):
    return new_output("display_data", data={mime: text} | more)


def stated(**fields):
    fields = {"id": "idf-rare", "says": "about 8.15", "computed": "8.1400", "condition": "", "verdict": ""} | fields
    return shown("<p>about 8.15, is 8.1400</p>", **{CLAIM: fields})


@pytest.fixture
def page(tmp_path):
    def make(*cells, name="01_toy.ipynb"):
        path = tmp_path / name
        nbformat.write(new_notebook(cells=list(cells)), path)
        return notebook_page(path, path)

    return make


@pytest.fixture
def faults(page):
    return lambda *cells: check(page(*cells)).faults


# --- numbers as written ---


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("8.14, 12,000 and 3 427.86; 95 %, 95\\% and 1e-9", "8.14 12000 3427.86 95 95 1E-9"),
        ("`idf(12_000, 410)` and $12{,}000 \\times 10^{-12}$ and 10⁻¹²", "12000 410 12000 1E-12 1E-12"),
        ("recall@10, the 10th, 35MB, 200-word, top-10, **8.14**, _8.14_, 15–25", "10 10 35 200 10 8.14 8.14 15 25"),
        ("since 1994, k1=1.2, 12/13.2", "1994 1.2 12 13.2"),
        ("1.8 million and 12 thousand", "1800000.0 12000"),
        ("thirteen, Twenty-eight, four thousand, a hundred and ten", "13 28 4000 110"),
        ("three and a half thousand; half a million; two dozen", "3500.0 500000.0 24"),
        ("a hundredfold, the thirteenth, a four-thousand-word page, twenty\nfive", "100 13 4000 25"),
        ("from ten to twenty, thirty per cent, fifty-fifty", "20 30 50 50"),
    ],
)
def test_numbers_are_found(text, values):
    assert " ".join(str(number.value) for number in find(text) if number.counts) == values


@pytest.mark.parametrize(
    "text",
    [
        "BM25 k1 d61 q5 MX-4471-B ERR_4021 page_size float32 01_rarity ISO-8859-1 53aa51172d142 CC-BY-4.0",
        "version 2.4.6, v2.31, chapter 12, chapters 05, 11 and 12",
        "3 of 9, 0.5, 0.05, 007, twelve, a dozen, one of them, hundreds of pages, the second",
    ],
)
def test_names_and_single_digits_are_not(text):
    assert [number.written for number in find(text) if number.counts] == []


@pytest.mark.parametrize(
    "text",
    [
        "[here](page-12.html#s34 'x') and [there][12a], <https://a.example/12>, https://a.example/34",
        "[12a]: https://a.example/12\n\n(label-12)=\n\n{cite}`robertson94` {ref}`12`",
        "```{figure} ../img/fig-12.png\n:width: 640px\n:name: fig-34\n```\n",
        ":::{note}\n:class: w-50 x12\n:::",
        "<span data-x='12'>x</span> <!-- 12 --> &#8239; ![alt](fig12.svg) img/12.png {#s-12}",
        "% a note about 12,000",
    ],
)
def test_addresses_options_and_tags_are_not_prose(faults, text):
    assert faults(say(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "# Of 12,000", "- item 12,000", "| a |\n|--|\n| 12,000 |", "`f(12_000)`", "$N = 12{,}000$",
        "$$\nN = 12000\n$$", "```python\nN = 12_000\n```",
        "```{note} Of 12,000\n:class: x\n```", "<p>12,000</p>", "[12,000](a.md)",
        "![12,000 bars](a.png)", "twelve thousand", "a<b, 12,000 and c>d", "`a<b` 12,000 `c>d`", "in\n12,000. Then",
    ],
)  # fmt: skip
def test_unknown_numbers_fail_wherever_they_stand(faults, text):
    assert len(faults(say(text))) == 1


# --- what a number may match ---


def test_a_number_matches_what_rounds_to_it(faults):
    outputs = printed("8.14003 [3427.861] 0.909 200 300")
    assert (
        faults(run("compute()", outputs), say("8.14 and 8.140, 3,427.86 or 3428, 90.9 % and 90.9 per cent; 200"))
        == []
    )
    assert (
        len(faults(run("compute()", outputs), say("8.15, 8.141, 3427.9 is right, 91.9 %, 200300, 0.919, 3427"))) == 6
    )


def test_a_fault_names_notebook_cell_line_and_sentence(faults):
    [fault] = faults(say("First."), say("Second.\nThe idf is 8.16, they say. Third.", id="weigh"))
    assert fault.startswith(
        "notebooks/01_toy.ipynb, cell 2 (weigh), line 2: “The idf is 8.16, they say.”: 8.16 is in"
    )


@pytest.mark.parametrize(
    "output",
    [
        shown('<div class="rk-explorer" data-key="x"><p>8.14</p><script>[8.14]</script></div>'),
        shown('<style>.x{}</style><figure class="rk-figure"><figcaption>8.14</figcaption></figure>'),
        shown('<div class="rk-predict">8.14</div>'),
        shown('<div class="rk-exercise rk-right">8.14</div>'),
        shown("<p title='8.14'>x</p><script>8.14</script><style>8.14</style><svg>8.14</svg>"),
        shown("<template>8.14</template><p hidden>8.14</p>", **{"text/plain": "8.14"}),
        shown("<Figure 8.14>", "text/plain", **{"image/png": ""}),
        shown("[8.14](a.html) of [x](8.14)".replace("[8.14]", "[y]"), "text/markdown"),
        printed("8.14", "stderr"),
        stated(says="8.14", computed="8.2", condition="8.14"),
    ],
)
def test_what_no_reader_sees_as_computed_text_does_not_count(faults, output):
    assert len(faults(run("show()", output), say("8.14"))) == 1


@pytest.mark.parametrize(
    "output",
    [
        printed("idf 8.1400"),
        shown("<table><td>12</td><td>8.1400</td></table>"),
        shown("It is **8.14**.", "text/markdown"),
        shown("np.float64(8.14003)", "text/plain"),
        stated(),
    ],
)
def test_what_a_reader_sees_counts(faults, output):
    assert faults(run("show()", output), say("8.14")) == []


def test_a_typed_number_is_prose_and_no_output(faults):
    cell = run(
        'Markdown(f"It is {x:.10f}, not 8.15, of {12_000:,}.")', shown("It is 8.14, not 8.15.", "text/markdown")
    )
    [fault] = faults(cell, say("8.14"))
    assert "cell 1 (code), line 1" in fault
    assert "8.15 is in no output" in fault
    assert len(faults(run('print("8.15")', printed("8.15")), say("8.15"))) == 1
    marked = run(cell.source, *cell.outputs, stated(), given={"8.15": "claim:idf-rare"})
    assert faults(marked) == []


def test_a_short_number_is_shown_in_its_own_section(faults):
    output = run("compute()", printed("12 8.14"))
    assert faults(say("## One\n\nOf 12", id="a"), output, say("All 12 of them: 8.14", id="b")) == []
    [fault] = faults(output, say("## Two\n\nOf 12, 8.14"))
    assert ": 12 is in no output" in fault
    assert faults(output, say("## Two\n\nOf 12", **{"12": "output:code"})) == []


# --- what is marked as given ---


@pytest.mark.parametrize(
    ("text", "written", "source"),
    [
        ("12,000 of `N = 12_000`", "12,000", "cell:code"),
        ("8.15", "8.15", "claim:idf-rare"),
        ("In 1994, [they](../book/references.md)", "1994", "reference"),
        ("About 17 minutes", "17", "minutes"),
        ("51,310 chunks", "51,310", "exercise:01-a"),
        ("Python 3.11", "3.11", "file:pyproject.toml"),
        ("Twelve thousand", "twelve thousand", "cell:code"),
    ],
)
def test_given_numbers_are_looked_up(faults, text, written, source):
    rest = [run("N = 12_000 # 8.15, 1994", stated()), say("Two", id="two", minutes=7)]
    assert faults(say(text, minutes=10, **{written: source}), *rest) == []
    assert len(faults(say(text), *rest)) >= 1
    assert len(faults(say("nothing", minutes=10, **{written: source}), *rest)) == 1  # not used
    for false in ("cell:code", "claim:idf-rare", "minutes", "exercise:03-b", "cell:none", "input"):
        if false != source:
            assert faults(say(text, minutes=10, **{written: false}), *rest) != []


def test_a_reference_needs_a_citation_beside_it(faults):
    assert "nothing is cited" in faults(say("In 1994", **{"1994": "reference"}))[0]


def test_a_comment_is_no_source(faults):
    assert "does not hold it" in faults(run("N = 12_000  # 8.15"), say("8.15", **{"8.15": "cell:code"}))[0]


def test_outputs_of_other_code_are_refused(tmp_path):
    for name, source in (("a.ipynb", "1"), ("b.ipynb", "2")):
        nbformat.write(new_notebook(cells=[run(source)]), tmp_path / name)
    with pytest.raises(ValueError, match="changed since it was executed"):
        notebook_page(tmp_path / "a.ipynb", tmp_path / "b.ipynb")


def test_a_page_of_the_book_cites_notebooks(tmp_path, page):
    notebook = page(say("Hi", minutes=17), run("N = 12_000", printed("3427.86"), stated()))
    path = tmp_path / "index.md"

    def faults(text):
        path.write_text(text, encoding="utf-8")
        return check(book_page(path, [notebook])).faults

    assert faults(
        "---\nversion: 12\n---\n# Title\n\n% given: 8.15 8.14 claim:idf-rare; 12,000 cell:01_toy:code\n"
        "It is 8.14, not 8.15,\nin 12,000.\n\n% given: 3,428 output:01_toy:code\n% given: 17 minutes\n"
        "```{note} In 17 minutes\n3,428 to one\n```\n"
    ) == []  # fmt: skip
    [fault] = faults("# Title\n\n% given: 8.15 claim:idf-rare\n8.15\n\nAgain\n8.15.\n")
    assert fault.startswith("book/index.md:7: “Again 8.15.”: 8.15 is in no output")
    assert len(faults("8.14")) == 1  # a page of the book has no output of its own
    assert "not there" in faults("% given: 12,000 cell:code\n12,000")[0]
    assert len(faults("% given: 8.15 claim:idf-rare\n\nIt is small.\n")) == 1


# --- the mutation test ---


@pytest.mark.parametrize("written", ["8.14", "12,000", "3 427.86", "12{,}000", "1e-9", "10^{-9}", "10", "0.75"])
def test_a_change_keeps_the_format(written):
    [number] = find(written)
    for seed in range(50):
        new = changed(number, Random(seed))
        assert sum(a != b for a, b in zip(written, new, strict=True)) == 1
        assert find(new)[0].value != number.value
        assert find(new)[0].counts


@pytest.mark.parametrize("written", ["twenty-eight", "Four thousand", "a hundred", "thirteenth", "a hundredfold"])
def test_a_change_of_words(written):
    [number] = find(written)
    assert {find(changed(number, Random(seed)))[0].value == number.value for seed in range(50)} == {False}


def test_what_survives_is_told(page):
    loose = page(
        run("x = 8.14", printed(" ".join(map(str, range(100))))), say("Of 12, and 8.14", **{"8.14": "cell:code"})
    )
    assert check(loose).faults == []
    [line] = survivors(loose)
    assert "cell 2 (prose), line 1" in line
    assert ": 12 -> " in line
    strict = page(run("compute()", printed("12 410")), say("Of 12, and 410"), name="02_toy.ipynb")
    assert survivors(strict) == []
    made = report([loose, strict])
    assert made.score == 0.75
    assert "changes caught: 75.0%" in str(made)


# --- the book ---


@pytest.fixture(scope="module")
def book(executed_notebooks: Path) -> list[Page]:
    return pages(executed_notebooks)


def test_every_number_in_the_book_is_computed_or_given(book, capsys):
    found = report(book)
    with capsys.disabled():
        print(f"\n{found}")
    assert found.results, "no page was found"
    assert not found.faults, "\n".join(found.faults)
    assert found.score >= 0.95


def test_no_number_of_a_notebook_is_blanked(book):
    for part in (part for page in book for part in page.parts if ".ipynb" in page.name and not part.code):
        rendered = BeautifulSoup(parser().render(part.text), "html.parser").get_text(" ")
        expected = [number.key for number in find(re.sub(r"\\[A-Za-z]+", " ", rendered)) if number.counts]
        assert [number.key for number in find(part.prose) if number.counts] == expected, part.where
