"""Predictions of a fixed list of fits: a change that should not change numbers is held to them."""
