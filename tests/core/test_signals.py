"""A Ctrl-C that comes while the garbage collector runs is heard a moment later."""

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from vebnn.core.signals import Interrupts
from vebnn.training import Observer
from vebnn.training.progress import Observers


@pytest.fixture(autouse=True)
def dropped(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[type]]:
    """Python's own handler, and the exceptions it drops."""
    kinds: list[type] = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(sys, "unraisablehook", lambda facts: kinds.append(facts.exc_type))
    yield kinds
    signal.signal(signal.SIGINT, before)


def interrupt_the_collector() -> None:
    def pressed(phase: str, facts: dict) -> None:
        if phase == "start":
            os.kill(os.getpid(), signal.SIGINT)

    gc.callbacks.append(pressed)
    gc.collect()
    gc.callbacks.remove(pressed)


def test_python_drops_an_interrupt_of_the_collector(dropped: list[type]) -> None:
    interrupt_the_collector()
    assert dropped == [KeyboardInterrupt]


class Listener(Observer):
    def __init__(self) -> None:
        self.heard: list[int | bool] = []

    def restore(self, stage: str, state: int) -> int:
        return state

    def report(self, stage: str, state: int, done: int, total: int, message: str) -> None:
        self.heard.append(done)

    def close(self, finished: bool) -> None:
        self.heard.append(finished)


def work(listener: Listener, interrupted_after: int) -> None:
    with Observers([listener]) as observers:
        for done in (1, 2, 3):
            observers.report("mean", 0, done, 3, "")
            if done == interrupted_after:
                interrupt_the_collector()


@pytest.mark.parametrize(("after", "heard"), [(1, [1, 2, False]), (3, [1, 2, 3, False])])
def test_observers_hear_a_dropped_interrupt_at_the_next_report_or_the_end(
    after: int, heard: list
) -> None:
    listener = Listener()
    with pytest.raises(KeyboardInterrupt):
        work(listener, after)
    assert listener.heard == heard
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_dropped_interrupt_is_not_printed_and_raised_soon(dropped: list[type]) -> None:
    def wait() -> None:
        with Interrupts():
            interrupt_the_collector()
            time.sleep(10)

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        wait()
    assert time.monotonic() - started < 5
    assert dropped == []


def test_other_dropped_exceptions_are_reported_as_before(dropped: list[type]) -> None:
    class Clumsy:
        def __del__(self) -> None:
            raise OSError("disk full")

    hook = sys.unraisablehook
    with Interrupts():
        Clumsy()
    assert dropped == [OSError]
    assert sys.unraisablehook is hook


def test_contexts_share_an_interrupt() -> None:
    def work_inside() -> None:
        listener = Listener()
        with Interrupts():
            try:
                work(listener, 1)
            finally:
                assert listener.heard == [1, 2, False]
                time.sleep(0.2)  # no second one comes while a checkpoint is written

    with pytest.raises(KeyboardInterrupt):
        work_inside()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handler_is_given_back_even_if_an_observer_fails() -> None:
    class Clumsy(Listener):
        def close(self, finished: bool) -> None:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        work(Clumsy(), interrupted_after=0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_interrupt_elsewhere_is_raised_where_it_came() -> None:
    after = []

    def pressed() -> None:
        with Interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            after.append("a line that should not be reached")

    with pytest.raises(KeyboardInterrupt):
        pressed()
    assert not after


def test_own_handler_and_other_threads_are_left_alone() -> None:
    heard = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    with Interrupts():
        os.kill(os.getpid(), signal.SIGINT)
    assert heard == [signal.SIGINT]

    def enter() -> None:
        with Interrupts():
            heard.append("fine")

    signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert heard == [signal.SIGINT, "fine"]
