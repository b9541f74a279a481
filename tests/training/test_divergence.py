"""Learning that diverges is an error that names the example."""

import gzip
import os
from pathlib import Path

import pytest
from lines import OLD, write
from running import leftovers, standard_input

from vwlite.model import read_model

pytestmark = pytest.mark.usefixtures("folder")

# Poisson, without a constant, rate 1: the first line makes the weight of x 999, and exp(999) is infinite.
DIVERGING = b"1000 |a x\n1 |a y\n1 |a x\n"

PLAIN = ("--loss", "poisson", "--no-constant", "-l", "1", "--power-t", "0", "--quiet")


@pytest.mark.parametrize(
    "algorithm", [("sgd",), ("truncated-gradient", "--l1", "1e-9"), ("l1-ball", "--radius", "1e9")], ids=lambda a: a[0]
)
@pytest.mark.parametrize(
    ("sources", "place"),
    [
        ([DIVERGING], "0:3:1"),
        ([b"1 |a z\n" * 9 + DIVERGING], "0:12:1"),
        ([b"1 |a z\n", gzip.compress(DIVERGING)], "1:3:1"),
        ([b"1 |a z\n", "-"], "<stdin>:3:1"),
    ],
)
def test_diverging_is_an_error_that_names_the_example(vwlite, folder, algorithm, sources, place):
    files = [s if s == "-" else write(str(i), s) for i, s in enumerate(sources)]
    write("input", DIVERGING)
    write("model", OLD)
    before = os.listdir()
    with standard_input(Path("input")):
        done = vwlite("train", *files, "--algorithm", *algorithm, *PLAIN, "-m", "model", code=65)
    assert done.err == (
        f"{place}: the prediction is not finite: learning has diverged; try a smaller --learning-rate (it is 1), "
        "or scale the features\n"
    )
    assert Path("model").read_bytes() == OLD
    assert leftovers(folder, before) == []


@pytest.mark.parametrize("cache", [(), ("-c",)])
def test_diverging_in_a_later_pass_names_the_example_too(vwlite, cache):
    write("data", b"1 |a z\n1 |a x\n1000 |a x\n")
    command = ("train", "data", "--algorithm", "sgd", *PLAIN, "--holdout-off", *cache)
    vwlite(*command, "-m", "model")
    os.unlink("model")
    done = vwlite(*command, "--passes", 2, "-m", "model", code=65)
    assert done.err.startswith("data:2:1: the prediction is not finite: learning has diverged; ")
    assert not os.path.exists("model")


def test_weights_that_overflow_at_the_end_are_not_written(vwlite, folder):
    """No prediction comes after them: a rate of 1e20 and a value of 1e30 make a weight beyond 32 bits."""
    write("data", b"1 |a x:1e30\n")
    done = vwlite("train", "data", "--algorithm", "sgd", "-l", "1e20", "-m", "model", "--quiet", code=65)
    assert done.err.startswith("model: not written: learning has diverged, a weight is not finite; try a smaller ")
    assert leftovers(folder, ["data"]) == []


def test_a_checkpoint_before_the_divergence_stays(vwlite):
    write("data", DIVERGING)
    vwlite("train", "data", "--algorithm", "sgd", *PLAIN, "-m", "model", "--checkpoint-every", 2, code=65)
    assert read_model("model").counters["examples"] == 2


def test_an_infinite_loss_of_a_pass_is_no_number_of_the_model(vwlite):
    """By an importance of 1e300: weights and predictions are finite."""
    write("data", b"0 1e300 -1 |c z4:1.25 z5 x23 y:1 |b x2:-1.36 z:-1 x18:2 y7 |ab y:0.5 z2 w:1.25 w21:1.25\n")
    vwlite("train", "data", "--algorithm", "eg", "--loss", "huber", "--radius", "0.01", "--power-t", "0.1",
           "--initial-t", "0.01", "--passes", "3", "--holdout-period", "3", "-m", "model", "--quiet")
    assert None in [loss for row in read_model("model").passes for loss in row.values()]


@pytest.mark.parametrize("source", ["data", "-"])
def test_importances_whose_sum_is_infinite_are_an_error(vwlite, source):
    write("data", b"1 1e308 |a x\n-1 1e308 |a y\n1 |a x\n-1 |a y\n" * 10)
    with standard_input(Path("data")):
        done = vwlite("train", source, "--loss", "logistic", "-m", "model", "--quiet", code=65)
    assert done.err == "the loss of the best constant is not finite: importances of examples are too large\n"
    assert not os.path.exists("model")
