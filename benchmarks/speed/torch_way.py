"""The three steps in PyTorch, the way people write them.

Two ways differ in where batches come from: a ``DataLoader``, or slices of tensors in random order.
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.speed.cases import Case
from vebnn.presets import LEARNING_RATES

Loss = Callable[[nn.Module, tuple[Tensor, ...]], Tensor]


def with_loader(case: Case, step: int) -> tuple[Callable[[], Any], int]:
    """Return Step 1, 2 or 3 with a DataLoader."""
    return _steps(case, step, _loader)


def with_tensors(case: Case, step: int) -> tuple[Callable[[], Any], int]:
    """Return Step 1, 2 or 3 with slices of tensors."""
    return _steps(case, step, Slices)


def whole_fit(case: Case, share: float) -> tuple[Callable[[], Any], int]:
    """Return a fit with the paper's settings for UCI data, with a share of their epochs."""
    return lambda: _fit(case, share), 1


@dataclass
class Slices:
    """Mini-batches as slices of tensors, in a new random order every time."""

    tensors: tuple[Tensor, ...]
    batch_size: int

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        order = torch.randperm(len(self.tensors[0]))
        for rows in order.split(self.batch_size):
            yield tuple(tensor[rows] for tensor in self.tensors)


def _loader(tensors: tuple[Tensor, ...], batch_size: int) -> Iterable[tuple[Tensor, ...]]:
    return DataLoader(TensorDataset(*tensors), batch_size=batch_size, shuffle=True)


class Recurrent(nn.Module):
    """Stacked GRU with a linear layer at every step."""

    def __init__(self, features: int, widths: tuple[int, ...], outputs: int) -> None:
        super().__init__()
        self.gru = nn.GRU(features, widths[0], num_layers=len(widths), batch_first=True)
        self.output = nn.Linear(widths[-1], outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Map (rows, time, features) to (rows, time, outputs)."""
        return self.output(self.gru(x)[0])


class PSGLD(torch.optim.Optimizer):
    """Preconditioned Langevin dynamics as an optimiser, one parameter after another."""

    def __init__(self, params: Any, step_size: float, smoothing: float = 0.99, eps: float = 1e-5):
        super().__init__(params, {"step_size": step_size, "smoothing": smoothing, "eps": eps})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """Update every parameter."""
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    state["memory"] = torch.zeros_like(parameter)
                gradient, memory = parameter.grad, state["memory"]
                memory.mul_(group["smoothing"]).addcmul_(
                    gradient, gradient, value=1 - group["smoothing"]
                )
                preconditioner = 1 / torch.sqrt(memory + group["eps"])
                drift = -0.5 * group["step_size"] * preconditioner * gradient
                noise = torch.randn_like(parameter) * torch.sqrt(group["step_size"] * preconditioner)
                parameter.add_(drift + noise)


def network_of(case: Case, widths: tuple[int, ...], outputs: int) -> nn.Module:
    """Return a network as PyTorch initialises it."""
    if case.recurrent:
        return Recurrent(case.shape[-1], widths, outputs)
    activation = {"relu": nn.ReLU, "tanh": nn.Tanh}[case.activation]
    layers: list[nn.Module] = []
    for fan_in, fan_out in zip((*case.shape, *widths), widths, strict=False):
        layers += [nn.Linear(fan_in, fan_out), activation()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], outputs))


def _squared_error(network: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
    x, y = batch
    return nn.functional.mse_loss(network(x), y)


def _gamma(network: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
    x, squared = batch
    shape, rate = (nn.functional.softplus(network(x)) + 1e-6).chunk(2, dim=-1)
    prior = sum((weight**2).sum() for weight in network.parameters()) / 2
    return -torch.distributions.Gamma(shape, rate).log_prob(squared + 1e-12).mean() + prior / 1e3


def _posterior(network: nn.Module, batch: tuple[Tensor, ...], num_batches: int) -> Tensor:
    x, y, variance = batch
    likelihood = -torch.distributions.Normal(network(x), variance.sqrt()).log_prob(y).sum()
    prior = sum((weight**2).sum() for weight in network.parameters()) / 2
    return num_batches * likelihood + prior


def _epochs(
    network: nn.Module, optimiser: Any, loss: Loss, batches: Any, num_epochs: int
) -> Iterator[int]:
    for epoch in range(num_epochs):
        for batch in batches:
            optimiser.zero_grad()
            loss(network, batch).backward()
            optimiser.step()
        yield epoch


def _steps(case: Case, step: int, make_batches: Callable) -> tuple[Callable[[], Any], int]:
    x, y = (torch.from_numpy(array) for array in case.data())
    # A tenth of our steps, or a few: enough for a median, and it is a slow program.
    num_epochs = max(1, case.steps // 10 // case.num_batches)
    every = partial(_train, num_epochs=num_epochs)
    if step == 2:
        network = network_of(case, case.variance_widths, 2 * case.outputs)
        batches, loss = make_batches((x, y**2), case.batch), _gamma
        watched = (x, y**2)
        job = partial(every, network, torch.optim.Adam(network.parameters()), loss, batches, watched)
    elif step == 1:
        network = network_of(case, case.widths, case.outputs)
        batches = make_batches((x, y), case.batch)
        adam = torch.optim.Adam(network.parameters(), weight_decay=1e-5)
        job = partial(every, network, adam, _squared_error, batches, None)
    else:
        network = network_of(case, case.widths, case.outputs)
        batches = make_batches((x, y, torch.full_like(y, 0.1)), case.batch)
        loss = partial(_posterior, num_batches=case.num_batches)
        job = partial(every, network, PSGLD(network.parameters(), 1e-5), loss, batches, None)
    return job, num_epochs * case.num_batches


def _train(
    network: nn.Module,
    optimiser: Any,
    loss: Loss,
    batches: Any,
    watched: tuple[Tensor, ...] | None,
    num_epochs: int,
) -> tuple[float, int]:
    """Train; with watched rows, keep the weights of the best epoch."""
    best, best_epoch, best_state = float("inf"), num_epochs, None
    for epoch in _epochs(network, optimiser, loss, batches, num_epochs):
        if watched is not None:
            with torch.no_grad():
                value = loss(network, watched).item()
            if value < best:
                best, best_epoch, best_state = value, epoch + 1, copy.deepcopy(network.state_dict())
    if best_state is not None:
        network.load_state_dict(best_state)
    return best, best_epoch


def _fit(case: Case, share: float) -> None:
    """Appendix D of the paper: five learning rates, a refit, two rounds of Steps 2 and 3."""
    x, y = (torch.from_numpy(array) for array in case.data())
    mean_epochs, variance_epochs = round(share * 20_000), round(share * 10_000)
    cut = round(0.8 * len(x))
    train = _loader((x[:cut], y[:cut]), case.batch)

    def search(rate: float) -> tuple[float, int, float]:
        network = network_of(case, case.widths, case.outputs)
        adam = torch.optim.Adam(network.parameters(), rate, weight_decay=1e-5)
        watched = (x[cut:], y[cut:])
        return *_train(network, adam, _squared_error, train, watched, mean_epochs), rate

    _, _, rate = min(search(rate) for rate in LEARNING_RATES)
    _, best_epoch, _ = search(rate)
    network = network_of(case, case.widths, case.outputs)
    adam = torch.optim.Adam(network.parameters(), rate, weight_decay=1e-5)
    _train(network, adam, _squared_error, _loader((x, y), case.batch), None, best_epoch)
    with torch.no_grad():
        mean = network(x)
    for _ in range(2):
        squared = (y - mean) ** 2
        noise = network_of(case, case.variance_widths, 2 * case.outputs)
        adam = torch.optim.Adam(noise.parameters())
        _train(noise, adam, _gamma, _loader((x, squared), case.batch), (x, squared), variance_epochs)
        with torch.no_grad():
            shape, rate_of_gamma = (nn.functional.softplus(noise(x)) + 1e-6).chunk(2, dim=-1)
        draws = _sample(case, network, (x, y, shape / rate_of_gamma), share)
        mean = draws.mean(0)


def _sample(case: Case, start: nn.Module, tensors: tuple[Tensor, ...], share: float) -> Tensor:
    network = copy.deepcopy(start)
    batches = _loader(tensors, case.batch)
    loss = partial(_posterior, num_batches=case.num_batches)
    burn_in, thinning, draws = round(share * 5_000), round(share * 100), []
    sampler = PSGLD(network.parameters(), 1e-3)
    for epoch in _epochs(network, sampler, loss, batches, burn_in + 150 * thinning):
        if epoch >= burn_in and (epoch - burn_in) % thinning == thinning - 1:
            with torch.no_grad():
                draws.append(network(tensors[0]))
    return torch.stack(draws)
