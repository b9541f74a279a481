"""No text takes more than time in proportion to its length, within a factor that noise cannot reach."""

import os
import resource
import signal
from random import Random

import pytest
from tiers import ALL

from fuzz import check_case, draws, patterns
from fuzz.__main__ import load_everything
from fuzz.case import Case
from fuzz.patterns import KINDS, bytes_of, models, take, text_of

SIZE = 128 << 10
MOST = 100  # times what an ordinary text of the same length takes; of what is quadratic, several hundred
ORDINARY = {
    "VW text": "1 |a b:2 c\n-1 |b d\n", "libsvm": "1 1:2 3:4\n-1 2:1\n", "CSV": "1,b\n0,c\n", "TSV": "1\tb\n0\tc\n",
    "JSON lines": '{"y":1,"a":"b"}\n{"y":0,"a":"c"}\n', "JSON body": '{"a":"b"}\n', "body": "1 |a b:2 c\n",
}
BEGIN = {"CSV": "y,a\n", "TSV": "y\ta\n"}
# What was quadratic once (unclosed strings of escapes, digits and a letter, blank lines before a header), and the
# like: beginning, what is repeated, end.
EVERYWHERE = [
    ("", "\n", "y,a\n1,2\n"), ("", "  \n", ""), ("", '"\n', ""), ("", "9", "x\n1,b\n"), ("", "9", ""),
    ("y,", "9", "x\n1,1\n"), ("", '"', ""), ("", '""', "x"), ("", "\\", ""), ("", ",", "\n"), ("", "a,", ""),
    ("", "|", ""), ("", "|a ", "\n"), ("", "a:", ""), ("", "{", ""), ("", "[", ""), ("", "\r", "\n"), ("", "\0", ""),
    ("", " ", "x"), ("", "\udcff", "\n"),
]
SPECIAL = {
    "VW text": [("1 |a b:", "9", "x\n"), ("", "1 ", "|\n"), ("1 |a ", "b:", "\n"), ("1 |a b", " ", ":1\n")],
    "libsvm": [("1 ", "1:1 ", "\n"), ("1 1:", "9", "x\n"), ("1 ", "9", ":1\n")],
    "CSV": [('y,a\n1,"', '""', "\n"), ("y,a\n", '1,"\n', ""), ("y,a\n1,", "9", "x\n"), ('y,a\n1,"', "b\n", ""),
            ("y,a\n", '"x""\n', ""), ("y,a\n", '1,  "', "")],
    "TSV": [('y\ta\n1\t"', '""', "\n"), ("y\ta\n", '1\t"\n', ""), ("y\ta\n1\t", "9", "x\n")],
    "JSON lines": [('{"y":1,"', '\\"', ""), ('{"y":1,"a":"', '\\"', '"}\n'), ('{"y":1,"a":', "[", "\n"),
                   ('{"y":1,"a":[', "1,", "2]}\n"), ("", '{"y":', "\n"), ('{"y":1,"a":', "9", "}\n")],
    "JSON body": [('{"', '\\"', ""), ('{"', "\\\\", ""), ('{"', '\\"', '":1}'), ('{"a":"', '\\"\n', ""),
                  ("[", '{"a":1},', ""), ('{"a":', "[", ""), ("[", '{"', ""), ('{"a":1}', ",", ""),
                  ('{"new":', "9", "}")],
    "body": [("y,a\n1,", "9", "x\n"), ("1 |a ", "b:", "\n")],
}


def seconds(kind, text, folder, most):
    """What reading a text takes a child of this process; more than `most` if that is over."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (int(most) + 2,) * 2)
        code = 1
        try:
            check_case._redirect(os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
            take(kind, text, folder, lambda command: check_case._run(command, folder))
            code = 0
        finally:
            os._exit(code)
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGXCPU, -signal.SIGKILL), (folder / "stderr").read_text(errors="replace")[-2000:]
    return used.ru_utime + used.ru_stime if code == 0 else max(used.ru_utime + used.ru_stime, most + 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    load_everything()
    at = tmp_path_factory.mktemp("models")
    child = os.fork()
    if child == 0:
        check_case._redirect(os.open(at / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        models(at, lambda command: check_case._run(command, at))
        os._exit(0)
    os.waitpid(child, 0)
    return at


@pytest.mark.drawn
@pytest.mark.parametrize("kind", KINDS)
def test_no_text_takes_more_than_its_length(kind, folder):
    ordinary = text_of((kind, *map(bytes_of, (BEGIN.get(kind, ""), ORDINARY[kind], ""))), SIZE)
    usual, slow = seconds(kind, ordinary, folder, 100), {}
    for head, unit, tail in (EVERYWHERE if ALL else EVERYWHERE[KINDS.index(kind) % 3 :: 3]) + SPECIAL[kind]:
        taken = seconds(kind, text_of((kind, *map(bytes_of, (head, unit, tail))), SIZE), folder, MOST * usual)
        if taken > MOST * usual:
            slow[head, unit, tail] = f"{taken:.1f} s"
    assert not slow, f"ordinary text takes {usual:.2f} s"


def test_the_fuzzer_sees_what_takes_too_long(tmp_path, monkeypatch):
    """By a clock of its own: on a busy machine the times of twice as much vary by as much."""
    case = Case("patterns", pattern=("CSV", b"y,a\n", b"1,b\n", b""))
    assert check_case.check_case(case, tmp_path / "work") == ""
    for power, found in ((2, False), (3, True)):
        clock = [0.0]

        def take(kind, text, folder, run, clock=clock, power=power):
            clock[0] += len(text) ** power / patterns.SIZE**power

        monkeypatch.setattr(patterns, "take", take)
        monkeypatch.setattr(patterns.time, "process_time", lambda clock=clock: clock[0])
        assert check_case.check_case(case, tmp_path / "work").startswith("time: ") == found


def test_drawn_patterns_are_linear(tmp_path):
    for seed in range(3):
        assert check_case.check_case(draws.patterns(Random(seed)), tmp_path / "work") == ""
