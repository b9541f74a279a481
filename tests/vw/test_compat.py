"""`vwlite vw` beside the real Vowpal Wabbit, on drawn command lines and texts: `make compat`."""

import contextlib
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from real_vw import RealVw, interpreter
from vw_draws import Case, cases, class_cases, csv_cases, json_cases, layer_cases

from vwlite.vw.run import main

RUNS = int(os.environ.get("VWLITE_COMPAT_RUNS", "100"))
FIRST = int(os.environ.get("VWLITE_COMPAT_FIRST", "0"))
AT_ONCE = 25
TOLERANCE = 1e-3

PYTHON = interpreter()
pytestmark = pytest.mark.skipif(
    PYTHON is None,
    reason="Vowpal Wabbit is not installed for this interpreter, nor in .bench/venv (`make compat` does it)",
)


@pytest.fixture(scope="module", name="real")
def real_vw() -> Iterator[RealVw]:
    assert PYTHON is not None
    real = RealVw(PYTHON)
    yield real
    real.close()


def ours(folder: Path, arguments: list[str]) -> int:
    """Run ours in a folder, as `RealVw` does with the real one."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with (
            open("out", "w", errors="surrogateescape") as out,
            open("err", "w", errors="surrogateescape") as err,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            return main(arguments)
    finally:
        os.chdir(before)


def numbers(path: Path) -> list[list[float | bytes]]:
    """The lines of a file of predictions: number and tag."""
    rows: list[list[float | bytes]] = []
    for line in path.read_bytes().split(b"\n"):
        number, _, tag = line.partition(b" ")
        rows.append([float(number) if number else math.nan, tag])
    return rows


def difference(one: Path, other: Path) -> str | None:
    """How two files of predictions differ; None: they agree."""
    left, right = numbers(one), numbers(other)
    if len(left) != len(right):
        return f"{len(left) - 1} predictions instead of {len(right) - 1}"
    for i, ((p, tag), (q, other_tag)) in enumerate(zip(left, right, strict=True), 1):
        if tag != other_tag:
            return f"prediction {i}: the tag is {tag!r} instead of {other_tag!r}"
        if not (p == q or abs(p - q) <= TOLERANCE * max(1, abs(q)) or (p != p and q != q)):
            return f"prediction {i}: {p} instead of {q}"
    return None


def places_of(case: Case, folder: Path) -> tuple[Path, Path]:
    """Folders with nothing but the data: of our program and of the real one."""
    places = folder / "ours", folder / "real"
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
        for file in place.iterdir():
            file.unlink()
        (place / "train").write_bytes(case.train)
        (place / "test").write_bytes(case.test)
        (place / "words").write_text("x p:2 q\ny x:-0.5\n")
    return places


def drawn(cases: st.SearchStrategy[Case], runs: int, check: Callable[[Case], str]) -> Counter[str]:
    """Check so many cases; how often each answer came."""
    found: Counter[str] = Counter()

    @settings(max_examples=AT_ONCE, database=None, deadline=None, suppress_health_check=HealthCheck)
    @given(cases)
    def checked(case: Case) -> None:
        found[check(case)] += 1

    # Restart from time to time, because hypothesis tends to repeat earlier draws.
    for number in range(-(-runs // AT_ONCE)):
        seed(FIRST // AT_ONCE + number)(checked)()
    return found


def compare(case: Case, real: RealVw, folder: Path) -> str:
    """Learn with both, then have each predict with the model of both."""
    a, b = places_of(case, folder)
    arguments = ["-d", "train", "-p", "p", "-f", "model", *case.arguments]
    if case.predict_only:
        arguments.append("--predict_only_model")
    codes = ours(a, arguments), real(b, arguments)
    assert (codes[0] == 0) == (codes[1] == 0), f"exit code {codes[0]} instead of {codes[1]}"
    if codes[0]:
        return "compared"
    why = difference(a / "p", b / "p")
    assert why is None, f"learning: {why}"
    loss = case.arguments[:2]
    arguments = ["-d", "test", "-t", *loss]
    if "--expectile_q" in case.arguments:
        arguments += ["--expectile_q", "0.5"]
    for model in (a / "model", b / "model"):
        who = model.parent.name
        more = ["-i", str(model), "-p", f"p_{who}"]
        codes = ours(a, arguments + more), real(b, arguments + more)
        assert codes == (0, 0), f"predicting with the model of {who}: exit codes {codes}"
        why = difference(a / f"p_{who}", b / f"p_{who}")
        assert why is None, f"predicting with the model of {who}: {why}"
    why = difference(a / "p_ours", a / "p_real")
    assert why is None, f"the models: {why}"
    return "compared"


def test_drawn_runs_agree(real: RealVw, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = drawn(cases(), RUNS, lambda case: compare(case, real, tmp_path))["compared"]
    assert compared >= RUNS
    with capsys.disabled():
        print(f"\n{compared} drawn runs of vwlite vw and Vowpal Wabbit compared, each with the models of both")


WORD = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?%?|[^\s\d]+")


def same_text(one: Path, other: Path) -> str | None:
    """How two texts differ, with a tolerance for numbers; None: they agree."""
    left, right = (path.read_text(errors="surrogateescape").splitlines() for path in (one, other))
    if len(left) != len(right):
        return f"{len(left)} lines instead of {len(right)}"
    for i, (a, b) in enumerate(zip(left, right, strict=True), 1):
        words, others = WORD.findall(a), WORD.findall(b)
        if len(words) != len(others) or not all(map(same_word, words, others)):
            return f"line {i}: {a!r} instead of {b!r}"
    return None


def same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        p, q = float(one.rstrip("%")), float(other.rstrip("%"))
    except ValueError:
        return False
    if one.endswith("%"):
        return abs(p - q) <= 1
    return "." in one and abs(p - q) <= 5 * TOLERANCE * max(1, abs(q))


def undecided(path: Path, least: bool) -> bool:
    """Whether the best scores of a line are so close that they may change places."""
    for line in path.read_text().splitlines():
        scores = sorted((float(x) for x in re.findall(r"\d:(\S+)", line)), reverse=not least)
        if any(abs(scores[0] - x) < 0.01 and x != 0 for x in scores[1:]):
            return True
    return False


def agree(places: tuple[Path, Path], *names: str) -> None:
    """Texts that both have written."""
    for name in names:
        why = same_text(places[0] / name, places[1] / name)
        assert why is None, f"{name}: {why}"


def test_drawn_classes_agree(real: RealVw, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The predictions, the table and the summary; log lines by their number, as their order is one of two threads."""

    def check(case: Case) -> str:
        a, b = places_of(case, tmp_path)
        shares = "--probabilities" in case.arguments or "--scores" in case.arguments
        arguments = ["-d", "train", "-p", "p", "-P", "1", *case.arguments, *([] if shares else ["-r", "raw"])]
        assert (ours(a, arguments), real(b, arguments)) == (0, 0)
        if undecided(a / ("p" if shares else "raw"), "--csoaa" in case.arguments):
            return "undecided"
        agree((a, b), "p", "err")
        assert sorted((a / "out").read_text().splitlines()) == sorted((b / "out").read_text().splitlines())
        return "compared"

    compared = drawn(class_cases(), RUNS // 4, check)["compared"]
    with capsys.disabled():
        print(f"\n{compared} drawn runs of several classes compared, with tables, summaries and log lines")


def sorted_audits(path: Path) -> str:
    """Standard output without its log lines, the features of an audit in the order of their names."""
    lines = [line for line in path.read_text(errors="surrogateescape").splitlines() if not line.startswith("[")]
    return "\n".join("\t".join(sorted(line.split("\t"))) for line in lines)


def with_audits(places: tuple[Path, Path]) -> None:
    for place in places:
        (place / "audits").write_text(sorted_audits(place / "out"), errors="surrogateescape")


def test_drawn_layers_agree(real: RealVw, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Predictions, table, summary, audits and printed examples; log lines by their number."""

    def check(case: Case) -> str:
        places = places_of(case, tmp_path)
        arguments = ["-d", "train", "-p", "p", "-P", "1", *case.arguments]
        assert (ours(places[0], arguments), real(places[1], arguments)) == (0, 0)
        with_audits(places)
        agree(places, "p", "err", "audits")
        lines = [(place / "out").read_text().splitlines() for place in places]
        logs = [sorted(line for line in some if line.startswith("[")) for some in lines]
        assert logs[0] == logs[1]
        return "compared"

    compared = drawn(layer_cases(), RUNS // 4, check)["compared"]
    with capsys.disabled():
        print(f"\n{compared} drawn runs of other layers compared, with tables, audits and log lines")


def failed(place: Path) -> bool:
    """Whether a run ended with a line that it could not read; the real one may have predicted none of those before."""
    return "[error] vw example #" in (place / "out").read_text(errors="surrogateescape")


@pytest.mark.parametrize("objects", [json_cases(), csv_cases()], ids=["json", "csv"])
def test_drawn_objects_and_tables_agree(
    real: RealVw, tmp_path: Path, capsys: pytest.CaptureFixture[str], objects: st.SearchStrategy[Case]
) -> None:
    """Which lines are refused; else predictions, audits, and what the summary and the log say."""

    def check(case: Case) -> str:
        places = places_of(case, tmp_path)
        arguments = ["-d", "train", "-p", "p", "-P", "1", *case.arguments]
        ours(places[0], arguments), real(places[1], arguments)
        assert failed(places[0]) == failed(places[1])
        if failed(places[0]):
            return "refused"
        with_audits(places)
        agree(places, "p", "err", "audits")
        return "compared"

    found = drawn(objects, RUNS, check)
    assert found["refused"] and found["compared"]
    with capsys.disabled():
        print(f"\n{found.total()} drawn runs compared, of which {found['refused']} end with a line that is refused")
