"""Makes a case smaller as long as the same is wrong with it."""

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

from fuzz.case import CONNECTIONS, Case, Command
from fuzz.check_case import check_case

ROUNDS = 300


def alike(found: str) -> str:
    """The first line of what is wrong, without what differs from case to case."""
    line = re.sub(r"'[^']*'|\"[^\"]*\"", "''", found.split("\n", 1)[0])
    return re.sub(r"==\d+==|0x[0-9a-f]+|[-+]?\d[\d.e+-]*", "#", line)[:120]


def shrunk(case: Case, found: str, folder: Path) -> Case:
    """The smallest of the cases that are made by leaving something out, again and again."""
    expected = alike(found)
    for _ in range(ROUNDS):
        smaller = False
        for candidate in _candidates(case):
            if candidate.to_json() == case.to_json():
                continue
            wrong = check_case(candidate, folder)
            if wrong and alike(wrong) == expected:
                case, smaller = candidate, True
                case.found = wrong.split("\n{", 1)[0][:2000]
                break
        if not smaller:
            break
    return case


def _candidates(case: Case) -> Iterator[Case]:
    """Cases with less in them, those with much less first."""
    for i in range(len(case.texts)):
        if len(case.texts) > 1:
            yield _with(case, texts=[case.texts[i]])
    for i, (format, options, first, text) in enumerate(case.texts):
        for smaller in _smaller(text):
            yield _with(case, texts=[*case.texts[:i], (format, options, first, smaller), *case.texts[i + 1 :]])
        for name in options:
            less = {key: value for key, value in options.items() if key != name}
            yield _with(case, texts=[*case.texts[:i], (format, less, first, text), *case.texts[i + 1 :]])
    for name in CONNECTIONS:
        connections = getattr(case, name)
        for i, pieces in enumerate(connections):
            yield _with(case, **{name: connections[:i] + connections[i + 1 :]})
            for smaller in _smaller(b"".join(pieces)):
                yield _with(case, **{name: [*connections[:i], [smaller], *connections[i + 1 :]]})
            for j, piece in enumerate(pieces):
                for smaller in _smaller(piece):
                    less = [*pieces[:j], smaller, *pieces[j + 1 :]]
                    yield _with(case, **{name: [*connections[:i], less, *connections[i + 1 :]]})
    if len(case.groups) > 2:
        for i in range(1, len(case.groups)):
            yield _with(case, groups=[case.groups[0], case.groups[i]])
    for g, commands in enumerate(case.groups):
        for i in range(len(commands)):
            if len(commands) > 1 and not case.same:
                yield _with(case, groups=_replaced(case.groups, g, commands[:i] + commands[i + 1 :]))
    for name, content in case.files.items():
        used = any(name in command for commands in case.groups for command in commands) or name in case.caches
        if not (used or case.requests or case.lines):
            yield _with(case, files={key: value for key, value in case.files.items() if key != name})
        elif content[:2] != b"PK" and name not in case.caches:
            for smaller in _smaller(content):
                yield _with(case, files=case.files | {name: smaller})
    arguments = {a for commands in case.groups for command in commands for a in command[1:]}
    for size in (2, 1):
        for argument in sorted(arguments):
            groups = [[_without(command, argument, size) for command in commands] for commands in case.groups]
            yield _with(case, groups=groups)


def _with(case: Case, **changes: object) -> Case:
    found = deepcopy(case)
    for name, value in changes.items():
        setattr(found, name, value)
    return found


def _replaced(groups: list[list[Command]], g: int, commands: list[Command]) -> list[list[Command]]:
    return [*groups[:g], commands, *groups[g + 1 :]]


def _without(command: Command, argument: str, size: int) -> Command:
    """A command without an argument, and the one behind it."""
    if argument not in command[1:]:
        return command
    at = command.index(argument, 1)
    return command[:at] + command[at + size :]


def _smaller(data: bytes) -> Iterator[bytes]:
    """A text with halves, lines or words left out."""
    lines = data.splitlines(keepends=True)
    size = len(lines) // 2
    while size >= 1:
        for i in range(0, len(lines), size):
            yield b"".join(lines[:i] + lines[i + size :])
        size //= 2
    if len(lines) <= 8:
        for i, line in enumerate(lines):
            words = re.split(rb"(?<= )", line)
            for k in range(len(words)):
                yield b"".join([*lines[:i], *words[:k], *words[k + 1 :], *lines[i + 1 :]])
