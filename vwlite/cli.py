"""The program: finds the command, and turns errors into sentences and exit codes."""

import errno
import importlib
import os
import sys
from typing import Any

import click

from vwlite import __version__
from vwlite.errors import ClosedPipe, ShortageError, VwliteError, WriteError
from vwlite.output import stdio

COMMANDS = {
    "train": "Learn a model from data.",
    "solve": "Find the best model of a penalty, and how near it is to the optimum.",
    "certify": "Say how far a model is from the best of its strength.",
    "merge": "Make one model of several, each of a part of the data.",
    "gradient": "Write what a part of the data says in a round of vwlite step.",
    "step": "Find the best model of a penalty in rounds over parts of the data.",
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
    """Print the version, and those of what results may depend on."""
    if asked and not ctx.resilient_parsing:
        # Not at the top: only this needs it.
        from vwlite.core.base.targets import instruction_set

        click.echo(f"vwlite {__version__}\nnumpy {_numpy_version()}\nPython {sys.version.split()[0]}")
        click.echo(f"instructions {instruction_set()}")
        ctx.exit()


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


class Program(click.Group):
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


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit: 0, or what `vwlite help errors` says."""
    stdio.prepare()
    sys.exit(run(arguments))


# What a disk or a network file system may say at any call, such as closing a file that was read.
_FAILING = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.ESTALE)


def run(arguments: list[str] | None = None) -> int:
    """Run the program; its exit code."""
    try:
        result: Any = program.main(arguments, prog_name="vwlite", standalone_mode=False)
        code = result if isinstance(result, int) else 0
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as e:
        return e.exit_code
    except click.Abort:
        return 130
    except click.ClickException as e:
        e.show()
        return 2
    except ClosedPipe as e:
        return e.exit_code
    except VwliteError as e:
        print(e, file=sys.stderr)
        return e.exit_code
    except MemoryError as e:
        print(f"out of memory: {str(e) or 'the model needs more than there is; try fewer --bits'}", file=sys.stderr)
        return 70
    except Exception as e:
        shortage = _shortage(e)
        if shortage:
            print(shortage, file=sys.stderr)
            return ShortageError.exit_code
        if isinstance(e, OSError) and e.errno in _FAILING:
            print(f"{e.filename or 'reading or writing a file'}: {e.strerror}", file=sys.stderr)
            return WriteError.exit_code
        if os.environ.get("VWLITE_DEBUG"):
            raise
        print(
            f"internal error: {type(e).__name__}: {e} (VWLITE_DEBUG=1 shows where; please report it)",
            file=sys.stderr,
        )
        return 70


def _shortage(e: Exception) -> str | None:
    """What the system has no more of, as a sentence, if that is the error."""
    if getattr(e, "errno", None) in (errno.EMFILE, errno.ENFILE) or os.strerror(errno.EMFILE) in str(e):
        import resource  # only this sentence needs it

        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return f"too many open files: this process may have {limit} at a time; ulimit -n allows more"
    if isinstance(e, RuntimeError) and "can't start new thread" in str(e):
        return "too many threads: the system allows no more; ulimit -u, or a limit of the container, allows more"
    return None
