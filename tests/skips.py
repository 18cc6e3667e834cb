"""In CI a test that is skipped without a known reason fails the run: a green run must mean that everything ran.

Known reasons are lines `nodeid: reason` in allowed_skips.txt beside this file; a nodeid without its [parameters]
stands for all of them. Registered by `pytest_plugins = ["skips"]` in conftest.py. Without CI nothing is checked.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

ALLOWED = Path(__file__).with_name("allowed_skips.txt")


def allowed(lines: Iterable[str]) -> dict[str, str]:
    """Read `nodeid: reason` lines; empty lines and those that begin with # do not count."""
    known = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            nodeid, _, reason = line.partition(": ")
            if not reason.strip():
                raise pytest.UsageError(f"allowed_skips.txt line {number}: expected 'nodeid: reason', found {line!r}")
            known[nodeid.strip()] = reason.strip()
    return known


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI", "").lower() in ("1", "true"):
        lines = ALLOWED.read_text(encoding="utf-8").splitlines() if ALLOWED.exists() else []
        config.pluginmanager.register(NoSilentSkips(allowed(lines)), "ragkit-skips")


class NoSilentSkips:
    def __init__(self, known: dict[str, str]) -> None:
        self.known = known
        self.unknown: dict[str, str] = {}

    def note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        nodeid = report.nodeid
        if (
            report.skipped
            and not hasattr(report, "wasxfail")
            and not {nodeid, nodeid.split("[")[0]} & self.known.keys()
        ):
            self.unknown[nodeid] = str(report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.note(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unknown and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.unknown:
            terminalreporter.section("skipped without a known reason: the run fails", red=True)
            for nodeid, reason in self.unknown.items():
                terminalreporter.line(f"{nodeid}: {reason}")
            terminalreporter.line("Make it run, or add the line to tests/allowed_skips.txt with the reason.")
