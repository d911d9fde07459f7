"""What one fit gains from several workers of a Dask cluster, and what it sends them."""
