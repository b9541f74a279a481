"""The tests are about what ships: the installed package."""

import os
import signal
from pathlib import Path

import pytest
from running import Shell
from tiers import mark_long

import vwlite

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


@pytest.hookimpl(tryfirst=True)  # before -m leaves out what is marked
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_long(items)


@pytest.fixture(scope="session", autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Away from the source tree: a program that is started with `python -c` looks for modules where it is."""
    os.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(name="vwlite")
def run_in_this_process(capfdbinary: pytest.CaptureFixture[bytes]) -> Shell:
    """Run the program in this process: `vwlite("train", path, code=65).err`."""
    return Shell(capfdbinary)
