"""The benchmark of rounds works; how many there are, test_rounds.py says."""

import gzip
import random
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent / "rounds.py"


def test_the_benchmark_of_rounds_writes_its_table(tmp_path):
    chance = random.Random(1)
    lines = []
    for _ in range(200):
        found = sorted(chance.sample(range(1, 40), 6))
        lines.append(f"{1 if sum(found) > 120 + chance.gauss(0, 30) else -1} {' '.join(f'{i}:1' for i in found)}\n")
    with gzip.open(tmp_path / "a9a.train.libsvm.gz", "wt") as file:
        file.writelines(lines)
    results = tmp_path / "ROUNDS.md"
    results.write_text("<!-- begin bench: rounds -->\n<!-- end bench: rounds -->\n")
    command = [sys.executable, str(BENCH), "--data", str(tmp_path), "--sets", "a9a", "--results", str(results)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (problem,) = [line.split("|")[1:-1] for line in results.read_text().splitlines() if line.startswith("| a9a")]
    features = sum(len({i for line in lines[k::8] for i in line.split()[1:]}) for k in range(8))
    assert float(problem[8]) == pytest.approx((4 + 16 * int(problem[4])) * features / 1e6, abs=0.05)
    assert len(problem) == 9 and all(0 < int(cell) <= 150 for cell in problem[3:6])
