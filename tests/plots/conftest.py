"""Figures of pyplot are closed after each test, since it keeps those it has made."""

from collections.abc import Iterator

import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")
