"""A model that is fitted again, in this process or another: the old one or the new one, never both."""

import os
import threading

import numpy as np
import pytest

from tests.support.settings import quick
from vebnn.estimators.regressor import Regressor

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]


def test_predictions_during_a_fit_are_those_of_the_old_model(sine, monkeypatch) -> None:
    X, y = sine
    model = quick().fit(X, y)
    before = model.predict_distribution(X)
    learning, finish, learn = threading.Event(), threading.Event(), Regressor._learn

    def pause(self, *rows):
        learning.set()
        assert finish.wait(60)
        return learn(self, *rows)

    monkeypatch.setattr(Regressor, "_learn", pause)
    refit = threading.Thread(target=model.fit, args=(X * 10 + 3, 50 * y))
    refit.start()
    assert learning.wait(60)
    during = model.predict_distribution(X)
    finish.set()
    refit.join()
    np.testing.assert_array_equal(during.mean, before.mean)
    # Its draws are read later, and stay those of the old model, too.
    np.testing.assert_array_equal(during.draws, before.draws)
    np.testing.assert_allclose(model.predict(X * 10 + 3), 50 * before.mean, rtol=1e-3)


def test_a_forked_process_gets_a_sentence_instead_of_waiting_for_ever(sine, monkeypatch) -> None:
    X, y = sine
    model = quick().fit(X, y)
    child = os.getpid() + 1
    monkeypatch.setattr("vebnn.core.forks.os.getpid", lambda: child)
    for use in (lambda: model.predict(X), lambda: model.fit(X, y)):
        with pytest.raises(RuntimeError, match=r"forked from one that had used vebnn.*spawn"):
            use()
