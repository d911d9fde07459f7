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
    return [*_against_others(means), *_of_ours(means.loc[OURS])] if OURS in means.index else []


def _against_others(means: pandas.DataFrame) -> Iterator[str]:
    """Compare Wasserstein distance and RMSE with those of the other methods."""
    distances, errors = (means[field].unstack("method") for field in ("wasserstein", "rmse_percent"))
    for (material, size), found in distances[distances[OURS].notna()].iterrows():
        others = found.reindex(JOINT).dropna()
        if len(others):
            against = ", ".join(f"{name} {value:.4f}" for name, value in others.items())
            word = "lower" if found[OURS] < others.min() else "NOT lower"
            where = f"Material {material}, {size} paths"
            yield f"{where}: WA of {OURS} {found[OURS]:.4f}, {word} than {against}."
    for (material, size), found in errors.reindex(columns=[OURS, MEAN_ONLY]).dropna().iterrows():
        ours, other = found
        word = "within" if ours <= RMSE_ALLOWANCE * other else "NOT within"
        yield (
            f"Material {material}, {size} paths: RMSE of {OURS} {ours:.2f} %, {word} 5 % of "
            f"{MEAN_ONLY} {other:.2f} %."
        )


def _of_ours(ours: pandas.DataFrame) -> Iterator[str]:
    """Check that the epistemic std shrinks, and the ratio of the noise of both materials."""
    for material, stds in ours["epistemic_std"].groupby("material"):
        if len(stds) > 1:
            word = "shrinks" if stds.is_monotonic_decreasing else "does NOT shrink"
            numbers = ", ".join(f"{std:.4f} ({size})" for (_, size), std in stds.items())
            yield f"Material {material}: epistemic std of {OURS} {word} with more paths: {numbers}."
    for size, noise in ours[["noise_std", "true_noise_std"]].groupby("num_paths"):
        if len(noise) == 2:
            predicted, true = noise.loc[2, size] / noise.loc[1, size]
            word = "within" if abs(predicted / true - 1) <= RATIO_ALLOWANCE else "NOT within"
            yield (
                f"{size} paths: noise of material 2 over material 1 by {OURS} {predicted:.2f}, {word} "
                f"15 % of the true {true:.2f}."
            )
