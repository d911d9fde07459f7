"""Tables of rows as people have them: files, columns of every kind, and a model of such a table."""

from vebnn.tables.encoder import TableEncoder
from vebnn.tables.errors import TableError
from vebnn.tables.files import read_table, write_table
from vebnn.tables.model import TableModel

__all__ = ["TableEncoder", "TableError", "TableModel", "read_table", "write_table"]
