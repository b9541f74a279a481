"""The classes of rules that the table of algorithms names."""

from importlib import import_module
from typing import cast

from vwlite.core.learn.rule import Rule


def rule_class(name: str) -> type[Rule]:
    """The class of a rule that the table of algorithms names as MODULE:CLASS. Imported here: starting takes less."""
    module, _, kind = name.partition(":")
    return cast(type[Rule], getattr(import_module(f"vwlite.core.rules.{module}"), kind))
