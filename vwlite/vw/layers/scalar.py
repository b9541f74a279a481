"""Reductions that predict a number: bootstrap, boosting, autolink, lrq, lrqfa, confidence, active, interact."""

import struct
from itertools import combinations, groupby
from math import comb, exp, floor, isfinite, log, sqrt
from typing import Any

from vwlite.core.rules.gd import Gd
from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Current, Layer, Linear
from vwlite.vw.messages import Critical, short
from vwlite.vw.models.binary import damaged
from vwlite.vw.plan import Setup
from vwlite.vw.random import Random, uniform
from vwlite.vw.text.examples import example_of
from vwlite.vw.text.labels import tagged
from vwlite.vw.text.parser import to_float

Spaces = dict[int, list[tuple[int, float, bytes]]]

POISSON = (
    0.3678794411714423, 0.7357588823428847, 0.9196986029286058, 0.9810118431238462, 0.9963401531726563,
    0.9994058151824183, 0.9999167588507119, 0.9999897508033253, 0.9999988747974020, 0.9999998885745217,
    0.9999999899522336, 0.9999999991683893, 0.9999999999364022, 0.9999999999954802,
)  # fmt: skip


class Bootstrap(Layer):
    """Several models, each with its own random importances; their mean or vote is predicted."""

    name = "bootstrap"

    def __init__(self, base: Layer, rounds: int, kind: str, s: Setup, loss: Any) -> None:
        super().__init__(base)
        self.width, self.kind, self.setup, self.random, self.loss = rounds, kind, s, s.random, loss
        self.predicts_apart = False

    def _draw(self) -> float:
        x = self.random.next()
        return float(next((i for i, edge in enumerate(POISSON) if x <= edge), 20))

    def _all(self, e: Current, learns: bool) -> None:
        weight, found, raw = e.weight, [], []
        for i in range(self.width):
            e.weight = weight * self._draw()
            if learns:
                self.learn_with(e, i)
            else:
                self.predict_with(e, i)
            found.append(e.prediction)
            raw.append(f"{i + 1}:{e.partial:g}")
        e.weight = weight
        e.range = (min(found), max(found))  # type: ignore[attr-defined]
        if self.kind == "vote":
            e.prediction = _vote(found)
            e.loss = 0.0 if e.prediction == e.label else e.weight  # also without a label
        else:
            e.prediction = sum(found) / len(found)
            if e.weight > 0 and e.labelled:
                e.loss = self.loss(e.prediction, e.label) * e.weight
        if self.setup.raw is not None:
            self.setup.raw.write(tagged(" ".join(raw), e))

    def predict(self, e: Current) -> None:
        self._all(e, False)

    def learn(self, e: Current) -> None:
        self._all(e, True)


def _vote(found: list[float]) -> float:
    """The whole number that most of the predictions round to, as Vowpal Wabbit finds it.

    What remains when different ones cancel each other out; if that was not a choice between two, the most frequent one,
    the least of several. There the largest of all does not count, as if it were the end of the list.
    """
    votes = [floor(p + 0.5) if isfinite(p) else p for p in found]
    first = kept = votes[0]
    ahead, several = 0, False
    for vote in votes:
        several = several or len({first, kept, vote}) == 3
        if ahead == 0:
            kept = vote
        ahead += 1 if vote == kept else -1
    if several and not (ahead and 2 * votes.count(kept) > len(votes)):
        runs = [(len(list(run)), vote) for vote, run in groupby(sorted(votes))]
        most = max((size for size, _ in runs[:-1]), default=1)
        if most > 1:
            kept = next(vote for size, vote in runs if size == most)
    return float(kept)


class Boosting(Layer):
    """Online boosting: BBM, logistic or adaptive. Beygelzimer, Kale, Luo. Optimal and Adaptive Algorithms for Online
    Boosting, ICML 2015."""

    def __init__(self, base: Layer, rounds: int, kind: str, gamma: float, s: Setup) -> None:
        super().__init__(base)
        self.width, self.kind, self.gamma, self.random = rounds, kind, to_float(gamma), s.random
        self.name = "boosting" if kind == "BBM" else f"boosting-{kind}"
        self.predicts_apart = True
        self.streams, self.statistics = s.streams, s.statistics
        self.quiet = s.arguments.flag("quiet")
        self.alpha = [0.0] * rounds
        self.v = [1.0] * rounds
        self.t = 0
        self.streams.info(f"Number of weak learners = {rounds}")
        self.streams.info(f"Gamma = {shortest(self.gamma)}")

    def predict(self, e: Current) -> None:
        total, passed = 0.0, 0.0
        stop = self.random.next() if self.kind == "adaptive" else float("inf")
        for i in range(self.width):
            self.predict_with(e, i)
            if passed > stop:
                break
            total += e.prediction * (1.0 if self.kind == "BBM" else self.alpha[i])
            passed += self.v[i]
        e.prediction = to_float(total)

    def learn(self, e: Current) -> None:
        weight, s, total = e.weight, 0.0, 0.0
        self.t += 1
        eta = 4 / sqrt(self.t)
        adaptive = self.kind == "adaptive"
        stop = self.random.next() if adaptive else float("inf")
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
                if adaptive:
                    partial += e.prediction * self.alpha[i]
                    passed += self.v[i]
                    if e.label * partial < 0:
                        self.v[i] = to_float(self.v[i] * 0.36788)
                    norm += self.v[i]
                self.alpha[i] = to_float(min(max(self.alpha[i] + eta * z / (1 + _safe_exp(s)), -2.0), 2.0))
            self.learn_with(e, i)
        if adaptive and norm:
            self.v = [to_float(v / norm) for v in self.v]
        e.weight = weight
        e.prediction = to_float(total)

    def _bbm(self, i: int, s: float) -> float:
        left = self.width - (i + 1)
        if not isfinite(s):
            return 0.0
        k = floor((self.width - i - s) / 2)
        if k > left or k < 0:
            return 0.0
        return float(comb(left, k) * (0.5 + self.gamma) ** k * (0.5 - self.gamma) ** (left - k))

    # --- models: BBM keeps nothing ---------------------------------------------------------

    def _kept(self) -> list[tuple[str, float]]:
        kept = [("alpha", x) for x in self.alpha] if self.kind != "BBM" else []
        return kept + [("v", x) for x in self.v] if self.kind == "adaptive" else kept

    def _tell(self, what: str) -> None:
        """Say what is kept, which Vowpal Wabbit does whenever it reads or writes a model."""
        if self.kind == "adaptive":
            rows = [f"{shortest(alpha)} {shortest(v)}" for alpha, v in zip(self.alpha, self.v, strict=True)]
            self.streams.info("\n".join([what.format("alpha and v"), *rows, ""]))
        elif self.kind == "logistic" and not self.quiet:
            self.streams.info("\n".join([what.format("alpha"), *map(shortest, self.alpha), ""]))

    def _tell_saved(self) -> None:
        self._tell(f"Saving {{}}, current weighted_examples = {shortest(self.statistics.weight)}")

    def saved_text(self) -> str:
        kept = self._kept()
        self._tell_saved()
        lines = [f"boosts {self.width}\n"] if kept else []
        return "".join(lines + [f"{name} {short(x)}\n" for name, x in kept]) + super().saved_text()

    def saved_bytes(self) -> bytes:
        kept = self._kept()
        self._tell_saved()
        head = struct.pack("<i", self.width) if kept else b""
        return head + b"".join(struct.pack("<f", x) for _, x in kept) + super().saved_bytes()

    def load(self, source: Any) -> None:
        if self.kind != "BBM":
            if source.number("<i") != self.width:
                raise damaged(source.path, "its number of weak learners is another")
            self.alpha = [source.number("<f") for _ in range(self.width)]
            if self.kind == "adaptive":
                self.v = [source.number("<f") for _ in range(self.width)]
            self._tell("Loading {}: ")
        super().load(source)


def shortest(x: float) -> str:
    """The shortest digits that give the same 32-bit float, as Vowpal Wabbit's log shows numbers."""
    for digits in range(1, 10):
        text = f"{x:.{digits}g}"
        if to_float(float(text)) == to_float(x):
            break
    return text


def _safe_exp(x: float) -> float:
    return exp(min(x, 700.0))


class Autolink(Layer):
    """Powers of the prediction become features.

    In Vowpal Wabbit these lie one float apart, from a float that begins no slot: what is the sum of squared slopes of
    one is the weight of the next. Learned by gradient descent they do so here.
    """

    name = "autolink"
    CONSTANT = 524267083

    def __init__(self, base: Layer, degree: int, s: Setup) -> None:
        super().__init__(base)
        self.degree, self.fields, self.stride = degree, s.fields, s.stride
        self.mask = (s.stride << s.bits) - 1
        self.power_t = s.power_t
        self.rest: dict[int, float] = {}  # floats that no slot of the table has
        self.adax = s.arguments.flag("adax")
        self.packed = s.stride == 4 and isinstance(self.bottom.stepper.rule, Gd)

    # --- floats, as they lie in Vowpal Wabbit's memory ------------------------------------------

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

    def _run(self, e: Current, learns: bool) -> None:
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
            self._base(e, learns)
            stepper.set(keys, values)
            return
        start = self.CONSTANT + 4 * e.model
        initial = e.initial
        e.initial += sum(self._get(start + i) * x for i, x in enumerate(powers))
        rates = self._adapt(e, start, powers) if learns else None
        self._base(e, learns)
        e.initial = initial
        if rates:
            for i, x in enumerate(powers):
                rate = self._get(start + i + len(self.fields))
                self._put(start + i, self._get(start + i) + stepper.rule.moved * x * rate)
            stepper.rule.more_h = stepper.rule.more_norms = 0.0

    def _base(self, e: Current, learns: bool) -> None:
        if learns:
            self.base.learn(e)
        else:
            self.base.predict(e)

    def _adapt(self, e: Current, start: int, powers: list[float]) -> bool:
        """Add the slope to the sums of the powers, and tell the rule; whether there is a slope."""
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
                # Below 0 because it is a weight as well: Vowpal Wabbit's steps are no numbers from then on.
                total = self._get(at["G"])
                rate = total**-self.power_t if total > 0 else 0.0
            if normalized:
                rate /= self._get(at["N"]) ** ((1 if adaptive else 2) if self.power_t == 0.5 else 2 - 2 * self.power_t)
            self._put(start + i + len(self.fields), rate)
            rule.more_h += size * size * to_float(rate)
        return True

    def predict(self, e: Current) -> None:
        self._run(e, False)

    def learn(self, e: Current) -> None:
        self._run(e, True)


class Confidence(Layer):
    """Tells how sure a prediction is: its distance from 0 over how far one example could move it."""

    name = "confidence"

    def __init__(self, base: Layer, afterwards: bool, pool: int) -> None:
        super().__init__(base)
        self.afterwards, self.predicts_apart = afterwards, False
        self.stale = [0.0] * pool
        self.last: Current | None = None

    def _before(self, e: Current) -> float:
        """What an example shows before it is predicted: the prediction of the one that had its place in the pool."""
        if self.last is not None:
            self.stale[self.last.counter % len(self.stale)] = self.last.prediction
        self.last = e
        return self.stale[e.counter % len(self.stale)]

    def _run(self, e: Current, learns: bool) -> None:
        found = self._before(e)
        target = e.label
        if not e.labelled:
            self.base.predict(e)
            found = e.prediction
            target = -1.0 if found > 0 else 1.0
        if not self.afterwards:
            moves = sensitivity(self.bottom, e, target, found)
        if learns:
            self.base.learn(e)
        else:
            self.base.predict(e)
        if self.afterwards:
            moves = sensitivity(self.bottom, e, e.label if e.labelled else NO_LABEL, e.prediction)
        e.confidence = abs(e.prediction) / moves if moves else float("inf")

    def predict(self, e: Current) -> None:
        self._run(e, False)

    def learn(self, e: Current) -> None:
        self._run(e, True)


NO_LABEL = 3.4028234663852886e38  # Vowpal Wabbit's number for it


def sensitivity(bottom: Linear, e: Current, label: float, p: float) -> float:
    """How far the prediction would move per unit of the loss's slope at p, were the example learned with the label."""
    stepper = bottom.stepper
    rule = stepper.rule
    if not isinstance(rule, Gd):
        raise Critical("a sensitivity is needed, which only the gradient descent learner has", "learner.h", 400)
    stepper.select(e.model)
    slots = stepper.slots_of(stepper.keys_of(e.model))
    return float(rule.sensitivity(slots, stepper.features()[1], p, label, e.weight))


class Active(Layer):
    """Active learning: labels are asked for where they matter. In a simulation they are there, and left unread.

    Beygelzimer, Hsu, Langford, Zhang. Agnostic Active Learning Without Constraints, NIPS 2010.
    """

    def __init__(self, base: Layer, s: Setup, a: Arguments) -> None:
        super().__init__(base)
        self.setup, self.c0 = s, a.get("mellowness", 1.0)
        self.simulation = a.flag("simulation")
        self.direct = a.flag("direct") and not self.simulation
        self.name = "active-simulation" if self.simulation else "active"
        if self.simulation:
            self.predicts_apart = False
        self.low, self.high = 0.0, 1.0  # the labels seen, widened from these
        self.queries = 0

    def predict(self, e: Current) -> None:
        self.base.predict(e)
        if not self.simulation:
            self._ask(e)

    def learn(self, e: Current) -> None:
        if self.simulation:
            self._simulate(e)
        else:
            self.base.learn(e)
            self._ask(e)

    def _ask(self, e: Current) -> None:
        """Of an example without a label: how much the other label would matter."""
        if e.labelled:
            self.low, self.high = min(self.low, e.label), max(self.high, e.label)
            return
        if self.direct and not e.tag.startswith(b"query?"):
            return
        stepper = self.bottom.stepper
        threshold = (stepper.max_label + stepper.min_label) / 2
        found = sensitivity(self.bottom, e, self.low if e.prediction >= threshold else self.high, e.prediction)
        e.confidence = abs(e.prediction - threshold) / found if found else float("inf")
        if self.direct:
            e.prediction = self.decide(e.confidence, self.setup.statistics.weighted_unlabeled_examples)

    def _simulate(self, e: Current) -> None:
        self.base.predict(e)
        found = sensitivity(self.bottom, e, e.label, e.prediction)
        e.confidence = abs(e.prediction) / found if found else float("inf")
        importance = self.decide(e.confidence, self.setup.statistics.t)
        if importance > 0:
            self.queries += 1
            e.weight *= importance
            self.base.learn(e)
        else:
            self.setup.statistics.see_label(e.label)
            e.label, e.weight = float("nan"), 0.0

    def decide(self, revert: float, count: float) -> float:
        """The importance of an example whose label is asked for, by chance; -1 if it is not. revert: updates that
        would turn the prediction; count: examples so far."""
        bias = 1.0
        if count > 1:
            average = min(max(self.setup.statistics.sum_loss / count, 0.0), 1.0)
            bias = self._bias(count, average, revert / count)
        return 1 / bias if self.setup.random.next() < bias else -1.0

    def _bias(self, count: float, average: float, gap: float) -> float:
        b = self.c0 * (log(count + 1) + 0.0001) / (count + 0.0001)
        if gap <= sqrt(b) * min(1.0, sqrt(average + gap)) + b:
            return 1.0
        root = (sqrt(b) + sqrt(b + 4 * gap * b)) / 2 * gap
        return root * root


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
    """Low rank quadratic features: each feature has vectors of weights, which multiply those of another namespace.

    An example is learned twice, once with each side of a pair held. See Rendle. Factorization Machines, ICDM 2010.
    """

    name = "lrq"

    def __init__(self, base: Layer, pairs: list[tuple[int, int, int]], s: Setup, dropout: bool) -> None:
        super().__init__(base)
        self.setup, self.pairs, self.dropout = s, pairs, dropout
        self.width = 1 + max(rank for _, _, rank in pairs)
        self.random = Random(s.random.state | 8675309)
        words = "".join(f"{chr(one)}{chr(other)}{rank} " for one, other, rank in pairs)
        s.header_lines.append(
            f"creating low rank quadratic features for pairs: {'(using dropout) ' if dropout else ''}{words}"
        )
        letters = [letter for one, other, _ in pairs for letter in (one, other)]
        for letter in sorted(set(letters)):
            if letters.count(letter) > 1:
                s.streams.warn(
                    f"Namespace '{chr(letter)}' appears in {letters.count(letter)} LRQ pairs. This may cause weight "
                    "collisions."
                )

    def predict(self, e: Current) -> None:
        self._run(e, False)

    def learn(self, e: Current) -> None:
        self._run(e, True)

    def _run(self, e: Current, learns: bool) -> None:
        stepper = self.bottom.stepper
        keys, values = stepper.features()
        spaces = _bare_spaces(e, self.setup, stepper.shift)
        which = e.counter if learns else 0
        shown = loss = confidence = 0.0
        for turn in range(2 if learns else 1):
            more = self._products(e, spaces, (which + turn) % 2, learns)
            stepper.set(keys + [key for key, _, _ in more], values + [x for _, x, _ in more])
            e.more_names = [name for _, _, name in more]
            if learns:
                self.base.learn(e)
            else:
                self.base.predict(e)
            if turn == 0:
                shown, loss, confidence = e.prediction, e.loss, e.confidence
        stepper.set(keys, values)
        e.more_names = []
        e.prediction, e.loss, e.confidence = shown, loss, confidence

    def _products(self, e: Current, spaces: Spaces, odd: int, learns: bool) -> list[tuple[int, float, bytes]]:
        """Key, value and name of the features that a turn adds."""
        drops = self.dropout and learns
        scale = 0.5 if self.dropout and not drops else 1.0
        found = []
        for one, other, rank in self.pairs:
            left, right = (other, one) if odd else (one, other)
            for base, x, _ in spaces.get(left, ()):
                for n in range(1, rank + 1):
                    if drops and self.random.next() <= 0.5:
                        continue
                    w = self._weight(base + e.model + n, 1.0, learns)
                    for key, y, name in spaces.get(right, ()):
                        found.append((key + n, scale * w * x * y, b"lrq^%c^%s^%d" % (right, name, n)))
        return found

    def _weight(self, place: int, size: float, learns: bool) -> float:
        """The weight in a place, which is no longer 0 when it has been learned."""
        stepper = self.bottom.stepper
        w = float(stepper.weight(place & 0xFFFFFFFF))
        if learns and w == 0:
            w = merand(place * self.setup.stride) * size
            stepper.set_weight(place & 0xFFFFFFFF, w)
        return w


class Lrqfa(Lrq):
    """The same with a vector for every pair of fields: a field-aware factorization."""

    name = "lrqfa"

    def __init__(self, base: Layer, fields: str, rank: int, s: Setup) -> None:
        Layer.__init__(self, base)
        self.setup, self.fields, self.rank = s, fields.encode(), rank
        self.width = 1 + rank * len(self.fields)
        self.ids = {letter: i for i, letter in enumerate(self.fields)}
        # The second turn finds the keys of the first one before its own, because Vowpal Wabbit leaves them there.
        self.held: dict[int, list[int]] = {}

    def _run(self, e: Current, learns: bool) -> None:
        self.held.clear()
        super()._run(e, learns)

    def _products(self, e: Current, spaces: Spaces, odd: int, learns: bool) -> list[tuple[int, float, bytes]]:
        found: dict[int, list[tuple[int, float, bytes]]] = {}
        rank, ids = self.rank, self.ids
        for one, other in combinations(self.fields, 2):
            left, right = (one, other) if odd else (other, one)
            for base, x, _ in spaces.get(left, ()):
                for n in range(1, rank + 1):
                    # As in Vowpal Wabbit, this is the first model's weight even where others learn.
                    w = self._weight(base + ids[right] * rank + n, 0.5 / sqrt(rank), learns)
                    for key, y, name in spaces.get(right, ()):
                        product = key + ids[left] * rank + n, w * x * y, b"lrqfa^%c^%s^%d" % (right, name, n)
                        found.setdefault(right, []).append(product)
        out = []
        for right, products in found.items():
            keys = self.held.setdefault(right, [])
            keys += [key for key, _, _ in products]
            out += [(key, x, name) for key, (_, x, name) in zip(keys, products, strict=False)]
        return out


def _bare_spaces(e: Current, s: Setup, shift: int) -> Spaces:
    """Index in model 0, not cut to the table, value and bare name of the features of each namespace that is kept."""
    example = example_of(e.batch, e.line, e.names)
    mask = (1 << s.bits) - 1
    return {
        letter: [
            ((h & mask) << shift, x, name if letter == 32 else name.partition(b"^")[2])
            for h, x, name in zip(space.hashes, space.values, space.names, strict=True)
        ]
        for letter, space in example.spaces.items() if not s.dropped(letter)
    }


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
