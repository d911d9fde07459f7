"""How models, checkpoints and parts of data sets are written to disk and read back."""
