"""Tables of mixed columns: reading files, encoding columns, and a model of such a table."""
