"""Neural-network regression with error bars, split into noise and model uncertainty.

Names are loaded on first use, and JAX with them, so that ``import vebnn`` is quick. Three options of
JAX are then set, and only where you have not set them yourself: see :mod:`vebnn.core`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vebnn.core import configure as _configure

if TYPE_CHECKING:
    from vebnn.estimators import (
        JointRegressor,
        MixtureRegressor,
        VeBNNRegressor,
        pad_sequences,
        predict_distribution,
        with_changes,
    )
    from vebnn.inference import (
        MAP,
        MCLMC,
        NUTS,
        PSGHMC,
        PSGLD,
        SGHMC,
        SGLD,
        BayesByBackprop,
        Ensemble,
        Laplace,
        MCDropout,
    )
    from vebnn.networks import GRU, MLP, Augmentation, ResNet
    from vebnn.prediction import Prediction
    from vebnn.tabular.pipelines.saving import load_pipeline, save_pipeline
    from vebnn.training import Training

__version__ = "0.2.0"

# The quickest first.
_ROOMS = ("prediction", "networks", "training", "inference", "estimators", "tabular.pipelines.saving")

__all__ = [
    "GRU",
    "MAP",
    "MCLMC",
    "MLP",
    "NUTS",
    "PSGHMC",
    "PSGLD",
    "SGHMC",
    "SGLD",
    "Augmentation",
    "BayesByBackprop",
    "Ensemble",
    "JointRegressor",
    "Laplace",
    "MCDropout",
    "MixtureRegressor",
    "Prediction",
    "ResNet",
    "Training",
    "VeBNNRegressor",
    "load_pipeline",
    "pad_sequences",
    "predict_distribution",
    "save_pipeline",
    "with_changes",
]

_configure()


def __getattr__(name: str) -> Any:
    if name in __all__:
        for room in _ROOMS:
            if hasattr(module := import_module(f"vebnn.{room}"), name):
                return getattr(module, name)
    raise AttributeError(f"module 'vebnn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
