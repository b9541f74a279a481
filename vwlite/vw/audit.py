"""Names of features: what `--audit` shows, and what `--invert_hash` collects."""

from collections.abc import Callable
from typing import Any

from vwlite.vw.learners import Current
from vwlite.vw.model import Layout
from vwlite.vw.words import prediction, short


def expanded_names(
    names: dict[int, list[bytes]], letters: list[int], keep: Callable[[int], bool], terms: list[bytes],
    permutations: bool, constant: bool,
) -> list[bytes]:  # fmt: skip
    """The names of an example's features, in the order in which the engine expands them.

    letters: the namespaces in order; keep: whether the linear features of one count; terms: the interactions.
    """
    out: list[bytes] = []
    for letter in letters:
        if keep(letter):
            out += names.get(letter, [])
    if constant:
        out.append(b"Constant")
    for term in terms:
        if all(names.get(letter) for letter in term):
            _cross(names, term, 0, 0, b"", out, permutations)
    return out


def _cross(
    names: dict[int, list[bytes]], term: bytes, depth: int, begin: int, prefix: bytes, out: list[bytes],
    permutations: bool,
) -> None:  # fmt: skip
    own = names[term[depth]]
    for i in range(begin, len(own)):
        name = prefix + b"*" + own[i] if depth else own[i]
        if depth + 1 == len(term):
            out.append(name)
        else:
            same = term[depth + 1] == term[depth] and not permutations
            _cross(names, term, depth + 1, i if same else 0, name, out, permutations)


class Namer:
    """Knows the names of the example at hand."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.stepper = run.learner.bottom.stepper
        self.layout = Layout(self.stepper.rule, run.setup.fields)
        self.found: dict[int, bytes] = {}  # names by slot

    def names(self, e: Current) -> list[bytes]:
        """The names of the features of the example, as the stepper has them; empty where they are not known."""
        if e.made_names is not None:
            return e.made_names
        run = self.run
        batch, line = e.batch, e.line
        letters: list[int] = []
        counts: dict[int, int] = {}
        for span in range(batch.span_begin[line], batch.span_begin[line + 1]):
            letter = batch.letter[span]
            size = batch.feature_begin[span + 1] - batch.feature_begin[span]
            if letter not in counts:
                letters.append(letter)
            counts[letter] = counts.get(letter, 0) + size
        dropped = run.source.shape.dropped
        names = {
            letter: (e.names or {}).get(letter) or [b""] * counts[letter] for letter in letters if not dropped(letter)
        }
        linear = run.setup.not_linear
        found = expanded_names(
            names, letters, lambda letter: letter in names and letter not in linear, self.stepper.expander.terms,
            run.arguments.flag("permutations"), not run.arguments.flag("noconstant"),
        )  # fmt: skip
        return found + e.more_names

    def collect(self, e: Current) -> None:
        """Remember which name each slot has."""
        if e.names is None and e.batch is not None:
            return
        for key, name in zip(self.stepper.keys_of(e.model), self.names(e), strict=False):
            if key not in self.found and (name or e.made_names is not None):
                self.found[key] = name + (b"[%d]" % e.model if e.model else b"")

    def audit(self, e: Current) -> None:
        """Print the features of the example, those that matter most first."""
        stepper, rule = self.stepper, self.stepper.rule
        keys = stepper.keys_of(e.model)
        _, values = stepper.features()
        slots = stepper.slots_of(keys)
        size = self.layout.size
        gravity = getattr(rule, "gravity", 0.0)
        contraction = getattr(rule, "contraction", 1.0)
        shows_g = "G" in self.run.setup.fields and not self.run.testing
        place_w = self.layout.names.index("w") if "w" in self.layout.names else self.layout.names.index("_w")
        rows = []
        for i, (key, x, name) in enumerate(zip(keys, values, self.names(e), strict=False)):
            fields = self.layout.struct.unpack_from(slots, i * size)
            w = fields[place_w]
            if gravity:
                w = max(abs(w) - gravity, 0) * (1 if w > 0 else -1)
            w *= contraction
            text = f"{name.decode('utf-8', 'surrogateescape')}:{key}:{short(x)}:{short(w)}"
            if shows_g:
                text += f"@{short(fields[self.layout.names.index('G')])}"
            rows.append((abs(w * x), text))
        rows.sort(key=lambda row: -row[0])
        out = self.run.streams.log
        if out is not None:
            tag = e.tag.decode("utf-8", "surrogateescape")
            out.write(prediction(e.prediction) + (f" {tag}" if tag else "") + "\n")
            out.write("".join("\t" + text for _, text in rows) + "\n")

