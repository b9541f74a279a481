"""Fixtures of the tests of commands."""

import shutil
from pathlib import Path

import pytest
from batch import LOSSES
from text_problems import Data

from vwlite.output.atomic import AtomicFile


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of its own to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def at(folder):
    """One with an example of each kind of problem."""
    for loss in LOSSES:
        Path(loss).write_text(Data(1, loss).text())
    Path("ok").write_text("1 |a x:1 y:2\n-1 |a y:1 z\n1 |a x z:0.5\n-1 |b u\n")
    return folder


@pytest.fixture
def committed(monkeypatch, tmp_path):
    """The files that were put in place, one after the other."""
    found, commit = [], AtomicFile.commit

    def copied(file):
        commit(file)
        found.append(tmp_path / f"checkpoint{len(found)}")
        shutil.copy(file.name, found[-1])

    monkeypatch.setattr(AtomicFile, "commit", copied)
    return found
