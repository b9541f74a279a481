"""Commands whose function gets its options as one object."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

import click

from vwlite.options.command import Option
from vwlite.options.spec import Spec
from vwlite.options.types import PATH


def click_option(spec: Spec) -> Option:
    """An option as click has it. What was not typed is None, so that a default or a model can decide."""
    return Option(
        list(spec.typed), spec.group, spec.vw, spec.bare, help=spec.text(), type=spec.type, metavar=spec.metavar,
        **({"is_flag": True, "default": None} if spec.type is None else {}),
        **({"multiple": True} if spec.multiple else {}),
        required=spec.required, envvar=spec.environment or None,
    )


def with_options(specs: Iterable[Spec], f: Callable[..., int]) -> Callable[..., int]:
    """A function with options, in this order in the help."""
    f.__click_params__ = [click_option(spec) for spec in specs][::-1]  # type: ignore[attr-defined]
    return f


def collected(kind: type[Any], typed: dict[str, Any]) -> Any:
    """The command's keyword arguments as one object; what was not typed is left out."""
    given = {name: value for name, value in typed.items() if value is not None and value != ()}
    own = {name: given.pop(name) for name in {f.name for f in fields(kind)} & set(given)}
    return kind(typed=given, given=frozenset(own), **own)


def typed_again(specs: Iterable[Spec], raw: dict[str, Any]) -> list[tuple[str, ...]]:
    """The options among these that were typed, each as its words: its long name, and its value if it has one.

    raw: as of `Command`.
    """
    found: list[tuple[str, ...]] = []
    for spec in specs:
        if spec.name in raw:
            values = raw[spec.name] if spec.multiple else [raw[spec.name]]
            found += [(spec.long,) if spec.type is None else (spec.long, value) for value in values]
    return found


def takes(kind: type[Any], specs: Iterable[Spec], data: str = "[DATA]...") -> Callable[..., Any]:
    """A decorator: makes a command with options of a function, which gets them as one object.

    data: what the help calls the files; without, the command has no such arguments.
    """

    def decorate(f: Callable[[Any], int]) -> Callable[..., int]:
        @functools.wraps(f)
        def command(**typed: Any) -> int:
            if data:
                typed["data"] = (*typed["data"], *typed.pop("data_options", ()))
            return f(collected(kind, typed))

        found = with_options(specs, command)
        return click.argument("data", nargs=-1, type=PATH, metavar=data)(found) if data else found

    return decorate
