"""The command line in this process, because starting one takes seconds; and a real browser."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.support.commands import Finished
from vebnn.cli import app


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Callable[..., Finished]:
    def call(*arguments: str, **changes: str) -> Finished:
        monkeypatch.delenv("VEBNN_DATA", raising=False)
        for name, value in changes.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["vebnn", *arguments])
        with pytest.raises(SystemExit) as caught:
            app()
        return subprocess.CompletedProcess(arguments, caught.value.code, *capsys.readouterr())

    return call


def _chromium() -> str | None:
    """Find a browser; install Debian's where that is possible."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        for words in (["update"], ["install", "-y", "chromium"]):
            # Another test process may be installing it, too.
            command = ["apt-get", "-o", "DPkg::Lock::Timeout=300", *words]
            subprocess.run(command, capture_output=True, check=False)
        found = shutil.which("chromium")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real browser without a window."""
    path = _chromium()
    if path is None:
        sentence = "NO BROWSER: pages were not tested. Install Chromium: apt-get install chromium."
        print(f"\n{sentence}", file=sys.__stderr__)
        pytest.skip(sentence)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
