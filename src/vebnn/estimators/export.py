"""A fitted estimator as one compiled program: raw inputs to mean and both stds, without the library.

The program is StableHLO in the form of ``jax.export``. It standardises, fills missing values, evaluates
all draws in single precision as the library does, applies a calibration, and returns to the user's
units.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np
from jax import export as jax_export

from vebnn.core.types import Array
from vebnn.serialization.files import write_bytes

_X64: Any = jax if hasattr(jax, "enable_x64") else jax.experimental  # the latter before JAX 0.8
enable_x64 = _X64.enable_x64

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


class Outputs(NamedTuple):
    """What a program returns, each in the shape of the targets; it is a plain tuple for the caller."""

    mean: Array
    aleatoric: Array
    epistemic: Array


def _of_logarithms(mean: Array, aleatoric: Array, epistemic: Array) -> Outputs:
    """Return the moments of :class:`vebnn.prediction.targets.Positive`."""
    centre = jnp.exp(mean + (aleatoric + epistemic) / 2)
    noise = centre**2 * jnp.exp(epistemic) * jnp.expm1(aleatoric)
    return Outputs(centre, noise, centre**2 * jnp.expm1(epistemic))


# Moments of y, from mean and variances on the scale that is learned.
MOMENTS: dict[str, Callable[..., Outputs]] = {"real": Outputs, "positive": _of_logarithms}


def export(model: Any, path: str | os.PathLike[str]) -> None:
    """Write what :meth:`vebnn.VeBNNRegressor.export` documents."""
    for kind in model.target_kinds_:
        if kind.name not in MOMENTS:
            raise ValueError(
                f'The `target` of an exported model must be "real" or "positive". Got "{kind.name}", '
                f"whose moments have no closed form; save the model, and predict with the library."
            )
    if Path(path).is_dir():
        raise ValueError(f"The `path` of an exported model must be a file. Got the folder {path}.")
    try:
        import flatbuffers  # noqa: F401
    except ImportError as error:
        raise ImportError("Exported files need flatbuffers: pip install 'vebnn[export]'.") from error
    write_bytes(Path(path), bytes(program_of(model).serialize()))


def program_of(model: Any) -> jax_export.Exported:
    """Return the program: rows to mean, aleatoric std and epistemic std, all in double precision."""
    network_shape, bytes_in = model.fitted_.probe_x.shape[1:], model.fitted_.probe_x.dtype == np.uint8
    steps = "time, " if getattr(model.network, "any_length", False) else None

    def rows_of(shape: tuple[int, ...], dtype: Any) -> jax.ShapeDtypeStruct:
        """Return rows of any number, and sequences of any length where the network takes them."""
        inner = f"{steps}{shape[-1]}" if steps else ", ".join(map(str, shape))
        return jax.ShapeDtypeStruct(jax_export.symbolic_shape(f"rows, {inner}"), dtype)

    number = np.uint8 if bytes_in else np.float32
    with jax.numpy_rank_promotion("allow"):  # what is written for NumPy is traced
        networks = jax_export.export(jax.jit(model.fitted_.parts), platforms=PLATFORMS)(
            rows_of(network_shape, number)
        )
    factors = _factors(model)

    def predict(x: Array) -> tuple[Array, Array, Array]:
        padding = None
        if not bytes_in:
            x, padding = _standardised(model, x)
        parts = [part.astype(jnp.float64) for part in networks.call(x)]
        scale, centre = model.y_units_.scale, model.y_units_.centre
        mean, variances = parts[0] * scale + centre, [part * scale**2 for part in parts[1:]]
        learned = [mean, *(part * factor for part, factor in zip(variances, factors, strict=True))]
        by_output = [
            MOMENTS[kind.name](*(part[..., at] for part in learned))
            for at, kind in enumerate(model.target_kinds_)
        ]
        whole = [jnp.stack(one, axis=-1) for one in zip(*by_output, strict=True)]
        if padding is not None:
            whole = [jnp.where(padding[..., None], jnp.nan, one) for one in whole]
        mean, aleatoric, epistemic = (one[..., 0] if model.one_output_ else one for one in whole)
        return mean, jnp.sqrt(aleatoric), jnp.sqrt(epistemic)

    # Inputs such as dates lose too much in single precision before they are standardised.
    with enable_x64(True), jax.numpy_rank_promotion("allow"):
        raw = rows_of(model.in_shape_, np.uint8 if bytes_in else np.float64)
        return jax_export.export(jax.jit(predict), platforms=PLATFORMS)(raw)


def _standardised(model: Any, x: Array) -> tuple[Array, Array | None]:
    """Return the network's inputs, and which steps of sequences are padding."""
    padding = None
    if model.gaps_ is not None:
        missing, marked = jnp.isnan(x), list(model.gaps_.marked)
        filled = jnp.where(missing, jnp.asarray(model.gaps_.medians), x)
        x = jnp.concatenate([filled, missing[:, jnp.asarray(marked, int)].astype(x.dtype)], axis=1)
    elif x.ndim == 3 and len(model.fitted_.probe.shape[3:-1]) == 1:
        blank = jnp.isnan(x).all(-1)
        padding = jnp.cumprod(blank[:, ::-1], axis=1)[:, ::-1].astype(bool)
        x = jnp.where(padding[..., None], model.x_units_.centre, x)
    return model.x_units_.standardise(x).astype(jnp.float32), padding


def _factors(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the calibration's factors on both variances, ``(outputs,)`` each."""
    ones = np.ones((1, len(model.y_units_.scale)))
    apply = getattr(model.calibration_, "apply", None)  # conformal scores change intervals alone
    aleatoric, epistemic = (ones, ones) if apply is None else apply(ones, ones)
    return aleatoric[0], epistemic[0]
