"""What importing the library does besides defining names: it must be nothing.

Two processes: the first lists the modules of other projects that come with the library. The second
imports those, then watches the import of the library itself.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

IMPORT = "import vebnn\nfor name in vebnn.__all__: getattr(vebnn, name)"

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
# Audit events of CPython that change something outside the process, or start another.
FAMILIES = ("socket.", "subprocess.", "shutil.", "tempfile.", "_thread.start")
CALLS = "fork forkpty exec posix_spawn system putenv unsetenv mkdir rename remove rmdir link symlink"
EVENTS = {f"os.{call}" for call in (CALLS + " truncate utime chmod chown kill").split()}
TASKS = Path("/proc/self/task")  # Linux: also threads that are not Python's


def side_effects(code: str = IMPORT) -> list[str]:
    """Return what code does besides reading files, apart from what modules of others do."""
    return json.loads(_run("watch", code, _run("list", code)))


def _run(*words: str) -> str:
    """Run this file in a fresh process, which writes no compiled modules; return its last line."""
    command = [sys.executable, "-B", "-m", "trust.imports", *words]
    folder = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def foreign_modules(code: str) -> list[str]:
    """Run code; return the names of all modules but the library's, in the order of their import."""
    exec(code, {})
    own = ("vebnn", "trust", "__main__")
    return [name for name in sys.modules if name.split(".")[0] not in own]


def watch(code: str, modules: list[str]) -> list[str]:
    """Import modules, then run code; return what it did besides reading files."""
    warnings.simplefilter("ignore")
    for name in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    seen: list[str] = []

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING:
            seen.append(f"writes {arguments[0]}")
        elif event.startswith(FAMILIES) or event in EVENTS:
            seen.append(f"{event} {arguments}")

    before = _surroundings()
    sys.addaudithook(note)
    exec(code, {})
    effects, after = list(seen), _surroundings()
    effects += [f"changes {name}" for name in before if before[name] != after[name]]
    return effects


def _surroundings() -> dict[str, Any]:
    from jax._src.xla_bridge import backends_are_initialized

    return {
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "threads": len(list(TASKS.iterdir())) if TASKS.exists() else threading.active_count(),
        "JAX devices": backends_are_initialized(),
    }


if __name__ == "__main__":
    action, source, *more = sys.argv[1:]
    found = foreign_modules(source) if action == "list" else watch(source, json.loads(more[0]))
    print(json.dumps(found))
