"""The page of results, kept by parts, so that one part can be measured again."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from benchmarks.speed.results import Claim, of_claims
from benchmarks.speed.scaling import Curve
from vebnn.bench.render.markdown import as_markdown
from vebnn.bench.render.sheet import Cell, Document, Sheet
from vebnn.plots.style import BLUE, GREY, STYLE, open_frame, save_figure
from vebnn.serialization.files import write_bytes

DOCS = Path(__file__).parents[2] / "docs"
PARTS_FILE = DOCS / "results" / "speed.json"
PACKAGES = ("jax", "torch", "lightning-uq-box", "posteriors", "ngboost", "numpy")


@dataclass(frozen=True)
class Part:
    """One part of the measurements, and the machine it was run on."""

    claims: Sequence[Claim]
    sheets: Sequence[Sheet]
    minutes: float
    machine: str


def read_parts() -> dict[str, Part]:
    """Return the parts of earlier runs."""
    if not PARTS_FILE.exists():
        return {}
    return {name: _part(saved) for name, saved in json.loads(PARTS_FILE.read_text()).items()}


def claims_of(parts: Mapping[str, Part]) -> list[Claim]:
    """Return the promises of all parts."""
    return [claim for part in parts.values() for claim in part.claims]


def write(parts: Mapping[str, Part], repeats: int) -> None:
    """Write the page, and the parts for the next one."""
    minutes = sum(part.minutes for part in parts.values())
    opening = [
        f"Written by make bench, which takes {minutes:.0f} minutes. Data are generated; only sizes "
        f"matter. Programs that are compared run in turn, in processes of their own, and times of "
        f"steps are medians of {repeats}.",
        *dict.fromkeys(part.machine for part in parts.values()),
    ]
    sheets = [sheet for part in parts.values() for sheet in part.sheets]
    text = as_markdown(Document("Speed", opening, [of_claims(claims_of(parts)), *sheets]))
    text += "\n![How costs grow; dashed: proportional to size](../images/speed-growth.svg)\n"
    write_bytes(DOCS / "results" / "speed.md", text.encode())
    saved = {name: asdict(part) for name, part in parts.items()}
    write_bytes(PARTS_FILE, (json.dumps(saved, indent=1, ensure_ascii=False) + "\n").encode())


def _part(saved: dict) -> Part:
    claims = [Claim(**claim) for claim in saved["claims"]]
    return Part(claims, [_sheet(one) for one in saved["sheets"]], saved["minutes"], saved["machine"])


def _sheet(saved: dict) -> Sheet:
    groups = [[[Cell(**cell) for cell in row] for row in group] for group in saved["groups"]]
    return Sheet(**{**saved, "groups": groups})


def machine() -> str:
    """Describe this machine, with its load: the time of a step depends on it, ratios much less."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    return (
        f"Machine: {_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}, {versions}. Load average: {os.getloadavg()[2]:.1f}."
    )


def draw(curves: Sequence[Curve]) -> None:
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
    save_figure(figure, DOCS / "images", "speed-growth")


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
