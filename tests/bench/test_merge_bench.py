"""The benchmark of merging works; how good a merge is, no test says."""

import gzip
import random
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parent / "merge.py"


def test_the_benchmark_of_merging_prints_its_tables(tmp_path):
    chance = random.Random(1)
    for part in ("train", "test"):
        lines = []
        for _ in range(200):
            found = sorted(chance.sample(range(1, 40), 6))
            lines.append(f"{1 if sum(found) > 120 else -1} {' '.join(f'{i}:1' for i in found)}\n")
        with gzip.open(tmp_path / f"a9a.{part}.libsvm.gz", "wt") as file:
            file.writelines(lines)
    command = [sys.executable, "-P", str(BENCH), "--data", str(tmp_path), "--sets", "a9a", "--shards", "2", "--rounds",
               "2", "--features", "500"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("|")]
    assert [row[1].split()[0] for row in rows[2:5]] == ["adagrad", "ftrl", "gd"]
    assert all(len(row) == 8 for row in rows[2:5])
    assert [row[0].strip() for row in rows[-2:]] == ["without a holdout", "with a holdout"]
    assert "over one: median " in done.stdout
