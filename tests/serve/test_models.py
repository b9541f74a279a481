"""The models of `vwlite serve`, and files that take their place."""

import errno
import os
import shutil

import pytest

from vwlite.errors import DataError, NoInputError, UsageError
from vwlite.serve import models as served
from vwlite.serve.metrics import Metrics


@pytest.fixture
def loaded(models, tmp_path):
    """A model whose file has just changed."""
    shutil.copy(models / "text.model", tmp_path / "m")
    found = served.Models({"m": str(tmp_path / "m")})["m"]
    shutil.copy(models / "other.model", tmp_path / "new")
    os.replace(tmp_path / "new", tmp_path / "m")
    return found


def refresh(loaded):
    metrics = Metrics([loaded.name], 1)
    loaded.refresh(metrics)
    return metrics


MOMENTARY = [OSError(errno.EMFILE, "Too many open files"), OSError(errno.EIO, "Input/output error"), MemoryError(),
             NoInputError("m: Permission denied"), RuntimeError("can't start new thread"), ImportError()]


@pytest.mark.parametrize("error", MOMENTARY, ids=repr)
def test_a_model_that_cannot_be_read_now_is_shown_and_tried_again(loaded, monkeypatch, capsys, error):
    old = loaded.model.digest
    with monkeypatch.context() as patch:
        patch.setattr(loaded, "_load", lambda _: (_ for _ in ()).throw(error))
        for _ in range(3):
            assert loaded.changed
            refresh(loaded)
            assert loaded.described()["error"] and loaded.model.digest == old
    assert capsys.readouterr().err.count("warning: ") == 1
    assert loaded.changed
    refresh(loaded)
    assert "error" not in loaded.described() and loaded.model.digest != old and not loaded.changed


@pytest.mark.parametrize("error", [DataError("m: damaged"), UsageError("no classes")], ids=repr)
def test_a_model_that_is_refused_is_not_read_again(loaded, monkeypatch, error):
    monkeypatch.setattr(loaded, "_load", lambda _: (_ for _ in ()).throw(error))
    refresh(loaded)
    assert loaded.described()["error"] and not loaded.changed


def test_a_model_that_was_away_for_a_moment_is_as_before(models, tmp_path):
    path = tmp_path / "m"
    shutil.copy(models / "text.model", path)
    loaded = served.Models({"m": str(path)})["m"]
    path.rename(tmp_path / "away")
    refresh(loaded)
    assert loaded.described()["error"]
    (tmp_path / "away").rename(path)
    assert loaded.changed
    refresh(loaded)
    assert "error" not in loaded.described() and not loaded.changed
