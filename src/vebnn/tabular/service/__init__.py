"""Predictions over HTTP: a small service around one saved model."""
