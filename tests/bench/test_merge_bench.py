"""The benchmark of merging works; how good a merge is, no test says."""

import gzip
import random
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent / "merge.py"


@pytest.mark.parametrize("others", [["time"], pytest.param(["time", "many", "dask"], marks=pytest.mark.long)])
def test_the_benchmark_of_merging_prints_its_tables(tmp_path, others):
    chance = random.Random(1)
    for part in ("train", "test"):
        lines = []
        for _ in range(200):
            found = sorted(chance.sample(range(1, 40), 6))
            lines.append(f"{1 if sum(found) > 120 else -1} {' '.join(f'{i}:1' for i in found)}\n")
        with gzip.open(tmp_path / f"a9a.{part}.libsvm.gz", "wt") as file:
            file.writelines(lines)
    results = tmp_path / "MERGE.md"
    results.write_text((BENCH.parent / "MERGE.md").read_text())
    command = [sys.executable, str(BENCH), "--data", str(tmp_path), "--sets", "a9a", "--features", "500",
               "--shards", "20", "--examples", "50", "--megabytes", "0.02", "--results", str(results),
               "--only", "round", "rounds", "skewed", *others]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in results.read_text().splitlines() if line.startswith("| a9a ")]
    algorithms = ("adagrad", "ftrl", "gd")
    assert [row[1].split()[0] for row in rows] == [*(a for a in algorithms for _ in range(2)), *algorithms, *algorithms]
    assert all(len(row) == 8 and float(row[5]) > 0 for row in rows)
    assert "| Five rounds, skewed shards | 3 |" in results.read_text()
    assert "| without a holdout | " in results.read_text()
    if others == ["time"]:
        return
    assert "| 20 models at once | " in results.read_text() and "| all models to one machine | " in results.read_text()
    assert "| `local:2` | " in results.read_text()
    done = subprocess.run([*command, "--sets", "rcv1"], capture_output=True, text=True)
    assert "has no rcv1.train.libsvm.gz, rcv1.test.libsvm.gz: SETS=FOLDER says" in done.stderr
