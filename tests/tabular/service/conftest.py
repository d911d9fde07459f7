"""A service with the default limits, for all tests of a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx import Client

from tests.support.serving import serving
from vebnn.tabular.model import TableModel
from vebnn.tabular.service.app import create_app


@pytest.fixture(scope="module")
def client(alloys_model: Path) -> Iterator[Client]:
    app = create_app(TableModel.load(alloys_model))
    with serving(app) as address, Client(base_url=address, timeout=60) as client:
        yield client
