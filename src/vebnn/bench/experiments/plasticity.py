"""The plasticity law: sequences with a known mean and noise, from 50 to 1000 training paths."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from vebnn import metrics
from vebnn.bench.comparison.measures import usual_metrics
from vebnn.bench.comparison.reading import results_of
from vebnn.bench.comparison.summary import summarise
from vebnn.bench.experiments.plasticity_claims import claims
from vebnn.bench.experiments.plasticity_figures import save_figures
from vebnn.bench.experiments.plasticity_settings import (
    PLASTICITY_PRESETS,
    inputs_of,
    make_model,
    num_reserved,
)
from vebnn.bench.figures.curve import curve_of
from vebnn.bench.methods import METHODS, find_method
from vebnn.bench.render.terminal import print_document, print_lines
from vebnn.bench.results import ResultsFile, Row, r_hat, run_cases, stamp
from vebnn.bench.steps import fit_by_steps
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.core.workers import spread
from vebnn.datasets.plasticity import Plasticity, load_plasticity
from vebnn.networks import GRU
from vebnn.plots.style import TWO_SIDED_95
from vebnn.prediction import Prediction

ABLATED = "VeBNN (pSGLD)"
# Those of the paper's figure.
DEFAULT_METHODS = (
    *("ME (MSE)", "MVE (β-NLL)", "MVE (Ensembles)", "MVE (MC-Dropout)"),
    *("MVE (pSGLD)", "VeBNN (pSGLD)"),
)
# Path and component of the prediction figure: the paper draws σ22, the last of its 11, 12, 22.
SHOWN_PATH, COMPONENTS = 0, ("11", "22", "12")
SHOWN_COMPONENT = "22"
OLDER_COMPONENT = "12"  # of rows that do not say which

LOSSES: Mapping[str, dict[str, Any]] = {
    "Gamma": {},
    "Gaussian": {"variance_loss": "nll"},
    "β-NLL": {"variance_loss": "beta_nll"},
    "Natural": {"variance_loss": "natural"},
}
# As in the paper: then no folds stop the variance network.
IN_SAMPLE = {"residuals": "in_sample"}
# Changes of the preset by ablation and variant.
ABLATIONS: Mapping[str, Mapping[str, dict[str, Any]]] = {
    "loss": LOSSES,
    "loss-in-sample": {name: loss | IN_SAMPLE for name, loss in LOSSES.items()},
    # The scores of every step are in its row.
    "rounds": {"K = 5": {"rounds": 5, "choose_round": "last"}},
    "size": {
        f"{layers} × {units}": {"variance_network": GRU((units,) * layers)}
        for layers in (1, 2)
        for units in (8, 16, 64, 128)
    },
}


def score(prediction: Prediction, data: Plasticity) -> Row:
    """Compare a prediction of the test paths with mean and std over all microstructures.

    All but the RMSE are in units of the standard deviation of a component over the training paths, so
    that all components count the same; ``wasserstein_mpa`` is in the units of the stress, as in the
    paper. The paper's epistemic metrics score the true mean under the epistemic variance alone.
    """
    scale = data.stress.std(axis=(0, 1))
    truth, truth_std = data.test_mean / scale, data.test_std / scale
    mean, noise_std = prediction.mean / scale, prediction.aleatoric_std / scale
    found: Row = {
        "rmse_percent": metrics.rmse_percent(data.test_mean, prediction.mean),
        "wasserstein": metrics.wasserstein(truth, truth_std, mean, noise_std),
        "wasserstein_mpa": metrics.wasserstein(
            data.test_mean, data.test_std, prediction.mean, prediction.aleatoric_std
        ),
        "noise_ratio": _rms(noise_std) / _rms(truth_std),
        "noise_std": _rms(prediction.aleatoric_std),
        "true_noise_std": _rms(data.test_std),
    }
    epistemic = prediction.epistemic_variance / scale**2
    if not epistemic.all():  # a single network
        names = ("log_likelihood", "coverage", "interval_length", "calibration_error", "std")
        return found | {f"epistemic_{name}": None for name in names} | {"reliability": None}
    half = TWO_SIDED_95 * np.sqrt(epistemic)
    curve = metrics.reliability(truth, mean, epistemic, metrics.LEVELS)
    return found | {
        "epistemic_log_likelihood": metrics.epistemic_log_likelihood(truth, mean, epistemic),
        "epistemic_coverage": metrics.coverage(truth, mean - half, mean + half),
        "epistemic_interval_length": metrics.interval_length(mean - half, mean + half),
        "epistemic_calibration_error": curve.expected_calibration_error,
        "epistemic_std": _rms(np.sqrt(epistemic)),
        "reliability": curve.coverage.round(4).tolist(),
    }


def score_case(
    preset: str,
    variants: Mapping[str, dict[str, Any]],
    source: Path | None,
    material: int,
    num_paths: int,
    method: str,
    repeat: int,
) -> Row:
    """Fit one method to some paths of a material; return its scores, and its curve for the figure.

    ``variants`` has the changes of the preset by method; ``source`` is the folder of the data;
    ``repeat`` seeds both paths and model.
    """
    data = load_plasticity(material, source)
    specification = METHODS.get(method, METHODS[ABLATED])
    model = make_model(specification, preset, num_paths, repeat, **variants[method])
    # A larger choice of paths contains the smaller ones.
    order = np.random.default_rng(repeat).permutation(len(data.strain))
    X, test = (inputs_of(preset, strain) for strain in (data.strain, data.test_strain))
    chosen, reserved = order[:num_paths], order[num_paths:][: num_reserved(preset)]
    held_out = {"X_val": X[reserved], "y_val": data.stress[reserved]} if len(reserved) else {}

    def score_step(predict: Callable[..., Prediction]) -> Row:
        scores = score(predict(test), data)
        return {name: value for name, value in scores.items() if name != "reliability"}

    steps = fit_by_steps(model, score_step, X[chosen], data.stress[chosen], **held_out)
    prediction = model.predict_distribution(test)
    curve = curve_of(prediction, _shown(SHOWN_COMPONENT))
    found = {**score(prediction, data), "r_hat": r_hat(model), "component": SHOWN_COMPONENT}
    return found | {"curve": curve} | ({"steps": steps} if steps else {})


def bench_plasticity(
    materials: Sequence[int],
    sizes: Sequence[int],
    names: Sequence[str],
    repeats: Sequence[int],
    preset: str,
    ablation: str | None,
    path: Path,
    folder: Path,
    console: Console,
    *,
    source: Path | None = None,
    jobs: int | None = None,
) -> list[Row]:
    """Fit every method to every number of paths of every material; print tables, draw figures.

    Arguments are those of ``vebnn bench plasticity``; without ``names``, the methods of the paper's
    figure. With one job, a fit has all cores.
    """
    require_one_of("preset", preset, PLASTICITY_PRESETS)
    for size in sizes:
        require_whole("sizes", size, 5)
    if not materials or not sizes:
        raise ValueError("The benchmark needs at least one material and one number of paths. Got none.")
    repeats_of = _repeats_of(sizes, repeats)
    variants = _variants(names, ablation)
    for method in variants:  # wrong arguments fail before the first long fit
        make_model(METHODS.get(method, METHODS[ABLATED]), preset, sizes[0], 0)
    data = {material: load_plasticity(material, source) for material in materials}
    for material, one in data.items():
        if max(sizes) > len(one.strain):
            raise ValueError(
                f"The `sizes` must be at most {len(one.strain)}, the training paths of material "
                f"{material}. Got {max(sizes)}."
            )
    experiment = "plasticity" if ablation is None else f"plasticity · {ablation}"
    # Rows of other data are never mixed with ours.
    origin = {} if source is None else {"data": str(source)}
    rows = run_cases(
        ResultsFile(path, stamp(experiment, preset=preset, **origin)),
        [
            {"material": material, "num_paths": size, "method": method, "repeat": repeat}
            for repeat in range(max(repeats))
            for size in sizes
            if repeat < repeats_of[size]
            for material in materials
            for method in variants
        ],
        partial(score_case, preset, variants, source),
        console,
        None if jobs == 1 else partial(spread, jobs=jobs),
    )
    summary = summarise(results_of(rows), usual_metrics(experiment))
    print_document(summary.document(paper=False), console)
    print_lines(console, *claims(rows))
    for material in materials:
        mine = [row for row in rows if row["material"] == material]
        shown = _shown(mine[0].get("component", OLDER_COMPONENT))
        truth = (data[material].test_mean[shown], data[material].test_std[shown])
        stem = f"plasticity-{material}" if ablation is None else f"plasticity-{ablation}-{material}"
        pictures = save_figures(mine, truth, folder, stem)
        print_lines(console, *(f"Figure: {picture}" for picture in pictures))
    print_lines(console, f"Rows: {path}")
    return rows


def _repeats_of(sizes: Sequence[int], repeats: Sequence[int]) -> dict[int, int]:
    for one in repeats:
        require_whole("repeats", one, 1)
    if len(repeats) not in (1, len(sizes)):
        raise ValueError(
            f"The `repeats` must be one number, or one for each of the {len(sizes)} sizes. "
            f"Got {len(repeats)}."
        )
    return dict(zip(sizes, [*repeats] * (len(sizes) // len(repeats)), strict=True))


def _variants(names: Sequence[str], ablation: str | None) -> Mapping[str, dict[str, Any]]:
    if ablation is None:
        return {find_method(name).name: {} for name in names or DEFAULT_METHODS}
    require_one_of("ablation", ablation, tuple(ABLATIONS))
    if names:
        raise ValueError(
            f"An ablation varies {ABLATED} alone. Got methods {', '.join(names)}; leave them out."
        )
    return ABLATIONS[ablation]


def _shown(component: str) -> tuple[int, slice, int]:
    return SHOWN_PATH, slice(None), COMPONENTS.index(component)


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
