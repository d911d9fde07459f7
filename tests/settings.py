"""Small settings for tests: quick, and no judgement on the method."""

from vebnn import MLP, PSGLD, MixtureRegressor, Training, VeBNNRegressor

QUICK = {
    "network": MLP((16,), "tanh"),
    "variance_network": MLP((4,), "tanh"),
    "inference": PSGLD(num_samples=20, burn_in=100, thinning=5, num_chains=2, step_size=1e-2),
    "mean_training": Training(num_epochs=300, learning_rate=1e-2),
    "variance_training": Training(num_epochs=100, learning_rate=1e-2),
    "num_folds": 3,
    "random_state": 0,
}


def quick(**changes) -> VeBNNRegressor:
    return VeBNNRegressor(**(QUICK | changes))


MIXTURE = {
    "network": MLP((16,), "tanh"),
    "variance_network": MLP((4,), "tanh"),
    "inference": PSGLD(
        num_samples=20, burn_in=100, thinning=5, num_chains=2, step_size=1e-3, decay=1.0
    ),
    "mean_training": Training(num_epochs=500, learning_rate=1e-2),
    "variance_training": Training(num_epochs=200, learning_rate=1e-2),
    "num_folds": 2,
    "num_starts": 2,
    "em_steps": 2,
    "random_state": 0,
}


def quick_mixture(**changes) -> MixtureRegressor:
    return MixtureRegressor(**(MIXTURE | changes))
