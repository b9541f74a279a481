"""The common parts of learners of classes."""

from collections.abc import Callable

from vwlite.vw.setup import Setup


class Indexing:
    """Whether classes are counted from 0 or from 1: by the option, or by the first label that is 0 or the number of
    classes."""

    def __init__(self, k: int, s: Setup) -> None:
        self.k, self.first, self.streams = k, s.arguments.get("indexing"), s.streams
        self.before_words: Callable[[], None] = lambda: None

    def check(self, label: int) -> int:
        """Check a label; returns the replacement if it is out of range."""
        if not (1 if self.first is None else self.first) <= label < self.k + (self.first or 0):
            self.before_words()
        if self.first is None and label in (0, self.k):
            self.first = 0 if label == 0 else 1
            self.streams.info(f"label {label} found -- labels are now considered {self.first}-indexed.")
        if self.first == 0 and not 0 <= label < self.k:
            self.streams.warn(f"label {label} is not in {{0,{self.k - 1}}}. This won't work for 0-indexed actions.")
            return 0
        if self.first == 1 and not 1 <= label <= self.k:
            self.streams.warn(f"label {label} is not in {{1,{self.k}}}. This won't work for 1-indexed actions.")
            return self.k
        return label

    def label(self, place: int) -> int:
        """The label of the class at a place, from 0. Labels count from 1 until the data show that they count from 0."""
        return place if self.first == 0 else place + 1


def choose_link(s: Setup) -> None:
    """With --probabilities the learner applies the link. Warn unless the loss is logistic."""
    a = s.arguments
    if not a.flag("probabilities"):
        return
    alone = "multilabel_oaa" in a
    loss = a.get("loss_function", "squared")
    if loss != "logistic":
        s.streams.warn(f"--probabilities should be used only with --loss_function=logistic, currently using: {loss}")
    s.link = "logistic" if alone else "identity"
    if alone or ("oaa" in a and "link" in a):
        a.values["link"] = s.link  # which a model keeps, and not --probabilities
