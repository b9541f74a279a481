"""What makes predictions of scores. Each link is written once; languages have the functions that it is made of:

    prediction = scale function(p + offset) + shift

The engine has the same in `cython_ext/learn/output.pyx`.
"""

from collections.abc import Callable, Mapping

from vwlite.records import record


@record(frozen=True)
class Link:
    """function: identity, sigmoid or exp. has_offset: the offset of a model is added to its scores."""

    function: str = "identity"
    scale: int = 1
    shift: int = 0
    has_offset: bool = False

    def expression(self, functions: Mapping[str, str], offset: float = 0.0, number: Callable[[int], str] = str) -> str:
        """In terms of p, in a language. functions: how it has each of {p}, {times} what comes before (or over {scale});
        with expm1 for exp - 1, if it has that. number: how it has a constant."""
        name, shift = self.function, self.shift
        if (name, shift) == ("exp", -1) and "expm1" in functions:
            name, shift = "expm1", 0
        p, times = f"p + {offset!r}" if self.has_offset else "p", "" if self.scale == 1 else f"{number(self.scale)} * "
        found = functions[name].format(p=p, times=times, scale=number(self.scale))
        return f"{found} {'-' if shift < 0 else '+'} {number(abs(shift))}" if shift else found


FORMS = {
    "identity": Link(),
    "logistic": Link("sigmoid"),
    "glf1": Link("sigmoid", scale=2, shift=-1),
    "poisson": Link("exp"),
    "log": Link("exp"),
    "expm1": Link("exp", shift=-1, has_offset=True),
}
