"""The first sentences of the summary of `vwlite train`."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

RESULT = re.compile(r"([A-Za-z ]+) (\d+\.\d{4}) (on rows [a-z -]+)(?:; (.*))?")
BETTER = re.compile(r"best constant (\d+\.\d{4}), (\d+\.\d) % better")
WORSE = re.compile(r"(?:(\d+\.\d) % worse|no better) than the best constant, (\d+\.\d{4})")


@pytest.fixture(autouse=True)
def data(folder):
    draw = np.random.default_rng(3)
    x = draw.normal(size=(400, 3))
    number = x @ [1, -2, 0] + draw.normal(size=400)
    for name, y in (
        ("two", np.where(number > 0, 1, -1)), ("three", np.digitize(number, [-1, 1]) + 1), ("numbers", number.round(3)),
        ("counts", draw.poisson(np.exp(number / 3))), ("noise", draw.choice([-1, 1], size=400)),
    ):
        rows = (f"{label} |f a:{a:.3f} b:{b:.3f} c:{c:.3f}" for label, (a, b, c) in zip(y, x, strict=True))
        Path(name).write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize(
    ("options", "name", "rows"),
    [
        ("two", "log loss", "not learned"),
        ("three --oaa 3", "log loss", "not learned"),
        ("numbers", "squared loss", "not learned"),
        ("counts --loss poisson", "Poisson loss", "not learned"),
        ("noise", "log loss", "learned"),  # the intercept alone
        ("two --passes 1", "log loss", "before they were learned"),
        ("two --validate noise", "log loss", "of --validate"),
        ("two --sparse", "log loss", "not learned"),
        ("two --algorithm gd --loss logistic", "log loss", "before they were learned"),
        ("two --algorithm ftrl --loss hinge --passes 3 --holdout-off", "hinge loss", "that earlier passes learned"),
        ("two --algorithm gd --passes 9 --early-terminate 1", "squared loss", "held out"),
        ("three --algorithm gd --oaa 3 --loss squared", "share of errors", "before they were learned"),
        ("three --algorithm gd --oaa 3 --loss logistic", "log loss", "before they were learned"),
    ],
)
def test_the_summary_begins_with_the_result(vwlite, options, name, rows):
    said = vwlite("train", *options.split(), "-m", "m", "--report", "r").err.split("\nfinished run\n")[1]
    sentences, counters, _ = said.partition("number of examples = ")
    first = sentences.splitlines()[0]
    found = RESULT.fullmatch(first)
    assert found and found[1] == name and found[3] == f"on rows {rows}"
    results = json.loads(Path("r").read_text())["results"]
    key = next(key for end in ("log_loss", "average_loss") for key in results if key.endswith(end))
    assert float(found[2]) == pytest.approx(results[key], abs=6e-5)
    baseline = results.get(f"{key}_of_the_baseline")
    assert (found[4] is None) == (baseline is None)
    if baseline is not None:
        gain = 100 * (1 - results[key] / baseline)
        better, worse = BETTER.fullmatch(found[4]), WORSE.fullmatch(found[4])
        if better:
            assert (float(better[1]), float(better[2])) == pytest.approx((baseline, gain), abs=0.051)
        else:
            assert worse and float(worse[2]) == pytest.approx(baseline, abs=6e-5)
            assert -float(worse[1] or 0) == pytest.approx(gain, abs=0.051)
    assert " = " not in sentences and counters and "\nseconds = " in said


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ("two --algorithm gd --normalize l2 -l 0.25", "normalization l2, one pass, update gd with learning rate 0.25"),
        ("two --algorithm ftrl --passes 2 --holdout-off", "no normalization, 2 passes, update ftrl with alpha 0.5"),
        ("two --algorithm gd --normalize center", "columns centered, one pass, update gd with learning rate 0.5"),
        ("two --algorithm pa --loss hinge", "no normalization, one pass, update pa"),
    ],
)
def test_the_second_sentence_says_how_the_model_came_about(vwlite, options, how):
    said = vwlite("train", *options.split(), "-m", "m").err.split("\nfinished run\n")[1]
    assert said.splitlines()[1] == how


def test_of_auto_it_says_what_was_chosen(vwlite):
    said = vwlite("train", "two", "-m", "m", "--report", "r").err.split("\nfinished run\n")[1]
    (how,) = (line.removeprefix("chosen = ") for line in said.splitlines() if line.startswith("chosen = "))
    how, chosen = how.partition("; out-of-fold log loss ")[0], json.loads(Path("r").read_text())["chosen"]
    words = {"none": "no normalization", "center": "columns centered"}
    assert how.startswith(words.get(chosen["normalize"], f"normalization {chosen['normalize']}") + ", ")
    assert f", {chosen['pass']} of {chosen['passes']} passes, " in how
    of_one, of_some = r"update n?s?gd with learning rate \d+(, averaged)?", r"stacked updates (n?s?gd\(\d+\)(, )?)+"
    assert re.search(f", ({of_one}|{of_some})$", how)
    said = vwlite("train", "noise", "-m", "m").err.split("\nfinished run\n")[1]
    if "the intercept alone" in said:
        assert "chosen = the intercept alone: nothing predicts better than a constant" in said.splitlines()


@pytest.mark.parametrize("options", ["", "--algorithm gd", "--sparse", "--passes 1"])
def test_a_run_without_a_model_says_that_none_is_written(vwlite, options):
    said = "no model is written: -m FILE writes it\n"
    assert said in vwlite("train", "two", *options.split()).err
    assert said not in vwlite("train", "two", *options.split(), "-m", "m").err
    assert vwlite("train", "two", *options.split(), "--quiet").err == ""


def test_a_run_that_has_learned_nothing_has_no_result(vwlite):
    Path("none").write_text("|f a:1\n")
    said = vwlite("train", "none", "--algorithm", "gd").err.split("\nfinished run\n")[1]
    assert said.startswith("number of examples = 1\n")


@pytest.mark.parametrize(("options", "loss"), [("", "log loss"), ("--loss squared", "squared loss"),
                                              ("--oaa 2 --classes auto", "log loss"), ("--sparse", "log loss")])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_loss_that_is_nearly_0_is_doubted(vwlite, options, loss, is_known):
    """As where a column is filled in after the label is known."""
    draw = np.random.default_rng(4)
    x = draw.random(600)
    rows = [(int(a + e > 0.5), a) for a, e in zip(x, draw.normal(0, 0.3, 600), strict=True)]
    paid = [f",{'yes' if y else 'no'}" * is_known for y, _ in rows]
    Path("t.csv").write_text(f"y,a{',paid' * is_known}\n" + "".join(
        f"{y},{a:.3f}{cell}\n" for (y, a), cell in zip(rows, paid, strict=True)))
    said = vwlite("train", "t.csv", "--label", "y", *options.split(), "-m", "m").err
    note = (f"note: the {loss} is nearly 0: if a column is known only after the label, leave it out; vwlite report "
            "shows which columns matter most\n")
    assert (note in said) == is_known
