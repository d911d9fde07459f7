"""The joint baselines: one network learns mean and noise at the same time."""

from vebnn.strategies.joint.algorithm import LOSSES, NOT_A_LIKELIHOOD, Joint, Loss
from vebnn.strategies.joint.fitted import FittedJoint, Trial

__all__ = ["LOSSES", "NOT_A_LIKELIHOOD", "FittedJoint", "Joint", "Loss", "Trial"]
