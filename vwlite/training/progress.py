"""What training prints on its way: the head, a row of progress now and then, and the live line."""

import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from vwlite.algorithms.table import algorithm_of
from vwlite.core.learn.learner import Reason
from vwlite.input.diagnostics import BadLine
from vwlite.input.parsing import Parsed
from vwlite.output.progress import HEADER, Interval, LiveLine, ProgressRow, format_number, format_row
from vwlite.output.stdio import say
from vwlite.runs.options import TrainOptions
from vwlite.runs.run import BadLines
from vwlite.training.trainer import Listener, PassRow, Trainer

PASS_HEADER = "pass  values  best single learner     its loss  stacked   features  seconds"


EVERY = 60.0  # seconds between rows of that table that are neither the first, the best nor the last, in a file


class PassTable:
    """The table of passes on a terminal; in a file, its first, best and last rows, and one a minute."""

    def __init__(self, *, is_whole: bool) -> None:
        self._is_whole, self._printed_at = is_whole, 0.0
        self._waiting: list[PassRow] = []  # the best row of the table and the last one, if they are not printed

    def rows(self, row: PassRow) -> list[PassRow]:
        """Those to print now."""
        if self._is_whole:
            return [row]
        rest = self.rest() if row.number == 1 else []
        if row.number == 1:
            self._best = row
        is_best, waiting = _loss_of(row) < _loss_of(self._best), self._waiting
        self._best = row if is_best else self._best
        if row.number == 1 or row.seconds >= self._printed_at + EVERY:
            self._waiting, self._printed_at = [], row.seconds
            return [*rest, *(before for before in waiting if before is self._best), row]
        self._waiting = [*(before for before in waiting if before is self._best), row]
        return []

    def rest(self) -> list[PassRow]:
        """The rows that are left at the end of the table."""
        found, self._waiting = self._waiting, []
        return found


def _loss_of(row: PassRow) -> float:
    return min(row.loss, row.stacked)


class Progress(Listener):
    """Prints it, unless it is to be quiet."""

    def __init__(self, o: TrainOptions, bad: BadLines | None = None, live: LiveLine | None = None) -> None:
        """bad: counts bad lines; None: there are no lines."""
        self.options, self.bad = o, bad
        self.interval = Interval(*o.progress)
        self.live = live or LiveLine(quiet=o.quiet or o.log_format != "text")
        self._passes = PassTable(is_whole=o.log_format != "text" or self.live.active)
        self._titled = False  # the head of the table is printed, after the messages about columns

    def begin(self, trainer: Trainer) -> None:
        """Print how it trains."""
        if self.options.quiet:
            return
        o, s = self.options, trainer.settings
        rate = algorithm_of(s.algorithm).rate
        step = f"{rate.replace('_', ' ')} = {getattr(s, rate):g}, " if rate else ""
        link = f", link = {s.link}" if s.link != "identity" else ""
        why = f" ({trainer.resolved.why})" if trainer.resolved.why else ""
        loss = "" if trainer.chooses_loss else f"loss = {s.outputs.loss_name}, "
        say(f"algorithm = {s.algorithm}{why}, {loss}{s.outputs.count}{step}bits = {s.bits}{link}")
        for name, (old, new) in trainer.resolved.changed.items():
            say(f"{name.replace('_', ' ')} = {new}, changed from {old}")
        if o.initial:
            say(f"continuing {o.initial} after {trainer.job.before.get('examples', 0)} examples")
        if o.model:
            say(f"model = {o.model}")
        else:
            say("no model is written: -m FILE writes it")
        if trainer.shows_rows and not trainer.source.may_be_table:
            self._print_title()

    def _print_title(self) -> None:
        if not self._titled:
            say(HEADER.rstrip("\n"), "")
            self._titled = True

    def say(self, line: str) -> None:
        if not self.options.quiet:
            self.on_last_pass()  # a sentence is behind the table
            say(line)

    @property
    def bad_lines(self) -> int:  # type: ignore[override]
        return self.bad.count if self.bad is not None else 0

    def on_bad(self, bad: list[BadLine]) -> None:
        if bad and self.bad is not None:
            self.live.clear()
            self.bad.take(bad)

    def on_read(self, parsed: Parsed, lines: int) -> None:
        self.on_bad(parsed.bad)
        self.live.update(lines, parsed.done, parsed.total)

    def on_batch(self, trainer: Trainer, parsed: Parsed, before: int) -> None:
        self.on_bad(parsed.bad)
        number, passes = trainer.pass_number, self.options.passes
        self.live.update(trainer.learner.examples, parsed.done, parsed.total, number, passes)

    def on_begin(self, trainer: Trainer) -> None:
        if self.options.quiet:
            return
        trainer.learner.report_at = self.interval.at
        if not trainer.shows_rows:  # it shows them now
            self._print_title()

    def on_pause(self, trainer: Trainer, reason: Reason) -> None:
        if reason == Reason.REPORT:
            self._print_row(trainer)

    def _print_row(self, trainer: Trainer) -> None:
        learner, tally, outputs = trainer.learner, trainer.learner.progressive, trainer.settings.outputs
        held = trainer.pass_number > 1 and bool(self.options.held_out)
        of = learner.holdout if held else tally
        self.live.clear()
        self._print_title()
        nonzeros, is_old = trainer.weights_now()
        row = ProgressRow(
            average=of.average,
            recent=of.take_recent(),
            examples=learner.examples,
            weight=tally.weight + learner.unlabelled_weight,
            label=None if math.isnan(learner.label) else outputs.shown_label(learner.label, learner),
            prediction=outputs.shown(learner.prediction, learner),
            features=learner.size,
            nonzeros=nonzeros,
            nonzeros_of_earlier=is_old,
            holdout=held,
        )
        say(format_row(row), "progress", **vars(row))
        learner.report_at = self.interval.advance(tally.weight + learner.unlabelled_weight)

    def on_end_of_data(self) -> None:
        self.live.clear()

    def on_pass(self, row: PassRow) -> None:
        if self.options.quiet:
            return
        self._print_passes(self._passes.rows(row))

    def on_last_pass(self) -> None:
        self._print_passes(self._passes.rest())

    def _print_passes(self, rows: Iterable[PassRow]) -> None:
        with self.live.cleared():
            for row in rows:
                losses = (f"{format_number(x):<9}" for x in (row.loss, row.stacked))
                cells = (f"{row.number:<5}", f"{row.normalize:<7}", f"{row.learner:<23}", *losses)
                if row.number == 1:
                    say(PASS_HEADER, "")
                text = f"{' '.join(cells)} {row.features:<9} {row.seconds:.1f}"
                say(text, "progress", normalize=row.normalize, loss=row.loss, passes=row.number)

    def ticking(self, text_at: Callable[[float], str]) -> AbstractContextManager[None]:
        return self.live.ticking(text_at)
