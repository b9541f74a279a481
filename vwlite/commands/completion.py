"""`vwlite completion`"""

import click

from vwlite.options.command import Command, Option
from vwlite.options.types import Choice
from vwlite.program import Commands
from vwlite.shells import SHELLS


@click.group("completion", cls=Commands)
def command() -> None:
    """Let the shell complete commands, options and values with the Tab key."""


@command.command(
    "install", cls=Command,
    examples=(
        "vwlite completion install --shell bash",
        "vwlite completion install --shell bash --uninstall",
    ),
)  # fmt: skip
@click.option("--shell", cls=Option, type=Choice(SHELLS), help="The shell.  [default: that of the variable SHELL]")
@click.option("--uninstall", cls=Option, is_flag=True, help="Remove the file instead.")
def install(shell: str | None, uninstall: bool) -> int:
    """Write the completion file for your shell, where the shell looks for it.

    bash reads it in new shells if bash-completion is installed, fish always; for zsh the line that ~/.zshrc needs is
    printed. Start-up files are not changed. Run it again after an update, or twice: the file is the same.
    """
    from vwlite.shells import install, remove, shell_of_user

    name = shell or shell_of_user()
    click.echo(remove(name) if uninstall else install(name))
    return 0
