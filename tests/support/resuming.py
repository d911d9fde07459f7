"""Engines that are interrupted and run again."""

from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import pytest

from vebnn.inference import Posterior
from vebnn.training import Stage
from vebnn.training.checkpoint import Checkpoint


class Impatient(Checkpoint):
    """A checkpoint after which the user presses Ctrl-C."""

    def report(self, *args) -> None:
        super().report(*args)
        raise KeyboardInterrupt


def assert_resumes(run: Callable[[Stage], Posterior], folder: Path) -> None:
    """Hold an interrupted and resumed run to the bits of an uninterrupted one."""
    whole = run(Stage("Step 3"))
    broken = Impatient(folder, "same")
    with pytest.raises(KeyboardInterrupt):
        run(Stage("Step 3", broken))
    broken.close(finished=False)
    resumed = run(Stage("Step 3", Checkpoint(folder, "same")))
    for here, there in zip(jax.tree.leaves(whole.draws), jax.tree.leaves(resumed.draws), strict=True):
        np.testing.assert_array_equal(here, there)
    np.testing.assert_array_equal(whole.trace, resumed.trace)
