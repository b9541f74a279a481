"""`vwlite help`, `algorithms` and `completion`."""

from pathlib import Path
from typing import Any

import click

from vwlite.help.completion import SHELLS
from vwlite.options.command import Command, Commands, Option, run
from vwlite.options.types import Choice

TEXTS = Path(__file__).parent


class Topic(click.ParamType):
    """The name of a text; for one that there is not, all are named."""

    name = "topic"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in topics():
            return str(value)
        from vwlite.options.nearest import did_you_mean, near
        from vwlite.program import COMMANDS

        hint = "topics are"
        if command := next(iter(near(str(value), COMMANDS)), ""):
            hint = f"`vwlite {command} --help` is about that command; topics are"
        listed, found = ", ".join(topics()), "" if command else did_you_mean(str(value), topics())
        self.fail(f"unknown topic {value!r}: {hint} {listed}.{found}", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name, help=about) for name, about in topics().items() if name.startswith(incomplete)]


@click.command("help")
@click.argument("topic", required=False, type=Topic(), metavar="[TOPIC]")
def help_command(topic: str | None) -> int:
    """Explain TOPIC, or list the topics."""
    if topic is not None:
        click.echo((TEXTS / f"{topic}.txt").read_text(encoding="utf-8"), nl=False)
        return 0
    width = max(map(len, topics())) + 2
    click.echo("\n".join(f"{name:<{width}}{about}" for name, about in topics().items()))
    return 0


def topics() -> dict[str, str]:
    """What there are texts about, in a few words each: their first lines."""
    found = {}
    for path in sorted(TEXTS.glob("*.txt")):
        with open(path, encoding="utf-8") as text:
            name, about = text.readline().strip().split(": ", 1)
        found[name] = about
    return found


class AlgorithmType(click.ParamType):
    """The name of an algorithm or a solver; for one that there is not, the nearest are named."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from vwlite.help.algorithms import NAMES

        if value in NAMES:
            return str(value)
        from vwlite.options.nearest import did_you_mean

        hint = did_you_mean(str(value), NAMES)
        self.fail(f"unknown algorithm {value!r}: `vwlite algorithms` lists all.{hint}", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
        from click.shell_completion import CompletionItem

        from vwlite.help.algorithms import NAMES

        return [CompletionItem(name) for name in NAMES if name.startswith(incomplete)]


@click.command(
    "algorithms", cls=Command,
    examples=(
        "vwlite algorithms adagrad",
        "vwlite algorithms newton",
    ),
)
@click.argument("name", required=False, type=AlgorithmType(), metavar="[NAME]")
def algorithms_command(name: str | None) -> int:
    """Explain algorithms (`vwlite train`) and solvers (`vwlite solve`): a list of all, or the page of NAME."""
    return run("vwlite.help.algorithms:algorithms", name)


@click.group("completion", cls=Commands)
def completion_command() -> None:
    """Let the shell complete commands, options and values with the Tab key."""


@completion_command.command(
    "install", cls=Command,
    examples=(
        "vwlite completion install --shell bash",
        "vwlite completion install --shell bash --uninstall",
    ),
)
@click.option("--shell", cls=Option, type=Choice(SHELLS), help="The shell.  [default: that of the variable SHELL]")
@click.option("--uninstall", cls=Option, is_flag=True, help="Remove the file instead.")
def install(shell: str | None, uninstall: bool) -> int:
    """Write the completion file for your shell, where the shell looks for it.

    bash reads it in new shells if bash-completion is installed, fish always; for zsh the line that ~/.zshrc needs is
    printed. Start-up files are not changed. Run it again after an update, or twice: the file is the same.
    """
    from vwlite.help.completion import install, remove, shell_of_user

    name = shell or shell_of_user()
    click.echo(remove(name) if uninstall else install(name))
    return 0
