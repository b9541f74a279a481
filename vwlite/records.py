"""Data classes for the modules that every command imports.

`dataclass` writes the source of up to six methods for each class and compiles it, which took a fifth of the start of a
command. The methods here are the same functions for every class. There is no `__repr__`.
"""

from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import MISSING, FrozenInstanceError, dataclass

    def record(cls=None, *, frozen=False, eq=True):
        """`dataclass` without code generation: for `fields`, `replace`, `asdict` and inheritance the same."""
        if cls is None:
            return lambda cls: record(cls, frozen=frozen, eq=eq)
        cls.__init__ = _init
        if eq:
            cls.__eq__, cls.__hash__ = _equal, _hash if frozen else None
        if frozen:
            cls.__setattr__ = cls.__delattr__ = _refuse
        return dataclass(init=False, repr=False, eq=False)(cls)

    def _init(self, *args, **given):
        name, fields, values = type(self).__name__, type(self).__dataclass_fields__, vars(self)
        if args:
            named = dict(zip(fields, args, strict=False))
            if len(named) < len(args) or named.keys() & given.keys():
                raise TypeError(f"{name}.__init__() got too many arguments")
            given |= named
        for key, field in fields.items():
            if key in given:
                values[key] = given.pop(key)
            elif field.default is not MISSING:
                values[key] = field.default
            elif field.default_factory is not MISSING:
                values[key] = field.default_factory()
            else:
                raise TypeError(f"{name}.__init__() missing the argument {key!r}")
        if given:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument {next(iter(given))!r}")
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    def _values(self):
        return tuple(map(vars(self).get, type(self).__dataclass_fields__))

    def _equal(self, other):
        return _values(self) == _values(other) if type(self) is type(other) else NotImplemented

    def _hash(self):
        return hash(_values(self))

    def _refuse(self, name, *value):
        raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be assigned")
