import numpy as np
import pytest
from numpy.polynomial import Polynomial

from vebnn.bench.simulators.plasticity import strain_paths


def test_paths_pass_through_their_control_values(rng: np.random.Generator) -> None:
    paths = strain_paths(40, 70, rng)
    assert paths.shape == (40, 70, 3)
    control = paths[:, 9::10]  # seven of the eight: the first is the unloaded start
    assert np.abs(control).max() <= 0.02
    # Uniform on ±0.02 has a std of 0.02/√3; 840 numbers determine it to 2 %.
    assert control.std() == pytest.approx(0.02 / np.sqrt(3), rel=0.08)
    assert not np.allclose(paths[:, :, 0], paths[:, :, 1])


def test_paths_start_unloaded(rng: np.random.Generator) -> None:
    paths = strain_paths(10, 700, rng)
    # Extrapolated back by a quadratic through three steps, as the paths are quadratic there.
    start = 3 * paths[:, 0] - 3 * paths[:, 1] + paths[:, 2]
    np.testing.assert_allclose(start, 0, atol=1e-12)


def test_paths_are_quadratic_between_knots(rng: np.random.Generator) -> None:
    path = strain_paths(1, 70, rng)[0, 20:24, 0]  # four steps within one piece
    fitted = Polynomial.fit(np.arange(4), path, 2)
    np.testing.assert_allclose(fitted(np.arange(4)), path, atol=1e-14)
    assert np.abs(np.diff(path, 2)).max() > 1e-7


def test_a_few_paths_are_the_first_of_many() -> None:
    few, many = (strain_paths(n, 10, np.random.default_rng(5)) for n in (3, 7))
    np.testing.assert_array_equal(few, many[:3])


@pytest.mark.parametrize("arguments", [(-1, 10), (3, 0), (2.5, 10)])
def test_wrong_sizes(arguments: tuple, rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="whole number"):
        strain_paths(*arguments, rng)
