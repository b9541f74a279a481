"""Models and caches that end too early, at every byte: a sentence, exit code 65 or another way, never anything else."""

import os
from pathlib import Path

import pytest
from running import GD, with_gd

from vwlite.errors import DataError
from vwlite.model import read_model

DATA = "1 |a x:2 y |b z\n-1 |a x |b w:0.5\n1 |a v |b z:3\n" * 2
READERS = [
    (["predict", "-m", "MODEL", "DATA"], 65), (["train", "-i", "MODEL", "DATA", "-m", "OUT"], 65),
    (["info", "MODEL"], 65), (["info", "MODEL", "--json"], 65), (["weights", "MODEL"], 65),
    (["weights", "MODEL", "--feature", "a^x"], 65), (["export", "MODEL", "--to", "vw", "-o", "OUT"], 65),
    (["check", "MODEL"], 1),
]


def lengths(path: Path):
    """The file cut off at every byte, from the last one on; its length each time."""
    for size in reversed(range(path.stat().st_size)):
        os.truncate(path, size)
        yield size


@pytest.mark.parametrize("options", ["--algorithm l1-ball --radius 1", "--save-weights-only --oaa 3"])
def test_a_model_cut_off_at_every_byte(vwlite, tmp_path, options):
    data, model, out = (tmp_path / name for name in ("data", "model", "out"))
    data.write_text(DATA if "--oaa" not in options else DATA.replace("-1", "2"))
    vwlite("train", data, "-m", model, *with_gd(options.split()))
    files, whole = {"MODEL": model, "DATA": data, "OUT": out}, model.stat().st_size
    for size in lengths(model):
        with pytest.raises(DataError) as raised:
            read_model(str(model))
        words = "it is empty" if size == 0 else "not a model of vwlite" if size < 4 else "its end is missing"
        assert words in str(raised.value)
        if size % 61 == 0 or size in (1, 2, 3, 4, whole - 1):
            for command, code in READERS:
                done = vwlite(*(files.get(a, a) for a in command), code=code)
                assert (done.out + done.err).startswith(f"{model}:")
                assert (done.out + done.err).count("\n") == 1 or command[0] == "check"
            assert not out.exists()


def test_a_model_of_vowpal_wabbit_cut_off_at_every_byte(vwlite, tmp_path):
    """Its format does not say how many weights there are: where one ends, the file may end."""
    data, model, out = (tmp_path / name for name in ("data", "model", "out"))
    data.write_text(DATA)
    vwlite("vw", "-d", data, "-f", model, "--quiet")
    files, whole = {"MODEL": model, "DATA": data, "OUT": out}, model.stat().st_size
    healthy = []
    for size in lengths(model):
        code = vwlite("predict", "-m", model, data, "-p", tmp_path / "p", code=None).code
        assert code in (0, 65)
        if code == 0:
            healthy.append(size)
        elif size % 23 == 0:
            for command, expected in READERS:
                done = vwlite(*(files.get(a, a) for a in command), code=expected)
                assert str(model) in (done.out + done.err)
            assert vwlite("vw", "-i", model, "-d", data, "-t", code=1).out.startswith("[critical] vw")
    features, slot = 6, 16  # with the constant
    assert healthy == [whole - slot * i for i in range(1, features + 1)]


def test_a_cache_cut_off_is_said_and_built_again(vwlite, tmp_path):
    data, cache, model = (tmp_path / name for name in ("data", "data.vwlite-cache", "model"))
    data.write_text(DATA)
    vwlite("train", *GD, data, "-c", "-m", model)
    whole, learned = cache.read_bytes(), model.read_bytes()
    for size in {*range(0, len(whole), 61), *range(len(whole) - 40, len(whole), 7)}:
        cache.write_bytes(whole[:size])
        assert vwlite("check", cache, code=1).out.startswith(f"{cache}: ")
        err = vwlite("train", *GD, data, "-c", "-m", model).err
        assert f"{cache.name}: " in err or f"{cache} " in err, err
        assert (cache.read_bytes(), model.read_bytes()) == (whole, learned)
