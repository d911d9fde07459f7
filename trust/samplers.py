"""The standing proof of samplers: calibration by simulation, joint distributions, reference draws.

Thresholds, set before the run: p > 0.01 for every test; means within 0.1 std and standard deviations
within 10 % of the reference.
"""

from dataclasses import replace
from typing import Any

from trust.joint_distribution import joint_distribution_scores, p_value
from trust.promises import Promise
from trust.ranks import Ranks, rank_truths
from trust.reference import errors, predictions, simulate_with_reference
from trust.sampler_settings import DROPOUT, approximations, samplers
from trust.simulated import MODELS
from vebnn.inference import Engine

TITLE = "Samplers"

SMALLEST_P = 0.01
MEAN_TOLERANCE, STD_TOLERANCE = 0.1, 0.1  # in std; relative
NAMES = {"linear": "linear model", "network": "network of 21 weights"}
IN_SHORT = ("psgld", "psghmc", "mclmc")  # on the linear model


def prove(*, short: bool, seed: int = 0) -> tuple[list[Promise], dict[str, Any]]:
    """Return what was measured; the short form has one model, three samplers and few data sets."""
    parts = [prove_ranks(short, seed), prove_joint_distribution(short, seed)]
    if not short:
        parts.append(prove_reference(seed))
    promises = [promise for part, _ in parts for promise in part]
    return promises, {name: value for _, figures in parts for name, value in figures.items()}


def prove_ranks(short: bool, seed: int) -> tuple[list[Promise], dict[str, Any]]:
    """Rank the truth among draws of every engine."""
    num_data_sets, num_bins = (32, 4) if short else (256, 16)
    promises, figures = [], []
    for name in ["linear"] if short else MODELS:
        exact = samplers(name)
        others = {} if short else approximations(name)
        for engine_name, engine in (exact | others).items():
            if short and engine_name not in IN_SHORT:
                continue
            ranks = rank(engine_name, engine, name, seed, num_data_sets)
            p = ranks.p_value(num_bins)
            figures.append(
                {
                    "engine": engine_name,
                    "model": name,
                    "promised": engine_name in exact,
                    "p": p,
                    "histograms": ranks.histograms(num_bins).tolist(),
                    "correlation_of_neighbours": ranks.correlation,
                }
            )
            if engine_name in exact:
                what = f"{engine_name}: ranks of the truth are uniform, {NAMES[name]}"
                promises.append(
                    Promise(what, f"p = {p:.2g}, {num_data_sets} data sets", p > SMALLEST_P)
                )
    return promises, {"ranks": figures}


def rank(engine_name: str, engine: Engine, model_name: str, seed: int, num_data_sets: int) -> Ranks:
    """Return the ranks of an engine; MC dropout gets a network with dropout."""
    model = MODELS[model_name]
    model = model._replace(recipe=DROPOUT) if engine_name == "mc_dropout" else model
    return rank_truths(engine, model, seed, num_data_sets)


def prove_joint_distribution(short: bool, seed: int) -> tuple[list[Promise], dict[str, Any]]:
    """Compare chains of pSGLD that draw data and weights by turns with direct draws."""
    num_chains, num_turns = (50, 1_000) if short else (400, 4_000)
    promises, figures = [], {}
    for name in ["linear"] if short else MODELS:
        scores = joint_distribution_scores(MODELS[name], seed, num_chains, num_turns)
        p = p_value(scores)
        figures[name] = {"scores": scores.tolist(), "p": p}
        measured = f"p = {p:.2g}, {len(scores)} statistics"
        what = f"psgld: draws data and weights from their joint distribution, {NAMES[name]}"
        promises.append(Promise(what, measured, p > SMALLEST_P))
    return promises, {"joint_distribution": figures}


def prove_reference(seed: int) -> tuple[list[Promise], dict[str, Any]]:
    """Compare 4,000 draws of every sampler with weighted draws of the prior, on the same data."""
    worst: dict[str, list[tuple[float, float]]] = {}
    figures: dict[str, Any] = {}
    for name, model in MODELS.items():
        data, reference, passed_over = simulate_with_reference(model, seed, num_blocks=80)
        figures[name] = {
            "effective_draws": reference.size,
            "data_sets_passed_over": passed_over,
            "errors": {},
        }
        for engine_name, engine in samplers(name).items():
            longer = replace(engine, num_chains=8, num_samples=500)  # type: ignore[type-var]
            found = errors(predictions(longer, model, data, seed), reference)
            worst.setdefault(engine_name, []).append(found)
            figures[name]["errors"][engine_name] = {"mean": found[0], "std": found[1]}
    promises = []
    for engine_name, pairs in worst.items():
        mean, std = (max(column) for column in zip(*pairs, strict=True))
        promises.append(
            Promise(
                f"{engine_name}: predictions agree with weighted draws of the prior",
                f"means within {mean:.3f} std, stds within {std:.1%}",
                mean < MEAN_TOLERANCE and std < STD_TOLERANCE,
            )
        )
    return promises, {"reference": figures}
