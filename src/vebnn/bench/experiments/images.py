"""Image regression: methods × data sets, with images inside and outside the training range."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console

from vebnn.bench.experiments import images_settings
from vebnn.bench.experiments.images_settings import (
    ImageSizes,
    arguments,
    image_methods,
    settings_of,
    sizes_of,
)
from vebnn.bench.experiments.queue import one_core, queue
from vebnn.bench.forecasts import Forecast
from vebnn.bench.image_scores import score_images
from vebnn.bench.methods import find_method
from vebnn.bench.render.terminal import print_lines
from vebnn.bench.results import ResultsFile, Row, r_hat, run_cases, stamp
from vebnn.bench.simulators.cells.generate import generate
from vebnn.calibration import CommonFactor
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.core.progress import progress_bar
from vebnn.core.workers import spread
from vebnn.datasets.images import IMAGE_DATASETS, ImageDataset, Images, load_images

CELLS = ("cells", "cells-gap", "cells-tail")
DEFAULT_DATASETS = (*CELLS, "rotated-digits")


def choose_images(data: ImageDataset, sizes: ImageSizes, seed: int) -> ImageDataset:
    """Return a random choice of as many images as wanted, as small as wanted."""
    rng = np.random.default_rng(seed)
    return ImageDataset(
        data.name,
        _chosen(rng, data.train, sizes.num_train, sizes.side),
        _chosen(rng, data.validation, sizes.num_validation, sizes.side),
        _chosen(rng, data.test, sizes.num_test, sizes.side),
    )


def _chosen(rng: np.random.Generator, images: Images, num: int | None, side: int | None) -> Images:
    if num is not None and num < len(images.y):
        rows = np.sort(rng.choice(len(images.y), num, replace=False))
        known = images._asdict().items()
        images = Images(**{name: part[rows] for name, part in known if part is not None})
    return images if side is None else images._replace(x=shrink(images.x, side))


def shrink(x: np.ndarray, side: int) -> np.ndarray:
    """Return images whose pixels are means over squares, with at most ``side`` pixels a side."""
    num, height, width, channels = x.shape
    times = -(-max(height, width) // side)
    if times == 1:
        return x
    kept = x[:, : height // times * times, : width // times * times]
    squares = kept.reshape(num, height // times, times, width // times, times, channels)
    return squares.mean((2, 4)).round().astype(x.dtype)


@one_core
def score_dataset(
    preset: str, places: Mapping[str, Path | None], dataset: str, method: str, split: int
) -> Row:
    """Fit a method to the training images; return its scores on the test images.

    Validation images stop the training early and calibrate the variance. ``split`` is the seed of the
    method, and of the choice of images if there are more than the preset uses; ``places`` are the
    folders of the data sets.
    """
    data = choose_images(load_images(dataset, places[dataset]), sizes_of(preset), split)
    chosen = find_method(method)
    started = time.perf_counter()
    model = chosen.make(**arguments(chosen, preset), random_state=split)
    model.fit(data.train.x, data.train.y, X_val=data.validation.x, y_val=data.validation.y)
    fitted = time.perf_counter()
    held_out = model.predict_distribution(data.validation.x)
    parts = (held_out.mean, held_out.aleatoric_variance, held_out.epistemic_variance)
    (factor,) = CommonFactor.learn(data.validation.y, *parts).factors
    prediction = model.predict_distribution(data.test.x)
    notes = {
        "num_train": len(data.train.y),
        "fit_seconds": round(fitted - started, 2),
        "r_hat": r_hat(model),
        "model": " ".join(repr(model).split()),
    }
    noise = prediction.aleatoric_variance
    forecast = Forecast(prediction.mean, prediction.variance, notes=notes, noise_variance=noise)
    return score_images(forecast, factor, data.test)


def bench_images(
    datasets: Sequence[str],
    methods: Sequence[str],
    num_seeds: int,
    path: Path,
    console: Console,
    preset: str = "small",
    folder: Path | None = None,
    *,
    jobs: int | None = None,
) -> list[Row]:
    """Score every method on every data set and seed; return the rows, finished ones included.

    Arguments are those of ``vebnn bench images``; without ``datasets`` or ``methods``, those of
    ``DEFAULT_DATASETS`` and of the paper's tables. A data set without a file is skipped, and its row
    gives the reason; the preset ``small`` generates cells into the folder ``images`` beside the rows.
    """
    require_whole("seeds", num_seeds, 1)
    wanted = list(dict.fromkeys(datasets or DEFAULT_DATASETS))
    for name in wanted:
        require_one_of("dataset", name, IMAGE_DATASETS)
    names = image_methods(methods or ("paper",))
    file = ResultsFile(path, stamp("images", **settings_of(preset)))
    missing = {name: why for name in wanted if (why := _missing(name, folder))}
    places = dict.fromkeys(wanted, folder)
    for name in CELLS if preset == "small" else ():
        if missing.pop(name, None):
            places[name] = generate_cells(path.parent / "images", console)
    for name, why in missing.items():
        _skip(file, name, names, why, console)
    present = [name for name in wanted if name not in missing]
    if not present:
        raise FileNotFoundError(missing[wanted[0]])
    cases = queue("dataset", present, names, "split", range(num_seeds), jobs)
    compute = partial(score_dataset, preset, places)
    return run_cases(file, cases, compute, console, partial(spread, jobs=jobs))


def generate_cells(folder: Path, console: Console) -> Path:
    """Generate the images of cells that the preset ``small`` needs; return their folder."""
    with progress_bar("images", console=console) as bar:
        task = bar.add_task("cells", total=None)
        generate(
            images_settings.SMALL.cells,
            folder,
            report=lambda done, total: bar.update(task, completed=done, total=total),
        )
    return folder


def _missing(dataset: str, folder: Path | None) -> str | None:
    """Look for the data before the first long fit; return what is wrong, if anything is."""
    try:
        load_images(dataset, folder)
    except FileNotFoundError as missing:
        return str(missing)
    return None


def _skip(file: ResultsFile, dataset: str, methods: Sequence[str], why: str, console: Console) -> None:
    print_lines(console, f"{dataset} is skipped. {why}")
    recorded = {(row["dataset"], row["method"]) for row in file.rows() if "skipped" in row}
    for method in methods:
        if (dataset, method) not in recorded:
            file.append({"dataset": dataset, "method": method, "split": 0, "skipped": why})
