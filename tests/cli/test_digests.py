"""The same bytes on every processor: the list of tests/digests.py, in processes that see another one than there is."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tiers import ALL

DIGESTS = [str(Path(__file__).parents[1] / "digests.py"), *([] if ALL else ["--few"])]
HIDDEN = "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4"
# What NumPy's functions and OpenBLAS choose their code by; those that a build does not know are left out by NumPy.
PLAIN = {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX2 FMA3",
         "OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "1"}
# What the C library computes in several ways. (Roots and fma are exact.)
CHOSEN = re.compile(
    r" U (exp2?|expm1|log2?|log10|log1p|pow|a?(sin|cos|tan)h?|atan2|cbrt|hypot|erfc?|[lt]gamma)(f|l)?(@.*)?$",
    re.MULTILINE,
)
LIBM = """
import ctypes, struct
m = ctypes.CDLL("libm.so.6")
m.exp.restype, m.exp.argtypes = ctypes.c_double, [ctypes.c_double]
print(hash(tuple(struct.pack("d", m.exp(-i * 1.7e-4)) for i in range(100_000))))
"""


def run(script: list[str], environment: dict[str, str], *, before: tuple[str, ...] = ()) -> str:
    command = [*before, sys.executable, "-P", *script]
    env = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore", **environment}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "exit code" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def here() -> str:
    return run(DIGESTS, {})


def test_the_list_is_one_of_models(here):
    names = [line.partition(" ")[2] for line in here.splitlines()]
    assert len(names) > 70
    from vwlite.algorithms.table import ALGORITHMS

    assert all(any(name.startswith(f"train {algorithm} ") for name in names) for algorithm in ALGORITHMS)


@pytest.mark.drawn
def test_without_the_instructions_of_late_processors_and_on_one_core(here):
    """Those that the C library, NumPy and the linear algebra of NumPy choose their code by."""
    environment = {"GLIBC_TUNABLES": HIDDEN} | PLAIN
    libm = [run(["-c", LIBM], more) for more in ({}, environment)]
    one_core = ("taskset", "-c", str(min(os.sched_getaffinity(0)))) if shutil.which("taskset") else ()
    assert run(DIGESTS, environment, before=one_core) == here
    if libm[0] == libm[1]:
        pytest.skip("the C library computes the same either way: it has no say here")


@pytest.mark.skipif(not shutil.which("nm") or sys.platform != "linux", reason="there is no nm that reads ELF")
def test_no_compiled_module_calls_the_functions_of_the_c_library():
    """But those of `vwlite vw`, whose original does."""
    import vwlite.core.base.elementary as one

    modules = sorted(Path(one.__file__).parent.rglob("*.so"))
    called = {}
    for path in modules:
        done = subprocess.run(["nm", "-D", "--undefined-only", path], capture_output=True, text=True, check=True)
        called[path] = [found[1] for found in CHOSEN.finditer(done.stdout)]
    assert {path: names for path, names in called.items() if names and path.parent.name != "vw"} == {}
    assert any(names for path, names in called.items() if path.parent.name == "vw")
