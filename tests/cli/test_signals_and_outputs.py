"""A signal at any time: no part of an output takes the place of a whole one, in any command that writes files."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from output_options import OUTPUTS
from running import PATIENT, leftovers, start, start_child, wait_child

from vwlite.cli import run
from vwlite.model import read_model
from vwlite.output import stdio

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SKIP = "--on-error skip --rejects rejects"
# Commands, and the outputs that they replace; those that end with "model" may be a model of what was learned so far.
JOBS = {
    f"train bad.vw --algorithm gd {SKIP} -m own.model -p p -r r --holdout-to held": "own.model p r held rejects",
    "train one.csv --label y --group g -m own.model -p p": "own.model p",
    "train more.csv --label y --algorithm gd --continue own.model": "own.model",
    f"predict -m good bad.vw {SKIP} -p p -r r": "p r rejects",
    "predict -m table one.csv --append -o p.csv": "p.csv",
    "predict -m table one.jsonl --append -o p.jsonl": "p.jsonl",
    "predict -m table one.parquet --append -o p.parquet": "p.parquet",
    f"evaluate -m good bad.vw {SKIP}": "rejects",
    f"report -m good bad.vw {SKIP} -o p.html": "p.html rejects",
    f"explain -m good bad.vw {SKIP}": "rejects",
    f"worst -m good bad.vw {SKIP}": "rejects",
    "drift -m table one.csv more.csv --page p.html": "p.html",
    f"weights good bad.vw {SKIP}": "rejects",
    f"calibrate -m good bad.vw {SKIP} -o p": "p rejects",
    f"names good bad.vw {SKIP} -o p": "p rejects",
    "export good --to tsv -o p": "p",
    "export table --to sql --table t --id g -o p": "p",
    "import tsv -m p": "p",
    "split one.csv --test 0.3 -o a.csv -o b.csv": "a.csv b.csv",
    "split one.csv --test 0.3 --stratify --label y -o a.csv.gz -o b.csv.gz": "a.csv.gz b.csv.gz",
    "split one.parquet -o a.parquet -o b.parquet": "a.parquet b.parquet",
    f"convert bad.vw {SKIP}": "rejects",
    f"solve bad.vw --loss logistic --l1-of-max 0.05 {SKIP} -m own.model": "own.model rejects",
    f"certify -m good bad.vw --l1 0.1 {SKIP}": "rejects",
    f"merge good better --holdout bad.vw {SKIP} -o p": "p rejects",
}
# Reports say that a run was interrupted; caches and logs are no results. tune has the files of train.
OTHERS = {"--report", "--cache-file", "--log"}


def test_every_output_is_tried():
    tried = {(job.split()[0], word) for job in JOBS for word in job.split()}
    short = {"--model": "-m", "--output": "-o", "--predictions": "-p", "--raw-predictions": "-r"}
    for command, option in OUTPUTS:
        if option not in OTHERS and command.split()[0] not in ("dask", "tune"):
            names = {option, short.get(option), "-o" if command == "merge" else option}
            assert any((command, name) in tried for name in names), (command, option)


def rows(count: int) -> list[str]:
    chance = random.Random(count)
    cells = [(chance.randint(0, 9), chance.random(), chance.choice("abc")) for _ in range(count)]
    return [f"{int(x + (c == 'a') > chance.random() * 2)},g{g},{x:.3f},{c}" for g, x, c in cells]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Data and models in a folder, and the number of lines of the program that a job runs through, by job."""
    pa = pytest.importorskip("pyarrow")
    at = tmp_path_factory.mktemp("data")
    names = ["y", "g", "x", "c"]
    for name, count in (("one", 300), ("more", 200)):
        cells = [row.split(",") for row in rows(count)]
        (at / f"{name}.csv").write_text("".join(f"{row}\n" for row in [",".join(names), *rows(count)]))
        (at / f"{name}.vw").write_text("".join(f"{2 * int(y) - 1} |f x:{x} {g} {c}\n" for y, g, x, c in cells))
        texts = [f'{{"y": {y}, "g": "{g}", "x": {x}, "c": "{c}"}}\n' for y, g, x, c in cells]
        (at / f"{name}.jsonl").write_text("".join(texts))
    lines = (at / "one.vw").read_text().splitlines(keepends=True)
    (at / "bad.vw").write_text("".join([*lines[:100], "1 |f a:b:c\n", *lines[100:], "1 |f a:b\n"]))
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(at / "one.csv"), at / "one.parquet")
    assert pa
    for command in (f"train {at}/one.vw --algorithm gd --loss logistic -m {at}/good",
                    f"train {at}/one.vw {at}/more.vw --algorithm gd --loss logistic -m {at}/better",
                    f"train {at}/one.csv --label y --algorithm gd --names -m {at}/table",
                    f"train {at}/one.csv --label y --algorithm gd -m {at}/continued",
                    f"export {at}/good --to tsv -o {at}/tsv"):
        assert run([*command.split(), "--quiet"] if command.startswith("train") else command.split()) == 0
    return at


def attempt(folder: Path, job: str, number: int = 0, at: int = 0) -> tuple[int, int, str]:
    """Run a job in a child that gets a signal before this line of the program, counted from where it handles them. The
    exit code, how many lines it ran through, and what it said."""

    def work() -> int:
        os.chdir(folder)
        for fd, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"../{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), fd)
        stdio.prepare()
        count = 0

        def trace(frame, event, argument):
            nonlocal count
            if "vwlite" not in frame.f_code.co_filename or signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
                return trace
            if event == "line":
                count += 1
                if count == at:
                    sys.settrace(None)
                    os.kill(os.getpid(), number)
                    time.sleep(0.02)  # the thread of the signals sees it
            return trace

        sys.settrace(trace)
        code = run(job.split())
        sys.settrace(None)
        sys.stderr.flush()
        Path("../count").write_text(str(count))
        return code

    code = wait_child(start_child(work))
    return code, int((folder.parent / "count").read_text()), (folder.parent / "err").read_text()


@pytest.mark.third
@pytest.mark.parametrize("job", JOBS)
def test_after_a_signal_each_output_is_the_old_one_or_all_are_new(job, data, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    outputs = JOBS[job].split()

    def fill() -> None:
        for name in os.listdir(folder):
            os.unlink(folder / name)
        for name in os.listdir(data):
            if name != "continued":
                os.link(data / name, folder / name)
        for name in outputs:
            old = (data / "continued").read_bytes() if "--continue" in job else b"old\n"
            (folder / name).write_bytes(old)

    fill()
    before = {name: (folder / name).read_bytes() for name in outputs}
    code, lines, said = attempt(folder, job)
    assert code == 0, said
    after = {name: (folder / name).read_bytes() for name in outputs}
    chance = random.Random(job)
    for number in SIGNALS:
        fill()
        at = lines - chance.randint(0, 60) if number == signal.SIGTERM else chance.randint(lines // 20, lines)
        code, _, said = attempt(folder, job, number, at)
        found = {name: (folder / name).read_bytes() for name in outputs}
        assert leftovers(folder, [*os.listdir(data), *outputs]) == []
        if code == 0:
            assert {**found, "own.model": 0} == {**after, "own.model": 0}
            continue
        assert code == 128 + number, (at, lines, said)
        assert f"interrupted by signal {number}" in said.splitlines()[-1]
        for name in outputs:
            if name == "own.model" and found[name] != before[name]:
                assert read_model(str(folder / name)).interrupted or found[name] == after[name]
                assert "the model so far was saved to own.model" in said
                assert said.endswith("; no other file was written\n") == ("train" in job and len(outputs) > 1)
            else:
                assert found[name] == before[name], (name, at, lines, said)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("how", ["-p", "--append -o"])
def test_a_signal_in_the_middle_of_predictions_leaves_the_old_file(number, how, data, tmp_path):
    """What the program waits for never comes, and it has written a part."""
    (tmp_path / "old.csv").write_text("the whole\n")
    source = data / ("one.csv" if "--append" in how else "one.vw")
    model = data / ("table" if "--append" in how else "good")
    process = start("predict", "-m", model, *how.split(), tmp_path / "old.csv", "--quiet", stdout=subprocess.DEVNULL)
    process.stdin.write(source.read_bytes())
    process.stdin.flush()
    while not any((tmp_path / name).stat().st_size for name in leftovers(tmp_path, ["old.csv"])):
        assert process.poll() is None
    process.send_signal(number)
    words = process.stderr.read()
    assert process.wait(PATIENT) == 128 + number
    assert words == b"interrupted by signal %d; no file was written\n" % number
    assert (os.listdir(tmp_path), (tmp_path / "old.csv").read_text()) == (["old.csv"], "the whole\n")
