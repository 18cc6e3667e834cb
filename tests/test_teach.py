"""What a page shows, taken apart: explorers, predictions, exercises, claims, figures."""

import gc
import html
import itertools
import json
import math
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import _pylab_helpers
from matplotlib.figure import Figure

import ragkit.teach
from ragkit.teach import Control, Explorer, canvas, check, claim, picture, predict
from ragkit.teach.claims import MIME, compare_quoted
from ragkit.teach.exercises import EXERCISES, Exercise
from ragkit.teach.explorers import _layers, _packed, live_face, static_face, steps
from ragkit.teach.page import attributes, key_of, script

quick = settings(deadline=None, derandomize=True, max_examples=100)

NASTY = """</script><!--<script> "quoted" & 'single' <b onload=alert(1)> \u2028 \\ é"""


def toy(*, compute=None, texts=(), title="Squares", **changes):
    """An explorer over x and y that draws a dot; `word` is free text."""

    def draw(axes, frame):
        axes.plot(frame["x"], frame["y"], "o")
        axes.text(0, 0, f"{frame['x']} {frame['word']}")

    parts = {
        "controls": (Control("x", "across", (0, 1, 2, 3), 1), Control("y", "up", (0.0, 0.5, 1.0), 0.5, "{:.1f}")),
        "compute": compute or (lambda x, y, word="": {"x": x, "y": y, "word": word, "z": x * x + y}),
        "backdrop": lambda axes, frame: axes.set(xlim=(0, 3), ylim=(0, 1)),
        "draw": draw,
        "readout": lambda frame: f"{frame['x']}² + {frame['y']:.1f} = {frame['z']:.1f}; {frame['word']}",
        "call": lambda frame: f"f({frame['x']}, {frame['y']:.1f}, {frame['word']!r})",
        "alt": lambda frame: f"A dot at {frame['x']} and {frame['y']:.1f}. {frame['word']}",
        "texts": texts,
    }
    return Explorer(title, **(parts | changes))


def soup(shown):
    text = shown if isinstance(shown, str) else shown._repr_mimebundle_()["text/html"]
    return BeautifulSoup(text, "html.parser")


def data_of(shown):
    """The argument that a page's script is called with."""
    text = soup(shown).find_all("script")[-1].string
    payload = text[text.rindex("})(") + 3 :].removesuffix(");")
    return json.loads(payload)


# --- names ---


def test_every_public_name_is_there():
    assert dir(ragkit.teach) == ragkit.teach.__all__
    for name in ragkit.teach.__all__:
        assert callable(getattr(ragkit.teach, name))
    with pytest.raises(AttributeError, match=r"no public name 'explorer'; it has canvas, "):
        ragkit.teach.explorer  # noqa: B018


# --- controls ---


def test_a_control_needs_values_and_starts_at_one_of_them():
    with pytest.raises(ValueError, match="control 'k1' has no values"):
        Control("k1", "k1", (), 1.2)
    with pytest.raises(ValueError, match=r"control 'k1' starts at 1\.2, which is not one of its values"):
        Control("k1", "k1", (1, 2), 1.2)
    assert Control("n", "n", (12_000,), 12_000, "{:,}").written(12_000) == "12,000"


@quick
@given(st.integers(-50, 50), st.integers(1, 60), st.sampled_from([0.05, 0.1, 0.2, 0.25, 1]))
def test_steps_have_no_dust(first, count, step):
    values = steps(first * step, (first + count) * step, step)
    assert len(values) == count + 1
    assert all(len(repr(value)) <= 6 for value in values)
    assert all(math.isclose(b - a, step, abs_tol=1e-9) for a, b in itertools.pairwise(values))


def test_a_frame_takes_what_is_given_and_no_other_name():
    explorer = toy(texts=(("word", "Word", "dot"),))
    assert explorer.frame() == {"x": 1, "y": 0.5, "word": "dot", "z": 1.5}
    assert explorer.frame(x=3, word="") == {"x": 3, "y": 0.5, "word": "", "z": 9.5}
    with pytest.raises(KeyError, match=r"Squares: no control \['q'\]; there is \['word', 'x', 'y'\]"):
        explorer.frame(q=1)


def test_the_last_control_moves_fastest():
    assert [(frame["x"], frame["y"]) for frame in toy().grid()] == list(itertools.product(range(4), (0.0, 0.5, 1.0)))


# --- the static face ---


def test_the_static_face_says_what_it_shows():
    explorer = toy(texts=(("word", "Word of yours", "dot"),))
    page = soup(static_face(explorer))
    root = page.select_one(".rk-explorer[role=group]")
    frame = explorer.frame()
    assert root["aria-label"] == "Squares" == root.select_one(".rk-title").get_text()
    assert root.select_one(".rk-readout").get_text() == "1² + 0.5 = 1.5; dot" == explorer.readout(frame)
    assert root.select_one(".rk-readout")["aria-live"] == "polite"
    assert root.select_one(".rk-call code").get_text() == "f(1, 0.5, 'dot')"
    assert root.select_one(".rk-picture[role=img]")["aria-label"] == explorer.alt(frame)
    assert root.select_one(".rk-note").get_text() == "With a kernel you can also change: Word of yours."
    assert not soup(static_face(toy())).select(".rk-note")

    labels = root.select(".rk-controls label")
    assert [label.span.get_text() for label in labels] == ["across", "up"]
    for label, value, last, start in zip(labels, ("1", "0.5"), "32", "11", strict=True):
        [field] = label.select("input")
        assert label.output.get_text() == value == field["aria-valuetext"]
        assert (field["type"], field["min"], field["max"], field["step"], field["value"]) == (
            "range", "0", last, "1", start,
        )  # fmt: skip
        assert field.has_attr("disabled"), "without the script it moves nothing"
        assert field["autocomplete"] == "off", "a browser that comes back would move it, and nothing else"
        assert field["data-lm-suppress-shortcuts"] == "true"
    assert [text.get_text() for text in root.select("svg .rk-moves text")] == ["1 dot"]


def test_the_static_face_holds_every_frame_as_python_draws_it():
    explorer = toy()
    data = data_of(static_face(explorer))
    _, movers = _layers(explorer)
    sheets = unpacked(data)
    assert data["shown"] == [["0", "1", "2", "3"], ["0.0", "0.5", "1.0"]]
    assert len(sheets) == 12
    for sheet, mover, frame in zip(sheets, movers, explorer.grid(), strict=True):
        *pieces, readout, call, alt = sheet
        assert "".join(pieces) == mover
        assert (readout, call, alt) == (explorer.readout(frame), explorer.call(frame), explorer.alt(frame))
    assert len(set(movers)) == 12


def test_a_frame_drawn_on_the_backdrop_is_the_whole_picture():
    """Drawn apart to save time, backdrop and mover together hold what the picture in one piece holds."""
    explorer = toy()
    backdrop, movers = _layers(explorer)
    for mover, frame in zip(movers, explorer.grid(), strict=True):
        assert marks(f"{backdrop}{mover}</svg>") == marks(explorer.image(frame))


def marks(svg):
    found = soup(svg).select("path, text, use")
    return {(mark.name, mark.get("d"), mark.get("x"), mark.get("y"), mark.get("style"), mark.text) for mark in found}


def test_the_same_explorer_gives_the_same_page_and_another_another_key():
    assert static_face(toy()) == static_face(toy())
    keys = {data_of(static_face(one))["key"] for one in (toy(), toy(title="Cubes"), toy(alt=lambda frame: "A b c d"))}
    assert len(keys) == 3


def test_a_page_without_numbers_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        script("explorer.js", {"key": math.nan})


class Seen(HTMLParser):
    """What a browser makes of HTML, as far as scripts and handlers go."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def shown_nasty():
    explorer = toy(title=NASTY, texts=(("word", NASTY, NASTY),), alt=lambda frame: NASTY, call=lambda frame: NASTY)
    figure, _ = canvas()
    return {
        "explorer": static_face(explorer),
        "live": live_face(explorer).children[-1].value,
        "predict": predict(NASTY, {NASTY: "", "b": NASTY}, answer=NASTY, reveal=NASTY)._html(),
        "claim": claim(NASTY, "D1", NASTY, holds=True, computed=NASTY.replace("{", ""), condition=NASTY)._html(),
        "wrong": check("01-a", NASTY)._html(),
        "picture": picture(figure, alt=NASTY, caption=NASTY)._repr_html_(),
        "script": script("explorer.js", {"key": NASTY, "frames": [NASTY]}),
    }


@pytest.mark.parametrize("name", shown_nasty())
def test_nasty_text_is_text(name):
    text = shown_nasty()[name]
    seen = Seen()
    seen.feed(text)
    seen.close()
    assert "b" not in seen.tags
    assert "onload" not in seen.attributes
    assert seen.tags.count("script") == text.count("</script>") <= 1
    for body in re.findall(r"<script>(.*?)</script>", text, re.S):
        assert "<!--" not in body
    if name != "script":
        flat = soup(text).get_text() + " ".join(str(value) for tag in soup(text)() for value in tag.attrs.values())
        assert NASTY in flat or (name == "wrong" and repr(NASTY) in flat)


def test_nasty_text_reaches_the_script_unchanged():
    explorer = toy(call=lambda frame: NASTY)
    assert {sheet[-2] for sheet in unpacked(data_of(static_face(explorer)))} == {NASTY}


# --- packing ---


def unpacked(data):
    """Frames as explorer.js puts them together."""
    sheets = []
    for frame in data["frames"]:
        moving = iter(frame)
        row = [next(moving) if n < 0 else n for n in data["fixed"]] if data["fixed"] else list(moving)
        assert next(moving, None) is None
        sheets.append([data["strings"][n] for n in row])
    return sheets


pieces = st.lists(st.sampled_from(["<a>", "<b>", "1", "2", "", "é"]) | st.text(max_size=4), max_size=6)
even = st.integers(0, 5).flatmap(lambda n: st.lists(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))


@quick
@given(st.lists(pieces, max_size=8) | even)
def test_packing_loses_nothing(sheets):
    packed = _packed(sheets)
    assert unpacked(json.loads(json.dumps(packed))) == sheets
    assert len(set(packed["strings"])) == len(packed["strings"])


def test_packing_keeps_once_what_is_common():
    sheets = [["<same>" * 50, str(n), "<same too>" * 50] for n in range(40)]
    assert len(json.dumps(_packed(sheets))) < len(json.dumps(sheets)) / 15


# --- the live face ---


def test_the_live_face_calls_python():
    explorer = toy(texts=(("word", "Word", "dot"),))
    x, y, word, page = live_face(explorer).children
    assert [box.description for box in (x, y, word)] == ["across", "up", "Word"]
    assert y.options == (("0.0", 0.0), ("0.5", 0.5), ("1.0", 1.0))
    for box, value, says in ((x, 3, "9.5; dot"), (y, 1.0, "10.0; dot"), (word, "<b>", "10.0; <b>")):
        box.value = value
        shown = soup(page.value)
        assert shown.select_one(".rk-readout").get_text().endswith(says)
        assert shown.select_one(".rk-picture[role=img]")["aria-label"].startswith("A dot at")
        assert not shown.select("b, .rk-error")


def test_a_callback_is_called_once_a_change():
    calls = []
    explorer = toy(compute=lambda x, y: calls.append((x, y)) or {"x": x, "y": y, "word": "", "z": 0})
    x, *_ = live_face(explorer).children
    calls.clear()
    x.value = 2
    assert calls == [(2, 0.5)]


def test_a_callback_that_raises_says_so_and_raises():
    def compute(x, y):
        if x == 3:
            raise ValueError("no <b>3</b> here")
        return {"x": x, "y": y, "word": "", "z": 0}

    x, _, page = live_face(toy(compute=compute)).children
    with pytest.raises(ValueError, match="no <b>3</b> here"):
        x.value = 3
    shown = soup(page.value)
    assert shown.select_one(".rk-error[role=alert]").get_text() == "no <b>3</b> here"
    assert not shown.select("svg")
    x.value = 2
    assert len(soup(page.value).select("svg")) == 1
    assert not soup(page.value).select(".rk-error")


def test_a_slider_moved_often_leaves_one_picture_and_no_figure():
    def alive():
        gc.collect()
        return sum(issubclass(type(one), Figure) for one in gc.get_objects())  # isinstance would ask the objects

    x, y, page = live_face(toy()).children
    before = alive()
    for number in range(25):
        (x if number % 2 else y).value = (x if number % 2 else y).options[number % 3][1]
    assert len(soup(page.value).select("svg")) == 1
    assert page.value.count("<style>") <= 2  # the page's and the picture's
    assert alive() == before
    assert _pylab_helpers.Gcf.get_all_fig_managers() == []


def test_the_bundle_has_both_faces():
    bundle = toy()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == "Squares\n1² + 0.5 = 1.5; \nf(1, 0.5, '')"


WITHOUT = """
import sys
sys.modules["ipywidgets"] = None
from ragkit.teach import lexical_views
bundle = lexical_views.length()._repr_mimebundle_()
assert set(bundle) == {"text/plain", "text/html"}, set(bundle)
assert "rk-explorer" in bundle["text/html"] and "<script>" in bundle["text/html"]
assert "matplotlib.pyplot" not in sys.modules
try:
    from ragkit.teach.explorers import live_face
    live_face(lexical_views.length())
except ImportError as error:
    print("ImportError", error.name)
"""


def test_without_ipywidgets_the_static_face_is_shown():
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, encoding="utf-8", check=False)
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "ImportError ipywidgets", "")


# --- predictions ---

CHOICES = {"4": "", "5": "One too many.", "22": "That is joining."}


def test_a_prediction_needs_its_answer_and_its_reasons():
    with pytest.raises(ValueError, match=r"the answer '6' is not among the choices \['4', '5', '22'\]"):
        predict("2 + 2?", CHOICES, answer="6", reveal="Count.")
    with pytest.raises(ValueError, match="no reason is given for the wrong choice '4'"):
        predict("2 + 2?", CHOICES, answer="5", reveal="Count.")


def test_a_prediction_does_not_give_itself_away():
    asked = predict("2 + 2?", CHOICES, answer="4", reveal="Count on.")
    assert asked._repr_mimebundle_()["text/plain"] == "2 + 2?\n( ) 4\n( ) 5\n( ) 22"
    page = soup(asked)
    assert [label.get_text() for label in page.select("label")] == ["4", "5", "22"]
    assert len(page.select("input[type=radio][disabled][autocomplete=off]")) == 3
    assert len({field["name"] for field in page.select("input")}) == 1
    assert page.select_one("button").has_attr("disabled")
    assert page.select_one(".rk-verdict[role=status]").get_text() == ""
    details = page.select_one("details")
    assert not details.has_attr("open")
    assert details.p.get_text() == "4. Count on."
    assert data_of(asked) == {"key": page.div["data-key"], "right": 0, "reasons": list(CHOICES.values())}


# --- exercises ---


def test_an_exercise_not_tried_asks_for_a_number():
    page = soup(check("01-a"))
    assert check("01-a").state == check("01-a", ...).state == "not tried yet"
    assert page.select_one("label").get_text().strip() == "Your answer (idf)"
    assert len(page.select("label input[disabled]")) == len(page.select("button[disabled]")) == 1
    assert page.select_one(".rk-verdict[role=status][aria-live=polite]").get_text() == "Not tried yet."
    data = data_of(check("01-a"))
    assert data["right"] == [EXERCISES["01-a"].right(), 0.005]
    assert len(data["hints"]) == len(EXERCISES["01-a"].hints)


@pytest.mark.parametrize("id", EXERCISES)
def test_an_exercise_tells_right_from_each_likely_mistake(id):
    exercise = EXERCISES[id]
    right = check(id, exercise.right())
    assert (right.state, right.message) == ("right", exercise.praise)
    assert "rk-right" in soup(right).div["class"]
    messages = [right.message]
    for value, hint in exercise.hints:
        wrong = check(id, value())
        assert (wrong.state, wrong.message) == ("wrong", f"Not yet. {hint}")
        assert "rk-wrong" in soup(wrong).div["class"]
        messages.append(wrong.message)
    other = check(id, exercise.right() + 1234.5)
    assert (other.state, other.message) == ("wrong", f"Not yet. {exercise.nudge}")
    assert len({*messages, other.message}) == len(exercise.hints) + 2


@pytest.mark.parametrize("id", EXERCISES)
def test_the_answers_of_an_exercise_lie_apart(id):
    exercise = EXERCISES[id]
    answers = [exercise.right(), *(value() for value, _ in exercise.hints)]
    for one, other in itertools.combinations(answers, 2):
        assert abs(one - other) > 2 * exercise.within, "some number would be both"
    assert all(math.isfinite(answer) for answer in answers)
    assert exercise.within <= 0.02 * abs(exercise.right()) or exercise.within <= 0.005


@pytest.mark.parametrize("id", EXERCISES)
def test_what_a_reader_can_type_is_taken(id):
    """Two decimals are what the page asks for at most: each answer, so written, is still the one it was."""
    exercise = EXERCISES[id]
    assert check(id, round(exercise.right(), 2)).state == "right"
    for value, hint in exercise.hints:
        assert check(id, round(value(), 2)).message.endswith(hint)


def test_an_exercise_is_exact_at_its_edges(monkeypatch):
    hints = ((lambda: 6.0, "Six."), (lambda: 8.0, "Eight."))
    monkeypatch.setitem(EXERCISES, "99-a", Exercise(lambda: 4.0, 0.5, "units", hints, "Think."))
    for answer, says in [
        (3.5, "Right."), (4.5, "Right."), (4.501, "Not yet. Think."), (3.499, "Not yet. Think."),
        (5.5, "Not yet. Six."), (6.5, "Not yet. Six."), (8.5, "Not yet. Eight."), (math.inf, "Not yet. Think."),
        (math.nan, "Not yet. Think."), ("4", "Right."), (True, "Not yet. Think."),
    ]:  # fmt: skip
        assert check("99-a", answer).message == says, answer


@pytest.mark.parametrize("rubbish", ["eight", "", None, [8.0, 1], {}, 1j, 10**400, object, lambda: 8.0])
def test_rubbish_is_no_answer(rubbish):
    outcome = check("01-a", rubbish)
    assert outcome.state == "wrong"
    assert outcome.message.startswith("Give one number; this is ")


def test_an_unknown_exercise_is_an_error():
    with pytest.raises(KeyError, match="no exercise '01-z'; there is 01-a, 01-b, "):
        check("01-z", 1)


# --- claims ---


@pytest.mark.parametrize(
    ("quoted", "computed", "verdict"),
    [
        ("3.38", 3.3754, "holds"),
        ("3.38", 3.375001, "holds"),
        ("3.38", 3.384999, "holds"),
        ("3.38", 3.385001, "rounds differently"),
        ("3.38", 3.374999, "rounds differently"),
        ("3.38", 3.394999, "rounds differently"),
        ("3.38", 3.395001, "does not hold"),  # two off in the last digit
        ("8.15", 8.13998, "rounds differently"),
        ("1.9", 2.0, "does not hold"),  # one off in the last digit, and a twentieth of the whole
        ("1.9", 1.95, "does not hold"),
        ("2.0", 2.0, "holds"),
        ("2", 2.49, "holds"),
        ("100", 101.0, "rounds differently"),  # less than a hundredth of what was computed
        ("99", 100.0, "does not hold"),  # exactly a hundredth
        ("12,000", 12_000.4, "holds"),
        ("0.5", 0.4499, "does not hold"),
        ("-1.5", -1.46, "holds"),
        ("-1.5", 1.5, "does not hold"),
        ("0", 0.0, "holds"),
        ("36.9", 36.864, "holds"),
        ("1e3", 1499.0, "holds"),
    ],
)
def test_a_verdict_follows_from_the_digits_written(quoted, computed, verdict):
    assert compare_quoted(quoted, computed) == verdict


@pytest.mark.parametrize("computed", [math.nan, math.inf])
def test_no_verdict_rests_on_a_nan(computed):
    with pytest.raises(ValueError, match=f"{computed} was computed where 8.14 is quoted"):
        claim("a", "D1", "s", quoted="8.14", computed=computed)


@quick
@given(st.decimals(-1000, 1000, places=2))
def test_a_number_holds_for_itself_and_not_for_a_tenth_more(number):
    assert compare_quoted(str(number), float(number)) == "holds"
    if abs(number) > 1:
        assert compare_quoted(str(number), float(number) * 1.1) == "does not hold"


def test_a_condition_makes_what_holds_conditional():
    assert claim("a", "D1", "s", holds=True, computed="x").verdict == "holds"
    assert claim("a", "D1", "s", holds=True, computed="x", condition="c").verdict == "conditional"
    assert claim("a", "D1", "s", quoted="2", computed=2, condition="c").verdict == "conditional"
    assert claim("a", "D1", "s", holds=False, computed="x", condition="c").verdict == "does not hold"
    assert claim("a", "D1", "s", quoted="8.15", computed=8.14, condition="c").verdict == "rounds differently"
    assert claim("a", "D1", "s", measured=True, computed="x").verdict == "measured"


@pytest.mark.parametrize(
    "given",
    [{}, {"quoted": "1", "holds": True}, {"holds": True, "measured": True}, {"quoted": "1", "measured": True}],
)
def test_a_claim_is_judged_in_one_way(given):
    with pytest.raises(ValueError, match="claim idf-x: give one of"):
        claim("idf-x", "D1", "says", computed=1, **given)


def test_a_claim_has_a_source():
    with pytest.raises(ValueError, match="claim idf-x: no source 'D4'; the sources are D1, D2, D3"):
        claim("idf-x", "D4", "says", holds=True, computed=1)


def test_a_claim_shows_both_sides_and_carries_its_fields():
    stated = claim("idf-x", "D1", "It is 8.15.", quoted="8.15", computed=8.13998, show="{:.4f}")
    bundle = stated._repr_mimebundle_()
    page = soup(stated)
    assert page.select_one(".rk-claim.rk-rounds-differently")["id"] == "claim-idf-x"
    assert page.select_one("a[href='#claim-idf-x']").get_text() == "idf-x"
    assert texts(page, "dd") == ["It is 8.15.", "8.1400"]
    assert texts(page, "dt")[0].startswith("“BM25, bi-encoders and recall@k”")
    assert texts(page, "dt")[1:] == ["computed"]
    assert bundle["text/plain"].splitlines()[0] == "idf-x: rounds differently"
    assert (bundle[MIME]["id"], bundle[MIME]["computed"], bundle[MIME]["quoted"]) == ("idf-x", "8.1400", "8.15")

    wrong = claim("a", "D2", "s", holds=False, computed="x", condition="c", reference="r")
    assert texts(soup(wrong), "dt")[1:] == ["by reference", "it would hold", "see"]
    conditional = claim("a", "D2", "s", holds=True, computed="x", condition="c")
    assert texts(soup(conditional), "dt")[1:] == ["computed", "under the condition"]


def texts(page, tag):
    return [one.get_text() for one in page.select(tag)]


# --- figures ---


def test_a_picture_requires_alt_text():
    figure, axes = canvas()
    axes.plot([0, 1], [0, 1])
    with pytest.raises(TypeError, match="alt"):
        picture(figure)
    for short in ("", "   ", "a line", "a b c"):
        with pytest.raises(ValueError, match="say in a sentence what one would see"):
            picture(figure, alt=short)
    page = soup(picture(figure, alt="A line goes <up>.", caption="It & all")._repr_html_())
    assert page.select_one("svg[role=img]")["aria-label"] == "A line goes <up>."
    assert page.figcaption.get_text() == "It & all"
    assert not soup(picture(figure, alt="A line goes up.")._repr_html_()).select("figcaption")


def test_a_picture_takes_size_ink_and_type_from_the_page():
    figure, axes = canvas()
    axes.plot([0, 1], [0, 1], color="#0072B2")
    axes.set_xlabel("length")
    text = picture(figure, alt="A line goes up.").svg
    [svg] = soup(text).select("svg")
    assert not svg.has_attr("width")
    assert svg.has_attr("viewbox")
    assert svg["fill"] == "currentColor"
    for fixed in ("#000000", "font-family", "<metadata", "#0072b2;"):
        assert fixed not in text
    assert "var(--rk-lexical, #0072b2)" in text
    assert text == picture(figure, alt="A line goes up.").svg


# --- pieces of HTML ---


names = st.sampled_from(["data_key", "for_", "value", "title"])


@quick
@given(st.dictionaries(names, st.text() | st.integers() | st.booleans()))
def test_attributes_come_back_as_they_were(values):
    [tag] = BeautifulSoup(f"<i{attributes(**values)}></i>", "html.parser").select("i")
    expected = {}
    for name, value in values.items():
        if value is not False:
            expected[name.strip("_").replace("_", "-")] = "" if value is True else str(value)
    assert {name: html.unescape(value) for name, value in tag.attrs.items()} == expected


def test_a_key_depends_on_where_its_parts_end():
    assert key_of("ab", "c") != key_of("a", "bc")
    assert re.fullmatch("[0-9a-f]{10}", key_of("x"))
