"""`vwlite help`"""

from pathlib import Path
from typing import Any

import click

TEXTS = Path(__file__).parents[1] / "help"


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
def command(topic: str | None) -> int:
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
