"""Named pipes in the place of files: what would wait for ever is refused."""

import os
from pathlib import Path

import pytest
from running import finish, shell, start

BLOCKED = [
    ("train data -i pipe -m new", "pipe: a named pipe, not a file"),
    ("train --continue pipe data", "pipe: a named pipe, not a file"),
    ("predict -m pipe data", "pipe: a named pipe, not a file"),
    ("predict -m /dev/zero data", "/dev/zero: a device, not a file"),
    ("info pipe", "pipe: a named pipe, not a file"),
    ("weights pipe", "pipe: a named pipe, not a file"),
    ("export pipe --to tsv -o new", "pipe: a named pipe, not a file"),
    ("diff pipe model", "pipe: a named pipe, not a file"),
    ("evaluate -m pipe data", "pipe: a named pipe, not a file"),
    ("merge pipe model -o new", "pipe: a named pipe, not a file"),
    ("serve -m pipe --port 0", "pipe: a named pipe, not a file"),
    ("certify -m pipe data --l1 1", "pipe: a named pipe, not a file"),
    ("tune data -m tuned", "tuned.tune: a named pipe, not a file"),
    ("solve data --l1 1 --feature-weights pipe -m new", "pipe: a named pipe, not a file"),
    ("vw -i pipe -t data", "pipe: a named pipe, not a file"),
]


@pytest.mark.parametrize(("command", "words"), BLOCKED)
def test_what_would_wait_for_ever_is_no_model(at, vwlite, command, words):
    """A named pipe without a writer: no signal was obeyed."""
    Path("data").write_text("1 |a x\n-1 |a y\n" * 20)
    vwlite("train", "data", "--algorithm", "gd", "-m", "model", "--quiet")
    os.mkfifo("pipe")
    os.mkfifo("tuned.tune")
    done = finish(start(*command.split()))
    assert words in done.err + done.out and done.code in (66, 2, 1), done
    assert not Path("new").exists()


def test_a_model_may_come_from_a_pipe_that_is_open(at, vwlite):
    Path("data").write_text("1 |a x\n-1 |a y\n" * 20)
    vwlite("train", "data", "--algorithm", "gd", "-m", "model", "--quiet")
    done = shell("vwlite predict -m <(cat model) data | cmp - <(vwlite predict -m model data)")
    assert done.code == 0, done


def test_the_holdout_of_a_merge_may_come_from_a_named_pipe(at, vwlite):
    for name in "ab":
        Path(name).write_text(f"1 |a x {name}\n-1 |a y\n" * 20)
        vwlite("train", name, "--algorithm", "gd", "-m", f"{name}.m", "--quiet")
    os.mkfifo("pipe")
    done = shell("cat a b > pipe & vwlite merge a.m b.m -o piped --holdout pipe && wait")
    assert done.code == 0, done
    Path("both").write_text(Path("a").read_text() + Path("b").read_text())
    vwlite("merge", "a.m", "b.m", "-o", "read", "--holdout", "both")
    assert vwlite("weights", "piped").out == vwlite("weights", "read").out
