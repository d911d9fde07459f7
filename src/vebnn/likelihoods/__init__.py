"""What is an error: log-densities, elementwise; the caller reduces."""
