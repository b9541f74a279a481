"""One row for each option: a field of a dataclass with its spelling, its help and its default.

`Settings` (what defines a model) and the options of runs in `vwlite/runs/options.py` are such dataclasses.
"""

import inspect
from collections.abc import Callable
from dataclasses import field, fields, replace
from functools import cache, cached_property
from typing import Any

import click

from vwlite.errors import UsageError
from vwlite.records import record

# The groups of the help.
IN, TABLES, FEATURES, LEARN, CLASSES, PASSES, OUT, RUN, OTHERS = (
    "Input", "Tables", "Features", "Learning", "Classes", "Passes", "Output", "Run", "Options",
)


@record(frozen=True)
class Spec:
    """An option of the command line, or an argument."""

    typed: tuple[str, ...]  # as it is typed, the short form first; of an argument its name
    group: str = OTHERS
    help: str = ""
    type: click.ParamType | None = None  # None: it is a flag
    default: Any = None
    shown: str = ""  # the default as text, where it is neither a number nor a word
    vw: tuple[str, ...] = ()  # Vowpal Wabbit's spellings, which the help leaves out
    metavar: str | None = None
    multiple: bool = False
    bare: str = ""  # the value of the option alone; another one has to be written --OPTION=VALUE
    required: bool = False
    for_some: bool = False  # the help ends with the algorithms that take it
    takers: str = ""  # these algorithms
    other_defaults: str = ""  # of some algorithms
    reported: bool = False  # of a run: its value is in the report of `vwlite train`
    page: str = ""  # the help on the page of an algorithm, where it is another
    needs: tuple[str, ...] = ()  # options, one of which must be given too, as typed: --cache, or --on-error skip
    excludes: dict[str, str] = field(default_factory=dict)  # options that cannot be given too, as typed: why
    check: Callable[[Any], None] | None = None  # any other check: takes the options of the run, raises UsageError
    reads: str = ""  # what an error calls the file that it names, if that is read
    writes: bool = False  # the file that it names is written; no other option may name it
    stdout: bool = False  # so is standard output, as -
    environment: tuple[str, ...] = ()  # variables with its value, where it is not typed: the first one that is set

    @cached_property
    def name(self) -> str:
        """Of the keyword argument."""
        own = [word for word in self.typed if not word.startswith("-")]
        return own[0] if own else self.long[2:].replace("-", "_")

    @cached_property
    def long(self) -> str:
        """As it is typed in full."""
        return next(word for word in self.typed if word.startswith("--"))

    def text(self) -> str:
        """The help with the algorithms that take the option, and its default."""
        text = f"{self.help} For {self.takers}." if self.for_some else self.help
        default = self.default_text()
        if not default:
            return text
        return f"{text}  [default: {default}{self.other_defaults}]"

    def default_text(self) -> str:
        """The default as it is typed; "" without a default."""
        return self.shown or shown_value(self.default)


def shown_value(value: Any) -> str:
    """A default as it is typed; "" for None, flags and tuples."""
    if value is None or isinstance(value, bool | tuple):
        return ""
    return f"{value:g}".replace("e-0", "e-") if isinstance(value, float) else str(value)


def option(default: Any, *typed: str, **spec: Any) -> Any:
    """A field of a dataclass that is an option of the command line."""
    return options(default, Spec(typed, default=default, **spec))


def argument(default: Any, name: str, **spec: Any) -> Any:
    """A field of a dataclass that is an argument of the command line. It is in no group of the help."""
    return option(default, name, group="", **spec)


def options(default: Any, *specs: Spec) -> Any:
    """A field of a dataclass that several options, or one in other words, make up."""
    return field(default=default, metadata={"specs": specs})


def option_of(kind: type[Any], name: str, **changes: Any) -> Any:
    """A field that is an option of another dataclass, too, with the same row but for changes."""
    shared = next(f for f in fields(kind) if f.name == name)
    return options(shared.default, *(replace(spec, **changes) for spec in shared.metadata["specs"]))


def specs_of(kind: type[Any], *chosen: str) -> list[Spec]:
    """The options of a dataclass's own fields, in their order; of chosen fields and groups, one after the other."""
    specs = _own_specs(kind)  # type: ignore[arg-type]
    if not chosen:
        return [spec for _, spec in specs]
    return [spec for one in chosen for name, spec in specs if one in (name, spec.group)]


@cache
def _own_specs(kind: Any) -> list[tuple[str, Spec]]:
    own = {f.name: f.metadata.get("specs", ()) for f in fields(kind)}
    return [(name, spec) for name in inspect.get_annotations(kind) for spec in own[name]]


def check_rows(o: Any) -> None:
    """UsageError for options of a dataclass that cannot be used together, or that need others."""
    given = [spec for f in fields(o) if getattr(o, f.name) != f.default for spec in f.metadata.get("specs", ())]
    for spec in given:
        for other, why in spec.excludes.items():
            if _is_given(o, other):
                raise UsageError(f"{spec.long} and {other} cannot be used together" + (f": {why}" if why else ""))
    for spec in given:
        if spec.needs and not any(_is_given(o, other) for other in spec.needs):
            raise UsageError(f"{spec.long} needs {' or '.join(spec.needs)}")
        if spec.check is not None:
            spec.check(o)


def _is_given(o: Any, typed: str) -> bool:
    """Whether an option has the value with which it is named, as in `--on-error skip`; without one, any but its
    default."""
    option, _, value = typed.partition(" ")
    name = option[2:].replace("-", "_")
    return bool(getattr(o, name) == value if value else getattr(o, name) != getattr(type(o), name))


def option_name(field: str) -> str:
    """The option of a setting, as it is typed."""
    return "--" + {"constant": "no_constant"}.get(field, field).replace("_", "-")
