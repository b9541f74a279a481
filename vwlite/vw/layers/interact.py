"""Products of the features of two namespaces, position by position: interact."""

from vwlite.vw.layers.base import Current, Layer, Symmetric
from vwlite.vw.messages import Critical
from vwlite.vw.setup import Setup
from vwlite.vw.text.examples import MASK, spans_of


class Interact(Symmetric):
    """The products of the features of two namespaces at the same positions after the first."""

    option = name = "interact"
    compatible_with = ("batches",)

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        letters = s.arguments["interact"]
        if len(letters) != 2:
            raise Critical("Need two namespace arguments to interact: " + letters + " won't do EXITING", "interact.cc")
        self.first, self.second = letters.encode()[:2]
        self.mask = (1 << s.plan.bits) - 1
        s.streams.info(f"Interacting namespaces {letters[0]} and {letters[1]}")

    def run(self, e: Current, learns: bool) -> None:
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
        self.pass_on(e, learns)
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


def _spaces(e: Current, shift: int) -> dict[int, list[tuple[int, float]]]:
    """Keys in model 0 and values of the features of each namespace."""
    found: dict[int, list[tuple[int, float]]] = {}
    for letter, begin, end in spans_of(e.batch, e.line):
        hashes, values = e.batch.hash[begin:end], e.batch.value[begin:end]
        found.setdefault(letter, []).extend(((h << shift) & MASK, x) for h, x in zip(hashes, values, strict=True))
    return found
