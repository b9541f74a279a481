"""The benchmark works; how fast anything is, no test says."""

import importlib.util
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BENCH = HERE / "bench" / "bench.py"
PROJECTION = HERE / "bench" / "projection.py"


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


def test_the_quick_benchmark_of_projections_fills_the_readme(tmp_path: Path) -> None:
    readme, picture = tmp_path / "README.md", tmp_path / "picture.png"
    readme.write_text("a\n<!-- begin bench: projection -->\nold\n<!-- end bench: projection -->\nb\n")
    command = [sys.executable, str(PROJECTION), "--quick", "--readme", str(readme), "--picture", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = readme.read_text()
    assert text.startswith("a\n") and text.endswith("b\n") and "old" not in text
    assert done.stdout in text
    table = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("|")]
    assert [len(cells) for cells in table] == [8] * 4
    assert "sparse, k = 50" in done.stdout
    if importlib.util.find_spec("matplotlib"):
        assert picture.read_bytes().startswith(b"\x89PNG")
    else:
        assert "pip install 'vwlite[bench]'" in done.stderr and not picture.exists()


def test_the_readme_has_room_for_the_projections() -> None:
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    assert readme.count("<!-- begin bench: projection -->\n") == 1
    assert readme.count("<!-- end bench: projection -->") == 1
    assert (HERE / "bench" / "projection.png").exists()
