import numpy as np
import pytest

from vebnn.bench.forecasts import LEVEL, Forecast, scores


def test_an_interval_of_ones_own_is_scored() -> None:
    y = np.array([0.0, 1.0, 5.0])
    wide = Forecast(y * 0, np.ones(3), (np.full(3, -2.0), np.full(3, 2.0)))
    numbers = scores(wide, y)
    assert numbers["coverage"] == pytest.approx(2 / 3)
    assert numbers["interval_length"] == 4
    assert numbers["winkler"] == pytest.approx(4 + 2 / (1 - LEVEL) * 3 / 3)
