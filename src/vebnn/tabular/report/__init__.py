"""One HTML file on a model and some rows: how good it is, what it does not know, and why."""
