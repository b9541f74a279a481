"""The options of the commands: what was typed.

One function per group of options; `train_options` and `predict_options` put the groups together and
hand the command one dataclass. What the options mean is decided in `vwlite/options/resolve.py`.
"""

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import click

from vwlite.algorithms.table import ALGORITHMS, LINKS, LOSSES, MOST_CLASSES, UPDATES

_UNITS = {"s": 1, "m": 60, "h": 3600}


class Option(click.Option):
    """An option with a place in a group of the help, and spellings of Vowpal Wabbit that the help leaves out."""

    def __init__(
        self,
        decls: list[str],
        group: str = "Options",
        vw: tuple[str, ...] = (),
        show_default: bool | str = False,
        **attributes: Any,
    ) -> None:
        super().__init__([*decls, *vw], **attributes)
        self.group = group
        self._shown = [o for o in self.opts if o not in vw]
        if show_default and self.help:
            self.help += f"  [default: {attributes['default'] if show_default is True else show_default}]"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        everything, self.opts = self.opts, self._shown
        try:
            record = super().get_help_record(ctx)
        finally:
            self.opts = everything
        return record and (record[0], self.help or "")


class Command(click.Command):
    """A command whose help lists the options by group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                groups.setdefault(getattr(parameter, "group", "Options"), []).append(record)
        groups.setdefault("Options", groups.pop("Options", []))  # --help comes last
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records, col_max=30)


class Number(click.ParamType):
    """A finite number in a range; the ends belong to it unless they are open."""

    name = "number"

    def __init__(
        self, low: float = -math.inf, high: float = math.inf, *, open_low: bool = False, open_high: bool = False,
        infinite: bool = False,
    ) -> None:  # fmt: skip
        self.low, self.high, self.open_low, self.open_high, self.infinite = low, high, open_low, open_high, infinite

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "NUMBER"

    def read(self, value: Any) -> float:
        """ValueError if it is none; 1_000 is none, though Python takes it."""
        if "_" in str(value):
            raise ValueError
        return float(value)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            x = self.read(value)
        except ValueError:
            self.fail(f"{value!r} is not a {self.name}", param, ctx)
        below = x <= self.low if self.open_low else x < self.low
        above = x >= self.high if self.open_high else x > self.high
        if math.isnan(x) or below or above or (math.isinf(x) and not self.infinite):
            self.fail(f"{value} is out of range: it must be {self._range()}", param, ctx)
        return x

    def _range(self) -> str:
        parts = []
        if self.low > -math.inf:
            parts.append(f"{'above' if self.open_low else 'at least'} {self.low:g}")
        if self.high < math.inf:
            parts.append(f"{'below' if self.open_high else 'at most'} {self.high:g}")
        if not self.infinite and (self.low == -math.inf or self.high == math.inf):
            parts.append("finite")
        return " and ".join(parts)


class Whole(Number):
    """A whole number in a range; both ends belong to it."""

    name = "whole number"

    def __init__(self, low: int, high: float = math.inf) -> None:
        super().__init__(low, high, infinite=True)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "N"

    def read(self, value: Any) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", str(value)):
            raise ValueError
        return int(value)


class Labels(click.ParamType):
    """NEG,POS: the two labels that mean -1 and 1."""

    name = "labels"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        try:
            negative, positive = (float(x) for x in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is not two numbers with a comma between them, such as 0,1", param, ctx)
        if not (math.isfinite(negative) and math.isfinite(positive)) or negative == positive:
            self.fail(f"{value!r}: the two labels must be finite and differ", param, ctx)
        return negative, positive


class Classes(click.ParamType):
    """auto, or NAME,NAME,...: the names of classes."""

    name = "classes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        names = str(value).split(",")
        if value != "auto" and len(names) < 2:
            self.fail(f"{value!r} is neither auto nor two or more names with commas between them", param, ctx)
        for name in names:
            if not name or re.search(r"[\s|]", name):
                self.fail(f"{value!r}: {name!r} cannot be a label: a name is one word without |", param, ctx)
        if len(set(names)) < len(names):
            self.fail(f"{value!r}: a name stands there twice", param, ctx)
        return str(value)


class Interval(click.ParamType):
    """A number of examples, or a time such as 60s, 5m, 1h: (examples, None) or (None, seconds)."""

    name = "interval"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"(\d+)([smh]?)", value)
        if not match or int(match[1]) == 0:
            self.fail(f"{value!r} is neither a number of examples (1000000) nor a time (60s, 5m, 1h)", param, ctx)
        count = int(match[1])
        return (None, count * _UNITS[match[2]]) if match[2] else (count, None)


class Progress(click.ParamType):
    """How often to print: an integer (every so many) or a factor such as 2.0. (factor, step)."""

    name = "progress"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        if re.fullmatch(r"\d+", value) and int(value) > 0:
            return 0.0, float(value)
        try:
            factor = float(value)
        except ValueError:
            factor = math.nan
        if not 1 < factor < math.inf:
            self.fail(f"{value!r} is neither an integer above 0 nor a factor above 1 such as 2.0", param, ctx)
        return factor, None


class Letters(click.ParamType):
    """First letters of namespaces; `size` of them if it is given."""

    name = "letters"

    def __init__(self, size: int | None = None, least: int = 1, wildcards: bool = False) -> None:
        self.size, self.least, self.wildcards = size, least, wildcards

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        encoded = str(value).encode("utf-8", "surrogateescape")
        wanted = f"{self.size} letters" if self.size else f"at least {self.least} letter{'s' * (self.least > 1)}"
        if (self.size and len(encoded) != self.size) or not self.least <= len(encoded) <= 64:
            self.fail(f"{value!r}: expected {wanted}, the first of each namespace's name", param, ctx)
        if any((c <= 32 and c != 32) or c in b"|" for c in encoded) or (not self.wildcards and b":" in encoded):
            self.fail(f"{value!r}: a letter that no namespace can begin with", param, ctx)
        return encoded.decode("latin-1")


class FileName(click.Path):
    """The name of a file, not yet looked at."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail("the name of the file is empty", param, ctx)
        return super().convert(value, param, ctx)


_IN, _FEATURES, _LEARN, _CLASSES = "Input", "Features", "Learning", "Classes"
_PASSES, _OUT, _RUN = "Passes", "Output", "Run"
PATH = FileName()


def _option(*decls: str, **attributes: Any) -> Callable[[Any], Any]:
    return click.option(*decls, cls=Option, **attributes)


def _several(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Options as one decorator, in this order in the help."""

    def decorate(f: Any) -> Any:
        for option in reversed(options):
            f = option(f)
        return f

    return decorate


_data = click.argument("data", nargs=-1, type=PATH, metavar="[DATA]...")
_format = _option(
    "--format", group=_IN, type=click.Choice(["auto", "vw", "libsvm"]), default="auto", show_default=True,
    help="What the text is; auto looks at the first lines of each file.",
)  # fmt: skip
_labels = _option(
    "--labels", group=_IN, type=Labels(), metavar="NEG,POS",
    help="The labels in the data that mean -1 and 1, such as 0,1.",
)  # fmt: skip
_loss = _option(
    "--loss", group=_LEARN, vw=("--loss_function",), type=click.Choice(LOSSES), show_default="squared",
    help="What to minimise.",
)  # fmt: skip
_oaa = _option(
    "--oaa", group=_CLASSES, type=Whole(2, MOST_CLASSES), metavar="K",
    help="One against all: labels are K classes, 1 to K; each has weights of its own.",
)  # fmt: skip
_class_names = _option(
    "--classes", group=_CLASSES, type=Classes(), metavar="NAMES",
    help="The labels that are classes, such as red,green,blue; auto: those in the data, at most K of them.",
)  # fmt: skip
_input = _several(
    _option("-d", "--data", "data_options", group=_IN, multiple=True, type=PATH, metavar="FILE",
            help="The same as DATA."),
    _format,
    _option("--on-error", group=_IN, type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
            help="At a bad line: end, or go on without it."),
    _option("--max-errors", group=_IN, type=Whole(0), metavar="N",
            help="With --on-error skip: end when there are more bad lines than this.  [default: no limit]"),
    _option("--rejects", group=_IN, type=PATH, metavar="FILE",
            help="With --on-error skip: write the bad lines to this file."),
)  # fmt: skip
_features = _several(
    _labels,
    _option("-b", "--bits", "bits", group=_FEATURES, vw=("--bit_precision",), type=Whole(1, 32),
            metavar="BITS", show_default="32", help="How many bits of a feature's hash count."),
    _option("--hash", group=_FEATURES, type=click.Choice(["strings", "all"]), show_default="strings",
            help="Hash names only (a number is its own index), or numbers too."),
    _option("--no-constant", "no_constant", group=_FEATURES, vw=("--noconstant",), is_flag=True, default=None,
            help="Leave the constant feature out."),
    _option("-q", "--quadratic", "quadratic", group=_FEATURES, type=Letters(2, 2, wildcards=True), multiple=True,
            metavar="AB", help="Cross the namespaces whose names begin with A and B; `:` is any. May be repeated."),
    _option("--cubic", group=_FEATURES, type=Letters(3, 3, wildcards=True), multiple=True, metavar="ABC",
            help="Cross three namespaces."),
    _option("--interactions", group=_FEATURES, type=Letters(None, 2, wildcards=True), multiple=True, metavar="ABCD",
            help="Cross any number of namespaces."),
    _option("--keep", group=_FEATURES, type=Letters(), multiple=True, metavar="LETTERS",
            help="Use only namespaces that begin with one of these letters."),
    _option("--ignore", group=_FEATURES, type=Letters(), multiple=True, metavar="LETTERS",
            help="Leave out namespaces that begin with one of these letters."),
    _option("--ignore-linear", "ignore_linear", group=_FEATURES, vw=("--ignore_linear",), type=Letters(), multiple=True,
            metavar="LETTERS", help="As --ignore, but interactions still see them."),
)  # fmt: skip
_learning = _several(
    _option("--algorithm", group=_LEARN, type=click.Choice(list(ALGORITHMS)), metavar="NAME", show_default="gd",
            help=f"How to learn: {', '.join(ALGORITHMS)}; `vwlite algorithms` explains them."),
    _loss,
    _option("--quantile-tau", "quantile_tau", group=_LEARN, vw=("--quantile_tau",), show_default="0.5",
            type=Number(0, 1, open_low=True, open_high=True), help="Which quantile --loss quantile predicts."),
    _option("-l", "--learning-rate", "learning_rate", group=_LEARN, vw=("--learning_rate",),
            type=Number(0, open_low=True), show_default="0.5", help="The learning rate at the beginning."),
    _option("--power-t", "power_t", group=_LEARN, vw=("--power_t",), type=Number(0), show_default="0.5",
            help="The rate falls as (t + initial-t)^-power-t; for gd, each feature's own; for adagrad, only if given."),
    _option("--initial-t", "initial_t", group=_LEARN, vw=("--initial_t",), type=Number(0), show_default="0",
            help="Where t begins."),
    _option("--decay-learning-rate", "decay_learning_rate", group=_LEARN, vw=("--decay_learning_rate",),
            type=Number(0, open_low=True), show_default="1", help="Factor of the rate from one pass to the next."),
    _option("--l1", group=_LEARN, vw=("--gravity",), type=Number(0), show_default="0",
            help="Strength of l1 regularisation: how fast weights shrink to zero."),
    _option("--l2", group=_LEARN, type=Number(0), show_default="0", help="Strength of l2 regularisation."),
    _option("--period", group=_LEARN, type=Whole(1), metavar="K", show_default="1",
            help="truncated-gradient, rounding: shrink or round every K examples."),
    _option("--threshold", group=_LEARN, type=Number(0, open_low=True, infinite=True), show_default="inf",
            help="truncated-gradient: larger weights are not shrunk. rounding, which needs it: smaller "
                 "ones become zero."),
    _option("--radius", group=_LEARN, type=Number(1e-100, 1e100),
            help="l1-ball, adagrad-ball: the largest sum of |weights|; simplex, eg, eg-pm: their sum.  [required]"),
    _option("--delta", group=_LEARN, type=Number(0, open_low=True), show_default="1e-8",
            help="adagrad*: what is added to the root of the squared gradients."),
    _option("--update", group=_LEARN, type=click.Choice(UPDATES), show_default="cmd",
            help="adagrad-full: composite mirror descent, or regularized dual averaging."),
    _option("--root-every", "root_every", group=_LEARN, type=Whole(1), metavar="N", show_default="1",
            help="adagrad-full: make the root of the matrix anew every N gradients."),
    _option("--round-at-end", "round_at_end", group=_LEARN, type=Number(0), show_default="0",
            help="l1-subgradient: in the model, weights smaller than this are zero."),
    _option("--pa-c", "pa_c", group=_LEARN, type=Number(0, open_low=True), show_default="1",
            help="pa-i, pa-ii: how hard to learn from one example."),
    _option("--arow-r", "arow_r", group=_LEARN, type=Number(0, open_low=True), show_default="1",
            help="arow: the larger, the less to learn from one example."),
    _option("--ftrl-alpha", "ftrl_alpha", group=_LEARN, vw=("--ftrl_alpha",), type=Number(0, open_low=True),
            show_default="0.5", help="ftrl: the learning rate."),
    _option("--ftrl-beta", "ftrl_beta", group=_LEARN, vw=("--ftrl_beta",), type=Number(0, open_low=True),
            show_default="1", help="ftrl: the larger, the slower the first steps of a feature."),
    _option("--features", group=_LEARN, type=Whole(1, 1 << 32), metavar="N",
            help="simplex, eg, eg-pm, smidas: how many features there are, without the constant.  [default: 2^bits; "
                 "smidas: those seen so far]"),
    _option("--feature-weights", "feature_weights", group=_LEARN, type=PATH, metavar="FILE",
            help="l1-ball: how much each feature counts in the sum; lines of NAMESPACE^NAME WEIGHT.  [default: 1]"),
    _option("--box", group=_LEARN, type=Number(0, open_low=True),
            help="l1-ball: the largest |weight|.  [default: no limit]"),
    _option("--nonnegative", group=_LEARN, is_flag=True, default=None, help="l1-ball: no weight is below zero."),
    _option("--average", group=_LEARN, is_flag=True, default=None,
            help="sgd, truncated-gradient, l1-ball, adagrad: the model is the mean of all weights on the way; learning "
                 "goes on from the last ones."),
    _option("--nonzeros", group=_LEARN, type=Whole(1), metavar="N",
            help="truncated-gradient, l1-ball, adagrad, adagrad-rda, ftrl: a model of at most N nonzero weights; --l1 "
                 "or --radius is found while learning.  [default: no limit]"),
)  # fmt: skip
_classes = _several(
    _oaa,
    _class_names,
    _option("--softmax", group=_CLASSES, is_flag=True, default=None,
            help="One loss for all classes together, the multinomial logistic one.  [algorithm: l1-ball, a ball for "
                 "each class]"),
)  # fmt: skip
_passes = _several(
    _option("--passes", group=_PASSES, type=Whole(1), default=1, show_default=True, metavar="N",
            help="How often to go through the data."),
    _option("-c", "--cache", "cache", group=_PASSES, is_flag=True, default=False,
            help="Keep the parsed data beside the (first) file, as FILE.vwlite-cache, for this and later runs."),
    _option("--cache-file", "cache_file", group=_PASSES, vw=("--cache_file",), type=PATH, metavar="FILE",
            help="As --cache, in this file."),
    _option("-k", "--kill-cache", "kill_cache", group=_PASSES, vw=("--kill_cache",), is_flag=True, default=False,
            help="Build the cache anew."),
    _option("--holdout-period", "holdout_period", group=_PASSES, vw=("--holdout_period",), type=Whole(2),
            metavar="N", show_default="10", help="With several passes, every Nth line is only predicted."),
    _option("--holdout-off", "holdout_off", group=_PASSES, vw=("--holdout_off",), is_flag=True, default=False,
            help="Learn from every line in every pass."),
    _option("--early-terminate", "early_terminate", group=_PASSES, vw=("--early_terminate",), metavar="N",
            type=Whole(1), show_default="3",
            help="End after so many passes in a row without a better holdout loss."),
)  # fmt: skip


def _link(default: str) -> Callable[[Any], Any]:
    return _option(
        "--link", group=_OUT, type=click.Choice(list(LINKS)), show_default=default,
        help="What predictions go through when they are written; logistic gives probabilities.",
    )  # fmt: skip


_written = _several(
    _option("-r", "--raw-predictions", "raw_predictions", group=_OUT, vw=("--raw_predictions",), type=PATH,
            metavar="FILE", help="Write predictions to this file, neither clipped nor linked."),
    _option("--quiet", group=_OUT, is_flag=True, default=False, help="Print nothing but errors."),
    _option("--report", group=_OUT, type=PATH, metavar="FILE",
            help="Write options and results to this file, as JSON."),
    _option("--threads", group=_RUN, type=Whole(1, 64), default=2, show_default=True,
            help="One learns; the others read and parse ahead, or read the cache. Any number gives the same result."),
)  # fmt: skip
_train_output = _several(
    _option("-m", "-f", "--model", "model", group=_OUT, vw=("--final_regressor",), type=PATH, metavar="FILE",
            help="Write the model to this file."),
    _option("-i", "--initial", "initial", group=_OUT, vw=("--initial_regressor",), type=PATH, metavar="FILE",
            help="Continue from this model, with its options."),
    _option("--save-weights-only", "save_weights_only", group=_OUT, is_flag=True, default=False,
            help="A smaller model that predicts, but cannot be continued."),
    _option("--allow-empty", "allow_empty", group=_OUT, is_flag=True, default=False,
            help="Write the model even if no example was learned; else that is an error, and an old model stays."),
    _option("-p", "--predictions", "predictions", group=_OUT, type=PATH, metavar="FILE",
            help="Write the prediction of each example, made before learning from it; - is standard output."),
    _option("-P", "--progress", "progress", group=_OUT, type=Progress(), default="2.0", show_default=True,
            help="Print a row every so many examples (integer) or when there are so many times more (2.0)."),
    _link("identity"),
    _option("--checkpoint-every", "checkpoint_every", group=_RUN, type=Interval(),
            help="Save the model on the way: every 1000000 examples, or every 60s."),
)  # fmt: skip
_predict_output = _several(
    _option("-m", "-i", "--model", "model", group=_IN, vw=("--initial_regressor",), type=PATH, required=True,
            metavar="FILE", help="The model."),
    _option("--probabilities", group=_OUT, is_flag=True, default=False,
            help="Write the probabilities of all classes, as CLASS:PROBABILITY ..."),
    _option("-p", "--predictions", "predictions", group=_OUT, type=PATH, metavar="FILE", default="-", show_default="-",
            help="Write the predictions to this file; - is standard output."),
    _link("the model's"),
    _option("--loss", group=_OUT, vw=("--loss_function",), type=click.Choice(LOSSES),
            help="The loss of a model of Vowpal Wabbit, which does not know it, for the summary."),
    _option("--quantile-tau", "quantile_tau", group=_OUT, vw=("--quantile_tau",),
            type=Number(0, 1, open_low=True, open_high=True), help="The same for --loss quantile."),
)  # fmt: skip


@dataclass(frozen=True)
class InputOptions:
    """What every command that reads data takes."""

    data: tuple[str, ...] = ()
    format: str = "auto"
    on_error: str = "stop"
    max_errors: int | None = None
    rejects: str | None = None
    predictions: str | None = None
    raw_predictions: str | None = None
    link: str | None = None
    quiet: bool = False
    report: str | None = None
    threads: int = 2
    model: str | None = None


@dataclass(frozen=True)
class PredictOptions(InputOptions):
    """The options of `vwlite predict`, as typed."""

    probabilities: bool = False
    loss: str | None = None
    quantile_tau: float | None = None


@dataclass(frozen=True)
class TrainOptions(InputOptions):
    """The options of `vwlite train`, as typed. None or (): not typed; a default or the model decides."""

    labels: tuple[float, float] | None = None
    bits: int | None = None
    hash: str | None = None
    no_constant: bool | None = None
    quadratic: tuple[str, ...] = ()
    cubic: tuple[str, ...] = ()
    interactions: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    ignore_linear: tuple[str, ...] = ()
    algorithm: str | None = None
    loss: str | None = None
    quantile_tau: float | None = None
    learning_rate: float | None = None
    power_t: float | None = None
    initial_t: float | None = None
    decay_learning_rate: float | None = None
    l1: float | None = None
    l2: float | None = None
    period: int | None = None
    threshold: float | None = None
    radius: float | None = None
    delta: float | None = None
    update: str | None = None
    root_every: int | None = None
    round_at_end: float | None = None
    pa_c: float | None = None
    arow_r: float | None = None
    ftrl_alpha: float | None = None
    ftrl_beta: float | None = None
    features: int | None = None
    feature_weights: str | None = None
    box: float | None = None
    nonnegative: bool | None = None
    average: bool | None = None
    nonzeros: int | None = None
    oaa: int | None = None
    classes: str | None = None
    softmax: bool | None = None
    passes: int = 1
    cache: bool = False
    cache_file: str | None = None
    kill_cache: bool = False
    holdout_period: int | None = None
    holdout_off: bool = False
    early_terminate: int | None = None
    initial: str | None = None
    save_weights_only: bool = False
    allow_empty: bool = False
    progress: tuple[float, float | None] = (2.0, None)
    checkpoint_every: tuple[int | None, int | None] | None = None


def _collect(kind: type[Any], f: Callable[[Any], int]) -> Callable[..., int]:
    """Hand the command's keyword arguments to `f` as one object."""

    @functools.wraps(f)
    def command(**typed: Any) -> int:
        typed["data"] = (*typed.pop("data"), *typed.pop("data_options"))
        return f(kind(**{field.name: typed[field.name] for field in fields(kind)}))

    return command


def train_options(f: Callable[[TrainOptions], int]) -> Callable[..., int]:
    groups = _several(_data, _input, _features, _learning, _classes, _passes, _train_output, _written)
    decorated: Callable[..., int] = groups(_collect(TrainOptions, f))
    return decorated


def check_options(f: Callable[..., int]) -> Callable[..., int]:
    """What decides which labels are valid. The function gets `files` and a TrainOptions for the rest."""

    @functools.wraps(f)
    def command(files: tuple[str, ...], **typed: Any) -> int:
        return f(files, TrainOptions(on_error="skip", **typed))

    decorated: Callable[..., int] = _several(_format, _labels, _loss, _oaa, _class_names)(command)
    return decorated


def predict_options(f: Callable[[PredictOptions], int]) -> Callable[..., int]:
    decorated: Callable[..., int] = _several(_data, _predict_output, _input, _written)(_collect(PredictOptions, f))
    return decorated
