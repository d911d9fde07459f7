"""The research rig: experiments, comparisons, their tables and figures, and simulators."""
