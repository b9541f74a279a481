"""`record` beside `dataclass`: the same arguments, equality, hashes and errors."""

from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from vwlite.records import record


def made(by):
    @by(frozen=True)
    class Base:
        a: int
        b: list = field(default_factory=list)

    @by(frozen=True)
    class Row(Base):
        c: str = "c"
        d: object = field(default=None, compare=False)

    return Row


ROWS = {by: made(by) for by in (record, dataclass)}


@pytest.mark.parametrize(
    ("given", "named"),
    [((1,), {}), ((1, [2]), {"c": "x"}), ((), {"c": "y", "a": 3}), ((1, [], "c", 4), {}), ((), {}), ((), {"c": "z"}),
     ((1,), {"a": 2}), ((1, [], "c", 4, 5), {}), ((1,), {"e": 6})],
)
def test_arguments(given, named):
    found = []
    for row in ROWS.values():
        try:
            found.append([vars(row(*given, **named))[f.name] for f in fields(row)])
        except TypeError:
            found.append(None)
    assert found[0] == found[1]


def test_values():
    Row = ROWS[record]
    one, same, other = Row(1), Row(1, d=5), Row(1, c="other")
    assert one == same and one != other and one != 1
    assert replace(one, c="other") == other
    assert list(vars(replace(one, c="other"))) == ["a", "b", "c", "d"]  # headers of models have this order
    assert one.b is not same.b
    with pytest.raises(FrozenInstanceError):
        one.a = 2
