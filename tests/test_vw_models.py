"""Vowpal Wabbit's model files: written, read, refused; and what a run does with them."""

import struct
from array import array

import pytest

from vwlite.errors import DataError
from vwlite.model import read_model
from vwlite.vw.model import STATE, Header, Model, binary_head, read_head, read_rest, text_head, write_binary
from vwlite.vw.words import Critical

DATA = "".join(f"{1 if i % 3 else -1} |a x{i % 7} y{i % 5}:0.5 |b z{i % 4}\n" for i in range(60))


def a_model() -> bytes:
    state = {name: float(i) for i, (name, _) in enumerate(STATE)}
    header = Header("id", -1, 1, 18, ["a2"], [], " --quadratic ab")
    return write_binary(Model(header, state, 3, array("Q", [5, 9]), array("f", [0.5, 2, 1, -0.25, 3, 1])))


def test_the_checksum_is_the_chain_over_the_chunks():
    # From a file that Vowpal Wabbit wrote: --noconstant --ignore_linear a --interactions aa, 18 bits.
    header = Header("", 0, 1, 18, [], [], " --interactions aa --noconstant --ignore_linear a")
    assert text_head(header).endswith("Checksum: 3338015602\n")


def test_what_is_written_is_read():
    data = a_model()
    header, source = read_head("m", data)
    model = read_rest(header, source, 3)
    assert (header.id, header.bits, header.ngrams, header.options) == ("id", 18, ["a2"], " --quadratic ab")
    assert model.state is not None and model.state["t"] == 2
    assert list(model.slots) == [5, 9] and list(model.floats) == [0.5, 2, 1, -0.25, 3, 1]


@pytest.mark.parametrize("place", range(11, len(binary_head(Header())) - 1))
def test_a_changed_byte_of_the_head_is_noticed(place):
    data = bytearray(binary_head(Header()) + b"\0")
    data[place] ^= 0x11
    with pytest.raises(Critical):
        read_rest(*read_head("m", bytes(data)), 1)


@pytest.mark.parametrize("size", [0, 3, 20, 60, -1, -5])
def test_a_model_cut_off_is_refused(size):
    with pytest.raises(Critical):
        read_rest(*read_head("m", a_model()[:size]), 3)


def test_bytes_too_many_and_slots_outside_are_refused():
    with pytest.raises(Critical, match="missing or too many"):
        read_rest(*read_head("m", a_model() + b"\0"), 3)
    with pytest.raises(Critical, match="outside"):
        read_rest(*read_head("m", a_model() + struct.pack("<I3f", 1 << 18, 1, 1, 1)), 3)


@pytest.mark.parametrize("flags", [[], ["--adaptive"], ["--normalized"], ["--invariant"], ["--sgd", "-l", "0.1"],
                                   ["--adaptive", "--normalized"], ["--ftrl"], ["--coin"], ["--pistol"], ["--freegrad"],
                                   ["--oaa", "3"]])  # fmt: skip
def test_learning_on_equals_never_stopping(vwlite, tmp_path, flags):
    text = DATA.replace("-1 |", "2 |") if "--oaa" in flags else DATA
    (tmp_path / "all").write_text(text)
    lines = text.splitlines(keepends=True)
    (tmp_path / "first").write_text("".join(lines[:30]))
    (tmp_path / "second").write_text("".join(lines[30:]))
    at = {name: str(tmp_path / name) for name in ("all", "first", "second", "m", "p", "q")}
    vwlite("vw", "-d", at["all"], "-p", at["p"], *flags)
    vwlite("vw", "-d", at["first"], "-f", at["m"], *flags)
    vwlite("vw", "-d", at["second"], "-i", at["m"], "-p", at["q"])
    whole, rest = (open(at[name]).read().split() for name in "pq")
    assert [float(p) for p in whole[30:]] == pytest.approx([float(p) for p in rest], abs=2e-5)


def test_the_other_commands_take_such_models(vwlite, tmp_path):
    (tmp_path / "d").write_text(DATA)
    at = {name: str(tmp_path / name) for name in ("d", "m", "n", "o", "p")}
    vwlite("vw", "-d", at["d"], "-f", at["m"], "-q", "ab")
    vwlite("vw", "-d", at["d"], "-t", "-i", at["m"], "-p", at["p"])
    expected = [float(p) for p in open(at["p"]).read().split()]
    predicted = [float(p) for p in vwlite("predict", "-m", at["m"], at["d"]).out.split()]
    assert predicted == pytest.approx(expected, abs=2e-5)
    vwlite("train", at["d"], "-i", at["m"], "-m", at["n"])
    vwlite("export", at["n"], "--to", "vw", "-o", at["o"])
    learned = [float(p) for p in vwlite("predict", "-m", at["n"], at["d"]).out.split()]
    vwlite("vw", "-d", at["d"], "-t", "-i", at["o"], "-p", at["p"])
    assert [float(p) for p in open(at["p"]).read().split()] == pytest.approx(learned, abs=2e-5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--oaa 2 --classes auto", "a model of classes cannot be exported: `vwlite vw --oaa` makes one"),
        ("--algorithm eg --radius 3", "a model of --algorithm eg cannot be exported: features that were never seen"),
    ],
)
def test_a_model_that_vowpal_wabbit_cannot_have_is_not_exported(vwlite, tmp_path, options, said):
    at = {name: str(tmp_path / name) for name in "dmo"}
    (tmp_path / "d").write_text(DATA)
    vwlite("train", at["d"], *options.split(), "-m", at["m"], "--quiet")
    assert f"{at['m']}: {said}" in vwlite("export", at["m"], "--to", "vw", "-o", at["o"], code=65).err
    assert not (tmp_path / "o").exists()


def test_a_model_that_needs_more_is_refused(vwlite, tmp_path):
    (tmp_path / "d").write_text(DATA)
    vwlite("vw", "-d", str(tmp_path / "d"), "-f", str(tmp_path / "m"), "--ftrl")
    with pytest.raises(DataError, match="--ftrl"):
        read_model(str(tmp_path / "m"))


@pytest.mark.parametrize(
    "option", [["--cb", "2"], ["--lda", "2"], ["--plt", "2"], ["--ksvm"], ["--daemon"], ["--scores"]]
)
def test_what_is_not_here_is_refused_by_name(vwlite, option):
    done = vwlite("vw", *option, code=2)
    assert option[0] in done.err and done.err.count("\n") == 1


def test_an_unknown_argument_is_critical(vwlite):
    assert "unrecognised option '--nothing'" in vwlite("vw", "--nothing", code=1).out
