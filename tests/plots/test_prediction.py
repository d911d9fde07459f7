"""Curves of models with one input, sequences and chains: bands, labels, refusals."""

import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator

from tests.support.predictions import of_moments
from tests.support.settings import Stay, quick_joint
from vebnn import Prediction
from vebnn.inference.diagnostics import diagnose_chains
from vebnn.plots import plot_chains, plot_prediction, plot_sequence

REACH = 1.959964


class Fitted(BaseEstimator):
    """What a figure needs of a fitted model."""

    def __init__(self, **attributes) -> None:
        vars(self).update(attributes)

    def fit(self) -> None: ...


class Known(Fitted):
    """A fitted model y = 2 x with a noise std of x² and an epistemic std of 1."""

    def __init__(self, names=None) -> None:
        super().__init__(in_shape_=(1,))
        if names is not None:
            self.feature_names_in_ = np.array(names, object)

    def predict_distribution(self, X) -> Prediction:
        if hasattr(self, "feature_names_in_"):
            assert list(X.columns) == list(self.feature_names_in_)
        x = np.asarray(X, float)[:, 0]
        return of_moments(2 * x, 1.0, x**4)


def band(axes, label: str) -> dict[float, tuple[float, float]]:
    """Return the lower and upper edge of a band by x."""
    (found,) = [one for one in axes.collections if one.get_label() == label]
    corners = found.get_paths()[0].vertices
    return {x: (min(at := corners[corners[:, 0] == x, 1]), max(at)) for x in np.unique(corners[:, 0])}


def test_a_model_with_one_input_has_a_line_beyond_its_rows() -> None:
    X = pandas.DataFrame({"load": [0.0, 10.0, 4.0]})
    y = pandas.Series([0.0, 20.0, 8.5], name="stretch")
    axes = plot_prediction(Known(["load"]), X, y, margin=0.5)
    (line,) = axes.lines
    x, mean = line.get_data()
    assert (x[0], x[-1]) == (-5.0, 15.0)
    np.testing.assert_allclose(mean, 2 * x)
    for label, std in (
        ("mean, 95 %", lambda x: 1.0),
        ("new observation, 95 %", lambda x: np.sqrt(1 + x**4)),
    ):
        edges = band(axes, label)
        assert len(edges) == len(x)
        for place, (low, high) in edges.items():
            np.testing.assert_allclose(
                [low, high], 2 * place + np.array([-1, 1]) * REACH * std(place), rtol=1e-5
            )
    (dots,) = [one for one in axes.collections if one.get_label() == "data"]
    np.testing.assert_array_equal(dots.get_offsets(), np.column_stack([X, y]))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("load", "stretch")


def test_several_inputs_are_refused_with_the_way_out() -> None:
    model = Fitted(in_shape_=(3,))
    with pytest.raises(ValueError, match=r"one input .* Got inputs of shape \(3,\); use plot_parity"):
        plot_prediction(model, np.zeros((5, 3)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.zeros(3)}, r"`X` must have shape \(rows, 1\). Got \(3,\)"),
        ({"X": np.zeros((3, 1)), "y": np.zeros(2)}, "targets of the 3 rows of X"),
        ({"X": np.zeros((3, 1)), "margin": -1}, "`margin` must be a number"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        plot_prediction(Known(), **arguments)


def test_a_sequence_has_its_bands_and_dots(rng) -> None:
    mean, y = rng.normal(size=(2, 3, 4, 2))
    prediction = of_moments(mean, mean**2, 1.0)
    time = pandas.Series([0.0, 0.1, 0.5, 0.9], name="t [s]")
    axes = plot_sequence(prediction, 2, y, time=time, target=1)
    np.testing.assert_allclose(axes.lines[0].get_data(), [time, mean[2, :, 1]])
    half = [(high - low) / 2 for low, high in band(axes, "mean, 95 %").values()]
    np.testing.assert_allclose(half, REACH * np.abs(mean[2, :, 1]), rtol=1e-5)
    half = [(high - low) / 2 for low, high in band(axes, "new observation, 95 %").values()]
    np.testing.assert_allclose(half, REACH * np.sqrt(1 + mean[2, :, 1] ** 2), rtol=1e-5)
    (dots,) = [one for one in axes.collections if one.get_label() == "data"]
    np.testing.assert_array_equal(dots.get_offsets(), np.column_stack([time, y[2, :, 1]]))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("t [s]", "y1")


@pytest.mark.parametrize(
    ("shape", "arguments", "message"),
    [
        ((3,), {}, "must be of sequences"),
        ((3, 4, 1), {"row": 3}, "`row` must be a whole number below 3. Got 3"),
        ((3, 4, 1), {"time": [1, 2]}, r"`time` must have shape \(4,\)"),
    ],
)
def test_wrong_sequences_are_refused(shape, arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        plot_sequence(of_moments(np.zeros(shape), 1.0), **arguments)


class Units:
    def restore(self, values: np.ndarray) -> np.ndarray:
        return 100 + 10 * values


def chains(rng, far: int) -> Fitted:
    """Return a fitted model with three chains of thirty draws, apart at one of its rows."""
    probe = rng.normal(size=(3, 30, 5, 1))
    probe[:, :, far] += 3 * np.arange(3)[:, None, None]
    return Fitted(
        diagnostics_=diagnose_chains(probe),
        fitted_=Fitted(probe=probe),
        target_names_=None,
        one_output_=True,
        y_units_=Units(),
    )


def test_chains_are_drawn_where_they_agree_least(rng) -> None:
    model = chains(rng, far=3)
    axes = plot_chains(model)
    for line, trace in zip(axes.lines, model.fitted_.probe[:, :, 3, 0], strict=True):
        np.testing.assert_allclose(line.get_ydata(), 100 + 10 * trace)
    found = f"R-hat {model.diagnostics_.r_hat[3]:.2f} at training row 3"
    assert found in (axes.get_title(), axes.get_title("left"))


def test_chains_can_be_drawn_at_a_row(rng) -> None:
    model = chains(rng, far=3)
    axes = plot_chains(model, 1)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), 100 + 10 * model.fitted_.probe[0, :, 1, 0])
    with pytest.raises(ValueError, match=r"`row` must be a whole number from 0 to 4. Got 5"):
        plot_chains(model, 5)


def test_steps_of_a_sequence_are_named_and_padding_is_left_out(rng) -> None:
    model = chains(rng, far=3)
    probe = np.repeat(model.fitted_.probe[:, :, :, None], 2, axis=3)
    probe[:, :, :, 0] = np.nan
    model.fitted_.probe = probe
    axes = plot_chains(model)
    assert "training row 3, step 2" in axes.get_title() + axes.get_title("left")


def test_a_model_without_chains_is_refused(sine) -> None:
    X, y = sine
    with pytest.raises(ValueError, match=r'chains of at least 8 draws.* inference="psghmc"'):
        plot_chains(quick_joint(inference=Stay()).fit(X, y))
