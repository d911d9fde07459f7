"""The axes to draw on: the user's, or new ones."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from vebnn.plots.style import OPEN_FRAMES, STYLE


@contextmanager
def axes_to_draw_on(ax: Axes | None, width: float = 6.4, height: float = 4.2) -> Iterator[Axes]:
    """Yield the user's axes, which keep their style, or new ones in the common style."""
    if not isinstance(ax, Axes | None):
        raise ValueError(f"The `ax` must be matplotlib axes or None. Got {ax!r}.")
    with several_axes(None if ax is None else [ax], 1, width, height) as (only,):
        yield only


@contextmanager
def several_axes(
    axes: Sequence[Axes] | None,
    count: int,
    width: float,
    height: float,
    **settings: Any,
) -> Iterator[np.ndarray]:
    """Yield so many axes, left to right.

    New ones belong to a figure of pyplot, so that notebooks and ``plt.show()`` show it. The settings
    are those of ``subplots``.
    """
    if axes is not None:
        given = np.ravel(np.asarray(axes, object))
        if len(given) != count or not all(isinstance(one, Axes) for one in given):
            raise ValueError(f"The `axes` must be {count} matplotlib axes or None. Got {axes!r}.")
        yield given
        return
    with matplotlib.rc_context(STYLE | OPEN_FRAMES):
        from matplotlib import pyplot  # chooses a backend, which only new figures need

        figure = pyplot.figure(figsize=(width, height), layout="constrained", facecolor="white")
        yield np.ravel(figure.subplots(1, count, squeeze=False, **settings))
