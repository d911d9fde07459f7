"""A whole fit in plain PyTorch."""

import copy
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.speed.cases import Case
from benchmarks.speed.torch_way import (
    PSGLD,
    Best,
    Slices,
    epochs_of,
    gamma_loss,
    loader_of,
    negative_log_posterior,
    network_of,
    squared_error,
    train_network,
)
from benchmarks.speed.whole_fits import settings_of


def with_loader(case: Case, share: float) -> tuple[Callable[[], Any], float]:
    """Return a share of a fit with the paper's settings and a DataLoader."""
    return partial(_fit, case, settings_of(case, share), loader_of), share


def with_tensors(case: Case, share: float) -> tuple[Callable[[], Any], float]:
    """Return the same with slices of tensors."""
    return partial(_fit, case, settings_of(case, share), Slices), share


def _fit(case: Case, settings: dict[str, Any], make_batches: Callable) -> None:
    """Appendix D of the paper: a learning rate is chosen, a refit, rounds of Steps 2 and 3."""
    x, y = (torch.from_numpy(array) for array in case.data())
    mean_training, rates = settings["mean_training"], settings["learning_rates"]
    cut = round((1 - settings["validation_fraction"]) * len(x))
    some, others = (x[:cut], y[:cut]), (x[cut:], y[cut:])

    def train(rate: float, rows: tuple, watched: tuple | None, epochs: int) -> tuple[nn.Module, Best]:
        network = network_of(case, case.widths, case.outputs)
        adam = torch.optim.Adam(network.parameters(), rate, weight_decay=1e-5)
        batches = make_batches(rows, case.batch)
        return network, train_network(network, adam, squared_error, batches, watched, epochs)

    def search(rate: float) -> Best:
        return train(rate, some, others, mean_training.num_epochs)[1]

    rate = min(rates, key=lambda rate: search(rate)[0]) if rates else mean_training.learning_rate
    _, best_epoch = search(rate)
    network, _ = train(rate, (x, y), None, best_epoch)
    with torch.no_grad():
        mean = network(x)
    for _ in range(settings["rounds"]):
        squared = (y - mean) ** 2
        noise = network_of(case, case.variance_widths, 2 * case.outputs)
        adam = torch.optim.Adam(noise.parameters())
        batches = make_batches((x, squared), case.batch)
        train_network(
            noise, adam, gamma_loss, batches, (x, squared), settings["variance_training"].num_epochs
        )
        with torch.no_grad():
            shape, rate_of_gamma = (nn.functional.softplus(noise(x)) + 1e-6).chunk(2, dim=-1)
        batches = make_batches((x, y, shape / rate_of_gamma), case.batch)
        mean = _sample(case, network, x, batches, settings["inference"]).mean(0)


def _sample(
    case: Case, start: nn.Module, x: Tensor, batches: Iterable[tuple[Tensor, ...]], engine: Any
) -> Tensor:
    network, draws = copy.deepcopy(start), []
    loss = partial(negative_log_posterior, num_batches=case.num_batches)
    sampler = PSGLD(network.parameters(), engine.step_size)
    num_epochs = engine.burn_in + engine.num_samples * engine.thinning
    for epoch in epochs_of(network, sampler, loss, batches, num_epochs):
        since = epoch + 1 - engine.burn_in
        if since > 0 and since % engine.thinning == 0:
            with torch.no_grad():
                draws.append(network(x))
    return torch.stack(draws)
