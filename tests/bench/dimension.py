"""Does an example cost what its features do, however many features there are? For every algorithm that is lazy.

    make bench-dimension     writes the tables in RESULTS.md

The number d of ids grows from 10^4 to 10^8; the examples stay as many, and as long. Two streams separate two effects:

    same        10^4 features are in use; only the ids from which they are drawn, and --features where there is such an
                option, become more. The table is the same size, so this is what the algorithm costs.
    uniform     every feature of every example is drawn from all d ids. So the table grows too, until hardly any feature
                comes twice, and memory is far away from the processor. What of this is the memory's, the row of sgd
                shows, which does nothing but to look for weights and to change them: next to each time is how many
                times that of sgd it grew.

A time is processor time per feature, learning included, reading and parsing not. Each pass over the stream has labels
opposite to those of the pass before, so there is always something to learn, also from features that come once only. The
first pass, in which the table grows, does not count. Of the others, all dimensions in turn, the least counts: what else
the machine does only adds.
"""

import random
import time
from dataclasses import replace

import numpy as np
from harness import made, options_of, say, show, table, verdict

from vwlite.algorithms.rules import rule_class
from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import ALGORITHMS
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner
from vwlite.core.text.parser import Parser
from vwlite.model.learners import make_learner

DIMENSIONS = [10**i for i in range(4, 9)]
USED = 10**4  # features of the stream "same"
LIMIT = 2.0  # how many times the time at 10^4 a time may be
BLOCK = 1000  # examples that are parsed, and learned, together
LAZY = [name for name, a in ALGORITHMS.items() if rule_class(a.rule).MOST_FEATURES is None]
# So that every algorithm shrinks, rounds or projects in each example, and has many weights that are not zero: what
# those with such an option have, and what some have of their own. The rate of l1-subgradient stays: when it falls, a
# weight that has come to zero since its last example goes through all the examples between, which is not O(k).
STRENGTHS = {"l1": 1e-4, "radius": 100.0}
REQUIRED = {"threshold": 1e-3, "radius": 100.0}
OWN: dict[str, dict[str, object]] = {
    "gd": {"l1": 1e-6},
    "rounding": {"period": 10},
    "l1-subgradient": {"power_t": 0.0, "learning_rate": 0.01},
    "ftrl": {"l1": 0.1},
}
OPTIONS = {
    name: {option: x for option, x in STRENGTHS.items() if option in a.options}
    | {option: REQUIRED[option] for option in a.required}
    | OWN.get(name, {})
    for name, a in ALGORITHMS.items()
}
Times = dict[str, dict[int, list[float]]]  # of each algorithm, by d: nanoseconds per feature, pass by pass


def stream(uniform: bool, d: int, examples: int, width: int) -> tuple[list[list[Batch]], int]:
    """The batches of passes with even and with odd numbers, and how many features they have."""
    rng = np.random.default_rng(d + uniform)
    if uniform:
        ids = rng.integers(0, d, (examples, width))
    else:
        used = np.array(random.Random(d).sample(range(d), USED))
        ids = used[rng.integers(0, USED, (examples, width))]
    labels = rng.choice([-1, 1], examples)
    names = [" ".join(map(str, row)) for row in ids.tolist()]
    passes = []
    for sign in (1, -1):
        batches = []
        for begin in range(0, examples, BLOCK):
            lines = zip((sign * labels[begin : begin + BLOCK]).tolist(), names[begin : begin + BLOCK], strict=True)
            batch = Batch()
            if Parser("vw").parse("".join(f"{label} | {name}\n" for label, name in lines).encode(), batch):
                raise ValueError("a bad line")
            batches.append(batch)
        passes.append(batches)
    return passes, len(np.unique(ids))


def learner_of(algorithm: str, d: int) -> Learner:
    options = dict(OPTIONS.get(algorithm, {}))
    if "features" in ALGORITHMS[algorithm].options:
        options["features"] = d
    loss = "logistic" if "logistic" in ALGORITHMS[algorithm].losses else "hinge"
    return make_learner(replace(Settings.of(algorithm), loss=loss, constant=False, **options))


def measure(streams: dict[int, list[list[Batch]]], rounds: int, features: int) -> Times:
    """Every algorithm over all streams: a pass that does not count, then `rounds` more, the dimensions in turn."""
    times: Times = {}
    for name in LAZY:
        learners = {d: learner_of(name, d) for d in streams}
        times[name] = {d: [] for d in streams}
        for turn in range(1 + rounds):
            for d, passes in streams.items():
                began = time.process_time()
                for batch in passes[turn % 2]:
                    if learners[d].run(batch) != len(batch):
                        raise ValueError(f"{name}, d = {d}: {learners[d].reason.name}")
                if turn:
                    times[name][d].append((time.process_time() - began) / features * 1e9)
        found = (f"{min(seconds):.1f}" for seconds in times[name].values())
        say(f"{name}: {' '.join(found)} ns")
    return times


def table_of(times: Times, beside: str | None = None) -> str:
    """beside: the algorithm whose growth is shown next to each."""
    dimensions = list(next(iter(times.values())))
    first, *others = dimensions
    titles = ["`--algorithm`", f"d = {power(first)}", *map(power, others), f"at most {LIMIT:g}"]
    rows = []
    growth = {name: {d: min(of[d]) / min(of[first]) for d in others} for name, of in times.items()}
    for name, of in times.items():
        cells = [f"{growth[name][d]:.2f}" for d in others]
        relative = growth[name]
        if beside:
            relative = {d: growth[name][d] / growth[beside][d] for d in others}
            cells = [f"{cell} ({relative[d]:.2f})" for cell, d in zip(cells, others, strict=True)]
        rows.append([f"`{name}`", f"{min(of[first]):.1f} ns", *cells, verdict(max(relative.values()) <= LIMIT)])
    return table(titles, rows, "lr")


def power(d: int) -> str:
    return f"10^{len(str(d)) - 1}"


def main() -> None:
    results = "put the tables into this file, between its markers"
    parser = options_of(__doc__, quick="few examples: does it work? Its numbers say nothing", results=results)
    parser.add_argument("--examples", type=int, default=10_000, help="of a stream (default: 10,000)")
    parser.add_argument("--width", type=int, default=100, help="features of an example (default: 100)")
    parser.add_argument("--rounds", type=int, default=3, help="passes that count (default: 3)")
    typed = parser.parse_args()
    examples, width, rounds = typed.examples, typed.width, typed.rounds
    if typed.quick:
        examples, width, rounds = 50, 10, 1
    parts = []
    for uniform in (False, True):
        streams = {d: stream(uniform, d, examples, width) for d in DIMENSIONS}
        say("uniform" if uniform else "same")
        times = measure({d: passes for d, (passes, _) in streams.items()}, rounds, examples * width)
        counts = ", ".join(f"{count:,}" for _, count in streams.values())
        if uniform:
            parts.append(f"Ids drawn from all d; features in use: {counts}. In brackets: growth over that of `sgd`.")
        else:
            parts.append(f"Ids of {USED:,} features, drawn from all d.")
        parts.append(table_of(times, "sgd" if uniform else None))
    note = f"; {examples:,} examples of {width} features; processor time per feature at d = 10^4, then how many times "
    note += f"that; the least of {rounds} passes."
    show("\n\n".join([*parts, made(note=note)]), typed.results, "dimension")


if __name__ == "__main__":
    main()
