"""Findings in sentences that need no statistics to be understood."""

import numpy as np

from vebnn.tabular.advice import coverage_verdict, noise_share, percent
from vebnn.tabular.report.findings import Findings, TargetFindings, why_unusual

HELPS = "more data near here would help"
HELPS_A_LITTLE = "more data would help a little"
HELPS_NOT = "more data will not help"


def number(value: float) -> str:
    """Return a number with four digits that matter, and an exponent only where it is needed."""
    if not np.isfinite(value):
        return "–"
    if value != 0 and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.3e}".replace("e-0", "e-").replace("e+0", "e")
    decimals = 0 if abs(value) >= 1_000 else 3 - int(np.floor(np.log10(max(abs(value), 1e-4))))
    text = f"{value:,.{max(decimals, 0)}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def summarise(findings: Findings, target: TargetFindings) -> tuple[str, str, str]:
    """Return three sentences on a target: how good, what kind of doubt, where to measure next."""
    return _how_good(findings, target), _what_kind(target), _where_next(findings, target)


def _how_good(findings: Findings, target: TargetFindings) -> str:
    score = target.score
    seen = "it had not seen" if findings.fresh else "it was trained on, which flatters it"
    verdict = {
        "honest": "within what chance allows",
        "narrow": "which is too few: trust the ranges less than they claim",
        "wide": "which is more than they need to: the ranges are cautious",
    }[coverage_verdict(score)]
    return (
        f"On {score.num_rows:,} rows {seen}, predictions of {target.name} are typically off by "
        f"{number(score.rmse)}, where always guessing the mean would be off by "
        f"{number(score.baseline_rmse)}; the {percent(score.level)} ranges hold "
        f"{percent(score.coverage)} of the measured values, {verdict}."
    )


def _what_kind(target: TargetFindings) -> str:
    share = noise_share(target.score)
    noise = (
        f"measured values scatter by about {number(target.score.aleatoric_std)} around the best "
        f"prediction"
    )
    if share >= 0.5:
        return (
            f"{percent(share)} of the typical uncertainty is noise: {noise}, and more data of the same "
            f"kind will not change that."
        )
    return (
        f"{percent(1 - share)} of the typical uncertainty is what the model does not know yet, and "
        f"more data would reduce it; the rest is noise: {noise}."
    )


def _where_next(findings: Findings, target: TargetFindings) -> str:
    row = int(np.argmax(target.epistemic_std))
    why = why_unusual(findings, row)
    kept = [name for name in findings.model.encoder.identifiers if name in findings.frame.columns]
    names = [f"{name} {findings.frame[name].iloc[row]}" for name in kept[:1]]
    because = f" ({'; '.join([*names, *why])})" if names or why else ""
    return (
        f"The model knows least about row {row + 1}{because}, where its own best guess may be off by "
        f"± {number(target.epistemic_std[row])}: measurements near there would teach it most."
    )


def reading(aleatoric_std: float, epistemic_std: float) -> str:
    """Return what to do about the uncertainty of one row."""
    share = epistemic_std**2 / (aleatoric_std**2 + epistemic_std**2)
    if share > 0.5:
        return HELPS
    return HELPS_A_LITTLE if share > 0.2 else HELPS_NOT
