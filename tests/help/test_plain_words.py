"""What users read is plain technical English: help, topics, pages, README, messages have no word of a private list."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import docs
import manual

from vwlite.help.commands import TEXTS

PACKAGE = TEXTS.parent

# --copies apart is the value of an option.
WORDS = re.compile(
    r"\b(whoever|nobody|anew|afresh|told|meals|twins?|lively|surer|truths|wanted|begun|judged?|odd|enormous"
    r"|is none|are none|it takes to|gone through|goes? on|going on"
    r"|means? nothing|excludes? each other|as of then|constant's|says which|by chance only"
    r"|is no (?:algorithm|topic|file|list|object|array|number|text|table|column|digest|class|shard|model|time|ball)"
    r"|(?<!--copies )apart(?![\]:]|$)"
    r"|no shard is there|there was nothing|nothing is in)\b"
)


def private(text: str) -> list[str]:
    """The private words of a text, each with what is around it."""
    text = re.sub(r"\s+", " ", text)
    return [text[max(0, m.start() - 40) : m.end() + 40] for m in WORDS.finditer(text)]


def texts_of_help() -> Iterator[tuple[str, str]]:
    for name, _, command, parent in manual.all_commands():  # a command keeps the help option of its first context
        yield f"{name} --help", command.get_help(click.Context(command, parent, info_name=name))
    for path in [*TEXTS.glob("*.txt"), *PACKAGE.glob("*/pages/*")]:
        yield str(path.relative_to(PACKAGE)), path.read_text(encoding="utf-8")
    yield "README.md", docs.README.read_text(encoding="utf-8")


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The string literals of a file of Python that are not docstrings, f-strings with {} for their values."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    done = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}  # docstrings
    for node in ast.walk(tree):  # an f-string comes before its parts
        if isinstance(node, ast.JoinedStr) and id(node) not in done:
            done |= {id(part) for part in node.values if isinstance(part, ast.Constant)}
            yield node.lineno, "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in done:
            yield node.lineno, node.value


def test_help_has_no_private_words() -> None:
    assert {where: found for where, text in texts_of_help() if (found := private(text))} == {}


def test_messages_have_no_private_words() -> None:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE)
        if name.parts[0] == "vw":  # its messages are those of Vowpal Wabbit
            continue
        found |= {f"{name}:{line}": words for line, text in messages(path) if (words := private(text))}
    assert found == {}


def test_private_words_are_found() -> None:
    assert private("'x' is no\n topic: it is none") and private("a model is no list; a lower bound") != []
    assert not private("there is no folder nosuch") and not private("an exact number")
