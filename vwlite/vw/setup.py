"""The state shared by the parts of a run."""

from dataclasses import dataclass, field
from typing import Any

from vwlite.vw.arguments import Arguments
from vwlite.vw.messages import Streams
from vwlite.vw.models.binary import Header, VwModel
from vwlite.vw.plan import Plan
from vwlite.vw.random import Random
from vwlite.vw.statistics import ConstantLoss, Statistics


@dataclass
class Setup:
    """The plan, and the state that changes while a learner is built and runs."""

    plan: Plan
    streams: Streams
    random: Random
    statistics: Statistics
    head: tuple[Header, Any] | None = None  # of the model that is continued, and what follows it
    model: VwModel | None = None  # weights from elsewhere
    regularizer: Any = None  # the content of its files
    header_lines: list[str] = field(default_factory=list)
    initial_t: float = 0.0  # that of the plan, or when the model that is continued was written
    loss_words: ConstantLoss | None = None
    class_weights: dict[int, float] = field(default_factory=dict)
    layers: list[Any] = field(default_factory=list)  # the classes of those over the linear model, from the bottom up
    link: str = "identity"  # from scores to predictions
    raw: Any = None  # where raw predictions go
    namer: Any = None  # collects the names of features, if they are needed
    owed: float = 0.0  # gravity of an earlier run that predictions of this one do not know of

    @property
    def arguments(self) -> Arguments:
        return self.plan.arguments
