"""Standing proofs: promises, each with the figure that was measured for it."""
