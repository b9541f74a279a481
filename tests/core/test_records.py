"""`vwlite.records`: what code relies on is as in `dataclasses`."""

from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace

import pytest

from vwlite.records import record


def made_by(decorator):
    @decorator(frozen=True)
    class Base:
        a: int
        b: list = field(default_factory=list)

    @decorator(frozen=True)
    class Derived(Base):
        c: str = "x"
        place: object = field(default=None, compare=False)

        def __post_init__(self) -> None:
            if self.a < 0:
                raise ValueError("negative")

    return Derived


@pytest.mark.parametrize("decorator", [dataclass, record])
def test_records_are_data_classes(decorator) -> None:
    made = made_by(decorator)
    one = made(1, c="y")
    assert asdict(one) == {"a": 1, "b": [], "c": "y", "place": None} == asdict(made(1, [], "y"))
    assert [f.name for f in fields(made)] == ["a", "b", "c", "place"] == [*vars(made(c="y", a=1))]
    assert asdict(replace(one, a=2, b=[3])) == {"a": 2, "b": [3], "c": "y", "place": None}
    assert made(1, ()) == made(1, (), "x") != made(2, ()) and hash(made(1, ())) == hash(made(1, (), "x"))
    assert made(1, ()) == made(1, (), place=3) and hash(made(1, ())) == hash(made(1, (), place=3))
    assert made(1).b is not made(1).b
    for wrong in (lambda: made(), lambda: made(1, d=2), lambda: made(1, [], "y", 4, 5), lambda: made(1, a=2)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="negative"):
        made(-1)
    for change in (lambda: setattr(one, "a", 3), lambda: delattr(one, "a")):
        with pytest.raises(FrozenInstanceError):
            change()
