"""``python -m benchmarks.image_memory``: memory of a fit of 20,000 images of 64×64×3, one epoch.

The images are random bytes in a memory-mapped file. Prints the peak of the process's resident memory,
which counts the pages of that file that were read.
"""

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from vebnn import VeBNNRegressor
from vebnn.inference import PSGLD
from vebnn.networks import ResNet
from vebnn.training import Training

LIMIT = 3.0  # GiB
BLOCK = 500  # images written at a time


def make_images(path: Path, num_images: int) -> np.ndarray:
    """Write random images to a file, and return them memory-mapped."""
    shape = (num_images, 64, 64, 3)
    images = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape)
    rng = np.random.default_rng(0)
    for start in range(0, num_images, BLOCK):
        images[start : start + BLOCK] = rng.integers(0, 256, (BLOCK, *shape[1:]), dtype=np.uint8)
    images.flush()
    return np.load(path, mmap_mode="r")


def measure(num_images: int) -> dict[str, float]:
    """Fit all three steps, an epoch each, and predict all images; return memory and seconds."""
    network = ResNet(8, 8, head=(32,), stem_stride=2)
    chains = PSGLD(num_samples=1, burn_in=0, thinning=1, batch_size=32)
    model = VeBNNRegressor(
        network=network,
        inference=chains,
        mean_training=Training(num_epochs=1, batch_size=32),
        variance_training=Training(num_epochs=1, batch_size=32),
        residuals="in_sample",
        random_state=0,
    )
    with tempfile.TemporaryDirectory() as folder:
        images = make_images(Path(folder) / "images.npy", num_images)
        target = np.random.default_rng(1).standard_normal(num_images)
        before, started = _peak(), time.perf_counter()
        model.fit(images, target).predict_distribution(images)
        seconds = time.perf_counter() - started
    found = {"images": num_images, "before_gib": before, "peak_gib": _peak(), "seconds": seconds}
    return {name: round(value, 2) for name, value in found.items()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Measure, print, and write the numbers if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    arguments = parser.parse_args()
    found = measure(arguments.images)
    print(
        f"{found['images']:,.0f} images of 64×64×3, one epoch of each step and a prediction: peak "
        f"{found['peak_gib']} GiB (limit {LIMIT}), {found['before_gib']} GiB before, "
        f"{found['seconds']:.0f} s"
    )
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
