"""Sequences: long tables whose rows of one label, in the order of a column, are one example."""
