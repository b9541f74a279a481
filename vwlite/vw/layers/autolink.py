"""Powers of the prediction as features: autolink."""

import struct
from collections.abc import Iterator

from vwlite.core.vw.gd_flags import GdWithFlags
from vwlite.vw.layers.base import Current, Layer, Symmetric
from vwlite.vw.setup import Setup
from vwlite.vw.text.parser import to_float


class Autolink(Symmetric):
    """Powers of the prediction become features.

    In Vowpal Wabbit these weights are at consecutive floats, not at the start of a slot: the sum of squared gradients
    of one is the weight of the next. With gradient descent the same happens here.
    """

    option = name = "autolink"
    CONSTANT = 524267083

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        self.degree, self.fields, self.stride = s.arguments["autolink"], s.plan.fields, s.plan.stride
        self.mask = (s.plan.stride << s.plan.bits) - 1
        self.power_t = s.plan.power_t
        self.rest: dict[int, float] = {}  # floats outside of the slots of the table
        self.adax = s.arguments.flag("adax")
        self.packed = s.plan.stride == 4 and isinstance(self.bottom.stepper.rule, GdWithFlags)

    # --- floats, as in Vowpal Wabbit's memory ------------------------------------------

    def _slot(self, key: int) -> list[float]:
        """w, G, N of a slot."""
        return list(struct.unpack_from("<4xfff", self.bottom.stepper.slots_of([key])))

    def _get(self, at: int) -> float:
        at &= self.mask
        if at % 4 >= len(self.fields):
            return self.rest.get(at, 0.0)
        return self._slot(at // 4)["wGN".index(self.fields[at % 4])]

    def _put(self, at: int, x: float) -> None:
        at &= self.mask
        if at % 4 >= len(self.fields):
            self.rest[at] = to_float(x)
            return
        numbers = self._slot(at // 4)
        numbers["wGN".index(self.fields[at % 4])] = x
        self.bottom.stepper.rule.set_slot(at // 4, *numbers)

    # --- examples ----------------------------------------------------------------------------

    def run(self, e: Current, learns: bool) -> None:
        stepper = self.bottom.stepper
        self.base.predict(e)
        powers, power = [], e.prediction
        for _ in range(self.degree):
            if power == 0:
                break
            powers.append(to_float(power))
            power = to_float(power * e.prediction)
        if not self.packed:
            keys, values = stepper.features()
            stepper.set(keys + [self.CONSTANT // self.stride + i for i in range(len(powers))], values + powers)
            e.more_names = [b""] * len(powers)
            self.pass_on(e, learns)
            e.more_names = []
            stepper.set(keys, values)
            return
        start = self.CONSTANT + 4 * e.model
        initial = e.initial
        e.initial += sum(self._get(start + i) * x for i, x in enumerate(powers))
        if self.bottom.audit is not None:
            e.more_audited = [*self._audited(start, powers)]
        rates = self._adapt(e, start, powers) if learns else None
        self.pass_on(e, learns)
        e.initial, e.more_audited = initial, []
        if rates:
            for i, x in enumerate(powers):
                rate = self._get(start + i + len(self.fields))
                self._put(start + i, self._get(start + i) + stepper.rule.moved * x * rate)
            stepper.rule.more_h = stepper.rule.more_norms = 0.0

    def _audited(self, start: int, powers: list[float]) -> Iterator[tuple[int, float, float, float]]:
        """The weights of the powers before they are updated, as of `Current.more_audited`."""
        g = self.fields.index("G") if "G" in self.fields else 0
        for at, x in enumerate(powers, start):
            yield (at & self.mask) // 4, x, self._get(at), self._get(at + g)

    def _adapt(self, e: Current, start: int, powers: list[float]) -> bool:
        """Add the dloss to the sums of the powers, and tell the rule; whether there is a dloss."""
        stepper = self.bottom.stepper
        rule, loss = stepper.rule, stepper.loss
        p = stepper.predict(e.model, e.initial)
        if loss(p, e.label) <= 0:
            return False
        g2 = e.weight * (1.0 if self.adax else loss.derivative(p, e.label) ** 2)
        if g2 == 0:
            return False
        adaptive, normalized = "G" in self.fields, "N" in self.fields
        rule.more_h = rule.more_norms = 0.0
        for i, x in enumerate(powers):
            at = {name: start + i + place for place, name in enumerate(self.fields)}
            size = max(abs(x), 1.084202e-19)
            rate = 1.0
            if adaptive:
                self._put(at["G"], self._get(at["G"]) + g2 * size * size)
            if normalized:
                largest = self._get(at["N"])
                if size > largest:
                    if largest > 0:
                        power = 1 if adaptive else 2
                        shrink = (largest / size) ** (power if self.power_t == 0.5 else 2 - 2 * self.power_t)
                        self._put(at["w"], self._get(at["w"]) * shrink)
                    self._put(at["N"], size)
                rule.more_norms += (size / self._get(at["N"])) ** 2
            if adaptive:
                # Negative because it is a weight as well: Vowpal Wabbit's steps are NaN from then on.
                total = self._get(at["G"])
                rate = total**-self.power_t if total > 0 else 0.0
            if normalized:
                rate /= self._get(at["N"]) ** ((1 if adaptive else 2) if self.power_t == 0.5 else 2 - 2 * self.power_t)
            self._put(start + i + len(self.fields), rate)
            rule.more_h += size * size * to_float(rate)
        return True
