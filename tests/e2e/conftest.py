"""The command line in this process: starting one takes seconds."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from commands import Finished
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
