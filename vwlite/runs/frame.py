"""The frame of each command: signals, output files, the summary, the report, the exit code."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from vwlite import __version__
from vwlite.algorithms.settings import Settings
from vwlite.errors import VwliteError
from vwlite.output.atomic import AtomicFile
from vwlite.output.progress import LiveLine
from vwlite.output.results import Result, lines, values
from vwlite.output.signals import StopSignal
from vwlite.output.stdio import say
from vwlite.runs.options import InputOptions


class RunFrame(ExitStack):
    """The frame of one run. Use as a context manager: files that are not committed are discarded at its end.

    The options are checked first, so that no output is opened that is an input, and the report is not written after
    such a refusal. Then the report is opened: a run whose report cannot be written does not begin.
    """

    def __init__(self, command: str, options: InputOptions | None = None) -> None:
        super().__init__()
        self.command, self.options = command, options or InputOptions()
        self.begin = time.monotonic()
        self._signals = StopSignal()
        self._committed, self._at_end = False, list[Callable[[], None]]()
        self._report: AtomicFile | None = None

    def __enter__(self) -> "RunFrame":
        self.options.check()
        with ExitStack() as stack:
            stack.enter_context(self._signals)  # first: what was started before it is cleaned up
            if self.options.report:
                self._report = stack.enter_context(AtomicFile(self.options.report))
            self.push(stack.pop_all())
        return self

    def __exit__(self, *error: Any) -> bool | None:
        failed: dict[str, Any] = {"signal": self.signal}
        if isinstance(error[1], Exception):
            from vwlite.errors import outcome

            failed["exit_code"], failed["error"] = outcome(error[1])
            with suppress(VwliteError):
                self.commit()
        if failed.get("exit_code", self.signal):
            with suppress(VwliteError):  # there is an error already
                self.report(**failed)
        return super().__exit__(*error)

    def stop_with(self, stop: Callable[[], None]) -> None:
        """What a signal calls, from a thread of its own."""
        self._signals.then(stop)

    @property
    def signal(self) -> int | None:
        """The signal that has come, if one has before the outputs were in their places: a later one is too late."""
        return None if self._committed else self._signals.number

    def stopped(self) -> bool:
        """Whether such a signal has come."""
        return self.signal is not None

    def file(self, path: str) -> AtomicFile:
        """A file to write."""
        return self.enter_context(AtomicFile(path))

    def at_end(self, commit: Callable[[], None]) -> None:
        """What puts an output in its place with the others, also if there are none, or an error but no signal."""
        self._at_end.append(commit)

    def commit(self, *commits: Callable[[], None]) -> bool:
        """Put the outputs of the run in their places. After a signal they are parts, and no part takes the place of
        what is whole: then nothing is done, and the answer is False."""
        if self.signal is not None:
            return False
        self._committed = True
        for commit in (*self._at_end, *commits):
            commit()
        self._at_end = []
        return True

    def live_line(self, *outputs: str | None) -> LiveLine:
        """The live line of the run, which is gone before the message of an error; none with --quiet, or if an output
        would be beside it. outputs: - is standard output."""
        live = LiveLine(quiet=self.options.quiet or "-" in outputs)
        self.callback(live.clear)
        return live

    def seconds(self) -> float:
        return round(time.monotonic() - self.begin, 3)

    def show(
        self, summary: str, notes: Iterable[str] = (), *, ended: bool = False, results: Sequence[Result] | None = None
    ) -> None:
        """Print the results, unless --quiet. ended: say first whether the run came to its end. results: for
        --log-format."""
        if self.options.quiet:
            return
        end, format = "interrupted" if self.signal else "finished run", getattr(self.options, "log_format", "text")
        if results is not None and format == "line":
            say(f"{end}: {', '.join(lines(results))}")
        elif results is not None and format == "json":
            say(end, summary=values(results))
        else:
            say(f"\n{end}\n{summary}" if ended else summary)
        for note in notes:
            say(f"note: {note}")

    def reported_options(self, settings: Settings, *names: str, **more: Any) -> dict[str, Any]:
        """The options of the report: settings, those of the run with these names, and more, by their names."""
        run = {name: getattr(self.options, name) for name in names}
        if "data" in run:
            run["data"] = self.options.data or ["-"]
        return {**settings.stored(), **run, **more}

    def report(self, **parts: Any) -> None:
        """Write the report, if there is to be one."""
        if self._report is None:
            return
        from vwlite.output.json_text import json_text, with_schema

        interrupted = {"error": f"interrupted by signal {self.signal}"} if self.signal else {}
        parts = {"exit_code": 128 + self.signal if self.signal else 0, **interrupted, **parts}
        content = with_schema({"program": f"vwlite {__version__}", "command": self.command, **parts})
        file, self._report = self._report, None
        file.write((json_text(content, indent=2, ensure_ascii=False) + "\n").encode(errors="backslashreplace"))
        file.commit()

    def code(self, kept: str | None = None) -> int:
        """The exit code of the run. kept: what an interrupted run has left, as the end of a sentence about it; None:
        what went to standard output, and the report."""
        if self.commit() or self.signal is None:
            return 0
        files = {option for option, path in self.options.of_outputs.items() if path != "-"}
        if kept is None and files - {"--report"}:
            kept = "; no file but the report was written" if self.options.report else "; no file was written"
        if kept is not None or not self.options.quiet:
            say(f"interrupted by signal {self.signal}{kept or ''}")
        return 128 + self.signal
