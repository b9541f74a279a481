"""Links, the functions from scores to predictions. Each is defined once here, for all languages of exports:

    prediction = scale function(p + offset) + shift

The engine has its own in `cython_ext/learn/output.pyx`.
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

    def expression(
        self, functions: Mapping[str, str], offset: float = 0.0, number: Callable[[int], str] = str, p: str = "p"
    ) -> str:
        """The prediction from p in a language. functions: its text for identity, sigmoid, exp, and expm1 if it has one,
        of the argument {p}, and for sigmoid of the factor, as {times} or {scale}. number: its text for a constant."""
        name, shift = self.function, self.shift
        if (name, shift) == ("exp", -1) and "expm1" in functions:
            name, shift = "expm1", 0
        p, times = f"{p} + {offset!r}" if self.has_offset else p, "" if self.scale == 1 else f"{number(self.scale)} * "
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
