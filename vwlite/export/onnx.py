"""A model of a table as ONNX, of the operators of ai.onnx 17 and ai.onnx.ml 3.

    <column> [N, 1]         an input for each column: a float, NaN is missing; or a string, empty is missing
    variable [N, 1 or Q]    the prediction, of a regression; or those of several quantiles, in ascending order
    label [N]               the class
    probabilities [N, C]    of the classes, if the loss gives some
    score [N, 1, Q or C]    before clipping and link

Sums are in double precision, as 32-bit floats are not near enough to those of `vwlite predict`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite import __version__
from vwlite.algorithms.links import FORMS
from vwlite.algorithms.losses import usual_threshold
from vwlite.core.text.numbers import whole
from vwlite.errors import DataError, UsageError
from vwlite.export import Request
from vwlite.export.columns import Columns, NotByColumns, columns_of
from vwlite.export.text import what
from vwlite.model.effects import BY_LENGTH, LevelAxis, NumberAxis, Numbers, as_bytes

if TYPE_CHECKING:
    from vwlite.export.columns import Grid

_FUNCTIONS = {"sigmoid": "Sigmoid", "exp": "Exp"}  # of links
OPSETS = {"": 17, "ai.onnx.ml": 3}
IR_VERSION = 8  # of onnx 1.12, which had these first


def onnx(request: Request) -> bytes:
    """The bytes of the file. UsageError without the package `onnx`; DataError if the model is not one by columns."""
    try:
        import onnx as _  # noqa: F401
    except ImportError:
        raise UsageError("--to onnx needs a package that is not installed: pip install 'vwlite[onnx]'") from None
    try:
        columns = columns_of(request.linear, request.path)
    except NotByColumns as e:
        others = "; --to python and --to c have programs that read lines of text" if request.model.columns else ""
        raise DataError(f"{request.path}: cannot be exported to onnx: {e}{others}") from None
    return _Graph(columns).content()


class _Graph:
    """Inputs are called as columns are; other values have names that begin with as many `/` as no column has."""

    def __init__(self, columns: Columns) -> None:
        self.columns, self.linear = columns, columns.linear
        names = [*columns.numbers, *(name for name, _ in columns.words)]
        self._scores = len(self.linear.classes) or self.linear.records
        self._prefix = "/"
        while any(name.startswith(self._prefix) for name in names):
            self._prefix += "/"
        self._nodes: list[Any] = []
        self._constants: dict[tuple, Any] = {}  # by what is in them
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._made: dict[tuple, str] = {}  # by operator and inputs: nothing is computed twice

    def content(self) -> bytes:
        from onnx import OperatorSetIdProto, helper

        self._numbers = [self._number(name) for name in self.columns.numbers]
        self._words = [self._input(f"{column}.{part}" if part else column, "STRING")
                       for column, part in self.columns.words]
        self._places = [self._place(axis) for axis in self.columns.axes]
        self._put(self._score())
        graph = helper.make_graph(
            self._nodes, "vwlite", self._inputs, self._outputs, list(self._constants.values()),
            doc_string=f"A model of vwlite: {what(self.linear)}.",
        )
        opsets = []
        for domain, version in OPSETS.items():
            opsets.append(OperatorSetIdProto())
            opsets[-1].domain, opsets[-1].version = domain, version
        model = helper.make_model(graph, opset_imports=opsets, producer_name="vwlite", producer_version=__version__,
                                  ir_version=IR_VERSION)
        found: bytes = model.SerializeToString()
        return found

    # --- nodes ------------------------------------------------------------------------------------

    def _op(self, kind: str, *inputs: str, domain: str = "", more: int = 0, **attributes: Any) -> str:
        """The first output of an operator. more: how many others it has."""
        from onnx import helper

        key = (kind, inputs, repr(attributes))
        if key not in self._made:
            name = self._made[key] = f"{self._prefix}{len(self._made)}"
            outputs = [name, *(f"{name}_{i}" for i in range(more))]
            self._nodes.append(helper.make_node(kind, list(inputs), outputs, domain=domain, **attributes))
        return self._made[key]

    def _constant(self, values: Any) -> str:
        """Of float64 or int64, or bytes."""
        from onnx import TensorProto, helper, numpy_helper

        if isinstance(values, list) and values and isinstance(values[0], bytes):
            key: tuple = tuple(values)
            made = helper.make_tensor("", TensorProto.STRING, [len(values)], values)
        else:
            array = np.ascontiguousarray(values)
            key = (array.dtype.char, array.shape, array.tobytes())
            made = numpy_helper.from_array(array)
        if key not in self._constants:
            made.name = f"{self._prefix}c{len(self._constants)}"
            self._constants[key] = made
        name: str = self._constants[key].name
        return name

    def _input(self, name: str, kind: str) -> str:
        from onnx import TensorProto, helper

        name = self._free(name)
        self._inputs.append(helper.make_tensor_value_info(name, getattr(TensorProto, kind), [None, 1]))
        return name

    def _free(self, name: str) -> str:
        """A name that no input has: this one, or with `_` behind it."""
        while any(column.name == name for column in self._inputs):
            name += "_"
        return name

    def _output(self, name: str, value: str, kind: str, *shape: int) -> None:
        from onnx import TensorProto, helper

        name = self._free(name)
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, getattr(TensorProto, kind), [None, *shape]))

    def _cast(self, value: str, kind: str) -> str:
        from onnx import TensorProto

        return self._op("Cast", value, to=getattr(TensorProto, kind))

    def _flat(self, value: str) -> str:
        """[N, 1] as [N]."""
        return self._op("Squeeze", value, self._constant(np.array([1])))

    def _column(self, value: str) -> str:
        """[N] as [N, 1]."""
        return self._op("Unsqueeze", value, self._constant(np.array([1])))

    # --- columns ----------------------------------------------------------------------------------

    def _number(self, name: str) -> tuple[str, str]:
        """A column of numbers, with 0 for a missing one; and whether it is missing. Both are [N, 1]."""
        x = self._cast(self._input(name, "FLOAT"), "DOUBLE")
        missing = self._op("IsNaN", x)
        for number in self.columns.missing_numbers:
            missing = self._op("Or", missing, self._op("Equal", x, self._constant(np.array(number))))
        return self._op("Where", missing, self._constant(np.array(0.0)), x), missing

    def _place(self, axis: Any) -> tuple[str, str | None]:
        """Where rows are on an axis, and how far behind that place: both are [N]. Behind the places of a number there
        is one more, which has no effect, so that each has a next one."""
        at = self.columns.input_of(axis)
        if isinstance(axis, LevelAxis):
            levels = {as_bytes(word): i for word, i in axis.places.items()} | {b"": axis.size - 1}
            if self.columns.schema.has_wholes and not axis.part:  # floats as text
                levels |= {level + b".0": i for level, i in levels.items() if whole(level + b".0") == level}
            keys, values = [*levels], [*levels.values()]
            place = self._op("LabelEncoder", self._words[at], domain="ai.onnx.ml", keys_strings=keys,
                             values_int64s=values, default_int64=axis.place_of_unknown)
            return self._flat(place), None
        knots, (x, is_missing) = axis.knots, self._numbers[at]
        missing, behind_all = self._flat(is_missing), self._constant(np.array(len(knots)))
        if len(knots) == 1:
            return self._op("Where", missing, behind_all, self._constant(np.array(0))), None
        x = self._op("Clip", x, self._constant(knots[0]), self._constant(knots[-1]))
        reached = self._op("GreaterOrEqual", x, self._constant(knots[None, 1:-1]))
        low = self._op("ReduceSum", self._cast(reached, "INT64"), self._constant(np.array([1])), keepdims=0)
        begin = self._op("Gather", self._constant(knots[:-1]), low)
        length = self._op("Gather", self._constant(np.diff(knots)), low)
        behind = self._op("Div", self._op("Sub", self._flat(x), begin), length)
        nothing = self._constant(np.array(0.0))
        return self._op("Where", missing, behind_all, low), self._op("Where", missing, nothing, behind)

    # --- the score --------------------------------------------------------------------------------

    def _score(self) -> str:
        """[N, classes]"""
        n = self._scores
        slopes, grids = self.columns.slopes, self.columns.grids
        normalize = self.linear.settings.normalize
        values = [self._numbers[slope.number][0] for slope in slopes]
        factors: list[str | None] = [None] * len(grids)
        if normalize in BY_LENGTH:
            *values, one = self._normalized(values, normalize == "log")
            factors = [one] * len(grids)
        found = [self._constant(self.columns.intercept[None, :n])]
        if values:
            x = self._op("Concat", *values, axis=1) if len(values) > 1 else values[0]
            found.append(self._op("MatMul", x, self._constant(np.array([slope.weight[:n] for slope in slopes]))))
        for grid, factor in zip(grids, factors, strict=True):
            value = self._effect(grid, n)
            found.append(value if factor is None else self._op("Mul", value, factor))
        # A model without columns has a score for each row, too.
        return self._op("Sum", *found) if len(found) > 1 else found[0]

    def _units(self, number: int) -> str:
        """How many features of value 1 an axis has in a row: [N, 1]."""
        axis = self.columns.axes[number]
        known, other, missing = self.columns.units(axis)
        behind = [missing] if isinstance(axis, NumberAxis) else [other, missing]
        counts = [float(known)] * (axis.size - len(behind)) + [*map(float, behind)]
        return self._column(self._op("Gather", self._constant(np.array(counts)), self._places[number][0]))

    def _normalized(self, numbers: list[str], is_log: bool) -> list[str]:
        """The numbers of a row, and the value of a feature of 1, divided by the length of the row."""
        values = [*numbers, self._constant(np.array([[1.0]]))]
        if is_log:
            one = self._constant(np.array(1.0))
            values = [self._op("Mul", self._op("Sign", x), self._op("Log", self._op("Add", self._op("Abs", x), one)))
                      for x in values]
            values = [self._cast(self._cast(x, "FLOAT"), "DOUBLE") for x in values]
        *squares, square = [self._op("Mul", x, x) for x in values]
        squares += [self._op("Mul", self._units(i), square) for i in range(len(self.columns.axes))]
        length = self._op("Sqrt", self._op("Sum", *squares))
        none = self._op("Equal", length, self._constant(np.array(0.0)))
        length = self._op("Where", none, self._constant(np.array(1.0)), length)
        return [self._cast(self._cast(self._op("Div", x, length), "FLOAT"), "DOUBLE") for x in values]

    def _effect(self, grid: "Grid", n: int) -> str:
        values: Numbers = grid.values[..., :n]
        for k, axis in enumerate(grid.axes):
            if isinstance(self.columns.axes[axis], NumberAxis):
                values = np.concatenate([values, np.zeros_like(np.take(values, [0], axis=k))], axis=k)
        table = self._constant(values.reshape(-1, n))
        index, steps, size = "", [], len(values.reshape(-1, n))
        for k, axis in enumerate(grid.axes):
            size //= values.shape[k]
            low, behind = self._places[axis]
            at = low if size == 1 else self._op("Mul", low, self._constant(np.array(size)))
            index = self._op("Add", index, at) if index else at
            if behind is not None:
                steps.append((size, behind))
        return self._between(table, index, steps)

    def _between(self, table: str, index: str, steps: list[tuple[int, str]]) -> str:
        """The values at places of a table, linear along each step."""
        if not steps:
            return self._op("Gather", table, index)
        (size, behind), *rest = steps
        low = self._between(table, index, rest)
        high = self._between(table, self._op("Add", index, self._constant(np.array(size))), rest)
        return self._op("Add", low, self._op("Mul", self._column(behind), self._op("Sub", high, low)))

    # --- outputs ----------------------------------------------------------------------------------

    def _put(self, score: str) -> None:
        s, classes = self.linear.settings, self.linear.classes
        if classes:
            self._label([*classes], self._op("ArgMax", score, axis=1, keepdims=0))
            if self.linear.probable:
                if self.linear.probable == "sigmoid":  # divided by their sum, which may be too small for a number
                    zero, one = (self._constant(np.array(x)) for x in (0.0, 1.0))
                    small = self._op("Exp", self._op("Neg", self._op("Abs", score)))
                    logarithm = self._op("Log", self._op("Add", one, small))
                    shares = self._op("Softmax", self._op("Sub", self._op("Min", score, zero), logarithm), axis=1)
                else:
                    shares = self._op("Softmax", score, axis=1)
                self._output("probabilities", self._cast(shares, "FLOAT"), "FLOAT", len(classes))
        elif s.outputs.is_binary:
            is_probable = s.loss == "logistic"
            share = self._op("Sigmoid", self._clipped(score)) if is_probable else self._clipped(score)
            least = self._constant(np.array(usual_threshold(probable=is_probable)))
            is_positive = self._op("GreaterOrEqual", self._flat(share), least)
            self._label([*(s.labels or (-1.0, 1.0))], self._cast(is_positive, "INT64"))
            if is_probable:
                other = self._op("Sub", self._constant(np.array(1.0)), share)
                shares = self._op("Concat", other, share, axis=1)
                self._output("probabilities", self._cast(shares, "FLOAT"), "FLOAT", 2)
        else:
            p = self._clipped(score)
            if self._scores > 1:
                p = self._op("TopK", p, self._constant(np.array([self._scores])), axis=1, largest=0, more=1)
            self._output("variable", self._cast(self._linked(p), "FLOAT"), "FLOAT", self._scores)
        self._output("score", self._cast(score, "FLOAT"), "FLOAT", self._scores)

    def _label(self, names: list[str | float], index: str) -> None:
        """The names of classes, or the labels; whole numbers are integers, as in other converters."""
        texts = [name if isinstance(name, str) else f"{name:.9g}" for name in names]
        numbers = [number for number, text in zip(map(_integer, texts), texts, strict=True) if str(number) == text]
        if len(numbers) == len(texts):
            self._output("label", self._op("Gather", self._constant(np.array(numbers)), index), "INT64")
        else:
            named = self._constant([as_bytes(text) for text in texts])
            self._output("label", self._op("Gather", named, index), "STRING")

    def _clipped(self, score: str) -> str:
        for kind, bound in (("Max", self.linear.low), ("Min", self.linear.high)):
            if np.isfinite(bound):
                score = self._op(kind, score, self._constant(np.array(bound)))
        return score

    def _linked(self, p: str) -> str:
        link = FORMS[self.linear.settings.link]
        if link.has_offset:
            p = self._op("Add", p, self._constant(np.array(self.linear.offset)))
        if link.function in _FUNCTIONS:
            p = self._op(_FUNCTIONS[link.function], p)
        for kind, number, neutral in (("Mul", link.scale, 1), ("Sub", -link.shift, 0)):
            if number != neutral:
                p = self._op(kind, p, self._constant(np.array(float(number))))
        return p


def _integer(text: str) -> int:
    """A whole number of at most 64 bits; 0 for any other text."""
    try:
        number = int(text)
    except ValueError:
        return 0
    return number if -(1 << 63) <= number < 1 << 63 else 0
