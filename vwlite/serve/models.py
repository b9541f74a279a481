"""The models of a server by name. A file that was replaced is read and checked, and then replaces the old model."""

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from vwlite.errors import DataError, NoInputError, UsageError, VwliteError, outcome
from vwlite.output.stdio import say
from vwlite.serve.metrics import Metrics
from vwlite.serve.served import Served


class Loaded:
    """A model, its file, and why a newer file was not loaded. load: reads a model from its file."""

    def __init__(self, name: str, path: str, load: Callable[[str], Served]) -> None:
        self._load, self.name, self.path, self.error = load, name, path, ""
        self._seen: tuple[int, ...] = self._identity()  # the file that was taken or refused; (): none, look again
        self._file = self._seen
        self.model = load(path)
        self.taken = time.time()

    def _identity(self) -> tuple[int, int, int]:
        """The identity of the file: it changes when the file is replaced."""
        try:
            info = os.stat(self.path)
        except OSError:
            return (0, 0, 0)
        return info.st_mtime_ns, info.st_size, info.st_ino

    @property
    def changed(self) -> bool:
        return self._identity() != self._seen

    @property
    def age(self) -> float:
        """Seconds since the file was written."""
        return max(0.0, round(time.time() - self._file[0] / 1e9, 3))

    def refresh(self, metrics: Metrics) -> None:
        """Load the new file. The old model stays if the file is damaged, changes meanwhile, or cannot be read now
        (too many open files, too little memory); then it is tried again."""
        seen = self._identity()
        try:
            if os.path.exists(self.path) and not os.path.isfile(self.path):  # a pipe without a writer never ends
                raise DataError(f"{self.path}: not a regular file")
            model = self._load(self.path)
            if self._identity() != seen:
                return  # it is looked at again
        except Exception as e:
            self._seen = seen if isinstance(e, DataError | UsageError) else ()
            self._refuse(str(e) if isinstance(e, VwliteError) else f"{self.path}: {outcome(e)[1]}", metrics)
            return
        self._seen = self._file = seen
        self.model, self.taken, self.error = model, time.time(), ""
        metrics.add(metrics.of_model(self.name, "models_taken"))

    def _refuse(self, why: str, metrics: Metrics) -> None:
        if why != self.error:
            metrics.add(metrics.of_model(self.name, "models_refused"))
            say(f"warning: {why}; the model from before stays")
        self.error = why

    def described(self) -> dict[str, Any]:
        model, settings = self.model, self.model.settings
        found = {"digest": model.digest, "age": self.age, "taken": round(time.time() - self.taken, 3),
                 "algorithm": settings.algorithm, "loss": settings.loss}
        if model.classes is not None:
            found["classes"] = model.classes
        return found | ({"error": self.error} if self.error else {})


class Models(dict[str, Loaded]):
    """By name."""

    def __init__(self, files: Mapping[str, str], load: Callable[[str], Served] = Served) -> None:
        super().__init__({name: Loaded(name, path, load) for name, path in files.items()})

    def find(self, name: str) -> Loaded:
        """NoInputError if there is no such model, or if there are several and none is named."""
        if not name and len(self) == 1:
            return next(iter(self.values()))
        if name in self:
            return self[name]
        what = f"unknown model {name!r}" if name else "several models are served"
        raise NoInputError(f"{what}: name one of {', '.join(self)}, as in ?model={next(iter(self))}")
