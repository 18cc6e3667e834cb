"""The book built afresh once a test session, served on this machine, and opened in the system's Chromium.

Registered by `pytest_plugins` in conftest.py. The notebooks that the build executes serve the prose check as well.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Route, sync_playwright

ROOT = Path(__file__).resolve().parent.parent

_toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [_toc["root"], *(entry["file"] for part in _toc["parts"] for entry in part["chapters"])]
CHAPTERS = [page for page in PAGES if page.startswith("notebooks/")]

_spec = importlib.util.spec_from_file_location("screenshots", ROOT / "book/screenshots.py")
screenshots = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(screenshots)

# What the theme says on every page; it harms nothing. Anything else on the console is an error of ours.
HARMLESS = (
    "Identifier 'THEBE_JS_URL' has already been declared",  # sphinx-thebe writes one line twice
    "Got invalid theme mode: . Resetting to auto.",  # pydata-sphinx-theme, on a reader's first visit
)


class Build:
    """A build of the book that runs beside the first tests: it takes a while, and there is more than one core."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = (folder / "log").open("w+", encoding="utf-8", errors="replace")
        command = [sys.executable, str(ROOT / "book/build.py"), "--output", str(folder)]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)

    def finished(self) -> Path:
        """Wait for it; the folder of what was built."""
        status = self.process.wait()
        self.log.seek(0)
        assert status == 0, f"the book does not build:\n{self.log.read()[-8000:]}"
        return self.folder / "_build"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.log.close()


build = pytest.StashKey[Build]()
GIVEN = os.environ.get("RAGKIT_BUILT", "") if not os.environ.get("CI") else ""  # an output folder of book/build.py


def pytest_collection_finish(session: pytest.Session) -> None:
    wanted = any("built" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and not GIVEN and not session.config.option.collectonly:
        session.config.stash[build] = Build(Path(tempfile.mkdtemp(prefix="ragkit-book-")))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if begun := session.config.stash.get(build, None):
        begun.end()
        shutil.rmtree(begun.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def built(pytestconfig: pytest.Config) -> Path:
    """The `_build` folder of a fresh build of the book, which executed every notebook.

    While a page is being written, `RAGKIT_BUILT` may name a build that is there already, and not in CI.
    """
    return Path(GIVEN, "_build") if GIVEN else pytestconfig.stash[build].finished()


@pytest.fixture(scope="session")
def executed_notebooks(built: Path) -> Path:
    """The folder of the executed notebooks of the book, each under its own name."""
    folder = built / "jupyter_execute/notebooks"
    names = {path.name for path in folder.glob("*.ipynb")}
    assert names == {f"{Path(chapter).name}.ipynb" for chapter in CHAPTERS}, "not every notebook was executed"
    return folder


@dataclass(frozen=True)
class Site:
    """The built pages: as files, and at an address of this machine."""

    html: Path
    url: str

    def page(self, name: str) -> str:
        return f"{self.url}{name}.html"

    def text(self, name: str) -> str:
        return (self.html / f"{name}.html").read_text(encoding="utf-8")


class Server(ThreadingHTTPServer):
    """A file server that is silent when a browser hangs up."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@pytest.fixture(scope="session")
def site(built: Path) -> Iterator[Site]:
    """The book, served on a free port."""
    html = built / "html"
    with Server(("127.0.0.1", 0), partial(screenshots.Quiet, directory=str(html))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Site(html, f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
        thread.join()


def chromium() -> str | None:
    """The browser of this machine; the tests download none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium. In CI a skip is a failure: see skips.py."""
    path = chromium()
    if path is None:
        pytest.skip("no chromium on the PATH: nothing is tested in a browser (on Debian: apt install chromium)")
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=path, args=screenshots.FLAGS)
        yield opened
        opened.close()


@dataclass
class Visit:
    """A browser that reaches this machine only, and what went on in it."""

    context: BrowserContext
    here: tuple[str, ...]  # addresses that may be asked
    refused: list[str] = field(default_factory=list)  # requests that would have left this machine
    failed: list[str] = field(default_factory=list)  # requests for what is not there
    errors: list[str] = field(default_factory=list)  # on the console

    def __post_init__(self) -> None:
        self.context.route("**/*", self._route)
        self.context.route_web_socket(re.compile(".*"), self._web_socket)
        self.context.on("console", self._console)
        self.context.on("weberror", lambda error: self._error(error.error.message))
        self.context.on("response", lambda got: self.failed.append(got.url) if got.status >= 400 else None)
        self.context.on("requestfailed", self._request_failed)

    def _local(self, url: str) -> bool:
        return url.startswith((*self.here, "data:", "blob:", "about:"))

    def _route(self, route: Route) -> None:
        if self._local(route.request.url):
            route.continue_()
        else:
            self.refused.append(route.request.url)
            route.abort()

    def _web_socket(self, socket: object) -> None:
        if self._local(socket.url.replace("ws:", "http:", 1)):
            socket.connect_to_server()
        else:
            self.refused.append(socket.url)
            socket.close()

    def _request_failed(self, request: Request) -> None:
        if self._local(request.url) and request.failure != "net::ERR_ABORTED":  # aborted: the page was left
            self.failed.append(f"{request.url}: {request.failure}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._error(message.text)

    def _error(self, text: str) -> None:
        if text not in HARMLESS:
            self.errors.append(text)

    def open(self, url: str, whole: bool = False) -> Page:
        """A new tab at this address; `whole` waits until its formulas and fonts are there, too."""
        page = self.context.new_page()
        page.set_default_timeout(15_000)
        page.goto(url, wait_until="load" if whole else "domcontentloaded")
        if whole:
            settle(page)
        return page

    def assert_quiet(self) -> None:
        assert not self.refused, f"these requests would leave this machine: {sorted(set(self.refused))}"
        assert not self.failed, f"these requests failed: {self.failed}"
        assert not self.errors, f"on the console: {self.errors}"


def settle(page: Page) -> None:
    """Wait until formulas are set and fonts are there."""
    page.evaluate("async () => { await window.MathJax?.startup?.promise; await document.fonts.ready }")


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Callable[..., Visit]]:
    """Call it for a context of the browser. When the test ends, none may have asked elsewhere or met an error."""
    visits: list[Visit] = []

    def begin(width: int = 1280, theme: str = "light", **options: object) -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, service_workers="block", **options
        )
        visits.append(Visit(context, (site.url, f"{site.html.as_uri()}/")))
        return visits[-1]

    yield begin
    for one in visits:
        one.context.close()
    for one in visits:
        one.assert_quiet()
