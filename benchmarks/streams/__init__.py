"""Time and memory of ``vebnn fit`` and ``vebnn predict`` from ten thousand to ten million rows."""
