"""Lines with so many features that they are split into chunks: only the memory may differ."""

import random

import pytest
from algorithm_options import FULL, OPTIONS, words
from batches import Line, batch_of
from running import GD, with_gd

import vwlite.core.data.expand as expand
import vwlite.core.learn.chunks as chunks
from vwlite.algorithms.table import ALGORITHMS

MORE = [
    ("sgd", ["--average"]),
    ("sgd", ["--l2", "0.1"]),
    ("truncated-gradient", ["--l1", "0.002", "--l2", "0.1", "--period", "3", "--threshold", "0.4"]),
    ("adagrad", ["--l1", "0.01", "--l2", "0.1"]),
    ("adagrad-rda", ["--l1", "0.01", "--l2", "0.1"]),
    ("truncated-gradient", ["--l1", "0.002", "--average"]),
    ("truncated-gradient", ["--nonzeros", "20"]),
    ("l1-ball", ["--radius", "1.5", "--average"]),
    ("l1-ball", ["--radius", "1.5", "--nonnegative"]),
    ("l1-ball", ["--radius", "1.5", "--box", "0.05"]),
    ("l1-ball", ["--nonzeros", "20", "--radius", "1"]),
    ("adagrad", ["--l1", "0.01", "--average"]),
    ("adagrad", ["--nonzeros", "20"]),
    ("adagrad-rda", ["--nonzeros", "20"]),
    ("adagrad-full", ["--update", "rda", "--root-every", "20", "-b", "6"]),
    ("ftrl", ["--nonzeros", "20"]),
    ("gd", ["--power-t", "0.3"]),
    ("smidas", ["--l1", "0.001", "--features", "100000"]),
    ("gd", ["--no-constant"]),
    ("eg", ["--radius", "5", "--features", "100000", "--no-constant"]),
    ("adagrad", ["--ignore-linear", "b"]),
]
LONG = pytest.mark.long
CASES = [  # of three losses of a rule two are `long`
    pytest.param(
        rule, [*words(OPTIONS[rule]), *(["-b", "6"] if rule in FULL else []), "--loss", loss],
        marks=() if (i - j) % 3 == 0 or not j else LONG,
    )
    for i, rule in enumerate(ALGORITHMS)
    for j, loss in enumerate(ALGORITHMS[rule].losses)
] + [(rule, [*options, "--loss", "logistic"]) for rule, options in MORE]
SLOPES_ONLY = [name for name, a in ALGORITHMS.items() if not a.needs_loss and name not in FULL]


def in_pieces(monkeypatch, most: int, piece: int) -> None:
    monkeypatch.setattr(expand, "most_whole", most)
    monkeypatch.setattr(expand, "chunk_size", piece)


def text(labels: list[str], lines: int = 40, seed: int = 1) -> bytes:
    """Short and long lines; duplicate features, namespaces that are interrupted, values of any size."""
    draw = random.Random(seed)
    found = []
    for _ in range(lines):
        parts = [draw.choice(labels)]
        for letter in draw.choice(["a", "ab", "abc", "aba", "cbac"]):
            parts.append(f"|{letter}")
            for _ in range(draw.randint(0, 7)):
                parts.append(f"{draw.choice('uvwxyz')}:{draw.choice([1, 1, 1, 0.5, -2, 1e-3])}")
        found.append(" ".join(parts))
    return ("\n".join(found) + "\n").encode()


def learned(vwlite, tmp_path, data: bytes, *options: str) -> list[bytes]:
    """The model, what it predicted while it learned, and then."""
    (tmp_path / "data").write_bytes(data)
    files = [tmp_path / name for name in ("m", "p", "r", "q")]
    m, p, r, q = files
    vwlite("train", tmp_path / "data", "--passes", 2, "-m", m, "-p", p, "-r", r, "--quiet", *with_gd(options))
    vwlite("predict", tmp_path / "data", "-m", m, "-p", q, "--quiet")
    return [file.read_bytes() for file in files]


SIZES = (6, 4), (40, 16)


def compare(vwlite, tmp_path, monkeypatch, data: bytes, *options: str, sizes=SIZES) -> None:
    whole = learned(vwlite, tmp_path, data, *options)
    for most, piece in sizes:
        in_pieces(monkeypatch, most, piece)
        assert learned(vwlite, tmp_path, data, *options) == whole


# In 64 keys every feature collides with others and with the constant, in 2^18 few do.
@pytest.mark.third
@pytest.mark.parametrize("bits", ["6", "18"])
@pytest.mark.parametrize(("rule", "options"), CASES)
def test_pieces_learn_and_predict_the_same_bits(vwlite, tmp_path, monkeypatch, rule, options, bits):
    is_amount = bool({"poisson", "gamma", "tweedie"} & {*options})
    labels = ["1", "3", "2 0.5", "1.5 2"] if is_amount else ["1", "-1", "1 0.5", "-1 3", ""]
    bits_of = [] if "-b" in options else ["-b", bits]
    compare(
        vwlite, tmp_path, monkeypatch, text(labels), "--algorithm", rule, *options, *bits_of, "-q", "::",
        *(["-l", "0.0005" if is_amount else "0.05"] if ALGORITHMS[rule].schedule else []),
        *(["--holdout-period", "7"] if bits == "6" else []), sizes=SIZES[bits == "6" :][:1],
    )


@pytest.mark.parametrize("multi", [[], ["--softmax"]], ids=["oaa", "softmax"])
@pytest.mark.parametrize("rule", SLOPES_ONLY)
def test_pieces_of_several_classes_are_the_same(vwlite, tmp_path, monkeypatch, rule, multi):
    compare(
        vwlite, tmp_path, monkeypatch, text(["1", "2", "3"]), "--algorithm", rule, *words(OPTIONS[rule]),
        "--loss", "logistic", "--oaa", "3", *multi, "-q", "::", "-b", "8",
    )


@pytest.mark.parametrize("options", [["-q", "ab"], ["--cubic", "aab", "-q", "bb"], ["--interactions", "aaaa"], []])
def test_any_interaction_is_cut_where_it_may(vwlite, tmp_path, monkeypatch, options):
    compare(vwlite, tmp_path, monkeypatch, text(["1", "-1"]), *options)


@pytest.mark.parametrize(
    "options",
    [
        "-q ::",
        "-q :: --power_t 0.3 --l1 1e-4",
        "-q :: --sgd",
        "-q :: --adaptive",
        "-q :: --normalized --sparse_l2 0.01",
        "-q :: --adaptive --adax",
        "-q :: --ftrl",
        "-q :: --pistol",
        "-q :: --coin",
        "-q :: --freegrad",
        "-q ab --ignore_linear b -b 6",
        "--interactions abc -q aa --leave_duplicate_interactions --noconstant",
        "-q ab --oaa 3",
        "-q :: --oaa 3 --probabilities --loss_function logistic",
        "-q :: --nn 2",
        "-q :: --bootstrap 2",
        "-q :: --audit",
        "-q ab --boosting 3",
        "-q ab --lrqfa ab2",
    ],
)
def test_pieces_are_the_same_to_vowpal_wabbit(vwlite, tmp_path, monkeypatch, options):
    words = options.split()
    labels = ["1", "2", "3"] if "--oaa" in words else ["1", "-1"]
    (tmp_path / "data").write_bytes(text(labels, 40))
    names = ["m", "p"]

    def run() -> list[object]:
        result = vwlite("vw", tmp_path / "data", *words, "-f", tmp_path / "m", "-p", tmp_path / "p")
        return [result.out, result.err, *((tmp_path / name).read_bytes() for name in names)]

    whole = run()
    for most, piece in ((6, 4), (40, 16)):
        in_pieces(monkeypatch, most, piece)
        assert run() == whole


def test_small_pieces_are_what_these_tests_have(vwlite, tmp_path, monkeypatch):
    """Pieces of no features leave nothing of a line; a line that does not come in pieces would not notice."""
    data = text(["1", "-1"])
    whole = learned(vwlite, tmp_path, data, "-q", "::")
    in_pieces(monkeypatch, 6, 0)
    assert learned(vwlite, tmp_path, data, "-q", "::") != whole


@pytest.mark.parametrize(
    ("filters", "interactions"),
    [
        ({}, [b"ab", b"aab", b"bbbb"]),
        ({"ignore_linear": b"a"}, [b"::"]),
        ({"permutations": True}, [b"aa", b"aba"]),
        ({"constant_early": True}, [b"ab"]),
        ({"constant": False, "keep": b"b"}, []),
    ],
)
def test_the_features_are_those_of_the_whole_line_in_their_order(monkeypatch, filters, interactions):
    sizes = [(ord("a"), 5), (ord("b"), 4), (ord("a"), 3), (ord("c"), 1)]
    draw = random.Random(1)
    line = Line(1.0, [(draw.getrandbits(32), draw.random()) for _ in range(13)], spans=sizes)
    found = []
    for most, piece in ((1000, 1000), (3, 2), (3, 6), (3, 64)):
        in_pieces(monkeypatch, most, piece)
        found.append(expand.Expander(interactions=interactions, **filters).features(batch_of([line]), 0))
    assert found[1:] == found[:1] * 3


@pytest.mark.parametrize(
    ("command", "one_by_one"), [("train", [*GD]), ("vw", []), ("vw", ["--link", "logistic"])]
)
def test_a_line_whose_weights_have_no_space_is_named(vwlite, tmp_path, monkeypatch, command, one_by_one):
    """Before the table of 2^18 slots with 100 records each is made."""
    (tmp_path / "d").write_bytes(b"1 |a x\n1 |a " + b" ".join(b"f%d" % i for i in range(500)) + b"\n")
    in_pieces(monkeypatch, 1000, 1000)
    monkeypatch.setattr(chunks, "available", lambda: 1 << 28)
    words = vwlite(
        command, tmp_path / "d", "-q", "aa", "--oaa", "100", "-b", "30", "-f", tmp_path / "m", "--quiet", *one_by_one,
        code=70,
    ).err
    assert words.startswith("out of memory: ")
    assert "makes 125,751 features with its interactions" in words
    assert command == "vw" or f"{tmp_path / 'd'}:2 makes" in words
    assert not (tmp_path / "m").exists()
