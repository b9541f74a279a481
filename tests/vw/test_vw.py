"""`vwlite vw` against recorded runs of Vowpal Wabbit, where they are at hand: ../shared/vw-suite."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from running import run_here

SUITE = Path(__file__).resolve().parents[3] / "shared" / "vw-suite"

# Cases that are known to fail, and why. One that passes must leave the list.
EXPECTED_FAILURES: dict[int, str] = {}

pytestmark = pytest.mark.skipif(not (SUITE / "run.py").exists(), reason="the recorded runs are not here")


def _cases() -> list[int]:
    if not (SUITE / "cases.json").exists():
        return []
    import json

    return [case["id"] for case in json.loads((SUITE / "cases.json").read_text())]


def run(command: Any, *, shell: bool, cwd: str, **options: Any) -> Any:
    """In place of `subprocess.run`: in this process, but for what is a script."""
    if shell:
        return subprocess.run(command, shell=True, cwd=cwd, **options)
    here = os.getcwd()
    os.chdir(cwd)
    try:
        done = run_here("vw", *command[1:], code=None)
    finally:
        os.chdir(here)
    return SimpleNamespace(returncode=done.code, stdout=done.out.encode(), stderr=done.err.encode())


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Any:
    spec = importlib.util.spec_from_file_location("vw_suite_run", SUITE / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.subprocess = SimpleNamespace(**vars(subprocess) | {"run": run})
    program = f"{sys.executable} -m vwlite vw"
    return module.Suite(str(SUITE), program, str(tmp_path_factory.mktemp("vw")), 1e-3, 100)


@pytest.mark.parametrize("case", _cases())
def test_a_recorded_run_comes_out_the_same(suite: Any, case: int) -> None:
    why = suite.run(case)
    if case in EXPECTED_FAILURES:
        assert why is not None, f"case {case} passes now: take it from the list ({EXPECTED_FAILURES[case]})"
        pytest.xfail(EXPECTED_FAILURES[case])
    assert why is None, f"case {case}: {why}"
