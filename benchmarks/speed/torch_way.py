"""The three steps in plain PyTorch.

Batches come from a ``DataLoader``, or are slices of tensors in random order.
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
from benchmarks.speed.torch_resnet import residual_network

Loss = Callable[[nn.Module, tuple[Tensor, ...]], Tensor]
Best = tuple[float, int]  # the smallest value that was watched, and after how many epochs


def with_loader(case: Case, step: int) -> tuple[Callable[[], Any], int]:
    """Return Step 1, 2 or 3 with a DataLoader."""
    return _steps(case, step, loader_of)


def with_tensors(case: Case, step: int) -> tuple[Callable[[], Any], int]:
    """Return Step 1, 2 or 3 with slices of tensors."""
    return _steps(case, step, Slices)


@dataclass
class Slices:
    """Mini-batches as slices of tensors, in a new random order every time."""

    tensors: tuple[Tensor, ...]
    batch_size: int

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        order = torch.randperm(len(self.tensors[0]))
        for rows in order.split(self.batch_size):
            yield tuple(tensor[rows] for tensor in self.tensors)


def loader_of(tensors: tuple[Tensor, ...], batch_size: int) -> Iterable[tuple[Tensor, ...]]:
    """Return mini-batches from a DataLoader."""
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
    if case.depth:
        return residual_network(case.shape[-1], widths, outputs)
    if case.recurrent:
        return Recurrent(case.shape[-1], widths, outputs)
    activation = {"relu": nn.ReLU, "tanh": nn.Tanh}[case.activation]
    layers: list[nn.Module] = []
    for fan_in, fan_out in zip((*case.shape, *widths), widths, strict=False):
        layers += [nn.Linear(fan_in, fan_out), activation()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], outputs))


def squared_error(network: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
    """Return the loss of Step 1."""
    x, y = batch
    return nn.functional.mse_loss(network(x), y)


def gamma_loss(network: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
    """Return the loss of Step 2: the Gamma likelihood of squared residuals."""
    x, squared = batch
    shape, rate = (nn.functional.softplus(network(x)) + 1e-6).chunk(2, dim=-1)
    prior = sum((weight**2).sum() for weight in network.parameters()) / 2
    return -torch.distributions.Gamma(shape, rate).log_prob(squared + 1e-12).mean() + prior / 1e3


def negative_log_posterior(network: nn.Module, batch: tuple[Tensor, ...], num_batches: int) -> Tensor:
    """Return the loss of Step 3, whose noise is given."""
    x, y, variance = batch
    likelihood = -torch.distributions.Normal(network(x), variance.sqrt()).log_prob(y).sum()
    prior = sum((weight**2).sum() for weight in network.parameters()) / 2
    return num_batches * likelihood + prior


def epochs_of(
    network: nn.Module, optimiser: Any, loss: Loss, batches: Any, num_epochs: int
) -> Iterator[int]:
    """Train, and yield the number of every epoch that is over."""
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
    every = partial(train_network, num_epochs=num_epochs)
    if step == 2:
        network = network_of(case, case.variance_widths, 2 * case.outputs)
        batches, loss = make_batches((x, y**2), case.batch), gamma_loss
        watched = (x, y**2)
        job = partial(every, network, torch.optim.Adam(network.parameters()), loss, batches, watched)
    elif step == 1:
        network = network_of(case, case.widths, case.outputs)
        batches = make_batches((x, y), case.batch)
        adam = torch.optim.Adam(network.parameters(), weight_decay=1e-5)
        job = partial(every, network, adam, squared_error, batches, None)
    else:
        network = network_of(case, case.widths, case.outputs)
        batches = make_batches((x, y, torch.full_like(y, 0.1)), case.batch)
        loss = partial(negative_log_posterior, num_batches=case.num_batches)
        job = partial(every, network, PSGLD(network.parameters(), 1e-5), loss, batches, None)
    return job, num_epochs * case.num_batches


def train_network(
    network: nn.Module,
    optimiser: Any,
    loss: Loss,
    batches: Any,
    watched: tuple[Tensor, ...] | None,
    num_epochs: int,
) -> Best:
    """Train; with watched rows, keep the weights of the best epoch."""
    best, best_epoch, best_state = float("inf"), num_epochs, None
    for epoch in epochs_of(network, optimiser, loss, batches, num_epochs):
        if watched is not None:
            with torch.no_grad():
                value = loss(network, watched).item()
            if value < best:
                best, best_epoch, best_state = value, epoch + 1, copy.deepcopy(network.state_dict())
    if best_state is not None:
        network.load_state_dict(best_state)
    return best, best_epoch
