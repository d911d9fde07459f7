"""Data with names: the paper's toy problems and the UCI sets."""
