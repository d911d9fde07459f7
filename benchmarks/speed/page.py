"""The page of results: a plot of how costs grow, and what it was measured on."""

import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from benchmarks.speed.scaling import Curve
from vebnn.plots.style import BLUE, GREY, STYLE, open_frame

PACKAGES = ("jax", "torch", "lightning-uq-box", "posteriors", "ngboost", "numpy")


def machine() -> str:
    """Say what this was measured on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    return (
        f"Machine: {_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}, {versions}."
    )


def draw(curves: Sequence[Curve]) -> Figure:
    """Draw every curve beside the line of costs proportional to sizes."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10, 5.6), layout="constrained")
        for axes, curve in zip(figure.subplots(2, 3).flat, curves, strict=True):
            proportional = [curve.seconds[-1] / curve.sizes[-1] * size for size in curve.sizes]
            axes.loglog(curve.sizes, proportional, "--", color=GREY, linewidth=1)
            axes.loglog(curve.sizes, curve.seconds, "o-", color=BLUE)
            axes.set_title(curve.cost, fontsize=9)
            axes.set(xlabel=curve.of, ylabel="seconds")
            open_frame(axes)
    return figure


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ")[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "(not installed)"
