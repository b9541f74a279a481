"""Which characters may be between cells, and which make the one after them ordinary."""


def is_delimiter(text: str) -> bool:
    """Whether cells can have this between them."""
    return len(text) == 1 and text.isascii() and text not in '"\r\n'


def is_escape(text: str) -> bool:
    """Whether this can make the character after it ordinary; or is `none`."""
    return text == "none" or (is_delimiter(text) and text.isprintable() and not text.isalnum() and text not in " ,;")
