"""The paper's tables of image regression, on the sets that can be generated here."""

from collections.abc import Callable, Sequence

import pandas

from vebnn.bench.pages.images_limits import PAIRS
from vebnn.bench.pages.paper.evidence import (
    Finding,
    Pair,
    Rows,
    compare,
    counted_wins,
    mark_of,
    published_wins,
)
from vebnn.bench.results import Row

FILE = "images.jsonl"
SETS = ("cells", "cells-gap", "cells-tail")
WHY = "one seed, a small network, and cells that were generated here"


def better(label: str, field: str) -> Callable[[Rows], Finding | None]:
    """Return whether VeBNN is at least as good as the paper's MVE with the same engine."""
    pairs = [Pair(ours, joint) for ours, joint in PAIRS.items()]

    def find(folder: Rows) -> Finding | None:
        held = compare(_cells(folder), ("dataset",), "split", pairs, (field,))
        if not held:
            return None
        return Finding(
            counted_wins(held), counted_wins(published_wins(label, field, pairs)), mark_of(held), WHY
        )

    return find


def epistemic_rises(folder: Rows) -> Finding | None:
    """Return whether the epistemic std of VeBNN is larger outside the training range."""
    rows = [row for row in _cells(folder) if row["dataset"] == "cells-tail" and row["method"] in PAIRS]
    if not rows:
        return None
    held = [row["epistemic_ratio"] > 1 for row in rows]
    shown = ", ".join(
        f"{row['method']} {row['epistemic_ratio']:.2f} × (aleatoric {row['aleatoric_ratio']:.2f} ×)"
        for row in rows
    )
    return Finding(shown, "it rises, and so does the aleatoric", mark_of(held), WHY)


def beta_nll_helps(folder: Rows) -> Finding | None:
    """Return whether ensembles with β-NLL have the smaller error of the mean."""
    pair = Pair("MVE (β-NLL=0.5 / Ensembles)", "MVE (Ensembles)")
    held = compare(_cells(folder), ("dataset",), "split", [pair], ("rmse",))
    if not held:
        return None
    theirs = published_wins("tab:beta_vs_nll_imgreg", "rmse", [pair])
    return Finding(counted_wins(held), counted_wins(theirs), mark_of(held), WHY)


def _cells(folder: Rows) -> Sequence[Row]:
    frame = pandas.DataFrame(folder.of(FILE))
    return [] if frame.empty else frame[frame["dataset"].isin(SETS)].to_dict("records")
