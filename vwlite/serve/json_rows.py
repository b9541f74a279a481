"""The objects in a body of JSON as JSON lines for the parser of tables. Their text is unchanged, as words and numbers
are hashed as they are written. Brackets are only counted, so a body may be nested to any depth."""

import json
import re
from typing import Any

from vwlite.core.tables.tables import json_end
from vwlite.input.diagnostics import EXPLAINED, BadLine
from vwlite.serve.served import BadBody

_TOKEN = re.compile(rb'["{}\[\]]')
_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")
WHAT = "the body is JSON: an object, a list of objects, or an object on each line"


class Number(str):
    """The text of a number."""


def loaded_exactly(body: bytes) -> Any:
    """A body of JSON, with the text of each number. ValueError, RecursionError."""
    return json.loads(body, parse_int=Number, parse_float=Number, parse_constant=Number)


def json_of(x: Any) -> str:
    """JSON, with each number as it was."""
    if isinstance(x, Number):
        return x
    if isinstance(x, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{json_of(value)}" for key, value in x.items()) + "}"
    if isinstance(x, list):
        return "[" + ",".join(map(json_of, x)) + "]"
    return json.dumps(x)


class Rows:
    """kind: object, list, or lines. lines: the text of all objects, one on each line."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._begins: list[int] = []
        start = len(body) - len(body.lstrip())
        listed = body[start : start + 1] == b"["
        texts: list[bytes] = []
        at = start + listed
        while token := _TOKEN.search(body, at):
            begin, between = token.start(), body[at : token.start()].strip()
            if listed and token[0] == b"]" and not between:
                listed, at = False, token.end()
                break
            if token[0] != b"{" or between != (b"," if listed and texts else b""):
                raise self.error(at, WHAT)
            self._begins.append(begin)
            end, quote = json_end(body, begin)
            if quote >= 0:
                raise self.error(quote, EXPLAINED["JSON string"])
            at = end or len(body)
            texts.append(body[begin:at].translate(_LINE_ENDS))  # the parser reports an object without an end
            if not end:
                listed = False
        if listed or body[at:].strip() or (not texts and body[start : start + 1] != b"["):
            raise self.error(at, WHAT)
        self.kind = "list" if body[start : start + 1] == b"[" else "object" if len(texts) == 1 else "lines"
        self.lines = b"".join(text + b"\n" for text in texts)

    def error(self, at: int, why: str) -> BadBody:
        """What is wrong at a byte of the body."""
        begin = self._body.rfind(b"\n", 0, at) + 1
        return BadBody(BadLine("body", self._body.count(b"\n", 0, at) + 1, at - begin + 1, why))

    def moved(self, bad: BadBody) -> BadBody:
        """An error in the lines, at its place in the body."""
        return self.error(self._begins[bad.line - 1] + bad.column - 1, str(bad))
