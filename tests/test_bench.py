"""The benchmark works; how fast anything is, no test says."""

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parent / "bench" / "bench.py"


def test_the_quick_benchmark_fills_its_table(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH), "--quick", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    table = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("|")]
    assert {len(cells) for cells in table} == {7}
    works = " ".join(cells[0] for cells in table)
    for word in ("`gd`", "clicks", "predict", "libsvm", "cache", "`sgd`", "`l1-ball`", "memory", "--version", "one"):
        assert word in works
    assert "Progressive logistic loss: documents: vwlite 0." in done.stdout
