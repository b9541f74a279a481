"""Models of older versions of Vowpal Wabbit: what stood in their heads, in another order, or nowhere."""

import struct
from typing import Any

import pytest

from vwlite.core.text.parser import murmur3, name_hash
from vwlite.vw.messages import Critical
from vwlite.vw.models.binary import read_head, read_rest

CONSTANT = 11650396 & 0x3FFFF
PRIME = 16777619
COUNTS = {
    "initial_t": 0.0, "norm normalizer": 3.0, "t": 5.0, "sum_loss": 1.5, "sum_loss_since_last_dump": 0.5,
    "dump_interval": 8.0, "min_label": -4.0, "max_label": 4.0, "weighted_labeled_examples": 4.0,
    "weighted_labels": 1.0, "weighted_unlabeled_examples": 0.0, "example_number": 3, "total_features": 11,
}
FORMS = "<fddddfffdddQQ"


def slot(space: str, name: str) -> int:
    return int(name_hash(name.encode(), name_hash(space.encode(), 0))) & 0x3FFFF


def crossed(one: tuple[str, str], other: tuple[str, str]) -> int:
    hashes = [int(name_hash(name.encode(), name_hash(space.encode(), 0))) for space, name in (one, other)]
    return (hashes[0] * PRIME ^ hashes[1]) & 0x3FFFF


def old_model(
    version: str,
    weights: dict[int, tuple[float, ...]],
    *,
    options: str = "",
    id: str = "",
    pairs: tuple[str, ...] = (),
    triples: tuple[str, ...] = (),
    longer: tuple[str, ...] = (),
    rank: int = 0,
    resume: bool = False,
    wide: bool = False,
) -> bytes:
    """A file as that version wrote it."""
    number = tuple(map(int, version.split(".")))
    name = version.encode() + b"\0"
    chunks: list[bytes] = []

    def text(value: str) -> None:
        data = value.encode() + b"\0"
        chunks.extend([struct.pack("<I", len(data)), data])

    if number >= (8, 0, 3):
        text(id)
    chunks += [b"m", struct.pack("<f", -4), struct.pack("<f", 4), struct.pack("<I", 18)]
    if number < (7, 10, 3):
        for several in (pairs, triples):
            chunks += [struct.pack("<I", len(several)), *(each.encode() for each in several)]
        if number >= (7, 10, 2):
            chunks.append(struct.pack("<I", len(longer)))
            for each in longer:
                chunks += [struct.pack("<I", len(each)), each.encode()]
    if number <= (7, 8, 0):
        chunks.append(struct.pack("<I", rank))
    chunks += [struct.pack("<I", 0)] * 3  # lda, n-grams, skips
    text(options)
    head = struct.pack("<I", len(name)) + name + b"".join(chunks)
    if number >= (8, 0, 2):
        value = 0
        for chunk in chunks:
            value = murmur3(chunk, value)
        head += struct.pack("<II", 4, value)
    elif number >= (8, 0, 1):
        head += struct.pack("<II", 4, murmur3(head, 0))
    state = b""
    if resume:
        state = struct.pack(FORMS, *COUNTS.values())
        if number >= (7, 10, 1):
            state += struct.pack("<ddQ", 4.0, 2.0, 1)
        if number >= (9, 0, 0):
            state += struct.pack("<dd", 0.25, 0.5)
    rows = (
        struct.pack("<Q" if wide else "<I", place) + struct.pack(f"<{len(floats)}f", *floats)
        for place, floats in sorted(weights.items())
    )
    return head + bytes([resume]) + state + b"".join(rows)


WEIGHTS: dict[int, tuple[float, ...]] = {slot("a", "x"): (0.5,), slot("b", "y"): (-2.0,), CONSTANT: (0.25,)}
TEXT = "1 |a x |b y:0.5\n-1 |a x:2\n| z\n"
PREDICTED = [0.5 - 1.0 + 0.25, 1.0 + 0.25, 0.25]
VERSIONS = ["7.6.0", "7.8.0", "7.9.0", "7.10.0", "7.10.1", "7.10.2", "7.10.3", "8.0.0", "8.0.1", "8.0.2", "8.0.3",
            "8.2.1", "8.5.0", "8.8.1", "8.11.0", "9.0.0", "9.11.2"]


def predicted(vwlite: Any, tmp_path: Any, model: bytes, *more: str) -> list[float]:
    (tmp_path / "d").write_text(TEXT)
    (tmp_path / "m").write_bytes(model)
    vwlite("vw", "-t", "-d", tmp_path / "d", "-i", tmp_path / "m", "-p", tmp_path / "p", *more)
    return [float(line) for line in (tmp_path / "p").read_text().split()]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_model_of_any_version_predicts(vwlite: Any, tmp_path: Any, version: str) -> None:
    model = old_model(version, WEIGHTS, options=" --hash_seed 0 --link=identity")
    assert predicted(vwlite, tmp_path, model) == pytest.approx(PREDICTED)
    own = vwlite("predict", "-m", tmp_path / "m", tmp_path / "d").out.split()
    assert [float(p) for p in own] == pytest.approx(PREDICTED)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_model_of_any_version_is_continued(vwlite: Any, tmp_path: Any, version: str) -> None:
    """What a version did not store begins as in a fresh run."""
    rows = {place: (w, 2.0, 1.0) for place, (w,) in WEIGHTS.items()}
    head, source = read_head("m", old_model(version, rows, resume=True, id="an id"))
    state = read_rest(head, source, 3).state
    assert state is not None
    number = tuple(map(int, version.split(".")))
    later = {"total_weight": 4.0, "sd::oec.weighted_labeled_examples": 2.0, "current_pass": 1}
    pulls = {"l1_state": 0.25, "l2_state": 0.5}
    assert state == {
        **COUNTS, **(later if number >= (7, 10, 1) else dict.fromkeys(later, 0)),
        **(pulls if number >= (9, 0, 0) else {"l1_state": 0.0, "l2_state": 1.0}),
    }
    assert head.id == ("an id" if number >= (8, 0, 3) else "")
    (tmp_path / "m").write_bytes(old_model(version, rows, resume=True, id="an id"))
    done = vwlite("vw", "--no_stdin", "-i", tmp_path / "m", "--readable_model", tmp_path / "r")
    assert ("is known to have inaccuracy" in done.out) == (number < (7, 10, 1))
    lines = (tmp_path / "r").read_text().splitlines()
    assert lines[0] == "Version 9.11.2" and lines[1] == f"Id {head.id}"
    assert {"norm normalizer 3", "t 5", f"total_weight {4 if number >= (7, 10, 1) else 0}"} <= set(lines)
    assert f"{CONSTANT}:0.25 2 1" in lines


@pytest.mark.parametrize("more", [[], ["--l1_state", "0.125"], ["--l2_state", "0.25"]])
@pytest.mark.parametrize("version", ["8.7.0", "8.11.0"])
def test_pulls_among_the_options_move_into_the_state(
    vwlite: Any, tmp_path: Any, version: str, more: list[str]
) -> None:
    rows = {place: (w, 2.0, 1.0) for place, (w,) in WEIGHTS.items()}
    model = old_model(version, rows, resume=True, options=" --l1_state 0.375 --l2_state 0.5")
    gravity = 0.125 if "--l1_state" in more else 0.375
    contraction = 0.25 if "--l2_state" in more else 0.5
    x, y, constant = ((1 if w > 0 else -1) * max(abs(w) - gravity, 0) * contraction for (w,) in WEIGHTS.values())
    expected = [x + 0.5 * y + constant, 2 * x + constant, constant]
    assert predicted(vwlite, tmp_path, model, *more) == pytest.approx(expected, abs=1e-6)
    if not more:
        own = vwlite("predict", "-m", tmp_path / "m", tmp_path / "d").out.split()
        assert [float(p) for p in own] == pytest.approx(expected, abs=1e-6)
    vwlite("vw", "--no_stdin", "-i", tmp_path / "m", *more, "--readable_model", tmp_path / "r", "-f", tmp_path / "new")
    lines = (tmp_path / "r").read_text().splitlines()
    assert {"options:", f"l1_state {gravity:g}", f"l2_state {contraction:g}"} <= set(lines)
    assert predicted(vwlite, tmp_path, (tmp_path / "new").read_bytes()) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("where", ["pairs", "longer"])
def test_interactions_in_the_head(vwlite: Any, tmp_path: Any, where: str) -> None:
    """Vowpal Wabbit 9 loses pairs and triples, and so does `vwlite vw`; the ordinary commands use them."""
    weights = {**WEIGHTS, crossed(("a", "x"), ("b", "y")): (1.5,)}
    model = old_model("7.10.2", weights, pairs=("ab",) * (where == "pairs"), longer=("ab",) * (where == "longer"))
    whole = [PREDICTED[0] + 1.5 * 0.5, *PREDICTED[1:]]
    assert predicted(vwlite, tmp_path, model) == pytest.approx(PREDICTED if where == "pairs" else whole)
    own = vwlite("predict", "-m", tmp_path / "m", tmp_path / "d").out.split()
    assert [float(p) for p in own] == pytest.approx(whole)
    done = vwlite("vw", "-t", "-d", tmp_path / "d", "-i", tmp_path / "m", "-q", "ab", "-p", tmp_path / "p")
    assert "OVERRIDDEN" in done.out
    assert [float(p) for p in (tmp_path / "p").read_text().split()] == pytest.approx(whole)


def test_slots_of_eight_bytes_below_31_bits(vwlite: Any, tmp_path: Any) -> None:
    """Versions before 8.5 wrote such models to be continued; they read them again, and Vowpal Wabbit 9 does not."""
    rows = {place: (w, 2.0, 1.0) for place, (w,) in WEIGHTS.items()}
    assert predicted(vwlite, tmp_path, old_model("8.2.1", rows, resume=True, wide=True)) == pytest.approx(PREDICTED)
    with pytest.raises(Critical, match=r"exceeds its 18 bits|missing or extra bytes"):
        read_rest(*read_head("m", old_model("8.5.0", rows, resume=True, wide=True)), 3)


@pytest.mark.parametrize("version", ["8.0.1", "8.0.2", "8.2.1"])
def test_a_changed_byte_is_noticed_from_the_first_checksum_on(version: str) -> None:
    model = bytearray(old_model(version, WEIGHTS, options=" --noconstant"))
    model[model.index(b"--noc") + 5] ^= 1
    with pytest.raises(Critical, match="checksum"):
        read_head("m", bytes(model))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (old_model("7.5.3", WEIGHTS), "it has version 7.5.3; versions from 7.6.0 on are supported"),
        (old_model("7.8.0", WEIGHTS, rank=3), r"matrix factorization \(--rank\)"),
        (struct.pack("<I", 5) + b"8.x.\0", "does not begin with a version"),
    ],
)
def test_what_is_not_read_is_said(model: bytes, said: str) -> None:
    with pytest.raises(Critical, match=said):
        read_head("m", model)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_cut_off_anywhere_is_refused(version: str) -> None:
    model = old_model(version, WEIGHTS, pairs=("ab",), longer=("abcd",), options=" --ignore c", resume=False)
    for size in range(len(model)):
        if (len(model) - size) % 8 == 0 and size >= len(model) - 8 * len(WEIGHTS):
            continue  # whole weights are missing, which no version can tell
        with pytest.raises(Critical):
            read_rest(*read_head("m", model[:size]), 1)


def test_an_id_continues(vwlite: Any, tmp_path: Any) -> None:
    (tmp_path / "d").write_text(TEXT)
    vwlite("vw", "-d", tmp_path / "d", "-f", tmp_path / "m", "--id", "one")
    vwlite("vw", "-d", tmp_path / "d", "-i", tmp_path / "m", "-f", tmp_path / "n")
    vwlite("vw", "-d", tmp_path / "d", "-i", tmp_path / "m", "-f", tmp_path / "o", "--id", "two")
    assert [read_head("m", (tmp_path / name).read_bytes())[0].id for name in "no"] == ["one", "two"]
