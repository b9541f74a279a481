"""The state that a run of rounds stores beside its model, to continue if its driver dies.

One file: a line of JSON, and the merged model of the last round, or the state of an exact run after it.
"""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from vwlite.digest import blake2b
from vwlite.errors import DataError, NoInputError, UsageError
from vwlite.output.atomic import AtomicFile

SUFFIX = ".rounds"


@dataclass
class FinishedRounds:
    """Completed rounds. identity: what must be the same to continue."""

    identity: dict[str, Any]
    rounds: list[dict[str, Any]]
    model: bytes


def path_of(model: str) -> str:
    return model + SUFFIX


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=32).hexdigest()


def write_state(model: str, state: FinishedRounds) -> None:
    head = {"identity": state.identity, "rounds": state.rounds,
            "digest": digest(state.model)}
    with AtomicFile(path_of(model)) as file:
        file.write(json.dumps(head, sort_keys=True).encode() + b"\n")
        file.write(state.model)
        file.commit()


def read_state(model: str, identity: dict[str, Any]) -> FinishedRounds | None:
    """The state beside a model; None if missing. UsageError if it is of other data or options."""
    path = path_of(model)
    try:
        with open(path, "rb") as file:
            line, content = file.readline(), file.read()
    except FileNotFoundError:
        return None
    except OSError as e:
        raise NoInputError(f"{path}: {e.strerror}") from e
    try:
        head = json.loads(line)
        found = FinishedRounds(head["identity"], head["rounds"], content)
        whole = head["digest"] == digest(content)
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise damaged(model)
    now = json.loads(json.dumps(identity))
    for name in now:
        if found.identity.get(name) != now[name]:
            raise UsageError(f"--resume: {path} is of a run with different {name}: start without --resume")
    return found


def damaged(model: str) -> DataError:
    """The file beside a model is not a valid state."""
    return DataError(f"{path_of(model)}: is not the state of a run in rounds: remove it, or start without --resume")


def remove_state(model: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path_of(model))
