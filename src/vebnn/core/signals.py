"""Ctrl-C that is never lost."""

import _thread
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

_AGAIN_SECONDS = 0.05  # until a dropped interrupt is raised again, if no check comes first


class Interrupts:
    """A context that remembers a Ctrl-C whose KeyboardInterrupt was dropped.

    Python drops an exception raised while the garbage collector or a destructor runs, and prints it.
    JAX registers a function that runs then, so a Ctrl-C is sometimes lost. :meth:`check` raises it
    again; if none comes, it is raised a moment later. Nothing changes outside the main thread or where
    the program has its own handler. A context inside another one shares its Ctrl-C.
    """

    def __init__(self) -> None:
        self._shared = self  # the outermost context
        self._came = False  # whether a Ctrl-C came
        self._raised = False  # whether it was raised where it is not dropped
        self._installed = False
        self._hook: Callable[[Any], object] = sys.unraisablehook
        self._again: threading.Timer | None = None

    @property
    def pending(self) -> bool:
        """Whether a Ctrl-C came."""
        return self._shared._came

    def __enter__(self) -> "Interrupts":
        handler = signal.getsignal(signal.SIGINT)
        main = threading.current_thread() is threading.main_thread()
        outer = getattr(handler, "__self__", None)
        if main and isinstance(outer, Interrupts):
            self._shared = outer
        self._installed = main and handler is signal.default_int_handler
        if self._installed:
            self._hook, sys.unraisablehook = sys.unraisablehook, self._dropped
            signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(self, kind: type | None, error: object, trace: TracebackType | None) -> None:
        if self._installed:
            self._raised = True  # from here on by this method
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.unraisablehook = self._hook
            if self._again is not None:
                self._again.cancel()
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raise KeyboardInterrupt if a Ctrl-C came."""
        if self.pending:
            self._shared._raised = True
            raise KeyboardInterrupt

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._came = self._raised = True
        raise KeyboardInterrupt

    def _dropped(self, facts: Any) -> None:
        """Take note of an interrupt that Python drops, instead of printing it."""
        if not (self._came and facts.exc_type is KeyboardInterrupt):
            self._hook(facts)
            return
        self._raised = False
        self._again = threading.Timer(_AGAIN_SECONDS, self._raise_again)
        self._again.daemon = True
        self._again.start()

    def _raise_again(self) -> None:
        if self._raised:
            return
        if hasattr(signal, "pthread_kill"):  # it also ends a wait of the main thread
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:  # Windows
            _thread.interrupt_main()
