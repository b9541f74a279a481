"""Kinds of labels: how they are read and counted, and how they and their predictions are shown."""

from math import inf, log
from typing import Any

from vwlite.core.parser import name_hash
from vwlite.vw.learners import Current
from vwlite.vw.text import read_number
from vwlite.vw.words import Critical, prediction, short

UNKNOWN_COST = 3.4028234663852886e38  # of a class without a cost, in an example of several lines


def tagged(text: str, e: Current) -> str:
    """A line of predictions: the tag behind a space, if there is one."""
    return f"{text} {e.tag.decode('utf-8', 'surrogateescape')}\n" if e.tag else f"{text}\n"


class Simple:
    """A number, an importance, an initial prediction."""

    def __init__(self, run: Any) -> None:
        self.run = run
        a = run.arguments
        self.loss = a.get("loss_function", "squared")
        # Active learning tells the importance of labels that it would like to have.
        self.asks = a.flag("active") and not any(
            name in a for name in ("simulation", "direct", "confidence", "bootstrap", "boosting", "stage_poly")
        )
        self.asked = ""
        self.low, self.high = a.get("logistic_min", -1.0), a.get("logistic_max", 1.0)

    @property
    def usual(self) -> tuple[float, float, bool]:
        """The least and the largest label that `read` does not warn of, and whether only these two are such."""
        if self.loss == "hinge":
            return -1.0, 1.0, True
        if self.loss == "logistic":
            return self.low, self.high, False
        return (0.0 if self.loss == "poisson" else -inf), inf, False

    def read(self, e: Current) -> None:
        """Warn of a label that the loss does not expect: once for the loss of the prediction, and once for learning."""
        low, high, only_ends = self.usual
        expected = e.label in (low, high) if only_ends else low <= e.label <= high
        if e.labelled and e.weight > 0 and not expected:
            for _ in range(1 if e.test else 2):
                self.run.streams.warn(self._unexpected(short(e.label)))

    def _unexpected(self, label: str) -> str:
        if self.loss == "hinge":
            return f"The label {label} is not -1 or 1 or in [0,1] as the hinge loss function expects."
        if self.loss == "poisson":
            return f"The poisson loss function expects a label >= 0 but received '{label}'."
        ends = f"[{short(self.low)},{short(self.high)}]"
        return f"The label {label} is not in the range {ends} as the logistic loss function expects."

    def known(self, e: Current) -> bool:
        """Whether there is a label to learn from."""
        return e.labelled

    def count(self, e: Current) -> None:
        s = self.run.statistics
        labelled = e.label == e.label
        s.update(e.held, labelled, e.loss, e.weight, e.features)
        if labelled and not e.held:
            s.weighted_labels += e.label * e.weight
        if labelled:
            s.see_label(e.label)
        self.asked = ""
        if self.asks and not labelled:
            importance = self.run.setup.active.decide(e.confidence, s.weighted_unlabeled_examples)
            if importance >= 0:
                self.asked = f" {importance:.6f}"

    def shown_label(self, e: Current) -> str:
        return f"{e.label:.4f}" if e.label == e.label else "unknown"

    def shown(self, e: Current) -> str:
        return f"{e.prediction:.4f}"

    def size(self, e: Current) -> int:
        return e.features

    def text(self, e: Current) -> str:
        a = self.run.arguments
        if "bootstrap" in a:
            behind = f" {e.tag.decode('utf-8', 'surrogateescape')}" if e.tag else ""
            low, high = e.range  # type: ignore[attr-defined]
            return f"{e.prediction:.6f}{behind} {low:.6f} {high:.6f}\n"
        tag = e.tag.decode("utf-8", "surrogateescape")
        if a.flag("confidence") and not a.flag("testonly"):
            return f"{e.prediction:.6f} {e.confidence:.6f} {tag}\n"
        if self.asks:
            return f"{e.prediction:.6f} {tag}{self.asked}\n"
        return tagged(prediction(e.prediction), e)

    def raw_text(self, e: Current) -> str:
        return "" if "nn" in self.run.arguments else tagged(prediction(e.partial), e)  # nn has written its own


class Packed:
    """Labels that are not simple: their words lie before a NUL in the tag of a batch's line."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.names: list[str] = run.setup.names

    def read(self, e: Current) -> None:
        head, _, e.tag = e.tag.partition(b"\0")
        e.words = head.split()
        e.label = float("nan")
        self.parse(e)

    def parse(self, e: Current) -> None:
        raise NotImplementedError

    def known(self, e: Current) -> bool:
        return True

    def number(self, word: bytes) -> float:
        value, end = read_number(word)
        if not end or value != value:
            shown = word.decode("utf-8", "surrogateescape")
            self.run.streams.warn(f"'{shown}' is not a good float, replacing with 0")
            return 0.0
        return value

    def class_of(self, word: bytes) -> int:
        """The number of a class, which may have a name."""
        text = word.decode("utf-8", "surrogateescape")
        if self.names:
            if text not in self.names:
                self.run.streams.warn(f"missing named label: {text}")
                return 0
            return self.names.index(text) + 1
        if not word.removeprefix(b"-").isdigit():
            raise Critical(f"malformed label: {text}", "multiclass.cc", 50)
        return int(word)

    def called(self, label: Any) -> str:
        """A class as it is shown."""
        if self.names and isinstance(label, int) and 1 <= label <= len(self.names):
            return self.names[label - 1]
        return str(label)

    def size(self, e: Current) -> int:
        return e.features

    def text(self, e: Current) -> str:
        return tagged(self.called(e.prediction), e)

    def shown(self, e: Current) -> str:
        return self.called(e.prediction)

    def raw_text(self, e: Current) -> str:
        return ""


class Multiclass(Packed):
    """A class and an importance."""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self.log_loss = self.log_weight = 0.0

    def parse(self, e: Current) -> None:
        if not e.words:
            e.target = None
            return
        if len(e.words) > 2:
            shown = b" ".join(e.words).decode("utf-8", "surrogateescape")
            raise Critical(f"malformed example, words.size() = {len(e.words)}: {shown}", "multiclass.cc", 130)
        e.target = self.class_of(e.words[0])
        if e.target == -1:
            e.target = None
        if len(e.words) == 2:
            e.weight = self.number(e.words[1])

    @property
    def usual(self) -> tuple[float, float, bool]:
        """The first and the last class, by their places from 1, whose labels say nothing new about all labels.

        That of the last one tells from which number classes count, if that is not known yet.
        """
        k = self.run.arguments["oaa"]
        return 1, k - (self.run.setup.indexing.first is None and not self.run.testing), False

    def class_names(self) -> list[bytes]:
        """The labels of the classes, as text has them."""
        numbers = map(str, range(self.first, self.first + self.run.arguments["oaa"]))
        return [name.encode("utf-8", "surrogateescape") for name in self.names or numbers]

    def known(self, e: Current) -> bool:
        return e.target is not None

    def count(self, e: Current) -> None:
        s = self.run.statistics
        labelled = e.target is not None
        loss = e.weight if labelled and e.target != e.prediction else 0.0
        if getattr(self.run.setup, "hides_labels", False):
            labelled, loss = False, 0.0
        s.update(e.held, labelled, loss, e.weight, e.features)
        scores = getattr(e, "scores", None)
        if scores is not None and labelled and "probabilities" in self.run.arguments:
            first = self.first
            if first <= e.target < first + len(scores):
                self.log_loss -= log(max(scores[e.target - first], 1e-45)) * e.weight
                self.log_weight += e.weight

    @property
    def first(self) -> int:
        """The number of the first class."""
        return 0 if getattr(self.run.setup.indexing, "first", None) == 0 else 1

    def shown_label(self, e: Current) -> str:
        return "unknown" if e.target is None else self.called(e.target)

    def shown(self, e: Current) -> str:
        scores = getattr(e, "scores", None)
        if scores is not None and self.run.arguments.flag("probabilities"):
            return f"{self.called(e.prediction)}({scores[e.prediction - self.first] * 100:.0f}%)"
        return self.called(e.prediction)

    def text(self, e: Current) -> str:
        scores = getattr(e, "scores", None)
        if scores is None:
            return super().text(e)
        return tagged(" ".join(f"{self.called(i + self.first)}:{p:g}" for i, p in enumerate(scores)), e)

    def raw_text(self, e: Current) -> str:
        if e.raw_scores is None:
            return ""
        raw = [p for _, p in e.raw_scores]
        if self.first == 0:
            raw = [raw[-1], *raw[:-1]]  # as Vowpal Wabbit prints it
        return tagged(" " + " ".join(f"{i + self.first}:{p:g}" for i, p in enumerate(raw)), e)


class Costs(Packed):
    """The cost of each class, as `class:cost`."""

    def parse(self, e: Current) -> None:
        e.target = []
        for word in e.words:
            if word == b"shared":
                e.target.append((-1, None))
                continue
            name, colon, cost = word.partition(b":")
            e.target.append((self.class_of(name), self.number(cost) if colon and cost else None))

    def _known(self, e: Current) -> bool:
        return any(cost is not None for _, cost in e.target)

    def count(self, e: Current) -> None:
        s = self.run.statistics
        known = self._known(e)
        loss = 0.0
        if known:
            costs = [(label, cost) for label, cost in e.target if cost is not None]
            chosen = next((cost for label, cost in costs if label == e.prediction), max(cost for _, cost in costs))
            least = 0.0 if self.run.arguments.flag("cs_absolute_loss") else min(cost for _, cost in costs)
            loss = (chosen - least) * e.weight
        s.update(e.held, known, loss, e.weight, e.features)

    def shown_label(self, e: Current) -> str:
        return "known" if self._known(e) else "unknown"

    def raw_text(self, e: Current) -> str:
        return "" if e.raw_scores is None else tagged(" ".join(f"{i}:{p:g}" for i, p in e.raw_scores), e)


class Lines(Packed):
    """The class of a line and its cost, for examples of several lines; counted by their learner."""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self.log_loss = self.log_weight = 0.0

    def parse(self, e: Current) -> None:
        e.target = []
        if e.words == [b"shared"]:
            return
        error = self.run.streams.error
        for word in e.words:
            name, *cost = word.split(b":")
            shown = word.decode("utf-8", "surrogateescape")
            if len(cost) > 1:
                error(f"example with a weird name. What is '{shown}'?")
                continue
            x = self.number(cost[0]) if cost else UNKNOWN_COST
            if len(e.words) == 1 and name == b"shared":
                error(f"shared feature vectors should not have costs on: {shown}")
            elif len(e.words) == 1 and name == b"label" and not cost:
                error(f"label feature vectors should have exactly one cost on: {shown}")
            else:
                e.target.append((0 if len(e.words) == 1 and name == b"label" else self.class_of(name), x))

    def class_of(self, word: bytes) -> int:
        return super().class_of(word) if self.names else int(name_hash(word, 0))

    def count(self, e: Current) -> None:
        raise NotImplementedError


class Multilabels(Packed):
    """Classes, separated by commas."""

    def parse(self, e: Current) -> None:
        e.target = None
        if e.words:
            e.target = [self.class_of(word) for word in e.words[0].split(b",") if word]

    def count(self, e: Current) -> None:
        s = self.run.statistics
        labelled = e.target is not None
        loss = float(len(set(e.target) ^ set(e.prediction))) * e.weight if labelled else 0.0
        s.update(e.held, labelled, loss, e.weight, e.features)

    def shown_label(self, e: Current) -> str:
        return "unknown" if e.target is None else ",".join(map(str, e.target))

    def shown(self, e: Current) -> str:
        return ",".join(map(str, e.prediction))

    def text(self, e: Current) -> str:
        scores = getattr(e, "scores", None)
        if scores is not None:
            return " ".join(f"{i}:{p:g}" for i, p in enumerate(scores)) + "\n" + tagged("", e)
        return tagged(self.shown(e), e)


LABELS: dict[str, Any] = {
    "SIMPLE": Simple, "MULTICLASS": Multiclass, "CS": Costs, "MULTILABEL": Multilabels, "LINES": Lines,
}  # fmt: skip
