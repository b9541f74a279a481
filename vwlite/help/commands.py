"""`vwlite help`, `algorithms` and `completion`."""

from pathlib import Path
from typing import Any

import click

from vwlite.help.completion import SHELLS
from vwlite.options.declaring import command, group
from vwlite.options.spec import argument, option
from vwlite.options.types import Choice
from vwlite.records import record

TEXTS = Path(__file__).parent
START = """`vwlite help TOPIC` explains a topic. Start with

  churn, prices   a table, from the file to use: ten commands, with customers or amounts
  intents         texts, likewise
  training        how a model is learned, and what can be decided
  tables          what the columns of a table become
  python          the same for notebooks and programs
  errors          when something is refused

All topics:"""


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


@command("help", "vwlite.help.commands:show_topic", cls=click.Command)
@record(frozen=True)
class HelpOptions:
    """Explain TOPIC, or list the topics."""

    topic: str | None = argument(None, "topic", type=Topic(), metavar="[TOPIC]")


def show_topic(topic: str | None) -> int:
    """Run `vwlite help`; the exit code."""
    if topic is not None:
        click.echo((TEXTS / f"{topic}.txt").read_text(encoding="utf-8"), nl=False)
        return 0
    width = max(map(len, topics())) + 2
    lines = [f"{name:<{width}}{about}" for name, about in topics().items()]
    click.echo("\n".join([START, "", *lines]))
    return 0


def topics() -> dict[str, str]:
    """What there are texts about, in a few words each: their first lines."""
    found = {}
    for path in sorted(TEXTS.glob("*.txt")):
        with open(path, encoding="utf-8") as text:
            name, about = text.readline().strip().split(": ", 1)
        found[name] = about
    return found


@command(
    "algorithms", "vwlite.help.algorithms:algorithms",
    examples=("vwlite algorithms adagrad",
              "vwlite algorithms newton"),
)
@record(frozen=True)
class AlgorithmsOptions:
    """Explain algorithms (`vwlite train`) and solvers (`vwlite solve`): a list of all, or the page of NAME."""

    name: str | None = argument(None, "name", type=AlgorithmType(), metavar="[NAME]")


group("completion", "Let the shell complete commands, options and values with the Tab key.")


@command(
    "completion install", "vwlite.help.completion:complete",
    examples=("vwlite completion install --shell bash",
              "vwlite completion install --shell bash --uninstall"),
)
@record(frozen=True)
class InstallOptions:
    """Write the completion file for your shell, where the shell looks for it.

    bash reads it in new shells if bash-completion is installed, fish always; for zsh the line that ~/.zshrc needs is
    printed. Start-up files are not changed. Run it again after an update, or twice: the file is the same.
    """

    shell: str | None = option(
        None, "--shell", type=Choice(SHELLS), shown="that of the variable SHELL", help="The shell."
    )
    uninstall: bool = option(False, "--uninstall", help="Remove the file instead.")
