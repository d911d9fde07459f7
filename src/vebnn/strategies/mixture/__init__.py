"""Algorithm 1 for noise with several modes."""
