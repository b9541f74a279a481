"""The benchmark of rounds works; how many there are, test_rounds.py says."""

import gzip
import random
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parent / "rounds.py"


def test_the_benchmark_of_rounds_writes_its_tables(tmp_path):
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
    rows = [line.split("|")[1:-1] for line in results.read_text().splitlines() if line.startswith("| a9a")]
    problem, files = rows
    assert len(problem) == 9 and all(0 < int(cell) <= 150 for cell in problem[3:6])
    first, later, certificates, *_ = (int(cell.replace(",", "")) for cell in files[1:])
    assert later < first < certificates
