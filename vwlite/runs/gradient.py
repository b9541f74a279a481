"""A run of `vwlite gradient`: what one shard says of the weights of a round."""

import json
import time
from contextlib import ExitStack
from typing import Any

from vwlite import __version__
from vwlite.algorithms.table import SOLVED
from vwlite.errors import UsageError
from vwlite.input.reader import check_sources
from vwlite.model import Model, read_model
from vwlite.options.resolve import as_options
from vwlite.options.rounds import GradientOptions, check_gradient
from vwlite.output.atomic import AtomicFile
from vwlite.rounds.files import Gradient, write_gradient
from vwlite.rounds.shards import check_problem, part_at
from vwlite.runs.common import say, summary
from vwlite.runs.problem import Examples
from vwlite.runs.signals import StopSignal


def gradient(o: GradientOptions) -> int:
    """Run `vwlite gradient`; the exit code."""
    assert o.initial is not None and o.output is not None
    check_gradient(o)
    check_sources(o.data, quiet=o.quiet)
    model = read_model(o.initial)
    _check_model(o.initial, model)
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignal())  # first: what it finds begun is cleaned up
        begin = time.monotonic()
        file = stack.enter_context(AtomicFile(o.output))
        report = stack.enter_context(AtomicFile(o.report)) if o.report else None
        examples = Examples(o, model.settings, model, stack, memory=o.memory)
        signals.then(examples.stop)
        examples.read()
        if signals.number is None:
            part = part_at(examples, model, certificate=o.certificate, name=", ".join(o.data) or "standard input")
            write_gradient(file, Gradient(part, model.settings.stored(), model.digest, f"vwlite {__version__}"))
        if signals.number is not None:
            say(f"interrupted by signal {signals.number}; {o.output} is as it was")
            return 128 + signals.number
        file.commit()
        results: dict[str, Any] = {
            "number of examples": len(examples.rows),
            "features": len(part.slopes),
            "average loss": part.sums[1] / part.sums[0],
            "seconds": round(time.monotonic() - begin, 3),
        }
        if not o.quiet:
            say(summary(results))
            for note in examples.notes()[1]:
                say(f"note: {note}")
        if report is not None:
            content = {
                "program": f"vwlite {__version__}", "command": "gradient",
                "options": {**as_options(model.settings), "certificate": o.certificate, "data": list(o.data) or ["-"],
                            "cache": examples.cache, "initial": o.initial, "output": o.output},
                "results": results,
            }  # fmt: skip
            report.write((json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
            report.commit()
    return 0


def _check_model(path: str, model: Model) -> None:
    """UsageError for a model that no round is at."""
    if model.algorithm != SOLVED.name:
        raise UsageError(f"{path}: gradients are wanted at the models of vwlite step, and this one is of "
                         f"{model.algorithm}: begin from it with vwlite step --init --start {path}")  # fmt: skip
    check_problem(model.settings, path)
