"""Predictions of one saved model over HTTP."""
