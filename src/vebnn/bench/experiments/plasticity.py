"""The plasticity law: sequences whose true mean and noise are known, from 50 to 1000 training paths."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from vebnn.bench.experiments import plasticity_report as report
from vebnn.bench.experiments.plasticity_settings import PRESETS, make_model
from vebnn.bench.figures.curve import Curve
from vebnn.bench.methods import METHODS, find_method
from vebnn.bench.results import ResultsFile, Row, one_by_one, r_hat, run_cases, stamp
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.core.workers import spread
from vebnn.datasets.plasticity import Plasticity, load_plasticity
from vebnn.metrics import (
    LEVELS,
    coverage,
    epistemic_log_likelihood,
    interval_length,
    reliability,
    rmse_percent,
    wasserstein,
)
from vebnn.networks import GRU
from vebnn.plots.style import TWO_SIDED_95
from vebnn.prediction import Prediction

SIZES = (50, 100, 200, 400, 600, 800, 1000)
# Those of the paper's figure.
DEFAULT_METHODS = (
    "ME (MSE)",
    "MVE (β-NLL)",
    "MVE (Ensembles)",
    "MVE (MC-Dropout)",
    "MVE (pSGLD)",
    "VeBNN (pSGLD)",
)
SHOWN_PATH, SHOWN_COMPONENT = 0, 2  # of the prediction figure: the paper shows the third component, too

# What the ablations change in VeBNN (pSGLD); the first is the preset as it is.
ABLATIONS: Mapping[str, Mapping[str, dict[str, Any]]] = {
    "loss": {
        "Gamma": {},
        "Gaussian": {"variance_loss": "nll"},
        "β-NLL": {"variance_loss": "beta_nll"},
        "Natural": {"variance_loss": "natural"},
    },
    "rounds": {f"K = {k}": {"rounds": k, "choose_round": "last"} for k in range(1, 6)},
    "size": {
        f"{layers} × {units}": {"variance_network": GRU((units,) * layers)}
        for layers in (1, 2)
        for units in (8, 16, 64, 128)
    },
}


def training_paths(data: Plasticity, num_paths: int, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    """Return strains and stresses of some paths at random; more paths hold the fewer."""
    order = np.random.default_rng(repeat).permutation(len(data.strain))[:num_paths]
    return data.strain[order], data.stress[order]


def score(prediction: Prediction, data: Plasticity) -> Row:
    """Compare a prediction of the test paths with mean and std over all microstructures.

    All but the RMSE are in units of the standard deviation of a component over the training paths, so
    that shear counts as much as the others. Ignorance is scored by the paper's epistemic metrics: the
    noiseless truth under the epistemic variance alone.
    """
    scale = data.stress.std(axis=(0, 1))
    truth, truth_std = data.test_mean / scale, data.test_std / scale
    mean, noise_std = prediction.mean / scale, prediction.aleatoric_std / scale
    found: Row = {
        "rmse_percent": rmse_percent(data.test_mean, prediction.mean),
        "wasserstein": wasserstein(truth, truth_std, mean, noise_std),
        "noise_ratio": _rms(noise_std) / _rms(truth_std),
        "noise_std": _rms(prediction.aleatoric_std),
        "true_noise_std": _rms(data.test_std),
    }
    ignorance = prediction.epistemic_variance / scale**2
    if not ignorance.all():  # a single network claims to know all
        nothing = ("log_likelihood", "coverage", "interval_length", "calibration_error", "std")
        return found | {f"epistemic_{name}": None for name in nothing} | {"reliability": None}
    reach = TWO_SIDED_95 * np.sqrt(ignorance)
    curve = reliability(truth, mean, ignorance, LEVELS)
    return found | {
        "epistemic_log_likelihood": epistemic_log_likelihood(truth, mean, ignorance),
        "epistemic_coverage": coverage(truth, mean - reach, mean + reach),
        "epistemic_interval_length": interval_length(mean - reach, mean + reach),
        "epistemic_calibration_error": curve.expected_calibration_error,
        "epistemic_std": _rms(np.sqrt(ignorance)),
        "reliability": curve.coverage.round(4).tolist(),
    }


def score_case(preset: str, variants: Mapping[str, dict[str, Any]], case: Row) -> Row:
    """Fit one method to some paths of a material; return its numbers, and its curve for the figure.

    Args:
      preset: how it is trained.
      variants: what each method changes in the preset.
      case: material, method, number of paths and repeat, which seeds both paths and model.
    """
    data = load_plasticity(case["material"])
    method = METHODS.get(case["method"], METHODS["VeBNN (pSGLD)"])
    changes = variants[case["method"]]
    model = make_model(method, preset, case["num_paths"], case["repeat"], **changes)
    model.fit(*training_paths(data, case["num_paths"], case["repeat"]))
    prediction = model.predict_distribution(data.test_strain)
    return {**score(prediction, data), "r_hat": r_hat(model), "curve": _shown(prediction)}


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
    jobs: int | None = None,
    mix: bool = False,
) -> list[Row]:
    """Fit every method to every number of paths of every material; print tables, draw figures.

    Args:
      materials: 1, 2 or both.
      sizes: numbers of training paths.
      names: of the methods; none takes those of the paper's figure. Not for ablations.
      repeats: how many random choices of training paths; one number for all sizes, or one for each.
      preset: ``"paper"`` or ``"quick"``.
      ablation: ``"loss"``, ``"rounds"`` or ``"size"``: variants of VeBNN (pSGLD) instead of methods.
      path: file of rows; finished ones are not run again.
      folder: for the figures.
      console: where the progress bar and the tables go.
      jobs: fits at once, each on one core; as many as there are cores by default. A single one has
        all cores.
      mix: whether rows of the file count that another version of the code made.
    """
    require_one_of("preset", preset, PRESETS)
    for size in sizes:
        require_whole("sizes", size, 5)
    if not materials or not sizes:
        raise ValueError("The benchmark needs at least one material and one number of paths. Got none.")
    repeats_of = _repeats_of(sizes, repeats)
    variants = _variants(names, ablation)
    for method in variants:
        make_model(METHODS.get(method, METHODS["VeBNN (pSGLD)"]), preset, sizes[0], 0)
    data = {material: load_plasticity(material) for material in materials}
    for material, one in data.items():
        if max(sizes) > len(one.strain):
            raise ValueError(
                f"The `sizes` must be at most {len(one.strain)}, the training paths of material "
                f"{material}. Got {max(sizes)}."
            )
    experiment = "plasticity" if ablation is None else f"plasticity · {ablation}"
    rows = run_cases(
        ResultsFile(path, stamp(experiment, preset=preset), mix),
        [
            {"material": material, "num_paths": size, "method": method, "repeat": repeat}
            for repeat in range(max(repeats))
            for size in sizes
            if repeat < repeats_of[size]
            for material in materials
            for method in variants
        ],
        partial(score_case, preset, variants),
        console,
        lambda case: f"material {case['material']} · {case['num_paths']} paths · {case['method']}",
        spread=one_by_one if jobs == 1 else partial(spread, jobs=jobs),
    )
    words = f"{preset} settings" if ablation is None else f"{preset} settings, ablation of {ablation}"
    for material in materials:
        mine = [row for row in rows if row["material"] == material]
        console.print(report.scores_table(material, words, mine))
        if ablation is None:
            console.print(report.calibration_table(material, mine))
    for line in report.verdict(rows) if ablation is None else report.best_variants(rows):
        console.print(line, highlight=False, soft_wrap=True)
    stem = "plasticity" if ablation is None else f"plasticity-{ablation}"
    for material in materials:
        mine = [row for row in rows if row["material"] == material]
        truth = (
            data[material].test_mean[SHOWN_PATH, :, SHOWN_COMPONENT],
            data[material].test_std[SHOWN_PATH, :, SHOWN_COMPONENT],
        )
        for picture in report.save_figures(mine, truth, folder, f"{stem}-{material}"):
            console.print(f"Figure: {picture}", highlight=False, soft_wrap=True)
    console.print(f"Rows: {path}", highlight=False, soft_wrap=True)
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
            f"An ablation is of VeBNN (pSGLD) alone. Got methods {', '.join(names)}; leave them out."
        )
    return ABLATIONS[ablation]


def _shown(prediction: Prediction) -> dict[str, list[float]]:
    parts = Curve(prediction.mean, prediction.aleatoric_std, prediction.epistemic_std)
    return {
        name: [float(f"{value:.4g}") for value in part[SHOWN_PATH, :, SHOWN_COMPONENT]]
        for name, part in parts._asdict().items()
    }


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
