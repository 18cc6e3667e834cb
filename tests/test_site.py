"""The built book in a real browser: nothing is fetched from elsewhere, and everything that asks to be moved moves."""

import gzip
import itertools
import re
from functools import cache
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from built import CHAPTERS, PAGES, settle

from ragkit.teach.exercises import EXERCISES, check
from ragkit.teach.explorers import Explorer, _layers

WIDTHS, THEMES = (1280, 390), ("light", "dark")
LOOKS = list(itertools.product(WIDTHS, THEMES))
each_page = pytest.mark.parametrize("name", PAGES)
each_chapter = pytest.mark.parametrize("name", CHAPTERS)


@pytest.fixture
def chapter(name, chapters):
    """What Python holds for the page."""
    return chapters[name.removeprefix("notebooks/")]


def show(page, theme, width=None):
    """The theme that the reader's system asks for; the page follows, and its colours have arrived."""
    if width:
        page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{theme}'")
    page.wait_for_function("document.getAnimations().every(one => one.playState !== 'running')")


@cache
def html(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


# --- nothing from elsewhere ---


def test_the_address_of_the_folder_leads_to_the_front_page(visit, site):
    page = visit().context.new_page()
    page.goto(site.url)
    page.wait_for_url(site.page("book/index"))
    assert page.locator("article h1").inner_text().startswith("Measuring retrieval")


@each_page
def test_a_page_names_no_other_host_for_what_it_loads(site, name):
    loads = {
        (tag.name, url)
        for tag in html(site.html / f"{name}.html").find_all(src=True)
        + html(site.html / f"{name}.html").select("link[href]")
        if re.match(r"(?:[a-z]+:)?//", url := tag.get("src") or tag["href"])
    }
    assert loads == set()


def test_the_guard_sees_what_it_guards_against(browser, site):
    """Were it blind, every other test in a browser would pass in silence."""
    from built import Visit

    opened = Visit(browser.new_context(), (site.url,))
    page = opened.open(site.page("book/index"))
    page.evaluate(
        """async () => {
          const script = document.head.appendChild(document.createElement("script"));
          script.text = "console.error('broken'); setTimeout(() => { throw new Error('thrown') })";
          for (const url of ["https://cdn.example/x.js", "/not-there.png"]) await fetch(url).catch(() => {});
          await new Promise(done => { new WebSocket("wss://cdn.example/x").onclose = done });
        }"""
    )
    assert opened.refused == ["https://cdn.example/x.js", "wss://cdn.example/x"]
    assert opened.failed == [f"{site.url}not-there.png"]
    assert {"broken", "thrown"} <= set(opened.errors)
    for what in ("leave this machine", "requests failed", "on the console"):
        with pytest.raises(AssertionError, match=what):
            opened.assert_quiet()
        {"l": opened.refused, "r": opened.failed, "o": opened.errors}[what[0]].clear()
    opened.assert_quiet()
    opened.context.close()


@each_page
def test_every_link_within_the_book_leads_somewhere(site, name):
    links = [tag["href"] for tag in html(site.html / f"{name}.html").select("article a[href]")]
    broken = []
    for link in links:
        url, anchor = urldefrag(urljoin(site.page(name), link))
        if url.startswith(site.url):
            path = site.html / unquote(urlsplit(url).path).lstrip("/")
            if not path.is_file() or (anchor and not html(path).find(id=unquote(anchor))):
                broken.append(link)
    assert broken == []


def test_every_claim_has_its_anchor_in_a_chapter_and_on_the_page_of_claims(site):
    stated = {
        (name, tag["id"]) for name in CHAPTERS for tag in html(site.html / f"{name}.html").select(".rk-claim[id]")
    }
    rows = html(site.html / "book/claims.html").select("table.rk-claims tr[id]")
    linked = {tuple(row.find("a")["href"].removeprefix("../").split(".html#")) for row in rows}
    assert stated == linked
    assert {row["id"] for row in rows} == {anchor for _, anchor in stated}


# --- what it weighs ---

OWN, SHARED = 350_000, 900_000  # bytes, compressed: the page with its own pictures; theme, formulas, fonts


def compressed(response):
    return len(gzip.compress(response.body(), 6, mtime=0))


def test_what_the_pages_weigh(visit, site, capsys):
    own, shared = {}, {}
    context = visit().context
    for name in PAGES:
        page = context.new_page()
        responses = []
        page.on("response", lambda response, to=responses: to.append(response))
        page.goto(site.page(name), wait_until="load")
        settle(page)
        own[name] = 0
        for response in responses:
            if "/_static/" not in response.url:
                own[name] += compressed(response)
            elif response.url not in shared:
                shared[response.url] = compressed(response)
        assert site.page(name) in [response.url for response in responses]
        page.close()
    with capsys.disabled():
        print("\ncompressed, in kB:", *(f"  {n / 1000:7.1f}  {name}" for name, n in own.items()), sep="\n")
        print(f"  {sum(shared.values()) / 1000:7.1f}  shared by all pages")
    assert any("mathjax" in url for url in shared)
    assert any(url.endswith(".woff2") for url in shared)
    assert {name: n for name, n in own.items() if n > OWN} == {}
    assert sum(shared.values()) <= SHARED


# --- explorers ---

STATE = """root => {
  const inputs = [...root.querySelectorAll("input")], text = query => root.querySelector(query).textContent;
  return {
    positions: inputs.map(input => +input.value),
    disabled: inputs.map(input => input.disabled),
    outputs: [...root.querySelectorAll("output")].map(output => output.textContent),
    spoken: inputs.map(input => input.getAttribute("aria-valuetext")),
    readout: text(".rk-readout"), call: text(".rk-call"),
    alt: root.querySelector(".rk-picture").getAttribute("aria-label"),
    picture: root.querySelector(".rk-moves").innerHTML
  };
}"""
PLACE = """(root, positions) => {
  const inputs = [...root.querySelectorAll("input")];
  inputs.forEach((input, i) => { input.value = positions[i] });
  inputs[0].dispatchEvent(new Event("input"));
}"""
MARKS = """root => [...root.querySelectorAll("svg :is(path, text, use)")].filter(mark => !mark.closest("defs"))
  .map(mark => [mark.tagName, ...["d", "x", "y"].map(name => mark.getAttribute(name)), mark.textContent])"""
# What Python drew, as this browser writes it.
REWRITTEN = """(root, all) => {
  const moves = root.querySelector(".rk-moves").cloneNode();
  return all.map(drawing => { moves.innerHTML = drawing; return moves.innerHTML; });
}"""


@cache
def computed(explorer: Explorer, positions: tuple[int, ...]):
    """What Python says for these positions of the sliders."""
    values = {c.name: c.values[at] for c, at in zip(explorer.controls, positions, strict=True)}
    frame = explorer.frame(**values)
    written = [c.written(values[c.name]) for c in explorer.controls]
    return {
        "outputs": written,
        "spoken": written,
        "readout": explorer.readout(frame),
        "call": explorer.call(frame),
        "alt": explorer.alt(frame),
    }


@cache
def drawn(explorer: Explorer, positions: tuple[int, ...]):
    """The marks that Python draws for these positions, axes and all."""
    values = {c.name: c.values[at] for c, at in zip(explorer.controls, positions, strict=True)}
    image = BeautifulSoup(explorer.image(explorer.frame(**values)), "html.parser")
    return {
        (mark.name, *(mark.get(name) for name in ("d", "x", "y")), mark.get_text())
        for mark in image.select("path, text, use")
        if not mark.find_parent("defs")
    }


MOVERS = {}


def movers(root, explorer):
    """What Python draws on the backdrop, by the positions of the sliders."""
    if explorer not in MOVERS:
        MOVERS[explorer] = dict(zip(places(explorer), root.evaluate(REWRITTEN, _layers(explorer)[1]), strict=True))
    return MOVERS[explorer]


def places(explorer):
    return list(itertools.product(*(range(len(control.values)) for control in explorer.controls)))


def look(root, explorer):
    """What an explorer shows, which must be what Python computes and draws for the positions of its sliders."""
    return compare(root, explorer, root.evaluate(STATE))


def compare(root, explorer, state):
    at = tuple(state["positions"])
    expected = computed(explorer, at)
    if explorer.measured:  # in another run of the chapter: the same words, with other numbers and units
        assert {name: words(state[name]) for name in expected} == {name: words(expected[name]) for name in expected}
        return state
    expected |= {"picture": movers(root, explorer)[at]}
    assert {name: state[name] for name in expected} == expected
    return state


def words(said):
    """What is said, with every number, and the unit of time behind it, made one sign."""
    return re.sub(r"\d[\d.,]*(?:e[+-]?\d+)?(?:\s(?:µs|ms|s|minutes|hours)\b)?", "#", str(said))


def paired(page, chapter):
    """The explorers of a page, each with the object that drew it."""
    roots = page.locator("article .rk-explorer").all()
    assert len(roots) == len(chapter.explorers) > 0
    return list(zip(roots, chapter.explorers, strict=True))


def thumb(slider):
    """Where the thumb of a slider stands, and where it would stand at a share of the way."""
    slider.scroll_into_view_if_needed()
    slider.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")  # at rest
    box = slider.bounding_box()
    most, now = (float(slider.evaluate(f"input => input.{name}")) for name in ("max", "value"))
    radius = 8  # of Chromium's own thumb

    def at(share):
        return box["x"] + radius + share * (box["width"] - 2 * radius), box["y"] + box["height"] / 2

    return at(now / most), at


@each_chapter
def test_an_explorer_moves_by_mouse_and_by_keyboard(visit, site, chapter, name):
    page = visit().open(site.page(name))
    for width, theme in LOOKS:
        show(page, theme, width)
        for root, explorer in paired(page, chapter):
            begin = look(root, explorer)
            assert begin["positions"] == [c.values.index(c.start) for c in explorer.controls]
            assert begin["disabled"] == [False] * len(explorer.controls)
            for number in range(len(explorer.controls)):
                move(page, root, explorer, number, begin, briefly=(width, theme) not in (LOOKS[0], LOOKS[-1]))
                root.evaluate(PLACE, begin["positions"])
                assert root.evaluate(STATE) == begin  # back where it was, and so is the page


def move(page, root, explorer, number, begin, briefly):
    """Take a slider to several places and back, and look at the page each time."""
    slider, control = root.locator("input").nth(number), explorer.controls[number]
    last, start = len(control.values) - 1, begin["positions"][number]
    away = 0.1 if start > last / 2 else 0.9
    states = [begin]

    def moved(to=None):
        states.append(look(root, explorer))
        before, now = (list(state["positions"]) for state in states[-2:])
        at = before.pop(number), now.pop(number)
        assert before == now  # the other sliders stand still
        if to is None:  # by mouse: a slider with few stops may be at the nearest one already
            assert at[0] != at[1] or (last < 5 and len(states) > 2)
        else:
            assert at[1] == to

    _, at = thumb(slider)
    page.mouse.click(*at(away))  # on the track
    moved()
    slider.focus()
    if briefly:
        page.keyboard.press("Home" if away > 0.5 else "End")
        moved(0 if away > 0.5 else last)
        return
    here, at = thumb(slider)
    page.mouse.move(*here)
    page.mouse.down()
    page.mouse.move(*at(0.5), steps=3)
    moved()  # while it is dragged, too
    page.mouse.move(*at(1 - away), steps=3)
    page.mouse.up()
    moved()

    for key, to in (("End", last), ("ArrowLeft", last - 1), ("Home", 0), ("ArrowRight", 1)):
        page.keyboard.press(key)
        moved(to)
    # A choice of what is drawn need not change the number; no place looks like another in everything, though.
    parts = ("readout", "call", "alt", "picture")
    seen = {what: len({state[what] for state in states}) for what in parts}
    pages = len({tuple(state[what] for what in parts) for state in states})
    places_seen = len({state["positions"][number] for state in states})
    assert pages == places_seen >= min(4, len(control.values)), f"{control.name} moves, and the page does not"
    assert min(seen["alt"], seen["picture"]) >= 2, f"{control.name} moves {seen}"

    if number + 1 < len(explorer.controls):
        page.keyboard.press("Tab")
        assert root.locator("input").nth(number + 1).evaluate("input => input === document.activeElement")


@each_chapter
def test_every_frame_of_an_explorer_is_the_one_that_python_computes(visit, site, chapter, name):
    page = visit().open(site.page(name))
    for root, explorer in paired(page, chapter):
        every = places(explorer)
        script = f"(root, all) => all.map(place => {{ ({PLACE})(root, place); return ({STATE})(root) }})"
        shown = [compare(root, explorer, state) for state in root.evaluate(script, every)]
        assert [tuple(state["positions"]) for state in shown] == every
        assert len(every) == len(list(explorer.grid()))
        # Backdrop and movers together, beside a picture drawn in one piece: that takes long.
        for place in [] if explorer.measured else every[::40]:
            root.evaluate(PLACE, place)
            assert {tuple(mark) for mark in root.evaluate(MARKS)} == drawn(explorer, place)


def test_a_reader_who_comes_back_finds_slider_and_picture_together(visit, site, chapters):
    """A browser restores what a form held, and no script hears of it."""
    page = visit().open(site.page("notebooks/02_saturation"))
    page.locator(".rk-explorer input").first.focus()
    page.keyboard.press("End")
    page.locator(".rk-predict input").first.check()
    page.goto(site.page("notebooks/01_rarity"))
    page.go_back(wait_until="load")
    [(root, explorer)] = paired(page, chapters["02_saturation"])
    look(root, explorer)
    assert page.locator(".rk-predict input:checked").count() == 0
    page.locator(".rk-predict input").first.check()
    assert page.locator(".rk-predict button").first.is_enabled()


@pytest.mark.parametrize("apart", [False, True], ids=["as shown", "elements before scripts"])
def test_two_copies_on_a_page_both_work(visit, site, chapters, apart):
    """Some viewers set all elements before they run a script, and some show one output twice."""
    chapter = chapters["02_saturation"]
    [explorer], prediction = chapter.explorers, chapter.predictions[0]
    made = [shown._repr_mimebundle_()["text/html"] for shown in (explorer, prediction)]
    pieces = [html for piece in made for html in (piece, piece)]
    if apart:
        split = [re.fullmatch(r"(.*?)(<script>.*</script>)", piece, re.S).groups() for piece in pieces]
        pieces = [element for element, _ in split] + [script for _, script in split]
    opened = visit()
    opened.context.route(
        f"{site.url}two.html",
        lambda route: route.fulfill(
            body="<!doctype html><html lang=en><meta charset=utf-8><title>Two</title><main><h1>Two</h1>"
            + "".join(pieces)
            + "</main>",
            content_type="text/html",
        ),
    )
    page = opened.open(f"{site.url}two.html")
    first, second = page.locator(".rk-explorer").all()
    begin = first.evaluate(STATE)
    for one, other in ((second, first), (first, second)):
        rest = other.evaluate(STATE)
        slider = one.get_by_label("k1")
        assert slider.count() == 1
        slider.focus()
        page.keyboard.press("End")
        now = look(one, explorer)
        assert now["readout"] != begin["readout"]
        assert other.evaluate(STATE) == rest

    right, wrong = page.locator(".rk-predict").all()
    right.locator("input").nth(prediction.right).check()
    wrong.locator("input").nth(prediction.right - 1).check()
    for root, says in ((wrong, "Not that one."), (right, "Right.")):
        root.get_by_role("button").click()
        assert root.locator(".rk-verdict").inner_text().startswith(says)
    assert violations(page, "main") == []


# --- predictions ---


@each_chapter
def test_a_prediction_reveals_when_the_reader_commits(visit, site, chapter, name):
    """Over the four looks every choice is taken by mouse and by keyboard."""
    page = visit().open(site.page(name))
    assert page.locator("article .rk-predict").count() == len(chapter.predictions) > 0
    assert max(len(prediction.choices) for prediction in chapter.predictions) <= len(LOOKS)
    as_written = [whole(root) for root in html(site.html / f"{name}.html").select("article .rk-predict")]
    for look, (width, theme) in enumerate(LOOKS):
        show(page, theme, width)
        for number, prediction in enumerate(chapter.predictions):
            root = page.locator("article .rk-predict").nth(number)
            commit(page, root, prediction, look % len(prediction.choices), by_mouse=True)
            root.evaluate(PUT_BACK, as_written[number])
            commit(page, root, prediction, (look + 2) % len(prediction.choices), by_mouse=False)
            root.evaluate(PUT_BACK, as_written[number])


def whole(root):
    """A part of a page as it is written, with the script that follows it."""
    return str(root) + str(root.find_next_sibling("script"))


PUT_BACK = "(root, html) => root.replaceWith(document.createRange().createContextualFragment(html))"


ASKED = """root => ({
  question: root.querySelector("legend").textContent,
  choices: [...root.querySelectorAll("label")].map(label => label.innerText),
  text: root.innerText,
  marks: [...root.querySelectorAll("label")].map(label => label.className),
  checked: [...root.querySelectorAll("input")].map(radio => radio.checked),
  disabled: [...root.querySelectorAll("input, button")].map(control => control.disabled),
  commit: root.querySelector("button").checkVisibility(),
  verdict: root.querySelector(".rk-verdict").innerText,
  answer: root.querySelector("details p").checkVisibility() && root.querySelector("details p").innerText,
  focus: root.contains(document.activeElement) && document.activeElement.tagName
})"""


def commit(page, root, prediction, chosen, by_mouse):
    count = len(prediction.choices)

    def undecided(may_commit):
        state = root.evaluate(ASKED)
        assert (state["question"], state["choices"]) == (prediction.question, list(prediction.choices))
        assert state["disabled"] == [False] * count + [not may_commit]
        assert state["commit"]
        assert (state["marks"], state["verdict"], state["answer"]) == ([""] * count, "", False)
        for told in (*prediction.reasons, prediction.reveal, "The answer", "Right.", "Not that one."):
            assert not told or told not in state["text"]

    undecided(may_commit=False)
    if by_mouse:
        root.locator("label").nth(chosen).click()  # its text serves as well as the circle
        undecided(may_commit=True)
        root.locator("button").click()
    else:
        root.locator("input").first.focus()
        for key in ("Space", *["ArrowDown"] * chosen):
            page.keyboard.press(key)
        undecided(may_commit=True)
        page.keyboard.press("Tab")
        assert root.evaluate(ASKED)["focus"] == "BUTTON"
        page.keyboard.press("Enter")

    state = root.evaluate(ASKED)
    assert state["checked"] == [number == chosen for number in range(count)]
    assert state["disabled"][:count] == [True] * count
    assert not state["commit"]
    marks = ["rk-right" if number == prediction.right else "" for number in range(count)]
    if chosen == prediction.right:
        assert state["verdict"] == "Right."
    else:
        assert state["verdict"] == f"Not that one. {prediction.reasons[chosen]}"
        marks[chosen] = "rk-wrong"
    assert state["marks"] == marks
    assert state["answer"] == f"{prediction.choices[prediction.right]}. {prediction.reveal}"
    assert state["focus"] == "SUMMARY"  # the button that had it is gone


# --- exercises ---


@each_chapter
def test_an_exercise_says_what_the_kernel_says(visit, site, name):
    page = visit().open(site.page(name))
    roots = page.locator("article .rk-exercise").all()
    ids = sorted(id for id in EXERCISES if name.startswith(f"notebooks/{id[:2]}"))
    assert len(roots) == len(ids) > 0
    for (width, theme), by_mouse in zip((LOOKS[0], LOOKS[-1]), (True, False), strict=True):
        show(page, theme, width)
        for root, id in zip(roots, ids, strict=True):
            answer(root, id, by_mouse)


def answer(root, id, by_mouse):
    exercise = EXERCISES[id]
    assert root.get_by_role("textbox", name=f"Your answer ({exercise.unit})").count() == 1
    field, button = root.locator("input"), root.locator("button")
    status = "root => [root.querySelector('[role=status]').innerText, root.classList.contains('rk-right')]"

    def says(written):
        field.fill(written)
        button.click() if by_mouse else field.press("Enter")
        return tuple(root.evaluate(status))

    assert by_mouse == (root.evaluate(status) == [check(id, ...).message, False])  # the first of the two rounds
    typed = [exercise.right() + 1e6, *(value() for value, _ in exercise.hints), exercise.right()]
    typed = typed if by_mouse else typed[-2:]  # once is enough for what all readers are told alike
    messages = set()
    for value in typed:
        written = f"{value:.6f}".rstrip("0").rstrip(".")
        outcome = check(id, float(written))
        assert says(written) == (outcome.message, outcome.state == "right")
        messages.add(outcome.message)
    assert outcome.state == "right"
    assert len(messages) == len(typed)  # each likely mistake has its own hint
    for rubbish in ("about eight", "8 apples", "1/9", "0,11", "1e1", "  ", ".")[: None if by_mouse else 1]:
        message, right = says(rubbish)
        assert message.startswith("Type one number"), rubbish
        assert not right
    assert says(f" {exercise.right():,.4f} ") == (exercise.praise, True)  # with commas between the thousands


# --- for every reader ---


# Not ours, and nothing that a reader meets: rule and element, with the reason.
TOLERATED = {
    ("aria-required-children", ".citation-list"),  # docutils writes a bibliography as a list of unlisted roles
}


def violations(page, within="article", **options):
    """What axe-core calls serious or critical in our own part of a page. The colours of code: see FAINT."""
    options = {"resultTypes": ["violations"], "preload": False, **options}
    leave = ["article .highlight"] if "runOnly" in options else []
    found = Axe().run(page, context={"include": [within], "exclude": leave}, options=options)
    return [
        (rule["id"], node["target"], node["failureSummary"])
        for rule in found.response["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
        if (rule["id"], *node["target"]) not in TOLERATED
    ]


@each_page
def test_a_page_fits_and_can_be_read_by_every_reader(visit, site, name):
    for width in WIDTHS:
        opened = visit(width)
        page = opened.open(site.page(name), whole=True)
        opened.assert_quiet()
        assert page.locator("article h1").count() == 1
        commit_everything(page)
        for theme in THEMES:
            show(page, theme)
            wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wider <= 0, f"{wider} px wider than a window of {width}"
            assert page.evaluate(CUT_OFF) == [], f"cut off at the right of a window of {width}"
            assert page.evaluate(FAINT) == [], (width, theme)
            if width == max(WIDTHS):  # colours do not depend on the width
                assert violations(page, runOnly=["color-contrast"]) == [], theme
        if width == min(WIDTHS):  # nothing else depends on the theme, and where it is narrow there is more of it
            assert violations(page, rules={"color-contrast": {"enabled": False}}) == []
        page.close()


# What ends right of the window though nothing lets a reader scroll to it.
CUT_OFF = """() => [...document.querySelectorAll("article *")].filter(element => {
  if (element.closest("svg") && element.tagName !== "svg" || element.closest("mjx-assistive-mml")) return false;
  if (element.getBoundingClientRect().right <= innerWidth + 1) return false;
  for (let box = element.parentElement; box && box.tagName !== "ARTICLE"; box = box.parentElement)
    if (/auto|scroll/.test(getComputedStyle(box).overflowX) && box.getBoundingClientRect().right <= innerWidth + 1)
      return false;
  return true;
}).map(element => element.outerHTML.slice(0, 200))"""


def commit_everything(page):
    """Wrong and right marks, reasons and answers are text as well."""
    for root in page.locator("article .rk-predict").all():
        root.locator("input").first.check()
        root.get_by_role("button").click()
    for root in page.locator("article .rk-exercise").all():
        root.locator("input").fill("0")
        root.get_by_role("button").click()


# Text that has less than 4.5 to 1 against what is behind it, where axe does not look (pictures) or takes long (code).
FAINT = """() => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = box => {
    const colour = numbers(getComputedStyle(box).backgroundColor);
    return colour[3] === 0 && box.parentElement ? behind(box.parentElement) : light(colour);
  };
  return [...document.querySelectorAll("article :is(svg text, .highlight pre, .highlight pre span)")].filter(text => {
    const style = getComputedStyle(text), colour = text.closest("svg") ? style.fill : style.color;
    const [low, high] = [light(numbers(colour)), behind(text)].sort((a, b) => a - b);
    return text.textContent.trim() && (high + 0.05) / (low + 0.05) < 4.5;
  }).map(text => text.textContent);
}"""


@each_chapter
def test_pictures_take_the_colour_of_the_text_around_them(visit, site, name):
    page = visit().open(site.page(name))
    seen = {}
    for theme in THEMES:
        show(page, theme)
        text = page.evaluate("getComputedStyle(document.querySelector('article p')).color")
        fills = page.evaluate(
            "[...document.querySelectorAll('article svg text')].map(text => getComputedStyle(text).fill)"
        )
        assert set(fills) == {text}
        behind = page.evaluate(
            """[...document.querySelectorAll("article :is(.rk-explorer, .rk-figure) svg")].flatMap(svg => {
              const found = [];
              for (let box = svg; box.tagName !== "ARTICLE"; box = box.parentElement)
                found.push(getComputedStyle(box).backgroundColor);
              return found;
            })"""
        )
        assert set(behind) == {"rgba(0, 0, 0, 0)"}, "a picture stands on a card of its own"
        seen[theme] = [int(part) for part in re.findall(r"\d+", text)[:3]]
    assert max(seen["light"]) < 128 < min(seen["dark"])


@each_chapter
def test_without_javascript_a_page_shows_a_picture_and_its_answers(visit, site, chapter, name):
    page = visit(java_script_enabled=False).open(site.page(name))
    for root, explorer in paired(page, chapter):
        state = look(root, explorer)
        assert state["disabled"] == [True] * len(explorer.controls)
        assert state["positions"] == [c.values.index(c.start) for c in explorer.controls]
        box = root.locator("svg").bounding_box()
        assert min(box["width"], box["height"]) > 100
    for root, prediction in zip(page.locator("article .rk-predict").all(), chapter.predictions, strict=True):
        assert root.locator("input:enabled, button:enabled").count() == 0
        assert prediction.reveal not in root.inner_text()
        root.locator("summary").click()
        assert prediction.reveal in root.inner_text()
    assert page.locator("article .rk-exercise :is(input, button):enabled").count() == 0


@each_chapter
def test_from_a_stick_the_sliders_move_too(visit, site, chapter, name):
    page = visit().open((site.html / f"{name}.html").as_uri(), whole=True)
    for root, explorer in paired(page, chapter):
        begin = root.evaluate(STATE)
        root.locator("input").first.focus()
        page.keyboard.press("End" if begin["positions"][0] == 0 else "Home")
        now = look(root, explorer)
        assert now["readout"] != begin["readout"]
    formulas = page.locator("article mjx-container")
    assert formulas.count() >= len(html(site.html / f"{name}.html").select("article .math"))
    assert all(formula.is_visible() for formula in formulas.all())


# --- said out loud ---


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("notebooks/01_rarity", "8.15", r"is 8\.14, not 8\.15"),
        ("notebooks/02_saturation", "1.9", r"is 2\.0, not 1\.9"),
    ],
)
def test_where_the_source_is_wrong_the_page_says_so(visit, site, name, wrong, said):
    text = visit().open(site.page(name)).locator("article").inner_text()
    assert f"about {wrong}" in text  # what the source says
    assert re.search(said, text)
