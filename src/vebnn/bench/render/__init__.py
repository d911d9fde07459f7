"""Tables to be read: one description, shown in a terminal or written as Markdown, LaTeX and HTML."""
