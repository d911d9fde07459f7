"""Likelihoods: log-densities, elementwise; the caller reduces."""
