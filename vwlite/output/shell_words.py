"""Commands to type, as a shell reads them."""

import re
import shlex
from collections.abc import Iterable

_QUOTED = re.compile(r"""(?:\$'(?:[^'\\]|\\.)*'|'[^']*'|"[^"]*"|[^\s'"])+""")


def quoted(word: str) -> str:
    """A word. Characters that a terminal would obey, and bytes that are no text, are escaped as bash and zsh read
    them: $'\\x01'."""
    if word.isprintable():
        return shlex.quote(word)
    data = word.encode("utf-8", "surrogateescape")
    plain = (chr(b) if 32 <= b < 127 and chr(b) not in "'\\" else f"\\x{b:02x}" for b in data)
    return f"$'{''.join(plain)}'"


def joined(words: Iterable[str]) -> str:
    """A command."""
    return " ".join(map(quoted, words))


def split_words(command: str) -> list[str]:
    """The words of what `joined` gave, still quoted."""
    return _QUOTED.findall(command)
