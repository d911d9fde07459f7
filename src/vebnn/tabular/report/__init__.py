"""One HTML file about a model and some rows: its errors, its uncertainty, and where data would help."""
