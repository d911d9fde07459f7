"""Ctrl-C before and after a command: the console script itself."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.commands import environment

# Ctrl-C while the module is imported, or when Python ends.
DURING_IMPORT = """
def hook(event, arguments):
    if event == "import" and arguments[0] == "{module}":
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
"""
AT_THE_END = "import atexit; atexit.register(os.kill, os.getpid(), signal.SIGINT)"
SCRIPT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
{moment}
from vebnn_command import main
main()
"""


@pytest.mark.parametrize(
    "moment",
    [*(DURING_IMPORT.format(module=name) for name in ("jaxlib", "typer", "pandas")), AT_THE_END],
    ids=["JAX", "typer", "later", "end"],
)
def test_control_c_is_one_sentence(moment: str, tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(moment=moment), "evaluate", "nothing", "nothing.csv"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 130
    assert finished.stderr.splitlines()[-1].startswith("vebnn: Interrupted.")
    assert "Traceback" not in finished.stderr
    assert "KeyboardInterrupt" not in finished.stderr


def test_it_is_the_console_script() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["scripts"] == {"vebnn": "vebnn_command:main"}
    assert (
        "src/vebnn_command.py" in project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    )
