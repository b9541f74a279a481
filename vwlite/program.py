"""The program's commands, as click has them."""

import importlib
import os
import sys

import click

from vwlite import __version__

GROUPS = {
    "Train and predict": {
        "train": "Train a model on data, in one or more passes.",
        "tune": "Find the best options, and smaller models nearly as good.",
        "predict": "Predict with a model.",
        "serve": "Predict over HTTP, with models that may be replaced meanwhile.",
    },
    "Evaluate and explain": {
        "evaluate": "Show how good a model's predictions are.",
        "report": "Make a page about a model and labelled data.",
        "explain": "Explain the score of each example, feature by feature.",
        "worst": "Show the examples with the largest loss.",
        "diff": "Show what differs between two models.",
        "drift": "Show what differs between the data of two days.",
    },
    "Models": {
        "info": "Show the options, counters, state and size of a model.",
        "weights": "Show the weights of a model.",
        "calibrate": "Make the probabilities of a model fit the shares in data.",
        "names": "Add feature names to a model.",
        "export": "Export a model as a table, a program, or for Vowpal Wabbit.",
        "import": "Create a model from a table of weights.",
    },
    "Data": {
        "describe": "Look at data: columns, labels, likely mistakes.",
        "convert": "Convert tables and other data to VW text.",
        "check": "Check that models, caches and data are complete and valid.",
    },
    "Exact solutions": {
        "solve": "Solve an l1/l2-regularized problem exactly, with a duality gap.",
        "certify": "Bound a model's suboptimality (duality gap).",
    },
    "Many machines": {
        "merge": "Merge models trained on shards of the data.",
        "dask": "Train and predict on many machines with Dask.",
    },
    "Help and compatibility": {
        "algorithms": "Explain algorithms and solvers: formulas, options, papers.",
        "completion": "Install completion with the Tab key for bash, zsh or fish.",
        "help": "Explain a topic, such as formats, models, errors, glossary.",
        "vw": "Run Vowpal Wabbit's command lines (`alias vw='vwlite vw'`).",
    },
}
COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}
_FOLDERS = {  # in whose commands.py they are
    "training": "train tune",
    "prediction": "predict calibrate",
    "serve": "serve",
    "evaluation": "evaluate report explain worst diff drift",
    "inspection": "info weights names describe convert check",
    "export": "export import",
    "solving": "solve certify",
    "merging": "merge",
    "dask": "dask",
    "help": "algorithms completion help",
    "vw": "vw",
}


def command_of(name: str) -> click.Command:
    """One of COMMANDS."""
    folder = next(folder for folder, names in _FOLDERS.items() if name in names.split())
    command: click.Command = getattr(importlib.import_module(f"vwlite.{folder}.commands"), f"{name}_command")
    return command


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(version_text())
        ctx.exit()


class UnknownCommand(click.UsageError):
    """A word that is not a command."""

    def __init__(self, word: str, commands: list[str], ctx: click.Context) -> None:
        super().__init__(f"No such command {word!r}.", ctx)
        self.word, self.commands = word, commands


class Commands(click.Group):
    """A group of commands whose error knows them. Alone it prints its help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args or ctx.resilient_parsing else ["--help"])

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
        return command_of(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", about) for name, about in group.items()])


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version and exit."
)
def program() -> None:
    """Learn sparse linear models from text streams.

    \b
    vwlite train clicks.csv --label clicked -m clicks.model
    vwlite predict -m clicks.model new.csv -p predictions.txt
    zcat logs/*.gz | vwlite train -i clicks.model -m clicks.model
    """


def version_text() -> str:
    """The version, and those of what results may depend on."""
    # Not at the top: only this needs it.
    from vwlite.core.base.targets import instruction_set

    versions = f"vwlite {__version__}\nnumpy {_numpy_version()}\nPython {sys.version.split()[0]}"
    return f"{versions}\ninstructions {instruction_set()}"


def _numpy_version() -> str:
    """From the name of the folder beside NumPy: to import that, or importlib.metadata, takes longer than all else."""
    for folder in sys.path:
        if os.path.isdir(os.path.join(folder, "numpy")):
            names = [name for name in os.listdir(folder) if name.startswith("numpy-") and name.endswith(".dist-info")]
            if names:
                return names[0].removesuffix(".dist-info").removeprefix("numpy-")
            break
    from importlib.metadata import version

    return version("numpy")
