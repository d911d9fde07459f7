"""Simulators that make data whose noise is known."""
