"""The models of a server by name; a file that was replaced is read, checked, and taken in place of the old model."""

import os
import time
from typing import Any

from vwlite.errors import NoInputError, VwliteError
from vwlite.options.serve import ServeOptions
from vwlite.output.stdio import say
from vwlite.serve.metrics import Metrics
from vwlite.serve.served import Served


class Loaded:
    """A model, the file that it is from, and why a newer file was not taken."""

    def __init__(self, o: ServeOptions, name: str, path: str) -> None:
        self._options, self.name, self.path, self.error = o, name, path, ""
        self._seen = self._file = self._identity()
        self.model = Served(o, path)
        self.taken = time.time()

    def _identity(self) -> tuple[int, int, int]:
        """What tells that a file is another one."""
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
        """Take the new file. One that is damaged, or changes meanwhile, is refused: the old model stays."""
        seen = self._seen = self._identity()
        try:
            model = Served(self._options, self.path)
            if self._identity() != seen:
                return  # it is looked at again
        except (VwliteError, MemoryError) as e:
            self.error = f"{e or 'out of memory'}"
            metrics.add(metrics.of_model(self.name, "models_refused"))
            say(f"warning: {self.error}; the model from before stays")
            return
        self.model, self._file, self.taken, self.error = model, seen, time.time(), ""
        metrics.add(metrics.of_model(self.name, "models_taken"))

    def described(self) -> dict[str, Any]:
        model, settings = self.model, self.model.settings
        found = {"digest": model.digest, "age": self.age, "taken": round(time.time() - self.taken, 3),
                 "algorithm": settings.algorithm, "loss": settings.loss}  # fmt: skip
        if model.classes is not None:
            found["classes"] = model.classes
        return found | ({"error": self.error} if self.error else {})


class Models(dict[str, Loaded]):
    """By name."""

    def __init__(self, o: ServeOptions) -> None:
        super().__init__({name: Loaded(o, name, path) for name, path in o.files().items()})

    def find(self, name: str) -> Loaded:
        """NoInputError if there is no such model, or if there are several and none is named."""
        if not name and len(self) == 1:
            return next(iter(self.values()))
        if name in self:
            return self[name]
        what = f"unknown model {name!r}" if name else "several models are served"
        raise NoInputError(f"{what}: name one of {', '.join(self)}, as in ?model={next(iter(self))}")
