"""The ``vebnn`` command.

It is outside the package, because importing that already takes most of a second, and Ctrl-C may come
then. Nothing is under way before and after the command: there, Ctrl-C just ends the process.
"""

import os
import signal
from typing import Any

_INTERRUPTED = 130


def main() -> None:
    """Import the command line and run a command."""
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if listens:  # a parent process may have Ctrl-C ignored
        signal.signal(signal.SIGINT, _end)
    from vebnn.cli import app

    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app()
    finally:
        if listens:
            signal.signal(signal.SIGINT, _end)


def _end(*_: Any) -> None:
    # An exception would pass through the initialisation of C extensions, which do not expect it.
    os.write(2, b"vebnn: Interrupted.\n")
    os._exit(_INTERRUPTED)
