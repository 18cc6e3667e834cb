"""Build the book: `python book/build.py`. Warnings are errors, and nothing stale is shown.

Jupyter's cache knows a notebook by its code alone: a change in `ragkit` would leave old numbers on the page. So this
script keeps a fingerprint of what the notebooks run on, and when it changes every notebook is executed again. Every
one, because what a notebook reaches in `ragkit` cannot be read off its imports: names are fetched lazily by string.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS_ON = ("ragkit", "requirements.txt")  # a change here: execute every notebook again
SHOWN_BY = ("_config.yml", "_toc.yml", "book/_ext", "book/_static", "book/_templates")  # here: write every page again


def digest(*names: str) -> str:
    """One hash over files and folders of the project."""
    total = hashlib.sha256(sys.version.encode())
    for name in names:
        below = (ROOT / name).rglob("*") if (ROOT / name).is_dir() else [ROOT / name]
        for path in sorted(path for path in below if path.is_file() and "__pycache__" not in path.parts):
            total.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def forget(build: Path, *names: str) -> None:
    """Remove folders of an earlier build."""
    for name in names:
        shutil.rmtree(build / name, ignore_errors=True)


def drop_stale(build: Path, fresh: bool) -> None:
    """Forget executed notebooks, and pages, that rest on something that has changed since."""
    memory = build / "fingerprints.json"
    before = json.loads(memory.read_text()) if memory.exists() else {}
    now = {"runs_on": digest(*RUNS_ON), "shown_by": digest(*SHOWN_BY)}
    if fresh or before.get("runs_on") != now["runs_on"]:
        forget(build, ".jupyter_cache", ".doctrees")
        print("executing every notebook" + ("" if fresh or not before else ": ragkit or its requirements changed"))
    if fresh or before.get("shown_by") != now["shown_by"]:
        forget(build, "html", ".doctrees")
    build.mkdir(parents=True, exist_ok=True)
    memory.write_text(json.dumps(now) + "\n")


def main() -> int:
    """Build, and say where the book is."""
    parser = argparse.ArgumentParser(description="Build the book; warnings are errors.")
    parser.add_argument("--output", type=Path, default=ROOT, metavar="DIR", help="build in DIR/_build, not in _build")
    parser.add_argument(
        "--fresh", action="store_true", help="execute every notebook again (always so when CI is set)"
    )
    options = parser.parse_args()
    build = options.output.resolve() / "_build"
    script = shutil.which("jupyter-book", path=sysconfig.get_path("scripts"))
    if script is None:
        print(f"jupyter-book is not installed for {sys.executable}: pip install -r requirements.txt", file=sys.stderr)
        return 1
    drop_stale(build, options.fresh or os.environ.get("CI", "").lower() in ("1", "true"))

    command = [script, "build", str(ROOT), "--path-output", str(build.parent), "-W", "-n", "--keep-going"]
    # The kernel of this environment, wherever else kernels may be registered.
    environ = os.environ | {"JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_PLATFORM_DIRS": "1", "PYTHONUTF8": "1"}
    sys.stdout.flush()
    status = subprocess.run(command, env=environ, check=False).returncode
    index = build / "html" / "index.html"
    if status or not index.exists():
        forget(build, ".doctrees")  # Sphinx would not repeat the warnings of pages that it has read
        print(
            f"the book was not built (jupyter-book ended with {status}); the warnings above say why", file=sys.stderr
        )
        return status or 1
    print(f"\nThe book: {index}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
