"""What Algorithm 1 can be told."""

from dataclasses import dataclass
from typing import Any, Literal

from vebnn.inference import Engine
from vebnn.likelihoods.variance_heads import VarianceLoss
from vebnn.training import Training


@dataclass(frozen=True)
class Cooperative:
    """Settings of Algorithm 1.

    Args:
      network: recipe of the mean network, which is also the Bayesian network.
      variance_network: recipe of the variance network.
      engine: inference engine of Step 3.
      rounds: K, how often Steps 2 and 3 are repeated.
      iterate: ``"posterior"`` repeats Steps 2 and 3 (Algorithm 1); ``"mean"`` repeats Steps 1 and 2
        and runs the costly Step 3 once (end of the paper's appendix on bias).
      choose_round: ``"marginal_likelihood"`` takes the round after the first with the largest LMglk
        (Algorithm 1); ``"validation"`` the one with the smallest validation NLL; ``"last"`` the last.
      residuals: where Step 2's residuals come from. ``"in_sample"``: the network that was trained on
        them (paper). ``"cross_fit"``: networks that never saw them, less those networks' own spread.
        ``"posterior"``: that in round 1, then the Bayesian network of the round before (Algorithm 1),
        whose chains go on.
      num_folds: number of networks that each never see some of the rows.
      rescale_residuals: give Step 2 residuals of mean one, per output.
      variance_loss: the likelihood of Step 2; ``"gamma"`` in the paper.
      mean_training: Step 1's training.
      learning_rates: for Step 1, to choose from by validation loss; empty takes the training's own.
      variance_training: Step 2's training.
      weight_decay: L2 factor of Step 1.
      prior_precision: κ of the Bayesian network's prior N(0, 1/κ).
      validation_fraction: share of the rows that stops Step 1 early.
      refit: train Step 1 again on all rows for the best number of epochs.
    """

    network: Any
    variance_network: Any
    engine: Engine
    rounds: int
    iterate: Literal["posterior", "mean"]
    choose_round: Literal["marginal_likelihood", "validation", "last"]
    residuals: Literal["in_sample", "cross_fit", "posterior"]
    num_folds: int
    rescale_residuals: bool
    variance_loss: VarianceLoss
    mean_training: Training
    learning_rates: tuple[float, ...]
    variance_training: Training
    weight_decay: float
    prior_precision: float
    validation_fraction: float
    refit: bool
