"""What each path answers."""

import json
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from vwlite import __version__
from vwlite.core.text.parser import detect
from vwlite.errors import NoInputError, ShortageError, VwliteError, outcome
from vwlite.input.formats import BOM
from vwlite.output.stdio import say
from vwlite.serve.access_log import AccessLog, text_of
from vwlite.serve.commands import ServeOptions
from vwlite.serve.inference import answered, inputs_of, outputs_of, wanted
from vwlite.serve.json_rows import Rows
from vwlite.serve.metrics import OPEN, Metrics
from vwlite.serve.mlflow import lines_of
from vwlite.serve.models import Loaded, Models
from vwlite.serve.request import PLAIN, TYPES, UTF8, Answer, Head, Refused, refusal
from vwlite.serve.served import Asker, BadBody, Busy, Counts, Gone, Served

SMALL = 16 << 10  # bytes of a body that is predicted at once, or by the thread for small bodies
MOST_HELD = 256 << 20  # bytes of bodies in memory; beyond, bodies that are not small are refused
AT_ONCE = Asker(waits=False)
MOST_EXPLAINED = 1000  # contributions of ?explain
TEXT = "text/plain; charset=utf-8"
_VW = re.compile(rb"(?:[-+.\d'][^\n|]*)?\|[^\n]*\n?")  # a line that is nothing else
GET = ("/health", "/ping", "/metrics", "/v2", "/v2/health/live", "/v2/health/ready")
POST = ("/predict", "/invocations")
MODEL = re.compile(r"/v2/models/([\w.-]+)(?:/versions/([^/]+))?(?:/(ready|infer))?")


class Job(Asker):
    """Work of another thread. It has the body of a request, up to its end or until it is dropped."""

    def __init__(self, work: Callable[[Asker], Answer]) -> None:
        super().__init__()
        self.work = work
        self._begins = [True]  # taken by the thread that does it, or by the one that drops it

    def drop(self) -> bool:
        """Nobody waits for the answer any more. Returns whether the work has not begun, and so never will."""
        self.gone = True
        return self._take()

    def run(self, done: Callable[[Answer | None], None]) -> None:
        """Do the work, unless it was dropped. `done` gets None if the job is dropped meanwhile."""
        if self._take():
            answer = None
            with suppress(Gone):
                answer = self.work(self)
            done(answer)

    def _take(self) -> bool:
        """Whether the work is for the caller: it is so once."""
        with suppress(IndexError):
            return self._begins.pop()
        return False


class Single(Job):
    """A request of one row, which may be predicted together with others. line: of text, or of JSON."""

    def __init__(
        self, work: Callable[[Asker], Answer], head: Head, line: bytes, done: Callable[[Answer | None], None]
    ) -> None:
        super().__init__(work)
        self.model, self.is_json = head.query.get("model", ""), line[:1] == b"{"
        self.line, self.done = line, done


class Answers:
    """The answers of this process. connections: the open ones. later: calls a function in the server's thread. soon:
    calls one there after all pending reads; None: not supported."""

    def __init__(self, o: ServeOptions, models: Models, metrics: Metrics, log: AccessLog) -> None:
        self.options, self.models, self.metrics, self._log = o, models, metrics, log
        self.connections: set[Any] = set()
        self.later: Callable[..., Any] = lambda done, answer: done(answer)
        self.soon: Callable[..., Any] | None = None
        self._singles: list[Single] = []
        self.pool, self.small = ThreadPoolExecutor(1, "predict"), ThreadPoolExecutor(1, "small")
        self._held, self._begun = 0, time.time()

    def admit(self, connection: Any) -> bool:
        """Whether there is room for one more."""
        self.connections.add(connection)
        self.metrics.add(OPEN)
        return len(self.connections) <= self.options.max_connections

    def leave(self, connection: Any) -> None:
        if connection in self.connections:
            self.connections.remove(connection)
            self.metrics.add(OPEN, -1)

    def hold(self, size: int, before: int = 0) -> bool:
        """Count more bytes of a body, of which `before` were counted; returns whether there is memory for them. For a
        small body there always is, in any number of pieces."""
        if before + size > SMALL and self._held + size > MOST_HELD:
            return False
        self._held += size
        return True

    def answer(self, head: Head, body: bytes, done: Callable[[Answer | None], None]) -> Answer | Job:
        """The answer to a request; or a job, whose answer `done` gets later, because this thread must not wait."""
        is_small = len(body) <= SMALL
        if is_small and self.soon and not self._log.path and (line := _line_of(head, body)):
            if not self._singles:
                self.soon(self._answer_singles)
            single = Single(partial(self._safe, head, body), head, line, done)
            self._singles.append(single)
            return single
        if is_small and "explain" not in head.query:
            with suppress(Busy):
                return self._safe(head, body, AT_ONCE)
        return self._submit(self.small if is_small else self.pool, partial(self._safe, head, body), done)

    def _answer_singles(self) -> None:
        """Answer the pending requests of one row of several connections, each as if it were alone."""
        groups: dict[tuple[str, bool], list[Single]] = {}
        for one in self._singles:
            if not one.gone:
                groups.setdefault((one.model, one.is_json), []).append(one)
        self._singles = []
        for (name, is_json), group in groups.items():
            try:
                answers = self._together(self.models.find(name), is_json, b"".join(one.line for one in group))
            except Exception:  # one bad request must not change the answers to the others
                answers = []
            if len(answers) == len(group):
                for one, answer in zip(group, answers, strict=True):
                    one.done(answer)
                continue
            for one in group:
                try:
                    one.done(one.work(AT_ONCE))
                except Busy:
                    self.small.submit(one.run, partial(self.later, one.done))

    def _together(self, loaded: Loaded, is_json: bool, lines: bytes) -> list[Answer]:
        """The answers to lines of one format, if all are valid. []: answer each alone."""
        if loaded.model.is_of_table != is_json:
            return []
        if is_json:
            answers, counts = loaded.model.rows(lines, asker=AT_ONCE)
            found = [_json(answer) for answer in answers]
        else:
            texts, counts = loaded.model.rows_of_text(lines, AT_ONCE)
            found = [Answer(200, text, TEXT) for text in texts]
        if len(found) == counts.lines:
            self.metrics.predicted(loaded.name, counts)
        return found

    def lines(self, lines: bytes, done: Callable[[Answer | None], None]) -> Answer | Job:
        """As `answer`, for lines of the first model, with a line for each."""
        with suppress(Busy):
            return self._lines(lines, AT_ONCE)
        return self._submit(self.small, partial(self._lines, lines), done)

    def _submit(
        self, pool: ThreadPoolExecutor, work: Callable[[Asker], Answer], done: Callable[[Answer | None], None]
    ) -> Job:
        job = Job(work)
        pool.submit(job.run, partial(self.later, done))
        return job

    def _lines(self, lines: bytes, asker: Asker) -> Answer:
        loaded = next(iter(self.models.values()))
        is_row = loaded.model.is_of_table and lines.lstrip()[:1] == b"{"
        try:
            format = loaded.model.format or ("jsonl" if is_row else detect(lines) or "vw")
            text, counts = loaded.model.text(lines, format, skip=True, asker=asker)
        except (Busy, Gone):
            raise
        except Exception as e:
            return self._failed(e, "lines")
        self.metrics.predicted(loaded.name, counts)
        return Answer(200, text, TEXT)

    def _safe(self, head: Head, body: bytes, asker: Asker) -> Answer:
        """The answer, also to errors. Busy, Gone: no answer, as of `Served.text`."""
        begun = time.perf_counter()
        about: dict[str, Any] = {}
        try:
            found = self._found(head, body, about, asker)
        except (Busy, Gone):
            raise
        except Exception as e:  # one request must not end the others
            found = self._failed(e, f"{head.method} {head.path}")
        if self._log.path:
            request = {"request": text_of(body), "answer": text_of(found.body)} if head.method == "POST" else {}
            self._log.add({"time": round(time.time(), 6), "method": head.method, "path": head.path, **about,
                           "status": found.status, "seconds": round(time.perf_counter() - begun, 6),
                           **request})
        return found

    def _failed(self, e: Exception, what: str) -> Answer:
        """The answer to a request that is refused, or fails."""
        if isinstance(e, Refused):
            return refusal(e)
        if isinstance(e, BadBody):
            return refusal(Refused(422, str(e), line=e.line, column=e.column))
        if isinstance(e, VwliteError):
            return refusal(Refused(404 if isinstance(e, NoInputError) else 422, str(e)))
        if isinstance(e, MemoryError):
            return refusal(Refused(503, f"out of memory: {e or 'send smaller bodies'}", "Retry-After: 1\r\n"))
        code, why = outcome(e)
        if code == ShortageError.exit_code:
            return refusal(Refused(503, why, "Retry-After: 1\r\n"))
        say(f"internal error: {type(e).__name__}: {e} ({what}; please report it)")
        return refusal(Refused(500, "internal error: see the server's standard error"))

    def _found(self, head: Head, body: bytes, about: dict[str, Any], asker: Asker) -> Answer:
        path = head.path.rstrip("/")
        of_model = MODEL.fullmatch(path)
        if not (of_model or path in GET or path in POST):
            raise Refused(404, f"there is nothing at this path: use {', '.join((*POST, *GET))}, or /v2/models/NAME")
        infers = bool(of_model and of_model[3] == "infer")
        allowed = ("POST",) if infers or path in POST else ("GET", "HEAD")
        if head.method not in allowed:
            raise Refused(405, f"use {allowed[0]} for this path", f"Allow: {', '.join(allowed)}\r\n")
        if path in GET:
            return self._about_server(path)
        loaded = self.models.find(of_model[1] if of_model else head.query.get("model", ""))
        model = loaded.model
        if of_model and of_model[2] not in (None, model.digest):
            raise Refused(404, f"model {loaded.name!r} has one version, the digest of its file: {model.digest}")
        if of_model and not infers:
            about_model = {} if of_model[3] else {
                "platform": "vwlite", "versions": [model.digest], "inputs": inputs_of(model),
                "outputs": outputs_of(model), **loaded.described()}
            return _json({"name": loaded.name, "ready": True, **about_model})
        if head.encoding not in PLAIN:
            raise Refused(415, f"a body with Content-Encoding {head.encoding} is not supported: send it as it is")
        about.update(model=loaded.name, digest=model.digest, tags=[])
        return (self._infer if infers else self._predict)(loaded, head, body, about, asker)

    def _about_server(self, path: str) -> Answer:
        if path == "/metrics":
            known = {name: (loaded.model.digest, loaded.age) for name, loaded in self.models.items()}
            return Answer(200, self.metrics.text(known).encode(), "text/plain; version=0.0.4; charset=utf-8")
        if path == "/v2":
            return _json({"name": "vwlite", "version": __version__, "extensions": []})
        models = {name: loaded.described() for name, loaded in self.models.items()}
        state = "ok" if not any(loaded.error for loaded in self.models.values()) else "old model"
        return _json({"status": state, "live": True, "ready": True, "version": __version__,
                      "uptime": round(time.time() - self._begun, 3), "models": models})

    def _predict(self, loaded: Loaded, head: Head, body: bytes, about: dict[str, Any], asker: Asker) -> Answer:
        query = head.query
        for name in query:
            if name not in ("model", "on_error", "explain"):
                raise Refused(400, "the parameters of a prediction are model, on_error and explain")
        if query.get("on_error", "stop") not in ("stop", "skip"):
            raise Refused(400, "on_error is stop or skip")
        if head.type not in TYPES:
            raise Refused(415, "a body is text/plain, text/csv, text/tab-separated-values, application/json or "
                               "application/x-ndjson")
        _check_charset(head)
        explain, skip = query.get("explain", "0"), query.get("on_error") == "skip"
        if not explain.isdecimal() or len(explain) > 4 or int(explain) > MOST_EXPLAINED:
            raise Refused(400, f"explain is a number of contributions, up to {MOST_EXPLAINED}")
        how: dict[str, Any] = {"skip": skip, "tags": bool(self._log.path), "asker": asker}
        if TYPES[head.type] in ("", "json"):
            body = body.removeprefix(BOM)
        kind = TYPES[head.type] or ("json" if body.lstrip()[:1] in (b"{", b"[") else "auto")
        if kind not in ("json", "jsonl"):
            if int(explain):
                raise Refused(400, "explain needs a body of JSON: vwlite explain explains text")
            format = "" if kind == "auto" else kind
            text, counts = loaded.model.text(body, format, **how)
            self._count(loaded, counts, about)
            return Answer(200, text, TEXT)
        of_mlflow = None
        if kind == "json" and head.path.rstrip("/") == "/invocations":
            of_mlflow = lines_of(body, loaded.model.roles)
        if of_mlflow is not None:
            answers = self._numbered(loaded, loaded.model, of_mlflow, about, explain=int(explain), **how)
            return _json({"predictions": answers})
        rows = Rows(body) if kind == "json" else None
        try:
            answers, counts = loaded.model.rows(rows.lines if rows else body, explain=int(explain), **how)
        except BadBody as e:
            raise (rows.moved(e) if rows else e) from e
        self._count(loaded, counts, about)
        if rows is None or rows.kind == "lines":
            lines = "".join(json.dumps(answer) + "\n" for answer in answers)
            return Answer(200, lines.encode(), "application/x-ndjson")
        return _json(answers[0] if rows.kind == "object" else answers)

    def _numbered(
        self, loaded: Loaded, model: Served, lines: bytes, about: dict[str, Any], **how: Any
    ) -> list[dict[str, Any]]:
        """The answers to rows. An error names the number of the row, as its line is not a line of the body."""
        try:
            answers, counts = model.rows(lines, **how)
        except BadBody as e:
            raise Refused(422, f"row {e.line - 1}: {e}", row=e.line - 1) from e
        self._count(loaded, counts, about)
        return answers

    def _infer(self, loaded: Loaded, head: Head, body: bytes, about: dict[str, Any], asker: Asker) -> Answer:
        """The answer to tensors of the Open Inference Protocol."""
        if TYPES.get(head.type) not in ("", "json"):
            raise Refused(415, "a body is application/json")
        _check_charset(head)
        if head.query:
            raise Refused(400, "there are no parameters in the URL of this path")
        model = loaded.model
        asked = wanted(body, model)
        answers = self._numbered(loaded, model, asked.lines, about, format="jsonl" if model.is_of_table else "",
                                 names=False, tags=bool(self._log.path), asker=asker)
        found = {"model_name": loaded.name, "model_version": model.digest, "outputs": answered(model, asked, answers)}
        return _json(found if asked.id is None else {"id": asked.id, **found})

    def _count(self, loaded: Loaded, counts: Counts, about: dict[str, Any]) -> None:
        self.metrics.predicted(loaded.name, counts)
        about["tags"] = counts.tags


def _line_of(head: Head, body: bytes) -> bytes:
    """The single line of VW text, or object of JSON, of a request; b"" for other requests."""
    if head.kind is None:
        return b""
    if head.kind != "json" and _VW.fullmatch(body):
        return body if body.endswith(b"\n") else body + b"\n"
    if head.kind != "auto" and body.startswith(b"{"):
        with suppress(BadBody):
            rows = Rows(body)
            return rows.lines if rows.kind == "object" else b""
    return b""


def _check_charset(head: Head) -> None:
    if head.charset not in UTF8:
        raise Refused(415, "a body is UTF-8: convert it")


def _json(found: Any) -> Answer:
    return Answer(200, json.dumps(found).encode() + b"\n")
