"""All options of commands that name a file to write."""

from collections.abc import Iterator

import click

from vwlite.options.types import FileName
from vwlite.program import program

# Options that name a file to read, in each command that has them, and the commands in which -m is one of these.
READ = {"data", "data_options", "against", "front", "feature_weights", "validate", "initial", "start", "holdout"}
READ_MODEL = {"predict", "serve", "evaluate", "report", "drift", "explain", "worst", "convert", "calibrate", "certify",
              "dask predict"}
NOT_FILES = {"dask predict": {"output"}}  # folders


def all_commands(command: click.Command = program, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(words), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from all_commands(found, (*words, name))


def _outputs() -> list[tuple[str, str]]:
    return [
        (name, next(word for word in option.opts if word.startswith("--")))
        for name, command in all_commands()
        for option in command.params
        if isinstance(option, click.Option) and isinstance(option.type, FileName)
        and option.name not in READ | NOT_FILES.get(name, set())
        and not (option.name == "model" and name in READ_MODEL)
    ]


OUTPUTS = _outputs()
