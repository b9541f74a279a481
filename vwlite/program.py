"""The program's commands, as click has them."""

import importlib

import click

from vwlite.options.command import Commands
from vwlite.versions import version_text

# Of each command: the folder whose commands.py has it, and what it does.
GROUPS = {
    "Train and predict": {
        "train": ("training", "Train a model on data, in one or more passes."),
        "tune": ("tuning", "Find the best options, and smaller models nearly as good."),
        "predict": ("prediction", "Predict with a model."),
        "serve": ("serve", "Predict over HTTP, with models that may be replaced meanwhile."),
    },
    "Evaluate and explain": {
        "evaluate": ("evaluation", "Show how good a model's predictions are."),
        "cv": ("validation", "Cross-validate: measures over folds, with their spread."),
        "report": ("evaluation", "Make a page about a model and labelled data."),
        "explain": ("evaluation", "Explain the score of each example, feature by feature."),
        "worst": ("evaluation", "Show the examples with the largest loss."),
        "diff": ("evaluation", "Show what differs between two models."),
        "drift": ("evaluation", "Show what differs between the data of two days."),
    },
    "Models": {
        "info": ("inspection", "Show the options, counters, state and size of a model."),
        "weights": ("inspection", "Show the weights of a model."),
        "calibrate": ("prediction", "Make the probabilities of a model fit the shares in data."),
        "names": ("inspection", "Add feature names to a model."),
        "export": ("export", "Export a model as a table, a program, or for Vowpal Wabbit."),
        "import": ("export", "Create a model from a table of weights."),
    },
    "Data": {
        "describe": ("inspection", "Look at data: columns, labels, likely mistakes."),
        "split": ("inspection", "Split data into training and test files, by hash, group or time."),
        "convert": ("inspection", "Convert tables and other data to VW text."),
        "check": ("inspection", "Check that models, caches and data are complete and valid."),
    },
    "Exact solutions": {
        "solve": ("solving", "Solve an l1/l2-regularized problem exactly, with a duality gap."),
        "certify": ("solving", "Bound a model's suboptimality (duality gap)."),
    },
    "Many machines": {
        "merge": ("merging", "Merge models trained on shards of the data."),
        "dask": ("dask", "Train and predict on many machines with Dask."),
    },
    "Help and compatibility": {
        "algorithms": ("help", "Explain algorithms and solvers: formulas, options, papers."),
        "completion": ("help", "Install completion with the Tab key for bash, zsh or fish."),
        "help": ("help", "Explain a topic, such as formats, models, errors, glossary."),
        "vw": ("vw", "Run Vowpal Wabbit's command lines (`alias vw='vwlite vw'`)."),
    },
}
_ROWS = {name: row for group in GROUPS.values() for name, row in group.items()}
COMMANDS = {name: about for name, (_, about) in _ROWS.items()}


def command_of(name: str) -> click.Command:
    """One of COMMANDS."""
    from vwlite.options.declaring import declared

    importlib.import_module(f"vwlite.{_ROWS[name][0]}.commands")
    return declared(name)


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(version_text())
        ctx.exit()


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
                formatter.write_dl([(f"{name:<{width}}", about) for name, (_, about) in group.items()])


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version and exit."
)
def program() -> None:
    """Learn from tables, texts and streams: linear models that can be read.

    \b
    vwlite train clicks.csv --label clicked -m clicks.model
    vwlite predict -m clicks.model new.csv -p predictions.txt
    zcat logs/*.gz | vwlite train -i clicks.model -m clicks.model
    """
