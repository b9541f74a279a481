"""`vwlite train --continue`, and the checks that a model must pass before it is written."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from math import hypot, inf
from typing import TYPE_CHECKING, Any

from vwlite.algorithms.settings import Settings
from vwlite.core.learn.learner import Learner
from vwlite.digest import blake2b
from vwlite.errors import CheckError, DataError, UsageError
from vwlite.input.reader import check_file
from vwlite.input.sources import display_name
from vwlite.model.absent import unlearned
from vwlite.model.header import MOST_INPUTS
from vwlite.options.spec import option_name
from vwlite.options.types import Condition
from vwlite.output.results import Result
from vwlite.output.text import printable
from vwlite.runs.conditions import check_names, failures
from vwlite.runs.frame import RunFrame
from vwlite.runs.run import say
from vwlite.runs.watched import Number, Watched, differs, share, watched

if TYPE_CHECKING:
    from vwlite.model import Model

PIECE = 1 << 20
NEW, LOSS = Watched("share_of_new_features"), Watched("loss")
NOTHING = blake2b(digest_size=16).digest()


class Continuing:
    """The model of --continue, and the digests of the input: of each file or pipe, its bytes as they are stored."""

    def __init__(self, path: str, data: Sequence[str], given: Collection[str], *, again: bool) -> None:
        """given: the options that were typed. again: the input of the last run may be learned again."""
        for name in ("model", "initial", "checkpoint_every", "save_weights_only"):
            if name in given:
                raise UsageError(f"--continue and {option_name(name)} cannot be used together: it reads and writes "
                                 "one model, which is replaced when the whole input is learned")
        self.path, self._again, self._data = path, again, data
        self._before: dict[str, Any] = {}  # what the model has of the last run
        self._features: int | None = None  # of that model
        self._found: dict[str, Any] = {}  # digests, by the name of a file or pipe
        self._files: Sequence[str] = ()
        self._numbers: dict[Watched, Number] = {}

    def lock(self, frame: RunFrame, *, quiet: bool) -> str | None:
        """Lock the model before it is read, so that no other job writes it; its file, if it is there."""
        check_file(self.path)
        self.file = frame.file(self.path)
        if os.path.exists(self.path):
            return self.path
        if not quiet:
            say(f"note: {self.path} is not there: a new model is started")
        return None

    def begin(self, model: "Model | None", stop: Callable[[], bool]) -> None:
        """Take the digests of files. DataError if the last run of the model has learned one of them."""
        if model is not None:
            self._before, self._features = model.continued, len(model.keys) - len(unlearned(model))
        self._files = [path for path in self._data if path != "-" and os.path.isfile(path)]
        for path in self._files:
            self._found[path] = blake2b(digest_size=16)
            with open(path, "rb") as file:
                while not stop() and (data := file.read(PIECE)):
                    self._found[path].update(data)
        self.check()

    def take(self, name: str, data: Any) -> None:
        """Add to the digest of a pipe what was read of it."""
        if name not in self._files:
            self._found.setdefault(name, blake2b(digest_size=16)).update(data)

    def check(self) -> None:
        """DataError if the last run of the model has learned a part of the input."""
        for name, digest in self._found.items():
            if digest.hexdigest() in self._before.get("inputs", ()) and not self._again:
                raise DataError(f"{display_name(name)}: the last run of {self.path} has learned this input: name the "
                                "next one, or add --again to learn it twice")

    def stored(self, learner: Learner, passes: int) -> dict[str, Any]:
        """What the header of the model has of this run."""
        self._numbers = watched(learner)
        if self._features is not None and learner.features and not learner.looked_up:
            new = passes * max(len(learner.rule) - self._features, 0)
            self._numbers[NEW] = share(new, learner.features, learner.examples / passes)
        inputs = [digest.hexdigest() for digest in self._found.values() if digest.digest() != NOTHING]
        numbers = {of.text: x for of, x in self._numbers.items() if x.error < inf}
        return {"inputs": inputs[:MOST_INPUTS], "numbers": numbers}

    def losses(self) -> tuple[Number, Number] | None:
        """The losses of the last run and of this one, with their standard errors; None if one is not known."""
        before, now = self._before.get("numbers", {}).get(LOSS.text), self._numbers.get(LOSS)
        return (Number(*before), now) if before is not None and now is not None and now.error < inf else None

    def notes(self) -> list[str]:
        """What differs from the last run, as sentences. New features become fewer: only more are worth one."""
        before = {text: Number(*x) for text, x in self._before.get("numbers", {}).items()}
        pairs = [(of, before[of.text], x) for of, x in self._numbers.items() if of.text in before]
        return [f"{printable(of.text)}: {b.value:.4g}, in the last run {a.value:.4g}: vwlite drift shows the columns"
                for of, a, b in pairs if differs(a, b) and (of != NEW or b.value > a.value)]


class Checks:
    """--fail-if and --min-examples. UsageError for a measure that does not exist."""

    def __init__(
        self, fail_if: Sequence[Condition], min_examples: int | None, settings: Settings, chooses_loss: bool,
        continuing: Continuing | None = None,
    ) -> None:
        self._fail_if, self._min_examples, self._continuing = fail_if, min_examples or 0, continuing
        own = settings.outputs.keys(("logistic", "squared", "poisson") if chooses_loss else (settings.loss,))
        if continuing is None and any(condition.errors is not None for condition in fail_if):
            raise UsageError("--fail-if: yesterday is the last run of --continue: use it, or name a number")
        check_names(fail_if, ["average_loss", "loss", "accuracy", *own],
                    "; vwlite evaluate --fail-if has more of other data", losses=("loss", "average_loss"))

    def failed(self, settings: Settings, measures: dict[str, Result], examples: int, kept: str) -> CheckError | None:
        """What to raise, if there is something. measures: as of `Trainer.measures`; examples: that were learned."""
        values = {key: measure.value for key, measure in measures.items()}
        values |= dict.fromkeys(["loss", *settings.outputs.loss_keys], values.get("average_loss"))
        found = failures([*self._with_limits()], values)
        if examples < self._min_examples:
            found.append(f"--min-examples {self._min_examples}: it is {examples}")
        return CheckError("; ".join(filter(None, [*found, kept]))) if found else None

    def _with_limits(self) -> Iterator[Condition]:
        """The conditions with their limits. One that compares with the run before holds only if there was one."""
        losses = self._continuing.losses() if self._continuing is not None else None
        for condition in self._fail_if:
            if condition.errors is None:
                yield condition
            elif losses is not None:
                before, now = losses
                yield condition._replace(limit=before.value + condition.errors * hypot(before.error, now.error))
