"""A tool of the build: the manual page, with every command and its options, the exit codes, the topics.

It imports `vwlite`: the definitions of the commands are importable without the compiled modules.
"""

import re
from collections.abc import Iterator

import click

from vwlite import __version__
from vwlite.help.commands import TEXTS, topics
from vwlite.program import COMMANDS, program


def manual() -> str:
    """The text of the page."""
    lines = [f'.TH VWLITE 1 "" "vwlite {__version__}" "User commands"', ".SH NAME"]
    lines += [troff("vwlite - " + (program.help or "").split("\n")[0].rstrip(".").lower()), ".SH SYNOPSIS"]
    lines += [".B vwlite", r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]", ".SH COMMANDS"]
    for name, about, command, context in all_commands():
        inner = click.Context(command, context, info_name=name.split()[-1], **command.context_settings)
        usage = " ".join(command.collect_usage_pieces(inner))
        lines += [f".SS {troff(f'vwlite {name} {usage}')}", troff(about)]
        for paragraph in (command.help or "").split("\n\n"):
            lines += [".PP", troff(" ".join(paragraph.split()))]
        group = ""
        for parameter in command.get_params(inner):
            record = parameter.get_help_record(inner)
            if record and isinstance(parameter, click.Option):
                if getattr(parameter, "group", "Options") != group:
                    group = getattr(parameter, "group", "Options")
                    lines += [".PP", f".I {group}"]
                lines += [".TP", f".B {troff(record[0])}", troff(" ".join(record[1].split()))]
    codes = (TEXTS / "errors.txt").read_text(encoding="utf-8").split("\n\n")[-1].splitlines()
    lines += [".SH EXIT STATUS", ".nf", *(troff(line) for line in codes if "---" not in line), ".fi"]
    lines += [".SH TOPICS", troff("vwlite help TOPIC prints a text about each of these.")]
    for name, about in topics().items():
        lines += [".TP", f".B {name}", troff(about)]
    return "\n".join(lines) + "\n"


def all_commands() -> Iterator[tuple[str, str, click.Command, click.Context]]:
    """The name, a line about it, and the command, of each and of those within a group."""
    context = click.Context(program, info_name="vwlite", **program.context_settings)
    for name, about in COMMANDS.items():
        command = program.get_command(context, name)
        assert command is not None
        yield name, about, command, context
        if isinstance(command, click.Group):
            inner = click.Context(command, context, info_name=name, **command.context_settings)
            for part, found in command.commands.items():
                yield f"{name} {part}", found.get_short_help_str(100), found, inner


def troff(text: str) -> str:
    """A text as the source of a manual page has it."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)
