"""Text for people: what may be printed of names and labels, and numbers in few digits."""


def shown(x: float | None, about: bool = False) -> str:
    """A number with four digits."""
    if x is None:
        return "-"
    text = f"{x:.4f}" if 0.1 <= abs(x) < 100 or x == 0 else f"{x:.4g}"
    return f"~{text}" if about else text


def signed(x: float) -> str:
    """A difference."""
    return f"{x:+.5f}" if 1e-3 <= abs(x) < 10 or x == 0 else f"{x:+.5g}"


def probability(p: float) -> str:
    """A probability in three decimals, or with one digit if these are zeros."""
    return f"{p:.3f}" if p >= 0.0005 or p == 0 else f"{p:.0e}"


def percent(x: float, digits: int = 1) -> str:
    """A share."""
    return f"{100 * x:.{digits}f} %"


def label_text(label: float | str) -> str:
    """A label of the data in a message."""
    return printable(label) if isinstance(label, str) else f"{label:g}"


def printable(text: str) -> str:
    """Text from data as it may be shown: it must not command a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def line_width() -> int:
    """How many letters a line has: those of the terminal, or 80 if they are fewer or there is none."""
    from shutil import get_terminal_size  # not at the top: few commands need it

    return max(get_terminal_size((80, 24)).columns, 80)


def cut(text: str, width: int | None = None) -> str:
    """A text of at most `width` letters; None: those of a line."""
    width = width or line_width()
    return text if len(text) <= width else text[: width - 3] + "..."
