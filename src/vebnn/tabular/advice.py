"""Scores in plain words: what they mean, and what to do next."""

from typing import Any

import numpy as np

from vebnn.calibration import Calibration, CommonFactor, ConformalScores, SeparateFactors
from vebnn.tabular.scores import TargetScore

_STANDARD_ERRORS = 2.5  # how far coverage may be from its level by chance


def percent(share: float, decimals: int = 0) -> str:
    """Return a share in percent."""
    return f"{100 * share:.{decimals}f} %"


def coverage_verdict(score: TargetScore) -> str:
    """Return ``"narrow"``, ``"wide"`` or ``"honest"``: intervals whose coverage chance can explain."""
    error = np.sqrt(score.level * (1 - score.level) / score.num_rows)
    distance = (score.coverage - score.level) / error
    if distance < -_STANDARD_ERRORS:
        return "narrow"
    return "wide" if distance > _STANDARD_ERRORS else "honest"


def noise_share(score: TargetScore) -> float:
    """Return the share of the noise in the variance of a typical prediction."""
    noise, ignorance = score.aleatoric_std**2, score.epistemic_std**2
    return noise / (noise + ignorance)


def calibration_numbers(calibration: Calibration | None, level: float) -> dict[str, list[float]]:
    """Return what was learned for each target, by name; of conformal intervals, those of a level."""
    match calibration:
        case CommonFactor(factors=factors):
            return {"factor": list(factors)}
        case SeparateFactors(aleatoric=aleatoric, epistemic=epistemic):
            return {"aleatoric_factor": list(aleatoric), "epistemic_factor": list(epistemic)}
        case ConformalScores():
            return {"interval_stds": calibration.multipliers(level).tolist()}
    return {}


def advise(
    scores: tuple[TargetScore, ...], complaint: str | None, *, calibrated: bool = False
) -> list[str]:
    """Return what to do next, in sentences.

    Args:
      scores: of rows the model was not trained on; may be empty.
      complaint: what the diagnostics of the chains complain about, if anything.
      calibrated: whether the model was calibrated already.
    """
    sentences = []
    for score in scores:
        many = f"{score.target}: " if len(scores) > 1 else ""
        if score.rmse > 0.9 * score.baseline_rmse:
            sentences.append(
                f"{many}The predictions are hardly better than always guessing the mean. Look for "
                f"columns that say more about the target."
            )
        sentences.append(many + _about_coverage(score, calibrated))
        sentences.append(many + _about_the_parts(score))
    if complaint:
        sentences.append(
            "The chains have not mixed well, so the epistemic part may be too small: try "
            "--effort thorough."
        )
    if not scores:
        sentences.append("No rows were held out, so nothing is known of the errors on new rows.")
    return sentences


def _about_coverage(score: TargetScore, calibrated: bool) -> str:
    level, inside = percent(score.level), percent(score.coverage)
    verdict = coverage_verdict(score)
    if verdict == "narrow":
        return (
            f"The {level} intervals hold only {inside} of the held-out rows: they are too narrow. Try "
            f"--effort thorough{'' if calibrated else ', --calibrate common'} or more rows."
        )
    if verdict == "wide":
        return f"The {level} intervals hold {inside}: they are wider than they need to be."
    return f"The {level} intervals hold {inside} of the held-out rows, within what chance allows."


def _about_the_parts(score: TargetScore) -> str:
    share = noise_share(score)
    if share > 0.67:
        return (
            f"{percent(share)} of the variance is noise: more rows of the same kind will not help "
            f"much; better measurements, or columns that explain the scatter, would."
        )
    if share < 0.33:
        unknown = percent(1 - share)
        return f"{unknown} of the variance is what the model does not know: more rows would help."
    return (
        f"{percent(share)} of the variance is noise, the rest is what the model does not know: more "
        f"rows would help with the rest."
    )


def complaint_of(estimator: Any) -> str | None:
    """Return what the diagnostics of a fitted estimator's chains complain about, if anything."""
    return estimator.diagnostics_ and estimator.diagnostics_.complaint()
