"""One command that is killed and run again."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import psutil

SECONDS = 600  # a command that takes longer hangs
LEAVING_SECONDS = 10.0  # until the workers of a killed command must be gone

# The console script, which says when Python itself has started. Asked for a number, it kills itself
# before that change of a file in its folder: a rename, an opening for writing or a deletion. Temporary
# files, which begin with a dot, count when they are renamed.
RUN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
left, here, mine = int(sys.argv.pop(1)), os.getcwd(), os.getpid()
PLACES = {"os.rename": 1, "open": 0, "os.remove": 0, "os.rmdir": 0}
def before_change(event, arguments):
    global left
    if event not in PLACES or os.getpid() != mine or isinstance(arguments[0], int):
        return
    if event == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR):
        return
    place = os.path.abspath(os.fsdecode(arguments[PLACES[event]]))
    if event == "os.remove" and arguments[1] < 0 and not os.path.lexists(place):
        return
    if event == "open" and os.path.basename(place).startswith("."):
        return
    if place.startswith(here):
        if left == 0:
            os.kill(mine, signal.SIGKILL)
        left -= 1
if left >= 0:
    from vebnn.serialization import files
    exchange = files.exchange
    def audited(first, second):
        sys.audit("os.rename", first, second, -1, -1)
        return exchange(first, second)
    files.exchange = audited
    sys.addaudithook(before_change)
from vebnn_command import main
os.write(1, b"begun\\n")
main()
"""


class Command(NamedTuple):
    """A command to kill."""

    name: str
    arguments: str
    read: Callable[[Path], Any]  # its result in a folder, to compare
    finished: Callable[[Path], set[bytes]]  # what a kill must not lose
    start: Path  # a folder with the files it starts from


class Reference(NamedTuple):
    """A run in peace."""

    result: Any
    names: set[str]  # of all files
    seconds: float


class Kill(NamedTuple):
    """How and when a command is killed."""

    how: str  # the signal, or "change 3"
    wait: float = 0.0  # seconds before the signal
    change: int = -1  # of a file, before which the command kills itself; −1 for signals


class Trial(NamedTuple):
    """One killed command."""

    command: str
    how: str
    hit: bool  # whether it was killed before its end
    outcome: str  # of the command that was run again to its end
    complaint: str = ""  # what it printed when it was killed


class Folder(NamedTuple):
    """Where a command works, and the system's temporary folder for it."""

    work: Path
    temporary: Path

    def names(self) -> set[str]:
        """Return the names of all files in both."""
        return {str(path.relative_to(self.work.parent)) for path in self.work.parent.rglob("*")}


def fresh_folder(command: Command, parent: Path) -> Folder:
    """Return a new folder with the files that a command starts from."""
    place = Path(tempfile.mkdtemp(dir=parent))
    folder = Folder(place / "work", place / "temporary")
    shutil.copytree(command.start, folder.work)
    folder.temporary.mkdir()
    return folder


def start(command: Command, folder: Folder, change: int = -1) -> subprocess.Popen[str]:
    """Start a command, to be killed before a change unless that is −1; wait until it has begun."""
    own = {"TMPDIR": str(folder.temporary), "JOBLIB_TEMP_FOLDER": str(folder.temporary)}
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(change), *command.arguments.split()],
        cwd=folder.work,
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # by which its workers are found
    )
    if process.stdout:
        process.stdout.readline()
    return process


def run_in_peace(command: Command, parent: Path) -> Reference:
    """Run a command to its end."""
    folder = fresh_folder(command, parent)
    process = start(command, folder)
    started = time.monotonic()
    _, complaint = process.communicate(timeout=SECONDS)
    if process.returncode:
        raise RuntimeError(complaint)
    return Reference(command.read(folder.work), folder.names(), time.monotonic() - started)


def trials_of(
    command: Command, parent: Path, reference: Reference, kills: Iterable[Kill]
) -> list[Trial]:
    """Kill a command, run it again and kill that, and so on; then let it end."""
    folder = fresh_folder(command, parent)
    states, ended, killed, outcome = [command.finished(folder.work)], False, list[Trial](), ""
    try:
        for kill in kills:
            process = start(command, folder, kill.change)
            if kill.change < 0:
                time.sleep(kill.wait)
                process.send_signal(signal.Signals[kill.how])
            _, complaint = process.communicate(timeout=SECONDS)
            ended = process.returncode == 0
            killed.append(Trial(command.name, kill.how, not ended, "", complaint))
            states.append(command.finished(folder.work))
            outcome = outcome or ("" if leaves_nobody(process.pid) else "a worker is left")
            if ended:
                break
        outcome = outcome or end(command, folder, reference, ended)
        states.append(command.finished(folder.work))
    except subprocess.TimeoutExpired:
        end_session(process.pid)
        outcome = "hang"
    finally:
        shutil.rmtree(folder.work.parent, ignore_errors=True)
    if any(len(one) < len(states[0]) or not one <= states[0] | states[-1] for one in states):
        outcome = "something finished was lost"
    return [one._replace(outcome=outcome) for one in killed]


def end(command: Command, folder: Folder, reference: Reference, ended: bool) -> str:
    """Run a command to its end unless it has ended; return what came of it."""
    if not ended:
        again = start(command, folder)
        _, words = again.communicate(timeout=SECONDS)
        if again.returncode:
            return f"failed: {words.strip()[-200:]}"
    if command.read(folder.work) != reference.result:
        return "different"
    if stray := folder.names() ^ reference.names:
        return f"stray: {min(stray)}"
    return "identical"


def leaves_nobody(session: int) -> bool:
    """Wait until no process of a session is left; return whether that is so."""
    deadline = time.monotonic() + LEAVING_SECONDS
    while left := members(session):
        if time.monotonic() > deadline:
            return False
        psutil.wait_procs(left, timeout=0.1)
    return True


def members(session: int) -> list[psutil.Process]:
    """Return the processes of a session."""
    found = []
    for one in psutil.process_iter(["status"]):
        try:
            if os.getsid(one.pid) == session and one.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(one)
        except (ProcessLookupError, PermissionError):
            continue
    return found


def end_session(session: int) -> None:
    """End what is left of a command."""
    for one in members(session):
        one.kill()
