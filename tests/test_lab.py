"""The live face of an explorer, in JupyterLab: a slider calls Python, and the page shows what Python answers."""

import os
import secrets
import shutil
import socket
import subprocess
import sysconfig
import threading
from contextlib import contextmanager

import pytest
from bs4 import BeautifulSoup
from built import ROOT, Visit
from playwright.sync_api import expect

PATIENCE = 60  # seconds, for the server to answer and for a notebook to run


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    """JupyterLab on a copy of the notebooks, without anybody's settings: its address and its token."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    token = secrets.token_hex(16)
    environ = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    environ |= {"IPYTHONDIR": str(folder / "ipython"), "JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_TOKEN": token}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": folder / "notebooks",
        "LabApp.news_url": None,  # neither news nor updates nor a catalogue of extensions: all are elsewhere
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "LabApp.extension_manager": "readonly",
        "LabApp.expose_app_in_browser": True,
    }
    command = [shutil.which("jupyter", path=sysconfig.get_path("scripts")), "lab", "--no-browser", "--allow-root"]
    command += [f"--{name}={value}" for name, value in options.items()]
    with served(command, environ):
        yield f"http://127.0.0.1:{port}/", token


@contextmanager
def served(command, environ):
    """Run a server until the block ends; the block begins when it says that it is there."""
    said = []
    server = subprocess.Popen(
        command,
        env=os.environ | environ | {"PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    limit = threading.Timer(PATIENCE, server.kill)
    limit.start()
    for line in server.stdout:
        said.append(line)
        if "is running at" in line:
            break
    started = bool(said) and "is running at" in said[-1]  # before the thread below adds what is said later
    limit.cancel()
    rest = threading.Thread(target=lambda: said.extend(server.stdout), daemon=True)  # a full pipe would stop it
    rest.start()
    try:
        assert started, f"JupyterLab does not start:\n{''.join(said)[-4000:]}"
        yield
    finally:
        server.terminate()
        try:
            server.wait(PATIENCE)
        finally:
            server.kill()
            server.wait()
            rest.join()
            server.stdout.close()


@pytest.fixture
def notebook(browser, lab):
    """Open a notebook in JupyterLab and run all of its cells; gives the page when the last one has run."""
    url, token = lab
    visits = []

    def run(name):
        visits.append(Visit(browser.new_context(viewport={"width": 1280, "height": 1000}), (url,)))
        page = visits[-1].open(f"{url}lab/workspaces/{name}/tree/{name}.ipynb?token={token}")
        page.set_default_timeout(PATIENCE * 1000)
        page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.sessionContext.isReady")
        page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")
        page.wait_for_function(
            """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells
              .filter(cell => cell.cell_type === "code").every(cell => cell.execution_count)"""
        )
        return page

    yield run
    for visit in visits:
        refused = visit.refused
        visit.context.close()
        assert refused == [], f"these requests would leave this machine: {sorted(set(refused))}"


def assert_shows(page, explorer, **values):
    """The page shows the frame that Python computes for these values. It may take a moment to arrive."""
    frame = explorer.frame(**values)
    live = page.locator(".rk-live").filter(has_text=explorer.call(frame))
    expect(live.locator(".rk-readout")).to_have_text(explorer.readout(frame), timeout=PATIENCE * 1000)
    live.scroll_into_view_if_needed()
    expect(live.locator(".rk-call")).to_have_text(explorer.call(frame), use_inner_text=True)  # it is in sight
    assert live.locator(".rk-picture").get_attribute("aria-label") == explorer.alt(frame)
    drawn = BeautifulSoup(explorer.image(frame), "html.parser")
    assert live.locator("svg text").all_text_contents() == [text.get_text() for text in drawn.select("text")]
    paths = live.locator("svg path").evaluate_all("all => all.map(path => path.getAttribute('d'))")
    assert paths == [path["d"] for path in drawn.select("path")]
    assert page.locator(".rk-error").count() == 0
    return frame


def test_a_slider_calls_python(notebook, chapters):
    page = notebook("02_saturation")
    chapter = chapters["02_saturation"]
    [explorer] = chapter.explorers
    k1, tf = explorer.controls
    seen = [assert_shows(page, explorer)]
    sliders = page.get_by_role("slider")
    assert sliders.count() == len(explorer.controls)

    sliders.first.focus()
    page.keyboard.press("End")
    seen.append(assert_shows(page, explorer, k1=k1.values[-1]))
    page.keyboard.press("ArrowLeft")
    seen.append(assert_shows(page, explorer, k1=k1.values[-2]))
    sliders.last.focus()
    page.keyboard.press("Home")
    seen.append(assert_shows(page, explorer, k1=k1.values[-2], tf=tf.values[0]))
    assert len({explorer.readout(frame) for frame in seen}) == len(seen)

    # The parts that the page itself moves do so here as well, though JupyterLab has a use for most keys.
    root, prediction = page.locator(".rk-predict").first, chapter.predictions[0]
    root.get_by_role("radio").first.focus()
    for key in ("Space", *["ArrowDown"] * prediction.right, "Tab", "Enter"):
        page.keyboard.press(key)
    expect(root.locator(".rk-verdict")).to_have_text("Right.")
    root = page.locator(".rk-exercise").first
    root.get_by_role("textbox").focus()
    for key in ("7", "Tab", "Enter"):
        page.keyboard.press(key)
    expect(root.locator(".rk-verdict")).to_contain_text("Not yet.")


def test_a_text_box_calls_python(notebook, chapters):
    page = notebook("03_length")
    explorer = chapters["03_length"].explorers[-1]
    name, label, query = explorer.texts[0]
    before = assert_shows(page, explorer)
    box = page.get_by_label(label, exact=True)
    assert box.input_value() == query
    for asked in ("einsum", "matrix product"):
        box.fill(asked)
        box.press("Enter")
        after = assert_shows(page, explorer, **{name: asked})
        assert [len(rows) for rows in after["bars"].values()] == [len(asked.split())] * 2
        assert after["bars"] != before["bars"]
        before = after
