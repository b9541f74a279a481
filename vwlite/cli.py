"""The program: runs the command, and converts errors to messages and exit codes."""

import errno
import os
import sys

from vwlite.errors import ClosedPipe, ShortageError, VwliteError, WriteError
from vwlite.output import stdio
from vwlite.versions import version_text


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit: 0, or what `vwlite help errors` says."""
    stdio.prepare()
    sys.exit(run(arguments))


_INTERNAL = "internal error:"
# What a disk or a network file system may say at any call, such as closing a file that was read.
_FAILING = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.ESTALE)


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
        if message.startswith(_INTERNAL) and os.environ.get("VWLITE_DEBUG"):
            raise
        stdio.say_error(message)
        return code


def outcome(e: Exception) -> tuple[int, str]:
    """The exit code after an exception, and the sentence about it."""
    if isinstance(e, VwliteError):
        return e.exit_code, str(e)
    if isinstance(e, MemoryError):
        return 70, f"out of memory: {str(e) or 'the model does not fit; try fewer --bits'}"
    if shortage := _shortage(e):
        return ShortageError.exit_code, shortage
    if isinstance(e, OSError) and e.errno in _FAILING:
        return WriteError.exit_code, f"{e.filename or 'reading or writing a file'}: {e.strerror}"
    return 70, f"{_INTERNAL} {type(e).__name__}: {e} (VWLITE_DEBUG=1 shows where; please report it)"


def _shortage(e: Exception) -> str | None:
    """What the system has no more of, as a sentence, if that is the error."""
    if getattr(e, "errno", None) in (errno.EMFILE, errno.ENFILE) or os.strerror(errno.EMFILE) in str(e):
        import resource  # only this sentence needs it

        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return f"too many open files: this process may have {limit} at a time; ulimit -n allows more"
    if isinstance(e, RuntimeError) and "can't start new thread" in str(e):
        return "too many threads: the system allows no more; ulimit -u, or a limit of the container, allows more"
    return None


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
        from vwlite.usage import shown

        for line in shown(e, arguments):
            stdio.say(line)
        return 2
    return result if isinstance(result, int) else 0
