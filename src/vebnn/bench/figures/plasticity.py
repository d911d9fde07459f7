"""The paper's figures of the plasticity data: elements with their fields, and how responses scatter."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from vebnn.bench.simulators.plasticity.microstructure import Microstructure
from vebnn.bench.simulators.plasticity.paths import COMPONENTS
from vebnn.bench.simulators.plasticity.solver import Fields, Response
from vebnn.plots import draw_band
from vebnn.plots.style import BLACK, BLUE, GREY, ORANGE, PALE, styled_figure

_REALISATIONS_SHOWN = 3


def plot_fields(
    structure: Microstructure,
    centres: np.ndarray,
    responses: Sequence[Response],
    weights: Sequence[np.ndarray],
) -> Figure:
    """Draw elements, one per row, and their fields at the end of a path.

    Every column has one scale of colours for all elements; it leaves out the most extreme hundredth.

    Args:
      structure: size and radius.
      centres: of the particles, ``(elements, particles, 2)``.
      responses: to the same path.
      weights: how much of each pixel behaves as matrix; plastic strain is drawn where it is most.
    """
    pairs = zip(responses, weights, strict=True)
    fields = [_drawn(response.fields, weight) for response, weight in pairs]
    with styled_figure(13.5, 0.6 + 2.4 * len(fields), framed=True) as figure:
        heights = [1] * len(fields) + [0.05]
        *panels, scales = figure.subplots(
            len(heights), 1 + len(fields[0]), squeeze=False, height_ratios=heights
        )
        panels[0][0].set_title("element")
        scales[0].set_axis_off()
        for row, points in enumerate(centres):
            _draw_element(panels[row][0], structure, points)
            panels[row][0].set_ylabel(f"SVE {row}")
        for column, name in enumerate(fields[0], start=1):
            low, high = _limits([one[name] for one in fields])
            scale = {"cmap": "RdBu_r" if low < 0 else "viridis", "vmin": low, "vmax": high}
            for row, one in enumerate(fields):
                image = panels[row][column].imshow(one[name].T, origin="lower", **scale)
            panels[0][column].set_title(name)
            figure.colorbar(image, cax=scales[column], orientation="horizontal")
        for axes in np.ravel(panels):
            axes.set(xticks=[], yticks=[])
    return figure


def _drawn(fields: Fields, weight: np.ndarray) -> dict[str, np.ndarray]:
    xx, yy, xy, zz = fields.stress
    square = 0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3 * xy**2
    return {
        "$S_{11}$ (MPa)": xx,
        "$S_{22}$ (MPa)": yy,
        "$S_{12}$ (MPa)": xy,
        "von Mises (MPa)": np.sqrt(square),
        "plastic strain": np.where(weight > 0.5, fields.plastic_strain, np.nan),
    }


def _limits(fields: Sequence[np.ndarray]) -> tuple[float, float]:
    low, high = np.nanquantile(np.stack(fields), [0.01, 0.99])
    most = float(max(-low, high))
    return (0.0, float(high)) if low >= 0 else (-most, most)


def _draw_element(axes: Axes, structure: Microstructure, centres: np.ndarray) -> None:
    axes.set_facecolor(PALE)
    # A disc that is cut by an edge goes on at the opposite one.
    for centre, shift in product(centres, product((-structure.size, 0, structure.size), repeat=2)):
        axes.add_patch(Circle(tuple(centre + shift), structure.radius, color=BLUE, linewidth=0))
    axes.set(xlim=(0, structure.size), ylim=(0, structure.size), aspect="equal")


def plot_realisations(strain: np.ndarray, stress: Sequence[np.ndarray]) -> Figure:
    """Draw a path on top, and below it the responses of several elements.

    Three responses are drawn one by one; the band holds 95 % of all, if they are Gaussian.

    Args:
      strain: ``(steps, 3)``.
      stress: ``(steps, 3)`` per element.
    """
    all_stress = np.stack(stress)
    mean, std = all_stress.mean(0), all_stress.std(0, ddof=1)
    steps = np.arange(1, len(strain) + 1)
    with styled_figure(11, 5.2) as figure:
        panels = figure.subplots(2, 3, sharex=True, sharey="row")
        for number, (component, (above, below)) in enumerate(zip(COMPONENTS, panels.T, strict=True)):
            above.plot(steps, strain[:, number], color=BLACK, linewidth=1.6)
            above.set_title(f"Component {component}")
            middle = mean[:, number]
            draw_band(below, steps, middle, std[:, number], "95 %", color=ORANGE, alpha=0.3)
            dashed: dict[str, Any] = {"color": GREY, "linewidth": 1, "linestyle": "--"}
            below.plot(steps, all_stress[:_REALISATIONS_SHOWN, :, number].T, **dashed)
            below.plot([], [], label="one element", **dashed)
            below.plot(steps, middle, color=BLUE, linewidth=1.8, label=f"mean of {len(all_stress)}")
            below.set_xlabel("step")
            for axes in (above, below):
                axes.axhline(0, color=GREY, linewidth=0.5, zorder=0)
        panels[0, 0].set_ylabel("strain")
        panels[1, 0].set_ylabel("stress (MPa)")
        panels[1, 0].legend(frameon=False)
    return figure
