"""The draws of a fitted estimator in ArviZ's form: for summaries, plots and leave-one-out scores."""

from dataclasses import replace
from typing import Any

import numpy as np

from vebnn.prediction import Components, Prediction, in_user_units

JOINT = "y_joint"  # the log-likelihood of all outputs of a row, whose noise is correlated
STEPS = ("step", "second_step", "third_step")  # axes of a target between its row and its output


def to_arviz(model: Any, X: Any, y: Any, y_std: Any, random_state: Any) -> Any:
    """Return what :meth:`vebnn.VeBNNRegressor.to_arviz` documents."""
    try:
        import arviz_base
    except ImportError as error:
        raise ImportError("Exporting draws needs ArviZ: pip install 'vebnn[arviz]'.") from error
    raw = model._predict_transformed(*model._inputs(X), y_std)
    observed = np.asarray(y, float)
    if observed.shape != raw.mean.shape:
        raise ValueError(f"The `y` must have the shape {raw.mean.shape}. Got {observed.shape}.")
    names = _axes(observed.ndim, model.one_output_)
    there = np.isfinite(observed) & np.isfinite(raw.mean)
    together = raw.noise_correlation is not None
    if together and not there.all():
        raise ValueError(
            'With noise_covariance="full", the outputs of a row have one log-likelihood together, so '
            "the `y` must have all of them. Got NaN, or padded steps; leave out these rows."
        )
    num_chains, num_draws = model.fitted_.probe.shape[:2]
    each = in_user_units(draw_by_draw(raw), model.target_kinds_)

    def by_chain(values: np.ndarray) -> np.ndarray:
        return values.reshape(num_chains, num_draws, len(observed), *values.shape[1:])

    repeated = np.tile(observed, (num_chains * num_draws,) + (1,) * (observed.ndim - 1))
    log_prob = each.log_prob_joint if together else each.log_prob
    rng = np.random.default_rng(random_state)
    drawn = {
        "posterior": {"mean": by_chain(each.mean)},
        "log_likelihood": {JOINT if together else "y": by_chain(log_prob(repeated, "mixture"))},
        "posterior_predictive": {"y": by_chain(each.sample(1, random_state=rng)[0])},
    }
    if there.all():
        coords = {} if model.target_names_ is None else {"output": list(model.target_names_)}
        groups: dict[str, Any] = drawn | {"observed_data": {"y": observed}}
    else:
        # Scores need a number everywhere: what is observed becomes one list.
        places = dict(zip(names, np.nonzero(there), strict=True))
        groups = {
            group: {name: values[:, :, there] for name, values in variables.items()}
            for group, variables in drawn.items()
        }
        groups |= {"observed_data": {"y": observed[there]}, "constant_data": places}
        names, coords = ("observation",), {}
    variables = {name for of_group in groups.values() for name in of_group}
    coords = {name: values for name, values in coords.items() if name in names}
    dims = {name: list(names[:-1] if name == JOINT else names) for name in variables}
    # An ensemble has more "chains" than draws, which is no mistake here.
    return arviz_base.from_dict(groups, dims=dims, coords=coords, check_conventions=False)


def draw_by_draw(prediction: Prediction) -> Prediction:
    """Return the prediction of every draw on its own: the rows of the first draw, of the second, …"""
    mean, variance, weight = np.broadcast_arrays(*prediction.components)

    def one_list(parts: np.ndarray) -> np.ndarray:
        """Turn ``(draws, modes, rows, ...)`` into ``(1, modes, draws · rows, ...)``."""
        by_mode = np.moveaxis(parts, 1, 0)
        return by_mode.reshape(1, len(by_mode), -1, *parts.shape[3:])

    centre = np.sum(weight * mean, axis=1)
    noise = np.sum(weight * (variance + (mean - centre[:, None]) ** 2), axis=1)
    parts = Components(one_list(mean), one_list(variance), one_list(weight))
    flat = (-1, *mean.shape[3:])
    return replace(
        prediction,
        mean=centre.reshape(flat),
        aleatoric_variance=noise.reshape(flat),
        epistemic_variance=np.zeros_like(centre).reshape(flat),
        load_components=lambda: parts,
    )


def _axes(num_axes: int, one_output: bool) -> tuple[str, ...]:
    """Return the names of the axes of a target."""
    between = STEPS[: num_axes - (1 if one_output else 2)]
    return ("row", *between) if one_output else ("row", *between, "output")
