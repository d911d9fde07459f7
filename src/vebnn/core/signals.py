"""Ctrl-C that is not lost."""

import signal
import threading
from types import FrameType, TracebackType


class Interrupts:
    """A context in which Ctrl-C raises KeyboardInterrupt, and again until somebody has seen it.

    Python drops an exception raised while the garbage collector runs, and JAX has a function of its own
    run then: often enough, a Ctrl-C would pass unheard. Where the program has a handler of its own, and
    outside the main thread, where there are none, all is left as it was.

    Attributes:
      pending: whether one came.
    """

    def __init__(self) -> None:
        self.pending = False
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
        """Raise the interrupt that came and was dropped, if one was."""
        if self.pending:
            raise KeyboardInterrupt

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.pending = True
        raise KeyboardInterrupt
