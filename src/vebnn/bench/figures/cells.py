"""Examples of simulated cell images."""

import numpy as np
from matplotlib.figure import Figure

from vebnn.bench.simulators.cells import draw_image
from vebnn.plots.style import styled_figure

_COUNTS = (1, 20, 50, 100, 150, 200)


def plot_examples(size: int, seed: int) -> Figure:
    """Draw two images of 1, 20, 50, 100, 150 and 200 nuclei, on one scale of grey."""
    with styled_figure(2 * len(_COUNTS), 4.4, framed=True) as figure:
        panels = figure.subplots(2, len(_COUNTS))
        for row, column in np.ndindex(panels.shape):
            count = _COUNTS[column]
            image = draw_image(np.random.default_rng((seed, row, column)), count, size)
            axes = panels[row, column]
            axes.imshow(image[:, :, 0], cmap="gray", vmin=0, vmax=255, interpolation="nearest")
            axes.set(xticks=[], yticks=[])
            if row == 0:
                axes.set_title(f"{count} nuclei" if count > 1 else "1 nucleus")
    return figure
