"""Experience replay: examples are learned later, in a random order: replay_b, replay_c, replay_m."""

from copy import copy

from vwlite.vw.layers.base import Current, Layer, keep_lines
from vwlite.vw.setup import Setup


class Replay(Layer):
    """A buffer of examples. Each new example replaces a random one, which is then learned.

    count: how often an example is learned, in expectation.
    """

    predicts_first = True

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        self.name, self.random = self.option, s.random
        self.size, self.count = s.arguments[self.option], s.arguments.get(f"{self.option}_count", 1)
        self.costs = self.kind == "CS"
        self.buffer: dict[int, tuple[Current, list[int], list[float]]] = {}  # by place
        words = f"experience replay level={self.name[-1]}, buffer={self.size}, replay count={self.count}"
        s.header_lines.insert(0, words)

    def learn(self, e: Current) -> None:
        """Learn other examples, and keep this one, whose loss is that of the prediction 0, as in Vowpal Wabbit."""
        if e.weight == 0 or (self.costs and not any(cost is not None for _, cost in e.target)):
            return
        stepper = self.bottom.stepper
        keys, values = stepper.features()
        for _ in range(max(1, self.count)):
            place = int(self.random.next() * self.size)
            self._play(place)
        kept = copy(e)
        keep_lines([kept], e.batch)
        self.buffer[place] = (kept, keys, values)
        stepper.set(keys, values)
        e.prediction = 0.0

    def _play(self, place: int) -> None:
        """Learn the example in a place, if there is one."""
        found = self.buffer.get(place)
        if found is not None:
            e, keys, values = found
            self.bottom.stepper.set(keys, values)
            self.base.learn(copy(e))
            self.base.end_example()

    def end_pass(self) -> None:
        """Learn the remaining examples of the buffer."""
        for place in sorted(self.buffer):
            self._play(place)
        self.buffer.clear()
        super().end_pass()


class ReplayB(Replay):
    """Below all others."""

    option = "replay_b"
    excludes = (
        "bootstrap", "boosting", "active", "confidence", "oaa", "csoaa", "multilabel_oaa", "ect", "csoaa_ldf",
        "wap_ldf",
    )


class ReplayM(Replay):
    """Below the classes."""

    option = "replay_m"
    compatible_with = ("lines",)


class ReplayC(Replay):
    """Above the costs."""

    option = "replay_c"
    compatible_with = ("lines",)
