"""`vwlite train --continue`, the checks before a model is written, its log formats and reports; `vwlite help cron`."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from vwlite.model import read_model

CRON = (resources.files("vwlite") / "help" / "cron.txt").read_text()


def day(name, seed, n=600, rate=0.3, devices=("ios", "android"), age=35.0):
    """A file of clicks."""
    draw = np.random.default_rng(seed)
    rows = ["clicked,device,age"]
    for _ in range(n):
        device, years = draw.choice(devices), draw.normal(age, 8)
        rows.append(f"{int(draw.random() < rate * (1.5 if device == 'ios' else 0.5))},{device},{years:.1f}")
    Path(name).write_text("\n".join(rows) + "\n")


@pytest.fixture
def days(folder):
    for k in (1, 2, 3):
        day(f"day{k}.csv", k)
    return ("--label", "clicked", "--quiet")


def test_days_are_learned_one_after_the_other(vwlite, days):
    """Without kept rows: the first by the default, later ones as with -i: but for what is kept of the last run, in the
    same bytes."""
    for k in (1, 2, 3):
        vwlite("train", "--continue", "M", f"day{k}.csv", *days, "--keep-rows", "0")
    vwlite("train", "day1.csv", "-m", "A", *days)
    for k in (2, 3):
        vwlite("train", "-i", "A", "-m", "A", f"day{k}.csv", *days)
    found, expected = read_model("M"), read_model("A")
    assert expected.continued == {name: found.continued[name] for name in ("nights", "fit_minus_steps")}
    assert [night["rows"] for night in found.continued["nights"]] == [600, 600]
    assert len(found.continued["inputs"]) == 1
    found.continued, found.digest = expected.continued, expected.digest
    assert found.header() == expected.header()
    assert all(np.array_equal(a, b) for a, b in zip(found.arrays().values(), expected.arrays().values(), strict=True))


@pytest.mark.parametrize("again", [("day1.csv",), ("day2.csv", "day1.csv"), ()], ids=["file", "one of two", "pipe"])
def test_an_input_is_not_learned_twice(vwlite, days, again):
    def run(*words, code=0):
        read, write = os.pipe()
        os.write(write, Path("day1.csv").read_bytes())
        os.close(write)
        found = vwlite("train", "--continue", "M", *(again or [f"/dev/fd/{read}"]), *days, *words, code=code)
        os.close(read)
        return found

    vwlite("train", "--continue", "M", "day1.csv", *days)
    before = Path("M").read_bytes()
    said = run("--report", "r.json", code=65).err
    assert "has learned this input" in said and "--again" in said
    assert json.loads(Path("r.json").read_text())["exit_code"] == 65
    assert Path("M").read_bytes() == before
    run("--again")
    assert Path("M").read_bytes() != before
    vwlite("train", "--continue", "M", "day3.csv", *days)
    vwlite("train", "--continue", "M", "day1.csv", *days)  # twice, but not in a row


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (("--fail-if", "auc<0.99"), "--fail-if auc<0.99: it is 0."),
        (("--fail-if", "log_loss>=0", "--fail-if", "accuracy<0"), "--fail-if log_loss>=0: it is 0."),
        (("--min-examples", "601"), "--min-examples 601: it is 600"),
    ],
)
def test_a_model_that_is_not_good_enough_is_not_written(vwlite, days, check, said):
    vwlite("train", "--continue", "M", "day1.csv", *days)
    before = Path("M").read_bytes()
    found = vwlite("train", "--continue", "M", "day2.csv", *days, *check, "--report", "r.json", "-p", "p", code=1).err
    report = json.loads(Path("r.json").read_text())
    assert found.startswith(said) and found == report["error"] + "\n" and report["exit_code"] == 1
    assert report["results"]["number_of_examples"] == 600
    assert Path("M").read_bytes() == before and not Path("p").exists()
    vwlite("train", "-m", "new", "day2.csv", *days, *check, code=1)
    assert not Path("new").exists()
    vwlite("train", "--continue", "M", "day2.csv", *days, "--fail-if", "auc>=1", "--min-examples", "600")
    assert Path("M").read_bytes() != before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fail-if", "brier<1"), "there is no measure brier; there are average_loss, loss, accuracy, log_loss"),
        (("--model", "M"), "--continue and --model cannot be used together"),
        (("--checkpoint-every", "10"), "--continue and --checkpoint-every cannot be used together"),
    ],
)
def test_what_makes_no_sense_is_refused(vwlite, days, words, said):
    assert said in vwlite("train", "--continue", "M", "day1.csv", *days, *words, code=2).err
    assert "--again needs --continue" in vwlite("train", "day1.csv", "--again", *days, code=2).err
    assert not Path("M").exists()


def test_an_empty_day_is_too_few_examples(vwlite, days):
    vwlite("train", "--continue", "M", "day1.csv", *days)
    before = Path("M").read_bytes()
    Path("none.csv").write_text("clicked,device,age\n")
    vwlite("train", "--continue", "M", "none.csv", *days, code=65)
    vwlite("train", "--continue", "M", "none.csv", *days, "--min-examples", "1", code=1)
    assert Path("M").read_bytes() == before


def test_lines_for_logs(vwlite, days):
    words = ("train", "--continue", "M", "--label", "clicked", "--on-error", "skip")
    found = vwlite(*words, "day1.csv", "--log-format", "line").err.splitlines()
    assert [line.partition(":")[0] for line in found] == ["note", "finished run", "note"]
    assert " auc = 0." in found[1] and "M.rows keeps 600 rows" in found[2]
    Path("bad.csv").write_text(Path("day2.csv").read_text() + "x,ios,1\n")
    rows = [json.loads(line) for line in vwlite(*words, "bad.csv", "--log-format", "json").err.splitlines()]
    assert all({"time", "level", "message"} <= row.keys() for row in rows)
    warning = next(row for row in rows if row["level"] == "warning")
    assert (warning["file"], warning["line"]) == ("bad.csv", 602)
    assert next(row["summary"] for row in rows if "summary" in row)["number_of_examples"] == 600
    for words, code in ((("nope.csv",), 66), (("day3.csv", "--oops"), 2)):
        rows = [json.loads(row) for row in vwlite("train", *words, "--log-format=json", code=code).err.splitlines()]
        assert rows[-1]["level"] == "error"


def pairs(x):
    """The keys and values of an object, and of objects in it."""
    for key, value in x.items():
        yield key, value
        yield from pairs(value) if isinstance(value, dict) else ()


@pytest.mark.parametrize("options", ["--algorithm auto", "--algorithm gd --passes 2 --holdout-period 4", "--sparse",
                                     "--algorithm adagrad-rda --nonzeros 5"])
def test_lines_for_programs_have_plain_keys_and_numbers(vwlite, days, options):
    words = ("day1.csv", *days[:-1], *options.split(), "--log-format", "json")
    rows = [json.loads(line) for line in vwlite("train", *words).err.splitlines()]
    found = [pair for row in rows for pair in pairs(row)]
    assert {"summary", "number_of_examples", "nonzero_weights"} <= {key for key, _ in found}
    for key, value in found:
        assert re.fullmatch(r"[a-z]\w*", key), key
        assert not isinstance(value, str) or not re.fullmatch(r"~?[\d.]+", value), (key, value)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_the_model(vwlite, days, number):
    vwlite("train", "--continue", "M", "day1.csv", *days)
    before = Path("M").read_bytes()
    words = [sys.executable, "-m", "vwlite", "train", "--continue", "M", "--report", "r.json", "-P", "100"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdin is not None and run.stderr is not None
        run.stdin.write(Path("day2.csv").read_bytes())
        run.stdin.flush()
        while not Path(".M.lock").exists():
            time.sleep(0.01)
        vwlite("train", "--continue", "M", "day3.csv", *days, code=75)  # it is locked
        run.send_signal(number)
        time.sleep(0.1)
        run.stdin.close()
        code = run.wait()
    assert Path("M").read_bytes() == before
    if number != signal.SIGKILL:
        report = json.loads(Path("r.json").read_text())
        assert code == report["exit_code"] == 128 + number and report["error"] == f"interrupted by signal {number}"
    vwlite("train", "--continue", "M", "day2.csv", *days)


def test_a_full_disk_leaves_the_model(vwlite, days, monkeypatch):
    vwlite("train", "--continue", "M", "day1.csv", *days)
    before, write = Path("M").read_bytes(), os.write

    def full(fd, data):
        if fd > 2 and os.readlink(f"/proc/self/fd/{fd}").endswith(".tmp") and bytes(data[:2]) == b"PK":
            raise OSError(28, "No space left on device")
        return write(fd, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        vwlite("train", "--continue", "M", "day2.csv", *days, "--report", "r.json", code=74)
    assert Path("M").read_bytes() == before and json.loads(Path("r.json").read_text())["exit_code"] == 74


def test_the_script_the_crontab_and_the_units_of_the_topic_run(folder):
    """Day after day, as cron and systemd call them; the second time there is nothing new."""
    blocks = [re.sub("^ {4}", "", block, flags=re.M) for block in re.findall(r"(?:^ {4}.+\n)+", CRON, re.M)]
    script, crontab, service, timer = blocks
    place = folder / "clicks"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "vwlite").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vwlite "$@"\n')
    (place / "day.sh").write_text(script)
    for file in (place / "bin" / "vwlite", place / "day.sh"):
        file.chmod(0o755)
    dates = [subprocess.run(["date", "-d", when, "+%F"], capture_output=True, text=True, check=True).stdout.strip()
             for when in ("yesterday", "today")]  # both, for midnight
    minute, hour, *others, command = crontab.split(None, 5)
    assert (minute, hour, others) == ("15", "3", ["*"] * 3)
    commands = [command.strip(), dict(re.findall(r"^(\w+)=(.*)$", service, re.M))["ExecStart"]]
    environment = os.environ | {"PATH": f"{place / 'bin'}:{os.environ['PATH']}"}
    for seed, command in enumerate(commands):
        for date in dates:
            day(place / f"{date}.csv", seed)
        codes = []
        for _ in range(2):
            run = subprocess.run(command.replace("/srv/clicks", str(place)), shell=True, env=environment, check=False)
            codes.append(run.returncode)
        assert codes == [0, 65] and json.loads((place / "train.json").read_text())["exit_code"] == 65
    if shutil.which("systemd-analyze"):
        (folder / "clicks.service").write_text(service.replace("/srv/clicks", str(place)))
        (folder / "clicks.timer").write_text(timer)
        units = ["systemd-analyze", "verify", folder / "clicks.service", folder / "clicks.timer"]
        assert "clicks" not in subprocess.run(units, capture_output=True, text=True, check=False).stderr
