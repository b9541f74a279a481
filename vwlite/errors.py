"""The exceptions of the program, each with an exit code.

A message is a sentence for the user: where, what is wrong, and what to do.
"""

import errno
import os

Where = tuple[str | int, ...]  # a file, and the line and column in it, as far as they are known


class VwliteError(Exception):
    """An error that a person can act on: printed without a traceback. where: what the message is about; it comes first
    when the error is printed."""

    exit_code = 70

    def __init__(self, message: str = "", *where: str | int, exit_code: int | None = None) -> None:
        super().__init__(message, *where)
        self.message, self.where = message, where
        if exit_code is not None:
            self.exit_code = exit_code

    def __str__(self) -> str:
        return ": ".join([":".join(map(str, self.where)), self.message] if self.where else [self.message])


class CheckError(VwliteError):
    """A result that a check of the command line refuses: a measure that is too low, too few examples."""

    exit_code = 1


class UsageError(VwliteError):
    """Options that mean nothing, alone or together."""

    exit_code = 2


class DataError(VwliteError):
    """Bad input: a line, a model, a compressed stream; also learning that diverges."""

    exit_code = 65


class NoInputError(VwliteError):
    """An input file that is not there or cannot be read."""

    exit_code = 66


class UnavailableError(VwliteError):
    """A service that does not answer: a scheduler, its workers."""

    exit_code = 69


class ShortageError(VwliteError):
    """The system allows no more of something: open files, threads."""

    exit_code = 71


class CannotCreateError(VwliteError):
    """An output that cannot be created: no such folder, not writable."""

    exit_code = 73


class WriteError(VwliteError):
    """An output that could not be written: the disk is full, the device failed."""

    exit_code = 74


class BusyError(VwliteError):
    """Another job is writing the same output."""

    exit_code = 75


class ClosedPipe(VwliteError):
    """The reader of the output has closed it. This is not an error: the program ends quietly.

    Not an OSError, as click would make exit code 1 of it.
    """

    exit_code = 0


# What a disk or a network file system may say at any call, such as closing a file that was read.
_FAILING = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.ESTALE)


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
    return 70, f"internal error: {type(e).__name__}: {e} (VWLITE_DEBUG=1 shows where; please report it)"


def _shortage(e: Exception) -> str | None:
    """What the system has no more of, as a sentence, if that is the error."""
    if getattr(e, "errno", None) in (errno.EMFILE, errno.ENFILE) or os.strerror(errno.EMFILE) in str(e):
        import resource  # only this sentence needs it

        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return f"too many open files: this process may have {limit} at a time; ulimit -n allows more"
    if isinstance(e, RuntimeError) and "can't start new thread" in str(e):
        return "too many threads: the system allows no more; ulimit -u, or a limit of the container, allows more"
    return None
