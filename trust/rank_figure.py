"""Histograms of ranks of the truth: ``python -m trust.rank_figure samplers.json trust-ranks.png``."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binom

from vebnn.plots.style import BLUE, GREY, ORANGE, PALE, styled_figure

BAND = 0.99  # of the counts in one bin, if ranks are uniform
TITLES = {"linear": "Linear model", "network": "Network of 21 weights"}


def draw_ranks(rows: list[dict[str, Any]]) -> Figure:
    """Draw a panel for every engine and model, with a line for every quantity."""
    names = list(dict.fromkeys(row["engine"] for row in rows))
    found = {(row["engine"], row["model"]): row for row in rows}
    with styled_figure(8.5, 1.1 * len(names) + 0.6) as figure:
        panels = figure.subplots(len(names), len(TITLES), squeeze=False)
        for line, name in enumerate(names):
            for panel, model in zip(panels[line], TITLES, strict=True):
                _draw(panel, found.get((name, model)))
            label = name.replace(", ", ",\n")
            panels[line, 0].set_ylabel(label, rotation=0, ha="right", va="center", labelpad=12)
        for panel, title in zip(panels[0], TITLES.values(), strict=True):
            panel.set_title(title)
        figure.supxlabel(
            "rank of the truth among the draws, from lowest to highest\n"
            f"blue: promised uniform; orange: approximate by construction; grey: {BAND:.0%} of counts "
            "if uniform",
            fontsize=9,
        )
    return figure


def _draw(panel: Axes, row: dict[str, Any] | None) -> None:
    panel.set(xticks=[])
    panel.tick_params(labelsize=8)
    if row is None:
        panel.set(yticks=[])
        panel.text(0.5, 0.5, "no hidden units", transform=panel.transAxes, ha="center", color=GREY)
        return
    counts = np.array(row["histograms"])
    size, num_bins = counts[0].sum(), counts.shape[1]
    panel.axhspan(*binom.interval(BAND, size, 1 / num_bins), color=PALE, zorder=0)
    panel.axhline(size / num_bins, color=GREY, linewidth=0.8)
    for one in counts:
        panel.stairs(one, color=BLUE if row["promised"] else ORANGE, linewidth=0.9, alpha=0.7)
    panel.set(xlim=(0, num_bins), ylim=(0, 1.35 * max(counts.max(), 1.8 * size / num_bins)))
    panel.text(0.99, 0.95, f"p = {row['p']:.2g}", transform=panel.transAxes, ha="right", va="top")


def main() -> None:
    """Draw the figure from the figures of the proof."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=Path, help="JSON file of the proof")
    parser.add_argument("picture", type=Path, help="PNG file to write")
    options = parser.parse_args()
    rows = json.loads(options.figures.read_text())["figures"]["ranks"]
    draw_ranks(rows).savefig(options.picture, dpi=110)


if __name__ == "__main__":
    main()
