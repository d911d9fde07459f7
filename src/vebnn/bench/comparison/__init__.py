"""Methods side by side: rows of results become tables with tests, ranks and the paper's numbers."""
