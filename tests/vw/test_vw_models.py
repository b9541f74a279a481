"""Vowpal Wabbit's model files: written, read, refused; and what a run does with them."""

import json
import struct
from array import array

import numpy as np
import pytest

from vwlite.core.learn.losses import Squared
from vwlite.core.rules.ftrl import Ftrl
from vwlite.core.rules.gd import Gd
from vwlite.core.vw.interleaved import load_slots
from vwlite.errors import DataError
from vwlite.model import read_model
from vwlite.vw.messages import Critical
from vwlite.vw.models.binary import (
    LAYOUTS,
    STATE,
    Header,
    SlotLayout,
    VwModel,
    binary_head,
    read_head,
    read_rest,
    text_head,
    write_binary,
)

DATA = "".join(f"{1 if i % 3 else -1} |a x{i % 7} y{i % 5}:0.5 |b z{i % 4}\n" for i in range(60))


def a_model() -> bytes:
    state = {name: float(i) for i, (name, _) in enumerate(STATE)}
    header = Header("id", -1, 1, 18, ["a2"], [], " --quadratic ab")
    return write_binary(VwModel(header, state, 3, array("I", [5, 9]), array("f", [0.5, 2, 1, -0.25, 3, 1])))


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
    with pytest.raises(Critical, match="missing or extra bytes"):
        read_rest(*read_head("m", a_model() + b"\0"), 3)
    with pytest.raises(Critical, match="exceeds its 18 bits"):
        read_rest(*read_head("m", a_model() + struct.pack("<I3f", 1 << 18, 1, 1, 1)), 3)


@pytest.mark.parametrize("bits", [18, 30, 31, 32])
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("whole", [True, False])
def test_slots_follow_the_state_each_with_its_floats_and_without_those_that_are_zero(bits, width, whole):
    slots = [0, 7, 8, 9, (1 << bits) - 1]
    rows = [[0.5, 0.0, 0.25], [0.0, -0.0, 0.0], [-0.0, 0.0, 1e-45], [float("nan"), 0.0, 0.0], [0.0, 2.0, 0.0]]
    floats = array("f", [x for row in rows for x in row[:width]])
    header, state = Header(bits=bits), {name: 1.0 for name, _ in STATE} if whole else None
    data = write_binary(VwModel(header, state, width, array("I", slots), floats))
    shown = width if whole else 1  # without its state a slot has only its weight
    number = "Q" if bits > 30 else "I"
    expected = b"".join(
        struct.pack(f"<{number}{shown}f", slot, *row[:shown])
        for slot, row in zip(slots, rows, strict=True) if any(row[:shown])
    )
    begin = len(binary_head(header)) + 1 + (sum(struct.calcsize(form) for _, form in STATE) if whole else 0)
    assert data[begin:] == expected
    model = read_rest(*read_head("m", data), width)
    assert list(model.slots) == [slot for slot, row in zip(slots, rows, strict=True) if any(row[:shown])]
    assert model.width == shown and model.floats.tobytes() == b"".join(
        struct.pack(f"<{shown}f", *row[:shown]) for row in rows if any(row[:shown])
    )


@pytest.mark.parametrize("slot", [1 << 31, 1 << 32, (1 << 63) + 5])
def test_a_wide_slot_outside_is_refused_by_its_number(slot):
    data = binary_head(Header(bits=31)) + b"\0" + struct.pack("<QfQf", 3, 1, slot, 1)
    with pytest.raises(Critical, match=f"slot {slot} exceeds its 31 bits"):
        read_rest(*read_head("m", data), 3)


def test_slots_of_a_rule_become_floats_and_slots_again():
    keys, floats = array("I", [0, 5, 0xFFFFFFFF]), array("f", [0.5, -1, 4, 0, 2, 9, 0.25, 0, 2])
    layout = SlotLayout(Ftrl(Squared()), LAYOUTS["ftrl"])
    slots = layout.write(keys, floats, 3, {})
    found = np.frombuffer(bytes(slots), np.dtype(Ftrl.SLOT, align=True))
    assert found["mark"].tolist() == [1, 6, 0] and found["z"].tolist() == [-1, 2, 0]
    assert found["root"].tolist() == [2, 3, 2**0.5] and found["_w"].tolist() == [0.5, 0, 0.25]
    load_slots(layout.rule, slots)
    assert list(layout.read()) == [(0, (0.5, -1, 4)), (5, (0, 2, 9)), (0xFFFFFFFF, (0.25, 0, 2))]
    layout = SlotLayout(Gd(Squared()), ("w", "G", "N"))
    found = np.frombuffer(bytes(layout.write(keys, floats[::3], 1, {"G": 2.0})), np.dtype(Gd.SLOT, align=True))
    assert found["w"].tolist() == [0.5, 0, 0.25] and found["G"].tolist() == [2, 2, 2] and not found["N"].any()


@pytest.mark.parametrize("flags", [[], ["--adaptive"], ["--normalized"], ["--invariant"], ["--sgd", "-l", "0.1"],
                                   ["--adaptive", "--normalized"], ["--ftrl"], ["--coin"], ["--pistol"], ["--freegrad"],
                                   ["--oaa", "3"]])
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


@pytest.mark.parametrize(("typed", "kept"), [
    ("--oaa 2", " --oaa 2"),
    ("--oaa 2 --link logistic", " --link identity --oaa 2"),
    ("--multilabel_oaa 2", " --link logistic --multilabel_oaa 2"),
])
def test_a_model_does_not_keep_probabilities(vwlite, tmp_path, typed, kept):
    """As Vowpal Wabbit's, whose models say this."""
    (tmp_path / "train").write_text(DATA.replace("-1 |", "2 |"))
    model = tmp_path / "m"
    vwlite(
        "vw", "-d", str(tmp_path / "train"), "-f", str(model), *typed.split(), "--probabilities",
        "--loss_function", "logistic",
    )
    assert read_head("m", model.read_bytes())[0].options == kept


def test_the_other_commands_take_such_models(vwlite, tmp_path):
    (tmp_path / "d").write_text(DATA)
    at = {name: str(tmp_path / name) for name in ("d", "m", "n", "o", "p")}
    vwlite("vw", "-d", at["d"], "-f", at["m"], "-q", "ab")
    vwlite("vw", "-d", at["d"], "-t", "-i", at["m"], "-p", at["p"])
    expected = [float(p) for p in open(at["p"]).read().split()]
    predicted = [float(p) for p in vwlite("predict", "-m", at["m"], at["d"]).out.split()]
    assert predicted == pytest.approx(expected, abs=2e-5)
    count = vwlite("weights", at["m"], "--all").out.count("\n") - 1  # the constant
    assert vwlite("check", at["m"]).out == f"{at['m']}: a model, whole: gd, {count} nonzero weights\n"
    vwlite("train", at["d"], "-i", at["m"], "-m", at["n"], "--loss", "squared")
    vwlite("export", at["n"], "--to", "vw", "-o", at["o"])
    learned = [float(p) for p in vwlite("predict", "-m", at["n"], at["d"]).out.split()]
    vwlite("vw", "-d", at["d"], "-t", "-i", at["o"], "-p", at["p"])
    assert [float(p) for p in open(at["p"]).read().split()] == pytest.approx(learned, abs=2e-5)


def numbers(text):
    return [float(p) for p in text.split()]


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared", "quantile --quantile_tau 0.25"])
def test_a_model_continues_with_the_loss_that_is_said(vwlite, tmp_path, loss):
    at = {name: str(tmp_path / name) for name in ("d", "m", "n", "o", "p")}
    (tmp_path / "d").write_text(DATA)
    vwlite("vw", "-d", at["d"], "-f", at["m"], "--loss_function", *loss.split())
    vwlite("vw", "-d", at["d"], "-i", at["m"], "-f", at["o"], "--loss_function", *loss.split())
    done = vwlite("train", at["d"], "-i", at["m"], "-m", at["n"], "--loss", *loss.replace("_", "-").split())
    assert f"loss = {loss.split()[0]}" in done.err and "changed from" not in done.err
    vwlite("vw", "-d", at["d"], "-t", "-i", at["o"], "-p", at["p"])
    expected = numbers((tmp_path / "p").read_text())
    assert numbers(vwlite("predict", "-m", at["n"], at["d"]).out) == pytest.approx(expected, abs=2e-3)
    assert json.loads(vwlite("info", "--json", at["n"]).out)["loss"] == loss.split()[0]


def test_a_model_without_a_loss_is_not_continued_with_just_any(vwlite, tmp_path):
    """Squared loss was taken, and --loss logistic refused as a contradiction."""
    at = {name: str(tmp_path / name) for name in ("d", "m", "n")}
    (tmp_path / "d").write_text(DATA)
    vwlite("vw", "-d", at["d"], "-f", at["m"], "--loss_function", "logistic")
    said = vwlite("train", at["d"], "-i", at["m"], "-m", at["n"], code=2).err
    assert said == (
        f"{at['m']}: a model of Vowpal Wabbit does not store the loss that it was trained with: give it, such as "
        "--loss logistic\n"
    )
    assert not (tmp_path / "n").exists()
    assert json.loads(vwlite("info", "--json", at["m"]).out)["loss"] == ""
    vwlite("train", at["d"], "-i", at["m"], "-m", at["n"], "--loss", "logistic", "--quiet")
    vwlite("train", at["d"], "-i", at["n"], "-m", at["n"], "--quiet")  # now it knows


def test_the_summary_of_a_model_without_a_loss_has_none_unless_it_is_said(vwlite, tmp_path):
    at = {name: str(tmp_path / name) for name in ("d", "m", "n", "p", "r")}
    (tmp_path / "d").write_text(DATA)
    vwlite("vw", "-d", at["d"], "-f", at["m"], "--loss_function", "logistic")
    done = vwlite("predict", "-m", at["m"], at["d"], "--report", at["r"])
    assert "average loss =" not in done.err and "accuracy = " in done.err
    assert f"no average loss: {at['m']} does not store its loss; give --loss\n" in done.err
    assert "average_loss" not in json.loads((tmp_path / "r").read_text())["results"]
    labels = np.array([float(line.split()[0]) for line in DATA.splitlines()])
    p = np.array(numbers(done.out))
    for loss, values in {
        "logistic": np.log1p(np.exp(-labels * p)), "squared": (p - labels) ** 2, "hinge": np.maximum(0, 1 - labels * p),
        "quantile --quantile-tau 0.25": np.where(labels > p, 0.25 * (labels - p), 0.75 * (p - labels)),
    }.items():
        again = vwlite("predict", "-m", at["m"], at["d"], "--report", at["r"], "--loss", *loss.split())
        assert again.out == done.out and "no average loss" not in again.err
        found = json.loads((tmp_path / "r").read_text())["results"]["average_loss"]
        assert found == pytest.approx(values.mean(), rel=1e-6)
    vwlite("train", at["d"], "-i", at["m"], "-m", at["n"], "--loss", "logistic", "--quiet")
    vwlite("predict", "-m", at["n"], at["d"], "--loss", "logistic")
    said = vwlite("predict", "-m", at["n"], at["d"], "--loss", "squared", code=2).err
    assert said == (
        f"--loss squared contradicts the model {at['n']}, which was trained with logistic: leave the option out\n"
    )
    assert "needs --loss quantile" in vwlite("predict", "-m", at["m"], at["d"], "--quantile-tau", 0.3, code=2).err


@pytest.mark.parametrize("link", ["logistic", "glf1", "poisson", "identity"])
def test_a_link_that_a_model_keeps_is_kept(vwlite, tmp_path, link):
    """`vwlite predict` dropped it."""
    at = {name: str(tmp_path / name) for name in ("d", "m", "n", "o", "p")}
    (tmp_path / "d").write_text(DATA)
    vwlite("vw", "-d", at["d"], "-f", at["m"], "--loss_function", "logistic", "--link", link)
    vwlite("vw", "-d", at["d"], "-t", "-i", at["m"], "-p", at["p"])
    expected = numbers((tmp_path / "p").read_text())
    assert numbers(vwlite("predict", "-m", at["m"], at["d"]).out) == pytest.approx(expected, abs=2e-5)
    assert json.loads(vwlite("info", "--json", at["m"]).out)["options"]["link"] == link
    loss = "poisson" if link == "poisson" else "logistic"
    if loss == "poisson":
        (tmp_path / "d").write_text(DATA.replace("-1 |", "2 |"))
    vwlite("train", at["d"], "-i", at["m"], "-m", at["n"], "--loss", loss, "--quiet")
    learned = vwlite("predict", "-m", at["n"], at["d"]).out
    vwlite("export", at["n"], "--to", "vw", "-o", at["o"])
    vwlite("vw", "-d", at["d"], "-t", "-i", at["o"], "-p", at["p"])
    assert numbers((tmp_path / "p").read_text()) == pytest.approx(numbers(learned), rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("bits", [10, 18, 20])
def test_a_run_has_the_bits_of_its_feature_mask(vwlite, tmp_path, bits):
    """A run of 18 bits with a mask of 20 wrote a model that nothing could read."""
    at = {name: str(tmp_path / name) for name in ("d", "mask", "m", "n", "p", "q")}
    (tmp_path / "d").write_text(DATA)
    vwlite("vw", "-d", at["d"], "-f", at["mask"], "-b", bits)
    done = vwlite("vw", "-d", at["d"], "--feature_mask", at["mask"], "-f", at["m"], "-p", at["p"])
    assert f"Num weight bits = {bits}\n" in done.err
    assert read_head("m", (tmp_path / "m").read_bytes())[0].bits == bits
    vwlite("vw", "-d", at["d"], "-t", "-i", at["m"], "-p", at["q"])
    vwlite("vw", "-d", at["d"], "--feature_mask", at["mask"], "-b", bits, "-p", at["q"])
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()
    # It begins as the mask: with its state, too, if it has one.
    vwlite("vw", "-d", at["d"], "-i", at["mask"], "--feature_mask", at["mask"], "-p", at["q"])
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


@pytest.mark.parametrize("other", ["-b 18", "-i other"])
def test_a_feature_mask_of_other_bits_is_refused(vwlite, tmp_path, other, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").write_text(DATA)
    vwlite("vw", "-d", "d", "-f", "mask", "-b", 20, "--quiet")
    vwlite("vw", "-d", "d", "-f", "other", "--quiet")
    done = vwlite("vw", "-d", "d", "--feature_mask", "mask", "-f", "m", *other.split(), code=1)
    assert done.out == "[critical] vw (vw_validate.cc:31): -b bits mismatch: command-line 18 != 20 stored in model\n"
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            "--algorithm gd --oaa 2 --classes auto",
            "a model of classes cannot be exported: train it with `vwlite vw --oaa`",
        ),
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
    "option", [["--cb", "2"], ["--lda", "2"], ["--plt", "2"], ["--ksvm"], ["--daemon"]]
)
def test_what_is_not_here_is_refused_by_name(vwlite, option):
    done = vwlite("vw", *option, code=2)
    assert option[0] in done.err and done.err.count("\n") == 1


def test_an_unknown_argument_is_critical(vwlite):
    assert "unrecognised option '--nothing'" in vwlite("vw", "--nothing", code=1).out
