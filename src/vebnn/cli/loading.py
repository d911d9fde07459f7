"""A saved model and rows for it, with complaints before anything slow is imported."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas

    from vebnn.tabular.model import TableModel


class Loaded(NamedTuple):
    """A model, and the rows it was asked about."""

    model: "TableModel"
    frame: "pandas.DataFrame"


def load_model_and_rows(folder: Path, data: Path) -> Loaded:
    """Read rows and a model, and check that they fit each other.

    Raises:
      ValueError: if one of them cannot be read, or the rows lack a column.
    """
    from vebnn.tabular.files import read_table
    from vebnn.tabular.saving import SavedTableModel

    saved = SavedTableModel.open(folder)
    frame = read_table(data)
    saved.encoder.encode(frame)
    return Loaded(saved.load(), frame)
