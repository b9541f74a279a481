"""Errors of the command line name what was probably meant."""

import subprocess
import sys

import click
import pytest
from running import GD

from vwlite.export import EXPORTS
from vwlite.help import usage
from vwlite.options.nearest import edits
from vwlite.program import COMMANDS, program


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.vw").write_text("1 |a x\n-1 |a y\n")
    return tmp_path


def last(vwlite, arguments):
    """The error of a command line that is wrong."""
    done = vwlite(*arguments.split(), code=2)
    assert done.out == ""
    return done.err.splitlines()[-1].removeprefix("Error: ")


RATE = "use -l, --learning-rate (the initial learning rate)"
STRENGTH = "the regularization strength is --l1 NUMBER or --l2 NUMBER"


@pytest.mark.parametrize(
    ("typed", "end"),
    [
        # commands
        ("tarin d.vw", "No such command 'tarin'. Did you mean 'train'?"),
        ("pred d.vw", "No such command 'pred'. Did you mean 'predict'?"),
        ("fit d.vw", "No such command 'fit'. Did you mean 'train'?"),
        ("formats", "No such command 'formats'. `vwlite help formats` prints that topic."),
        ("d.vw", "No such command 'd.vw'. It is a file: a command comes first, such as vwlite train d.vw"),
        ("xyzzy", "No such command 'xyzzy'."),
        ("dask trian", "No such command 'trian'. Did you mean 'train'?"),
        # options, nearly
        ("train --algoritm gd", "No such option '--algoritm'. Did you mean '--algorithm'?"),
        ("train --learning_rat 1", "No such option '--learning_rat'. Did you mean '--learning-rate'?"),
        ("train --holdout_of", "No such option '--holdout_of'. Did you mean '--holdout-off'?"),
        ("train --on_error skip", "No such option '--on_error': use --on-error"),
        ("train --LOSS logistic", "No such option '--LOSS': use --loss"),
        ("train --norm l2", "No such option '--norm': use --normalize (scale or center the values of each example)"),
        ("train --normalized", "it is an option of Vowpal Wabbit, which `vwlite vw` takes"),
        ("train --xyzzy", "No such option '--xyzzy'."),
        # one hyphen
        ("train -loss logistic", "'-loss' would be read as -l 'oss': write --loss, with two hyphens"),
        ("train -model=x d.vw", "'-model=x' would be read as -m 'odel=x': write --model=x, with two hyphens"),
        ("train -epochs 3", "No such option '-epochs': use --passes (number of passes over the data)"),
        ("train -lr 0.1", f"'r' is not a number ('-lr' is read as -l 'r': {RATE})"),
        # words of other programs
        ("train --lr 1", f"No such option '--lr': {RATE}"),
        ("train --epochs 3", "No such option '--epochs': use --passes (number of passes over the data)"),
        ("train --iterations 3", "No such option '--iterations': use --passes (number of passes over the data)"),
        ("solve --epochs 3", "No such option '--epochs': use --max-passes (stop after N passes, with the current "
                             "solution)"),
        ("solve --lr 1", "No such option '--lr': --learning-rate is an option of vwlite train, vwlite cv"),
        ("train --output x", "No such option '--output': the model goes to -m FILE, predictions go to -p FILE"),
        ("train -o x", "No such option '-o': the model goes to -m FILE, predictions go to -p FILE"),
        ("solve -o x", "No such option '-o': use -m, -f, --model (write the model to this file)"),
        ("convert -o x", "No such option '-o': the result goes to standard output: add > FILE"),
        ("train --metric auc", "vwlite evaluate -m MODEL FILE shows all measures, and --fail-if checks one; train and "
                               "tune choose by the loss"),
        ("train --test-size 0.2", "No such option '--test-size': vwlite split FILE -o TRAIN -o TEST makes a test set"),
        ("split --test-size 0.2", "No such option '--test-size': use --test (the share of rows, or groups, in TEST)"),
        ("describe --encoding latin1", ": text is UTF-8: iconv -f LATIN1 -t UTF-8 FILE > NEW converts a file"),
        ("predict --config c.yml", "No such option '--config': options are typed: write the command into a script"),
        ("train --cv 5", ": vwlite cv FILE measures by cross-validation, and vwlite tune chooses options"),
        ("train --na-values -", "use --missing (words that mean a missing value, as an empty cell does)"),
        ("train --nrows 9", "No such option '--nrows': head -n N FILE | vwlite ... reads the first N lines"),
        ("serve --gpu", "No such option '--gpu': vwlite runs on the processor: leave it out"),
        ("train --test t", f"No such option '--test': {usage._JUDGED}"),
        ("train --valid t", f"No such option '--valid': {usage._JUDGED}"),
        ("train --seed 1", "No such option '--seed': training needs no seed: the same data and options give "
                           "the same model"),
        ("train --target y", "No such option '--target': use --label (the label's column, or key of JSON "
                             "lines)"),
        ("train --n-jobs 2", "No such option '--n-jobs': use --threads (number of threads)"),
        ("train --alpha 1", f"No such option '--alpha': {STRENGTH}; `vwlite help solve` converts those of others"),
        ("solve -C 1", f"No such option '-C': {STRENGTH}; `vwlite help solve` converts those of others"),
        ("train --penalty l1", f"No such option '--penalty': {STRENGTH}; `vwlite help solve` converts those of others"),
        ("train --ftrl", "No such option '--ftrl': use --algorithm ftrl"),
        ("train --bfgs", "No such option '--bfgs': it is an option of Vowpal Wabbit, which `vwlite vw` takes"),
        ("train --top 3", "No such option '--top': --top is an option of vwlite predict, vwlite evaluate, "
                        "vwlite explain, vwlite worst"),
        ("train --version", "No such option '--version': it is vwlite --version"),
        ("--l1 1", "No such option '--l1': --l1 is an option of vwlite train, vwlite cv, vwlite solve, vwlite "
                   "certify: the command comes first"),
        ("info -m d.vw", "No such option '-m': the model is named without an option, as in vwlite info MODEL"),
        ("check -d d.vw", "No such option '-d': files are named without an option, as in vwlite check FILE"),
        # values
        ("train --algorithm adagard", "'smidas'. Did you mean 'adagrad'?"),
        ("train --algorithm AdaGrad", "'smidas'. Did you mean 'adagrad'?"),
        ("train --algorithm l1", "Did you mean 'l1-subgradient' or 'l1-ball'?"),
        ("train --loss logstic", "Did you mean 'logistic'?"),
        ("train --loss mse", "Did you mean 'squared'?"),
        ("train --format svmlight", "Did you mean 'libsvm'?"),
        ("solve --solver newtn", "Did you mean 'newton'?"),
        ("export m --to py -o x", "Did you mean 'python'?"),
        ("merge a --rule meen -o x", "Did you mean 'mean'?"),
        ("algorithms adagard", "unknown algorithm 'adagard': `vwlite algorithms` lists all. Did you mean 'adagrad'?"),
        ("help modles", "Did you mean 'models'?"),
        ("solve --algorithm cd", "No such option '--algorithm': use --solver (the optimization method)"),
        ("-v", "No such option '-v': it is vwlite --version"),
        ("train -l 0,5", "'0,5' is not a number: did you mean 0.5?"),
        ("train -l 1,2,3", "'1,2,3' is not a number"),
        # what is missing
        ("train d.vw -q", "Option '-q' needs a value: cross namespaces that begin with A and with B"),
        ("predict d.vw -m", "Option '-m' needs a value: the model file"),
        ("predict d.vw", "Missing option '-m' / '-i' / '--model': the model file"),
        ("export m -o x", f"Missing option '--to': the format to write, one of {', '.join(EXPORTS)}"),
    ],
)
def test_what_was_meant_is_named(vwlite, typed, end):
    said = last(vwlite, typed)
    assert said == end if end.startswith(("No such", "Missing", "Option", "'-")) else said.endswith(end)


@pytest.mark.parametrize(
    "typed", ["train --grid", "train --rmse", "evaluate --trees", "predict --header",
              "train --loss rmse", "train --algorithm trees", "help xgboost"],
)
def test_what_is_unlike_all_names_is_no_misspelling(vwlite, typed):
    assert "Did you mean" not in last(vwlite, typed)


def test_edits_are_the_fewest():
    """By a search over all ways to a word, of which each is one edit."""

    def neighbours(word):
        for i in range(len(word) + 1):
            yield from (word[:i] + c + word[i:] for c in "ab")
            yield word[:i] + word[i + 1 :]
            yield from (word[:i] + c + word[i + 1 :] for c in "ab" if i < len(word))
            yield word[:i] + word[i : i + 2][::-1] + word[i + 2 :]

    near = {"aab": 0}
    for k in (1, 2):
        near |= {other: k for word in list(near) for other in neighbours(word) if other not in near}
    for word, k in near.items():
        # A character is not edited twice: where that would be shorter, this may count one more.
        assert k <= edits("aab", word) <= k + (k == 2), word


def test_a_topic_near_a_command_points_to_its_help(vwlite):
    assert "`vwlite train --help` is about that command" in last(vwlite, "help trian")


def test_a_rate_without_a_space_stays_a_rate(vwlite):
    assert "learning rate = 2," in vwlite("train", "d.vw", "-l2").err


def test_a_value_may_look_like_an_option(vwlite):
    vwlite("train", *GD, "d.vw", "-m", "m", "--names", "--quiet")
    assert vwlite("weights", "m", "--contains", "-top").out == ""


def test_predictions_may_be_called_the_output(vwlite, folder):
    vwlite("train", *GD, "d.vw", "-m", "m", "--quiet")
    for i, option in enumerate(("-p", "--predictions", "-o", "--output")):
        vwlite("predict", "-m", "m", "d.vw", option, i, "--quiet")
        assert (folder / str(i)).read_text() == (folder / "0").read_text() != ""


def test_the_tables_name_what_there_is():
    """No row for a word that means something here, and none that leads nowhere."""
    context = click.Context(program)
    options = {c: {n for p in program.get_command(context, c).params for n in p.opts} for c in COMMANDS}
    for ours, words in usage._OPTIONS.items():
        taken = [c for c in COMMANDS if set(ours.split()) & options[c]]
        assert taken, ours
        assert all(any(word not in options[c] for c in taken) for word in words.split()), ours
    for commands, words, _ in usage._INSTEAD:
        assert set(commands.split()) <= set(COMMANDS)
        assert not [w for c in commands.split() for w in words.split() if w in options[c]]
    assert set(usage._COMMANDS) <= set(COMMANDS)


def test_nothing_of_it_is_imported_without_an_error(folder):
    code = "import sys; from vwlite.cli import run; run(['train', 'd.vw', '--algorithm', 'gd', '--quiet']); " \
           "print({'difflib', 'vwlite.help.usage', 'vwlite.options.nearest'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_model_without_its_option_is_seen(vwlite):
    vwlite("train", *GD, "d.vw", "-m", "m", "--quiet")
    assert last(vwlite, "predict m d.vw") == "Missing option '-m' / '-i' / '--model': the model file; m is one: -m m"
