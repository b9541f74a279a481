"""Kinds of labels: how they are read and counted, and how they and their predictions are shown."""

import re
from math import inf, log
from typing import Any

from vwlite.core.data.batch import Batch
from vwlite.core.text.parser import name_hash
from vwlite.vw.layers.base import Current
from vwlite.vw.messages import Critical, prediction, short
from vwlite.vw.text.parser import read_number

_NO_LABEL = (1 << 31) - 1  # numbers from here on are shown as missing
_SPECIAL = (b"***shared***", b"***label***")  # in place of a class
UNKNOWN_COST = 3.4028234663852886e38  # of a class without a cost, in an example of several lines


def tagged(text: str, e: Current) -> str:
    """A line of predictions: the tag behind a space, if there is one."""
    return f"{text} {e.tag.decode('utf-8', 'surrogateescape')}\n" if e.tag else f"{text}\n"


def _shown(word: bytes) -> str:
    return word.decode("utf-8", "surrogateescape")


class Simple:
    """A number, an importance, an initial prediction."""

    def begin_batch(self, batch: Batch) -> None:
        """The examples that follow are those of this batch."""

    def __init__(self, run: Any) -> None:
        self.run = run
        a = run.arguments
        self.loss = a.get("loss_function", "squared")
        # Active learning prints the importance of labels that it requests.
        self.asks = a.flag("active") and not any(
            name in a for name in ("simulation", "direct", "confidence", "bootstrap", "boosting", "stage_poly")
        )
        self.active = run.learner.layer("active")
        self.asked = ""
        self.low, self.high = a.get("logistic_min", -1.0), a.get("logistic_max", 1.0)

    @property
    def expected(self) -> tuple[float, float, bool]:
        """The least and the largest label without a warning of `read`, and whether only these two have none."""
        if self.loss == "hinge":
            return -1.0, 1.0, True
        if self.loss == "logistic":
            return self.low, self.high, False
        return (0.0 if self.loss == "poisson" else -inf), inf, False

    def read(self, e: Current) -> None:
        """Warn of a label that the loss does not expect: once for the loss of the prediction, and once for learning."""
        low, high, only_ends = self.expected
        fits = e.label in (low, high) if only_ends else low <= e.label <= high
        if e.labelled and e.weight > 0 and not fits:
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
        if labelled:
            s.count_label(e.held, e.label, e.weight)
        self.asked = ""
        if self.asks and not labelled:
            importance = self.active.decide(e.confidence, s.weighted_unlabeled_examples)
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
        if "nn" in self.run.arguments or "bootstrap" in self.run.arguments:  # they have written their own
            return ""
        return tagged(prediction(e.partial), e)


class PackedLabels:
    """Labels that are not simple: their words are before a NUL in the tag of a batch's line."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.names: list[str] = run.setup.plan.names
        classes = run.learner.layer("oaa") or run.learner.layer("csoaa")
        self.indexing = classes and classes.indexing
        if self.names and self.indexing is not None:
            self.indexing.before_words = self.tell_unknown
        self._batch: Batch | None = None  # its unknown names were not reported yet

    def begin_batch(self, batch: Batch) -> None:
        """The examples that follow are those of this batch."""
        self._batch = batch if self.names and not self.run.source.cached_now else None

    def read(self, e: Current) -> None:
        head, _, e.tag = e.tag.partition(b"\0")
        e.words = head.split()
        e.label = float("nan")
        self.parse(e)

    def parse(self, e: Current) -> None:
        raise NotImplementedError

    def known(self, e: Current) -> bool:
        return True

    def number_or_zero(self, word: bytes) -> float:
        value, end = read_number(word)
        if not end or value != value:
            if not self.run.source.cached_now:
                shown = word.decode("utf-8", "surrogateescape")
                self.run.streams.warn(f"'{shown}' is not a good float, replacing with 0")
            return 0.0
        return value

    def class_of(self, word: bytes) -> int:
        """The number of a class, which may have a name."""
        text = word.decode("utf-8", "surrogateescape")
        if self.names:
            if text not in self.names:
                if self.run.arguments.flag("onethread") and not self.run.source.cached_now:
                    self._warn_of(text)
                else:
                    self.tell_unknown()
                return 0
            return self.names.index(text) + 1
        number, end = self.leading_number(word)
        if end < len(word):
            last = word[end:].decode("utf-8", "surrogateescape")[0]
            raise Critical(f"Malformed example: label has trailing character(s): {last}", "multiclass.cc", 52)
        number %= 1 << 32
        return number if number < (1 << 32) - 1 else -1

    def leading_number(self, word: bytes) -> tuple[int, int]:
        """The whole number that a word begins with, in 64 bits, and its length; 0 and a warning if there is none."""
        match = re.match(rb"[-+]?[0-9]+", word)
        if not match:
            if not self.run.source.cached_now:
                shown = word.decode("utf-8", "surrogateescape")
                self.run.streams.warn(f"'{shown}' is not a good int, replacing with 0")
            return 0, 0
        return min(max(int(match[0][:25]), -(1 << 63)), (1 << 63) - 1), match.end()

    def tell_unknown(self) -> None:
        """Warn of all names in the batch that are unknown. Vowpal Wabbit reads ahead while it learns: its
        messages about what it reads come first."""
        batch, self._batch = self._batch, None
        if batch is None or self.run.arguments.flag("onethread"):
            return
        for line in range(len(batch)):
            for word in self.classes_in(batch.tag(line).partition(b"\0")[0].split()):
                text = word.decode("utf-8", "surrogateescape")
                if text not in self.names:
                    self._warn_of(text)

    def classes_in(self, words: list[bytes]) -> list[bytes]:
        """The classes that the words of a label name."""
        return words[:1]

    def _warn_of(self, name: str) -> None:
        self.run.streams.warn(f"Missing named label '{name}'")

    def called(self, label: Any) -> str:
        """The text of a class: its name, or its number if it has no name."""
        if not self.names:
            return str(label)
        return self.names[label - 1] if 1 <= label <= len(self.names) else ""

    def size(self, e: Current) -> int:
        return e.features

    def text(self, e: Current) -> str:
        return tagged(self.called(e.prediction), e)

    def shown(self, e: Current) -> str:
        return self.called(e.prediction)

    def raw_text(self, e: Current) -> str:
        return ""


class Multiclass(PackedLabels):
    """A class and an importance."""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        a = run.arguments
        oaa = run.learner.layer("oaa")
        self.hides_labels = oaa is not None and bool(oaa.subsample)
        self.shares = "oaa" in a and (a.flag("probabilities") or a.flag("scores"))  # of all classes are predicted

    def parse(self, e: Current) -> None:
        if not e.words:
            e.target = None
            return
        if len(e.words) > 2:
            raise Critical(f"Malformed example, words.size() = {len(e.words)}", "multiclass.cc", 71)
        e.target = self.class_of(e.words[0])
        if e.target == -1:
            e.target = None
        if len(e.words) == 2:
            weight = self.number_or_zero(e.words[1])
            e.weight = weight if weight > 0 else 0.0

    @property
    def expected(self) -> tuple[float, float, bool]:
        """The first and the last class, by their places from 1, whose labels add nothing to the range of labels.

        That of the last one tells from which number classes count, if that is not known yet.
        """
        k = self.run.arguments["oaa"]
        return 1, k - (self.indexing.first is None and not self.run.testing), False

    def class_names(self) -> list[bytes]:
        """The labels of the classes, as text has them."""
        numbers = map(str, range(self.first, self.first + self.run.arguments["oaa"]))
        return [name.encode("utf-8", "surrogateescape") for name in self.names or numbers]

    def known(self, e: Current) -> bool:
        return e.target is not None

    def count(self, e: Current) -> None:
        s = self.run.statistics
        labelled = e.target is not None
        loss = e.weight if (labelled or self.shares) and e.target != e.prediction else 0.0
        if self.hides_labels:
            labelled, loss = False, 0.0
        s.update(e.held, labelled, loss, e.weight, e.features)
        if self.shares and self.run.arguments.flag("probabilities"):
            scores = e.scores  # type: ignore[attr-defined]
            p = scores[(self._class_number(e) - self.first) % (1 << 32) % len(scores)]
            log_loss = -log(p) * e.weight if p > 0 else 999.0
            s.count_log_loss(e.held or not labelled, log_loss)

    @staticmethod
    def _class_number(e: Current) -> int:
        """The label as an unsigned number, as in Vowpal Wabbit; -1 for an example without a label."""
        return (-1 if e.target is None else int(e.target)) % (1 << 32)

    @property
    def first(self) -> int:
        """The number of the first class."""
        return 0 if self.indexing is not None and self.indexing.first == 0 else 1

    def shown_label(self, e: Current) -> str:
        if self.shares and not self.names:
            return str(self._class_number(e))
        if e.target is None or e.target >= _NO_LABEL:
            return "unknown"
        return self.called(e.target) or "unknown"

    def shown(self, e: Current) -> str:
        if not self.shares:
            return self.called(e.prediction) or "unknown"
        if self.names:
            return "unknown"  # Vowpal Wabbit looks for a name where it has put the shares
        if not self.run.arguments.flag("probabilities"):
            return str(e.prediction)
        return f"{e.prediction}({e.scores[e.prediction - self.first] * 100:.0f}%)"  # type: ignore[attr-defined]

    def text(self, e: Current) -> str:
        scores = getattr(e, "scores", None)
        if scores is None:
            return super().text(e)
        return tagged(" ".join(f"{self.called(i + self.first)}:{p:g}" for i, p in enumerate(scores)), e)

    def raw_text(self, e: Current) -> str:
        return "" if e.raw_scores is None else tagged("".join(f" {i}:{p:g}" for i, p in e.raw_scores), e)


class Costs(PackedLabels):
    """The cost of each class, as `class:cost`."""

    def classes_in(self, words: list[bytes]) -> list[bytes]:
        return [word.partition(b":")[0] for word in words if not word.startswith(_SPECIAL)]

    def parse(self, e: Current) -> None:
        # Vowpal Wabbit reads a single word twice, and warns twice.
        e.target = self._special(e.words[0], self._pair(e.words[0])[0]) if len(e.words) == 1 else None
        if e.target is None:
            e.target = [self._cost(word) for word in e.words]

    def _pair(self, word: bytes) -> tuple[list[bytes], float | None]:
        """The parts of a word between colons, and the cost; a single part has no cost."""
        parts = [part for part in word.split(b":") if part]
        if len(parts) < 2:
            return parts, None
        if len(parts) == 2:
            return parts, self.number_or_zero(parts[1])
        self.run.streams.error(f"example with a weird name. What is '{_shown(word)}'?")
        return parts, 0.0

    def _special(self, word: bytes, parts: list[bytes]) -> list[tuple[int, float | None]] | None:
        """Interpret `shared` and `label`, which are names of classes only if classes have names."""
        plain = () if self.names else (b"shared", b"label")
        if not parts or parts[0] not in (*_SPECIAL, *plain):
            return None
        shared = b"shared" in parts[0]
        if len(parts) != (1 if shared else 2):
            what = "should not have costs" if shared else "should have exactly one cost"
            self.run.streams.error(f"{'shared' if shared else 'label'} feature vectors {what} on: {_shown(word)}")
            return []
        return [(0, -UNKNOWN_COST if shared else self._pair(word)[1])]

    def _cost(self, word: bytes) -> tuple[int, float | None]:
        """A class and its cost."""
        parts, cost = self._pair(word)
        if not parts:
            raise Critical(f" invalid cost: specification -- no names on: {_shown(word)}", "cost_sensitive.cc", 108)
        if len(parts) > 3:
            raise Critical(f"malformed cost specification on '{_shown(parts[0])}'", "cost_sensitive.cc", 121)
        return self.class_of(parts[0]), cost

    def class_of(self, word: bytes) -> int:
        return super().class_of(word) if self.names else int(name_hash(word, 0))

    def known(self, e: Current) -> bool:
        return any(cost is not None for _, cost in e.target)

    def count(self, e: Current) -> None:
        known = self.known(e)
        loss = 0.0
        if known:
            costs = [(label, UNKNOWN_COST if cost is None else cost) for label, cost in e.target]
            chosen = dict(costs).get(e.prediction, UNKNOWN_COST)
            if chosen == UNKNOWN_COST:
                self.run.streams.warn(
                    "csoaa predicted an invalid class. Are all multi-class labels in the {1..k} range?"
                )
            least = 0.0 if self.run.arguments.flag("cs_absolute_loss") else min(cost for _, cost in costs)
            loss = (chosen - least) * e.weight
        self.run.statistics.update(e.held, known, loss, e.weight, e.features)

    def shown_label(self, e: Current) -> str:
        return "known" if self.known(e) else "unknown"

    def raw_text(self, e: Current) -> str:
        return "" if e.raw_scores is None else tagged(" ".join(f"{i}:{p:g}" for i, p in e.raw_scores), e)


class Lines(Costs):
    """The class of a line and its cost, for examples of several lines; counted by their learner."""

    def parse(self, e: Current) -> None:
        super().parse(e)
        costs = [(label, UNKNOWN_COST if cost is None else cost) for label, cost in e.target]
        e.shared = costs == [(0, -UNKNOWN_COST)]
        e.target = [] if e.shared else costs

    def count(self, e: Current) -> None:
        raise NotImplementedError


class Multilabels(PackedLabels):
    """Classes, separated by commas. They have no names, and count from 0; an example without any is not learned."""

    def parse(self, e: Current) -> None:
        e.target = []
        if len(e.words) > 1:
            if not self.run.source.cached_now:
                shown = b" ".join(e.words).decode("utf-8", "surrogateescape")
                self.run.streams.error(f"example with an odd label, what is {shown}")
        elif e.words:
            e.target = [self.class_of(word) for word in e.words[0].split(b",") if word]

    def class_of(self, word: bytes) -> int:
        """The number at the beginning of a word, as an unsigned one, as in Vowpal Wabbit."""
        number, _ = self.leading_number(word)
        return number % (1 << 32)

    def known(self, e: Current) -> bool:
        return bool(e.target)

    def count(self, e: Current) -> None:
        labelled = self.known(e)
        loss = _differences(e.target, e.prediction) * e.weight if labelled else 0.0
        self.run.statistics.update(e.held, labelled, loss, e.weight, e.features)

    def shown_label(self, e: Current) -> str:
        return ",".join(map(str, e.target)) or "unknown"

    def shown(self, e: Current) -> str:
        return ",".join(map(str, e.prediction))

    def text(self, e: Current) -> str:
        """The classes, always with a space after them; before that a separate line with the probabilities."""
        line = tagged(self.shown(e) + " ", e)
        scores = getattr(e, "scores", None)
        if scores is not None:
            return tagged(" ".join(f"{i}:{p:g}" for i, p in enumerate(scores)), e) + line
        return line


def _differences(given: list[int], predicted: list[int]) -> float:
    """How many classes are in one of two lists only, merged as if both were sorted."""
    i = j = both = 0
    while i < len(given) and j < len(predicted):
        both += given[i] == predicted[j]
        i, j = i + (given[i] <= predicted[j]), j + (predicted[j] <= given[i])
    return float(len(given) + len(predicted) - 2 * both)


LABELS: dict[str, Any] = {
    "SIMPLE": Simple, "MULTICLASS": Multiclass, "CS": Costs, "MULTILABEL": Multilabels, "LINES": Lines,
}
