"""Ctrl-C that is never lost."""

import signal
import threading
from types import FrameType, TracebackType


class Interrupts:
    """A context that remembers a Ctrl-C whose KeyboardInterrupt was dropped.

    Python drops an exception raised while the garbage collector runs, and JAX registers a function that
    runs then, so a Ctrl-C is sometimes lost. :meth:`check` raises it again. Nothing changes outside the
    main thread or where the program has its own handler.
    """

    def __init__(self) -> None:
        self.pending = False  # whether a Ctrl-C came
        self._installed = False

    def __enter__(self) -> "Interrupts":
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._installed = usual and threading.current_thread() is threading.main_thread()
        if self._installed:
            signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(self, kind: type | None, error: object, trace: TracebackType | None) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raise KeyboardInterrupt if a Ctrl-C came."""
        if self.pending:
            raise KeyboardInterrupt

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.pending = True
        raise KeyboardInterrupt
