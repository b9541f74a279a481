"""`vwlite train --continue`, and the checks that a model must pass before it is written."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vwlite.core.learn.learner import Learner
from vwlite.errors import BusyError, CheckError, DataError, UsageError
from vwlite.evaluation.conditions import check_names, failures
from vwlite.evaluation.drift import Number, differs, share, watched
from vwlite.input.diagnostics import printable
from vwlite.input.reader import display_name
from vwlite.model.header import MOST_INPUTS
from vwlite.options.resolve import option_name
from vwlite.options.run_options import TrainOptions
from vwlite.options.settings import Settings
from vwlite.runs.common import BASELINE
from vwlite.runs.progress import format_number

if TYPE_CHECKING:
    from vwlite.model import Model

PIECE = 1 << 20


def _hash(data: Any = b"") -> Any:
    return hashlib.blake2b(data, digest_size=16)


NEW = "share of new features"
NOTHING = _hash().hexdigest()


def _version(path: str) -> tuple[int, ...]:
    """What tells a file from one that takes its place; nothing if there is none."""
    try:
        info = os.stat(path)
    except OSError:
        return ()
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns


class Continuing:
    """The model of --continue, and the digests of the input: of each file or pipe, its bytes as they are stored."""

    def __init__(self, o: TrainOptions) -> None:
        assert o.continued is not None
        for name in ("model", "initial", "checkpoint_every", "save_weights_only"):
            if name in o.given:
                raise UsageError(f"--continue and {option_name(name)} cannot be used together: it reads and writes "
                                 "one model, which is replaced when the whole input is learned")  # fmt: skip
        self.path, self._again, self._data = o.continued, o.again, o.data or ("-",)
        self._version = _version(self.path)
        self._before: Sequence[str] = ()
        self._found: dict[str, Any] = {}  # by the name of a file or pipe
        self._files: set[str] = set()
        self._numbers_before: dict[str, list[float]] = {}
        self._features: int | None = None  # of the model before

    def options(self, o: TrainOptions) -> TrainOptions:
        """Those of a run that does the same by --initial and --model."""
        return replace(o, continued=None, again=False, model=self.path, initial=self.path if self._version else None)

    def begin(self, model: "Model | None", stop: Callable[[], bool]) -> None:
        """Take the digests of files. DataError if the last run of the model has learned one of them."""
        if model is not None:
            self._before = () if self._again else model.continued.get("inputs", ())
            self._numbers_before = model.continued.get("numbers", {})
            self._features = len(model.keys)
        for path in self._data:
            if path != "-" and os.path.isfile(path) and path not in self._found:
                self._found[path] = digest = _hash()
                self._files.add(path)
                with open(path, "rb") as file:
                    while not stop() and (data := file.read(PIECE)):
                        digest.update(data)
        self.check()

    def take(self, name: str, data: Any) -> None:
        """Add to the digest of a pipe what was read of it."""
        if name not in self._files:
            self._found.setdefault(name, _hash()).update(data)

    def check(self) -> None:
        """DataError if the last run of the model has learned a part of the input."""
        for name, digest in self._found.items():
            if digest.hexdigest() in self._before and digest.hexdigest() != NOTHING:
                raise DataError(f"{display_name(name)}: the last run of {self.path} has learned this input: name the "
                                "next one, or add --again to learn it twice")  # fmt: skip

    def check_unchanged(self) -> None:
        """BusyError if another job has written the model since this one began. The model is locked."""
        if _version(self.path) != self._version:
            raise BusyError(f"{self.path}: another job has written it since this one began: start this one again")

    def numbers(self, learner: Learner, passes: int) -> dict[str, Number]:
        """What is watched of the input."""
        found = watched(learner)
        if self._features is None or not learner.features:
            return found
        new = passes * max(len(learner.rule) - self._features, 0)
        return found | {NEW: share(new, learner.features, learner.examples / passes)}

    def notes(self, numbers: dict[str, Number]) -> list[str]:
        """What differs from the last run, as sentences. New features become fewer: only more are worth one."""
        pairs = {name: (Number(*x), numbers[name]) for name, x in self._numbers_before.items() if name in numbers}
        return [f"{printable(name)}: {b.value:.4g}, in the last run {a.value:.4g}: vwlite drift shows the columns"
                for name, (a, b) in pairs.items() if differs(a, b) and (name != NEW or b.value > a.value)]  # fmt: skip

    def stored(self, numbers: dict[str, Number]) -> dict[str, Any]:
        """For the header of the model."""
        inputs = [digest.hexdigest() for digest in self._found.values()]
        return {"inputs": [x for x in inputs if x != NOTHING][:MOST_INPUTS], "numbers": dict(numbers)}


class Checks:
    """--fail-if and --min-examples. UsageError for a measure that there is not."""

    def __init__(self, o: TrainOptions, settings: Settings, chooses_loss: bool) -> None:
        self._conditions, self._least = o.fail_if, o.min_examples
        self._classes = settings.oaa is not None
        losses = ("logistic", "squared", "poisson") if chooses_loss else (settings.loss,)
        own = ("log_loss",) if self._classes else tuple(map(_of_loss, losses))
        names = ["average_loss", *own, "accuracy", *(() if self._classes else ("auc",))]
        names += ["r2"] * ("squared" in losses and not self._classes)
        check_names(self._conditions, names, "; vwlite evaluate --fail-if has more, on other data")

    def failed(self, settings: Settings, measures: dict[str, Any], examples: int, end: str) -> CheckError | None:
        """What to raise, if there is something. measures: as of `Run.measures`; examples: that were learned; end: of
        the sentence."""
        loss, constant = measures.get("average loss"), measures.get("average loss" + BASELINE)
        values = {"average_loss": loss, "accuracy": measures.get("accuracy"), "auc": measures.get("auc")}
        values |= {"log_loss": measures.get("log loss")} if self._classes else {_of_loss(settings.loss): loss}
        if settings.loss == "squared" and constant and loss is not None:
            values["r2"] = 1 - loss / constant
        found = failures(self._conditions, values)
        if self._least is not None and examples < self._least:
            found.append(f"--min-examples {self._least}: it is {format_number(examples)}")
        return CheckError("; ".join(found) + end) if found else None


def _of_loss(loss: str) -> str:
    """The name of an average loss, as vwlite evaluate has it."""
    return {"logistic": "log_loss", "squared": "mse"}.get(loss, f"{loss.replace('-', '_')}_loss")
