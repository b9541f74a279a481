"""The exceptions of the program, each with an exit code.

A message is a sentence for the user: where, what is wrong, and what to do.
"""


class VwliteError(Exception):
    """An error that a person can act on: printed without a traceback."""

    exit_code = 70


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
