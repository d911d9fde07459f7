"""Which network learns what, and in which order."""
