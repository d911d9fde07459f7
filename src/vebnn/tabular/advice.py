"""Scores in plain words: what they mean, and what to do next."""

import numpy as np

from vebnn.calibration import Calibration, CommonFactor, ConformalScores, SeparateFactors
from vebnn.tabular.scores import TargetScore

WORTH_SAYING = 0.01  # share of impossible intervals
_STANDARD_ERRORS = 2.5  # allowed distance of the coverage from its level


def percent(share: float, decimals: int = 0) -> str:
    """Return a share in percent."""
    return f"{100 * share:.{decimals}f} %"


def coverage_verdict(score: TargetScore) -> str:
    """Return ``"honest"`` if chance can explain the coverage, else ``"narrow"`` or ``"wide"``."""
    error = np.sqrt(score.level * (1 - score.level) / score.num_independent)
    distance = (score.coverage - score.level) / error
    if abs(distance) <= _STANDARD_ERRORS:
        return "honest"
    return "narrow" if distance < 0 else "wide"


def noise_share(score: TargetScore) -> float:
    """Return the aleatoric share of the variance of a typical prediction."""
    aleatoric, epistemic = score.aleatoric_std**2, score.epistemic_std**2
    return aleatoric / (aleatoric + epistemic)


def calibration_numbers(calibration: Calibration | None, level: float) -> dict[str, list[float]]:
    """Return the learned numbers, one per target, by name; the level is for conformal intervals."""
    match calibration:
        case CommonFactor(factors=factors):
            return {"factor": list(factors)}
        case SeparateFactors(aleatoric=aleatoric, epistemic=epistemic):
            return {"aleatoric_factor": list(aleatoric), "epistemic_factor": list(epistemic)}
        case ConformalScores():
            return {"interval_stds": calibration.multipliers(level).tolist()}
    return {}


def advise(
    scores: tuple[TargetScore, ...],
    mixed: bool = True,
    *,
    calibrated: bool = False,
    inputs: str = "columns",
    lowest: tuple[float, ...] = (),
) -> list[str]:
    """Return sentences on what to do next; the scores are of held-out rows and may be empty.

    The ``inputs`` are what the model predicts from, in the plural; ``lowest`` are the smallest values
    of the targets in the training rows.
    """
    sentences = []
    for at, score in enumerate(scores):
        prefix = f"{score.target}: " if len(scores) > 1 else ""
        if score.rmse > 0.9 * score.baseline_rmse:
            sentences.append(
                f"{prefix}The predictions are hardly better than always predicting the mean. Look for "
                f"{inputs} that say more about the target."
            )
        if lowest and lowest[at] >= 0 and score.below_zero >= WORTH_SAYING:
            sentences.append(
                f"{prefix}{percent(score.below_zero)} of the {percent(score.level)} intervals go below "
                f"0, where no value of the table is: try {_kind_without_negatives(lowest[at])}"
                f"{'; give the kind of each target, in order' if len(scores) > 1 else ''}."
            )
        about = _about_coverage(score, calibrated), _about_parts(score, inputs)
        sentences += [prefix + sentence for sentence in about]
    if not mixed:
        sentences.append(
            "The chains have not mixed well, so the epistemic part may be too small: try "
            "--effort thorough."
        )
    if not scores:
        sentences.append("No rows were held out, so the errors on new rows are not known.")
    return sentences


def _kind_without_negatives(lowest: float) -> str:
    if lowest > 0:
        return "--target-kind positive, or count for whole numbers"
    return "--target-kind count for whole numbers, or positive with a detection limit in place of 0"


def _about_coverage(score: TargetScore, calibrated: bool) -> str:
    found = f"The {percent(score.level)} intervals hold {percent(score.coverage)} of the held-out rows"
    match coverage_verdict(score):
        case "narrow":
            calibrate = "" if calibrated else ", --calibrate common"
            return f"{found}: they are too narrow. Try --effort thorough{calibrate} or more rows."
        case "wide":
            return f"{found}: they are wider than necessary."
    return f"{found}, within what chance allows."


def _about_parts(score: TargetScore, inputs: str) -> str:
    share = noise_share(score)
    noise = percent(share)
    if share > 0.67:
        return (
            f"{noise} of the variance is noise: more rows of the same kind will not help "
            f"much; better measurements, or {inputs} that explain the scatter, would."
        )
    if share < 0.33:
        return f"{percent(1 - share)} of the variance is epistemic: more rows would help."
    return f"{noise} of the variance is noise, the rest is epistemic: more rows would reduce the rest."
