"""Processes that were forked after JAX had started threads, and would wait for them for ever."""

import os

_first: int | None = None  # the process that computed first


def refuse_after_fork() -> None:
    """Raise RuntimeError if another process computed before this one was forked from it."""
    global _first
    if _first is None:
        _first = os.getpid()
    if _first != os.getpid():
        raise RuntimeError(
            "This process was forked from one that had used vebnn, and JAX cannot compute in it. Start "
            'processes afresh: multiprocessing.get_context("spawn"), or joblib\'s default.'
        )
