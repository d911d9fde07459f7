"""The limits of image regression, and whether they hold."""

from collections.abc import Iterator

from vebnn.bench.comparison.reading import Results
from vebnn.bench.render.limits import Check, Column, checks_sheet
from vebnn.bench.render.sheet import Sheet

# VeBNN, and its joint counterpart in the paper.
PAIRS = {"VeBNN (Ensembles)": "MVE (β-NLL=0.5 / Ensembles)", "VeBNN (pSGLD)": "MVE (pSGLD)"}
SHIFTED = ("cells-gap", "cells-tail")
KNOWN = "rotated-digits"


def limits_sheet(results: Results) -> Sheet:
    """Return the limits, what was found and whether they hold."""
    caption = "Set before the run. Means over seeds."
    return checks_sheet(caption, checks(results))


def checks(results: Results) -> Iterator[Check]:
    """Yield every check whose numbers are there."""

    def mean(field: str, method: str, dataset: str) -> float | None:
        values = results.scores(field, method, dataset)
        return float(values.mean()) if len(values) else None

    def one(words: str, field: str, method: str, dataset: str, limit: Column) -> Iterator[Check]:
        if (value := mean(field, method, dataset)) is not None:
            yield Check(f"{dataset}, {method}: {words}", value, limit)

    for method, joint in PAIRS.items():
        within = Column("", low=0.93, high=0.97)
        yield from one("calibrated coverage", "coverage", method, "cells", within)
        ours, theirs = (mean("tll", name, "cells") for name in (method, joint))
        if ours is not None and theirs is not None:
            words = f"cells, {method}: TLL minus that of {joint}"
            yield Check(words, ours - theirs, Column("", low=0))
        for dataset in SHIFTED:
            words = "epistemic std outside over inside"
            yield from one(words, "epistemic_ratio", method, dataset, Column("", ".2f", low=1.5))
            ratios = [mean(f"{part}_ratio", method, dataset) for part in ("epistemic", "aleatoric")]
            if ratios[0] is not None and ratios[1] is not None:
                words = f"{dataset}, {method}: aleatoric std outside over inside, below the epistemic"
                yield Check(words, ratios[1], Column("", ".2f", high=round(ratios[0], 2)))
        error, covered = Column("", high=0.25), Column("", low=0.85, high=0.99)
        yield from one("raw relative error of the noise std", "raw_noise_error", method, KNOWN, error)
        words = "raw epistemic coverage of the true angle"
        yield from one(words, "raw_epistemic_coverage", method, KNOWN, covered)
