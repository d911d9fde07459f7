"""What a whole fit is, for all programs alike: VeBNN (pSGLD) with the paper's settings."""

from dataclasses import replace
from typing import Any

from benchmarks.speed.cases import Case
from vebnn.presets import paper, stretched


def settings_of(case: Case, share: float) -> dict[str, Any]:
    """Return the arguments of a :class:`~vebnn.VeBNNRegressor`, with a share of the paper's epochs."""
    settings = paper(case.experiment)
    for name in ("mean_training", "variance_training", "inference"):
        settings[name] = stretched(settings[name], share)
    # Nobody stops early: programs would do so at different epochs, and not be compared.
    settings["variance_training"] = replace(settings["variance_training"], patience=None)
    return settings
