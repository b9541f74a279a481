"""Running the benchmarks, and importing them: they are programs, not modules of the package."""

import gzip
import importlib
import importlib.util
import random
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[1] / "bench"
NO_PICTURE = "pip install 'vwlite[bench]'"
HAS_PICTURES = importlib.util.find_spec("matplotlib") is not None


def start(name: str, *options: object, code: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run a program, or the folder of that name; it must end with this exit code."""
    path = FOLDER / f"{name}.py"
    command = [sys.executable, *([str(path)] if path.exists() else ["-m", name]), *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER)
    assert done.returncode == code, done.stderr
    return done


@lru_cache
def load(name: str) -> ModuleType:
    """A program as a module, or a module of a folder. Other tests have modules of the same names."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    if "." in name:
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(f"bench_{name}", FOLDER / f"{name}.py")
    assert spec and spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells_of(text: str) -> list[list[str]]:
    """The tables in a text, row by row."""
    return [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]


def libsvm_lines(seed: int) -> list[str]:
    """200 examples of six of 39 features."""
    chance = random.Random(seed)
    drawn = [sorted(chance.sample(range(1, 40), 6)) for _ in range(200)]
    labels = [1 if sum(found) > 120 + chance.gauss(0, 30) else -1 for found in drawn]
    return [f"{y} {' '.join(f'{i}:1' for i in found)}\n" for y, found in zip(labels, drawn, strict=True)]


def write_gz(path: Path, lines: list[str]) -> None:
    path.write_bytes(gzip.compress("".join(lines).encode()))
