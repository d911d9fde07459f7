"""Rows that are added to a model of a table: kept rows, the update, and its history."""
