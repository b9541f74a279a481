"""HTML that is safe: a text is escaped unless it is Markup."""

import html
import os
import re
import time
from collections.abc import Iterable, Sequence
from importlib import resources

from vwlite.output.text import printable

LONGEST = 120  # characters of a name


class Markup(str):
    """Text that is HTML already."""


class Words(str):
    """A cell of a table that is no number: it may be broken into lines."""


def text(value: object, longest: int | None = LONGEST) -> Markup:
    """As HTML shows it: escaped, without control characters, and not longer than `longest`."""
    if isinstance(value, Markup):
        return value
    found = printable(str(value))
    return Markup(html.escape(found if longest is None or len(found) <= longest else found[:longest] + "..."))


def name(value: object, longest: int | None = LONGEST) -> Markup:
    """A name, which may be broken into lines behind its words."""
    if isinstance(value, Markup):
        return value
    return Markup(re.sub(r"(?<=[\w)])([_/:,*=^~@-]+)(?=\w)", r"\1<wbr>", text(value, longest)))


def joined(parts: Iterable[Markup]) -> Markup:
    return Markup("".join(parts))


def paragraph(*words: object) -> Markup:
    return Markup(f"<p>{joined(text(word, None) for word in words)}</p>")


def section(title: str, *parts: Markup) -> Markup:
    """Empty if it has no part."""
    return Markup(f"<section><h2>{text(title)}</h2>{joined(parts)}</section>\n") if any(parts) else Markup()


def items(lines: Iterable[str]) -> Markup:
    found = joined(Markup(f"<li>{text(line, None)}</li>") for line in lines)
    return Markup(f"<ul>{found}</ul>") if found else found


def many(lines: Iterable[object]) -> Markup:
    """A list in columns."""
    return Markup(f'<ul class="many">{joined(Markup(f"<li>{text(line)}</li>") for line in lines)}</ul>')


def columns(parts: Sequence[Markup]) -> Markup:
    """Beside each other where the page is wide."""
    found = joined(Markup(f"<div>{part}</div>") for part in parts if part)
    return Markup(f'<div class="columns">{found}</div>') if found else found


def table(caption: str, head: Sequence[object], rows: Iterable[Sequence[object]], *, stacked: bool = False) -> Markup:
    """The first cell of a row names it; the others are numbers or words. stacked: on a narrow page, the last cell of a
    row is below the others."""
    rows, of = list(rows), ' class="stacked"' if stacked else ""
    kinds = [' class="words"' if isinstance(cell, Words) else "" for cell in rows[0]] if rows else [""] * len(head)
    top = joined(Markup(f'<th scope="col"{of}>{text(cell)}</th>') for cell, of in zip(head, kinds, strict=True))
    body = joined(
        Markup(f'<tr><th scope="row">{name(first)}</th>{joined(map(_cell, cells))}</tr>')
        for first, *cells in rows
    )
    return Markup(
        f'<div class="wide" tabindex="0" role="group" aria-label="{text(caption)}"><table{of}>'
        f"<caption>{text(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: object) -> Markup:
    if isinstance(value, Words):
        return Markup(f'<td class="words">{name(value, None)}</td>')
    return Markup(f"<td>{text(value)}</td>")


def today() -> str:
    """The day, in UTC; that of SOURCE_DATE_EPOCH if it is set, for pages that shall be the same bytes on all days."""
    return time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))


def page(title: str, body: Markup) -> str:
    """A whole document that loads nothing."""
    style = resources.files("vwlite.evaluation.page").joinpath("page.css").read_text("utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n<h1>{name(title)}</h1>\n"
        f"{body}</main>\n</body>\n</html>\n"
    )
