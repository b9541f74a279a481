"""`vwlite tune`: options and help."""

import math
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any

import click

from vwlite.algorithms.losses import LOSS_OPTIONS
from vwlite.algorithms.settings import SPECS, Settings
from vwlite.algorithms.table import AUTO
from vwlite.errors import UsageError
from vwlite.options.declaring import OWN, command
from vwlite.options.spec import CLASSES, FEATURES, IN, LEARN, OUT, TABLES, Spec, option, option_of, specs_of
from vwlite.options.types import PATH, Number, Whole
from vwlite.records import record
from vwlite.runs.options import DATA, READING, CacheOptions, InputOptions, TrainOptions

if TYPE_CHECKING:
    from vwlite.training.auto.space import Dimension

TUNE = "Tune"
_CHOOSING = "of the learned examples or their labels, and settings are compared on the same ones: use it as an option"
_SHAPING = dict.fromkeys(("hash", "loss", *LOSS_OPTIONS, "feature_weights", "label_transform"), _CHOOSING)
TRIED = {
    spec.name: spec for spec in (*specs_of(Settings, FEATURES, LEARN), *specs_of(TrainOptions, "passes"))
    if spec.type is not None and spec.name not in _SHAPING and not spec.multiple
}


class TryType(click.ParamType):
    """NAME=VALUE,VALUE,... or NAME=LOW..HIGH:log or :lin."""

    name = "try"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "tuple[str, Dimension]":
        from vwlite.training.auto.space import Range, Value, Values

        name, is_said, text = str(value).partition("=")
        spec = TRIED.get(name.lstrip("-").replace("-", "_"))
        if not is_said or not text:
            forms = "NAME=VALUE,VALUE nor NAME=LOW..HIGH:log, such as l1=1e-6..1e-2:log"
            self.fail(f"{value!r} is neither {forms}", param, ctx)
        if spec is None:
            known = ", ".join(s.long[2:] for s in TRIED.values())
            self.fail(f"{name!r} is no option that can be tried, which are {known}", param, ctx)
        if ".." not in text:
            words = dict.fromkeys(text.split(","))
            return spec.name, Values(tuple(Value(x, self._converted(spec, x, value, param, ctx)) for x in words))
        ends, _, way = text.partition(":")
        low, _, high = ends.partition("..")
        if way not in ("log", "lin") or not isinstance(spec.type, Number) or spec.name == "passes":
            why = "is not a range of numbers" if way in ("log", "lin") else "needs :log or :lin behind the range"
            self.fail(f"{value!r} {why}", param, ctx)
        a, b = (float(self._converted(spec, word, value, param, ctx)) for word in (low, high))
        if not a < b < math.inf or (way == "log" and a <= 0):
            more = " and be above 0 with :log" if way == "log" else ""
            self.fail(f"{value!r}: the first number must be the smaller one{more}", param, ctx)
        return spec.name, Range(a, b, way == "log", isinstance(spec.type, Whole))

    def _converted(self, spec: Spec, word: str, value: Any, param: Any, ctx: Any) -> Any:
        assert spec.type is not None
        try:
            return spec.type.convert(word, None, ctx)
        except click.BadParameter as e:
            self.fail(f"{value!r}: {e.message}", param, ctx)


# Options of `vwlite train`, which the commands that it prints have too.
OF_TRAIN = (
    *specs_of(InputOptions, *READING), *specs_of(Settings, IN), *specs_of(InputOptions, TABLES),
    *(spec for spec in specs_of(Settings, FEATURES, CLASSES) if spec.name not in ("normalize", "softmax")),
    replace(SPECS["loss"], shown="by the labels", help="The loss function to minimize. One of "
            f"{', '.join(AUTO.losses)}. By default logistic if labels are two words, 0 and 1, or -1 and 1."),
    *map(SPECS.__getitem__, LOSS_OPTIONS), *specs_of(CacheOptions),
)


@command(
    "tune", "vwlite.tuning.tune:tune",
    DATA, *specs_of(InputOptions, "data"), *OF_TRAIN, OWN,
    *specs_of(InputOptions, "quiet", "report_version", "threads"), remembers=True,
    usual=("--model", "--try", "--seconds", "--jobs", "--validate", "--group", "--label", "--loss", "--quadratic",
           "--json", "--quiet"),
    examples=("vwlite tune day1.vw -m best.model",
              "vwlite tune day1.vw --try l1=1e-6..1e-2:log --seconds 60"),
)
@record(frozen=True)
class TuneOptions(CacheOptions):
    """Find the best options for DATA, and smaller models that are nearly as good.

    Prints the front of loss and nonzero weights, each model with the command that trains it. Losses are out of fold, or
    those of --validate. Algorithms, rates, strengths, normalizations and numbers of passes are tried, many of them on a
    part of DATA, and the best on all of it; auto is one of them. DATA are files, as they are read several times.
    """

    def _check_tries(self) -> None:
        from vwlite.training.auto.space import PRIMES

        names = [name for name, _ in self.tries]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"--try {name.replace('_', '-')} is given twice: name all values in one")
        if len(names) > len(PRIMES) - 4:
            raise UsageError(f"--try narrows at most {len(PRIMES) - 4} options")

    validate: str | None = option_of(TrainOptions, "validate")
    group: str | None = option_of(
        TrainOptions, "group", excludes={"--tag": "the group is the tag", "--validate": "there are no folds"},
        help="Column of groups, such as customers. All rows of a group are in one fold: losses are those of new "
             "groups. It is not learned.",
    )
    tries: "tuple[tuple[str, Dimension], ...]" = option(
        (), "--try", "tries", group=TUNE, type=TryType(), metavar="NAME=VALUES", multiple=True, check=_check_tries,
        help="Try only these values of an option of train. VALUES are as in l1=0,1e-6,1e-5 or l1=1e-6..1e-2:log (or "
             ":lin); algorithm=NAME,NAME and normalize=, passes= too. May be repeated.",
    )
    jobs: int | None = option(
        None, "-j", "--jobs", group=TUNE, type=Whole(1, 1024), metavar="N", shown="processors",
        help="Settings that are tried at the same time. The result does not depend on it.",
    )
    limit: float | None = option(
        None, "--seconds", "limit", group=TUNE, type=Number(0, open_low=True), metavar="S", shown="no limit",
        help="Try settings for so long. auto is always tried to its end, and the model is trained afterwards.",
    )
    model: str | None = option(
        None, "-m", "--model", group=OUT, type=PATH, metavar="FILE", writes=True,
        help="Train the best model and write it to this file. FILE.tune is there until then: after a kill, the "
             "same command continues.",
    )
    json: bool = option(False, "--json", group=OUT, help="Print JSON instead of the table.")
    raw: dict[str, Any] = field(default_factory=dict)  # what was typed, as text

    @property
    def words(self) -> list[str]:
        """The options of `vwlite train` among those typed, as they were."""
        of_train, found = {spec.name: spec for spec in OF_TRAIN}, list[str]()
        for spec, value in ((of_train[name], value) for name, value in self.raw.items() if name in of_train):
            for word in value if spec.multiple else [value]:
                found += [spec.long] if spec.type is None else [spec.long, word]
        return found

    @property
    def of_train(self) -> TrainOptions:
        """Those that `vwlite train` has too, for a run that writes no model and prints nothing."""
        own = {f.name for f in fields(TrainOptions)} & {f.name for f in fields(self)} - {"model", "quiet"}
        shared = {name: getattr(self, name) for name in own}
        return TrainOptions(**shared | {"given": self.given & own, "quiet": True})
