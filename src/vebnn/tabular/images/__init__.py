"""A folder of images and a table of their file names, in the place of columns of numbers."""
