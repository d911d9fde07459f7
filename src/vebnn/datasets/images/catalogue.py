"""The sources of every set, in the order in which they are looked for."""

from pathlib import Path

from vebnn.datasets.images import shift
from vebnn.datasets.images.aerial import AERIAL
from vebnn.datasets.images.appa_real import APPA_REAL
from vebnn.datasets.images.cells import cell_files, cell_hdf5
from vebnn.datasets.images.chair_angle import chair_angles
from vebnn.datasets.images.conversion import Parts, convert_once
from vebnn.datasets.images.prepared import prepared
from vebnn.datasets.images.shift import Shift, keep_inside
from vebnn.datasets.images.simulated_cells import SIMULATED_CELLS
from vebnn.datasets.images.skin import SKIN
from vebnn.datasets.images.source import Source


def _from_base(name: str, base: Source, shift: Shift) -> Source:
    """Return the source of a set with a gap or without tails that is cut out of its base set."""

    def read(folder: Path) -> Parts:
        whole = convert_once(name, base.files(folder), lambda: base.read(folder))
        return keep_inside(whole, shift)

    return Source(base.words, base.files, read)


def _cells(name: str, shift: Shift) -> tuple[Source, ...]:
    cut = (_from_base("cells", base, shift) for base in (prepared("Cells"), SIMULATED_CELLS))
    return prepared(name, shift), cell_files(shift), cell_hdf5(shift), *cut


def _chairs(name: str, shift: Shift) -> tuple[Source, ...]:
    cut = _from_base("chair-angle", prepared("ChairAngle"), shift)
    return prepared(name, shift), chair_angles(shift), cut


SOURCES: dict[str, tuple[Source, ...]] = {
    "cells": (prepared("Cells"), cell_files(), cell_hdf5(), SIMULATED_CELLS),
    "cells-gap": _cells("Cells-Gap", shift.CELLS_GAP),
    "cells-tail": _cells("Cells-Tails", shift.CELLS_TAIL),
    "chair-angle": (prepared("ChairAngle"), chair_angles()),
    "chair-angle-gap": _chairs("ChairAngle-Gap", shift.CHAIR_GAP),
    "chair-angle-tail": _chairs("ChairAngle-Tails", shift.CHAIR_TAIL),
    "skin": (prepared("SkinLesionPixels", shift.ANOTHER_SOURCE, blue_first=True), SKIN),
    "aerial": (prepared("AerialBuildingPixels", shift.ANOTHER_SOURCE, blue_first=True), AERIAL),
    "appa-real": (APPA_REAL,),
}
