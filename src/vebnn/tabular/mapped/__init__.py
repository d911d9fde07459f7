"""Fits of tables that memory cannot hold: encoded once into a mapped file, in random order."""
