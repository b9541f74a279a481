"""A slow case fails, whatever comes before it; the list of exceptions is short, and names only cases that exist."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from times import SLOW_CASES

MOST_SLOW_CASES = 60
# One call of `loop` is several times MOST there, on a busy machine too.
CONFTEST = """
import times
times.MOST, times.LONG = 0.002, 0.005
def pytest_configure(config):
    config.addinivalue_line("markers", "long: is left to another run")
    config.pluginmanager.register(times.Times(["test_it.py::test_listed", "test_it.py::test_quick"], True), "times")
"""
CASES = """
import os
import pytest
from times import loop

@pytest.fixture
def costly():
    loop()

def test_quick(costly): pass
def test_import(): import slow_module
def test_slow(): loop()
@pytest.mark.parametrize("case", [0, 1])
def test_listed(case): loop()
def test_child():
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        loop()
        os._exit(0)
def test_wrong():
    loop()
    assert False
@pytest.mark.long
def test_long(): loop()
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """By a worker, of which another process prints the results."""
    folder = tmp_path_factory.mktemp("times")
    for name, text in (("conftest", CONFTEST), ("slow_module", "import times\ntimes.loop()\n"), ("test_it", CASES)):
        (folder / f"{name}.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-n", "1", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    path = os.pathsep.join([str(Path(__file__).parent), str(folder)])
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout


def test_slow_cases_fail(printed):
    failed = dict(re.findall(r"^FAILED test_it.py::(\w+) - (\w+)", printed, re.M))
    assert failed == {"test_slow": "Failed", "test_child": "Failed", "test_wrong": "assert"}


def test_slow_cases_are_shown(printed):
    quick, slowest = re.split(r"=+ slowest.*", printed.partition("to be taken off the list")[2])
    assert re.findall(r"test_it.py::(\S+)", quick) == ["test_quick"]
    shown = re.findall(r"^ +\d\.\d\d test_it.py::(\S+( \(listed\))?)$", slowest, re.M)
    assert sorted(case for case, _ in shown) == [
        "test_child", "test_listed[0] (listed)", "test_listed[1] (listed)", "test_long", "test_slow", "test_wrong"
    ]


def test_the_list_of_slow_cases_is_short_and_has_only_cases_that_are(request):
    """Of the files that are collected: all of them in `make test`."""
    times = request.config.pluginmanager.get_plugin("times")
    assert not times.unknown and len(times.slow) <= MOST_SLOW_CASES
    entries = SLOW_CASES.read_text().splitlines()
    assert entries == sorted(set(entries))
    assert all((SLOW_CASES.parents[1] / entry.partition("::")[0]).exists() for entry in entries)
