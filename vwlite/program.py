"""The program's commands, as click has them."""

import importlib

import click

from vwlite.versions import version_text

COMMANDS = {
    "train": "Learn a model from data.",
    "solve": "Find the best model of a penalty, and how near it is to the optimum.",
    "certify": "Say how far a model is from the best of its strength.",
    "merge": "Make one model of several, each of a part of the data.",
    "gradient": "Write what a part of the data says in a round of vwlite step.",
    "step": "Find the best model of a penalty in rounds over parts of the data.",
    "dask": "Train and predict on many machines, with Dask.",
    "predict": "Predict with a model.",
    "info": "Show everything a model knows about itself.",
    "weights": "Show the weights of a model.",
    "algorithms": "Show what --algorithm and --solver can be: formulas, options, papers.",
    "check": "Check that models, caches and data are whole and valid.",
    "convert": "Write tables and other data as VW text.",
    "names": "Add names of features to a model.",
    "export": "Write a model as a table, as a program, or for Vowpal Wabbit.",
    "import": "Make a model of a table of weights.",
    "vw": "Take the arguments of Vowpal Wabbit, and do what it does.",
    "help": "Explain a topic, such as formats, models, errors.",
}


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(version_text())
        ctx.exit()


class UnknownCommand(click.UsageError):
    """A word that is none of the commands."""

    def __init__(self, word: str, commands: list[str], ctx: click.Context) -> None:
        super().__init__(f"No such command {word!r}.", ctx)
        self.word, self.commands = word, commands


class Commands(click.Group):
    """A group of commands whose error knows them."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise UnknownCommand(args[0], self.list_commands(ctx), ctx)
        return super().resolve_command(ctx, args)


class Program(Commands):
    """A group that imports a command only when it is called: starting must not take long."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"vwlite.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version and exit."
)
def program() -> None:
    """Learn sparse linear models from text streams.

    \b
    vwlite train day1.vw.gz --loss logistic -m clicks.model
    tail -F events.vw | vwlite predict -m clicks.model | ./act
    zcat logs/*.gz | vwlite train -i clicks.model -m clicks.model
    """
