"""Methods of the user's own: a function in a Python file or in an importable module."""

import importlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from vebnn.bench.forecasts import Forecast


@dataclass(frozen=True)
class OwnMethod:
    """A function of training rows, training targets, new rows and a seed, whose answer is checked."""

    name: str  # as the user wrote it
    function: Any

    @classmethod
    def find(cls, name: str) -> "OwnMethod":
        """Return the method of ``file.py:function`` or ``module:function``."""
        place, _, function_name = name.rpartition(":")
        try:
            module = _file(Path(place)) if place.endswith(".py") else _module(place)
            return cls(name, getattr(module, function_name))
        except (ImportError, AttributeError, FileNotFoundError) as error:
            reason = str(error).removesuffix(".")
            raise ValueError(
                f"The method {name!r} must be file.py:function, or an importable module:function. "
                f"{reason}."
            ) from None

    def __call__(self, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
        """Return the forecast of new rows.

        Raises:
          ValueError: if it is no forecast of these rows.
        """
        found = self.function(X, y, X_new, seed)
        must = f"The method {self.name!r} must return a vebnn.bench.forecasts.Forecast"
        if not isinstance(found, Forecast):
            raise ValueError(f"{must}(mean, variance). Got {type(found).__name__}.")
        shape = (len(X_new), *y.shape[1:])
        for part in ("mean", "variance"):
            values = np.asarray(getattr(found, part))
            if values.shape != shape:
                raise ValueError(f"{must} whose {part} has the shape {shape}. Got {values.shape}.")
            if not np.isfinite(values).all():
                raise ValueError(f"{must} whose {part} is finite. Got NaN or infinity.")
        if not (np.asarray(found.variance) > 0).all():
            raise ValueError(f"{must} whose variance is above 0. Got {np.min(found.variance):g}.")
        return found


def _module(name: str) -> ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    return importlib.import_module(name)


def _file(path: Path) -> ModuleType:
    """Run a file as a module of its own, once; its folder need not be importable."""
    name = f"vebnn_own_method:{path.resolve()}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"There is no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
