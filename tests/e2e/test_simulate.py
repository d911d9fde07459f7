"""``vebnn simulate``: the real command, also when it is killed."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.commands import one_sentence, run
from tests.support.processes import children_of, start, wait_for, wait_until_gone
from vebnn.bench.simulators.plasticity.generate import generate
from vebnn.bench.simulators.plasticity.plan import Plan

SIZES = {"material": 2, "train": 4, "test": 2, "sves": 3, "grid": 8, "steps": 6, "seed": 1}


def options(sizes: dict[str, int]) -> list[str]:
    return [word for name, size in sizes.items() for word in (f"--{name}", str(size))]


def contents(path: Path) -> tuple[bytes, bytes]:
    return path.read_bytes(), path.with_suffix(".json").read_bytes()


def test_real_command(tmp_path: Path) -> None:
    words = [*options(SIZES), "--workers", "1", "--out", "data"]
    finished = run("simulate", "plasticity", *words, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    for part in ("10/10 paths", "Noise:", "Largest residual", "data/material_2.npz"):
        assert part in finished.stdout
    alone = generate(Plan(**SIZES), tmp_path / "alone", num_workers=1)
    assert contents(tmp_path / "data" / "material_2.npz") == contents(alone)


def test_interrupted_and_killed_command_is_resumed(tmp_path: Path) -> None:
    sizes = SIZES | {"train": 794}  # some seconds of work, so that there is time to stop it
    words = ["simulate", "plasticity", *options(sizes), "--workers", "2", "--out", str(tmp_path)]
    parts = tmp_path / "material_2.parts"

    def kept() -> list[Path]:
        return sorted(parts.glob("[0-9]*"))

    # Ctrl-C, as a terminal sends it
    first = start(*words)
    wait_for(lambda: len(kept()) > 0, first)
    os.killpg(first.pid, signal.SIGINT)
    _, complaint = first.communicate(timeout=60)
    assert first.returncode == 130
    assert complaint.startswith("vebnn: Interrupted.")
    assert complaint.count("\n") == 1
    after_first = len(kept())

    # killed outright
    second = start(*words)
    wait_for(lambda: len(kept()) > after_first, second)
    workers = children_of(second.pid)
    second.kill()
    second.communicate(timeout=60)
    assert len(workers) >= 2
    wait_until_gone(workers, seconds=60)
    assert not (tmp_path / "material_2.npz").exists()

    times = {path: path.stat().st_mtime_ns for path in kept()}
    seen: dict[Path, int] = {}
    reports: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        reports.append((done, total))
        seen.update({path: path.stat().st_mtime_ns for path in times})

    resumed = generate(Plan(**sizes), tmp_path, num_workers=1, report=report)
    assert reports[0] == (5 * len(times), 800)
    assert reports[-1] == (800, 800)
    assert seen == times  # nothing was computed twice
    assert not parts.exists()
    again = generate(Plan(**sizes), tmp_path / "again", num_workers=1)
    assert contents(resumed) == contents(again)


def test_failure_in_another_process_is_one_sentence(call, tmp_path: Path) -> None:
    words = [*options(SIZES), "--max-newton", "1", "--workers", "2", "--out", str(tmp_path)]
    finished = call("simulate", "plasticity", *words)
    assert finished.returncode == 2
    assert finished.stderr.count("\n") == 1
    assert "did not converge" in finished.stderr
    assert not (tmp_path / "material_2.npz").exists()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("--material", "3"), "`material` must be 1 or 2. Got 3"),
        (("--train", "0"), "`train`"),
        (("--test", "0"), "`test`"),
        (("--sves", "1"), "`sves` must be a whole number of at least 2"),
        (("--grid", "3"), "`grid`"),
        (("--steps", "0"), "`steps`"),
        (("--seed", "-1"), "`seed`"),
        (("--max-newton", "0"), "`max_newton`"),
        (("--workers", "0"), "--workers"),
        (("--grid", "many"), "--grid"),
        (("--out", "{file}"), "exists"),
    ],
)
def test_wrong_options(call, wrong: tuple[str, str], words: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    filled = [word.format(file=file) for word in wrong]
    assert words in one_sentence(call("simulate", "plasticity", "--out", str(tmp_path), *filled))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_pictures(call, tmp_path: Path) -> None:
    finished = call("simulate", "plasticity", *options(SIZES), "--show", "--out", str(tmp_path))
    assert finished.returncode == 0, finished.stderr
    for name in ("fields", "paths"):
        assert (tmp_path / f"material_2_{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"material_2_{name}.svg").stat().st_size > 10_000
        assert f"material_2_{name}.png" in finished.stdout
    assert not list(tmp_path.glob("*.npz"))
