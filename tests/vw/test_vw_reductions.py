"""Reductions of `vwlite vw`: what follows from their definitions, and recorded runs of Vowpal Wabbit on tiny inputs."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vwlite.vw.layers.ect import Circuit


def lines(kind: str) -> str:
    out = []
    for i in range(12):
        a, b = i % 3, i * 7 % 4
        label = {"number": str((a - 1) * (b - 1.5)), "sign": "1" if a * b > 2 else "-1", "class": str(1 + (a + b) % 5)}
        out.append(f"{label[kind]} |a a{a} |b b{b}:{0.5 + i % 5 / 4}")
    return "\n".join(out) + "\n"


def vw(folder: Path, *arguments: str) -> None:
    run = subprocess.run([sys.executable, "-m", "vwlite", "vw", *arguments], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def predictions(folder: Path, data: str, *arguments: str) -> list[float]:
    (folder / "data").write_text(data)
    vw(folder, "-d", "data", "--quiet", "-p", "p", *arguments)
    return [float(line.split()[0]) for line in (folder / "p").read_text().splitlines()]


# --- recorded: the last six predictions of Vowpal Wabbit 9.11 in three passes over these lines -----------

RECORDED = [
    ("number", "--lrq ab2", [0.252797, -0.027753, 0.067500, -0.322493, 0.008568, -0.479951]),
    ("number", "--lrqfa ab2", [-0.604829, 0.127768, -0.210785, -0.765909, -0.002097, -0.138341]),
    ("number", "--lrq ab2 --coin", [0.003061, 0.075790, -0.128421, -0.168742, 0.003575, 0.006005]),
    ("number", "--lrqfa ab2 --pistol", [0.794859, -0.343509, -1.500000, -0.009532, -0.159954, 0.449449]),
    ("sign", "--active --simulation --mellowness 0.01",
     [-0.460956, -0.290041, -0.427761, -0.508475, 0.222462, -0.249621]),
    ("class", "--ect 5 --error 1", [4, 4, 1, 4, 3, 3]),
    ("sign", "--boosting 3 --alg adaptive", [-1.264315, -2.316132, -1.588763, -2.036720, -0.529411, -1.183968]),
    ("number", "--stage_poly --batch_sz 2", [-0.339463, 0.205529, -0.765642, -0.678998, 0.176485, -0.269456]),
]


@pytest.mark.parametrize("kind, options, expected", RECORDED, ids=[row[1] for row in RECORDED])
def test_predictions_are_those_that_vowpal_wabbit_made(
    tmp_path: Path, kind: str, options: str, expected: list[float]
) -> None:
    passes = ["--passes", "3", "-k", "--cache_file", "cache", "--holdout_off"]
    found = predictions(tmp_path, lines(kind), *options.split(), *passes)
    assert found[-6:] == pytest.approx(expected, abs=1e-3)


# --- ect ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("errors", [0, 1, 2, 3])
def test_a_class_that_always_wins_is_predicted(k: int, errors: int) -> None:
    circuit = Circuit(k, errors)
    assert len(circuit.matches) - k == circuit.pairs == (k - 1) * (errors + 1)
    assert len(circuit.finals) == errors + 1
    for best in range(k):
        holds = {best}  # places whose winner, or loser as it went down, can be the class
        for place in range(k, len(circuit.matches)):
            match = circuit.matches[place]
            if match.left in holds or match.right in holds:
                holds.add(place)
        place = circuit.finals[0]
        while place >= k:
            match = circuit.matches[place]
            place = match.left if match.left in holds else match.right
        assert place == best


# --- marginal: the value of a pair is the mean of the labels of its id, decayed -----------------------------


def test_marginals_are_decayed_means_of_labels(tmp_path: Path) -> None:
    labels = [("x", 1.0), ("y", 0.0), ("x", 0.5), ("x", 0.0), ("y", 1.0)]
    (tmp_path / "data").write_text("".join(f"{y} |f rate {name}\n" for name, y in labels))
    vw(tmp_path, "-d", "data", "--quiet", "--marginal", "f", "--decay", "0.25", "--readable_model", "m")
    expected = {"x": (0.5, 1.0), "y": (0.5, 1.0)}
    for name, y in labels:
        above, below = expected[name]
        expected[name] = 0.75 * above + y, 0.75 * below + 1
    rows = re.findall(r"^\d+:([\d.]+):([\d.]+)$", (tmp_path / "m").read_text(), re.MULTILINE)
    found = sorted((float(above), float(below)) for above, below in rows)
    assert found == [pytest.approx(pair, abs=1e-5) for pair in sorted(expected.values())]


def test_beside_monomials_there_are_no_marginals(tmp_path: Path) -> None:
    """As in Vowpal Wabbit 9.11.9: the monomials of --stage_poly have no namespaces."""
    (tmp_path / "data").write_text("1 |u a:0.5 b:2\n-1 |u a:1\n1 |u b:1\n-1 |u a:2 c:1\n")
    for words in (["--marginal", "u"], ["--marginal", "u", "--compete"], []):
        vw(tmp_path, "-d", "data", "--quiet", "--stage_poly", *words, "-p", "p", "--readable_model", "m")
        assert (tmp_path / "p").read_text().split() == ["0", "0.579380", "0.065324", "-0.013880"]
        assert ("marginals size = 0\n" in (tmp_path / "m").read_text()) == bool(words)


# --- a model carries what a reduction knows ---------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, options",
    [
        ("number", "--stage_poly --batch_sz 2"),
        ("number", "--marginal b --noconstant"),
        ("sign", "--boosting 3 --alg logistic"),
        ("sign", "--boosting 3 --alg adaptive"),
        ("class", "--ect 5"),
        ("number", "--lrq ab2"),
    ],
)
def test_a_saved_model_predicts_as_the_one_in_memory(tmp_path: Path, kind: str, options: str) -> None:
    data = lines(kind).replace("|b b", "|b id b") if "marginal" in options else lines(kind)
    data = data.replace(":", " c:") if "marginal" in options else data
    tests = "".join(line[line.index("|"):] + "\n" for line in data.splitlines())  # without labels
    (tmp_path / "all").write_text(data + tests)
    vw(tmp_path, "-d", "all", "--quiet", "-p", "in_memory", *options.split())
    (tmp_path / "learn").write_text(data)
    (tmp_path / "tests").write_text(tests)
    vw(tmp_path, "-d", "learn", "--quiet", "-f", "model", *options.split())
    vw(tmp_path, "-d", "tests", "--quiet", "-i", "model", "-p", "loaded")
    in_memory = [float(line) for line in (tmp_path / "in_memory").read_text().split()[len(data.splitlines()):]]
    loaded = [float(line) for line in (tmp_path / "loaded").read_text().split()]
    assert len(set(loaded)) > 1
    assert loaded == pytest.approx(in_memory, abs=1e-5)


@pytest.mark.parametrize(
    ("labels", "options", "ends"),
    [
        ([1, 1, 1], "-t", (0, 0)), ([1, 3, 1], "-t", (0, 0)), ([1, 3, 1], "", (0, 3)), ([-2, -2], "-t --print", (0, 0)),
        ([1, 3, 1], "--max_prediction 0.5", (0, 0.5)), ([1, 3, 1], "-t --loss_function classic", (-9, 9)),
    ],
)
def test_the_loss_of_the_best_constant_grows_linearly_where_predictions_are_clipped(
    vwlite: Any, tmp_path: Path, labels: list[int], options: str, ends: tuple[float, float]
) -> None:
    """As that of a prediction: beyond the labels seen, which a test does not learn, the squared loss is a line
    from there, and may be below 0."""
    (tmp_path / "d").write_text("".join(f"{label} |a x\n" for label in labels))
    err = vwlite("vw", "-d", tmp_path / "d", *options.split()).err
    mean = sum(labels) / len(labels)
    edge = min(max(mean, ends[0]), ends[1])
    loss = sum((y - edge) ** 2 + 2 * (y - edge) * (edge - mean) for y in labels) / len(labels)
    assert f"best constant's loss = {loss:.6f}\n" in err


@pytest.mark.parametrize(
    ("option", "name"), [("ftrl", "Proximal-FTRL"), ("pistol", "PiSTOL"), ("coin", "Coin Betting")]
)
def test_the_learner_that_follows_the_leader_is_called_otherwise_when_names_are_requested(
    vwlite: Any, tmp_path: Path, option: str, name: str
) -> None:
    (tmp_path / "d").write_text("1 |a x\n")
    for more, end in (([], ""), (["-a"], "-audit"), (["--invert_hash", tmp_path / "i"], "-audit")):
        err = vwlite("vw", "-d", tmp_path / "d", f"--{option}", *more).err
        assert f"Enabled learners: ftrl-{name}{end}, scorer-identity, count_label\n" in err


def test_features_that_were_crossed_have_no_name_after_a_cache(vwlite: Any, tmp_path: Path) -> None:
    """Neither have those that they were made of; indices as in the first pass."""
    (tmp_path / "d").write_text("1 |a x |b y |c z\n")
    arguments = ["-a", "-c", "-k", "--passes", "2", "--holdout_off", "-q", "ab", "--cubic", "abc", "--quiet"]
    first, second = vwlite("vw", "-d", tmp_path / "d", *arguments).out.splitlines()[1::2]
    named = [word.split(":") for word in first.split("\t")[1:]]
    unnamed = [word.split(":") for word in second.split("\t")[1:]]
    assert {name for name, *_ in named} == {"a^x", "b^y", "c^z", "Constant", "a^x*b^y", "a^x*b^y*c^z"}
    assert sorted(name for name, *_ in unnamed) == ["", "", "", "", "", "Constant"]
    assert sorted(index for _, index, *_ in named) == sorted(index for _, index, *_ in unnamed)


@pytest.mark.parametrize(("options", "times"), [("--oaa 3", 3), ("--oaa 3 --classweight 1:2", 3), ("--oaa 3 -t", 3)])
def test_each_class_is_audited_once(vwlite: Any, tmp_path: Path, options: str, times: int) -> None:
    (tmp_path / "d").write_text("1 |a x\n2 |a y\n")
    out = vwlite("vw", "-d", tmp_path / "d", "-a", *options.split()).out
    assert out.count("\ta^x:") == out.count("\ta^y:") == times


@pytest.mark.parametrize("option", ["--loss_function squared", "--oaa 2", "--multilabel_oaa 3"])
def test_a_test_of_several_passes_holds_out_as_learning_does(vwlite: Any, tmp_path: Path, option: str) -> None:
    """From the second pass on the rows are of what is held out, and so is the average loss."""
    (tmp_path / "d").write_text("".join(f"{1 + i % 2} |a x\n" for i in range(25)))
    ended = vwlite("vw", "-d", tmp_path / "d", *option.split(), "-t", "-c", "-k", "--passes", "2", "-P", "4")
    rows = [line for line in ended.err.splitlines() if re.match(r"[\d.]+ ", line)]
    assert [line.endswith(" h") for line in rows] == [False] * 5 + [True] * 6
    assert re.search(r"^average loss = \S+ h$", ended.err, re.M)
    assert "number of examples per pass = 23" in ended.err
