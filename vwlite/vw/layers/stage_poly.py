"""Polynomial features that grow in stages: --stage_poly.

A monomial whose weight is among the largest becomes a parent: its products with every feature of the example, its
children, are features from then on. Agarwal, Beygelzimer, Hsu, Langford, Telgarsky. Scalable Nonlinear Learning with
Adaptive Polynomial Expansions, NIPS 2014.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from vwlite.core.data.expand import CONSTANT_HASH
from vwlite.vw.layers.base import Current, Layer, counts_of
from vwlite.vw.models.binary import SlotLayout
from vwlite.vw.setup import Setup
from vwlite.vw.text.parser import to_float

PRIME = 16777619
NO_DEPTH = 127  # of a slot without a monomial
PARENT, MARK = 1, 128
TOLERANCE = 1e-9


@dataclass(order=True)
class Monomial:
    """A monomial that may become a parent."""

    weight: float
    key: int = field(compare=False)


class StagePoly(Layer):
    """Learns over the monomials that the parents produce, instead of the features."""

    option = name = "stage_poly"
    predicts_first = True

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        a = s.arguments
        self.setup, self.exponent, self.batch = s, a.get("sched_exponent", 1.0), a.get("batch_sz", 1000)
        self.doubles = not a.flag("batch_sz_no_doubling")
        self.counts = not any(layer.ensemble for layer in s.layers)  # else features are counted, not monomials
        self.stepper = self.bottom.stepper
        self.mask = (1 << s.plan.bits) - 1
        self.root = self.stepper.key(CONSTANT_HASH)
        # For each slot, the least depth of a monomial in it, and whether it is a parent.
        self.slots = bytearray(bytes((NO_DEPTH, MARK)) * (self.mask + 1))
        self.next = self.batch  # the number of the example after which parents are made
        self.last = -1  # the number of the last example learned
        self.grows = False  # before the next example that is learned
        self.examples = self.features = 0
        self.passes = 1

    # --- monomials ---------------------------------------------------------------------------

    def _linear(self, e: Current) -> int:
        """The number of features that are not interactions, including those of --ignore_linear."""
        counts = counts_of(e, self.setup.plan.shape.dropped)
        return sum(counts.values()) + (self.stepper.expander.constant_key is not None)

    def _child(self, key: int, parent: int) -> int:
        if key == self.root:
            return parent
        if parent == self.root:
            return key
        return (key ^ PRIME * parent) & self.mask

    def _expand(self, e: Current, learns: bool) -> list[tuple[int, float]]:
        """The monomials of the example. If the example is learned, each slot keeps the least depth of its monomials."""
        slots, mask, offset = self.slots, self.mask, e.model
        atoms = [(key & mask, x) for key, x in zip(*self.stepper.features(), strict=True)]
        found: list[tuple[int, float]] = []
        seen: set[int] = set()
        # A parent at work: how far its children are done, its key and its value.
        stack = [(0, self.root, 1.0)]
        while stack:
            at, parent, factor = stack.pop()
            depth = len(stack)
            while at < len(atoms):
                atom, x = atoms[at]
                at += 1
                key = self._child(atom, parent)
                place = 2 * ((key + offset) & mask)
                if learns and depth < slots[place]:
                    slots[place + 1] &= ~PARENT
                    slots[place] = depth
                if key in seen or min(depth, NO_DEPTH) != slots[place]:
                    continue
                seen.add(key)
                x = to_float(x * factor)
                found.append((key, x))
                if slots[place + 1] & PARENT:
                    stack += [(at, parent, factor), (0, key, x)]
                    break
        return found

    # --- parents -----------------------------------------------------------------------------

    def _grow(self) -> None:
        """The monomials with the largest weights become parents."""
        slots, fields = self.slots, self.setup.plan.fields
        size = 2 if fields[1:2] not in ((), ("G",), ("N",)) else fields.index("N") if "N" in fields else 0
        capacity = int(to_float(to_float(self.features / self.examples) ** self.exponent))
        # Which one of equal weights is left out is up to the heap, which must be Vowpal Wabbit's.
        heap: list[Monomial] = []
        for key, floats in sorted(SlotLayout(self.stepper.rule, fields).read()):
            found = Monomial(to_float(abs(floats[0]) * floats[size]), key)
            if found.weight <= TOLERANCE or key == self.root or slots[2 * key + 1] & PARENT:
                continue
            if len(heap) == capacity and heap and heap[0] < found:
                heappop(heap)
            if len(heap) < capacity:
                heappush(heap, found)
        for chosen in heap:
            slots[2 * chosen.key + 1] ^= PARENT

    def end_pass(self) -> None:
        super().end_pass()
        if not self.batch and self.passes != self.setup.arguments.get("passes", 1):
            self.grows = True
            self.passes += 1

    # --- examples ----------------------------------------------------------------------------

    def predict(self, e: Current) -> None:
        self._run(e, False)

    def learn(self, e: Current) -> None:
        if self.grows:
            self._grow()
            self.grows = False
        self._run(e, True)
        due = self.next if self.doubles else self.batch
        if e.counter and self.last != e.counter and self.batch and e.counter % due == 0:
            self.next *= 2
            self.grows = True
        self.last = e.counter

    def _run(self, e: Current, learns: bool) -> None:
        keys, values = self.stepper.features()
        found = self._expand(e, learns)
        if learns:
            self.features += self._linear(e)
            self.examples += 1
        self.stepper.set([key for key, _ in found], [x for _, x in found])
        e.made_names = [b""] * len(found)
        if learns:
            self.base.learn(e)
        else:
            self.base.predict(e)
        self.stepper.set(keys, values)
        e.made_names = None
        if self.counts:
            e.features = len(found)

    # --- models ------------------------------------------------------------------------------

    def saved_bytes(self) -> bytes:
        return bytes(self.slots) + super().saved_bytes()

    def load(self, source: Any) -> None:
        self.slots[:] = source.take(len(self.slots))
        super().load(source)
