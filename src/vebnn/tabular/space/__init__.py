"""The space of possible measurements: a file of ranges, values, costs and constraints; candidates."""
