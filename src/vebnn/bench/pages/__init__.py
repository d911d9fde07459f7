"""Pages of results, written from rows alone: text, tables and pictures."""
