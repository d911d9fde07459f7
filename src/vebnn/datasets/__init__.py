"""Data sets by name: toy problems, UCI regression, stress of composites, images."""
