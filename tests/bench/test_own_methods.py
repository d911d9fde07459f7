"""Methods of the user's own: where they are found, and what they must return."""

from pathlib import Path

import numpy as np
import pytest

from vebnn.bench.forecasts import Forecast
from vebnn.bench.own_methods import OwnMethod

X, Y = np.zeros((4, 2)), np.arange(4.0)
FILE = """
import numpy as np
from vebnn.bench.forecasts import Forecast

def constant(X, y, X_new, seed):
    return Forecast(np.full(len(X_new), y.mean()), np.full(len(X_new), y.var()))
"""


def test_a_function_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "my method.py"
    file.write_text(FILE)
    found = OwnMethod.find(f"{file}:constant")(X, Y, X[:3], 0)
    np.testing.assert_array_equal(found.mean, 1.5)
    np.testing.assert_array_equal(found.variance, 1.25)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none.py:f", "There is no file none.py"),
        ("here.py:g", "has no attribute 'g'"),
        ("no_such_module:f", "No module named 'no_such_module'"),
    ],
)
def test_what_is_not_there(
    name: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here.py").write_text(FILE)
    with pytest.raises(ValueError, match=rf"'{name}' must be file.py:function, or .*{sentence}"):
        OwnMethod.find(name)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((Y, Y), r"Forecast\(mean, variance\). Got tuple"),
        (Forecast(Y[:2], np.ones(4)), r"whose mean has the shape \(4,\). Got \(2,\)"),
        (Forecast(Y, np.array([1, 1, np.nan, 1])), "whose variance is finite. Got NaN or infinity"),
        (Forecast(Y, Y), "whose variance is above 0. Got 0"),
    ],
)
def test_an_answer_that_is_no_forecast(answer: object, sentence: str) -> None:
    method = OwnMethod("mine.py:f", lambda X, y, X_new, seed: answer)
    with pytest.raises(ValueError, match=f"The method 'mine.py:f' must return .*{sentence}"):
        method(X, Y, X, 0)
