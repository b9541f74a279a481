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
    from functools import cache

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
        defaults, required, makers = _fields_of(type(self))
        if args:
            named = dict(zip(defaults, args, strict=False))
            if len(named) < len(args) or named.keys() & given.keys():
                raise TypeError(f"{type(self).__name__}.__init__() got too many arguments")
            given |= named
        values = vars(self)
        values.update(defaults)  # so that they are in the order of the fields
        values.update(given)
        if len(values) > len(defaults):
            wrong = min(given.keys() - defaults.keys())
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument {wrong!r}")
        for name, make in makers:
            if name not in given:
                values[name] = make()
        for name in required:
            if name not in given:
                raise TypeError(f"{type(self).__name__}.__init__() missing the argument {name!r}")
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    @cache
    def _fields_of(cls):
        """The default of each field, in their order; the fields that have none, and how others make theirs."""
        fields = cls.__dataclass_fields__
        makers = [(name, f.default_factory) for name, f in fields.items() if f.default_factory is not MISSING]
        defaults = {name: f.default for name, f in fields.items()}
        made = {name for name, _ in makers}
        return defaults, [name for name in defaults if defaults[name] is MISSING and name not in made], makers

    @cache
    def _compared(cls):
        return [name for name, field in cls.__dataclass_fields__.items() if field.compare]

    def _values(self):
        return tuple(map(vars(self).get, _compared(type(self))))

    def _equal(self, other):
        return _values(self) == _values(other) if type(self) is type(other) else NotImplemented

    def _hash(self):
        return hash(_values(self))

    def _refuse(self, name, *value):
        raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be assigned")
