"""Kinds of labels: how they are read and counted, and how they and their predictions are shown."""

from typing import Any

from vwlite.vw.learners import Current
from vwlite.vw.words import prediction, short


def tagged(text: str, e: Current) -> str:
    """A line of predictions: the tag behind a space, if there is one."""
    return f"{text} {e.tag.decode('utf-8', 'surrogateescape')}\n" if e.tag else f"{text}\n"


class Simple:
    """A number, an importance, an initial prediction."""

    def __init__(self, run: Any) -> None:
        self.run = run
        a = run.arguments
        self.loss = a.get("loss_function", "squared")
        self.low, self.high = a.get("logistic_min", -1.0), a.get("logistic_max", 1.0)

    def read(self, e: Current) -> None:
        if e.label != e.label:
            return
        warn = self.run.streams.warn
        if self.loss == "hinge" and abs(e.label) != 1:
            warn(f"The label {short(e.label)} is not -1 or 1 or in [0,1] as the hinge loss function expects.")
        elif self.loss == "logistic" and not self.low <= e.label <= self.high:
            warn(
                f"The label {short(e.label)} is not in the range [{short(self.low)},{short(self.high)}] as the logistic loss "
                "function expects."
            )
        elif self.loss == "poisson" and e.label < 0:
            warn("The poisson loss function expects a label >= 0")

    def count(self, e: Current) -> None:
        s = self.run.statistics
        labelled = e.label == e.label
        s.update(e.held, labelled, e.loss, e.weight, e.features)
        if labelled and not e.held:
            s.weighted_labels += e.label * e.weight
        if labelled:
            s.see_label(e.label)

    def shown_label(self, e: Current) -> str:
        return f"{e.label:.4f}" if e.label == e.label else "unknown"

    def shown(self, e: Current) -> str:
        return f"{e.prediction:.4f}"

    def size(self, e: Current) -> int:
        return e.features

    def text(self, e: Current) -> str:
        return tagged(prediction(e.prediction), e)

    def raw_text(self, e: Current) -> str:
        return tagged(prediction(e.partial), e)


LABELS: dict[str, Any] = {"SIMPLE": Simple}
