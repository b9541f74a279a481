"""Errors of the command line, with the option that was probably meant. Imported only after an error."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

import click

from vwlite.options.command import UnknownCommand, brief
from vwlite.options.nearest import did_you_mean
from vwlite.program import COMMANDS, command_of

# Words of other programs for a command of ours.
_COMMANDS = {
    "train": "fit learn run",
    "predict": "test score apply infer inference eval evaluate",
    "info": "show inspect describe print header",
    "weights": "coef coefficients",
    "check": "validate verify lint",
    "convert": "cat transform",
    "solve": "optimize optimise minimize liblinear",
    "algorithms": "solvers losses",
}

# Words of other programs for options of ours: the first of ours that the command has is meant.
_OPTIONS = {
    "--learning-rate": "--lr --eta --eta0 --rate --step-size --alpha0 --learning-rate-init",
    "--passes --max-passes": "--epochs --epoch --num-epochs --n-epochs --iterations --iters --n-iter --num-iterations "
                             "--max-iter --max-iterations --max-epochs",
    "--predictions --output": "-o --out --output --output-file --pred --preds --prediction --results",
    "--model --output": "-o --out --output --output-file --output-model --model-file --model-path --save --save-model",
    "--initial --model": "--load -i --load-model --resume --warm-start --init --init-model --input-model",
    "--label": "-y --target --target-column --label-column --label-col --response --outcome",
    "--drop": "--exclude --drop-columns --ignore-columns --ignore-column",
    "--tag": "--id --id-column --row-id",
    "--importance": "--weight --weights --weight-column --sample-weight --sample-weights",
    "--categorical": "--cat --cats --cat-features --categorical-columns --categorical-features",
    "--numeric": "--num --numerical --numeric-columns --numerical-columns",
    "--text": "--text-column --text-columns",
    "--solver": "--algorithm",
    "--algorithm": "--solver",
    "--delimiter": "--sep --separator --csv-separator",
    "--data": "--input --input-file --train --train-file --train-data --training-data --file --files",
    "--threads": "-j --jobs --n-jobs --nthreads --n-threads --num-threads --workers --num-workers",
    "--tolerance": "-e --tol --eps --epsilon --gap",
    "--loss": "--objective --criterion --loss-fn",
    "--solver --algorithm": "--optimizer --optimiser --method --learner --opt",
    "--l1": "--lasso --lambda1 --reg-alpha --l1-penalty --l1-reg --l1-regularization",
    "--l2": "--ridge --lambda2 --reg-lambda --l2-penalty --l2-reg --l2-regularization --weight-decay --wd",
    "--oaa": "-k --num-classes --n-classes --num-class --nclasses --multiclass",
    "--quadratic": "--cross --crosses --interaction",
    "--normalize": "--norm --normalise --normalization",
    "--bits": "--hash-bits --num-bits --n-bits",
    "--quiet": "--silent",
    "--progress": "-v --verbose --verbosity --log-every",
    "--early-terminate": "--early-stop --early-stopping --patience",
    "--no-constant": "--no-intercept --no-bias",
    "--format": "--input-format --file-format --data-format --type",
    "--max-seconds": "--time-limit --timeout",
    "--top": "-n --head --limit",
    "--to": "--kind --output-format",
    "--seed": "--random-seed --random-state",
    "--test": "--test-size --test-ratio --test-fraction",
    "--missing": "--na --na-values --null-values --nan",
    "--quote": "--quotechar --quote-char",
    "--time-format": "--date-format --datetime-format --timestamp-format --parse-dates --dayfirst",
    "--group": "--groups --group-column",
    "--class-weight": "--class-weights --scale-pos-weight --is-unbalance --balanced",
    "--names": "--feature-names",
    "--validate": "--val --validation-file",
}

_STRENGTH = "the regularization strength is --l1 NUMBER or --l2 NUMBER; `vwlite help solve` converts those of others"
_JUDGED = (
    "to score other data: vwlite predict -m MODEL FILE; --validate FILE chooses the model by it; --holdout-to FILE "
    "writes lines that are not learned"
)

# Where no single option means the same: for these commands, "" is all, these words, this sentence.
_INSTEAD = (
    ("train", "-o --out --output --output-file", "the model goes to -m FILE, predictions go to -p FILE"),
    ("info weights convert algorithms help", "-o --out --output --output-file",
     "the result goes to standard output: add > FILE"),
    ("train solve certify", "-C --C --cost --alpha --lambda --reg --regularization --penalty", _STRENGTH),
    ("train", "--test --test-file --test-data --eval --eval-file --valid --validation --validation-data "
     "--holdout", _JUDGED),
    ("train", "--seed --random-seed --random-state", "training needs no seed: the same data and options give the same "
     "model"),
    ("train", "--shuffle", "--algorithm auto reads files in random order; for others: shuf FILE | vwlite train ..."),
    ("train", "--batch-size --minibatch --batch", "each example is an update of its own"),
    ("train solve", "--cv --folds --n-folds --cross-validation", "vwlite cv FILE measures by cross-validation, and "
     "vwlite tune chooses options"),
    ("train", "--test-size --train-size --test-ratio --test-fraction --split", "vwlite split FILE -o TRAIN -o TEST "
     "makes a test set"),
    ("", "--metric --metrics --scoring --eval-metric", "vwlite evaluate -m MODEL FILE shows all measures, and "
     "--fail-if checks one; train and tune choose by the loss"),
    ("", "--encoding --charset", "text is UTF-8: iconv -f LATIN1 -t UTF-8 FILE > NEW converts a file"),
    ("", "--config --config-file --params --param-file --options", "options are typed: write the command into a "
     "script"),
    ("", "--skip-rows --skiprows --skip-lines", "tail -n +N FILE | vwlite ... leaves out the lines before line N"),
    ("", "--nrows --n-rows --max-rows", "head -n N FILE | vwlite ... reads the first N lines"),
    ("", "--dtype --dtypes --schema --column-types", "--numeric, --categorical, --text and --time name columns"),
    ("", "--gpu --cuda --device", "vwlite runs on the processor: leave it out"),
    ("", "--force --overwrite --yes", "a file is replaced when the run succeeds: leave it out"),
    ("", "--dry-run", "vwlite check FILE reads all lines and learns nothing"),
    ("", "--debug --log-level --traceback", "VWLITE_DEBUG=1 in the environment shows where an error was raised"),
    ("", "--feature-importance --feature-importances --importances --shap", "vwlite report shows what matters, vwlite "
     "explain why a row has its prediction"),
    ("predict", "-t --testonly --test-only", "predict never learns: leave it out"),
    ("train", "-t --testonly --test-only", "to predict without learning: vwlite predict -m MODEL FILE"),
    ("predict", "--proba --prob --probs --probability --predict-proba", "--link logistic writes probabilities; with "
     "classes, --probabilities does"),
)

def _unknown_command(word: str, commands: Sequence[str], path: str) -> str:
    from vwlite.help.commands import topics

    said = f"No such command {word!r}."
    same = [name for name, words in _COMMANDS.items() if name in commands and word.lower() in words.split()]
    if same:
        return f"{said} Did you mean {same[0]!r}?"
    if os.path.exists(word):
        return f"{said} It is a file: a command comes first, such as {path} {commands[0]} {word}"
    if path == "vwlite" and word in topics():
        return f"{said} `vwlite help {word}` prints that topic."
    return said + did_you_mean(word, commands)


def shown(e: click.ClickException, arguments: Sequence[str]) -> list[str]:
    """The lines in which an error of click is printed: the usage, and what is wrong."""
    if not isinstance(e, click.UsageError):
        return [f"Error: {e.format_message()}"]
    lines = []
    if e.ctx is not None:
        lines = [e.ctx.get_usage(), f"Try '{e.ctx.command_path} --help' for help.", ""]
    return [*lines, f"Error: {explained(e, arguments)}"]


def explained(e: click.UsageError, arguments: Sequence[str]) -> str:
    """The sentence about an error of the command line. arguments: all that was typed."""
    command, path = (e.ctx.command, e.ctx.command_path) if e.ctx else (None, "")
    if isinstance(e, UnknownCommand):
        return _unknown_command(e.word, e.commands, path)
    if isinstance(e, click.NoSuchOption) and command is not None:
        typed = e.option_name
        if len(typed) == 2:
            typed = _with_one_hyphen(arguments, typed) or typed
        return f"No such option {typed!r}{_about_option(typed, command, path)}"
    if isinstance(e, click.MissingParameter) and isinstance(e.param, click.Option):
        names = " / ".join(repr(name) for name in _shown(e.param))
        choices = f", one of {', '.join(e.param.type.choices)}" if isinstance(e.param.type, click.Choice) else ""
        model = _a_model(arguments) if e.param.name in ("model", "initial") else ""
        typed = f"; {model} is one: {_shown(e.param)[0]} {model}" if model else ""
        return f"Missing option {names}: {_brief(e.param)}{choices}{typed}"
    if isinstance(e, click.BadOptionUsage) and arguments and arguments[0] in COMMANDS and "requires" in e.message:
        command = command_of(arguments[0])
        briefs = (_brief(o) for o in command.params if isinstance(o, click.Option) and e.option_name in o.opts)
        return f"Option {e.option_name!r} needs a value{''.join(f': {brief}' for brief in briefs)}"
    said = e.format_message()
    if isinstance(e, click.BadParameter) and isinstance(e.param, click.Option) and command is not None:
        for name in e.param.opts:
            if len(name) == 2 and (typed := _with_one_hyphen(arguments, name)):
                said += f" ({typed!r} is read as {name} {typed[2:]!r}{_about_option(typed, command, path)})"
    return said


def _with_one_hyphen(arguments: Sequence[str], letter: str) -> str:
    """A word that was typed as -word, which is read as the option -w with a value; "" without one."""
    known = {word for row in (*_OPTIONS.values(), *(row[1] for row in _INSTEAD)) for word in row.split()}
    known.update(*(options for _, options in _options_of_commands()))
    names = (argument.partition("=")[0] for argument in arguments)
    return next((name for name in names if name[:2] == letter and f"-{name}" in known), "")


def _about_option(typed: str, command: click.Command, path: str) -> str:
    """What to do about an option that a command does not have, as the end of a sentence."""
    own = {name: o for o in command.params if isinstance(o, click.Option) for name in o.opts}
    word = typed if typed.startswith("--") or len(typed) == 2 else "-" + typed
    alike = word.lower() if len(word) > 2 else word
    for name in (word, alike.replace("_", "-"), alike.replace("-", "_").replace("__", "--", 1)):
        if name in own:
            return f": use {name}"
    name = alike.replace("_", "-")
    for commands, words, sentence in _INSTEAD:
        if (not commands or path.split()[-1] in commands.split()) and name in words.split():
            return f": {sentence}"
    same = [option for ours, words in _OPTIONS.items() if name in words.split() for option in ours.split()]
    for option in same:
        if option in own:
            return f": use {', '.join(_shown(own[option]))} ({_brief(own[option])})"
    for o in own.values():
        if isinstance(o.type, click.Choice) and name[2:] in o.type.choices:
            return f": use {_shown(o)[-1]} {name[2:]}"
    arguments = {p.name for p in command.params if isinstance(p, click.Argument)}
    if name in ("-m", "-i", "-f", "--model", "--initial") and "model" in arguments:
        return f": the model is named without an option, as in {path} MODEL"
    if name in ("-d", "--data", "--input", "--file") and "data" in arguments:
        return f": files are named without an option, as in {path} FILE"
    if name in ("-V", "--version") or (name == "-v" and path == "vwlite"):
        return ": it is vwlite --version"
    for option in same or ([name] if len(name) > 2 else []):
        if others := [f"vwlite {other}" for other, options in _options_of_commands() if option in options]:
            first = "" if path not in ("vwlite", "vwlite dask") else ": the command comes first"
            return f": {option} is an option of {', '.join(others[:4])}{first}"
    if _is_of_vw(name):
        return ": it is an option of Vowpal Wabbit, which `vwlite vw` takes"
    return "." + did_you_mean(name, [name for o in own.values() for name in _shown(o) if len(name) > 2])


def _shown(option: click.Option) -> list[str]:
    """An option as the help has it."""
    return getattr(option, "shown", option.opts)


def _brief(option: click.Option) -> str:
    """What an option means: the first sentence of its help, or a part of it."""
    text = brief(option.help).partition("; ")[0].partition(": ")[0]
    return text[:1].lower() + text[1:]


def _a_model(arguments: Sequence[str]) -> str:
    """The first argument that is the name of a model."""
    from vwlite.input.sources import is_model

    for argument in filter(os.path.isfile, arguments[1:]):
        with suppress(OSError), open(argument, "rb") as file:
            if is_model(file.read(512)):
                return argument
    return ""


def _options_of_commands() -> Iterator[tuple[str, set[str]]]:
    """The commands, with the options that each has."""
    for name in COMMANDS:
        command = command_of(name)
        yield name, {name for o in command.params if isinstance(o, click.Option) for name in o.opts}


def _is_of_vw(name: str) -> bool:
    from vwlite.vw.arguments import OPTIONS

    found = OPTIONS.get(name[2:].replace("-", "_"))
    return found is not None and bool(found.help)
