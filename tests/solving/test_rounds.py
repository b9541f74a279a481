"""`vwlite solve --shards`: the optimum of all shards, and what may not be mixed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
import pytest
from running import PATIENT, start
from sets import SETS
from text_problems import SMOOTH, weights_of

from vwlite.algorithms.settings import Settings
from vwlite.core.solve.weights import aligned
from vwlite.errors import DataError
from vwlite.model import read_model
from vwlite.runs.plan import planned
from vwlite.runs.source import DataNames
from vwlite.solving.commands import SolveOptions
from vwlite.solving.problem import Examples
from vwlite.solving.rounds.driver import NO_STATE, Rounds, RoundState
from vwlite.solving.rounds.shards import ShardSums, facts_of, first_of, shard_of

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "data/sources.train.vw"
RCV1 = SETS / "rcv1.train.libsvm.gz"
STRENGTHS = {
    "l1": ["--l1", 0.02],
    "l2": ["--l2", 0.1],
    "elastic": ["--l1", 0.01, "--l2", 0.05],
    "radius": ["--radius", 0.7],
    "radius and l2": ["--radius", 0.7, "--l2", 0.05],
}


def split(path, count=3):
    """The lines of a file in shards of about equal size, dealt out."""
    lines = Path(path).read_text().splitlines(keepends=True)
    names = [f"shard{i}" for i in range(count)]
    for i, name in enumerate(names):
        Path(name).write_text("".join(lines[i::count]))
    return names


def report_of(path="r"):
    return json.loads(Path(path).read_text())


# --- the optimum -------------------------------------------------------------------------------


@pytest.mark.pairwise
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("name", STRENGTHS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_shards_have_the_optimum_of_the_whole(vwlite, at, loss, name, constant):
    options = ["--loss", loss, *STRENGTHS[name], *([] if constant else ["--no-constant"])]
    vwlite("solve", loss, *options, "--tolerance", 1e-9, "-m", "whole", "--report", "r")
    whole = report_of()["results"]["objective"]
    vwlite("solve", *split(loss), "--shards", 2, *options, "--tolerance", 1e-7, "-m", "m", "--report", "r")
    found = report_of()["results"]
    assert found["objective"] == pytest.approx(whole, rel=1e-6)
    assert found["lower_bound"] <= whole * (1 + 1e-9)
    (w, b), (expected, b_expected) = weights_of("m"), weights_of("whole")
    np.testing.assert_allclose(w, expected, atol=1e-2)
    assert b == pytest.approx(b_expected, abs=1e-2)
    solved = read_model("m").solved
    assert (solved["objective"], solved["passes"]) == (found["objective"], found["rounds"])


@pytest.mark.parametrize("name", ["elastic", "radius", "l2"])
def test_processes_and_the_order_of_shards_make_no_difference(vwlite, at, name):
    shards, found = split("logistic"), set()
    for order, processes in ((shards, 1), (shards[::-1], 2), (shards, 3), (shards, 7)):
        options = ["--loss", "logistic", *STRENGTHS[name], "--tolerance", 1e-4]
        vwlite("solve", *order, "--shards", processes, *options, "-m", "m")
        found.add(Path("m").read_bytes())
    assert len(found) == 1
    vwlite("certify", "-m", "m", *shards)


def test_tables_are_shards_too(vwlite, at):
    chance, rows = random.Random(3), []
    for _ in range(60):
        a, city = chance.gauss(0, 1), chance.choice(["rome", "oslo", "bern"])
        rows.append(f"{1 if a + (city == 'rome') + chance.gauss(0, 1) > 0 else -1},{a:.3f},{city}\n")
    for i in range(3):
        Path(f"part{i}.csv").write_text("bought,a,city\n" + "".join(rows[i::3]))
    Path("all.csv").write_text("bought,a,city\n" + "".join(rows))
    options = ["--label", "bought", "--loss", "logistic", "--l1", 0.01]
    shards = [f"part{i}.csv" for i in range(3)]
    vwlite("solve", *shards, "--shards", 2, *options, "--tolerance", 1e-6, "-m", "w")
    vwlite("solve", "all.csv", *options, "--tolerance", 1e-9, "-m", "m")
    found, whole = read_model("w"), read_model("m")
    assert found.columns == whole.columns
    assert found.solved["objective"] == pytest.approx(whole.solved["objective"], rel=1e-6)
    vwlite("predict", "-m", "w", "all.csv", "-p", "p")
    Path("part1.csv").write_text("bought,a,city\n1,2,5\n-1,3,6\n")  # a column of words that are numbers here
    said = vwlite("solve", *shards, "--shards", 2, *options, "-m", "v", code=65)
    assert "are tables whose columns have different roles" in said.err and not Path("v").exists()
    vwlite("solve", *shards, "--shards", 2, *options, "--categorical", "city", "-m", "v")


def test_it_begins_from_a_model(vwlite, at):
    shards = split("logistic")
    for i, shard in enumerate(shards):
        vwlite("train", shard, "--algorithm", "adagrad", "--loss", "logistic", "-m", f"{i}.model")
    vwlite("merge", *(f"{i}.model" for i in range(3)), "-o", "merged")
    vwlite("solve", *shards, "--shards", 2, "-i", "merged", "--l1", 0.02, "-m", "m", "--report", "r")
    warm = report_of()
    vwlite("solve", *shards, "--shards", 2, "--loss", "logistic", "--l1", 0.02, "-m", "m", "--report", "r")
    cold = report_of()
    assert warm["rounds"][0]["objective"] < cold["rounds"][0]["objective"]
    assert warm["results"]["objective"] == pytest.approx(cold["results"]["objective"], rel=1e-3)


def test_processes_take_the_options_of_solve(vwlite, at):
    shards, options = split(SOURCES, 3), ["--loss", "logistic", "--l1", 0.005, "--tolerance", 0.01]
    said = vwlite("solve", *shards, "--shards", 2, *options, "-m", "m")
    assert said.err.startswith("solver = owl-qn, loss = logistic, shards = 3\n")
    for more in (["-c"], ["-c"], ["--threads", 1], ["--on-error", "skip"]):
        assert vwlite("solve", *shards, "--shards", 2, *options, *more, "-m", "n", "--quiet").err == ""
        assert Path("n").read_bytes() == Path("m").read_bytes()
    assert all(Path(f"{shard}.vwlite-cache").exists() for shard in shards)
    said = vwlite("solve", *shards, "--shards", 2, *options, "--max-passes", 3, "-m", "n", "--report", "r")
    assert "warning: --max-passes 3 is reached: the gap is" in said.err
    found = report_of()
    assert (len(found["rounds"]), found["results"]["rounds"]) == (3, 3)
    assert found["results"]["warning"] == "--max-passes 3 is reached"
    assert read_model("n").solved["objective"] == found["results"]["objective"]
    said = vwlite("solve", *shards, "--shards", 2, *options, "--max-seconds", 0)
    assert "--max-seconds 0 is over" in said.err


# --- how many rounds -----------------------------------------------------------------------------


def rounds_to(suboptimality, found, optimum):
    return next(row["round"] for row in found["rounds"] if row["objective"] <= optimum * (1 + suboptimality))


def test_few_rounds_are_enough(vwlite, at):
    options = ["--loss", "logistic", "--l1", 0.002]
    for constant in ([], ["--no-constant"]):
        vwlite("solve", SOURCES, *options, *constant, "--tolerance", 1e-6, "--report", "r")
        optimum = report_of()["results"]["objective"]
        vwlite("solve", *split(SOURCES, 8), "--shards", 2, *options, *constant, "--tolerance", 1e-3, "--report", "r")
        assert rounds_to(1e-3, report_of(), optimum) <= 30


@pytest.mark.skipif(not RCV1.exists(), reason="the data set is not here")
@pytest.mark.parametrize("constant", [True, False])
def test_rounds_of_rcv1(vwlite, at, constant):
    import gzip

    lines = gzip.decompress(RCV1.read_bytes()).splitlines(keepends=True)
    for i in range(8):
        Path(f"shard{i}").write_bytes(b"".join(lines[i::8]))
    shards = [f"shard{i}" for i in range(8)]
    options = ["--loss", "logistic", "--l1", 1e-4, *([] if constant else ["--no-constant"])]
    vwlite("solve", *shards, *options, "--tolerance", 1e-5, "--report", "r")
    optimum = report_of()["results"]["objective"]
    vwlite("solve", *shards, "--shards", 2, *options, "--max-passes", 25, "--report", "r")
    assert rounds_to(1e-3, report_of(), optimum) <= 25


def test_far_on_rounds_have_a_row_now_and_then(vwlite, at):
    shards, options = split(SOURCES, 2), ["--loss", "logistic", "--l1", 1e-6, "--tolerance", 1e-9]
    said = vwlite("solve", *shards, "--shards", 2, *options, "--max-passes", 150, "--report", "r").err
    shown = [int(line.split()[0]) for line in said.splitlines() if line[:6].strip().isdigit()]
    assert shown == [*range(1, 101), *range(101, 110), 110, 112, 114, 116, 118, 120, 123, 126, 129, 132, 136, 140, 145,
                     150]
    assert [row["round"] for row in report_of()["rounds"]] == list(range(1, 151))


# --- what goes wrong -----------------------------------------------------------------------------


def parts_at(run, shards, stack):
    """The sums over shards at the weights that a run wants, computed here."""
    found = []
    for path in shards:
        options, names = SolveOptions(data=(path,), quiet=True), DataNames.of(None, run.settings)
        examples = Examples(options, planned(options), run.settings, names, stack)
        examples.read()
        keys, (weights, constant) = examples.rows.keys, run.weights(best=False)
        at = aligned(keys, run.state.keys, weights)
        sums = shard_of(examples, run.settings).sums(at, constant)
        first = first_of(examples, run.settings, len(shards))
        facts = facts_of(examples)
        found.append(ShardSums(facts["shard"], facts["counters"], keys, *sums, path, sample=first["sample"]))
    return found


@pytest.fixture(params=[{"l1": 0.02}, {"l2": 0.02}], ids=["l1", "l2"])
def a_run(at, request):
    """A run after some rounds, and its shards."""
    shards = split("logistic", 2)
    run = Rounds.create(Settings(loss="logistic", **request.param), None, 1e-9)
    with ExitStack() as stack:
        for _ in range(3):
            run.take(parts_at(run, shards, stack))
        yield run, shards, stack


def test_a_run_continues_from_what_it_was_at(a_run):
    run, shards, stack = a_run
    other = Rounds(RoundState.unpacked(run.state.packed()), 1e-9)
    for _ in range(3):
        assert vars(run.take(parts_at(run, shards, stack))) == vars(other.take(parts_at(other, shards, stack)))
    assert run.state.packed() == other.state.packed()


def test_damaged_states_are_refused_or_harmless(a_run):
    """Whatever the bytes are, no error but those that `vwlite dask train --resume` makes a sentence of."""
    run, shards, stack = a_run
    healthy, refused = run.state.packed(), 0
    parts = parts_at(run, shards, stack)
    for seed in range(300):
        chance = random.Random(seed)
        data = bytearray(healthy)
        at = chance.randrange(len(data) if seed % 2 else data.index(b"\n"))
        data[at : at + chance.choice([1, 4])] = chance.choice([b"", b"9", b"-", b"\xff\xff\xff\xff", b"[]", b"null"])
        try:
            other = Rounds(RoundState.unpacked(bytes(data)), 1e-9)
            other.check_end()
        except NO_STATE:
            refused += 1
            continue
        with suppress(ValueError, DataError):
            other.take(parts)
    assert 0 < refused < 300


def test_the_same_examples_in_all_rounds(a_run):
    run, shards, stack = a_run
    Path(shards[1]).write_text("1 |a x\n-1 |a y\n")
    with pytest.raises(DataError, match=f"{shards[1]} has other examples than in the rounds before"):
        run.take(parts_at(run, shards, stack))


WRONG = [
    ("solve shard0 shard1 --shards 2", 2, "the regularization strength is missing"),
    ("solve --shards 2 --l1 1", 2, "standard input is not a file"),
    ("solve shard0 shard1 --shards 2 --l1-of-max 0.1", 2, "--shards and --l1-of-max cannot be used together"),
    ("solve shard0 shard1 --shards 2 --l1 0.1 --solver cd", 2, "--shards and --solver cd cannot be used together"),
    ("solve shard0 shard1 --shards 2 --nonzeros 3", 2, "--nonzeros cannot be solved in rounds"),
    ("solve shard0 shard1 --shards 2 --l1 0.1 --box 1", 2, "--box cannot be solved in rounds"),
    ("solve shard0 shard1 --shards 2 --l1 0.1 --nonnegative", 2, "--nonnegative cannot be solved in rounds"),
    ("solve shard0 shard1 --shards 2 --l1 0.1 --cache-file c", 2, "use --cache"),
    ("solve shard0 nothing --shards 2 --l1 0.1", 66, "nothing: No such file"),
    ("solve shard0 bad --shards 2 --l1 0.1", 65, "bad:1:"),
    ("solve shard0 empty --shards 2 --l1 0.1", 65, "no example with a label"),
    ("solve shard0 shard0 --shards 2 --l1 0.1", 65, "have the same examples"),
    ("solve ones more --shards 2 --l1 0.1", 65, "on one side"),
    ("solve ones more --shards 2 --l2 0.1 --loss logistic", 65, "on one side"),
    ("solve ones huge --shards 2 --l2 0.1 --loss logistic", 65, "the features are not finite; scale the features"),
]


@pytest.mark.parametrize("command, code, words", WRONG, ids=[command for command, _, _ in WRONG])
def test_what_cannot_be(vwlite, at, command, code, words):
    split("logistic")
    Path("empty").write_text("")
    Path("bad").write_text("1 |a b:c\n")
    Path("ones").write_text("1 |a b\n")
    Path("more").write_text("1 |a c\n")
    Path("huge").write_text("-1 1e280 |a z:1e38\n")
    files = {path: path.read_bytes() for path in Path(".").iterdir()}
    said = vwlite(*command.split(), code=code)
    assert words in said.err, said
    assert {path: path.read_bytes() for path in Path(".").iterdir()} == files


def temporary(folder):
    """Files that were started and not finished."""
    return [path.name for path in Path(folder).iterdir() if path.name.endswith((".tmp", ".lock"))]


def children_of(pid):
    return [int(x) for x in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def started(at):
    """A long run over shards, and its processes."""
    options = ["--loss", "logistic", "--l1", 1e-9, "--tolerance", 0]
    process = start("solve", *split(SOURCES, 4), "--shards", 2, *options, "-m", "m", cwd=at)
    assert process.stderr is not None
    for line in process.stderr:  # the first rounds
        if line.split()[:1] == [b"3"]:
            break
    return process


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
def test_a_process_that_is_killed(at):
    process = started(at)
    first, second = children_of(process.pid)
    os.kill(first, signal.SIGKILL)
    _, err = process.communicate(timeout=PATIENT)
    assert process.returncode == 71
    assert b"the process that holds shard0, shard2 has ended with signal 9" in err
    assert not Path("m").exists() and not temporary(at)
    gone(second)


@pytest.mark.third
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_caller(at, number):
    process = started(at)
    children = children_of(process.pid)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENT)
    for child in children:
        gone(child)
    if number == signal.SIGKILL:
        return
    assert process.returncode == 128 + number
    assert b"the model so far was saved to m" in err
    assert read_model("m").interrupted and not temporary(at)
    options = ["--loss", "logistic", "--l1", 1e-9]
    done = subprocess.run(
        [sys.executable, "-m", "vwlite", "solve", "shard0", "--shards", "1", "-i", "m", *map(str, options[2:]),
         "--max-passes", "2"],
        cwd=at, capture_output=True, timeout=PATIENT, check=False,
    )
    assert done.returncode == 0, done


def gone(pid):
    end = time.monotonic() + PATIENT
    while Path(f"/proc/{pid}").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < end
        time.sleep(0.05)
