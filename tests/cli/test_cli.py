"""The command line: help, what is refused and how it is said, exit codes, what is loaded when."""

import json
import os
import platform
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from importlib.metadata import version

import click
import numpy as np
import pytest
from docs import help_of
from running import GD, shell, with_gd

from vwlite import __version__
from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import ALGORITHMS, CHOICES
from vwlite.cli import run
from vwlite.hashing import feature_hash
from vwlite.input.schema import RoleOptions
from vwlite.options.command import Command
from vwlite.prediction.commands import PredictOptions, predict_options
from vwlite.program import COMMANDS, program
from vwlite.runs.options import TrainOptions
from vwlite.runs.resolve import resolve
from vwlite.training.commands import train_options

DATA = """\
1 |a x:1.5 y |b u
-1 |a y:2 z |b v
1 1 'tagged|a x |b u:0.5
-1 |a z:1 |b w
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.vw").write_text(DATA)
    return tmp_path


@pytest.fixture
def model(vwlite):
    vwlite("train", *GD, "d.vw", "--loss", "logistic", "-m", "m", "--quiet")
    return "m"


def values(options):
    """The options that are compared: not how they were typed."""
    return {f.name: getattr(options, f.name) for f in fields(options) if f.compare}


def typed(*arguments, decorator=train_options):
    seen = []
    probe = click.command("probe", cls=Command)(decorator(lambda options: seen.append(options) or 0))
    probe.main([str(a) for a in arguments], standalone_mode=False)
    return seen[0]


# --- help -----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_and_explains_every_option(command):
    text = help_of(command)
    assert max(map(len, text.splitlines())) <= 100
    options = [o for o in program.get_command(click.Context(program), command).params if isinstance(o, click.Option)]
    assert all(o.help for o in options)
    assert all(max(o.opts, key=len).replace("_", "-") in text for o in options if len(o.opts) == 1)


def test_help_has_the_groups_in_order_and_our_spelling_only():
    text = help_of("train")
    headings = re.findall(r"^(\w+):$", text, re.M)
    groups = ["Input", "Tables", "Features", "Learning", "Classes", "Passes", "Output", "Run"]
    assert headings == [*groups, "Options", "Examples"]
    assert "_" not in re.sub(r"\s", "", "".join(re.findall(r"--[\w-]+", text)))


def test_help_shows_defaults_that_are_those_in_use():
    shown = dict(re.findall(r"--([\w-]+)(?:(?!\n  -).)*?\[default:\s+([^\]]+)\]", help_of("train"), re.S))
    settings = {k.replace("_", "-"): v for k, v in vars(Settings()).items()}
    settings |= {k.replace("_", "-"): v for k, v in vars(TrainOptions()).items() if k not in vars(Settings())}
    settings |= {"threshold": float("inf"), "holdout-period": 10, "early-terminate": 3, "progress": 2.0}
    settings |= {"max-errors": "no limit", "features": "2^bits; smidas: those seen so far"}
    settings |= {"feature-weights": 1, "box": "no limit", "nonzeros": "no limit"}
    settings |= {"missing": ",".join(RoleOptions().missing_words), "algorithm": "auto"}
    settings |= {"link": "logistic or poisson with these losses"}
    assert len(shown) >= 19
    for name, text in shown.items():
        default = settings[name]
        text = " ".join(text.split())
        assert (float(text) if isinstance(default, float | int) else text) == default, name


def meant(**options):
    """The options of train, those of the settings among them."""
    own = {name: options.pop(name) for name in set(options) & {f.name for f in fields(TrainOptions)}}
    return TrainOptions(typed=options, **own)


def test_the_common_rate_of_adagrad_does_not_fall_unless_asked():
    assert resolve(meant(algorithm="adagrad"), None).settings.power_t == 0
    assert resolve(meant(algorithm="adagrad", power_t=0.5), None).settings.power_t == 0.5
    assert resolve(meant(algorithm="sgd"), None).settings.power_t == 0.5
    assert resolve(meant(algorithm="gd"), None).settings == Settings()


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], *([c, "-h"] for c in COMMANDS)])
def test_help_is_a_result(vwlite, arguments):
    done = vwlite(*arguments)
    assert done.out.startswith("Usage: vwlite ")
    assert done.err == ""


@pytest.mark.parametrize("group", [[], ["dask"], ["completion"]])
def test_a_group_of_commands_alone_prints_its_help(vwlite, group):
    assert vwlite(*group) == vwlite(*group, "--help")


def test_version(vwlite):
    lines = vwlite("--version").out.splitlines()
    assert lines[0] == f"vwlite {__version__}"
    assert lines[1:3] == [f"numpy {version('numpy')}", f"Python {platform.python_version()}"]
    assert re.fullmatch(r"instructions (x86-64(-v[34])?|aarch64|portable)", lines[3]) and len(lines) == 4


# --- options --------------------------------------------------------------------------------

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
    ("--l1 1e-6", "--gravity 1e-6", {"l1": 1e-6}),
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
    assert values(typed("-m", "m", decorator=predict_options)) == values(PredictOptions(model="m"))


OUT_OF_RANGE = {
    "--bits 0": "0 is out of range: it must be at least 1 and at most 32",
    "--bits 33": "33 is out of range: it must be at least 1 and at most 32",
    "--bits 1.5": "'1.5' is not a whole number",
    "--bits 1_0": "'1_0' is not a whole number",
    "--bits 99999999999999999999999": "'99999999999999999999999' is not a whole number",
    "--passes 0": "0 is out of range: it must be at least 1",
    "--period 0": "0 is out of range: it must be at least 1",
    "--holdout-period 1": "1 is out of range: it must be at least 2",
    "--early-terminate 0": "0 is out of range: it must be at least 1",
    "--max-errors -1": "-1 is out of range: it must be at least 0",
    "--threads 65": "65 is out of range: it must be at least 1 and at most 64",
    "--learning-rate 0": "0 is out of range: it must be above 0 and finite",
    "--learning-rate nan": "nan is out of range: it must be above 0 and finite",
    "--learning-rate inf": "inf is out of range: it must be above 0 and finite",
    "--learning-rate 1e999": "1e999 is out of range: it must be above 0 and finite",
    "--learning-rate fast": "'fast' is not a number",
    "--learning-rate 1_0": "'1_0' is not a number",
    "--l1 -1e-9": "-1e-9 is out of range: it must be at least 0 and finite",
    "--l2 inf": "inf is out of range: it must be at least 0 and finite",
    "--threshold 0": "0 is out of range: it must be above 0",
    "--radius 0": "0 is out of range: it must be at least 1e-100 and at most 1e+100",
    "--box 0": "0 is out of range: it must be above 0 and finite",
    "--box inf": "inf is out of range: it must be above 0 and finite",
    "--features 0": "0 is out of range: it must be at least 1 and at most 4.29497e+09",
    "--radius nan": "nan is out of range: it must be at least 1e-100 and at most 1e+100",
    "--radius 1e308": "1e308 is out of range: it must be at least 1e-100 and at most 1e+100",
    "--radius -1": "-1 is out of range: it must be at least 1e-100 and at most 1e+100",
    "--radius inf": "inf is out of range: it must be at least 1e-100 and at most 1e+100",
    "--root-every 0": "0 is out of range: it must be at least 1",
    "--update pa": "'pa' is not one of 'cmd', 'rda'.",
    "--delta 0": "0 is out of range: it must be above 0 and finite",
    "--delta nan": "nan is out of range: it must be above 0 and finite",
    "--arow-r 0": "0 is out of range: it must be above 0 and finite",
    "--ftrl-alpha 0": "0 is out of range: it must be above 0 and finite",
    "--ftrl-alpha nan": "nan is out of range: it must be above 0 and finite",
    "--ftrl-beta 0": "0 is out of range: it must be above 0 and finite",
    "--pa-c 0": "0 is out of range: it must be above 0 and finite",
    "--pa-c inf": "inf is out of range: it must be above 0 and finite",
    "--nonzeros 0": "0 is out of range: it must be at least 1",
    "--nonzeros 1.5": "'1.5' is not a whole number",
    "--round-at-end -1": "-1 is out of range: it must be at least 0 and finite",
    "--quantile-tau 0": "0 is out of range: it must be above 0 and below 1",
    "--huber-delta 0": "0 is out of range: it must be above 0 and finite",
    "--quantile-tau 1": "1 is out of range: it must be above 0 and below 1",
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


def users(option):
    """Who takes an option, as messages name them."""
    return ", ".join(a.name for a in ALGORITHMS.values() if option in a.options)


MEANINGLESS = {
    "--algorithm l1-ball": "--algorithm l1-ball needs --radius",
    "--algorithm l1-ball --radius 1 --l1 1": "--l1 has no effect with --algorithm l1-ball: "
    "the --radius of the ball is the regularization strength",
    "--algorithm truncated-gradient --radius 1": "--radius has no effect with --algorithm truncated-gradient: "
    "its regularization strength is --l1",
    "--algorithm simplex": "--algorithm simplex needs --radius",
    "--algorithm simplex --radius 1 --l1 1": "--l1 has no effect with --algorithm simplex: "
    "the sum of its weights is --radius; use --algorithm l1-ball, whose radius can shrink",
    "--algorithm eg": "--algorithm eg needs --radius",
    "--algorithm eg-pm": "--algorithm eg-pm needs --radius",
    "--algorithm eg --radius 1 --l1 1": "--l1 has no effect with --algorithm eg: "
    "multiplying never makes a weight zero; use --algorithm l1-ball or truncated-gradient",
    "--algorithm eg-pm --radius 1 --l1 1": "--l1 has no effect with --algorithm eg-pm: "
    "multiplying never makes a weight zero; use --algorithm l1-ball or truncated-gradient",
    "--algorithm smidas --radius 1": (
        "--radius has no effect with --algorithm smidas: its regularization strength is --l1"
    ),
    "--box 5": "--box has no effect with --algorithm gd: it is an option of l1-ball",
    "--algorithm simplex --radius 1 --feature-weights f": "--feature-weights has no effect with --algorithm simplex: "
    "it is an option of l1-ball",
    "--features 5": "--features has no effect with --algorithm gd: it is an option of simplex, eg, eg-pm, smidas",
    "--radius 1": f"--radius has no effect with --algorithm gd: it is an option of {users('radius')}",
    "--period 5": "--period has no effect with --algorithm gd: it is an option of truncated-gradient, rounding",
    "--threshold inf": "--threshold has no effect with --algorithm gd: it is an option of truncated-gradient, rounding",
    "--algorithm pa": "--algorithm pa cannot learn from --loss squared: use --loss hinge",
    "--algorithm pa-ii --loss logistic": "--algorithm pa-ii cannot learn from --loss logistic: use --loss hinge",
    "--algorithm pa --loss hinge --pa-c 1": "--pa-c has no effect with --algorithm pa: it is an option of pa-i, pa-ii",
    "--algorithm pa --loss hinge -l 1": "--learning-rate has no effect with --algorithm pa: "
    "its steps need only the loss",
    "--algorithm pa-i --loss hinge --power-t 1": "--power-t has no effect with --algorithm pa-i: use --pa-c",
    "--algorithm arow --loss quantile": "--algorithm arow cannot learn from --loss quantile: use --loss hinge",
    "--algorithm gd --arow-r 1": "--arow-r has no effect with --algorithm gd: it is an option of arow",
    "--algorithm ftrl -l 1": "--learning-rate has no effect with --algorithm ftrl: use --ftrl-alpha",
    "--algorithm ftrl --arow-r 1": "--arow-r has no effect with --algorithm ftrl: it is an option of arow",
    "--algorithm sgd --ftrl-beta 1": "--ftrl-beta has no effect with --algorithm sgd: it is an option of ftrl",
    "--average": f"--average has no effect with --algorithm gd: it is an option of {users('average')}",
    "--algorithm adagrad-rda --average": "--average has no effect with --algorithm adagrad-rda: "
    f"it is an option of {users('average')}",
    "--algorithm l1-ball --radius 1 --box 1 --average": "--average and --box cannot be used together: "
    "leave one of them out",
    "--algorithm l1-ball --radius 1 --feature-weights f --average": "--average and --feature-weights "
    "cannot be used together: leave one of them out",
    "--nonzeros 5": f"--nonzeros has no effect with --algorithm gd: it is an option of {users('nonzeros')}",
    "--algorithm rounding --threshold 1 --nonzeros 5": "--nonzeros has no effect with --algorithm rounding: "
    "its weights are zero below --threshold; use --algorithm truncated-gradient",
    "--algorithm adagrad-ball --radius 1 --nonzeros 5": "--nonzeros has no effect with --algorithm adagrad-ball: "
    "use --algorithm adagrad or l1-ball",
    "--algorithm adagrad --nonzeros 5 --average": "--average and --nonzeros cannot be used together: "
    "the mean of weights is rarely zero, leave one of them out",
    "--algorithm rounding": "--algorithm rounding needs --threshold",
    "--algorithm rounding --threshold inf": "--algorithm rounding needs --threshold",
    "--algorithm rounding --threshold 1 --l1 1": "--l1 has no effect with --algorithm rounding: "
    f"it is an option of {users('l1')}",
    "--algorithm sgd --l1 1": f"--l1 has no effect with --algorithm sgd: it is an option of {users('l1')}",
    "--algorithm rounding --threshold 1 --l2 1": "--l2 has no effect with --algorithm rounding: "
    f"it is an option of {users('l2')}",
    "--algorithm sgd --l2 1 --average": "--average and --l2 cannot be used together: leave one of them out",
    "--algorithm adagrad --l2 1 --power-t 0.5": "--l2 and --power-t cannot be used together: --l2 with lazy "
    "updates requires a constant rate",
    "--delta 1": f"--delta has no effect with --algorithm gd: it is an option of {users('delta')}",
    "--root-every 3": "--root-every has no effect with --algorithm gd: it is an option of adagrad-full",
    "--algorithm adagrad --update rda": "--update has no effect with --algorithm adagrad: it is an option of "
    "adagrad-full",
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
    "-m -": "--model -: standard output is for predictions; name a file",
    "--report -": "--report -: standard output is for predictions; name a file",
    "--on-error skip --rejects -": "--rejects -: standard output is for predictions; name a file",
    "-p x -r ./x": "--predictions and --raw-predictions are both ./x",
    "-p - -r -": "--predictions and --raw-predictions are both -",
    "-m x --report link": "--report and --model are both x",
    "-c -m d.vw.vwlite-cache": "--cache and --model are both d.vw.vwlite-cache",
    "-m d.vw": "--model d.vw is one of the DATA files, which it would overwrite",
    "-p ./d.vw": "--predictions ./d.vw is one of the DATA files, which it would overwrite",
    "-i m -p m": "--predictions m is the input model, which it would overwrite",
}


@pytest.mark.parametrize("arguments", MEANINGLESS)
def test_combinations_without_meaning_are_refused_in_a_sentence(vwlite, folder, model, arguments):
    (folder / "link").symlink_to("x")
    before = {name: (folder / name).read_bytes() for name in ("d.vw", "m")}
    done = vwlite("train", "d.vw", *with_gd(shlex.split(arguments)), code=2)
    assert done.err == MEANINGLESS[arguments] + "\n"
    assert done.out == ""
    assert before == {name: (folder / name).read_bytes() for name in before}
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
def test_options_that_contradict_the_model_are_refused_by_name(vwlite, folder, model, arguments):
    before = (folder / "m").read_bytes()
    done = vwlite("train", "d.vw", "-i", "m", "-m", "m", *shlex.split(arguments), code=2)
    assert done.err == CONTRADICTIONS[arguments] + ": leave the option out, or train a new model\n"
    assert (folder / "m").read_bytes() == before


def test_options_that_repeat_the_model_or_may_change_are_taken(vwlite, model):
    same = "--loss logistic --algorithm gd -b 32 --hash strings --power-t 0.5"
    done = vwlite("train", "d.vw", "-i", "m", "-m", "./m", *same.split(), "-l", "0.25", "--l1", "1e-6", "--l2", "1e-7")
    assert "learning rate = 0.25, changed from 0.5\n" in done.err
    assert "l1 = 1e-06, changed from 0.0\n" in done.err
    options = json.loads(vwlite("info", "--json", "m").out)["options"]
    assert (options["learning_rate"], options["l1"], options["l2"]) == (0.25, 1e-6, 1e-7)


def test_an_output_of_predict_may_not_be_its_model(vwlite, folder, model):
    before = (folder / "m").read_bytes()
    done = vwlite("predict", "-m", "m", "-p", "m", "d.vw", code=2)
    assert done.err == "--predictions m is the input model, which it would overwrite\n"
    assert (folder / "m").read_bytes() == before


# --- exit codes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (0, "train d.vw --algorithm gd --quiet", ""),
        (1, "check bad.vw", ""),
        (2, "train --l1 d.vw", "Usage: vwlite train"),
        (65, "train bad.vw --algorithm gd --quiet", "bad.vw:2:8: feature value 'abc' is not a number\n"),
        (65, "info d.vw", "d.vw: not a model of vwlite: it is text; `vwlite train -m FILE` writes one\n"),
        (65, "predict -m d.vw d.vw", "d.vw: not a model of vwlite: it is text; `vwlite train -m FILE` writes one\n"),
        (66, "train nosuch", "nosuch: No such file or directory\n"),
        (66, "train -c nosuch", "nosuch: No such file or directory\n"),
        (66, "train -i nosuch d.vw", "nosuch: No such file or directory\n"),
        (66, "weights .", ".: Is a directory\n"),
        (73, "train d.vw --algorithm gd --quiet -m nosuch/m", "nosuch/m: cannot be created: there is no folder "),
        (73, "train d.vw --algorithm gd --quiet -m .", ".: cannot be written: it is a folder\n"),
        (75, "train d.vw --algorithm gd --quiet -m held", "held: another job is writing it; "),
    ],
)
def test_exit_codes_and_what_is_said(vwlite, folder, code, arguments, message):
    from vwlite.output.atomic import AtomicFile

    (folder / "bad.vw").write_text("1 |a x\n1 |a x:abc\n")
    with AtomicFile("held"):
        done = vwlite(*arguments.split(), code=code)
    assert done.err.startswith(message) if message else done.err == ""


def test_errors_of_the_program_itself_say_how_to_see_more(vwlite, monkeypatch):
    def broken(path):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("vwlite.model.read_model", broken)
    done = vwlite("info", "d.vw", code=70)
    assert done.err == "internal error: ZeroDivisionError: oh (VWLITE_DEBUG=1 shows where; please report it)\n"
    monkeypatch.setenv("VWLITE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run(["info", "d.vw"])


def test_no_memory_is_a_sentence(vwlite, monkeypatch):
    def full(path):
        raise MemoryError

    monkeypatch.setattr("vwlite.model.read_model", full)
    said = "out of memory: the model does not fit; try fewer --bits\n"
    assert vwlite("info", "d.vw", code=70).err == said


# --- standard output and error --------------------------------------------------------------


@pytest.mark.parametrize("command", ["--help", "info m", "weights m", "check m", "predict -m m d.vw --quiet"])
def test_a_reader_that_went_away_ends_the_program_quietly(model, command):
    done = shell(f"vwlite {command} | true")
    assert (done.code, done.err) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["--help", "info m", "weights m", "check m", "predict -m m d.vw --quiet"])
def test_results_that_cannot_be_written_are_an_error(model, command):
    done = shell(f"vwlite {command} >/dev/full")
    assert (done.code, done.err) == (74, "standard output: cannot be written: No space left on device\n")


def test_a_closed_standard_output_is_an_error_if_there_is_something_to_say(model):
    done = shell("vwlite weights m >&-")
    assert (done.code, done.err) == (74, "standard output: cannot be written: Bad file descriptor\n")
    assert shell("vwlite train d.vw --algorithm gd -m n --quiet >&- && vwlite check n").code == 0


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full", "2> >(true)"])
def test_words_without_a_reader_do_not_stop_the_work(where):
    if "full" in where and not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    done = shell(f"vwlite train d.vw --algorithm gd -m n -P 1 {where} && vwlite check n")
    assert (done.code, done.out) == (0, "n: a model, whole: gd, 6 nonzero weights\n")


# --- info, weights, check -------------------------------------------------------------------


def test_info(vwlite, model):
    facts = json.loads(vwlite("info", "m", "--json").out)
    assert facts["program"] == f"vwlite {__version__}"
    assert facts["counters"]["examples"] == 4
    assert facts["features"] == 7 and facts["nonzero weights"] == 6  # a:x y z, b:u v w, and the constant
    assert facts["file size"] == os.path.getsize("m")
    assert not facts["interrupted"] and not facts["weights_only"]
    text = vwlite("info", "m").out
    assert re.search(r"^loss +logistic$", text, re.M)
    assert re.search(r"^  examples +4$", text, re.M)


def rows(text):
    return [(int(index), float(weight)) for index, weight in (line.split("\t") for line in text.splitlines())]


def test_weights_fall_and_read_back_exactly(vwlite, model):
    with np.load("m", allow_pickle=False) as arrays:
        stored = dict(zip(arrays["keys"].tolist(), arrays["weights"].tolist(), strict=True))
    found = rows(vwlite("weights", "m", "--all").out)
    assert dict(found) == stored and len(found) == len(stored)
    assert found == sorted(found, key=lambda row: (-abs(row[1]), row[0]))
    assert rows(vwlite("weights", "m", "--top", "2").out) == found[:2]
    assert vwlite("weights", "m").out == vwlite("weights", "m", "--top", "20").out


def test_weights_leave_zeros_out_unless_all_are_requested(vwlite, model):
    command = "train d.vw --algorithm truncated-gradient --l1 0.05 --period 4 -m t --quiet"
    vwlite(*command.split())
    every, some = (rows(vwlite("weights", "t", *more).out) for more in (["--all"], []))
    assert 0 < len(some) <= len(every)
    assert some == [row for row in every if row[1]]


def test_weights_of_features_by_name(vwlite, model):
    stored = dict(rows(vwlite("weights", "m", "--all").out))
    done = vwlite("weights", "m", "--feature", "a^x", "--feature", "b^never seen\x1b")
    first, second = (line.split("\t") for line in done.out.splitlines())
    assert int(first[0]) == feature_hash(b"x", b"a")
    assert float(first[1]) == stored[int(first[0])] != 0
    assert first[2] == "a^x"
    assert second[1:] == ["unknown", "b^never seen\x1b"]
    assert done.err == "b^never seen\\x1b: m has no such feature: unseen in training, or its weight is zero\n"
    assert "cannot be used together" in vwlite("weights", "m", "--top", "1", "--all", code=2).err


def test_check_says_what_each_file_is(vwlite, folder, model):
    vwlite("train", *GD, "d.vw", "-c", "--quiet")
    done = vwlite("check", "m", "d.vw", "d.vw.vwlite-cache")
    assert done.out.splitlines() == [
        "m: a model, whole: gd, 6 nonzero weights",
        "d.vw: data, 4 lines, every line valid",
        "d.vw.vwlite-cache: a cache, whole: 4 lines",
    ]


def test_check_says_why_and_continues(vwlite, folder, model):
    (folder / "bad.vw").write_text("1 |a x:abc\n" * 25)
    (folder / "one.vw").write_text("1 |a x:abc\n")
    (folder / "cut").write_bytes((folder / "m").read_bytes()[:-1])
    (folder / "empty").touch()
    done = vwlite("check", "bad.vw", "one.vw", "cut", "empty", "nosuch", ".", "d.vw", code=1)
    lines = done.out.splitlines()
    assert lines[:20] == [f"bad.vw:{n}:8: feature value 'abc' is not a number" for n in range(1, 21)]
    assert lines[20:] == [
        "bad.vw: ... and 5 more",
        "bad.vw: data, 25 lines, 25 bad lines",
        "one.vw:1:8: feature value 'abc' is not a number",
        "one.vw: data, 1 line, 1 bad line",
        "cut: not a complete model: its end is missing or damaged; use another copy",
        "empty: empty",
        "nosuch: No such file or directory",
        ".: Is a directory: ./* names the files in it",
        "d.vw: data, 4 lines, every line valid",
    ]
    assert done.err == ""


@pytest.mark.parametrize(
    ("options", "bad"),
    [
        ("", []),
        ("--loss logistic", [3]),
        ("--loss poisson", [2]),
        ("--labels 0,1", [2, 3]),
        ("--labels 0,3 --loss logistic", [2, 4]),
    ],
)
def test_check_takes_the_labels_that_train_takes(vwlite, tmp_path, options, bad):
    data = tmp_path / "data.vw"
    data.write_text("0 |f a\n-1 |f b\n3 |f c\n1 |f d\n")
    done = vwlite("check", data, *options.split(), code=1 if bad else 0)
    places = [line.split(":")[1] for line in done.out.splitlines()[:-1]]
    assert places == [str(line) for line in bad]
    trained = vwlite("train", data, *options.split(), "--quiet", code=None)
    assert trained.code == (65 if bad else 0)
    assert trained.err.splitlines()[:1] == done.out.splitlines()[:1] if bad else not trained.err


def test_check_refuses_options_of_labels_that_contradict_each_other(vwlite, folder):
    for options in ("--labels 0,1 --loss poisson", "--oaa 3 --labels 0,1", "--oaa 3 --classes a,b"):
        said = vwlite("check", "d.vw", *options.split(), code=2).err
        assert said == vwlite("train", *GD, "d.vw", *options.split(), code=2).err != ""


@pytest.mark.parametrize("command", ["vwlite check - <d.vw", "cat d.vw | vwlite check -", "vwlite check <(cat d.vw)"])
def test_check_reads_pipes_from_their_beginning(command):
    done = shell(command)
    assert re.fullmatch(r"(<stdin>|/dev/fd/\d+): data, 4 lines, every line valid\n", done.out)
    assert done.code == 0


def test_file_names_that_are_not_text_come_out_as_they_went_in(model):
    done = shell(r"""mv m $'m\xff' && vwlite check $'m\xff' | od -An -c | head -1""", LC_ALL="C")
    assert done.out.split()[:3] == ["m", "377", ":"]


# --- what is loaded when --------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", ["--version", "--help", "help cache", "train --help", "predict -h", "weights -h", "train --bits 0"]
)
def test_starting_loads_nothing_heavy(arguments):
    code = (
        "import sys; from vwlite.cli import run; run(sys.argv[1:]);"
        "small = {'vwlite.core', 'vwlite.core.library'};"
        "small |= {*('vwlite.core.base' + n for n in ('', '.targets', '.cython_shared'))};"
        "small = small if '--version' in sys.argv else set();"
        "sys.exit(','.join(m for m in {*sys.modules} - small if m == 'numpy' or m.startswith('vwlite.core')) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments.split()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# --- completion -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("vwlite tr", {"train"}),
        ("vwlite train --pass", {"--passes"}),
        ("vwlite train --loss p", {"poisson"}),
        ("vwlite train --algorithm t", {"truncated-gradient"}),
        ("vwlite weights --to", {"--top"}),
    ],
)
def test_completion(words, expected):
    count = len(words.split()) - 1
    done = shell('vwlite "$@"', COMP_WORDS=words, COMP_CWORD=str(count), _VWLITE_COMPLETE="bash_complete")
    assert done.code == 0
    assert {line.partition(",")[2] for line in done.out.splitlines()} == expected


@pytest.mark.parametrize("words", ["vwlite train d", "vwlite train -m d", "vwlite info d"])
def test_completion_of_file_names_is_left_to_the_shell(words):
    count = str(len(words.split()) - 1)
    done = shell("vwlite", COMP_WORDS=words, COMP_CWORD=count, _VWLITE_COMPLETE="bash_complete")
    assert done.out == "file,d\n"


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts(name):
    done = shell("vwlite", _VWLITE_COMPLETE=f"{name}_source")
    if "not supported" in done.err:
        pytest.skip(done.err)
    assert "_VWLITE_COMPLETE" in done.out
