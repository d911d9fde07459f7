"""What a fit exchanges with its workers, and how long it waits for them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client

from vebnn.core.workers import Workers


@dataclass
class Meter:
    """Bytes between this process and its workers; seconds, in all and waiting for them."""

    data: int = 0  # arrays that stay there
    state: int = 0  # all else
    pieces: int = 0
    seconds: float = 0.0
    waited: float = 0.0

    @contextmanager
    def on(self) -> Iterator["Meter"]:
        """Measure what is dealt in this context."""
        results = Workers.results

        def measured(workers: Workers, tasks: list) -> Any:
            # Dask takes an array out of this process once for all pieces that name it.
            arrays = {id(array): array for _, (_, _, *some), _ in tasks for array in some}
            self.pieces += len(tasks)
            self.data += sum(array.nbytes for array in arrays.values())
            self.state += sum(len(piece.code) + len(piece.leaves) for _, (_, piece, *_), _ in tasks)
            return self._answers(results(workers, tasks))

        Workers.results = measured
        started = time.perf_counter()
        try:
            yield self
        finally:
            self.seconds += time.perf_counter() - started
            Workers.results = results

    @contextmanager
    def _answers(self, context: Any) -> Iterator[Iterator[Any]]:
        started = time.perf_counter()
        with context as answers:
            yield map(self._answer, answers)
        self.waited += time.perf_counter() - started

    def _answer(self, answer: tuple[int, Any]) -> tuple[int, Any]:
        if isinstance(answer[1], list):
            self.state += sum(leaf.nbytes for leaf in answer[1] if isinstance(leaf, np.ndarray))
        return answer


def passed_on(client: Client) -> int:
    """Return the bytes that workers have had from one another."""
    logs = client.run(lambda dask_worker: list(dask_worker.transfer_incoming_log))
    return sum(transfer["total"] for log in logs.values() for transfer in log)


def processor_seconds(client: Client) -> dict[str, float]:
    """Return the processor time of each worker so far."""
    return client.run(time.process_time)
