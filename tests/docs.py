"""The parts of the README that are made from the program: `make docs` writes them, a test checks them."""

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import click

from vwlite.algorithms.table import ALGORITHMS
from vwlite.cli import COMMANDS, program
from vwlite.commands.algorithms import defaults
from vwlite.vw.arguments import usage

HERE = Path(__file__).parent
README = HERE.parent / "README.md"


def help_of(command: str) -> str:
    """What `vwlite COMMAND --help` prints."""
    settings = {**program.context_settings, "terminal_width": 100}
    context = click.Context(program, info_name="vwlite", **settings)
    found = program.get_command(context, command)
    assert found is not None
    return found.get_help(click.Context(found, context, info_name=command, **settings))


def algorithm_table() -> str:
    titles = ["`--algorithm`", "what it does", "its options and defaults", "formula", "paper"]
    rows = ["| " + " | ".join(row) + " |" for row in (titles, ["---"] * 5)]
    for a in ALGORITHMS.values():
        options = ", ".join(f"`{option}` {default}" for option, default in defaults(a).items()) or "-"
        formula = a.formula.replace("|", "\\|")
        rows.append(f"| `{a.name}` | {a.summary} | {options} | {formula} | {a.paper} |")
    return "\n".join(rows)


def sections() -> dict[str, str]:
    """The text between the markers `<!-- begin NAME -->` and `<!-- end NAME -->`."""
    made = {f"help: {command}": f"```text\n$ vwlite {command} --help\n{help_of(command)}\n```" for command in COMMANDS}
    made["help: vw"] = f"```text\n$ vwlite vw --help\n{usage()}\n```"
    made["algorithms"] = algorithm_table()
    for name in ("compare", "claims"):
        made[f"bench: {name}"] = measured(name)
    return made


def measured(name: str) -> str:
    """The tables of a program of `make compare`, from the results that it left."""
    sys.path.insert(0, str(HERE / "bench"))
    try:
        document = import_module(name).document
    finally:
        sys.path.pop(0)
    return document(json.loads((HERE / f"bench/{name}.json").read_text(encoding="utf-8")))


def updated(text: str) -> str:
    """The README with its made parts made anew."""
    for name, content in sections().items():
        pattern = rf"(<!-- begin {re.escape(name)} -->\n).*?(<!-- end {re.escape(name)} -->)"
        text, found = re.subn(pattern, lambda m, c=content: f"{m[1]}{c}\n{m[2]}", text, flags=re.DOTALL)
        assert found == 1, f"README.md has no markers for {name}"
    return text


if __name__ == "__main__":
    README.write_text(updated(README.read_text(encoding="utf-8")), encoding="utf-8")
