"""Whether simulated cell images are like others: a network that learns from them counts cells there.

The others are the VGG cell images, from another generator. Every image is standardised by itself, so
that its brightness, which also grows with the count, does not decide.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy import stats

from vebnn.bench.render.terminal import print_lines
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.bench.simulators.cells.generate import draw_images
from vebnn.bench.simulators.cells.image import averaging
from vebnn.bench.simulators.cells.plan import MOST, Plan, Request, draw_counts, list_requests
from vebnn.core.arguments import require_whole
from vebnn.datasets.vgg_cells import load_vgg_cells
from vebnn.estimators import JointRegressor
from vebnn.inference import MAP
from vebnn.metrics import rmse
from vebnn.networks.resnet import ResNet
from vebnn.training import Training

WANTED = 0.8  # rank correlation of predicted and true count on the VGG images
NUM_HELD_OUT = 200
# Mean pixel of the images of a published figure, by their count of cells.
PUBLISHED_PIXELS = {100: 78, 198: 113}
NUM_OF_COUNT = 100  # images per count, to compare
SIZE = 32  # pixels: four times faster than 64

NETWORK = ResNet(6, 8, head=(32,))
TRAINING = Training(num_epochs=6, learning_rate=3e-3, batch_size=32)
WARM_START = replace(TRAINING, num_epochs=1)
NOISE_STD = 5.0  # nuclei, about what overlap hides

Counter = Callable[[np.ndarray], np.ndarray]


def score_transfer(num_images: int, seed: int) -> Row:
    """Learn to count on simulated images; return rank correlations and errors on both kinds."""
    plan = Plan(num_images, NUM_HELD_OUT, 1, SIZE, seed)
    drawn = draw_images(list_requests(plan)[: num_images + NUM_HELD_OUT])
    images, held_out = np.split(drawn, [num_images])
    counts = draw_counts(plan)
    vgg_images, vgg_counts = load_vgg_cells()
    matrix = averaging(vgg_images.shape[1], SIZE)
    others = (matrix @ vgg_images.astype(np.float32) @ matrix.T)[..., None]

    count_cells = learn_to_count(standardise_each(images), counts["train"], seed)
    found = count_cells(standardise_each(others))
    seen = vgg_counts <= MOST  # no simulated image shows more
    return {
        "rank_correlation": rank_correlation(found, vgg_counts),
        "rank_correlation_to_200": rank_correlation(found[seen], vgg_counts[seen]),
        "rmse_to_200": float(rmse(vgg_counts[seen], found[seen])),
        "rmse_held_out": float(rmse(counts["validation"], count_cells(standardise_each(held_out)))),
        "simulated_intensity": intensity_trend(images, counts["train"], vgg_counts.min()),
        "vgg_intensity": intensity_trend(others[seen], vgg_counts[seen], vgg_counts.min()),
        "mean_pixels": {str(count): mean_pixel(count, seed) for count in PUBLISHED_PIXELS},
    }


def learn_to_count(images: np.ndarray, counts: np.ndarray, seed: int) -> Counter:
    """Return a trained network, as a function from images to counts."""
    model = JointRegressor(
        NETWORK,
        loss="mse",
        noise_std=NOISE_STD,
        inference=MAP(TRAINING),
        training=WARM_START,
        random_state=seed,
    ).fit(images, counts)
    return lambda new: model.predict_distribution(new).mean


def standardise_each(images: np.ndarray) -> np.ndarray:
    """Return images with mean 0 and std 1, each of its own pixels."""
    pixels = images.astype(np.float32)
    pixels -= pixels.mean((1, 2, 3), keepdims=True)
    return pixels / pixels.std((1, 2, 3), keepdims=True)


def rank_correlation(found: np.ndarray, counts: np.ndarray) -> float:
    """Return Spearman's rank correlation."""
    return float(stats.spearmanr(found, counts).statistic)


def intensity_trend(images: np.ndarray, counts: np.ndarray, fewest: int) -> Row:
    """Return how the mean pixel grows with the count, over images with at least ``fewest`` cells."""
    means, counts = images[counts >= fewest].mean((1, 2, 3)), counts[counts >= fewest]
    slope = float(np.polyfit(counts, means, 1)[0])
    return {"rank_correlation": rank_correlation(means, counts), "slope": slope}


def mean_pixel(count: int, seed: int) -> float:
    """Return the mean pixel of simulated images with so many cells."""
    requests = [Request((seed, count, number), count, SIZE) for number in range(NUM_OF_COUNT)]
    return float(draw_images(requests).mean())


def bench_cells(num_images: int, num_seeds: int, path: Path, console: Console) -> list[Row]:
    """Compute and print the rows of all seeds."""
    require_whole("seeds", num_seeds, 1)
    require_whole("images", num_images, 10)
    load_vgg_cells()  # a missing file fails before the work
    file = ResultsFile(path, stamp("cells", size=SIZE, network=str(NETWORK), training=str(TRAINING)))
    cases = [{"num_images": num_images, "seed": seed} for seed in range(num_seeds)]
    rows = run_cases(file, cases, score_transfer, console)
    print_lines(console, *_sentences(rows), f"Rows: {path}")
    return rows


def _sentences(rows: Sequence[Row]) -> list[str]:
    def mean(*names: str) -> float:
        values: list = list(rows)
        for name in names:
            values = [value[name] for value in values]
        return float(np.mean(values))

    trends = (
        f"{mean(kind, 'rank_correlation'):.3f} and {mean(kind, 'slope'):.2f} per cell"
        for kind in ("simulated_intensity", "vgg_intensity")
    )
    ours, theirs = trends
    return [
        f"VGG images ranked by predicted count: correlation {mean('rank_correlation'):.3f} (wanted: "
        f"{WANTED}), {mean('rank_correlation_to_200'):.3f} up to {MOST} cells.",
        f"RMSE of the count: {mean('rmse_to_200'):.1f} up to {MOST} cells; "
        f"{mean('rmse_held_out'):.1f} on held-out simulated images.",
        f"Mean pixel with count, rank correlation and slope: simulated {ours}; VGG {theirs}.",
        *(
            f"Mean pixel, {count} cells: {mean('mean_pixels', str(count)):.1f} (published: {known})."
            for count, known in PUBLISHED_PIXELS.items()
        ),
    ]
