"""A saved model and encoded rows for it; errors come before the slow import of JAX."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vebnn.tabular.encoder import EncodedTable
    from vebnn.tabular.model import TableModel


def load_model_and_rows(folder: Path, data: Path) -> "tuple[TableModel, EncodedTable]":
    """Read a model, and rows that its encoder accepts."""
    from vebnn.tabular.encoder import TableEncoder
    from vebnn.tabular.files import read_table
    from vebnn.tabular.folders import read_description

    encoder = TableEncoder.from_description(read_description(folder)["encoder"])
    rows = encoder.encode(read_table(data))

    from vebnn.tabular.model import TableModel

    return TableModel.load(folder), rows
