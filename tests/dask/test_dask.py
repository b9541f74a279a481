"""`vwlite dask`: the same model for any number of workers, also if some are killed; messages about bad input.

Workers are slow to start, so `make test` has six tests with some; the others are `long`.
"""

import gzip
import hashlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from running import finish, in_child, start

from vwlite.model import read_model

distributed = pytest.importorskip("distributed", reason="the front on Dask is an extra")
fsspec = pytest.importorskip("fsspec")

from fsspec import AbstractFileSystem  # noqa: E402

from vwlite.dask import child, parts, work  # noqa: E402
from vwlite.dask import cluster as cluster_module  # noqa: E402
from vwlite.runs.options import TrainOptions  # noqa: E402

COUNT = 1000  # lines of a shard
LONG = 240  # seconds for what takes a few where nothing else runs
CHILD = child.PROGRAM[-1]  # in the command line of the process of a task
BASIC = ("--loss", "logistic", "--quiet")
EXACT = ("--exact", "--l1", "1e-3", "--tolerance", "0", *BASIC)


def text(seed, count):
    chance = random.Random(seed)
    weights = np.random.default_rng(1).normal(size=300)
    lines = []
    for _ in range(count):
        words = {int(chance.paretovariate(0.5)) % 300 for _ in range(12)}
        label = 1 if sum(weights[w] for w in words) + chance.gauss(0, 1) > 0 else -1
        lines.append(f"{label} |a {' '.join(f'w{w}' for w in sorted(words))}\n")
    return "".join(lines)


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """Four files a0.vw, ..., one of them compressed, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    for i in range(3):
        Path(f"a{i}.vw").write_text(text(i, COUNT))
    Path("a3.vw.gz").write_bytes(gzip.compress(text(3, COUNT).encode()))
    return "a*.vw*"


def digest(path):
    return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()


def descendants(pid):
    """The processes below one, with their command lines."""
    parents = {}
    for entry in os.listdir("/proc"):
        with suppress(OSError):
            if entry.isdigit():
                stat = Path(f"/proc/{entry}/stat").read_text()
                command = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                parents[int(entry)] = int(stat.rpartition(")")[2].split()[1]), command
    found, todo = [], [pid]
    while todo:
        at = todo.pop()
        below = [(child, command) for child, (parent, command) in parents.items() if parent == at]
        found += [(child, at, command) for child, command in below]
        todo += [child for child, _ in below]
    return found


def wait_for(what, process=None):
    """What a function gives, as soon as that is something."""
    deadline = time.monotonic() + LONG
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        if process is not None and process.poll() is not None:
            pytest.fail(f"ended with {process.returncode}: {finish(process)}")
        time.sleep(0.01)
    pytest.fail("it did not happen")


def learning(pid):
    """A worker below a process, and the process of its task."""
    found = [(parent, child) for child, parent, command in descendants(pid) if CHILD in command]
    return found[0] if found else None


def finished(process, code=0):
    err = process.communicate(timeout=LONG)[1]
    assert process.returncode == code, err.decode()
    return err.decode()


# --- the same bytes --------------------------------------------------------------------------


def test_blocks_are_cut_at_newlines_and_every_line_is_learned_once(vwlite, cluster, shards):
    """One model for each way of cutting, but no line is lost or learned twice; nor are those of a URL."""
    Path("all.vw").write_bytes(b"".join(Path(f"a{i}.vw").read_bytes() for i in range(3)))
    at = ("--scheduler", cluster.scheduler_address, "-m", "m", *EXACT, "--rounds", 1, "--block-size", "40K")
    vwlite("dask", "train", "all.vw", *at, "--report", "r")
    report = json.loads(Path("r").read_text())
    count = -(-os.path.getsize("all.vw") // (40 << 10))
    assert report["shards"] == [f"{Path.cwd()}/all.vw (part {i + 1} of {count})" for i in range(count)]
    assert report["results"]["number_of_examples"] == 3 * COUNT
    local = digest("m")
    vwlite("dask", "train", f"file://{Path.cwd()}/all.vw", *at)
    assert digest("m") == local


@pytest.mark.long
def test_twenty_kills_make_no_difference(shards):
    """At drawn moments, with kill -9: a worker, or every third time the process of a task."""
    arguments = ("dask", "train", shards, "--scheduler", "local:2", "--rounds", 5, *EXACT, "-m")
    began = time.monotonic()
    finished(start(*arguments, "undisturbed"))
    seconds, chance, killed = time.monotonic() - began, random.Random(7), 0
    for i in range(20):
        run = start(*arguments, "m")
        time.sleep(chance.uniform(0.2, 0.9) * seconds)
        below = descendants(run.pid)
        kinds = [[pid for pid, _, command in below if part in command] for part in (CHILD, "spawn_main")]
        victims = kinds[1] if i % 3 else kinds[0] or kinds[1]
        if victims:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(victims), signal.SIGKILL)
                killed += 1
        finished(run)
        assert digest("m") == digest("undisturbed")
    assert killed > 10


def test_a_driver_that_is_killed_continues(vwlite, cluster, shards):
    """After a round, with kill -9; its workers are not its own."""
    arguments = ("dask", "train", "a[03].vw*", "--scheduler", cluster.scheduler_address, "--rounds", 3, *EXACT, "-m")
    vwlite(*arguments, "undisturbed")
    run = start(*arguments, "m")
    wait_for(lambda: os.path.exists("m"), run)
    run.kill()
    run.communicate()
    assert os.path.exists("m.rounds")
    said = vwlite(*[a for a in arguments if a != "--quiet"], "m", "--resume").err
    assert re.match(r"continuing after round [12]\n", said)
    assert digest("m") == digest("undisturbed")


@contextmanager
def by_command(*arguments):
    """A process of Dask, as one starts it; what it has said goes to a file."""
    with open("said", "ab") as said:
        process = subprocess.Popen([sys.executable, "-m", "dask", *arguments], stdout=said, stderr=said)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(LONG)


def scheduler_address():
    found = re.search(r"Scheduler at: +(tcp://\S+)", Path("said").read_text())
    return found and found[1]


@pytest.mark.long
def test_scheduler_and_workers_by_command_of_which_one_is_killed(vwlite, cluster, shards):
    arguments = ("dask", "train", shards, "--rounds", 2, *EXACT, "-m")
    vwlite(*arguments, "here", "--scheduler", cluster.scheduler_address)
    with by_command("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1") as scheduler:
        address = wait_for(scheduler_address, scheduler)
        worker = ("worker", address, "--nthreads", "1", "--no-dashboard")
        with by_command(*worker, "--no-nanny") as one, by_command(*worker, "--no-nanny"):
            run = start(*arguments, "m", "--scheduler", address)
            wait_for(lambda: learning(one.pid), run)
            one.kill()
            finished(run)
            assert digest("m") == digest("here")
            os.unlink("m.rounds")
            run = start(*arguments, "m", "--scheduler", address, "--rounds", 500)
            wait_for(lambda: os.path.exists("m.rounds"), run)
            scheduler.kill()
            assert finished(run, 69) == (
                f"{address}: the scheduler has gone, and the results of the workers are lost; --resume continues "
                "after the last round\n"
            )
    arguments = [a for a in arguments if a != "--quiet"]
    done = rounds_done("m")
    said = vwlite(*arguments, "m", "--scheduler", cluster.scheduler_address, "--rounds", done + 1, "--resume").err
    assert said.startswith(f"continuing after round {done}\n")


@pytest.mark.long
def test_a_signal_keeps_the_last_round(cluster, shards):
    run = start("dask", "train", shards, "--scheduler", cluster.scheduler_address, "-m", "m", "--rounds", 500, *EXACT)
    wait_for(lambda: os.path.exists("m"), run)
    run.send_signal(signal.SIGINT)
    said = finished(run, 130)
    assert re.search(r"interrupted by signal 2; m is the model of round \d+, --resume continues\n\Z", said)
    assert sorted(os.listdir()) == [*sorted(map(str, Path().glob(shards))), "m", "m.rounds"]


def test_predictions_are_in_a_file_for_each_shard_in_the_order_of_its_lines(vwlite, cluster, shards):
    vwlite("train", "a0.vw", *BASIC, "-m", "m")
    Path("day=1").mkdir()
    Path("day=1/a0.vw").write_text(text(7, 300))
    at = ("--scheduler", cluster.scheduler_address, "-m", "m", "--quiet", "--link", "logistic")
    vwlite("dask", "predict", "a?.vw*", "day=*/*", *at, "-o", "out", "--block-size", "50K", "--report", "r")
    report = json.loads(Path("r").read_text())
    assert report["results"]["number_of_predictions"] == 4 * COUNT + 300
    for name in ("a0.vw", "a1.vw", "a2.vw", "a3.vw.gz", "day=1/a0.vw"):
        vwlite("predict", "-m", "m", name, "-p", "p", "--quiet", "--link", "logistic")
        found = sorted(Path("out").glob(f"{name}.*"))
        assert b"".join(path.read_bytes() for path in found) == Path("p").read_bytes()
    assert {Path(x["file"]).relative_to(Path.cwd()) for x in report["outputs"]} == {
        path for path in Path("out").rglob("*") if path.is_file()
    }


# --- the exact optimum -----------------------------------------------------------------------


IN_BALL = pytest.param(("--radius", "2", "--l2", "1e-2"), marks=pytest.mark.long)
NORMALIZED = pytest.param(("--l1", "0.01", "--normalize", "l2"), marks=pytest.mark.long)


@pytest.mark.parametrize("strength", [("--l1", "0.02"), IN_BALL, NORMALIZED])
def test_the_optimum_is_that_of_one_machine(vwlite, cluster, shards, strength):
    """The very model of `vwlite solve --shards`; after a driver that was killed, too."""
    problem = ("--loss", "logistic", *strength, "--tolerance", "0.1", "--quiet")
    vwlite("solve", "--shards", 2, "a0.vw", "a3.vw.gz", *problem, "-m", "here", "--report", "solved")
    arguments = ("dask", "train", "a[03].*", "--scheduler", cluster.scheduler_address, "--exact", *problem, "-m", "m")
    vwlite(*arguments, "--rounds", 2)
    assert os.path.exists("m.rounds") and read_model("m").interrupted
    run = start(*arguments, "--resume")
    wait_for(lambda: rounds_done("m") > 2, run)
    run.kill()
    run.communicate()
    vwlite(*arguments, "--resume", "--report", "r")
    assert digest("m") == digest("here")
    assert not os.path.exists("m.rounds")
    report, solved = (json.loads(Path(name).read_text()) for name in ("r", "solved"))
    assert [row["objective"] for row in report["rounds"]] == [row["objective"] for row in solved["rounds"]]


def test_the_optimum_of_a_smooth_problem_is_that_of_one_machine(vwlite, cluster, shards):
    """The sample of the shards is drawn by the workers, and kept for --resume."""
    problem = ("--loss", "logistic", "--l2", "1e-3", "--tolerance", "1e-6", "--quiet")
    vwlite("solve", "--shards", 2, "a0.vw", "a3.vw.gz", *problem, "-m", "here", "--report", "solved")
    arguments = ("dask", "train", "a[03].*", "--scheduler", cluster.scheduler_address, "--exact", *problem, "-m", "m")
    vwlite(*arguments, "--rounds", 2)
    vwlite(*arguments, "--resume", "--report", "r")
    assert digest("m") == digest("here")
    report, solved = (json.loads(Path(name).read_text()) for name in ("r", "solved"))
    assert solved["options"]["solver"] == read_model("m").solved["solver"] == "l-bfgs"
    assert [row["objective"] for row in report["rounds"]] == [row["objective"] for row in solved["rounds"]]
    assert len(solved["rounds"]) > 2


def rounds_done(model):
    """Those of the state beside a model."""
    with suppress(FileNotFoundError):
        return len(json.loads(Path(f"{model}.rounds").read_bytes().split(b"\n")[0])["rounds"])
    return 0


def test_what_has_no_exact_rounds(vwlite, shards):
    at = ("dask", "train", shards, "--scheduler", "local:1", "-m", "m", "--exact", "--loss", "logistic")
    for options, word in {
        ("--algorithm", "ftrl", "--l1", "1"): "--algorithm has no effect with --exact",
        ("--l1", "1", "--group", "g"): "--group has no effect with --exact",
        (): "the regularization strength is missing",
        ("--l1", "1", "--oaa", "3"): "cannot be solved in rounds",
    }.items():
        assert word in vwlite(*at, *options, code=2).err
    said = vwlite(*[a for a in at if a != "--exact"], "--tolerance", "1e-3", code=2).err
    assert said == "--tolerance needs --exact: rounds of the default do not use it\n"
    assert not os.path.exists("m")


# --- other data ------------------------------------------------------------------------------


@pytest.mark.long
def test_every_block_of_csv_has_the_header_and_the_roles_of_all(vwlite, cluster, shards):
    """A column that is a number in some blocks only is decided once."""
    rng = np.random.default_rng(3)
    rows = [f"{rng.normal():.3f},{'x' if i < 30 else i % 7},{i % 3 > 1:d}" for i in range(3000)]
    Path("t.csv").write_text("size,kind,y\n" + "\n".join(rows) + "\n")
    options = ("--label", "y", "--labels", "0,1", "--loss", "logistic", "--l1", "1e-6", "--quiet", "--report", "r")
    at = ("--scheduler", cluster.scheduler_address, "--block-size", "10K")
    vwlite("dask", "train", "t.csv", *at, *options, "-m", "m", "--rounds", 2, "--exact")
    report = json.loads(Path("r").read_text())
    assert len(report["shards"]) == -(-os.path.getsize("t.csv") // (10 << 10)) > 2
    assert report["results"]["number_of_examples"] == 3000
    vwlite("solve", "t.csv", *options, "-m", "whole")
    assert read_model("m").columns["roles"] == read_model("whole").columns["roles"]
    assert read_model("m").columns["roles"] == [["size", "numeric"], ["kind", "categorical"], ["y", "label"]]
    vwlite("predict", "-m", "m", "t.csv", "-p", "p", "--quiet")
    vwlite("dask", "predict", "t.csv", "-m", "m", "-o", "out", *at[:4], "--quiet")
    assert b"".join(path.read_bytes() for path in sorted(Path("out").iterdir())) == Path("p").read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_all_blocks_have_the_words_that_the_first_rows_decide(vwlite, cluster, shards, name):
    """Of texts without blanks, which are in the first of three blocks."""
    rows = [{"y": i % 2, "t": "大小好坏" if i < 1500 else "plain words"} for i in range(4000)]
    if name == "t.csv":
        Path(name).write_text("y,t\n" + "".join(f"{row['y']},{row['t']}\n" for row in rows))
    else:
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ("--label", "y", "--text", "t", "--labels", "0,1", "--loss", "logistic", "--l1", "1e-6", "--quiet")
    at = ("--scheduler", cluster.scheduler_address, "--block-size", "30K", "--exact", "--rounds", 1)
    vwlite("dask", "train", name, *at, *options, "-m", "m")
    vwlite("solve", name, *options, "-m", "whole")
    assert read_model("m").columns["unspaced"] == read_model("whole").columns["unspaced"] == ["t"]


@pytest.mark.long
def test_blocks_of_a_table_without_a_header(vwlite, cluster, shards):
    """With times and words for missing numbers; the model knows them all."""
    rows = [f"{i % 2},2026-01-{i % 28 + 1:02d} {i % 24:02d}:00:00,{'?' if i % 5 else i % 7}" for i in range(2000)]
    Path("t.csv").write_text("\n".join(rows) + "\n")
    options = ("--no-header", "--label", "c1", "--time", "c2", "--missing", "?,NA", "--labels", "0,1", "--l1", "1e-6",
               "--loss", "logistic")
    at = ("--scheduler", cluster.scheduler_address, "--block-size", "10K")
    vwlite("dask", "train", "t.csv", *at, *options, "-m", "m", "--rounds", 1, "--report", "r", "--exact")
    assert json.loads(Path("r").read_text())["results"]["number_of_examples"] == 2000
    vwlite("solve", "t.csv", *options, "-m", "whole")
    assert read_model("m").columns == read_model("whole").columns
    vwlite("predict", "-m", "m", "t.csv", "-p", "p", "--quiet")
    vwlite("dask", "predict", "t.csv", "-m", "m", "-o", "out", *at, "--quiet")
    found = b"".join(path.read_bytes() for path in sorted(Path("out").iterdir()))
    assert found == Path("p").read_bytes() and found.count(b"\n") == 2000


@pytest.mark.long
@pytest.mark.parametrize("kind", ["libsvm", "jsonl", "classes"])
def test_other_text(vwlite, cluster, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    chance = random.Random(2)
    for i in range(2):
        rows = [(chance.choice([-1, 1]), chance.randrange(1, 9), chance.random()) for _ in range(200)]
        lines = {
            "libsvm": [f"{y} {j}:{x}" for y, j, x in rows],
            "jsonl": [json.dumps({"y": y, "kind": f"k{j}", "x": x}) for y, j, x in rows],
            "classes": [f"{['', 'red', 'blue'][y]} |a k{j} x:{x}" for y, j, x in rows],
        }[kind]
        Path(f"d{i}.{kind}").write_text("\n".join(lines) + "\n")
    options = {"libsvm": (), "jsonl": ("--label", "y"), "classes": ("--oaa", 3, "--classes", "auto")}[kind]
    vwlite("dask", "train", "d?.*", "--scheduler", cluster.scheduler_address, "-m", "m", "--loss", "logistic",
           "--quiet", *options)
    model = read_model("m")
    assert model.counters["examples"] == 2 * 200
    assert sorted(model.classes) == (["blue", "red"] if kind == "classes" else [])


# --- what is wrong ---------------------------------------------------------------------------


def test_bad_lines_are_reported_with_the_shard_and_the_number_in_it(vwlite, cluster, shards):
    at = ("--scheduler", cluster.scheduler_address, "-m", "m", *BASIC)
    lines = text(9, 400).splitlines(keepends=True)
    for number in (1, 51, 200, 399):  # 200 is held out
        Path("bad.vw").write_text("".join([*lines[: number - 1], "1 |a x:abc\n", *lines[number:]]))
        said = vwlite("dask", "train", "bad.vw", "a0.vw", *at, "--retries", 1, code=65).err
        message = f"{Path.cwd()}/bad.vw:{number}:8: feature value 'abc' is not a number"
        assert said == f"{message}\n"
        assert not os.path.exists("m")
    said = vwlite("dask", "train", "bad.vw", "a0.vw", *at, code=65).err.splitlines()
    assert said == [f"{message} (tried again)"] * 2 + [f"{message} (3 times)"]
    vwlite("dask", "train", "bad.vw", "a0.vw", *at, "--on-error", "skip")
    assert read_model("m").counters["examples"] == 399 + COUNT  # of those that are good
    Path("bad.csv").write_text("y,x\n" + "1,2\n" * 300 + "1,2,3\n" + "-1,1\n" * 300)
    said = vwlite("dask", "train", "bad.csv", *at, "--label", "y", "--retries", 1, "--block-size", 500, code=65).err
    assert said == f"{Path.cwd()}/bad.csv (part 3 of 6):52:1: a row of 3 cells, but there are 2 columns\n"
    Path("bad.csv").write_text("a,x\n1,2\n")
    said = vwlite("dask", "train", "bad.csv", *at, code=65).err
    assert said == f"{Path.cwd()}/bad.csv:1:1: which column is the label? train with --label NAME: a, x\n"


@pytest.mark.parametrize(
    "data, code, message",
    [
        ("", 2, "there is no data: name files or URLs, as in vwlite dask train 's3://bucket/day=*/*.vw.gz'"),
        ("-", 2, "-: the workers cannot read standard input: name files or URLs"),
        ("nothing*", 66, "nothing*: no such file"),
        ("nothing.vw", 66, "nothing.vw: No such file or directory"),
        ("folder", 66, "folder: Is a directory: 'folder/*' names the files in it"),
        ("empty", 66, "empty: all files are empty"),
        ("blank", 65, "no shard has a row with a label: nothing to learn from"),
        ("unlabelled", 65, "no shard has a row with a label: nothing to learn from"),
        ("a0.vw --algorithm adagrad", 2, "with --algorithm adagrad: it learns the default of vwlite train, and with "
         "--exact problems of --l1, --l2 or --radius. For other algorithms train on each file, and merge the models"),
        ("a0.vw --l1 1e-3", 2, "with --l1: it learns the default"),
        ("a0.vw -i copy", 65, "copy: "),
        ("cut.gz", 65, ":1: the gzip data ends early: the file is incomplete"),
        ("a0.vw file:///nothing.vw", 66, "file:///nothing.vw: No such file or directory"),
        ("s3://bucket/x*", 2, "s3://bucket/x*: s3:// needs another package: pip install s3fs"),
        ("no-such://x", 2, "no-such://x: Protocol not known: no-such"),
        ("table", 65, "table: a file of Arrow, which workers do not read: write it as Parquet or CSV"),
    ],
)
def test_what_cannot_be_learned(vwlite, cluster, shards, data, code, message):
    Path("empty").write_text("")
    Path("blank").write_text("\n\n\n")
    Path("unlabelled").write_text("|a x\n|a y\n")
    Path("copy").write_bytes(Path("a0.vw").read_bytes())
    Path("cut.gz").write_bytes(gzip.compress(text(1, 300).encode())[:-900])
    Path("table").write_bytes(b"ARROW1" + b"x" * 100)
    Path("folder").mkdir()
    said = vwlite("dask", "train", *data.split(), "--scheduler", cluster.scheduler_address, "-m", "m", *BASIC,
                  "--retries", 1, code=code).err
    assert message in said and said.count("\n") == 1
    assert not list(Path().glob("m*")) and not list(Path().glob(".m*"))


@pytest.mark.long
def test_an_empty_file_is_left_out(vwlite, cluster, shards):
    for i in range(4):
        Path(f"empty{i}").write_text("")
    Path("empty.gz").write_bytes(gzip.compress(b""))
    at = ("--scheduler", cluster.scheduler_address, "-m", "m")
    said = vwlite("dask", "train", "a0.vw", "a1.vw", "empty?", "empty.gz", *at, *BASIC[:-1]).err
    here = Path.cwd()
    assert f"note: empty shards are left out: {here}/empty0, {here}/empty1, {here}/empty2 and 2 more\n" in said
    assert read_model("m").counters["examples"] == 2 * COUNT


@pytest.mark.long
def test_a_run_is_gone_on_with_only_if_it_is_the_same(vwlite, cluster, shards):
    arguments = ["dask", "train", shards, "--scheduler", cluster.scheduler_address, "-m", "m", *EXACT, "--rounds", 500]
    run = start(*arguments)
    wait_for(lambda: os.path.exists("m"), run)
    run.terminate()
    finished(run, 143)
    kept = Path("m").read_bytes()
    said = vwlite(*arguments, "--l2", 0.1, "--resume", code=2).err
    assert said == "--resume: m.rounds is of a run with different options: start without --resume\n"
    Path("a1.vw").write_text(text(77, COUNT))
    said = vwlite(*arguments, "--resume", code=2).err
    assert said == "--resume: m.rounds is of a run with different data: start without --resume\n"
    Path("m.rounds").write_bytes(Path("m.rounds").read_bytes()[:-1])
    said = vwlite(*arguments, "--resume", code=65).err
    assert said == "m.rounds: is not the state of a run in rounds: remove it, or start without --resume\n"
    assert Path("m").read_bytes() == kept


@pytest.mark.long
def test_all_workers_have_died(shards):
    """A run without workers prints a note, and continues when a worker comes."""
    with by_command("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1") as scheduler:
        address = wait_for(scheduler_address, scheduler)
        worker = ("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
        program = "import sys, vwlite.cli, vwlite.dask.cluster as c; c.ALONE = 1; vwlite.cli.main(sys.argv[1:])"
        arguments = ("dask", "train", shards, "--rounds", 500, *EXACT, "-m", "r", "--scheduler", address)
        with by_command(*worker) as one:
            command = [sys.executable, "-c", program, *map(str, arguments)]
            run = subprocess.Popen(command, stderr=subprocess.PIPE)
            wait_for(lambda: os.path.exists("r.rounds"), run)
            one.kill()
            one.wait()
            assert run.stderr.readline().decode() == (
                f"{address}: no worker is left; waiting for one: `dask worker {address}`\n"
            )
        before = rounds_done("r")
        with by_command(*worker):
            wait_for(lambda: rounds_done("r") > before, run)
            run.send_signal(signal.SIGTERM)
            finished(run, 143)


@pytest.mark.long
@pytest.mark.parametrize("deaths", [2, 3])
def test_workers_that_die_while_they_start(vwlite, shards, monkeypatch, deaths):
    """Dask gives up; a run tries again, and says so in the end."""
    left = deaths
    whole = distributed.LocalCluster

    def dying(**options):
        nonlocal left
        left -= 1
        if left >= 0:
            raise RuntimeError("Nanny failed to start.")
        return whole(**options)

    monkeypatch.setattr(distributed, "LocalCluster", dying)
    run = ("dask", "train", shards, "--scheduler", "local:1", "-m", "m", *BASIC)
    said = vwlite(*run, code=0 if deaths < cluster_module.ATTEMPTS else 69).err
    expected = "local:1: the workers die at start-up (Nanny failed to start.)\n"
    assert said == ("" if deaths < cluster_module.ATTEMPTS else expected)


def test_no_scheduler(vwlite, shards, monkeypatch):
    at = ("dask", "train", shards, "-m", "m", *BASIC, "--scheduler")
    said = vwlite(*at, "tcp://127.0.0.1:1", code=69).err
    assert said.startswith("tcp://127.0.0.1:1: no scheduler answers (") and said.count("\n") == 1
    for wrong in ("127.0.0.1:8786", "local", "local:0", "tcp://"):
        assert "--scheduler" in vwlite(*at, wrong, code=2).err
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = vwlite(*at, "local:1", code=2).err
    assert said.startswith("vwlite dask needs packages that are not installed") and "pip install 'vwlite[dask]'" in said
    assert not os.path.exists("m")


@pytest.mark.long
def test_a_slow_end_of_a_cluster_is_no_error():
    """It came after the model was complete, of 64 shards on a busy machine."""
    class Slow:
        def close(self, timeout):
            raise TimeoutError(f"timed out after {timeout} s.")

    cluster_module._close(Slow())


def test_workers_of_another_version_and_none(vwlite, cluster, shards, monkeypatch):
    at = ("dask", "train", shards, "-m", "m", *BASIC, "--scheduler", cluster.scheduler_address)
    monkeypatch.setattr(cluster_module, "__version__", "9.9")
    said = vwlite(*at, code=69).err
    expected = r"the worker tcp://\S+ has vwlite [\d.]+, but this process has 9.9: all must have the same\n"
    assert re.fullmatch(expected, said)
    monkeypatch.setattr(cluster_module, "ARRIVING", 0.5)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as empty:
        said = vwlite(*at[:-1], empty.scheduler_address, code=69).err
    assert "no worker has connected within 0.5 seconds" in said


class Locked(AbstractFileSystem):
    """A file system that one must log in to."""

    protocol = "locked"

    def info(self, path, **options):
        raise RuntimeError("Unable to locate credentials")


def test_credentials_that_are_missing(vwlite, cluster, shards):
    fsspec.register_implementation("locked", Locked, clobber=True)
    said = vwlite("dask", "train", "locked://b/x", "--scheduler", cluster.scheduler_address, "-m", "m", *BASIC, code=66)
    assert said.err == "locked://b/x: Unable to locate credentials\n"


def test_remote_files_are_streamed(shards):
    """Of a file system that is in this process only, so the task is done here."""
    memory = fsspec.filesystem("memory")
    for name in ("a0.vw", "a3.vw.gz"):
        memory.pipe(f"/logs/day=1/{name}", Path(name).read_bytes())
    found = parts.listed(("memory://logs/day=*/*.vw*",), 20 << 10).parts
    assert [(part.number, part.of) for part in found[:-1]] == [(i, len(found) - 1) for i in range(len(found) - 1)]
    assert found[-1].url == "memory:///logs/day=1/a3.vw.gz"
    job = shard_job(loss="logistic")
    local = parts.listed(("a0.vw", "a3.vw.gz"), 20 << 10).parts
    for a, b in zip(found, local, strict=True):
        assert work.draw(a, job).rows == work.draw(b, job).rows
    memory.pipe("/logs/cut.gz", Path("a3.vw.gz").read_bytes()[:-300])
    failed = work.draw(parts.FilePart("memory://logs/cut.gz"), job)
    name, line, column = failed.where
    assert (failed.code, name, column) == (65, "memory://logs/cut.gz", 1)
    assert failed.message.startswith(f"{name}:{line}:1: the gzip data ends early: ")
    gone = work.draw(parts.FilePart("memory://logs/gone"), job)
    assert (gone.code, gone.message) == (66, "memory://logs/gone: No such file or directory")
    assert gone.where == ("memory://logs/gone",)


def shard_job(**typed):
    """Draw rows for the default with these settings."""
    return work.ShardJob(TrainOptions(typed=typed, quiet=True))


def of_table(**options):
    """The same for a table."""
    job = shard_job()
    return replace(job, options=replace(job.options, format="csv", label="y", **options))


def test_the_error_of_a_task_has_its_place():
    """As values: the URL, the line and the column; only the URL if it is not about a line."""
    memory, name = fsspec.filesystem("memory"), "memory://logs/bad"
    why = "feature value 'abc' is not a number"
    cases = {
        "1 |a x\n1 |a x:abc\n": ((name, 2, 8), f":2:8: {why}"),
        "1 |a x\n1 |a x:1e99\n": ((name, 2, 8), ":2:8: "),
    }
    for text, (where, message) in cases.items():
        memory.pipe("/logs/bad", text.encode())
        failed = work.draw(parts.FilePart(name), shard_job())
        assert (failed.code, failed.where) == (65, where)
        assert failed.message.startswith(name + message) and "/tmp" not in failed.message


def test_a_part_of_a_table_with_the_header_before_it():
    """It has no number, and what is after it is no begin: a byte order mark there is a part of the cell."""
    name, mark = "memory://logs/table", b"\xef\xbb\xbf"
    fsspec.filesystem("memory").pipe("/logs/table", mark + b"x,y\n" + b"a,1\n" * 5 + mark + b"a,1\na,1\na,1,2\n")
    part, whole = parts.FilePart(name, 26, 44, 1, 2), parts.FilePart(name, 26, 38, 1, 2)
    found = work.draw(whole, of_table(categorical=(("x",),)))
    assert sorted(row.text for row in found.rows) == [b"a,1", mark + b"a,1"]
    assert work.draw(part, of_table()).where == (f"{name} (part 2 of 2)", 3, 1)
    of_header = f"{name} (part 2 of 2):1:1: --drop z: no such column; the columns are x, y"
    assert work.draw(part, of_table(drop=(("z",),))).message == of_header


def test_a_task_whose_process_is_killed_or_has_too_little_memory(shards, monkeypatch):
    """Others are not concerned: the worker goes on."""
    part, lines = parts.FilePart("memory://logs/x"), b"1 |a x\n"

    def killed(part):
        yield lines
        (process,) = [pid for pid, by, command in descendants(os.getpid()) if by == os.getpid() and CHILD in command]
        os.kill(process, signal.SIGKILL)

    monkeypatch.setattr(work, "content", killed)
    failed = work.draw(part, shard_job())
    assert (failed.code, failed.message) == (70, "memory://logs/x: the process of the task was ended by signal 9")
    many = b"1 |a " + b" ".join(b"%d" % i for i in range(9000)) + b"\n"  # 40 million pairs
    monkeypatch.setattr(work, "content", lambda part: [many])
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # each takes memory
    monkeypatch.setattr(work, "PROGRAM", ("sh", "-c", 'ulimit -v 400000; exec "$@"', "sh", *child.PROGRAM))
    failed = work.draw(part, shard_job(quadratic=("aa",)))
    assert (failed.code, failed.where) == (70, ("memory://logs/x",))
    assert failed.message.startswith("memory://logs/x: out of memory: ")


def test_a_disk_that_is_full_on_a_worker(shards, monkeypatch):
    """For what is written there by the task."""
    part, job = parts.FilePart(str(Path("a0.vw").absolute())), shard_job()

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        failed = work.answer(part, b"x" * 5000, job, None, None)
        os.write(2, repr(failed).encode())
        return 0 if failed.code == 74 and "File too large" in failed.message else 1

    assert in_child(limited) == 0
    assert sorted(os.listdir()) == sorted(map(str, Path().glob(shards)))
