"""The command line: exit codes and what is said, standard output and error, what is loaded when."""

import os
import subprocess
import sys

import pytest
from running import shell

from vwlite.cli import run

pytestmark = pytest.mark.usefixtures("sample")


# --- exit codes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (0, "train d.vw --algorithm gd --quiet", ""),
        (1, "check bad.vw", ""),
        (2, "train --l1 d.vw", "Usage: vwlite train"),
        (65, "train bad.vw --algorithm gd --quiet", "bad.vw:2:8: feature value 'abc' is not a number\n"),
        (65, "info d.vw", "d.vw: not a model of vwlite: it is text; `vwlite train -m FILE` writes one\n"),
        (65, "predict -m d.vw d.vw", "d.vw: not a model of vwlite: it is text; `vwlite train -m FILE` writes one\n"),
        (66, "train nosuch", "nosuch: No such file or directory\n"),
        (66, "train -c nosuch", "nosuch: No such file or directory\n"),
        (66, "train -i nosuch d.vw", "nosuch: No such file or directory\n"),
        (66, "weights .", ".: Is a directory\n"),
        (73, "train d.vw --algorithm gd --quiet -m nosuch/m", "nosuch/m: cannot be created: there is no folder "),
        (73, "train d.vw --algorithm gd --quiet -m .", ".: cannot be written: it is a folder\n"),
        (75, "train d.vw --algorithm gd --quiet -m held", "held: another job is writing it; "),
    ],
)
def test_exit_codes_and_what_is_said(vwlite, sample, code, arguments, message):
    from vwlite.output.atomic import AtomicFile

    (sample / "bad.vw").write_text("1 |a x\n1 |a x:abc\n")
    with AtomicFile("held"):
        done = vwlite(*arguments.split(), code=code)
    assert done.err.startswith(message) if message else done.err == ""


def test_errors_of_the_program_itself_say_how_to_see_more(vwlite, monkeypatch):
    def broken(path):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("vwlite.model.read_model", broken)
    done = vwlite("info", "d.vw", code=70)
    assert done.err == "internal error: ZeroDivisionError: oh (VWLITE_DEBUG=1 shows where; please report it)\n"
    monkeypatch.setenv("VWLITE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run(["info", "d.vw"])


def test_no_memory_is_a_sentence(vwlite, monkeypatch):
    def full(path):
        raise MemoryError

    monkeypatch.setattr("vwlite.model.read_model", full)
    said = "out of memory: the model does not fit; try fewer --bits\n"
    assert vwlite("info", "d.vw", code=70).err == said


# --- standard output and error --------------------------------------------------------------


@pytest.mark.parametrize("command", ["--help", "info m", "weights m", "check m", "predict -m m d.vw --quiet"])
def test_a_reader_that_went_away_ends_the_program_quietly(sample_model, command):
    done = shell(f"vwlite {command} | true")
    assert (done.code, done.err) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["--help", "info m", "weights m", "check m", "predict -m m d.vw --quiet"])
def test_results_that_cannot_be_written_are_an_error(sample_model, command):
    done = shell(f"vwlite {command} >/dev/full")
    assert (done.code, done.err) == (74, "standard output: cannot be written: No space left on device\n")


def test_a_closed_standard_output_is_an_error_if_there_is_something_to_say(sample_model):
    done = shell("vwlite weights m >&-")
    assert (done.code, done.err) == (74, "standard output: cannot be written: Bad file descriptor\n")
    assert shell("vwlite train d.vw --algorithm gd -m n --quiet >&- && vwlite check n").code == 0


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full", "2> >(true)"])
def test_words_without_a_reader_do_not_stop_the_work(where):
    if "full" in where and not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    done = shell(f"vwlite train d.vw --algorithm gd -m n -P 1 {where} && vwlite check n")
    assert (done.code, done.out) == (0, "n: a model, whole: gd, 6 nonzero weights\n")


# --- what is loaded when --------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", ["--version", "--help", "help cache", "train --help", "predict -h", "weights -h", "train --bits 0"]
)
def test_starting_loads_nothing_heavy(arguments):
    code = (
        "import sys; from vwlite.cli import run; run(sys.argv[1:]);"
        "small = {'vwlite.core', 'vwlite.core.library'};"
        "small |= {*('vwlite.core.base' + n for n in ('', '.targets', '.cython_shared'))};"
        "small = small if '--version' in sys.argv else set();"
        "sys.exit(','.join(m for m in {*sys.modules} - small if m == 'numpy' or m.startswith('vwlite.core')) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments.split()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", ["train d.vw --algorithm gd -m n --quiet", "predict d.vw -m m --quiet"])
def test_commands_on_text_load_what_they_use(arguments):
    shell("vwlite train d.vw --algorithm gd -m m --quiet")
    unused = "numpy locale difflib vwlite.derived vwlite.input.schema vwlite.tuning vwlite.training.auto"
    code = ("import sys; from vwlite.cli import run; run(sys.argv[1:]);"
            f"print(*({{*{unused.split()}}} & {{*sys.modules}}), file=sys.stderr)")
    done = subprocess.run([sys.executable, "-c", code, *arguments.split()], capture_output=True, text=True)
    assert done.stderr.strip() == ""
