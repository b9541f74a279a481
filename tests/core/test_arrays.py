"""Functions of arrays, by their definitions in NumPy."""

import numpy as np
import pytest

from vwlite.core.base.arrays import first_apart, spread


@pytest.mark.parametrize("kind", ["<u4", "<f4", "<f8"])
def test_numbers_are_spread_into_slots(kind):
    rng = np.random.default_rng(1)
    slot = np.dtype([("a", "<u4"), ("x", kind), ("b", "<u4")])
    for n in (0, 1, 5):
        slots, numbers = np.zeros(n, slot), rng.integers(0, 100, 3 * n).astype(kind)
        data = bytearray(slots.tobytes())
        spread(data, slot.fields["x"][1], slot.itemsize, memoryview(numbers)[1::3])
        slots["x"] = numbers[1::3]
        assert data == slots.tobytes()
    with pytest.raises(ValueError, match="places"):
        spread(bytearray(15), 8, 4, memoryview(np.zeros(2, "<f4"))[:])


def test_the_first_place_where_numbers_differ():
    some = np.array([1.0, -2.0, 0.0, 1e-45, 3.0])
    for at in range(len(some)):
        others = some.copy()
        others[at] += 1
        assert [first_apart(some, others, begin) for begin in range(6)] == [at if at >= i else -1 for i in range(6)]
    assert first_apart(some, some * (1 + 1e-7), 0, 1e-6) == first_apart(some, np.where(some == 1e-45, 0, some)) == -1
    assert first_apart(some, some * (1 + 1e-5), 0, 1e-6) == 0
    assert first_apart(some, np.array([1.0, np.nan, 0, 0, 3])) == 1
    with pytest.raises(ValueError, match="as many"):
        first_apart(some, some[1:])
