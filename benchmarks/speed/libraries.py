"""Comparable libraries."""

import logging
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.speed.cases import Case

EPOCHS = 40


def lightning_uq_box(case: Case, step: int) -> tuple[Callable[[], Any], int]:
    """Return MVE training for Step 1, and SGLD for Step 3."""
    warnings.simplefilter("ignore")
    _plain_perceptron(case)
    from lightning_uq_box.uq_methods import NLL, MVERegression, SGLDRegression

    def mve() -> Any:
        return MVERegression(_two_outputs(case), burnin_epochs=0)

    def sgld() -> Any:
        return SGLDRegression(
            _two_outputs(case),
            NLL(),
            lr=1e-5,
            weight_decay=1e-5,
            noise_factor=1e-3,
            burnin_epochs=0,
            n_sgld_samples=20,
        )

    make = {1: mve, 3: sgld}[step]
    return lambda: _fit(make(), case), EPOCHS * case.num_batches


def lightning_ensemble(case: Case, members: int) -> tuple[Callable[[], Any], int]:
    """Return an ensemble of MVE networks; a step is one of one member."""
    job, num_steps = lightning_uq_box(case, 1)
    return lambda: [job() for _ in range(members)], members * num_steps


def posteriors(case: Case, step: int) -> tuple[Callable[[], Any], int]:
    """Return SGLD for Step 3."""
    warnings.simplefilter("ignore")
    _plain_perceptron(case)
    if step != 3:
        raise KeyError("it has samplers only")
    import torch
    from posteriors.sgmcmc import sgld
    from torch.func import functional_call

    from benchmarks.speed.torch_way import Slices, network_of

    x, y = (torch.from_numpy(array) for array in case.data())
    network = network_of(case, case.widths, case.outputs)
    params = dict(network.named_parameters())

    def log_posterior(params: Any, batch: Any) -> tuple:
        inputs, targets = batch
        mean = functional_call(network, params, (inputs,))
        log_likelihood = torch.distributions.Normal(mean, 0.1**0.5).log_prob(targets).sum()
        log_prior = -sum((weight**2).sum() for weight in params.values()) / 2
        return case.num_batches * log_likelihood + log_prior, torch.tensor([])

    transform = sgld.build(log_posterior, lr=1e-6)

    def job() -> None:
        state = transform.init(params)
        for _ in range(EPOCHS):
            for batch in Slices((x, y), case.batch):
                state, _ = transform.update(state, batch)

    return job, EPOCHS * case.num_batches


def ngboost(case: Case) -> tuple[Callable[[], Any], int]:
    """Return a fit of NGBoost with its defaults."""
    from ngboost import NGBRegressor

    x, y = case.data()
    return lambda: NGBRegressor(verbose=False, random_state=0).fit(x, y[:, 0]), 1


def _plain_perceptron(case: Case) -> None:
    if case.recurrent or len(case.widths) > 1:
        raise KeyError("timed on the UCI sizes only")


def _two_outputs(case: Case) -> Any:
    from benchmarks.speed.torch_way import network_of

    return network_of(case, case.widths, 2 * case.outputs)


def _fit(model: Any, case: Case) -> None:
    import lightning
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)  # no tips
    x, y = (torch.from_numpy(array) for array in case.data())

    def named(rows: list) -> dict[str, Any]:
        inputs, targets = zip(*rows, strict=True)
        return {"input": torch.stack(inputs), "target": torch.stack(targets)}

    loader = DataLoader(TensorDataset(x, y), batch_size=case.batch, shuffle=True, collate_fn=named)
    with tempfile.TemporaryDirectory() as folder:
        lightning.Trainer(
            accelerator="cpu",
            max_epochs=EPOCHS,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=folder,
        ).fit(model, loader)
