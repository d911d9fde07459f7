"""Tables of rows as people have them: files, columns of every kind, and a model of such a table."""
