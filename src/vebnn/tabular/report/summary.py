"""The report's sentences, for readers without statistics."""

import numpy as np

from vebnn.tabular.advice import coverage_verdict, noise_share, percent
from vebnn.tabular.report.findings import Findings, TargetFindings, unusual_values


def number(value: float) -> str:
    """Return a number with four significant digits, and an exponent only where it is needed."""
    if not np.isfinite(value):
        return "–"
    if value != 0 and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.3e}".replace("e-0", "e-").replace("e+0", "e")
    decimals = 0 if abs(value) >= 1_000 else 3 - int(np.floor(np.log10(max(abs(value), 1e-4))))
    text = f"{value:,.{max(decimals, 0)}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def summarise(findings: Findings, target: TargetFindings) -> tuple[str, str, str]:
    """Return three sentences on a target: its errors, its uncertainty, where to measure next."""
    return _errors(findings, target), _uncertainty(target), _next_measurement(findings, target)


def _errors(findings: Findings, target: TargetFindings) -> str:
    score = target.score
    rows = " it had not seen" if findings.evaluation.fresh else " it was trained on, which flatters it"
    if not findings.evaluation.known:
        rows = ""
    verdict = {
        "honest": "within what chance allows",
        "narrow": "which is too few: the ranges are too narrow",
        "wide": "which is more than promised: the ranges are cautious",
    }[coverage_verdict(score)]
    return (
        f"On {score.num_rows:,} rows{rows}, predictions of {target.name} are typically off by "
        f"{number(score.rmse)}, where always predicting the mean would be off by "
        f"{number(score.baseline_rmse)}; the {percent(score.level)} ranges hold "
        f"{percent(score.coverage)} of the measured values, {verdict}."
    )


def _uncertainty(target: TargetFindings) -> str:
    share = noise_share(target.score)
    scatter = (
        f"measured values scatter by about {number(target.score.aleatoric_std)} around the best "
        f"prediction"
    )
    if share >= 0.5:
        return (
            f"{percent(share)} of the typical uncertainty is noise: {scatter}, and more data of the "
            f"same kind will not change that."
        )
    return (
        f"{percent(1 - share)} of the typical uncertainty is what the model does not know yet, and "
        f"more data would reduce it; the rest is noise: {scatter}."
    )


def _next_measurement(findings: Findings, target: TargetFindings) -> str:
    row = int(np.argmax(target.epistemic_std))
    name = findings.identifier
    named = [f"{name} {findings.frame[name].iloc[row]}"] if name is not None else []
    details = "; ".join([*named, *unusual_values(findings, row)])
    place = findings.row_numbers[row]
    row_and_details = f"{place} ({details})" if details else f"{place}"
    return (
        f"The model knows least about row {row_and_details}, where its best prediction may be off by "
        f"± {number(target.epistemic_std[row])}: measurements near there would teach it most."
    )


def reading(aleatoric_std: float, epistemic_std: float) -> str:
    """Return whether more data would reduce the uncertainty of one row."""
    share = epistemic_std**2 / (aleatoric_std**2 + epistemic_std**2)
    if share > 0.5:
        return "more data near here would help"
    return "more data would help a little" if share > 0.2 else "more data will not help"
