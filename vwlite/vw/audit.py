"""Names of features for `--audit`, `--invert_hash` and `--audit_regressor`."""

from collections.abc import Callable, Iterator
from typing import Any

from vwlite.model.learners import field_of
from vwlite.output.atomic import AtomicFile
from vwlite.vw.layers.base import Current, counts_of
from vwlite.vw.messages import Critical, prediction, short
from vwlite.vw.models.binary import SlotLayout
from vwlite.vw.text.examples import spans_of


def expanded_names(
    names: dict[int, list[bytes]], letters: list[int], keep: Callable[[int], bool], terms: list[bytes],
    permutations: bool, constant: bool,
) -> list[bytes]:
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
) -> None:
    own = names[term[depth]]
    for i in range(begin, len(own)):
        name = prefix + b"*" + own[i] if depth and (prefix or own[i]) else own[i]  # features of a cache have no names
        if depth + 1 == len(term):
            out.append(name)
        else:
            same = term[depth + 1] == term[depth] and not permutations
            _cross(names, term, depth + 1, i if same else 0, name, out, permutations)


class Namer:
    """The names of features of the current example."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.layout = SlotLayout(self.stepper.rule, run.setup.plan.fields)
        self.found: dict[int, bytes] = {}  # names by slot

    @property
    def stepper(self) -> Any:
        return self.run.learner.bottom.stepper

    def names(self, e: Current) -> list[bytes]:
        """The names of the features of the example, in the order of the stepper; empty if unknown."""
        if e.made_names is not None:
            return list(e.made_names)
        run = self.run
        counts = counts_of(e, run.setup.plan.shape.dropped)
        names = {letter: (e.names or {}).get(letter) or [b""] * count for letter, count in counts.items()}
        linear = run.setup.plan.not_linear
        found = expanded_names(
            names, list(counts), lambda letter: letter not in linear, self.stepper.expander.terms,
            run.arguments.flag("permutations"), not run.arguments.flag("noconstant"),
        )
        places = run.learner.bottom.constant_places
        if e.own is not None and places is not None:
            now, then = places(e)
            found.insert(then, found.pop(now))
        return found + e.more_names

    def ordered(self, e: Current) -> tuple[list[int], list[float], list[bytes]]:
        """Keys in model 0, values and names of the features of the example, in Vowpal Wabbit's order."""
        return (*self.stepper.features(), self.names(e))

    def collect(self, e: Current) -> None:
        """Remember which name each slot has."""
        if e.names is None and e.batch is not None:
            return
        for key, name in zip(self.stepper.keys_of(e.model), self.names(e), strict=False):
            if key not in self.found and (name or e.made_names is not None):
                self.found[key] = name + (b"[%d]" % e.model if e.model else b"")

    def audit(self, e: Current) -> None:
        """Print the features of the example, largest contributions first."""
        stepper, rule = self.stepper, self.stepper.rule
        _, values = stepper.features()
        features = self._with_not_linear(e, list(zip(stepper.keys_of(e.model), values, self.names(e), strict=False)))
        slots = stepper.slots_of([key for key, _, _ in features])
        weights = field_of(rule, slots, self.layout.stored("w"))
        gravity = getattr(rule, "gravity", 0.0) + self.run.setup.owed
        contraction = getattr(rule, "contraction", 1.0)
        shows_g = "G" in self.run.setup.plan.fields and not self.run.testing
        sums = field_of(rule, slots, "G") if shows_g else weights
        shown = []
        for i, (key, x, name) in enumerate(features):
            w = weights[i]
            if gravity:
                w = max(abs(w) - gravity, 0) * (1 if w > 0 else -1)
            shown.append((name.decode("utf-8", "surrogateescape"), key, x, w * contraction, sums[i]))
        shown += [("", *more) for more in e.more_audited]
        rows = [(abs(w * x), f"{name}:{key}:{short(x)}:{short(w)}" + f"@{short(G)}" * shows_g)
                for name, key, x, w, G in shown]
        rows.sort(key=lambda row: -row[0])
        out = self.run.streams.log
        if out is not None:
            tag = e.tag.decode("utf-8", "surrogateescape")
            out.write(prediction(e.prediction) + (f" {tag}" if tag else "") + "\n")
            out.write("".join("\t" + text for _, text in rows) + "\n")

    def _with_not_linear(self, e: Current, features: list[tuple[int, float, bytes]]) -> list[tuple[int, float, bytes]]:
        """Keys, values and names with those of --ignore_linear, which Vowpal Wabbit shows, but does not add up."""
        plan = self.run.setup.plan
        if not plan.not_linear or e.made_names is not None:
            return features
        shown, at = [], 0
        for letter, count in counts_of(e, plan.shape.dropped).items():
            if letter not in plan.not_linear:
                shown += features[at : at + count]
                at += count
                continue
            spans = [range(begin, end) for found, begin, end in spans_of(e.batch, e.line) if found == letter]
            names = (e.names or {}).get(letter) or [b""] * count
            for i, name in zip((i for span in spans for i in span), names, strict=True):
                shown.append((self.stepper.key(e.batch.hash[i], e.model), e.batch.value[i], name))
        return shown + features[at:]


class RegressorAudit:
    """Names the weights of a model by the features of data: `--audit_regressor`."""

    def __init__(self, run: Any) -> None:
        a = run.arguments
        self.run, self.path = run, a["audit_regressor"]
        if run.plan.passes > 1:
            raise Critical("audit_regressor can't be used with --passes > 1.", "audit_regressor.cc", 290)
        if run.source.cache is not None and not a.flag("kill_cache"):
            raise Critical(
                "audit_regressor is incompatible with a cache file. Use it in single pass mode only.",
                "audit_regressor.cc", 230,
            )
        self.classes = a.get("csoaa", 1)
        layout = SlotLayout(run.learner.bottom.stepper.rule, run.setup.plan.fields)
        place = layout.fields.index("w")
        self.weights = {slot: values[place] for slot, values in layout.read() if values[place] != 0}
        self.total = len(self.weights)
        if not self.weights:
            raise Critical("regressor has no non-zero weights. Nothing to audit.", "audit_regressor.cc", 260)

    def go(self) -> None:
        """Read the data until all weights are named, or the data end."""
        run = self.run
        streams, statistics = run.streams, run.statistics
        quiet = run.quiet
        streams.say(f"Regressor contains {self.total} values\nexample     values        total")
        streams.say("counter    audited     progress")
        statistics.dump_interval = 1.0
        with AtomicFile(self.path) as file:
            for e in run.examples():
                if e is None:
                    continue
                file.write("".join(self._named(e)).encode("utf-8", "surrogateescape"))
                due = run.lines >= statistics.dump_interval
                if due and not quiet:
                    statistics.weighted_unlabeled_examples = float(run.lines)
                    run.progress.advance()
                if due or not self.weights:
                    found = self.total - len(self.weights)
                    streams.say(f"{run.lines:<8} {found:>9} {found * 100 // self.total:>11}%")
                if not self.weights:
                    break
            if not run.stopped:
                file.commit()
        if self.weights:
            streams.say(
                "Note: for some reason audit couldn't find all regressor values in dataset "
                f"({self.total - len(self.weights)} of {self.total} found)."
            )

    def _named(self, e: Current) -> Iterator[str]:
        """A line for each weight of the features of an example that was not named before."""
        run = self.run
        stepper = run.learner.bottom.stepper
        run.learner.bottom.take(e)
        names = run.namer.names(e)
        for k in range(self.classes):
            keys = stepper.keys_of(k)
            for i in range(stepper.size):
                w = self.weights.pop(keys[i], None)
                if w is not None:
                    name = names[i].decode("utf-8", "surrogateescape")
                    yield f"{f'{k}:' if self.classes > 1 else ''}{name}:{keys[i]}:{short(w)}\n"
