"""The examples of `vwlite help clusters`, with processes of their own."""

import os
import random
import re
import shutil
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest
from running import GD

from vwlite.model import read_model

ROOT = Path(__file__).parents[2]
SCRIPT, SOURCES = ROOT / "data" / "rounds.sh", ROOT / "data" / "sources.train.vw"
CLUSTERS = (ROOT / "vwlite/help/clusters.txt").read_text(encoding="utf-8")
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
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m vwlite "$@"\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rounds(*arguments, how, options="--loss logistic --algorithm adagrad"):
    path = f"{Path.cwd() / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "OPTIONS": options} | ({"RUN": RUNS[how]} if RUNS[how] else {})
    return subprocess.run(
        ["sh", SCRIPT, *arguments], env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("how", RUNS)
def test_rounds_over_shards(at, vwlite, how):
    """Each round takes the merge further; what is held out is never learned."""
    if how == "parallel" and not shutil.which("parallel"):
        pytest.skip("GNU parallel is not there")
    parts = [f"part{k}.vw" for k in range(4)]
    done = rounds("3", "final.model", *parts, how=how)
    assert done.returncode == 0, done.stderr
    losses = [float(found) for found in re.findall(r"^merge of 4 shards: holdout loss (\S+) ", done.stderr, re.M)]
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


def block(section, word):
    """The indented code in a section of the topic, from the line that begins with a word."""
    text = CLUSTERS.split(f"\n{section}\n-")[1]
    return textwrap.dedent(re.search(rf"(?m)^    {word}(?:.*\n)(?:\n? {{4}}.*\n)*", text)[0])


def test_a_partition_of_spark_is_a_shard(at, vwlite, monkeypatch):
    """The code of the topic, with a Spark that goes through the partitions one after the other."""

    class Lines:
        def mapPartitions(self, learn):
            files = [Path(f"part{k}.vw").read_text().splitlines() for k in range(4)]
            return types.SimpleNamespace(toLocalIterator=lambda: (model for lines in files for model in learn(lines)))

    context = types.SimpleNamespace(textFile=lambda name, partitions: Lines())
    session = types.SimpleNamespace(getOrCreate=lambda: types.SimpleNamespace(sparkContext=context))
    spark = types.ModuleType("pyspark.sql")
    spark.SparkSession = types.SimpleNamespace(builder=session)
    monkeypatch.setitem(sys.modules, "pyspark", types.ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", spark)
    monkeypatch.setenv("PATH", f"{at / 'bin'}{os.pathsep}{os.environ['PATH']}")
    exec(block("Spark", "import"), {})
    for k in range(4):
        vwlite("train", *GD, f"part{k}.vw", "--loss", "logistic", "--quiet", "-m", "plain")
        assert Path(f"shard{k}.model").read_bytes() == Path("plain").read_bytes()
    vwlite("merge", *(f"shard{k}.model" for k in range(4)), "-o", "M1", "--quiet")


def test_a_task_of_an_array_learns_its_shard(at, vwlite):
    """The command of the topic, as SLURM would start it for each number."""
    vwlite("train", *GD, "part0.vw", "--loss", "logistic", "--quiet", "-m", "M1")
    Path("shards.txt").write_text("".join(f"part{k}.vw\n" for k in range(4)))
    Path("held.vw").write_text("".join(SOURCES.read_text().splitlines(keepends=True)[:200]))
    submit = at / "bin" / "sbatch"
    each = 'export SLURM_ARRAY_TASK_ID; sh -c "$4"'
    submit.write_text(f"#!/bin/sh\nfor SLURM_ARRAY_TASK_ID in 1 2 3 4; do {each}; done\n")
    submit.chmod(0o755)
    path = f"{at / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = f"set -e\n{block('SLURM', 'sbatch')}"
    done = subprocess.run(["sh", "-c", command], env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert read_model("M2").merged["shards"] == 4
