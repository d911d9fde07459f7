"""A saved model and encoded rows for it; errors come before the slow import of JAX."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vebnn.tabular.encoder import EncodedTable
    from vebnn.tabular.model import TableModel


def load_model_and_rows(folder: Path, data: Path) -> "tuple[TableModel, EncodedTable]":
    """Read a model, and rows that its encoder accepts."""
    from vebnn.tabular.files import read_table
    from vebnn.tabular.saving import SavedTableModel

    saved = SavedTableModel.open(folder)
    rows = saved.encoder.encode(read_table(data))
    return saved.load(), rows
