"""The program: runs the command, and converts errors to messages and exit codes."""

import os
import sys

from vwlite.errors import ClosedPipe, VwliteError, outcome
from vwlite.output import stdio
from vwlite.versions import version_text


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit: 0, or what `vwlite help errors` says."""
    stdio.prepare()
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the program; its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    stdio.as_json = "--log-format json" in " ".join(arguments).replace("=", " ")  # also for errors of what was typed
    try:
        code = _called(arguments)
        sys.stdout.flush()
        return code
    except ClosedPipe as e:
        return e.exit_code
    except Exception as e:
        code, message = outcome(e)
        if code == 70 and not isinstance(e, VwliteError | MemoryError) and os.environ.get("VWLITE_DEBUG"):  # internal
            raise
        stdio.say_error(message)
        return code


def _called(arguments: list[str]) -> int:
    """Call the command; its exit code."""
    if arguments == ["--version"] and "_VWLITE_COMPLETE" not in os.environ:
        print(version_text())
        return 0
    # Not at the top: to say the version takes less than half the time without click.
    import click

    from vwlite.program import program

    try:
        result = program.main(arguments, prog_name="vwlite", standalone_mode=False)
    except click.exceptions.Exit as e:
        return e.exit_code
    except click.Abort:
        return 130
    except click.ClickException as e:
        from vwlite.help.usage import shown

        for line in shown(e, arguments):
            stdio.say(line)
        return 2
    return result if isinstance(result, int) else 0
