"""Experiments that print the numbers this project claims."""
