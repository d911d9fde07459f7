"""The sources of every set, in the order in which they are looked for."""

from pathlib import Path

from vebnn.datasets.images import shift
from vebnn.datasets.images.conversion import Parts, convert_once
from vebnn.datasets.images.prepared import prepared
from vebnn.datasets.images.shift import Shift, keep_inside
from vebnn.datasets.images.simulated_cells import SIMULATED_CELLS
from vebnn.datasets.images.source import Source


def from_base(name: str, base: Source, shift: Shift) -> Source:
    """Return the source of a set with a gap or without tails that is cut out of its base set."""

    def read(folder: Path) -> Parts:
        whole = convert_once(name, base.files(folder), lambda: base.read(folder))
        return keep_inside(whole, shift)

    return Source(base.words, base.files, read)


_CELLS = (prepared("Cells"), SIMULATED_CELLS)
_CHAIRS = (prepared("ChairAngle"),)

SOURCES: dict[str, tuple[Source, ...]] = {
    "cells": _CELLS,
    "cells-gap": (
        prepared("Cells-Gap", shift.CELLS_GAP),
        *(from_base("cells", base, shift.CELLS_GAP) for base in _CELLS),
    ),
    "cells-tail": (
        prepared("Cells-Tails", shift.CELLS_TAIL),
        *(from_base("cells", base, shift.CELLS_TAIL) for base in _CELLS),
    ),
    "chair-angle": _CHAIRS,
    "chair-angle-gap": (
        prepared("ChairAngle-Gap", shift.CHAIR_GAP),
        *(from_base("chair-angle", base, shift.CHAIR_GAP) for base in _CHAIRS),
    ),
    "chair-angle-tail": (
        prepared("ChairAngle-Tails", shift.CHAIR_TAIL),
        *(from_base("chair-angle", base, shift.CHAIR_TAIL) for base in _CHAIRS),
    ),
    "skin": (prepared("SkinLesionPixels", shift.ANOTHER_SOURCE, blue_first=True),),
    "aerial": (prepared("AerialBuildingPixels", shift.ANOTHER_SOURCE, blue_first=True),),
    "appa-real": (),
}
