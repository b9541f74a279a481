"""Options of `vwlite train`: their spellings, what is out of range, has no meaning, or contradicts the model."""

import json
import os
import re
import shlex
from dataclasses import fields
from math import inf, isfinite, nan

import click
import pytest
from running import with_gd

from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import ALGORITHMS, CHOICES
from vwlite.options.declaring import collected
from vwlite.options.types import Number, Whole
from vwlite.prediction.commands import PredictOptions
from vwlite.program import command_of
from vwlite.runs.options import TrainOptions
from vwlite.runs.resolve import resolve

pytestmark = pytest.mark.usefixtures("sample")


def values(options):
    """The options that are compared: not how they were typed."""
    return {f.name: getattr(options, f.name) for f in fields(options) if f.compare}


def typed(*arguments, command="train", kind=TrainOptions):
    return collected(kind, command_of(command).make_context(command, [str(a) for a in arguments]).params)


def meant(**options):
    """The options of train, those of the settings among them."""
    own = {name: options.pop(name) for name in set(options) & {f.name for f in fields(TrainOptions)}}
    return TrainOptions(typed=options, **own)


def test_the_common_rate_of_adagrad_does_not_fall_unless_asked():
    assert resolve({"algorithm": "adagrad"}).settings.power_t == 0
    assert resolve({"algorithm": "adagrad", "power_t": 0.5}).settings.power_t == 0.5
    assert resolve({"algorithm": "sgd"}).settings.power_t == 0.5
    assert resolve({"algorithm": "gd"}).settings == Settings()


SPELLINGS = [
    ("--format vw", "--format=vw", {"format": "vw"}),
    ("d", "--data d", {"data": ("d",)}),
    ("a b", "a -d b", {"data": ("a", "b")}),
    ("-b 18", "--bit_precision 18", {"bits": 18}),
    ("--bits 18", "-b18", {"bits": 18}),
    ("--no-constant", "--noconstant", {"no_constant": True}),
    ("-q ab -q :c", "--quadratic ab --quadratic :c", {"quadratic": ("ab", ":c")}),
    ("--ignore-linear ab", "--ignore_linear ab", {"ignore_linear": ("ab",)}),
    ("--loss hinge", "--loss_function hinge", {"loss": "hinge"}),
    ("--quantile-tau .3", "--quantile_tau .3", {"quantile_tau": 0.3}),
    ("-l 2", "--learning_rate 2", {"learning_rate": 2.0}),
    ("--learning-rate 2", "-l2", {"learning_rate": 2.0}),
    ("--power-t 0", "--power_t 0", {"power_t": 0.0}),
    ("--initial-t 5", "--initial_t 5", {"initial_t": 5.0}),
    ("--decay-learning-rate .9", "--decay_learning_rate .9", {"decay_learning_rate": 0.9}),
    ("-c", "--cache", {"cache": True}),
    ("--cache-file c", "--cache_file c", {"cache_file": "c"}),
    ("-k", "--kill_cache", {"kill_cache": True}),
    ("--kill-cache", "-k", {"kill_cache": True}),
    ("--holdout-period 7", "--holdout_period 7", {"holdout_period": 7}),
    ("--holdout-off", "--holdout_off", {"holdout_off": True}),
    ("--early-terminate 4", "--early_terminate 4", {"early_terminate": 4}),
    ("-m m", "-f m", {"model": "m"}),
    ("--model m", "--final_regressor m", {"model": "m"}),
    ("-i m", "--initial_regressor m", {"initial": "m"}),
    ("--initial m", "-i m", {"initial": "m"}),
    ("-p p", "--predictions p", {"predictions": "p"}),
    ("-r p", "--raw_predictions p", {"raw_predictions": "p"}),
    ("--raw-predictions p", "-r p", {"raw_predictions": "p"}),
    ("-P 10", "--progress 10", {"progress": (0.0, 10.0)}),
    ("-P 1.5", "--progress 1.5", {"progress": (1.5, None)}),
    ("--labels 0,1", "--labels=0,1", {"labels": (0.0, 1.0)}),
    ("--checkpoint-every 5m", "--checkpoint-every 300s", {"checkpoint_every": (None, 300)}),
    ("--checkpoint-every 1000", "--checkpoint-every=1000", {"checkpoint_every": (1000, None)}),
    ("--threshold inf", "--threshold=Infinity", {"threshold": float("inf")}),
]


@pytest.mark.parametrize(("ours", "theirs", "meaning"), SPELLINGS)
def test_our_spelling_and_that_of_vowpal_wabbit_mean_the_same(ours, theirs, meaning):
    assert values(typed(*shlex.split(ours))) == values(typed(*shlex.split(theirs))) == values(meant(**meaning))


def test_what_is_not_typed_is_left_open():
    assert values(typed()) == values(TrainOptions())
    assert values(typed("-m", "m", command="predict", kind=PredictOptions)) == values(PredictOptions(model="m"))


OUT_OF_RANGE = {
    "--bits 33": "33 is out of range: it must be at least 1 and at most 32",
    "--bits 1.5": "'1.5' is not a whole number",
    "--bits 1_0": "'1_0' is not a whole number",
    "--bits 99999999999999999999999": "'99999999999999999999999' is not a whole number",
    "--threads 65": "65 is out of range: it must be at least 1 and at most 64",
    "--learning-rate 0": "0 is out of range: it must be above 0 and finite",
    "--learning-rate nan": "nan is out of range: it must be above 0 and finite",
    "--learning-rate fast": "'fast' is not a number",
    "--learning-rate 1_0": "'1_0' is not a number",
    "--l1 -1e-9": "-1e-9 is out of range: it must be at least 0 and finite",
    "--threshold 0": "0 is out of range: it must be above 0",
    "--radius 0": "0 is out of range: it must be at least 1e-100 and at most 1e+100",
    "--update pa": "'pa' is not one of 'cmd', 'rda'.",
    "--quantile-tau 0": "0 is out of range: it must be above 0 and below 1",
    "--quadratic a": "'a': expected 2 letters, the first of each namespace's name",
    "--quadratic abc": "'abc': expected 2 letters, the first of each namespace's name",
    "--cubic ab": "'ab': expected 3 letters, the first of each namespace's name",
    "--interactions a": "'a': expected at least 2 letters, the first of each namespace's name",
    "--keep ''": "'': expected at least 1 letter, the first of each namespace's name",
    "--keep '|'": "'|': a letter that no namespace can begin with",
    "--ignore :": "':': a letter that no namespace can begin with",
    "--labels 0": "'0' is not two labels with a comma between them, such as 0,1 or ham,spam",
    "--labels 0,1,2": "'0,1,2' is not two labels with a comma between them, such as 0,1 or ham,spam",
    "--labels 1,1.0": "'1,1.0': the two labels must be finite and differ",
    "--labels 0,inf": "'0,inf': the two labels must be finite and differ",
    "--checkpoint-every 0": "'0' is neither a number of examples (1000000) nor a time (60s, 5m, 1h)",
    "--checkpoint-every 2d": "'2d' is neither a number of examples (1000000) nor a time (60s, 5m, 1h)",
    "--progress 0": "'0' is neither an integer above 0 nor a factor above 1 such as 2.0",
    "--progress 1.0": "'1.0' is neither an integer above 0 nor a factor above 1 such as 2.0",
    "--model ''": "the name of the file is empty",
    "--algorithm gdd": f"'gdd' is not one of {', '.join(repr(a) for a in CHOICES)}. Did you mean 'gd'?",
    "--loss log": f"'log' is not one of {', '.join(repr(x) for x in LOSSES)}. Did you mean 'logistic'?",
    "--loss x": f"'x' is not one of {', '.join(repr(x) for x in LOSSES)}.",
}


@pytest.mark.parametrize("arguments", OUT_OF_RANGE)
def test_values_out_of_range_are_refused_by_name(vwlite, arguments):
    option = arguments.split()[0]
    last = vwlite("train", "d.vw", *shlex.split(arguments), code=2).err.splitlines()[-1]
    found = re.fullmatch(r"Error: Invalid value for (.*?): (.*)", last)
    assert found, last
    assert f"'{option}'" in found[1]
    assert found[2] == OUT_OF_RANGE[arguments]


NUMBERS = [
    (spec.long, spec.type)
    for kind in (Settings, TrainOptions)
    for field in fields(kind)
    for spec in field.metadata.get("specs", ())
    if type(spec.type) in (Number, Whole)
]


@pytest.mark.parametrize(("option", "kind"), NUMBERS)
def test_a_number_that_is_not_in_the_range_of_its_row_is_refused(option, kind):
    step = 1 if isinstance(kind, Whole) else 1e-3
    outside = [x for x in (kind.low - step, kind.high + step * kind.high) if isfinite(x)]
    outside += [kind.low] * kind.open_low + [kind.high] * kind.open_high + [inf] * (not kind.infinite) + [nan]
    for value in outside:
        with pytest.raises(click.BadParameter) as refused:
            typed(f"{option}={value:.17g}")
        assert option in refused.value.format_message()
        assert re.search("is out of range: it must be (above|at least|at most|below|finite)|is not a whole number",
                         refused.value.message)
    typed(f"{option}={kind.low + step:.17g}")


def users(option):
    """Who takes an option, as messages name them."""
    return ", ".join(a.name for a in ALGORITHMS.values() if option in a.options)


MEANINGLESS = {
    "--algorithm l1-ball": "--algorithm l1-ball needs --radius",
    "--algorithm l1-ball --radius 1 --l1 1": "--l1 has no effect with --algorithm l1-ball: "
    "the --radius of the ball is the regularization strength",
    "--radius 1": f"--radius has no effect with --algorithm gd: it is an option of {users('radius')}",
    "--algorithm pa": "--algorithm pa cannot learn from --loss squared: use --loss hinge",
    "--algorithm pa-ii --loss logistic": "--algorithm pa-ii cannot learn from --loss logistic: use --loss hinge",
    "--algorithm pa --loss hinge -l 1": "--learning-rate has no effect with --algorithm pa: "
    "its steps need only the loss",
    "--algorithm pa-i --loss hinge --power-t 1": "--power-t has no effect with --algorithm pa-i: use --pa-c",
    "--algorithm arow --loss quantile": "--algorithm arow cannot learn from --loss quantile: use --loss hinge",
    "--algorithm ftrl -l 1": "--learning-rate has no effect with --algorithm ftrl: use --ftrl-alpha",
    "--algorithm l1-ball --radius 1 --box 1 --average": "--average and --box cannot be used together: "
    "leave one of them out",
    "--algorithm l1-ball --radius 1 --feature-weights f --average": "--average and --feature-weights "
    "cannot be used together: leave one of them out",
    "--algorithm adagrad --nonzeros 5 --average": "--average and --nonzeros cannot be used together: "
    "the mean of weights is rarely zero, leave one of them out",
    "--algorithm rounding": "--algorithm rounding needs --threshold",
    "--algorithm rounding --threshold inf": "--algorithm rounding needs --threshold",
    "--algorithm sgd --l2 1 --average": "--average and --l2 cannot be used together: leave one of them out",
    "--algorithm adagrad --l2 1 --power-t 0.5": "--l2 and --power-t cannot be used together: --l2 with lazy "
    "updates requires a constant rate",
    "--huber-delta 2": "--huber-delta has no effect with --loss squared: add --loss huber",
    "--quantile-tau 0.5": "--quantile-tau has no effect with --loss squared: add --loss quantile",
    "--loss poisson --labels 0,1": "--labels maps labels to -1 and 1, which --loss poisson cannot use",
    "--keep a --ignore b": "--keep and --ignore cannot be used together: use one of them",
    "--max-errors 3": "--max-errors needs --on-error skip",
    "--rejects r": "--rejects needs --on-error skip",
    "-k": "--kill-cache needs --cache or --cache-file",
    "-c --cache-file c": "--cache and --cache-file cannot be used together: one cache is enough",
    "-c -": "--cache cannot detect a change of standard input: name DATA files",
    "--cache-file c -": "--cache-file cannot detect a change of standard input: name DATA files",
    "-c /dev/null": "--cache cannot detect a change of /dev/null, which is not a file: leave it out",
    "--holdout-off --holdout-period 5 --passes 2": "--holdout-off and --holdout-period cannot be used together",
    "--holdout-period 5": "--holdout-period needs --passes above 1: a single pass has no holdout",
    "--early-terminate 5": "--early-terminate needs --passes above 1: a single pass has no holdout",
    "--holdout-off --early-terminate 5 --passes 2": "--early-terminate needs a holdout: "
    "leave --holdout-off out",
    "--checkpoint-every 5": "--checkpoint-every needs --model",
    "--save-weights-only": "--save-weights-only needs --model",
    "-m -": "--model -: standard output has the results; name a file",
    "--report -": "--report -: standard output has the results; name a file",
    "--on-error skip --rejects -": "--rejects -: standard output has the results; name a file",
    "-p x -r ./x": "--predictions and --raw-predictions are both ./x",
    "-p - -r -": "--predictions and --raw-predictions are both -",
    "-m x --report link": "--report and --model are both x",
    "-c -m d.vw.vwlite-cache": "--cache and --model are both d.vw.vwlite-cache",
    "-m d.vw": "--model d.vw is one of the DATA files, which it would overwrite",
    "-p ./d.vw": "--predictions ./d.vw is one of the DATA files, which it would overwrite",
    "-i m -p m": "--predictions m is the input model, which it would overwrite",
}


@pytest.mark.parametrize("arguments", MEANINGLESS)
def test_combinations_without_meaning_are_refused_in_a_sentence(vwlite, sample, sample_model, arguments):
    (sample / "link").symlink_to("x")
    before = {name: (sample / name).read_bytes() for name in ("d.vw", "m")}
    done = vwlite("train", "d.vw", *with_gd(shlex.split(arguments)), code=2)
    assert done.err == MEANINGLESS[arguments] + "\n"
    assert done.out == ""
    assert before == {name: (sample / name).read_bytes() for name in before}
    assert sorted(os.listdir()) == ["d.vw", "link", "m"]


CONTRADICTIONS = {
    "--loss hinge": "--loss hinge contradicts the model m, which was trained with logistic",
    "--algorithm sgd": "--algorithm sgd contradicts the model m, which was trained with gd",
    "-b 18": "--bits 18 contradicts the model m, which was trained with 32",
    "--hash all": "--hash all contradicts the model m, which was trained with strings",
    "--no-constant": "--no-constant contradicts the model m, which was trained with a constant",
    "-q ab --cubic aab": "--quadratic ab --cubic aab contradicts the model m, which was trained with none",
    "--keep b --keep a": "--keep ab contradicts the model m, which was trained with none",
    "--labels 0,1": "--labels 0,1 contradicts the model m, which was trained with none",
    "--nonzeros 5": "--nonzeros 5 contradicts the model m, which was trained with none",
    "--average": "--average contradicts the model m, which was trained with plain weights",
    "--power-t 0.25": "--power-t 0.25 contradicts the model m, which was trained with 0.5",
}


@pytest.mark.parametrize("arguments", CONTRADICTIONS)
def test_options_that_contradict_the_model_are_refused_by_name(vwlite, sample, sample_model, arguments):
    before = (sample / "m").read_bytes()
    done = vwlite("train", "d.vw", "-i", "m", "-m", "m", *shlex.split(arguments), code=2)
    assert done.err == CONTRADICTIONS[arguments] + ": leave the option out, or train a new model\n"
    assert (sample / "m").read_bytes() == before


def test_options_that_repeat_the_model_or_may_change_are_taken(vwlite, sample_model):
    same = "--loss logistic --algorithm gd -b 32 --hash strings --power-t 0.5"
    done = vwlite("train", "d.vw", "-i", "m", "-m", "./m", *same.split(), "-l", "0.25", "--l1", "1e-6", "--l2", "1e-7")
    assert "learning rate = 0.25, changed from 0.5\n" in done.err
    assert "l1 = 1e-06, changed from 0.0\n" in done.err
    options = json.loads(vwlite("info", "--json", "m").out)["options"]
    assert (options["learning_rate"], options["l1"], options["l2"]) == (0.25, 1e-6, 1e-7)
