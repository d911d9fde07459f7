"""One description of a table (``sheet``), written for the terminal or as Markdown, LaTeX or HTML."""
