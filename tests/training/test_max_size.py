"""`train --max-size`: the file is not larger, by leaving out what predictions do not need, then by a smaller model."""

import os
import random

import pytest

from vwlite.model import read_model


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(3)
    words = [f"w{i}" for i in range(3000)]
    strength = {word: draw.gauss(0, 1) * (i < 300) for i, word in enumerate(words)}
    lines = []
    for _ in range(1000):
        some = [draw.choice(words[:300] if draw.random() < 0.5 else words) for _ in range(12)]
        score = sum(strength[word] for word in some)
        lines.append((score, some))
    (tmp_path / "two.vw").write_text("".join(f"{1 if s > 0 else -1} | {' '.join(w)}\n" for s, w in lines[:500]))
    (tmp_path / "three.vw").write_text("".join(f"{1 + (s > -1) + (s > 1)} | {' '.join(w)}\n" for s, w in lines))
    return tmp_path


def predicted(vwlite, model):
    vwlite("predict", "-m", model, "two.vw", "-p", "p.txt")
    return open("p.txt").read()


def test_a_model_that_fits_is_the_same(vwlite, folder):
    for more in ((), ("--max-size", "1M")):
        vwlite("train", "two.vw", "-m", f"m{len(more)}.model", *more)
    a, b = read_model("m0.model"), read_model("m2.model")
    assert bytes(a.weights) == bytes(b.weights) and not b.weights_only


def test_first_the_state_is_left_out(vwlite, folder):
    vwlite("train", "two.vw", "-m", "a.model")
    size = os.path.getsize("a.model")
    done = vwlite("train", "two.vw", "-m", "b.model", "--max-size", int(size * 0.7))
    assert "for --max-size, the model is without its state, so -i cannot continue it" in done.err
    assert os.path.getsize("b.model") <= size * 0.7
    assert predicted(vwlite, "a.model") == predicted(vwlite, "b.model")
    assert read_model("b.model").weights_only


@pytest.mark.parametrize("size", [20_000, 10_000, 7_000])
def test_then_fewer_weights_are_learned(vwlite, folder, size):
    done = vwlite("train", "two.vw", "-m", "b.model", "--max-size", size)
    assert "more than --max-size: --sparse, with at most" in done.err
    assert os.path.getsize("b.model") <= size
    model = read_model("b.model")
    assert model.algorithm == "adagrad-rda" and all(model.weights)
    rows = [line for line in done.err.splitlines() if line[:1].isdigit() and len(line.split()) in (5, 6)]
    assert len(model.keys) > (size - 7_000) // 50 or rows[-1].endswith("chosen")


@pytest.mark.parametrize(
    "options", [("--oaa", "3"), ("--algorithm", "gd", "--passes", "3"), ("--oaa", "3", "--algorithm", "ftrl"),
                ("--label-transform", "log1p"), ("--loss", "quantile", "--quantile-tau", "0.1,0.9")]
)
def test_several_scores_and_other_algorithms_have_fewer_bits(vwlite, folder, options):
    data = "two.vw" if "gd" in options else "three.vw"
    vwlite("train", data, "-m", "a.model", *options)
    limit = os.path.getsize("a.model") // 3
    done = vwlite("train", data, "-m", "b.model", "--max-size", limit, *options)
    assert "more than --max-size: --bits " in done.err
    assert os.path.getsize("b.model") <= limit
    assert 4 < read_model("b.model").settings.bits < 13


def test_the_best_that_fits_is_taken(vwlite, folder):
    said = vwlite("train", "two.vw", "-m", "b.model", "--max-size", "10000").err
    lines = said.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("nonzero weights  loss"))
    small = [line.split() for line in lines[begin + 1 :] if line[:1].isdigit()]
    chosen = next(row for row in small if row[-1] == "chosen")
    allowed = 1 + small.index(chosen)
    assert [float(row[1]) for row in small] == sorted((float(row[1]) for row in small), reverse=True)
    most = int(said.split("with at most ")[-1].split()[0].replace(",", ""))
    assert all(int(row[0]) <= most for row in small[:allowed])
    assert all(int(row[0]) > most for row in small[allowed:])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("two.vw", "--max-size", "2M"), "--max-size needs --model"),
        (("-", "--max-size", "2M", "-m", "x.model"), "name files, not standard input"),
        (("two.vw", "--max-size", "2M", "-m", "x.model", "-p", "p.txt"), "cannot be used together"),
        (("two.vw", "--max-size", "2M", "--continue", "x.model"), "a model that is continued needs its state"),
        (("two.vw", "--max-size", "2X", "-m", "x.model"), "number of bytes"),
    ],
)
def test_what_makes_no_sense_is_refused(vwlite, folder, options, said):
    assert said in vwlite("train", *options, code=2).err
    assert not os.path.exists("x.model")


def test_a_size_that_cannot_be_reached_is_an_error_and_nothing_is_written(vwlite, folder):
    (folder / "old.model").write_text("old")
    done = vwlite("train", "two.vw", "-m", "old.model", "--max-size", "900", code=65)
    assert "a model of at most 900 bytes was not found" in done.err
    assert (folder / "old.model").read_text() == "old"
    assert [name for name in os.listdir(folder) if "tmp" in name] == []
