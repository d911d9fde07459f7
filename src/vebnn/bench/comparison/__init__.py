"""Methods side by side: rows of results → tables with tests, ranks and the paper's numbers."""
