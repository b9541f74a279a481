"""Tables whose features are worth deriving, and an empty folder to work in."""

from pathlib import Path

import pytest
from tables import bent_rows, review_rows, written


@pytest.fixture(scope="session")
def bent(tmp_path_factory) -> Path:
    return written(tmp_path_factory.mktemp("bent") / "bent.csv", ["x", "z", "w", "y"], bent_rows())


@pytest.fixture(scope="session")
def reviews(tmp_path_factory) -> Path:
    return written(tmp_path_factory.mktemp("texts") / "texts.csv", ["review", "y"], review_rows())


@pytest.fixture
def here(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
