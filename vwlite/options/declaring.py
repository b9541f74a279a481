"""Commands that are declared on the records of their options."""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

import click

from vwlite.options.command import Command, Commands, Option
from vwlite.options.spec import Spec, specs_of

OWN = "own"  # among the rows of a command: those of its record
_DECLARED: dict[str, Callable[[], click.Command]] = {}
_Record = TypeVar("_Record")


def command(
    name: str, runs: str, *rows: Spec | str, cls: type[click.Command] = Command, **attributes: Any
) -> Callable[[type[_Record]], type[_Record]]:
    """A decorator of a record of options: declares the command, whose help is the docstring of the record.

    name: within a group of commands GROUP NAME. runs: MODULE:FUNCTION, imported when the command is called; it gets the
    record, or the values of one that is not for reading data. rows: arguments and options, in the order of the help; a
    name or a group is that of rows of the record, and OWN is all of these that are not named before.
    attributes: those of `Command`.
    """

    def declare(kind: type[_Record]) -> type[_Record]:
        def called(**typed: Any) -> int:
            module, _, function = runs.partition(":")
            run, o = getattr(import_module(module), function), collected(kind, typed)
            code: int = run(o) if hasattr(o, "typed") else run(**vars(o))
            return code

        def made() -> click.Command:
            found: dict[tuple[str, ...], Spec] = {}
            for row in rows or (OWN,):
                for spec in [row] if isinstance(row, Spec) else specs_of(kind) if row == OWN else specs_of(kind, row):
                    found.setdefault(spec.typed, spec)
            parameters = [*map(parameter, found.values())]
            return cls(name.split()[-1], params=parameters, callback=called, help=kind.__doc__, **attributes)

        _DECLARED[name] = cache(made)
        return kind

    return declare


def group(name: str, about: str) -> None:
    """Declare a group of commands, which are declared under its name. about: its help."""

    def made() -> click.Command:
        return Commands(name, help=about, commands=[declared(o) for o in _DECLARED if o.startswith(f"{name} ")])

    _DECLARED[name] = cache(made)


def declared(name: str) -> click.Command:
    """A command by its name, whose module was imported."""
    return _DECLARED[name]()


def parameter(spec: Spec) -> click.Parameter:
    """A row as click has it. What was not typed is None, so that a default or a model can decide."""
    if spec.typed[0][0] != "-":
        return click.Argument(
            [*spec.typed], type=spec.type, metavar=spec.metavar, required=spec.required,
            nargs=-1 if spec.multiple else 1,
        )
    return Option(
        list(spec.typed), spec.group, spec.vw, spec.bare, help=spec.text(), type=spec.type, metavar=spec.metavar,
        **({"is_flag": True, "default": None} if spec.type is None else {}),
        **({"multiple": True} if spec.multiple else {}),
        required=spec.required, envvar=spec.environment or None,
    )


def collected(kind: type[_Record], typed: dict[str, Any]) -> _Record:
    """What was typed as a record; what was not typed is left out. Options that it has no field for are of Settings."""
    given = {name: value for name, value in typed.items() if value is not None and value != ()}
    if more := given.pop("data_options", ()):
        given["data"] = (*given.get("data", ()), *more)
    names = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    own = {name: given.pop(name) for name in names & set(given)}
    return kind(**own, **({"typed": given, "given": frozenset(own)} if "typed" in names else {}))
