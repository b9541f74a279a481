"""The tests are about what ships: the installed package."""

import os
import shutil
import signal
from functools import partial
from pathlib import Path

import pytest
from batch import LOSSES
from running import GD, Shell
from text_problems import Data
from tiers import mark_long
from times import of_this_run

import vwlite
from vwlite.input import pipeline
from vwlite.input.reader import read_blocks
from vwlite.output.atomic import AtomicFile

PROBLEMS = {loss: Data(1, loss).text() for loss in LOSSES}

# A shell that runs the tests in the background, or nohup, has them ignore these, and then so would every program here.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    place = Path(vwlite.__file__).resolve()
    if "site-packages" not in place.parts and os.environ.get("VWLITE_TEST_SOURCE") != "1":
        raise pytest.UsageError(
            f"the tests would run against {place.parent}, not against an installed vwlite: use `make test`, "
            "or set VWLITE_TEST_SOURCE=1 if you work with an editable install"
        )
    config.pluginmanager.register(of_this_run(), "times")


@pytest.hookimpl(tryfirst=True)  # before -m leaves out what is marked
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_long(items)


@pytest.fixture(scope="session", autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Away from the source tree: a program that is started with `python -c` looks for modules where it is."""
    os.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="session", autouse=True)
def without_waiting_for_the_disk() -> None:
    """No file of a test has to outlive a power failure. Programs that tests start wait, as usual."""
    os.fsync = lambda fd: None


@pytest.fixture(name="vwlite")
def run_in_this_process(capfdbinary: pytest.CaptureFixture[bytes]) -> Shell:
    """Run the program in this process: `vwlite("train", path, code=65).err`."""
    return Shell(capfdbinary)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of its own to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def blocks_of(monkeypatch):
    """Set the size of a block that is read."""
    return lambda size: monkeypatch.setattr(pipeline, "read_blocks", partial(read_blocks, block_size=size))


@pytest.fixture
def at(folder):
    """One with an example of each kind of problem."""
    for loss, text in PROBLEMS.items():
        Path(loss).write_text(text)
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


@pytest.fixture
def sample(folder):
    """A folder with four lines in the file d.vw."""
    Path("d.vw").write_text("1 |a x:1.5 y |b u\n-1 |a y:2 z |b v\n1 1 'tagged|a x |b u:0.5\n-1 |a z:1 |b w\n")
    return folder


@pytest.fixture
def sample_model(vwlite, sample):
    """Beside it `m`, a model of these lines."""
    vwlite("train", *GD, "d.vw", "--loss", "logistic", "-m", "m", "--quiet")
    return "m"
