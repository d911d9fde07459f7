"""A whole fit, the same for all programs: VeBNN (pSGLD) with the paper's settings."""

from dataclasses import replace
from typing import Any

from benchmarks.speed.cases import Case
from vebnn.presets import paper, stretched


def settings_of(case: Case, share: float) -> dict[str, Any]:
    """Return the arguments of a :class:`~vebnn.VeBNNRegressor`, with a share of the paper's epochs."""
    settings = paper(case.experiment)
    for name in ("mean_training", "variance_training", "inference"):
        settings[name] = stretched(settings[name], share)
    # No early stopping: programs would stop at different epochs.
    settings["variance_training"] = replace(settings["variance_training"], patience=None)
    return settings
