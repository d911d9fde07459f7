"""A fitted model for BoTorch, with gradients; needs ``pip install 'vebnn[botorch]'``."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from sklearn.utils.validation import check_is_fitted

from vebnn.estimators import VeBNNRegressor
from vebnn.estimators.preprocessing import Standardiser
from vebnn.inference.evaluation import map_draws, pool_chains
from vebnn.prediction.targets import Real

try:
    import torch
    from botorch.models.ensemble import EnsembleModel
except ImportError as error:
    raise ImportError("A model for BoTorch needs BoTorch: pip install 'vebnn[botorch]'.") from error


class BoTorchModel(EnsembleModel):
    """The draws of a fitted model as an ensemble whose members are functions of the inputs.

    Its posterior is that of the mean function: epistemic only, and without calibration. Inputs and
    outputs are in the units of ``fit``; JAX computes the gradients.

    Args:
      model: a fitted model of rows, with one or several outputs.

    Raises:
      TypeError: if the model is not a VeBNNRegressor, whose draws are mean functions.
      ValueError: if its inputs are sequences or images, or its targets are not real.

    Example:
      >>> acquisition = qLogExpectedImprovement(BoTorchModel(model), best_f=model.predict(X).max())
      >>> candidate, value = optimize_acqf(acquisition, bounds, q=1, num_restarts=4, raw_samples=64)
    """

    def __init__(self, model: VeBNNRegressor) -> None:
        super().__init__()
        if not isinstance(model, VeBNNRegressor):
            raise TypeError(f"The `model` must be a VeBNNRegressor. Got {type(model).__name__}.")
        check_is_fitted(model)
        if len(model.in_shape_) != 1:
            raise ValueError(
                f"The `model` must take rows of features. Got inputs of shape {model.in_shape_}."
            )
        if not all(isinstance(kind, Real) for kind in model.target_kinds_):
            raise ValueError(
                f"The `model` must have real targets: its draws are in the units of y. Got "
                f"target={model.target!r}; fit to log(y), or use vebnn.acquisition.suggest."
            )
        self._num_outputs = model.y_units_.scale.size
        self._x_units, self._y_units = model.x_units_, model.y_units_
        draws = pool_chains(model.fitted_.posterior.draws)

        @jax.jit
        def outputs(x: jax.Array) -> jax.Array:
            return map_draws(lambda network: jax.vmap(network)(x), draws)

        self._outputs = outputs

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return the mean of every draw, ``batch × draws × rows × outputs``."""
        x_units, y_units = (_units_like(X, units) for units in (self._x_units, self._y_units))
        rows = X.reshape(-1, X.shape[-1])
        # Nothing is missing in a candidate.
        marks = rows.new_zeros(len(rows), x_units.scale.numel() - rows.shape[-1])
        rows = x_units.standardise(torch.cat([rows, marks], dim=-1))
        values = y_units.restore(_ThroughJAX.apply(rows, self._outputs))
        return values.reshape(-1, *X.shape[:-1], self._num_outputs).movedim(0, -3)


class _ThroughJAX(torch.autograd.Function):
    """A JAX function in PyTorch's graph."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, function: Callable[[Any], jax.Array]) -> torch.Tensor:
        values, ctx.pull_back = jax.vjp(function, _to_numpy(x))
        return _like(x, values)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        (gradient,) = gradients
        (pulled,) = ctx.pull_back(_to_numpy(gradient))
        return _like(gradient, pulled), None


def _units_like(tensor: torch.Tensor, units: Standardiser) -> Any:
    """Return units that standardise and restore tensors."""
    return Standardiser._make(torch.as_tensor(part).to(tensor) for part in units)


def _to_numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy().astype(np.float32)


def _like(tensor: torch.Tensor, values: jax.Array) -> torch.Tensor:
    return torch.from_numpy(np.array(values)).to(tensor)
