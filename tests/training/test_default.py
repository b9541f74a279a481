"""`vwlite train` without --algorithm: what is chosen, and what is said of it."""

import gzip
import json

import pytest
from running import finish, start
from test_auto import lines_of, write

from vwlite.model.read import read_model

ROWS = 300


def words_of(lines, negative, positive):
    return [(positive if line.startswith("1 ") else negative) + line[line.index(" ") :] for line in lines]


@pytest.fixture(scope="module")
def lines():
    return lines_of(ROWS)


def head(vwlite, *args) -> str:
    return vwlite("train", *args).err.split("\n", 1)[0]


def piped(*args, text, code=0):
    result = finish(start(*args), text.encode())
    assert result.code == code, result
    return result


def test_it_is_auto(vwlite, lines, tmp_path):
    data = write(tmp_path / "t.vw", lines)
    assert head(vwlite, data).startswith("algorithm = auto (name one, or a rate, for a single learner)")
    vwlite("train", data, "-m", tmp_path / "default", "--quiet")
    vwlite("train", data, "--algorithm", "auto", "--loss", "logistic", "-m", tmp_path / "typed", "--quiet")
    assert (tmp_path / "default").read_bytes() == (tmp_path / "typed").read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-l 1", "gd (as --learning-rate is given)"),
        ("--power-t 0.3", "gd (as --power-t is given)"),
        ("--l1 1e-6", "gd (as --l1 is given)"),
        ("--passes 2 --holdout-off", "gd (as --holdout-off is given)"),
        ("--passes 2 --holdout-period 5", "gd (as --holdout-period is given)"),
        ("--loss hinge", "gd (as --loss hinge is given)"),
        ("--nonzeros 5", "adagrad-rda (as --nonzeros is given)"),
        ("--algorithm gd", "gd"),
    ],
)
def test_an_option_of_a_single_learner_needs_one(vwlite, lines, tmp_path, options, said):
    line = head(vwlite, write(tmp_path / "t.vw", lines), *options.split())
    assert line.startswith(f"algorithm = {said}, loss = ")


def test_a_continued_model_keeps_its_algorithm(vwlite, lines, tmp_path):
    data = write(tmp_path / "t.vw", lines)
    vwlite("train", data, "--algorithm", "ftrl", "--loss", "logistic", "-m", tmp_path / "m", "--quiet")
    assert head(vwlite, data, "-i", tmp_path / "m").startswith("algorithm = ftrl, ")


@pytest.mark.parametrize(
    ("negative", "positive", "labels", "said"),
    [
        ("-1", "1", None, "logistic, as the labels are -1 and 1"),
        ("0", "1", [0.0, 1.0], "logistic, as the labels are 0 and 1"),
        ("ham", "spam", ["ham", "spam"], "logistic, predicts the probability of spam; --labels spam,ham for the other"),
        ("yes", "no", ["no", "yes"], "logistic, predicts the probability of yes; --labels yes,no for the other"),
        ("2", "7.5", None, "squared, as the labels are numbers"),
    ],
)
@pytest.mark.parametrize("way", ["file", "pipe", "one pass", "cache", "gz"])
def test_the_loss_is_that_of_the_labels(vwlite, lines, tmp_path, negative, positive, labels, said, way):
    text = "".join(words_of(lines, negative, positive))
    data = write(tmp_path / "t.vw", [text])
    args = [data, *{"one pass": ["--passes", "1"], "cache": ["--cache-file", tmp_path / "c"]}.get(way, [])]
    if way == "gz":
        args = [tmp_path / "t.vw.gz"]
        args[0].write_bytes(gzip.compress(text.encode()))
    for _ in range(1 + (way == "cache")):
        model = ["-m", tmp_path / "m"]
        result = piped("train", *model, text=text) if way == "pipe" else vwlite("train", *args, *model)
        assert f"\nloss = {said}\n" in result.err
        assert "is not used" not in result.err
    settings = read_model(str(tmp_path / "m")).settings
    assert settings.loss == said.split(",")[0]
    assert settings.labels == (tuple(labels) if labels else None)
    if settings.loss == "logistic" and labels:
        typed = tmp_path / "typed"
        vwlite(
            "train", *args[:1], "--algorithm", "auto", "--loss", "logistic", "--labels", f"{labels[0]},{labels[1]}",
            "-m", typed, "--quiet", *(["--passes", "1"] if way == "one pass" else []),
        )
        assert typed.read_bytes() == (tmp_path / "m").read_bytes()


def test_words_in_a_cache_keep_their_meaning(vwlite, lines, tmp_path):
    """The first label of the file is not the first by its bytes."""
    text = words_of(lines, "no", "yes")
    first_yes = next(i for i, line in enumerate(text) if line.startswith("yes"))
    data, cache = write(tmp_path / "t.vw", text[first_yes:]), tmp_path / "c"
    models = []
    for name in ("one", "two"):
        vwlite("train", data, "--cache-file", cache, "-m", tmp_path / name, "--quiet")
        models.append((tmp_path / name).read_bytes())
    assert models[0] == models[1]


def test_loss_logistic_takes_0_and_1_and_words(vwlite, lines, tmp_path):
    for negative, positive in [("0", "1"), ("bad", "good")]:
        data = write(tmp_path / "t.vw", words_of(lines, negative, positive))
        vwlite("train", data, "--loss", "logistic", "-m", tmp_path / "typed", "--quiet")
        vwlite("train", data, "-m", tmp_path / "default", "--quiet")
        assert (tmp_path / "typed").read_bytes() == (tmp_path / "default").read_bytes()


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x | a\ny | b\nz | c\n", "", "<stdin>:3:1: label 'z' is a third word, after x and y: for classes add --oaa K "
                                      "--classes auto"),
        ("x | a\n1 | b\n", "", "<stdin>:2:1: label '1' is a number, but labels before it are words"),
        ("1 | a\nx | b\n", "", "<stdin>:2:1: label 'x' is a word, but labels before it are numbers"),
        ("x | a\nx | b\n", "", "every label is x: learning needs two labels; --labels NEG,POS names both"),
        ("3 | a\n1 | b\n", "--loss logistic", "<stdin>:1:1: label 3: logistic needs -1 or 1"),
        ("0 | a\n-1 | b\n", "--loss logistic", "labels are -1 (<stdin>:2), 0 (<stdin>:1), but --loss logistic needs -1 "
                                                "and 1, or 0 and 1"),
        ("a | a\nb | b\n", "--loss squared", "<stdin>:1:1: label 'a' is not a number"),
    ],
)
def test_labels_that_do_not_fit_together(tmp_path, text, options, message):
    result = piped("train", *options.split(), "-m", tmp_path / "m", text=text, code=65)
    assert message in result.err
    assert not (tmp_path / "m").exists()


def test_a_late_label_of_a_stream_is_a_bad_line(tmp_path):
    text = "".join(words_of(lines_of(12_500), "0", "1"))
    late = text + "3 | f1:1\n"
    result = piped("train", "-m", tmp_path / "m", text=late, code=65)
    assert "<stdin>:12501:1: label 3: expected 0 or 1, as in the first examples" in result.err
    options = ["--on-error", "skip", "--rejects", tmp_path / "bad", "-m", tmp_path / "m"]
    assert "1 bad line skipped" in piped("train", *options, text=late).err
    assert (tmp_path / "bad").read_text() == "3 | f1:1\n"
    piped("train", "-m", tmp_path / "without", text=text)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "without").read_bytes()


def test_probabilities_are_predicted(vwlite, lines, tmp_path):
    data, model = write(tmp_path / "t.vw", lines), tmp_path / "m"
    vwlite("train", data, "-m", model, "-p", tmp_path / "p", "--quiet")
    trained = [float(line.split()[0]) for line in (tmp_path / "p").read_text().splitlines()]
    predicted = [float(line.split()[0]) for line in vwlite("predict", "-m", model, data).out.splitlines()]
    assert all(0 < p < 1 for p in trained + predicted)
    shown = vwlite("predict", "-m", model, data, "--link", "identity").out
    scores = [float(line.split()[0]) for line in shown.splitlines()]
    assert min(scores) < 0 < max(scores)


def test_the_baseline_stands_beside_the_loss(vwlite, tmp_path):
    """25 % positive: the best constant has the entropy of that, and is right for 75 %."""
    data = write(tmp_path / "t.vw", [f"{int(i % 4 == 0)} | a:{i % 7} b{i % 3}\n" for i in range(400)])
    report = tmp_path / "r"
    result = vwlite("train", data, "-m", tmp_path / "m", "--report", report)
    assert "(baseline 0.562335)" in result.err
    assert "(baseline 0.750000)" in result.err
    found = json.loads(report.read_text())["results"]
    assert found["out_of_fold_average_loss_of_the_baseline"] == pytest.approx(0.5623351446)
    assert found["out_of_fold_accuracy_of_the_baseline"] == 0.75
    assert "average loss = " in (predicted := vwlite("predict", "-m", tmp_path / "m", data).err)
    assert "(baseline 0.562335)" in predicted
