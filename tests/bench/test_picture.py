"""The picture of the README: its program works on small data, and its numbers are those of the file beside it."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "data"


@pytest.fixture
def picture(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(HERE))
    return pytest.importorskip("picture")


def test_dots_are_measured(picture, tmp_path: Path) -> None:
    """On digits 1 to 5 against the others: a dot for each strength, each of a model that learned something."""
    parts = {}
    for name in ("train", "test"):
        lines = (DATA / f"digits.{name}.libsvm").read_text().splitlines()
        parts[name] = tmp_path / name
        with parts[name].open("w") as text:
            for label, *features in map(str.split, lines):  # scaled to a length of about 1
                pairs = (feature.split(":") for feature in features)
                scaled = " ".join(f"{i}:{float(value) / 64:g}" for i, value in pairs)
                print(1 if int(label) <= 5 else -1, scaled, file=text)
    ours = next(p for p in picture.PROGRAMS if p.package == "vwlite")
    few = picture.Program(ours.title, ours.package, ours.learn, ("--nonzeros 3", "--nonzeros 30"), ours.tried[:2])
    dots = picture.measure(parts["train"], parts["test"], [few])
    assert [dot["program"] for dot in dots] == ["vwlite"] * 2
    assert 0 < dots[0]["nonzeros"] <= 3 < dots[1]["nonzeros"] <= 30
    assert dots[1]["loss"] < dots[0]["loss"] < np.log(2)
    assert all(dot["seconds"] > 0 for dot in dots)


def test_the_numbers_are_kept_one_dot_a_line(picture) -> None:
    lines = (HERE / "picture.json").read_text(encoding="utf-8").splitlines()
    results = json.loads("\n".join(lines))
    assert len(lines) == len(results["dots"]) + 5
    strengths = {p.title: len(p.strengths) for p in picture.PROGRAMS}
    found = [dot["program"] for dot in results["dots"]]
    assert {title: found.count(title) for title in found} == {title: strengths[title] for title in dict.fromkeys(found)}
    assert (HERE / "picture.png").exists()


def test_the_picture_is_drawn(picture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "picture.json").write_bytes((HERE / "picture.json").read_bytes())
    monkeypatch.setattr(sys, "argv", ["picture.py", "--draw", "--out", str(tmp_path)])
    assert picture.main() == 0
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
