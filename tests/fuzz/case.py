"""A case: files and what is done with them; or a text, for the parser and its slow reference."""

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CONNECTIONS = ("requests", "lines")
Command = list[str]  # the arguments of vwlite; the last two may be < FILE


@dataclass
class Case:
    """files, groups: each group of commands runs in a folder of its own that holds all files.

    same: files that must be the same after each group, "stdout" too; the groups must also end with the same exit code.
    caches: which of the files are caches, each with the files it is to be of: its fingerprint is made that of them as
    they are when the case runs.
    texts: for the parser and its slow reference: format, options, number of the first line, text.
    requests, lines: connections to a server of the file `model`, each as the pieces that arrive, of HTTP and of lines.
    pattern: kind of text, beginning, what is repeated, end.
    found: what was wrong with it.
    """

    kind: str
    files: dict[str, bytes] = field(default_factory=dict)
    groups: list[list[Command]] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    caches: dict[str, list[str]] = field(default_factory=dict)
    texts: list[tuple[str, dict[str, Any], int, bytes]] = field(default_factory=list)
    requests: list[list[bytes]] = field(default_factory=list)
    lines: list[list[bytes]] = field(default_factory=list)
    pattern: tuple[str, bytes, bytes, bytes] | None = None
    found: str = ""

    def to_json(self) -> str:
        content: dict[str, Any] = {"kind": self.kind, "found": self.found}
        if self.pattern:
            content["pattern"] = [self.pattern[0], *map(_as_text, self.pattern[1:])]
        elif self.texts:
            content["texts"] = [[f, o, n, _as_text(t)] for f, o, n, t in self.texts]
        else:
            content["files"] = {name: _as_text(data) for name, data in self.files.items()}
            for name in CONNECTIONS:
                if connections := getattr(self, name):
                    content[name] = [[_as_text(piece) for piece in pieces] for pieces in connections]
            content["groups"] = self.groups
            content |= {name: value for name, value in (("same", self.same), ("caches", self.caches)) if value}
        return _written(content, 0) + "\n"


def read_case(path: Path) -> Case:
    content = json.loads(path.read_text(encoding="utf-8"))
    files = {name: _as_bytes(data) for name, data in content.pop("files", {}).items()}
    texts = [(f, _options(o), n, _as_bytes(t)) for f, o, n, t in content.pop("texts", [])]
    if "pattern" in content:
        kind, *parts = content["pattern"]
        content["pattern"] = (kind, *map(_as_bytes, parts))
    for name in CONNECTIONS:
        content[name] = [[_as_bytes(piece) for piece in pieces] for pieces in content.get(name, [])]
    return Case(files=files, texts=texts, **content)


def _options(options: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}


def _written(content: Any, depth: int) -> str:
    """JSON with a line for each file and each command."""
    pad = "\n" + " " * depth
    if isinstance(content, dict) and content and depth < 2:
        rows = [f"{pad} {json.dumps(name)}: {_written(value, depth + 1)}" for name, value in content.items()]
        return "{" + ",".join(rows) + pad + "}"
    if isinstance(content, list) and content and isinstance(content[0], list):
        return "[" + ",".join(f"{pad} {_written(row, depth + 1)}" for row in content) + pad + "]"
    return json.dumps(content)


def _as_text(data: bytes) -> str | dict[str, str]:
    """Unchanged if it is ASCII without control characters, to be readable."""
    if all(32 <= c < 127 or c in b"\t\r\n" for c in data):
        return data.decode("ascii")
    return {"base64": base64.b64encode(data).decode("ascii")}


def _as_bytes(text: str | dict[str, str]) -> bytes:
    return text.encode("ascii") if isinstance(text, str) else base64.b64decode(text["base64"])
