"""The standing proof against kills: ``python -m trust.kill --count 200 --out kill.json``.

Commands are killed before every rename of a file and at random moments, by SIGKILL, SIGINT and SIGTERM,
and run again until they end. The result must be that of a run in peace, bit for bit, and no file may be
left over.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from trust.promises import Promise, show, write

SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
SECONDS = 300

# Runs a command, and kills it before the n-th rename inside its folder; −1 never does.
RUN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
left, here = [int(sys.argv.pop(1))], os.getcwd()
def before_rename(event, arguments):
    if event == "os.rename" and os.path.abspath(os.fsdecode(arguments[1])).startswith(here):
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
sys.addaudithook(before_rename)
from vebnn.serialization import files
exchange = files.exchange
def audited(first, second):
    sys.audit("os.rename", first, second, -1, -1)
    done = exchange(first, second)
    sys.audit("os.rename", first, second, -1, -1)
    return done
files.exchange = audited
from vebnn.cli import app
app()
"""


class Command(NamedTuple):
    """A command to kill."""

    name: str
    arguments: list[str]
    read: Callable[[Path], Any]  # its result in a folder, to compare


def read_model(folder: Path) -> dict[str, bytes]:
    """Return the files of a model."""
    return {path.name: path.read_bytes() for path in (folder / "m").iterdir()}


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Return rows of results without their times."""
    rows = map(json.loads, (folder / "rows.jsonl").read_text().splitlines())
    return [{name: row[name] for name in row if name != "seconds"} for row in rows]


def read_simulation(folder: Path) -> dict[str, bytes]:
    """Return the arrays of a simulation."""
    import numpy as np

    with np.load(folder / "p" / "material_1.npz") as arrays:
        return {name: arrays[name].tobytes() for name in arrays}


def commands() -> list[Command]:
    """Return the commands that keep something to resume from."""
    fit = "fit alloys.csv --target strength_MPa --effort quick --out m --resume --json"
    bench = "bench toy --seeds 2 --out rows.jsonl"
    simulate = "simulate plasticity --train 6 --test 1 --sves 2 --grid 8 --steps 6 --workers 2 --out p"
    return [
        Command("fit", fit.split(), read_model),
        Command("bench", bench.split(), read_results),
        Command("simulate", simulate.split(), read_simulation),
    ]


class Trial(NamedTuple):
    """One killed command, run again until its end."""

    command: str
    how: str  # the signal, or "rename 3"
    hit: bool  # whether it was killed before its end
    outcome: str


def start(command: Command, folder: Path, renames: int = -1) -> subprocess.Popen[str]:
    """Start a command in a folder, to be killed before a rename unless that is −1."""
    words = [sys.executable, "-c", RUN, str(renames), *command.arguments]
    silent: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(words, cwd=folder, text=True, **silent)


def fresh_folder(parent: Path) -> Path:
    """Return a new folder with the rows to fit."""
    from examples.alloys import alloys

    folder = Path(tempfile.mkdtemp(dir=parent))
    alloys().to_csv(folder / "alloys.csv", index=False)
    return folder


def names_in(folder: Path) -> set[str]:
    """Return the names of all files in a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def finish(command: Command, folder: Path, complaint: str, reference: tuple[Any, set[str]]) -> str:
    """Run a killed command again; return what came of it."""
    again = start(command, folder)
    _, words = again.communicate(timeout=SECONDS)
    if again.returncode:
        return f"failed: {words.strip()[-200:]}"
    if command.read(folder) != reference[0]:
        return "different"
    if stray := names_in(folder) ^ reference[1]:
        return f"stray: {min(stray)}"
    return "identical, but with a traceback" if "Traceback" in complaint else "identical"


def trial(
    command: Command, parent: Path, reference: tuple[Any, set[str]], how: str, wait: float, number: int
) -> Trial:
    """Kill a command before a rename (``number``), or by a signal after a while."""
    folder = fresh_folder(parent)
    try:
        process = start(command, folder, number)
        if number < 0:
            time.sleep(wait)
            process.send_signal(signal.Signals[how])
        _, complaint = process.communicate(timeout=SECONDS)
        outcome = finish(command, folder, complaint, reference)
    except subprocess.TimeoutExpired:
        process.kill()
        outcome = "hang"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Trial(command.name, how, process.returncode != 0, outcome)


def run(count: int, seed: int, names: list[str]) -> list[Trial]:
    """Kill commands ``count`` times: before every rename first, then at random moments."""
    chance, trials = random.Random(seed), []
    with tempfile.TemporaryDirectory() as parent:
        chosen = [command for command in commands() if command.name in names]
        references, seconds = {}, {}
        for command in chosen:
            for _ in "compile, measure":
                folder = fresh_folder(Path(parent))
                started = time.monotonic()
                _, complaint = (process := start(command, folder)).communicate(timeout=SECONDS)
                if process.returncode:
                    raise RuntimeError(complaint)
                seconds[command.name] = time.monotonic() - started
            references[command.name] = command.read(folder), names_in(folder)
            number, hit = 0, True
            while hit and len(trials) < count:
                how = f"rename {number}"
                one = trial(command, Path(parent), references[command.name], how, 0, number)
                number, hit = number + 1, one.hit
                trials += [one] if hit else []
        while len(trials) < count:
            command = chosen[len(trials) % len(chosen)]
            how, wait = chance.choice(SIGNALS).name, chance.uniform(0, seconds[command.name])
            trials.append(trial(command, Path(parent), references[command.name], how, wait, -1))
    return trials


def promises_of(trials: list[Trial]) -> list[Promise]:
    """Return what the trials show."""
    outcomes = Counter(one.outcome for one in trials)
    whole = sum(outcomes[name] for name in outcomes if name.startswith("identical"))
    hits = sum(one.hit for one in trials)
    bad = "; ".join(name for name in outcomes if not name.startswith("identical"))
    silent = outcomes["identical, but with a traceback"]
    return [
        Promise(
            "a killed command, run again, gives the same result and leaves no file",
            f"{whole} of {len(trials)} ({hits} killed before the end) {bad}".strip(),
            whole == len(trials),
        ),
        Promise("Ctrl-C prints no traceback", f"{silent} of {len(trials)} did", silent == 0),
    ]


def main() -> None:
    """Run the proof."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how often commands are killed")
    parser.add_argument("--seed", type=int, default=0, help="of the random moments")
    parser.add_argument("--commands", nargs="+", default=[one.name for one in commands()])
    parser.add_argument("--out", type=Path, default=Path("kill.json"), help="file for the figures")
    options = parser.parse_args()
    trials = run(options.count, options.seed, options.commands)
    promises = promises_of(trials)
    show("Kills", promises)
    counts = Counter((one.command, one.how.split()[0], one.outcome) for one in trials)
    write(options.out, promises, {"counts": [[*key, number] for key, number in counts.items()]})


if __name__ == "__main__":
    main()
