"""Errors, warnings and notes are bold on a terminal, and plain everywhere else."""

import json
import os
import pty
import select
from contextlib import suppress

import pytest
from running import GD, PATIENT, start

RED, YELLOW, END, ERASE = "\x1b[1;31m", "\x1b[1;33m", "\x1b[0m", "\r\x1b[K"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, vwlite):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "d.vw").write_text("1 |a x\n-1 |a y\n")
    (tmp_path / "bad.vw").write_text("1 |a x\n1 |a x:abc\n")
    vwlite("train", *GD, "d.vw", "-m", "m", "--quiet")
    return tmp_path


def on_terminal(*arguments, **environment):
    """What a run writes to standard error, if that is a terminal."""
    master, slave = pty.openpty()
    process = start(*arguments, stderr=slave, env=os.environ | environment)
    process.communicate(timeout=PATIENT)
    os.close(slave)
    return drained(master).decode().replace("\r\n", "\n")


def drained(master):
    """What is left to be read, when the other end is closed."""
    found = b""
    with suppress(OSError):  # how Linux says that it is
        while more := os.read(master, 1 << 16):
            found += more
    os.close(master)
    return found


@pytest.mark.parametrize(
    ("typed", "color", "kind", "said"),
    [
        ("train bad.vw --algorithm gd --quiet", RED, "Error", "bad.vw:2:8: feature value 'abc' is not a number\n"),
        ("train --lr 1", RED, "Error", "No such option '--lr'"),
        ("train d.vw --algorithm gd", YELLOW, "note", "every label is -1 or 1"),
        ("train /dev/null --algorithm gd --quiet", YELLOW, "warning", "no example was learned"),
    ],
)
def test_what_is_highlighted(vwlite, typed, color, kind, said):
    words = typed.split()
    bold, plain = f"{color}{kind}:{END} {said}", f"{kind}: {said}"
    assert bold in on_terminal(*words) and bold in on_terminal(*words, NO_COLOR="")
    found = on_terminal(*words, NO_COLOR="1")
    assert plain in found and "\x1b[1" not in found
    found = on_terminal(*words, TERM="dumb")
    assert plain in found and "\x1b" not in found
    piped = vwlite(*words, code=None).err
    assert said in piped and "\x1b" not in piped
    assert typed != "train bad.vw --algorithm gd --quiet" or piped == said


def test_only_the_word_is_bold():
    found = on_terminal("train", *GD, "d.vw")
    assert found.count("\x1b[1") == found.count("note:") == 1


def test_results_and_reports_are_plain():
    on_terminal("predict", "d.vw", "-m", "m", "-p", "p", "--report", "r")
    on_terminal("train", *GD, "d.vw", "--report", "t")
    for name in "prt":
        assert "\x1b" not in open(name).read()
    assert json.loads(open("t").read())["notes"][0].startswith("every label is")


def test_the_words_of_vowpal_wabbit_stay_as_they_are():
    assert "\x1b" not in on_terminal("vw", "d.vw", "--loss_function", "squared") + on_terminal("vw", "--nosuch")


def test_an_error_erases_the_line_of_progress():
    """Learning diverges a while after the line of progress has come."""
    master, slave = pty.openpty()
    process = start("train", "--algorithm", "sgd", stderr=slave)
    assert process.stdin is not None
    found = b""
    while b"\x1b[2m" not in found:
        process.stdin.write(b"1 |a x\n")
        process.stdin.flush()
        if select.select([master], [], [], 0.05)[0]:
            found += os.read(master, 1 << 16)
    process.communicate(b"1 |a y:1e30\n-1 |a y:1e30\n" * 9, timeout=PATIENT)
    os.close(slave)
    assert process.returncode == 65
    assert f"{ERASE}{RED}Error:{END} <stdin>:" in (found + drained(master)).decode()
