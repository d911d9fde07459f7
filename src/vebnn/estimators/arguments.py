"""From an estimator's arguments to the settings of its strategy: checks, and defaults for the rest."""

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from vebnn.core.arguments import require_number
from vebnn.core.workers import require_jobs
from vebnn.estimators.engines import engine_of
from vebnn.estimators.images import ImageLengths
from vebnn.inference import Engine, LastLayer
from vebnn.presets import DEFAULT_TRAININGS, default_network, default_variance_network
from vebnn.strategies.contract import Strategy
from vebnn.training import Training

Settings = TypeVar("Settings", bound=Strategy)


class Arguments(BaseEstimator):
    """The part of an estimator that turns its arguments into settings."""

    network: Any
    variance_network: Any
    inference: Any
    last_layer: bool
    weight_decay: float
    prior_precision: float
    validation_fraction: float
    n_jobs: int | None

    def _check_common(self, *trainings: str) -> None:
        """Check the arguments that all estimators have, and the named trainings."""
        require_number("weight_decay", self.weight_decay, 0, np.inf, "[)")
        require_number("prior_precision", self.prior_precision, 0, np.inf)
        require_number("validation_fraction", self.validation_fraction, 0, 1)
        require_jobs(self.n_jobs)
        for name in trainings:
            value = getattr(self, name)
            if not (value is None or isinstance(value, Training)):
                raise ValueError(f"The `{name}` must be a Training(...) or None. Got {value!r}.")

    def _settings(self, strategy: type[Settings], num_rows: int, **resolved: Any) -> Settings:
        """Return a strategy whose fields are the arguments of the same name, or those given here.

        Networks and trainings that were left open are those of :mod:`vebnn.presets`.
        """
        images = self._image_lengths(num_rows)
        for name, default in DEFAULT_TRAININGS.items():
            if name in vars(self):
                usual = default(num_rows) if images is None else images.training(name)
                resolved[name] = getattr(self, name) or usual
        engine = self._engine(num_rows)
        network = default_network(engine) if self.network is None else self.network
        variance_network = self.variance_network or default_variance_network(self.network)
        open_ = {"engine": engine, "network": network, "variance_network": variance_network}
        resolved = open_ | resolved
        arguments = {
            field.name: getattr(self, field.name)
            for field in fields(strategy)  # type: ignore[arg-type]
            if field.name not in resolved
        }
        return strategy(**arguments, **resolved)

    def _engine(self, num_rows: int) -> Engine:
        engine = engine_of("inference", self.inference, num_rows)
        images = self._image_lengths(num_rows)
        if images is not None and not isinstance(self.inference, Engine):
            engine = images.engine(type(engine))
        return LastLayer(engine) if self.last_layer else engine

    def _image_lengths(self, num_rows: int) -> ImageLengths | None:
        """Return lengths that follow the cost of the network, once inputs are known to be images."""
        in_shape = getattr(self, "in_shape_", ())
        if len(in_shape) != 3 or not self._many_axes:
            return None
        return ImageLengths.of(self.network, in_shape, num_rows)
