"""``vebnn simulate cells``: the real command, also when it is killed."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from tests.support.commands import one_sentence, run
from tests.support.processes import children_of, start, wait_for, wait_until_gone
from vebnn.bench.simulators.cells.generate import generate
from vebnn.bench.simulators.cells.plan import Plan

SIZES = {"train": 4, "validation": 2, "test": 3, "size": 32, "seed": 1}


def options(sizes: dict[str, int]) -> list[str]:
    return [word for name, size in sizes.items() for word in (f"--{name}", str(size))]


def contents(path: Path) -> tuple[bytes, bytes]:
    return path.read_bytes(), path.with_suffix(".json").read_bytes()


def test_real_command(tmp_path: Path) -> None:
    words = [*options(SIZES), "--workers", "1", "--out", "data"]
    finished = run("simulate", "cells", *words, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    for part in ("9/9 images", "Mean pixel (nuclei): ", "data/cells.npz", "cells.json"):
        assert part in finished.stdout
    alone = generate(Plan(**SIZES), tmp_path / "alone", num_workers=1)
    assert contents(tmp_path / "data" / "cells.npz") == contents(alone)
    with np.load(alone) as file:
        assert file["train_images"].shape == (4, 32, 32, 1)


def test_interrupted_and_killed_command_is_resumed(tmp_path: Path) -> None:
    sizes = SIZES | {"train": 495}  # five parts, some seconds of work
    words = ["simulate", "cells", *options(sizes), "--workers", "1", "--out", str(tmp_path)]
    parts = tmp_path / "cells.parts"

    def kept() -> list[Path]:
        return sorted(parts.glob("[0-9]*"))

    # Ctrl-C, as a terminal sends it
    first = start(*words)
    wait_for(lambda: len(kept()) > 0, first)
    os.killpg(first.pid, signal.SIGINT)
    _, complaint = first.communicate(timeout=60)
    assert first.returncode == 130
    assert complaint.startswith("vebnn: Interrupted.")
    after_first = len(kept())

    # killed outright
    words[words.index("--workers") + 1] = "2"
    second = start(*words)
    wait_for(lambda: len(kept()) > after_first, second)
    workers = children_of(second.pid)
    second.kill()
    second.communicate(timeout=60)
    wait_until_gone(workers, seconds=60)
    assert not (tmp_path / "cells.npz").exists()

    times = {path: path.stat().st_mtime_ns for path in kept()}
    reports: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        assert {path: path.stat().st_mtime_ns for path in times} == times  # nothing is drawn twice
        reports.append((done, total))

    resumed = generate(Plan(**sizes), tmp_path, num_workers=1, report=report)
    assert reports[0] == (100 * len(times), 500)
    assert reports[-1] == (500, 500)
    assert not parts.exists()
    with np.load(resumed) as file, np.load(generate(Plan(**SIZES), tmp_path / "few")) as few:
        assert len(file["train_images"]) == 495
        # Larger sets begin with smaller ones.
        np.testing.assert_array_equal(file["train_images"][:4], few["train_images"])
        np.testing.assert_array_equal(file["test_images"], few["test_images"])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("--train", "0"), "`train`"),
        (("--validation", "0"), "`validation`"),
        (("--test", "0"), "`test`"),
        (("--size", "300"), "`size` must be at most 256 pixels. Got 300"),
        (("--seed", "-1"), "`seed`"),
        (("--workers", "0"), "--workers"),
        (("--out", "{file}"), "exists"),
    ],
)
def test_wrong_options(call, wrong: tuple[str, str], words: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    filled = [word.format(file=file) for word in wrong]
    assert words in one_sentence(call("simulate", "cells", "--out", str(tmp_path), *filled))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_picture(call, tmp_path: Path) -> None:
    finished = call("simulate", "cells", *options(SIZES), "--show", "--out", str(tmp_path))
    assert finished.returncode == 0, finished.stderr
    assert (tmp_path / "cells.png").read_bytes().startswith(b"\x89PNG")
    assert "cells.png" in finished.stdout
    assert not list(tmp_path.glob("*.npz"))
