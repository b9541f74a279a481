"""The scripts in `examples`, with processes of their own."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vwlite.model import read_model

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCES = Path(__file__).parents[2] / "data" / "sources.train.vw"
RUNS = {"xargs": "xargs -P 2 -I{} sh -c", "parallel": ""}


@pytest.fixture
def at(tmp_path, monkeypatch):
    """A folder with four shards; `vwlite` is a command."""
    lines = SOURCES.read_text().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    for k in range(4):
        (tmp_path / f"part{k}.vw").write_text("".join(lines[k::4]))
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "vwlite"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m vwlite "$@"\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rounds(*arguments, how, options="--loss logistic --algorithm adagrad"):
    path = f"{Path.cwd() / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "OPTIONS": options} | ({"RUN": RUNS[how]} if RUNS[how] else {})
    return subprocess.run(
        ["sh", EXAMPLES / "rounds.sh", *arguments], env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("how", RUNS)
def test_rounds_over_shards(at, vwlite, how):
    """Each round takes the merge further; what is held out is never learned."""
    if how == "parallel" and not shutil.which("parallel"):
        pytest.skip("GNU parallel is not there")
    parts = [f"part{k}.vw" for k in range(4)]
    done = rounds("3", "final.model", *parts, how=how)
    assert done.returncode == 0, done.stderr
    losses = [float(line.split(" = ")[1]) for line in done.stderr.splitlines() if line.startswith("holdout loss")]
    assert len(losses) == 3
    assert losses[2] < losses[0]
    model = read_model("final.model")
    assert (model.merged["shards"], model.merged["state"]) == (4, "sum")
    assert model.base == read_model("final.model.2").digest
    lines = [len(Path(part).read_text().splitlines()) for part in parts]
    assert model.counters["examples"] == 3 * sum(n - n // 50 for n in lines)
    vwlite("train", "-i", "final.model", "part0.vw", "-m", "on", "--quiet")


def test_a_round_ends_with_the_shard_that_fails(at):
    (at / "part2.vw").write_text("x y | this is no line\n")
    done = rounds("2", "final.model", *(f"part{k}.vw" for k in range(4)), how="xargs")
    assert done.returncode != 0
    assert "part2.vw:1:" in done.stderr
    assert not list(at.glob("final.model*"))
