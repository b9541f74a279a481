"""`vwlite vw --multilabel_oaa`: its labels, what it learns of them, and its predictions, byte for byte as they are."""

from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from real_vw import RealVw, interpreter

from vwlite.vw.run import main

TEXT = "0,1 'a |n x y\n1 |n x\n |n z\n'b |n y\n0 |n x z\n |n x\n0,2 |n x\n0 |n x\n"
RARE = (
    "0,1x |n x y\n1.5,2 |n x\nx1 |n z\n1 2 |n q\n0,5 |n x\n0,0 |n x\n1,0 |n x\n\n-1 |n x\n0,,2, |n x\n, |n x\n"
    "3000000000,7 |n q\n5,7,9 |n y\n+1 |n y\n"
)


@pytest.fixture(name="run")
def run_fixture(vwlite: Any, tmp_path: Path) -> Any:
    def run(text: str, *options: str) -> tuple[Any, list[str]]:
        (tmp_path / "d").write_text(text)
        done = vwlite("vw", "-d", tmp_path / "d", "--multilabel_oaa", "3", "-p", tmp_path / "p", "-P", "1", *options)
        return done, (tmp_path / "p").read_text().split("\n")[:-1]

    return run


def columns(err: str, *expected: int) -> list[list[str]]:
    rows = [line.split() for line in err.splitlines() if line[:2] in ("0.", "1.", "2.", "3.")]
    return [[row[i] for i in expected] for row in rows]


def test_a_space_comes_after_the_classes_before_a_tag_and_without_one(run: Any) -> None:
    _, found = run(TEXT)
    assert found == ["  a", "0,1 ", "1 ", "0,1  b", "1 ", "0,1 ", "0,1 ", "0 "]
    _, found = run(TEXT, "-t")
    assert found == ["  a", " ", " ", "  b", " ", " ", " ", " "]


def test_probabilities_have_a_line_of_their_own_with_the_tag(run: Any) -> None:
    _, found = run(TEXT, "--probabilities", "--loss_function", "logistic")
    assert found[:4] == ["0:0.5 1:0.5 2:0.5 a", "  a", "0:0.61555 1:0.61555 2:0.38445", " "]
    assert found[1::2] == ["  a", " ", " ", "  b", " ", " ", " ", " "]


def test_examples_without_a_label_teach_nothing(run: Any, vwlite: Any, tmp_path: Path) -> None:
    """The model is the one that is learned without them."""
    models = []
    for text in (TEXT, "".join(line for line in TEXT.splitlines(True) if line[0] in "012")):
        run(text, "--predict_only_model", "-f", str(tmp_path / "m"))
        models.append((tmp_path / "m").read_bytes())
    assert models[0] == models[1]


def test_labels_count_in_their_order_and_unusual_ones_are_reported(run: Any) -> None:
    """The words, the labels and the losses are those of Vowpal Wabbit."""
    done, _ = run(RARE)
    assert sorted(done.out.splitlines()) == [
        "[error] example with an odd label, what is 1 2",
        "[error] label 0 is not in {0,2} This won't work right.",
        "[error] label 0 is not in {0,2} This won't work right.",
        "[error] label 3000000000 is not in {0,2} This won't work right.",
        "[error] label 4294967295 is not in {0,2} This won't work right.",
        "[error] label 5 is not in {0,2} This won't work right.",
        "[error] label 5 is not in {0,2} This won't work right.",
        "[warning] 'x1' is not a good int, replacing with 0",
    ]
    assert [row[0] for row in columns(done.err, 4)] == [
        "0,1", "1,2", "0", "unknown", "0,5", "0,0", "1,0", "4294967295", "0,2", "unknown", "3000000000,7", "5,7,9",
        "1",
    ]


def test_names_are_not_for_them(run: Any) -> None:
    plain, one = run(RARE)
    named, other = run(RARE, "--named_labels", "q,w")
    assert one == other and plain.out == named.out
    assert named.err.replace("parsed 2 named labels\n", "") == plain.err


def test_the_words_of_labels_are_said_when_they_are_read_not_from_the_cache(run: Any) -> None:
    done, _ = run(RARE, "-c", "-k", "--passes", "3", "--holdout_off")
    assert done.out.count("what is 1 2") == done.out.count("'x1' is not a good int") == 1
    assert done.out.count("label 5 is not in {0,2}") == 6


def test_a_loss_that_fits_no_probabilities_is_named(run: Any) -> None:
    for loss in ("squared", "hinge"):
        done, _ = run(TEXT, "--probabilities", "--loss_function", loss)
        assert f"only with --loss_function=logistic, currently using: {loss}\n" in done.out


@pytest.mark.skipif(interpreter() is None, reason="Vowpal Wabbit is not installed")
@pytest.mark.parametrize("text", [TEXT, RARE])
@pytest.mark.parametrize(
    "options",
    ["", "--loss_function logistic", "--link logistic", "--classweight 1:2,-1:3", "-c -k --passes 3",
     "--named_labels q,w", "--probabilities --loss_function logistic"],
)
def test_predictions_are_those_of_vowpal_wabbit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, options: str
) -> None:
    python = interpreter()
    assert python is not None
    real = RealVw(python)
    for who in ("ours", "real"):
        (tmp_path / who).mkdir()
        (tmp_path / who / "d").write_text(text)
    arguments = ["-d", "d", "--multilabel_oaa", "3", "-p", "p", "--quiet", *options.split()]
    assert real(tmp_path / "real", arguments) == 0
    real.close()
    monkeypatch.chdir(tmp_path / "ours")
    assert main(arguments) == 0
    ours, theirs = ((tmp_path / who / "p").read_text().splitlines() for who in ("ours", "real"))
    for one, other in zip_longest(ours, theirs, fillvalue=""):
        if "--probabilities" in options and ":" in other:
            assert [float(x.partition(":")[2]) for x in one.split()[:3]] == pytest.approx(
                [float(x.partition(":")[2]) for x in other.split()[:3]], abs=2e-3
            )
        else:
            assert one == other
