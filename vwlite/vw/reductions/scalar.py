"""Reductions that predict a number: bootstrap, boosting, autolink, lrq, confidence, active."""

from math import comb, exp, floor, log, sqrt
from typing import Any

from vwlite.core.rules.gd import Gd
from vwlite.vw.learners import Current, Layer, Linear
from vwlite.vw.random import Random, uniform
from vwlite.vw.setup import Setup
from vwlite.vw.words import Critical

POISSON = (
    0.3678794411714423, 0.7357588823428847, 0.9196986029286058, 0.9810118431238462, 0.9963401531726563,
    0.9994058151824183, 0.9999167588507119, 0.9999897508033253, 0.9999988747974020, 0.9999998885745217,
    0.9999999899522336, 0.9999999991683893, 0.9999999999364022, 0.9999999999954802,
)  # fmt: skip


class Bootstrap(Layer):
    """Several models, each with its own random importances; their mean or vote is predicted."""

    name = "bootstrap"

    def __init__(self, base: Layer, rounds: int, kind: str, random: Random, loss: Any) -> None:
        super().__init__(base)
        self.width, self.kind, self.random, self.loss = rounds, kind, random, loss
        self.predicts_apart = False

    def _draw(self) -> float:
        x = self.random.next()
        return float(next((i for i, edge in enumerate(POISSON) if x <= edge), 20))

    def _all(self, e: Current, learns: bool) -> None:
        weight, found = e.weight, []
        for i in range(self.width):
            e.weight = weight * self._draw()
            if learns:
                self.learn_with(e, i)
            else:
                self.predict_with(e, i)
            found.append(e.prediction)
        e.weight = weight
        e.prediction = sum(found) / len(found) if self.kind == "mean" else _vote(found)
        e.range = (min(found), max(found))  # type: ignore[attr-defined]
        if e.weight > 0 and isinstance(e.prediction, float) and e.labelled:
            e.loss = self.loss(e.prediction, e.label) * e.weight

    def predict(self, e: Current) -> None:
        self._all(e, False)

    def learn(self, e: Current) -> None:
        self._all(e, True)


def _vote(found: list[float]) -> float:
    """The mean of the predictions that round to what most of them round to."""
    rounded = [floor(p + 0.5) for p in found]
    counts = {value: rounded.count(value) for value in rounded}
    most = max(counts.values())
    winner = next(value for value in rounded if counts[value] == most)
    agreeing = [p for p, value in zip(found, rounded, strict=True) if value == winner]
    return float(sum(agreeing) / len(agreeing))


class Boosting(Layer):
    """Online boosting: BBM, logistic or adaptive."""

    def __init__(self, base: Layer, rounds: int, kind: str, gamma: float, random: Random) -> None:
        super().__init__(base)
        self.width, self.kind, self.gamma, self.random = rounds, kind, gamma, random
        self.name = "boosting" if kind == "BBM" else f"boosting-{kind}"
        self.alpha = [0.0] * rounds
        self.v = [1.0 / rounds] * rounds
        self.t = 0

    def predict(self, e: Current) -> None:
        total, passed = 0.0, 0.0
        stop = self.random.next() if self.kind == "adaptive" else 2.0
        for i in range(self.width):
            self.predict_with(e, i)
            if self.kind == "adaptive" and passed > stop:
                break
            total += e.prediction * (1.0 if self.kind == "BBM" else self.alpha[i])
            passed += self.v[i]
        e.prediction = e.partial = total

    def learn(self, e: Current) -> None:
        weight, s, total = e.weight, 0.0, 0.0
        self.t += 1
        eta = 4 / sqrt(self.t)
        stop = self.random.next() if self.kind == "adaptive" else 2.0
        passed = partial = norm = 0.0
        for i in range(self.width):
            e.weight = weight * (self._bbm(i, s) if self.kind == "BBM" else 1 / (1 + _safe_exp(s)))
            self.predict_with(e, i)
            z = e.label * e.prediction
            if self.kind == "BBM":
                s += z
                total += e.prediction
            else:
                s += z * self.alpha[i]
                if passed <= stop:
                    total += e.prediction * self.alpha[i]
                if self.kind == "adaptive":
                    partial += e.prediction * self.alpha[i]
                    passed += self.v[i]
                    if e.label * partial < 0:
                        self.v[i] *= 0.36788
                    norm += self.v[i]
                self.alpha[i] = min(max(self.alpha[i] + eta * z / (1 + _safe_exp(s)), -2.0), 2.0)
            self.learn_with(e, i)
        if self.kind == "adaptive" and norm:
            self.v = [v / norm for v in self.v]
        e.weight = weight
        e.prediction = e.partial = total

    def _bbm(self, i: int, s: float) -> float:
        left = self.width - (i + 1)
        k = floor((self.width - i - s) / 2)
        if left < 0 or k > left or k < 0:
            return 0.0
        return float(comb(left, k) * (0.5 + self.gamma) ** k * (0.5 - self.gamma) ** (left - k))


def _safe_exp(x: float) -> float:
    return exp(min(x, 700.0))


class Autolink(Layer):
    """Powers of the prediction become features."""

    name = "autolink"
    CONSTANT = 524267083 >> 2

    def __init__(self, base: Layer, degree: int) -> None:
        super().__init__(base)
        self.degree = degree

    def _run(self, e: Current, learns: bool) -> None:
        stepper = self.bottom.stepper
        self.base.predict(e)
        keys, values = stepper.features()
        more, power = [], e.prediction
        for _ in range(self.degree):
            if power != 0:
                more.append(power)
            power *= e.prediction
        stepper.set(keys + [self.CONSTANT + i for i in range(len(more))], values + more)
        if learns:
            self.base.learn(e)
        else:
            self.base.predict(e)
        stepper.set(keys, values)

    def predict(self, e: Current) -> None:
        self._run(e, False)

    def learn(self, e: Current) -> None:
        self._run(e, True)


class Confidence(Layer):
    """Tells how sure a prediction is: its distance from 0 over how far one example could move it."""

    name = "confidence"

    def __init__(self, base: Layer, afterwards: bool) -> None:
        super().__init__(base)
        self.afterwards = afterwards

    def _run(self, e: Current, learns: bool) -> None:
        label = e.label
        if not e.labelled:
            self.base.predict(e)
            e.label = -1.0 if e.prediction > 0 else 1.0
        target = e.label
        before = 0.0 if self.afterwards else sensitivity(self.bottom, e, target)
        e.label = label
        if learns:
            self.base.learn(e)
        else:
            self.base.predict(e)
        if self.afterwards:
            before = sensitivity(self.bottom, e, target)
        e.confidence = abs(e.prediction) / before if before else float("inf")

    def predict(self, e: Current) -> None:
        self._run(e, False)

    def learn(self, e: Current) -> None:
        self._run(e, True)


def sensitivity(bottom: Linear, e: Current, label: float) -> float:
    """How far the prediction would move per unit of the loss's slope, were the example learned with the label."""
    stepper = bottom.stepper
    rule = stepper.rule
    if not isinstance(rule, Gd):
        raise Critical("a sensitivity is needed, which only the gradient descent learner has", "learner.h", 400)
    p = stepper.predict(e.model, e.initial)
    slots = stepper.slots_of(stepper.keys_of(e.model))
    return float(rule.sensitivity(slots, stepper.features()[1], p, label, e.weight))


class Active(Layer):
    """Active learning: labels are asked for where they matter. In a simulation they are there, and left unread."""

    name = "active"

    def __init__(self, base: Layer, s: Setup, simulation: bool, mellowness: float) -> None:
        super().__init__(base)
        self.setup, self.simulation, self.c0 = s, simulation, mellowness
        self.queries = 0

    def predict(self, e: Current) -> None:
        self.base.predict(e)
        self._ask(e)

    def _ask(self, e: Current) -> None:
        if self.simulation or e.labelled:
            return
        stepper = self.bottom.stepper
        threshold = (stepper.max_label + stepper.min_label) / 2
        p = e.prediction
        found = sensitivity(self.bottom, e, -1.0 if p > threshold else 1.0)
        e.confidence = abs(p - threshold) / found if found else float("inf")

    def learn(self, e: Current) -> None:
        if not self.simulation:
            self.base.learn(e)
            self._ask(e)
            return
        self.base.predict(e)
        p, partial = e.prediction, e.partial
        found = sensitivity(self.bottom, e, e.label)
        e.confidence = abs(p) / found if found else float("inf")
        importance = self._importance(e.confidence)
        e.prediction, e.partial = p, partial
        if importance > 0:
            self.queries += 1
            e.weight *= importance
            self.base.learn(e)
        else:
            e.label, e.weight = float("nan"), 0.0

    def _importance(self, revert: float) -> float:
        s = self.setup.statistics
        k = s.t
        bias = 1.0
        if k > 1:
            average = s.sum_loss / k + sqrt((1 + 0.5 * log(k)) / (s.weighted_labeled_examples + 0.0001))
            bias = self._bias(k, average, revert / k)
        return 1 / bias if self.setup.random.next() < bias else -1.0

    def _bias(self, k: float, average: float, gap: float) -> float:
        b = self.c0 * (log(k + 1) + 0.0001) / (k + 0.0001)
        sl = sqrt(average) + sqrt(average + gap)
        if gap <= sqrt(b) * sl + b:
            return 1.0
        rs = (sl + sqrt(sl * sl + 4 * gap)) / (2 * gap)
        return b * rs * rs


class Interact(Layer):
    """The features of two namespaces that stand at the same places after the first, multiplied."""

    name = "interact"

    def __init__(self, base: Layer, letters: str, s: Setup) -> None:
        super().__init__(base)
        if len(letters) != 2:
            raise Critical("Need two namespace arguments to interact: " + letters + " won't do EXITING", "interact.cc")
        self.first, self.second = letters.encode()[:2]
        self.mask, self.streams = (1 << s.bits) - 1, s.streams
        s.streams.info(f"Interacting namespaces {letters[0]} and {letters[1]}")

    def _run(self, e: Current, learns: bool) -> None:
        stepper = self.bottom.stepper
        keys, values = stepper.features()
        spaces = _spaces(e, stepper.shift)
        one, two = spaces.get(self.first), spaces.get(self.second)
        if one and two and one[0][1] == 1 and two[0][1] == 1:
            first = [key for key, _ in one]
            second = [key for key, _ in two]
            gone = {*first, *second}
            rest = [(key, x) for key, x in zip(keys, values, strict=True) if key not in gone]
            made = self._multiply(one, two)
            stepper.set([key for key, _ in made + rest], [x for _, x in made + rest])
        if learns:
            self.base.learn(e)
        else:
            self.base.predict(e)
        stepper.set(keys, values)

    def _multiply(self, one: list[tuple[int, float]], two: list[tuple[int, float]]) -> list[tuple[int, float]]:
        made = [(one[0][0], one[0][1] * two[0][1])]
        base_one, base_two = one[0][0] & self.mask, two[0][0] & self.mask
        i = j = 1
        while i < len(one) and j < len(two):
            a = ((one[i][0] & self.mask) - base_one) & self.mask
            b = ((two[j][0] & self.mask) - base_two) & self.mask
            if a == b:
                made.append((one[i][0], one[i][1] * two[j][1]))
                i += 1
                j += 1
            elif a < b:
                i += 1
            else:
                j += 1
        return made

    def predict(self, e: Current) -> None:
        self._run(e, False)

    def learn(self, e: Current) -> None:
        self._run(e, True)


def merand(x: int) -> float:
    """Vowpal Wabbit's number for a seed."""
    return uniform((x * 0xEECE66D5DEECE66D + 2147483647) & 0xFFFFFFFFFFFFFFFF)


class Lrq(Layer):
    """Low rank quadratic features: each feature has vectors of weights, which multiply those of another namespace."""

    def __init__(self, base: Layer, pairs: list[tuple[int, int, int]], s: Setup, dropout: bool) -> None:
        super().__init__(base)
        self.pairs, self.dropout, self.name = pairs, dropout, "lrq"
        self.rank = max(k for _, _, k in pairs)
        self.width = 1 + self.rank
        self.stride, self.counter = s.stride, 0
        self.random = Random(s.arguments.get("random_seed", 0))
        self.low_rank = [(left, right, k, 0, 0, 1.0) for left, right, k in pairs]

    def predict(self, e: Current) -> None:
        self._run(e, False)

    def learn(self, e: Current) -> None:
        self._run(e, True)

    def _run(self, e: Current, learns: bool) -> None:
        stepper = self.bottom.stepper
        shift = max(0, (self.bottom_models() - 1).bit_length())
        keys, values = stepper.features()
        constant = 1 if stepper.expander.constant_key is not None else 0
        spaces = _spaces(e, shift)
        dropping = self.dropout and learns and not e.test
        scale = 0.5 if self.dropout and not dropping else 1.0
        kept: tuple[float, float, float] | None = None
        which = self.counter
        self.counter += 1
        for iteration in range(2 if learns and not e.test else 1):
            more_keys: list[int] = []
            more_values: list[float] = []
            for pair in self.low_rank:
                one, other, k, one_id, other_id, shrink = pair
                swapped = (which + iteration) % 2
                left, right = (other, one) if swapped else (one, other)
                left_id, right_id = (other_id, one_id) if swapped else (one_id, other_id)
                for lkey, lx in spaces.get(left, ()):
                    for n in range(1, k + 1):
                        if dropping and self.random.next() < 0.5:
                            continue
                        place = (lkey + right_id * k + n) & stepper_mask(stepper)
                        w = stepper.weight(place)
                        if learns and not e.test and w == 0:
                            w = merand(place * self.stride) * shrink
                            stepper.rule.set_weight(place, w)
                        for rkey, rx in spaces.get(right, ()):
                            more_keys.append((rkey + left_id * k + n) & 0xFFFFFFFF)
                            more_values.append(scale * w * lx * rx)
            end = len(keys) - constant
            stepper.set(keys[:end] + more_keys + keys[end:], values[:end] + more_values + values[end:])
            if learns:
                self.base.learn(e)
            else:
                self.base.predict(e)
            if kept is None:
                kept = (e.prediction, e.loss, e.partial)
        stepper.set(keys, values)
        assert kept is not None
        e.prediction, e.loss, e.partial = kept

    def bottom_models(self) -> int:
        return self.width * self.base.models


class Lrqfa(Lrq):
    """The same with a vector for every pair of fields: a field-aware factorization."""

    def __init__(self, base: Layer, fields: str, k: int, s: Setup) -> None:
        letters = fields.encode()
        pairs = [(letters[i], letters[j], k) for i in range(len(letters)) for j in range(i + 1, len(letters))]
        super().__init__(base, pairs or [(letters[0], letters[0], k)], s, False)
        self.name = "lrqfa"
        self.width = 1 + k * len(letters)
        ids = {letter: i for i, letter in enumerate(letters)}
        # With the first of a pair on the right in even turns.
        self.low_rank = [(b, a, k, ids[b], ids[a], 0.5 / sqrt(k)) for a, b, k in pairs]


def stepper_mask(stepper: Any) -> int:
    return int(stepper.key(0xFFFFFFFF) | stepper.key(0, 0xFFFFFFFF))


def _spaces(e: Current, shift: int) -> dict[int, list[tuple[int, float]]]:
    """Keys in model 0 and values of the features of each namespace."""
    batch, line = e.batch, e.line
    found: dict[int, list[tuple[int, float]]] = {}
    for span in range(batch.span_begin[line], batch.span_begin[line + 1]):
        begin, end = batch.feature_begin[span], batch.feature_begin[span + 1]
        found.setdefault(batch.letter[span], []).extend(
            ((h << shift) & 0xFFFFFFFF, x) for h, x in zip(batch.hash[begin:end], batch.value[begin:end], strict=True)
        )
    return found
