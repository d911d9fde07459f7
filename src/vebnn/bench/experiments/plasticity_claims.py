"""The paper's claims about the plasticity law, checked against the rows."""

from collections.abc import Iterator, Sequence

import pandas

from vebnn.bench.results import Row

OURS, MEAN_ONLY = "VeBNN (pSGLD)", "ME (MSE)"
JOINT = ("MVE (pSGLD)", "MVE (β-NLL)", "MVE (Ensembles)")
RMSE_ALLOWANCE, RATIO_ALLOWANCE = 1.05, 0.15
FIELDS = ("wasserstein", "rmse_percent", "epistemic_std", "noise_std", "true_noise_std")


def claims(rows: Sequence[Row]) -> list[str]:
    """Return a sentence for every claim whose methods were run."""
    frame = pandas.DataFrame(rows).reindex(columns=["material", "num_paths", "method", *FIELDS])
    groups = frame.astype(dict.fromkeys(FIELDS, float)).groupby(["method", "material", "num_paths"])
    means = groups.mean()
    if OURS not in means.index:
        return []
    ours = means.loc[OURS]
    return [
        *_lower_wasserstein(means, ours),
        *_similar_rmse(means, ours),
        *_epistemic_shrinks(ours),
        *_materials_differ(ours),
    ]


def _lower_wasserstein(means: pandas.DataFrame, ours: pandas.DataFrame) -> Iterator[str]:
    for (material, size), distance in ours["wasserstein"].items():
        known = {name: means["wasserstein"].get((name, material, size)) for name in JOINT}
        others = {name: value for name, value in known.items() if value is not None}
        if others:
            against = ", ".join(f"{name} {value:.4f}" for name, value in others.items())
            word = "lower" if distance < min(others.values()) else "NOT lower"
            where = f"Material {material}, {size} paths"
            yield f"{where}: WA of {OURS} {distance:.4f}, {word} than {against}."


def _similar_rmse(means: pandas.DataFrame, ours: pandas.DataFrame) -> Iterator[str]:
    for (material, size), error in ours["rmse_percent"].items():
        other = means["rmse_percent"].get((MEAN_ONLY, material, size))
        if other is not None:
            word = "within" if error <= RMSE_ALLOWANCE * other else "NOT within"
            yield (
                f"Material {material}, {size} paths: RMSE of {OURS} {error:.2f} %, {word} 5 % of "
                f"{MEAN_ONLY} {other:.2f} %."
            )


def _epistemic_shrinks(ours: pandas.DataFrame) -> Iterator[str]:
    for material, stds in ours["epistemic_std"].groupby("material"):
        if len(stds) > 1:
            word = "shrinks" if stds.is_monotonic_decreasing else "does NOT shrink"
            numbers = ", ".join(f"{std:.4f} ({size})" for (_, size), std in stds.items())
            yield f"Material {material}: epistemic std of {OURS} {word} with more paths: {numbers}."


def _materials_differ(ours: pandas.DataFrame) -> Iterator[str]:
    for size, noise in ours[["noise_std", "true_noise_std"]].groupby("num_paths"):
        if len(noise) == 2:
            predicted, true = noise.loc[2, size] / noise.loc[1, size]
            word = "within" if abs(predicted / true - 1) <= RATIO_ALLOWANCE else "NOT within"
            yield (
                f"{size} paths: noise of material 2 over material 1 by {OURS} {predicted:.2f}, {word} "
                f"15 % of the true {true:.2f}."
            )
