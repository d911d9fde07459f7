"""Image regression: sets by name, and pictures from files."""

from vebnn.datasets.images.folder import read_images
from vebnn.datasets.images.load import IMAGE_DATASETS, load_images
from vebnn.datasets.images.rotated_digits import rotated_digits
from vebnn.datasets.images.types import ImageDataset, Images

__all__ = ["IMAGE_DATASETS", "ImageDataset", "Images", "load_images", "read_images", "rotated_digits"]
