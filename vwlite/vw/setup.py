"""What the parts of a run share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from vwlite.vw.arguments import Arguments
from vwlite.vw.messages import Streams
from vwlite.vw.models.binary import Header, Model
from vwlite.vw.random import Random
from vwlite.vw.statistics import ConstantLoss, Statistics


@dataclass
class Setup:
    """Everything that a run is made of."""

    arguments: Arguments
    streams: Streams
    random: Random
    statistics: Statistics
    header_lines: list[str] = field(default_factory=list)

    bits: int = 18
    initial_t: float = 0.0
    learning_rate: float = 0.5
    power_t: float = 0.5
    interactions: list[bytes] = field(default_factory=list)
    fields: tuple[str, ...] = ("w",)
    head: tuple[Header, Any] | None = None  # of the model that is continued, and what follows it
    undone: bool = False  # its interactions, by those of the command line
    model: Model | None = None  # weights from elsewhere
    loss_words: ConstantLoss | None = None
    names: list[str] = field(default_factory=list)  # of labels
    class_weights: dict[int, float] = field(default_factory=dict)
    link: str = "identity"  # from scores to predictions
    raw: Any = None  # where raw predictions go
    namer: Any = None  # knows the names of features, if they are wanted
    first_t: float = 0.0  # initial_t before a model was loaded
    not_linear: bytes = b""  # --ignore_linear
    sums_squares: bool = False  # steps depend on the sum of the squares of the features, without rates
    dropped: Callable[[int], bool] = lambda letter: False  # --ignore and --keep
    stride: int = 1  # of the slots in Vowpal Wabbit's memory
    regularizer: Any = None  # what was read for it
    owed: float = 0.0  # gravity of an earlier run that predictions of this one do not know of
    dictionaries: dict[bytes, Any] = field(default_factory=dict)  # by content

    def say(self, text: str) -> None:
        self.streams.say(text)
