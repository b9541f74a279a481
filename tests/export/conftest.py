"""A small model, with its tables."""

import pytest
from running import GD

TINY = "1 |user anna:2 berta |page home\n-1 |user carl |page shop:0.5\n" * 3


@pytest.fixture
def tiny(tmp_path, monkeypatch, vwlite):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_text(TINY)
    vwlite("train", *GD, "data", "--loss", "logistic", "--names", "-m", "m", "--quiet")
    vwlite("export", "m", "--to", "tsv", "-o", "tsv")
    vwlite("export", "m", "--to", "json", "-o", "json")
    return tmp_path
