"""Strategies: which network learns the mean, which the noise, and in which order.

- :mod:`~vebnn.strategies.cooperative`: Algorithm 1 of the paper, VeBNN.
- :mod:`~vebnn.strategies.joint`: the baselines, one network for mean and noise.
- :mod:`~vebnn.strategies.mixture`: Algorithm 1 for noise with several modes.

All follow the contract of :mod:`~vebnn.strategies.contract`.
"""
