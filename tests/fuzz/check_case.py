"""Runs a case in a forked child of this process, which has everything loaded, and says what is wrong with it."""

import json
import math
import os
import re
import select
import shutil
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from processes import processor_seconds

from fuzz.case import Case, Command
from fuzz.damage import refitted
from fuzz.patterns import Pattern, wrong_pattern

LONGEST = 10.0  # seconds of processor time for a case
PATIENT = 60.0  # seconds by the clock: the machine may have other things to do, or the case waits for ever
LARGEST = 1 << 20  # KiB of memory for it
CODES = {0, 1, 2, 65, 66, 73, 74, 75}
SIGNS = ("Traceback", "internal error", "Exception ignored", "runtime error:", "Sanitizer", "out of memory")
OUTPUTS = ("-m", "-f", "--model")


def check_case(case: Case, folder: Path) -> str:
    """The errors of a case; "" for none. The folder is recreated, and not cleaned up."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    result = folder / "result"
    child = os.fork()
    if child == 0:
        _child(case, folder, result)
    late, rusage, status = _wait(child)
    said = _tail(folder / "stderr")
    if late:
        return late + said
    if rusage.ru_maxrss > LARGEST:
        return f"memory: {rusage.ru_maxrss >> 10} MiB{said}"
    code = os.waitstatus_to_exitcode(status)
    if code != 0 or not result.exists():
        kind = f"signal {-code}" if code < 0 else f"ended with {code}"
        return f"{kind}: {_sign(said) or 'nothing was said'}{said}"
    return result.read_text(encoding="utf-8", errors="replace")


def _wait(child: int) -> tuple[str, Any, int]:
    """Wait for it, and end it when it takes too long or too much memory: which of these, what it used, its status."""
    begin, late = time.monotonic(), ""
    end = os.pidfd_open(child)
    try:
        ready = select.poll()
        ready.register(end, select.POLLIN)
        while not ready.poll(50):
            if processor_seconds(child) > LONGEST or time.monotonic() - begin > PATIENT:
                late = f"time: {processor_seconds(child):.1f} s of work in {time.monotonic() - begin:.0f} s"
            elif _resident(child) > LARGEST:
                late = f"memory: more than {LARGEST >> 10} MiB"
            if late:
                os.kill(child, signal.SIGKILL)
                break
    finally:
        os.close(end)
    _, status, rusage = os.wait4(child, 0)
    return late, rusage, status


def _resident(process: int) -> int:
    """KiB of memory that a process has had at most."""
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def _tail(path: Path) -> str:
    """What the last command said, behind a line end."""
    try:
        text = path.read_bytes()[-1_000_000:].decode("utf-8", "replace")
    except OSError:
        return ""
    text = text[max(text.rfind("\n$ vwlite "), 0) :]
    return "\n" + text.strip("\n")[:4000]


def _sign(text: str) -> str:
    """The line that says that something went wrong in the program; "": none does."""
    for line in text.splitlines():
        if any(sign in line for sign in SIGNS):
            return line.strip()
    return ""


# --- in the child ------------------------------------------------------------------------------------


def _child(case: Case, folder: Path, result: Path) -> NoReturn:
    code = 99
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started us ends us
        _redirect(os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        wrong = (
            _pattern(case.pattern, folder)
            if case.pattern
            else _texts(case)
            if case.texts
            else _served(case, folder)
            if case.requests or case.lines
            else _groups(case, folder)
        )
        result.write_text(wrong, encoding="utf-8", errors="replace")
        code = 0
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _texts(case: Case) -> str:
    from parsing import agree

    for format, options, first_line, text in case.texts:
        try:
            agree(text, format, first_line, **options)
        except AssertionError as e:
            case.texts = [(format, options, first_line, text)]
            return f"the parser and its reference differ: {e}\n{case.to_json()}"
    return ""


def _pattern(pattern: Pattern, folder: Path) -> str:
    wrong = wrong_pattern(pattern, folder, lambda command: _run(command, folder))
    return wrong or _sign((folder / "stderr").read_text(encoding="utf-8", errors="replace"))


def _served(case: Case, folder: Path) -> str:
    from fuzz.clients import wrong_answers
    from vwlite.errors import VwliteError

    (folder / "model").write_bytes(case.files["model"])
    try:
        wrong = wrong_answers(str(folder / "model"), case.requests, case.lines)
    except VwliteError:
        return ""  # a model that is not served
    return wrong or _sign(_tail(folder / "stderr"))


def _groups(case: Case, folder: Path) -> str:
    outcomes = []
    for i, commands in enumerate(case.groups):
        place = folder / str(i)
        place.mkdir()
        for name, data in case.files.items():
            (place / name).write_bytes(data)
        os.chdir(place)
        for name, sources in case.caches.items():
            (place / name).write_bytes(refitted(case.files[name], sources))
        codes, said = [], b""
        unfit = False  # the data: large weights that are finite are a healthy model, and labels may be of another kind
        for command in commands:
            code, out, err = _run(command, folder)
            wrong = _wrong(command, code, out, err)
            if not wrong and code == 0 and command[0] in ("train", "solve") and case.kind != "model":
                wrong = _outside(command)  # a crafted model may be there from the beginning
            if wrong:
                return f"{wrong}\n$ vwlite {' '.join(command)}\n{err[:3000]}"
            codes.append(code)
            unfit |= len(codes) == 1 and ("the prediction is not finite" in err or "the labels of the data" in err)
            said += out
            if code not in (0, 1) and case.same:
                break
        if case.kind == "model" and len(codes) > 1 and not unfit and (codes[0] == 0) != (codes[1] == 0):
            return f"predict ends with {codes[0]}, check with {codes[1]}\n{case.groups[i][:2]}"
        hidden = [name for name in os.listdir(place) if name.startswith(".")]
        if hidden:
            return f"left behind: {' '.join(sorted(hidden))}"
        outcomes.append((codes[-1], {name: _content(place / name, said) for name in case.same}))
    if case.same:
        for i, (code, contents) in enumerate(outcomes[1:], 1):
            if code != outcomes[0][0]:
                return f"group {i} ends with {code}, group 0 with {outcomes[0][0]}"
            for name in case.same if code == 0 else ():
                if contents[name] != outcomes[0][1][name]:
                    return f"{name} of group {i} is not that of group 0"
    return ""


def _content(path: Path, out: bytes) -> bytes | None:
    if path.name == "stdout":
        return out
    return path.read_bytes() if path.exists() else None


def _run(command: Command, folder: Path) -> tuple[int, bytes, str]:
    """Run one command in this process: its exit code and what it wrote."""
    from vwlite.cli import run
    from vwlite.output import stdio

    source = os.devnull
    arguments = command
    if len(command) > 2 and command[-2] == "<":
        source, arguments = command[-1], command[:-2]
    out_path, err_path = folder / "stdout", folder / "stderr"
    _redirect(os.open(source, os.O_RDONLY), 0)
    _redirect(os.open(out_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.write(2, f"\n$ vwlite {' '.join(command)}\n".encode("utf-8", "surrogateescape"))
    begin = err_path.stat().st_size
    stdio.prepare()
    code = run(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    return code, out_path.read_bytes(), err_path.read_bytes()[begin:].decode("utf-8", "replace")


def _redirect(opened: int, fd: int) -> None:
    os.dup2(opened, fd)
    os.close(opened)


# --- what is wrong with a run ------------------------------------------------------------------------


def _wrong(command: Command, code: int, out: bytes, err: str) -> str:
    if _sign(err):
        return f"exit {code}: {_sign(err)}"
    if code not in CODES or (code == 1 and command[0] not in ("check", "vw")):
        return f"exit {code}"
    if code not in (0, 1) and not err.strip():
        return f"exit {code} without a word"
    if code != 0 or command[0] == "vw":  # Vowpal Wabbit's numbers may be nan
        return ""
    return _not_finite(command, out)


def _not_finite(command: Command, out: bytes) -> str:
    """Numbers in what a run has written that should be finite and are not."""
    if command[0] == "predict":
        return _in_predictions(out, "--probabilities" in command)
    if command[0] == "weights":
        return "" if all(_finite(line.split(b"\t")[-1]) for line in out.splitlines() if b"\t" in line) else "weights"
    if command[0] == "info" and "--json" in command:
        return _in_json(out)
    if command[0] in ("train", "solve", "certify"):
        files = dict(pairwise(command))
        if "--report" in files:
            return _in_json(Path(files["--report"]).read_bytes())
        if files.get("-p") == "-":
            # Where learning diverges, exp(score) of a line without a label may be; with a label that is an error.
            may_diverge = "-i" in command or files.get("--loss") in ("poisson", "gamma", "tweedie")
            return _in_predictions(out.replace(b"inf", b"1e38") if may_diverge else out, False)
    return ""


def _outside(command: Command) -> str:
    """Weights that are not in the ball or on the simplex of their algorithm. Reading a model checks every number."""
    from vwlite.core.data.expand import CONSTANT_HASH
    from vwlite.model import read_model

    models = [path.replace("%d", "1") for option, path in pairwise(command) if option in OUTPUTS]
    if not models or (command[0] == "solve" and "--feature-weights" in command):  # a model of solve does not keep them
        return ""
    model = read_model(models[-1])  # the last one counts
    o, k = model.options, model.records
    constant = CONSTANT_HASH & ((1 << o["bits"]) - 1) if o["constant"] else None
    features = [i for i, key in enumerate(model.keys) if key != constant]
    costs = model.state["a"] if o["feature_weights"] and "a" in model.state else [1.0] * len(model.weights)
    for c in range(k):
        weights = [model.weights[i * k + c] for i in features]
        norm = math.fsum(abs(w) * costs[i * k + c] for i, w in zip(features, weights, strict=True))
        norm = math.hypot(*weights) if model.algorithm == "adagrad-full" else norm
        if model.algorithm in ("simplex", "eg"):
            unseen = model.rule.get("unseen", 0.0)
            others = (o["features"] or (1 << o["bits"]) - o["constant"]) - len(features)
            total = norm + others * (unseen[c] if isinstance(unseen, list) else unseen)
            if others >= 0 and features and not abs(total - o["radius"]) <= 1e-9 * o["radius"]:
                return f"{model.algorithm}: the sum of the weights is {total!r}, not {o['radius']!r}"
            if min(weights, default=0) < 0:
                return f"{model.algorithm}: a weight is negative"
        elif o["radius"] and not o["nonzeros"] and not norm <= o["radius"] * (1 + 1e-9):
            return f"{model.algorithm}: the norm of the weights is {norm!r}, above {o['radius']!r}"
    return ""


def _in_predictions(out: bytes, probabilities: bool) -> str:
    for line in out.splitlines():
        words = line.split(b" ")
        if probabilities:
            wrong = not all(_finite(word.rpartition(b":")[2]) for word in words if b":" in word)
        else:
            wrong = words[0].lower().lstrip(b"+-") in (b"nan", b"inf")
        if wrong:
            return f"a prediction that is not finite: {line[:100].decode('utf-8', 'replace')}"
    return ""


def _in_json(text: bytes) -> str:
    strange: list[str] = []
    json.loads(text, parse_constant=strange.append)
    return f"not finite: {strange[0]}" if strange else ""


def _finite(text: bytes) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return True
