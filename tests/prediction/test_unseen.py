"""Columns and namespaces of which a model knows no word: notes, --on-unknown, and models that are not asked."""

import json
import random
from pathlib import Path

import pytest
from running import GD

from vwlite.hashing import namespace_hash
from vwlite.input.pipeline import parsed_batches
from vwlite.model import read_model
from vwlite.runs.opened import Opened
from vwlite.runs.scoring import Scoring

LEARN = (*GD, "--loss", "logistic", "--quiet")


def table(contract: list[str], n: int = 60, town: str = "Rome") -> str:
    rows = (f"{i % 2},{i % 7},{contract[i % len(contract)]},{town}\n" for i in range(n))
    return "y,age,Contract,town\n" + "".join(rows)


@pytest.fixture
def trained(folder, vwlite):
    Path("train.csv").write_text(table(["month", "year", "two years"]))
    Path("new.csv").write_text(table(["m", "y", "2"]))
    vwlite("train", "train.csv", "--label", "y", "--labels", "0,1", *LEARN, "-m", "m")


NOTE = "column Contract: none of its 3 words was seen in training"


@pytest.mark.parametrize("command", ["predict", "evaluate", "worst", "explain", "calibrate"])
def test_a_column_without_a_known_word_has_a_note(vwlite, trained, command):
    more = ("-o", "c.m") if command == "calibrate" else ()
    for threads in ("1", "3"):
        done = vwlite(command, "-m", "m", "new.csv", "--report", "r.json", "--threads", threads, *more)
        if command in ("predict", "evaluate", "calibrate"):
            assert done.err.count("note: column") == 1 and f"note: {NOTE}\n" in done.err
        same = vwlite(command, "-m", "m", "train.csv", *more).err
        assert "column" not in same
    if command in ("predict", "evaluate"):
        assert json.loads(Path("r.json").read_text())["results"]["columns_without_a_known_word"] == 1


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_on_unknown_error(vwlite, trained, command):
    out = ("-p", "p.txt") if command == "predict" else ()
    done = vwlite(command, "-m", "m", "new.csv", "--on-unknown", "error", *out, code=65)
    assert NOTE in done.err and not Path("p.txt").exists()
    vwlite(command, "-m", "m", "train.csv", "--on-unknown", "error", *out)


@pytest.mark.parametrize("more", [(), ("--passes", "3"), ("--threads", "3"), ("--algorithm", "gd", "-c")])
@pytest.mark.parametrize("how", ["-i", "--continue"])
def test_a_model_that_is_continued(vwlite, trained, how, more):
    target = ("-m", "next") if how == "-i" else ()
    said = vwlite("train", "new.csv", how, "m", *target, *more).err
    assert said.count("note: column") == ("-c" not in more) and ("-c" in more or f"note: {NOTE}\n" in said)
    # What was new a moment ago is known now.
    assert "column" not in vwlite("train", "new.csv", "-i", "next" if target else "m", "-m", "third", *more).err


@pytest.mark.parametrize("how", ["-i", "--continue"])
def test_on_unknown_error_writes_no_model(vwlite, trained, how):
    before, target = Path("m").read_bytes(), ("-m", "next") if how == "-i" else ()
    done = vwlite("train", "new.csv", how, "m", *target, "--on-unknown", "error", code=65)
    assert NOTE in done.err and Path("m").read_bytes() == before and not Path("next").exists()
    vwlite("train", "train.csv", how, "m", *target, "--on-unknown", "error")
    done = vwlite("train", "new.csv", "--label", "y", "--on-unknown", "error", code=2)
    assert "--on-unknown needs --initial or --continue" in done.err
    done = vwlite("train", "new.csv", how, "m", *target, "--on-unknown", "error", "-c", code=2)
    assert "a cache has no names of columns" in done.err


def test_one_known_word_is_enough_wherever_it_is(vwlite, trained):
    lines = table(["m", "y", "2"], 5000).splitlines()
    for at in (1, 2500, 5000):
        changed = [*lines[:at], "1,3,year,Rome", *lines[at:]]
        Path("some.csv").write_text("\n".join(changed) + "\n")
        said = vwlite("predict", "-m", "m", "some.csv", "-p", "p").err
        assert "none of its" not in said
        assert said.count("column") == 1 and "column Contract: 5,000 of 5,001 cells have only words that" in said


def test_missing_cells_are_no_known_words(vwlite, folder):
    """Also where the model has learned them."""
    Path("train.csv").write_text(table(["month", "", "two years"]))
    Path("new.csv").write_text(table(["m", "", "2"]))
    Path("missing.csv").write_text(table([""]))
    vwlite("train", "train.csv", "--label", "y", "--labels", "0,1", *LEARN, "-m", "m")
    said = vwlite("predict", "-m", "m", "new.csv", "-p", "p").err
    assert said.count("note: column") == 1 and "column Contract: none of its 2 words was seen in training\n" in said
    for data in ("missing.csv", "train.csv"):
        assert "column" not in vwlite("predict", "-m", "m", data, "--on-unknown", "error", "-p", "p").err


def test_a_model_of_auto_that_goes_on_has_learned_no_missing_cell(vwlite, folder):
    Path("train.csv").write_text(table(["month", "year", "two years"], 300))
    Path("missing.csv").write_text("y,age,Contract,town\n1,,year,Rome\n")
    vwlite("train", "train.csv", "--label", "y", "--labels", "0,1", "-m", "m")
    for _ in range(3):
        said = vwlite("predict", "-m", "m", "missing.csv", "-p", "p").err
        assert "note: column age: 1 of 1 cells is missing, and none was missing in training: such" in said
        vwlite("train", "train.csv", "-i", "m", "-m", "next")
        Path("next").replace("m")


def test_namespaces_of_text(vwlite, folder):
    Path("train.vw").write_text("1 |user a |ad x\n-1 |user b |ad y\n" * 20)
    Path("new.vw").write_text("1 |user c |ad x |site s t\n-1 |user d |ad y |site s\n" * 20)
    vwlite("train", "train.vw", *LEARN, "-m", "m")
    said = vwlite("predict", "-m", "m", "new.vw", "-p", "p").err
    assert "note: namespace user: none of its 2 features was seen in training\n" in said
    assert "note: namespace site: none of its 2 features was seen in training\n" in said
    assert "namespace ad" not in said
    vwlite("train", "train.vw", *LEARN, "--ignore", "u", "-m", "m")
    said = vwlite("predict", "-m", "m", "new.vw", "-p", "p").err
    assert "namespace user" not in said and "namespace site" in said


@pytest.mark.parametrize("kind", ["imported", "merged"])
def test_models_that_know_only_weights_have_another_word(vwlite, trained, kind):
    if kind == "imported":
        vwlite("export", "m", "--to", "tsv", "-o", "m.tsv")
        vwlite("import", "m.tsv", "-m", "other")
    else:
        Path("b.csv").write_text(table(["month", "year", "two years"], 40))
        vwlite("train", "b.csv", "--label", "y", "--labels", "0,1", *LEARN, "-m", "b")
        vwlite("merge", "m", "b", "-m", "other")
    said = vwlite("predict", "-m", "other", "new.csv", "-p", "p").err
    assert "note: column Contract: none of its 3 words has a weight\n" in said


@pytest.mark.parametrize("options", [["--l1", "100", "--algorithm", "adagrad-rda"], ["--algorithm", "auto"]])
def test_a_model_without_features_is_not_asked(vwlite, folder, options):
    """Also not by the note that most features are unknown."""
    rng = random.Random(1)
    Path("noise.csv").write_text("y,x\n" + "".join(f"{rng.randrange(2)},{rng.randrange(1009)}\n" for _ in range(300)))
    learn = ("--label", "y", "--labels", "0,1", "--loss", "logistic", "--quiet")
    vwlite("train", "noise.csv", *learn, *options, "-m", "m")
    if "auto" in options:
        assert json.loads(vwlite("info", "m", "--json").out)["features"] <= 2  # the constant, and absent cells
    for command in ("predict", "evaluate"):
        assert "note: " not in vwlite(command, "-m", "m", "noise.csv").err


def signs(n: int, words: str, x: float = 1.0) -> str:
    """A label that needs the product of two numbers, turned round by a word."""
    rows = []
    for i in range(n):
        a, b, word = (i * 7919 % 1009 - 504) / 504, (i * 104_729 % 997 - 498) / 498, words[i % len(words)]
        rows.append(f"{(a * b > 0) != (word == words[0]):d},{x * a:.4f},{b:.4f},{word}\n")
    return "y,a,b,w\n" + "".join(rows)


@pytest.fixture
def derived(folder, vwlite):
    """A model of products; its columns are all that `signs` has."""
    Path("train.csv").write_text(signs(1500, "pqr"))
    said = vwlite("train", "train.csv", "--label", "y", "--labels", "0,1", "--derive", "auto", "-m", "m").err
    assert "triple" in said


def test_levels_that_products_do_not_know_are_unknown_words(vwlite, derived):
    Path("new.csv").write_text(signs(300, "stu"))
    Path("some.csv").write_text(signs(300, "stp"))
    done = vwlite("predict", "-m", "m", "new.csv", "--report", "r.json", "-p", "p")
    assert "note: column w: none of its 3 words was seen in training\n" in done.err
    results = json.loads(Path("r.json").read_text())["results"]
    assert results["columns_without_a_known_word"] == 1 and results["share_of_unknown_features"] > 0
    assert "column w" in vwlite("predict", "-m", "m", "new.csv", "--on-unknown", "error", code=65).err
    vwlite("predict", "-m", "m", "some.csv", "--on-unknown", "error", "-p", "p")
    vwlite("predict", "-m", "m", "train.csv", "--on-unknown", "error", "--report", "r.json", "-p", "p")
    assert json.loads(Path("r.json").read_text())["results"]["share_of_unknown_features"] == 0
    # All levels that were not seen are one, and no text for a level is that of another
    rows = ["y,a,b,w", *(f"1,0.5,0.5,{word}" for word in ("s", "never seen", "*", "?", "p^q"))]
    Path("words.csv").write_text("\n".join(rows) + "\n")
    assert len({*vwlite("predict", "-m", "m", "words.csv").out.split()}) == 1


def test_numbers_beyond_those_of_training_are_the_last_ones(vwlite, derived):
    rows = [f"1,{a},{b},p" for sign in (1, -1) for a in (50, 1e4, 3e38) for b in (sign, 0.3)]
    Path("far.csv").write_text("\n".join(["y,a,b,w", *rows]) + "\n")
    done = vwlite("predict", "-m", "m", "far.csv", "--on-unknown", "error")
    found = [float(x) for x in done.out.split()]
    assert found[0::2][:3] == [found[0]] * 3 and found[1::2] == [found[1]] * 6 and "note" not in done.err
    assert min(found) > 0 and max(found) < 1


def test_names_of_namespaces_come_without_the_text(folder, vwlite):
    """To keep the text of all blocks took a sixth of the time of `predict`."""
    Path("train.vw").write_text("1 |user a |site b\n-1 |user c |site d\n" * 5)
    vwlite("train", "train.vw", *LEARN, "-m", "m")
    scoring = Scoring(Opened(model := read_model("m"), "m", model.settings))
    assert scoring.parse.names_spaces and not scoring.parse.keeps_text
    lines = ["1 |user a |site b\n"] * 200_000 + ["1 |user a |late c\n", "1 |user a | d\n"]
    Path("test.vw").write_text("".join(lines))
    with parsed_batches(["test.vw"], scoring.parse) as batches:
        found = [parsed.spaces for parsed in batches]
    assert len(found) > 1 and not any(found[1:-1])
    assert found[0] | found[-1] == {namespace_hash(name.encode()): name for name in ("user", "site", "late")}
