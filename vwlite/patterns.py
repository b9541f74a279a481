"""Regular expressions that are compiled when they are first used: few of those of its modules are used by a command."""

from typing import TYPE_CHECKING

__all__ = ["pattern"]

if TYPE_CHECKING:
    from re import compile as pattern
else:

    class pattern:
        """As `re.compile`."""

        def __init__(self, text, flags=0):
            self._of = text, flags

        def __getattr__(self, name):
            """Called for what an object does not have yet: a method of the compiled expression, which is kept."""
            from re import compile

            compiled = compile(*self._of)
            vars(self).update({of: getattr(compiled, of) for of in ("match", "fullmatch", "search", "sub", "finditer")})
            return vars(self)[name] if name in vars(self) else getattr(compiled, name)
