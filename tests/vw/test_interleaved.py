"""Classes whose keys interleave outside: what goes in as single records comes out as them."""

import struct

import pytest

from vwlite.core.learn.losses import Squared
from vwlite.core.vw.gd_flags import GdWithFlags
from vwlite.core.vw.interleaved import Interleaved, load_slots


def record(key: int, w: float) -> bytes:
    """Of gd: mark, w, G, N."""
    return struct.pack("<Ifff", (key + 1) & 0xFFFFFFFF, w, 1.0, 2.0)


def interleaved(classes: int, shift: int) -> Interleaved:
    return Interleaved([GdWithFlags(Squared()) for _ in range(classes)], shift=shift)


def test_records_come_back_by_rising_key_also_those_of_no_class():
    """There are keys for four classes, and three of them: key 4 f + 3 is of none."""
    keys = [0, 2, 3, 7, 9, 10, 11, 2**32 - 4, 2**32 - 1]
    records = [record(key, 1.0 + key % 7) for key in keys]
    rule = interleaved(3, 2)
    load_slots(rule, b"".join(reversed(records)))
    assert bytes(rule.slots()) == b"".join(records)


def test_blank_records_do_not_come_back():
    rule = interleaved(2, 1)
    load_slots(rule, record(6, 0.5))
    assert bytes(rule.slots()) == record(6, 0.5)
    assert len(rule) == 1 and rule.records == 2


def test_one_class_has_the_keys_of_a_rule():
    rule = interleaved(1, 0)
    load_slots(rule, record(5, 0.25) + record(2**32 - 1, 3.0))
    assert bytes(rule.slots()) == record(5, 0.25) + record(2**32 - 1, 3.0)


def test_sums_are_of_the_first_class_and_time_of_all():
    rule = interleaved(3, 2)
    rule.norm_sum, rule.weight_sum, rule.elapsed = 5.0, 2.0, 7.0
    assert [(r.norm_sum, r.weight_sum, r.elapsed) for r in rule.rules] == [(5, 2, 7), (0, 0, 7), (0, 0, 7)]


@pytest.mark.parametrize(("classes", "shift"), [(3, 1), (2, 0), (1, 32), (1, -1)])
def test_keys_for_fewer_classes_are_refused(classes, shift):
    with pytest.raises(ValueError, match="classes, and keys for"):
        interleaved(classes, shift)
