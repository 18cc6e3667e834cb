"""The notebooks, executed once a test session, each in a kernel of its own that runs in `notebooks/`."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


def execute(path: Path, target: Path, cwd: Path = NOTEBOOKS) -> None:
    """Execute a notebook and write it, with its outputs, to `target`. CellExecutionError where a cell raises."""
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(cwd)}}).execute()
    nbformat.write(notebook, target)


def execute_apart(path: Path, target: Path) -> Path:
    """The same in a process of its own, which takes the client's event loop and sockets with it."""
    environ = os.environ | {"JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_PLATFORM_DIRS": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, __file__, str(path), str(target)]
    run = subprocess.run(command, env=environ, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, f"{path.name} does not run through:\n{run.stderr[-4000:]}"
    return target


@pytest.fixture(scope="session")
def executed_notebooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the executed notebooks of the book, each under its own name."""
    folder = tmp_path_factory.mktemp("executed")
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(lambda path: execute_apart(path, folder / path.name), sorted(NOTEBOOKS.glob("*.ipynb"))))
    return folder


if __name__ == "__main__":
    execute(Path(sys.argv[1]), Path(sys.argv[2]))
