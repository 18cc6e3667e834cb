"""Take a picture of every page, wide and narrow, light and dark: `python book/screenshots.py`.

The pictures go to _build/screenshots. They are for looking at: nothing is compared here.
"""

import argparse
import shutil
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, Route, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = {"wide": 1280, "narrow": 390}


class Quiet(SimpleHTTPRequestHandler):
    """A file server that logs nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def shoot(browser: Browser, site: str, pages: list[str], target: Path) -> int:
    """Every page in four pictures; returns how many requests left this machine."""
    gone: list[str] = []

    def local_only(route: Route) -> None:
        if route.request.url.startswith((site, "data:", "blob:")):
            route.continue_()
        else:
            gone.append(route.request.url)
            route.abort()

    for theme in ("light", "dark"):
        for name, width in WIDTHS.items():
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
            )
            context.route("**/*", local_only)
            context.add_init_script(
                f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
            )
            tab = context.new_page()
            for page in pages:
                tab.goto(f"{site}/{page}", wait_until="load")
                tab.evaluate("() => window.MathJax?.startup?.promise")
                tab.evaluate("() => document.fonts.ready")
                tab.wait_for_function("() => document.getAnimations().length === 0")
                path = target / f"{page.removesuffix('.html').replace('/', '-')}-{name}-{theme}.png"
                tab.screenshot(path=path, full_page=True, animations="disabled")
                over = tab.evaluate(
                    "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
                )
                print(f"{path.name}" + (f"   {over} px wider than the window" if over > 0 else ""))
            context.close()
    for url in sorted(set(gone)):
        print(f"refused, not local: {url}", file=sys.stderr)
    return len(gone)


def main() -> int:
    """Serve the built book on this machine and visit its pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--output", type=Path, default=ROOT, metavar="DIR", help="where the book was built: DIR/_build"
    )
    build = parser.parse_args().output.resolve() / "_build"
    html, target = build / "html", build / "screenshots"
    pages = [
        p.relative_to(html).as_posix() for folder in ("book", "notebooks") for p in (html / folder).glob("*.html")
    ]
    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
    )
    if not pages or chromium is None:
        print("needs a built book (make book)" if not pages else "needs chromium on the PATH", file=sys.stderr)
        return 1
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(html))) as server,
        sync_playwright() as play,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        gone = shoot(browser, f"http://127.0.0.1:{server.server_port}", sorted(pages), target)
        browser.close()
        server.shutdown()
    print(f"\n{4 * len(pages)} pictures in {target}")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
