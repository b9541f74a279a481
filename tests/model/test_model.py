"""Model files: whole, of this program, and the same bytes for the same model; or refused."""

import dataclasses
import hashlib
import io
import json
import math
import os
import subprocess
import sys
import zipfile
from array import array
from pathlib import Path

import numpy as np
import pytest
from running import GD

from vwlite.algorithms.settings import Settings
from vwlite.errors import DataError, NoInputError
from vwlite.model.file import FORMAT, Model, write_model
from vwlite.model.read import map_model, read_model
from vwlite.model.stated import check_weights
from vwlite.output.atomic import AtomicFile

RULE = {"t": 7.0, "norm_sum": 0.1 + 0.2, "weight_sum": 7.0, "gravity": 0.0, "contraction": 1.0}


def a_model(n: int = 5, **changes) -> Model:
    rng = np.random.default_rng(n)
    w = rng.normal(size=n).astype(np.float32)
    model = Model(
        algorithm="gd",
        loss="squared",
        options={"bits": 32, "loss": "squared", "interactions": ["ab"], "labels": None},
        counters={"examples": 7, "features": 20, "unlabelled": 0},
        rule=RULE,
        range=(-1.0, 2.5),
        keys=np.sort(rng.choice(2**32, n, replace=False)).astype(np.uint32),
        weights=w.astype(float),
        state={"w": w, **{name: rng.random(n).astype(np.float32) for name in "GN"}},
        program="vwlite 0.1.0",
    )
    model = dataclasses.replace(model, **changes)
    state = {name: memoryview(array) for name, array in model.state.items()}
    return dataclasses.replace(model, keys=memoryview(model.keys), weights=memoryview(model.weights), state=state)


def save(path, model) -> bytes:
    with AtomicFile(path) as file:
        write_model(file, model)
        file.commit()
    return Path(path).read_bytes()


def sealed(content: bytes) -> bytes:
    """A zip with the comment of a model: an attacker can create one."""
    at = len(content) - 2
    assert content[at:] == b"\0\0"  # the size of the comment
    content = content[:at] + (79).to_bytes(2, "little")
    return content + b"vwlite blake2b=" + hashlib.blake2b(content, digest_size=32).hexdigest().encode()


def forged(header, **arrays) -> bytes:
    out = io.BytesIO()
    np.savez(out, header=np.array(header if isinstance(header, str) else json.dumps(header)), **arrays)
    return sealed(out.getvalue())


def same(a: Model, b: Model) -> bool:
    plain = [f.name for f in dataclasses.fields(Model) if f.compare and f.name not in ("keys", "weights", "state")]
    return (
        all(getattr(a, name) == getattr(b, name) for name in plain)
        and all(x.format == y.format and x.tobytes() == y.tobytes() for x, y in arrays_of(a, b))
        and a.state.keys() == b.state.keys()
    )


def arrays_of(a: Model, b: Model):
    yield a.keys, b.keys
    yield a.weights, b.weights
    for name in a.state:
        yield a.state[name], b.state[name]


@pytest.mark.parametrize(
    "model",
    [
        a_model(),
        a_model(0),
        a_model(1, range=None, interrupted=True),
        a_model(3, state={}, rule={}, weights_only=True),
        a_model(200_000),
        a_model(options={"labels": [0.0, 1.0], "keep": "Ã¤", "initial_t": 1e-300}, rule=RULE | {"t": 1 / 3}),
    ],
    ids=["small", "empty", "one", "weights only", "large", "rare"],
)
def test_what_is_written_is_read(tmp_path, model):
    data = save(tmp_path / "m", model)
    found = read_model(str(tmp_path / "m"))
    assert same(found, model)
    assert save(tmp_path / "again", found) == data


def test_a_model_has_the_settings_of_its_loss_and_no_other():
    assert "huber_delta" not in Settings().stored()
    stored = Settings(loss="huber", huber_delta=0.25).stored()
    assert Settings.restored(stored) == Settings(loss="huber", huber_delta=0.25)
    assert stored.keys() - Settings().stored().keys() == {"huber_delta"}


def test_numpy_reads_it_without_pickle(tmp_path):
    model = a_model()
    save(tmp_path / "m", model)
    with np.load(tmp_path / "m", allow_pickle=False) as arrays:
        assert set(arrays.files) == {"header", "keys", "weights", "state_w", "state_G", "state_N"}
        assert json.loads(str(arrays["header"])) == model.header() | {"range": [-1.0, 2.5]}
        assert (arrays["keys"] == np.asarray(model.keys)).all()
        assert (arrays["weights"] == np.asarray(model.weights)).all()
    with zipfile.ZipFile(tmp_path / "m") as archive:
        assert archive.testzip() is None
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())


def test_writing_needs_little_memory_beside_the_model(tmp_path):
    import tracemalloc

    model = a_model(1_000_000, state={"w": np.zeros(1_000_000, "f4"), "long": np.zeros(1_000_000, "f8")})
    with AtomicFile(tmp_path / "m") as file:
        tracemalloc.start()
        write_model(file, model)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 16 << 20  # the arrays have 24 MB


def test_the_clock_does_not_show(tmp_path, monkeypatch):
    data = save(tmp_path / "m", a_model())
    monkeypatch.setattr("time.time", lambda: 2e9)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    os.utime(tmp_path / "m", (0, 0))
    assert save(tmp_path / "other name", a_model()) == data


def test_every_truncation_is_refused(tmp_path):
    data = save(tmp_path / "m", a_model())
    path = tmp_path / "m"
    for size in reversed(range(len(data))):
        os.truncate(path, size)
        with pytest.raises(DataError):
            read_model(str(path))


def test_every_flipped_bit_is_refused(tmp_path):
    data = bytearray(save(tmp_path / "m", a_model(2, state={}, rule={}, weights_only=True)))
    path = tmp_path / "flipped"
    path.write_bytes(data)
    file = os.open(path, os.O_RDWR)
    places = np.random.default_rng(1).choice(8 * len(data), 4000, replace=False).tolist()
    end = range(8 * (len(data) - 120), 8 * len(data))  # the end of the zip and the checksum: each bit
    for bit in {*places, *end}:
        data[bit // 8] ^= 1 << bit % 8
        os.pwrite(file, data[bit // 8 : bit // 8 + 1], bit // 8)
        with pytest.raises(DataError):
            read_model(str(path))
        data[bit // 8] ^= 1 << bit % 8
        os.pwrite(file, data[bit // 8 : bit // 8 + 1], bit // 8)
    os.close(file)
    assert read_model(str(path)).keys.nbytes == 8


@pytest.mark.parametrize("tail", [b"\0", b"\n", b"x" * 100])
def test_bytes_after_the_end_are_refused(tmp_path, tail):
    data = save(tmp_path / "m", a_model())
    (tmp_path / "m").write_bytes(data + tail)
    with pytest.raises(DataError):
        read_model(str(tmp_path / "m"))


def test_a_damaged_model_says_what_to_do(tmp_path):
    data = bytearray(save(tmp_path / "m", a_model()))
    data[len(data) // 2] ^= 1
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(DataError, match=r"m: damaged: its content does not match its checksum; use another copy$"):
        read_model(str(tmp_path / "m"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"1 |a b:0.5\n-1 |a c\n", "it is text"),
        ("1 |wörter größe\n".encode(), "it is text"),
        (b"\x1f\x8b\x08\0" + bytes(50), "it is compressed"),
        (b"\x28\xb5\x2f\xfd" + bytes(50), "it is compressed"),
        (b"PK\x03\x04" + bytes(50), "its end is missing or damaged"),
        (b"vwlite cache\0\0\0\1" + bytes(50), "it is a cache"),
        (bytes(range(256)), "not a model of vwlite"),
    ],
)
def test_what_is_not_a_model_is_called_what_it_is(tmp_path, content, reason):
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_model(str(path))
    assert str(caught.value).startswith(f"{path}: not a ")
    assert reason in str(caught.value)


def test_what_is_not_there(tmp_path):
    with pytest.raises(NoInputError) as caught:
        read_model(str(tmp_path / "m"))
    assert str(caught.value) == f"{tmp_path}/m: No such file or directory"
    with pytest.raises(NoInputError, match="Is a directory"):
        read_model(str(tmp_path))


def test_a_model_can_come_through_a_pipe(tmp_path):
    model = a_model()
    data = save(tmp_path / "m", model)
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    assert same(read_model(f"/dev/fd/{read}"), model)
    os.close(read)


@pytest.mark.parametrize("size", [0, 1, 5, 1000])
def test_a_model_that_stays_in_its_file_is_the_same(tmp_path, monkeypatch, size):
    """Its arrays lie at any address, and are looked at in parts that overlap."""
    save(tmp_path / "m", a_model(size))
    monkeypatch.setattr("vwlite.model.file._CHUNK", 64)
    mapped, found = map_model(str(tmp_path / "m")), read_model(str(tmp_path / "m"))
    assert same(mapped, found)
    assert mapped.digest == found.digest
    assert len(found.digest) == 64
    os.remove(tmp_path / "m")
    assert same(mapped, found)


@pytest.mark.parametrize("at", [1, 15, 16, 17, 31, 32, 99])
def test_what_is_wrong_is_found_in_every_part(tmp_path, monkeypatch, at):
    monkeypatch.setattr("vwlite.model.file._CHUNK", 64)
    model = a_model(100)
    keys = array("I", model.keys)
    keys[at] = keys[at - 1]
    model.keys = memoryview(keys)
    save(tmp_path / "m", model)
    for read in (read_model, map_model):
        with pytest.raises(DataError, match="keys are not ascending"):
            read(str(tmp_path / "m"))


def test_a_newer_format_is_refused_by_its_version(tmp_path):
    data = save(tmp_path / "m", a_model(format=FORMAT + 1, program="vwlite 9.8.7"))
    assert data
    with pytest.raises(DataError) as caught:
        read_model(str(tmp_path / "m"))
    assert str(caught.value) == (
        f"{tmp_path}/m: written by vwlite 9.8.7 in format {FORMAT + 1}, this program reads formats up to {FORMAT}: "
        "it needs vwlite 9.8.7 or later"
    )


def test_a_newer_format_may_have_lost_everything_else(tmp_path):
    (tmp_path / "m").write_bytes(forged({"format": FORMAT + 1, "program": "vwlite 9.8.7"}))
    with pytest.raises(DataError, match=r"needs vwlite 9\.8\.7 or later"):
        read_model(str(tmp_path / "m"))


HEADER = a_model().header()
KEYS, WEIGHTS = np.array([1, 2, 3], "u4"), np.array([1.0, 2.0, 3.0])
STATE = {f"state_{name}": WEIGHTS.astype("f4") for name in "wGN"}
FORGERIES = {
    "keys not ascending": (HEADER, {"keys": KEYS[::-1]}),
    "a key twice": (HEADER, {"keys": np.array([1, 2, 2], "u4")}),
    "keys of 64 bits": (HEADER, {"keys": KEYS.astype("u8")}),
    "keys in a square": (HEADER, {"keys": KEYS.reshape(1, 3)}),
    "weights of 32 bits": (HEADER, {"weights": WEIGHTS.astype("f4")}),
    "other byte order": (HEADER, {"weights": WEIGHTS.astype(">f8")}),
    "too few weights": (HEADER, {"weights": WEIGHTS[:2]}),
    "too many weights": (HEADER, {"weights": np.ones(4)}),
    "one weight for all": (HEADER, {"weights": np.float64(1)}),
    "a weight that is not a number": (HEADER, {"weights": np.array([1, math.nan, 2])}),
    "an infinite weight": (HEADER, {"weights": np.array([1, math.inf, 2])}),
    "words for weights": (HEADER, {"weights": np.array(["a", "b", "c"])}),
    "objects for weights": (HEADER, {"weights": np.array([None, 1, {}], object)}),
    "too little state": (HEADER, {"state_w": np.ones(2)}),
    "words for state": (HEADER, {"state_w": np.array(["a", "b", "c"])}),
    "state that is not a number": (HEADER, {"state_w": np.array([1, 2, math.nan])}),
    "no header": (None, {}),
    "a header that is not JSON": ("{", {}),
    "a header that is a list": ([1, 2], {}),
    "a header of bytes": (HEADER, {"header": np.array([1, 2, 3], "u1")}),
    "no version": ({k: v for k, v in HEADER.items() if k != "format"}, {}),
    "a version in words": (HEADER | {"format": "one"}, {}),
    "a version below 1": (HEADER | {"format": 0}, {}),
    "options in a list": (HEADER | {"options": []}, {}),
    "counters in words": (HEADER | {"counters": {"examples": "many"}}, {}),
    "rule state in words": (HEADER | {"rule": {"t": "late"}}, {}),
    "rule state that is not a number": (HEADER | {"rule": {"t": math.nan}}, {}),
    "half a range": (HEADER | {"range": [1]}, {}),
    "a range upside down": (HEADER | {"range": [2, 1]}, {}),
    "a range in words": (HEADER | {"range": ["a", "b"]}, {}),
    "a flag in words": (HEADER | {"weights_only": "no"}, {}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_models_are_refused_though_their_checksum_is_right(tmp_path, name):
    header, changes = FORGERIES[name]
    arrays = {"keys": KEYS, "weights": WEIGHTS, **STATE, **changes}
    if header is None or "header" in arrays:
        out = io.BytesIO()
        np.savez(out, **arrays)
        content = sealed(out.getvalue())
    else:
        content = forged(header, **arrays)
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(DataError, match=r"m: not a "):
        read_model(str(tmp_path / "m"))


def test_a_forgery_without_fault_is_read(tmp_path):
    """Else the test above could not fail."""
    (tmp_path / "m").write_bytes(forged(HEADER, keys=KEYS, weights=WEIGHTS, **STATE))
    assert read_model(str(tmp_path / "m")).weights.tolist() == [1.0, 2.0, 3.0]


def other_weights():
    """Weights that are not those of the state: none, one more digit than a float has, another sign, another feature."""
    for i in range(3):
        yield from (np.where(np.arange(3) == i, x, WEIGHTS) for x in (0, WEIGHTS[i] * 1.00001, -WEIGHTS[i]))
    yield WEIGHTS[::-1].copy()


@pytest.mark.parametrize("weights", [*other_weights()], ids=str)
def test_weights_that_are_not_those_of_the_state_are_refused(tmp_path, weights):
    (tmp_path / "m").write_bytes(forged(HEADER, keys=KEYS, weights=weights, **STATE))
    with pytest.raises(DataError, match=r"the weight of #\d is .*, but .* in its state"):
        read_model(str(tmp_path / "m"))


def test_weights_that_are_set_otherwise_are_not_compared(tmp_path):
    weights = WEIGHTS.copy()
    weights[[0, 2]] = 9
    model = read_model(save_forged(tmp_path, STATE))
    model.weights = memoryview(weights)
    check_weights("m", model, {1, 3})
    with pytest.raises(DataError, match="#1 "):
        check_weights("m", model, {3})


def save_forged(folder, state):
    (folder / "m").write_bytes(forged(HEADER, keys=KEYS, weights=WEIGHTS, **state))
    return str(folder / "m")


def test_a_forged_size_does_not_fill_the_memory(tmp_path):
    """An array that says it has 2^60 numbers."""
    out = io.BytesIO()
    np.savez(out, header=np.array(json.dumps(HEADER)), weights=WEIGHTS, keys=KEYS)
    huge = io.BytesIO()
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(huge, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == "keys.npy":
                data = data.replace(b"(3,), }" + b" " * 18, b"(1152921504606846976,), }")
                assert b"1152921504606846976" in data
            new.writestr(info.filename, data)
    (tmp_path / "m").write_bytes(sealed(huge.getvalue()))
    with pytest.raises((DataError, MemoryError)):
        read_model(str(tmp_path / "m"))


def test_pickles_are_never_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    out = io.BytesIO()
    np.savez(
        out, header=np.array(json.dumps(HEADER)), keys=KEYS, weights=WEIGHTS, state_w=np.array([Trap()] * 3, object)
    )
    (tmp_path / "m").write_bytes(sealed(out.getvalue()))
    with pytest.raises(DataError):
        read_model(str(tmp_path / "m"))
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": np.array([1.0, math.nan, 2.0, 3.0, 4.0])},
        {"weights": np.array([1.0, -math.inf, 2.0, 3.0, 4.0])},
        {"state": {"w": np.array([1, 2, 3, 4, math.nan], "f4")}},
        {"state": {"w": np.array([1, 2, 3, 4, math.inf], "f4")}},
        {"rule": {"t": math.nan}},
    ],
)
def test_what_is_not_finite_is_never_written(tmp_path, changes):
    with pytest.raises(DataError, match=r"m: not written: learning has diverged"):
        save(tmp_path / "m", a_model(**changes))
    assert os.listdir(tmp_path) == []


def stored(tmp_path, **changes) -> str:
    """A model with these options beside its own, in a file."""
    options = json.loads(json.dumps(Settings().stored() | {"labels": [0.0, 1.0], "interactions": ["ab"]} | changes))
    model = a_model(options=options, algorithm=options["algorithm"], loss=options["loss"])
    save(tmp_path / "m", dataclasses.replace(model, range=None) if options["algorithm"] != "gd" else model)
    return str(tmp_path / "m")


@pytest.mark.parametrize("changes", [{"algorithm": "magic"}, {"loss": "magic"}, {"future": 1}, {"update": "magic"}])
def test_options_that_this_program_does_not_know_need_a_newer_one(tmp_path, changes):
    with pytest.raises(DataError, match=r"m: needs vwlite 0\.1\.0 or later: unknown .*" + next(iter(changes))):
        read_model(stored(tmp_path, **changes))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"bits": "many"}, "--bits is 'many'"),
        ({"bits": 31.5}, "--bits is 31.5"),
        ({"bits": True}, "--bits is True"),
        ({"bits": 33}, "--bits: 33 is out of range: it must be at least 1 and at most 32"),
        ({"bits": [32]}, "--bits is (32,)"),
        ({"learning_rate": None}, "--learning-rate is None"),
        ({"learning_rate": 0}, "--learning-rate: 0 is out of range: it must be above 0 and finite"),
        ({"learning_rate": 10**400}, "--learning-rate is 1000"),
        ({"learning_rate": {"a": 1}}, "--learning-rate is {'a': 1}"),
        ({"l1": -1e-300}, "--l1: -1e-300 is out of range"),
        ({"period": 0}, "--period: 0 is out of range"),
        ({"radius": "far"}, "--radius is 'far'"),
        ({"radius": 1.0}, "--radius has no effect with --algorithm gd"),
        ({"labels": ["no", 1.0]}, "--labels is ('no', 1.0)"),
        ({"labels": ["no", "no"]}, "--labels: 'no,no': duplicate name"),
        ({"labels": ["n\x01o", "yes"]}, "cannot be a label: it has a control character"),
        ({"labels": ["0", "1"]}, "--labels: ('0', '1') are neither two numbers nor two words"),
        ({"labels": [0, 1, 2]}, "--labels is (0, 1, 2)"),
        ({"labels": [1, 1]}, "--labels: '1,1': the two labels must be finite and differ"),
        ({"interactions": [1]}, "--interactions is (1,)"),
        ({"interactions": ["a"]}, "--interactions: 'a': expected at least 2 letters"),
        ({"interactions": ["\u0100\u0100"]}, "is not of bytes"),
        ({"keep": ["a"]}, "--keep is ('a',)"),
        ({"keep": "a|"}, "--keep: '|': a letter that no namespace can begin with"),
        ({"keep": "a", "ignore": "b"}, "--keep and --ignore cannot be used together"),
        ({"constant": "yes"}, "--no-constant is 'yes'"),
        ({"hash": []}, "--hash is ()"),
        ({"oaa": 1}, "--oaa: 1 is out of range"),
        ({"classes": "auto"}, "--classes auto needs --oaa K"),
        ({"algorithm": "pa"}, "--algorithm pa cannot learn from --loss squared"),
        ({"algorithm": "l1-ball"}, "--algorithm l1-ball needs --radius"),
        ({"quantile_tau": 0.25}, "--quantile-tau has no effect with --loss squared"),
    ],
)
def test_options_that_train_would_not_take_are_refused(tmp_path, changes, why):
    with pytest.raises(DataError) as caught:
        read_model(stored(tmp_path, **changes))
    assert str(caught.value).startswith(f"{tmp_path}/m: not a valid model: ")
    assert why in str(caught.value)


def test_the_options_of_a_model_are_the_settings_it_was_made_with(tmp_path):
    settings = Settings(
        labels=(0, 1), interactions=("ab", "abc"), keep="\xe4\xff", radius=3, algorithm="l1-ball", bits=17, hash="all"
    )
    keys = np.arange(5, dtype=np.uint32)
    model = a_model(options=settings.stored(), algorithm="l1-ball", range=None, state={}, rule={}, weights_only=True)
    save(tmp_path / "m", dataclasses.replace(model, keys=memoryview(keys)))
    assert read_model(str(tmp_path / "m")).settings == settings


def test_importing_it_does_not_import_numpy():
    code = "import sys, vwlite.model.file, vwlite.output.atomic; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_version_of_python_does_not_change_the_bytes(vwlite, tmp_path, monkeypatch):
    """zipfile before Python 3.11.4: version 2.0, and no sign in a header that its sizes have 64 bits."""
    (tmp_path / "d").write_text("1 |a b\n-1 |a c\n")
    vwlite("train", *GD, tmp_path / "d", "-m", tmp_path / "m", "--quiet")
    of_now = zipfile.ZipInfo.FileHeader

    def older(info, zip64=None):
        header = bytearray(of_now(info, zip64))
        header[4:5], header[18:26] = bytes([info.extract_version]), bytes(8)
        return bytes(header)

    monkeypatch.setattr(zipfile.ZipInfo, "FileHeader", older)
    vwlite("train", *GD, tmp_path / "d", "-m", tmp_path / "older", "--quiet")
    assert (tmp_path / "older").read_bytes() == (tmp_path / "m").read_bytes()
