"""Whole runs: the same bytes however the data arrives, and nothing lost or half done whatever goes wrong."""

import bz2
import gzip
import json
import lzma
import os
import random
import re
import resource
import select
import shutil
import signal
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from algorithm_options import MANY, OPTIONS, taken
from algorithm_options import words as typed
from crafted_models import put_together, split_into_parts
from models import content
from running import GD, PATIENT, finish, in_child, leftovers, shell, standard_input, start, start_child, wait_child
from streams import CONSTANT

from vwlite.algorithms.table import ALGORITHMS
from vwlite.cli import run
from vwlite.input import pipeline
from vwlite.input.reader import read_blocks
from vwlite.model import read_model
from vwlite.output.atomic import AtomicFile
from vwlite.runs import source
from vwlite.training import passes as training

NEEDED = {
    name: typed(OPTIONS[name] | taken(row, {"learning_rate": 0.05}))
    + ([] if "squared" in row.losses else ["--loss", row.losses[0]])
    for name, row in ALGORITHMS.items()
}
OLD = b"the model of yesterday"


def text(seed, count):
    """Lines with tags, importance, unlabelled and blank ones; two labels."""
    chance = random.Random(seed)
    lines = []
    for i in range(count):
        features = " ".join(f"w{int(chance.paretovariate(0.6)) % 200}:{chance.gauss(0, 1):.3f}" for _ in range(5))
        label = "" if i % 31 == 7 else f"{chance.choice([-1, 1])} {chance.choice([1, 0.5, 2])}"
        lines.append(f"{label} 'tag{i}|a {features} |b {chance.randrange(30)}\n" if i % 23 else "\n")
    return "".join(lines).encode()


pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def blocks_of(monkeypatch):
    """Set the size of a block."""
    return lambda size: monkeypatch.setattr(pipeline, "read_blocks", partial(read_blocks, block_size=size))


def write(name, data):
    Path(name).write_bytes(data)
    return name


# --- the same bytes --------------------------------------------------------------------------


def zstd(data):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


COMPRESS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd}


USUAL = [(name, dict.fromkeys((a.losses[0], *{"logistic"}.intersection(a.losses)))) for name, a in ALGORITHMS.items()]


# Of two losses of an algorithm one is `long`, in turn.
@pytest.mark.parametrize(
    ("algorithm", "loss"),
    [
        pytest.param(name, loss, marks=pytest.mark.long if len(losses) > 1 and i % 2 == j else ())
        for i, (name, losses) in enumerate(USUAL)
        for j, loss in enumerate(losses)
        if name in MANY
    ],
)
def test_model_and_predictions_are_the_same_however_the_data_arrives(vwlite, blocks_of, algorithm, loss):
    data = text(1, 299)
    write("data", data)
    whole = ("train", "--algorithm", algorithm, "--loss", loss, *NEEDED[algorithm], "-q", "ab", "--quiet")
    command = (*whole, "--passes", "3", "-m", "model", "-p", "predictions", "--report", "report")

    def outcome(*arguments):
        vwlite(*command, *arguments)
        results = json.loads(Path("report").read_bytes())["results"]
        del results["seconds"]
        return Path("model").read_bytes(), Path("predictions").read_bytes(), results

    expected = outcome("data", "--threads", 1)
    assert read_model("model").counters["examples"] > 300
    for size in (1, 700, 4000, 1 << 20):
        blocks_of(size)
        for threads in (1, 2, 3, 5) if size == 700 else (2,):
            assert outcome("data", "--threads", threads) == expected, (size, threads)
    blocks_of(1500)
    for kind, compress in COMPRESS.items():
        write("packed", compress(data))
        assert outcome("packed") == expected, kind
    lines = data.splitlines(keepends=True)
    files = [write(f"part{i}", b"".join(lines[100 * i : 100 * i + 100])) for i in range(3)]
    files[1] = write("part.gz", gzip.compress(Path(files[1]).read_bytes()))
    files[2] = write("part", Path(files[2]).read_bytes().rstrip(b"\n"))
    assert outcome(*files) == expected
    with standard_input(Path("data")):
        assert outcome() == expected
    with standard_input(Path(files[1])):
        assert outcome(files[0], "-", files[2]) == expected
    assert outcome("data", "-c") == expected
    assert Path("data.vwlite-cache").exists()
    assert outcome("data", "-c") == expected


@pytest.mark.parametrize("algorithm", MANY)
def test_predictions_are_the_same_however_the_data_arrives(vwlite, blocks_of, algorithm):
    write("data", text(1, 300))
    vwlite("train", "data", "--algorithm", algorithm, *NEEDED[algorithm], "-m", "model", "--quiet")
    write("more", text(2, 300))
    expected = vwlite("predict", "-m", "model", "more", "--threads", 1, "--quiet").out
    assert len(expected.splitlines()) == 300
    assert expected.splitlines().count("") == 300 // 23 + 1  # the blank ones
    for size, threads in ((1, 2), (700, 1), (700, 2), (700, 3), (700, 5)):
        blocks_of(size)
        assert vwlite("predict", "-m", "model", "more", "--threads", threads, "--quiet").out == expected
    for kind, compress in COMPRESS.items():
        write("packed", compress(Path("more").read_bytes()))
        assert vwlite("predict", "-m", "model", "packed", "--quiet").out == expected, kind
    with standard_input(Path("more")):
        assert vwlite("predict", "-m", "model", "-p", "file", "--quiet").out == ""
    assert Path("file").read_text() == expected


@pytest.mark.parametrize(
    "data", [b"\n \r\n1 2:1\n-1 3:1\n", b"# of today\n\n# more | here\n1 2:1\n", b"\n\n1 |a x\n", b"\n"], ids=str
)
def test_the_format_is_found_out_however_the_data_arrives(vwlite, blocks_of, data):
    write("first", b"1 |a x\n")
    write("data", data)
    for files in (["data"], ["first", "data"], ["data", "first"]):
        vwlite("train", *GD, *files, "-m", "expected", "--quiet", "--allow-empty")
        blocks_of(1)
        vwlite("train", *GD, *files, "-m", "model", "--quiet", "--allow-empty")
        assert Path("model").read_bytes() == Path("expected").read_bytes()
        blocks_of(1 << 20)


# --- bad lines -------------------------------------------------------------------------------

GOOD = b"1 |a x y\n-1 |a y z:0.5\n"
BAD = b"1 |a x:abc\n"
SAID = "feature value 'abc' is not a number"


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("size", [64, 1 << 20])
@pytest.mark.parametrize(
    ("sources", "place"),
    [
        ([GOOD * 20 + BAD + GOOD * 20 + b"also bad\n"], "0:41"),
        ([GOOD * 3, GOOD * 30 + BAD], "1:61"),
        ([GOOD * 3, gzip.compress(GOOD * 30 + BAD + GOOD), b"also bad"], "1:61"),
        ([lzma.compress(GOOD) + lzma.compress(BAD + GOOD)], "0:3"),
        ([GOOD, "-", b"also bad"], "<stdin>:9"),
    ],
)
def test_the_first_bad_line_ends_the_run_and_nothing_has_changed(
    vwlite, folder, blocks_of, sources, place, size, threads
):
    blocks_of(size)
    files = [s if s == "-" else write(str(i), s) for i, s in enumerate(sources)]
    write("input", GOOD * 4 + BAD + GOOD)
    write("model", OLD)
    write("report", b"old report")
    before = sorted(os.listdir())
    outputs = ("-m", "model", "--report", "report", "-p", "predictions", "-r", "raw")
    command = ("train", *GD, *outputs, "--passes", 2, "--quiet", "--threads", threads)
    with standard_input(Path("input")):
        done = vwlite(*command, *files, code=65)
    assert (done.out, done.err) == ("", f"{place}:8: {SAID}\n")
    assert Path("model").read_bytes() == OLD
    report = json.loads(Path("report").read_text())
    assert (report["exit_code"], report["error"] + "\n") == (65, done.err)
    assert leftovers(folder, before) == []


def test_a_model_that_is_continued_is_untouched_by_a_bad_line(vwlite, folder):
    write("good", GOOD * 5)
    write("bad", GOOD * 5 + BAD)
    vwlite("train", *GD, "good", "-m", "model", "--quiet")
    before = Path("model").read_bytes()
    assert vwlite("train", "bad", "-i", "model", "-m", "model", "--quiet", code=65).err == f"bad:11:8: {SAID}\n"
    assert Path("model").read_bytes() == before
    assert leftovers(folder, ["good", "bad", "model"]) == []


@pytest.mark.parametrize("cache", [(), ("-c",)])
def test_later_passes_are_about_the_data_of_the_first_one(vwlite, folder, monkeypatch, cache):
    """Though the file has become another one meanwhile; the next run sees that."""
    write("data", text(1, 100))
    vwlite("train", *GD, "data", "--passes", 3, "-m", "expected", "--quiet")
    one_pass = training.Training._one_pass

    def changing(self, *arguments):
        found = one_pass(self, *arguments)
        write("data", b"not a line of anything\n")
        return found

    monkeypatch.setattr(training.Training, "_one_pass", changing)
    vwlite("train", *GD, "data", "--passes", 3, "-m", "model", "--quiet", *cache)
    assert Path("model").read_bytes() == Path("expected").read_bytes()
    done = vwlite("train", *GD, "data", "--passes", 3, "-m", "model", "--quiet", *cache, code=65)
    assert done.err.splitlines()[-1].startswith("data:1:1: ")
    assert Path("model").read_bytes() == Path("expected").read_bytes()


def test_a_cache_of_data_that_changes_while_it_is_read_is_not_used_again(vwlite, monkeypatch):
    write("data", text(1, 100))

    def changing(*arguments, **options):
        found = pipeline.parsed_batches(*arguments, **options)
        with open("data", "ab") as f:
            f.write(GOOD)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(source, "parsed_batches", changing)
        vwlite("train", *GD, "data", "-c", "-m", "model", "--quiet")
    assert "data has changed since it was made; it is rebuilt" in vwlite("train", *GD, "data", "-c", "--quiet").err


REFUSED = [  # with the column where it is
    (b"nonsense", 1),
    (b"1 |a x:abc", 8),
    (b"1 |a x:abc\r", 8),
    (b"x |a b", 1),
    (b"1 |a \xff\xfe:nan", 9),
    (b"1 |a \x1b[2J:1e99", 11),
    (b"1 |a x:\0", 8),
    (b"1 |a x: ", 8),
    (b"1 |a b\rc", 7),
    (b"1 -2 |a b", 3),
    (b"1 2 3 4 |a b", 7),
    (b"1 |a x:0x10", 8),
]


def spoiled(lines, chance):
    """Good lines with the bad ones among them, and the places of those, from 1."""
    bad = [line for line, _ in REFUSED]
    at = sorted(chance.sample(range(len(lines) + len(bad)), len(bad)))
    good = iter(lines)
    fill = iter(bad)
    return [next(fill) if i in at else next(good) for i in range(len(lines) + len(bad))], [i + 1 for i in at]


@pytest.mark.parametrize(("size", "threads"), [(1 << 20, 2), (50, 1), (50, 3)])
def test_bad_lines_are_skipped_counted_shown_and_kept(vwlite, blocks_of, size, threads):
    lines = [line for line in text(3, 100).splitlines() if line]
    mixed, at = spoiled(lines, random.Random(5))
    write("good", b"\n".join(lines))
    write("mixed", b"\n".join(mixed))
    vwlite("train", *GD, "good", "--loss", "logistic", "-m", "expected", "--quiet")
    blocks_of(size)
    command = ("--on-error", "skip", "--quiet", "--threads", threads, "--rejects", "rejects")
    done = vwlite("train", *GD, "mixed", *command, "--loss", "logistic", "-m", "model")
    assert Path("model").read_bytes() == Path("expected").read_bytes()
    assert Path("rejects").read_bytes() == b"".join(line + b"\n" for line, _ in REFUSED)
    said = done.err.splitlines()
    places = [f"mixed:{line}:{column}:" for line, (_, column) in zip(at, REFUSED, strict=True)]
    assert [row.split()[0] for row in said[:5]] == places[:5]
    assert all(row.endswith(" (skipped)") for row in said[:5])
    assert said[5:] == ["... and 7 more bad lines", "12 bad lines skipped"]
    assert [row.split()[0] for row in vwlite("check", "mixed", code=1).out.splitlines()[:12]] == places
    predicted = vwlite("predict", "-m", "model", "good", "--quiet").out.splitlines()
    rest = iter(predicted)
    done = vwlite("predict", "-m", "model", "mixed", *command)
    assert done.out.splitlines() == ["" if i + 1 in at else next(rest) for i in range(len(mixed))]
    assert [row.split()[0] for row in done.err.splitlines()[:5]] == places[:5]
    assert Path("rejects").read_bytes() == b"".join(line + b"\n" for line, _ in REFUSED)


def test_bad_lines_of_several_files_are_kept_in_order(vwlite, blocks_of):
    blocks_of(40)
    with standard_input(Path(write("input", b"in 1\n" + GOOD))):
        sources = [write("one", GOOD + b"one 3\n"), "-", write("two", gzip.compress(b"two 1\n" + GOOD + b"two 4"))]
        done = vwlite("train", *GD, *sources, "--format", "vw", "--on-error", "skip", "--rejects", "r", "--quiet")
    assert [row.split()[0] for row in done.err.splitlines()[:4]] == ["one:3:1:", "<stdin>:1:1:", "two:1:1:", "two:4:1:"]
    assert Path("r").read_bytes() == b"one 3\nin 1\ntwo 1\ntwo 4\n"


@pytest.mark.parametrize("command", ["train --algorithm gd -m model", "predict -i trained"])
def test_more_bad_lines_than_allowed_end_the_run(vwlite, folder, command):
    vwlite("train", *GD, write("good", GOOD), "-m", "trained", "--quiet")
    write("data", GOOD + BAD + GOOD + BAD + GOOD + BAD + GOOD)
    write("model", OLD)
    before = sorted(os.listdir())
    command = (*command.split(), "data", "--quiet", "--on-error", "skip", "--max-errors")
    for most in (0, 1, 2):
        line = 3 * most + 3
        done = vwlite(*command, most, code=65)
        assert done.err.splitlines()[-1] == (
            f"data:{line}:8: {SAID}; that is bad line {most + 1}, --max-errors allows {most}"
        )
        assert Path("model").read_bytes() == OLD
        assert leftovers(folder, before) == []
    assert vwlite(*command, 3).err.endswith("3 bad lines skipped\n")


@pytest.mark.parametrize(("size", "threads"), [(1 << 20, 2), (16, 1), (16, 3)])
def test_predictions_before_a_bad_line_are_given(vwlite, folder, blocks_of, size, threads):
    vwlite("train", *GD, write("good", GOOD), "-m", "model", "--quiet")
    expected = vwlite("predict", "-m", "model", "good", "--quiet").out
    write("data", GOOD * 7 + BAD + GOOD)
    blocks_of(size)
    done = vwlite("predict", "-m", "model", "data", "--quiet", "--threads", threads, code=65)
    assert (done.out, done.err) == (expected * 7, f"data:15:8: {SAID}\n")
    vwlite("predict", "-m", "model", "data", "--quiet", "-p", "predictions", "-r", "raw", code=65)
    assert leftovers(folder, ["good", "model", "data"]) == []


def test_text_of_a_bad_line_cannot_command_the_terminal(vwlite):
    write("data", b"1 |a x:\x1b]0;title\x07\n1 |a \x1b[2J\x9b:z\n\x1b[31m\n")
    done = vwlite("train", *GD, "data", "--format", "vw", "--on-error", "skip", "--quiet")
    assert done.err.isascii() and done.err.replace("\n", "").isprintable()
    assert done.err.count("(skipped)") == 3


# --- exit codes of processes -----------------------------------------------------------------

FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@pytest.fixture
def model(vwlite):
    """A model; beside it data, and more of it."""
    write("data", text(1, 100))
    write("much", text(2, 1000))
    vwlite("train", *GD, "data", "-m", "model", "--quiet")
    return "model"


@pytest.mark.parametrize(
    ("code", "script", "said"),
    [
        (0, "vwlite train data --algorithm gd -m m --quiet && vwlite check m >/dev/null", ""),
        (1, "vwlite check data model broken >/dev/null", ""),
        (
            2,
            "vwlite train data --algorithm gd --radius 3",
            "--radius has no effect with --algorithm gd: it is an option of l1-ball",
        ),
        (2, "vwlite train data --passes", "Error: Option '--passes' needs a value: number of passes over the data\n"),
        (65, "vwlite train data broken --algorithm gd --quiet", f"broken:11:8: {SAID}\n"),
        (65, "cat data broken | vwlite train - --algorithm gd --quiet", f"<stdin>:111:8: {SAID}\n"),
        (65, "head -c 1000 model >cut; vwlite weights cut", "cut: not a complete model: "),
        (65, "gzip -c data | head -c 500 >cut; vwlite train cut --algorithm gd --quiet", "cut:"),
        (66, "vwlite train data nosuch --algorithm gd --quiet", "nosuch: No such file or directory\n"),
        (66, "vwlite predict -m nosuch data --quiet", "nosuch: No such file or directory\n"),
        (66, "vwlite predict -m model --quiet <&-", "<stdin>: Bad file descriptor\n"),
        (66, "vwlite info .", ".: Is a directory\n"),
    ],
)
def test_exit_codes(model, code, script, said):
    write("broken", GOOD * 5 + BAD)
    done = shell(script)
    assert done.code == code
    assert done.err.startswith(said) if said else done.err == ""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="cannot tell here how much memory is in use")
def test_too_little_memory_is_said_and_leaves_no_model(folder, capfd):
    write("data", b"1 |a " + b" ".join(b"%d" % i for i in range(3000)) + b"\n")  # 4.5 million pairs
    write("model", OLD)

    def attempt():
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + (48 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        return run(["train", *GD, "data", "-m", "model", "-q", "aa", "--quiet"])

    assert in_child(attempt) == 70
    said = "out of memory: data:1 makes 4,504,501 features .* do not fit; .*\n"
    assert re.fullmatch(said, capfd.readouterr().err)
    assert Path("model").read_bytes() == OLD
    assert leftovers(folder, ["data", "model"]) == []


OUTPUTS = ["-m", "-p", "-r", "--report", "--rejects", "--cache-file"]


@pytest.mark.third
@pytest.mark.parametrize("option", OUTPUTS)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nosuch/x", "cannot be created: there is no folder "),
        ("data/x", "cannot be created: Not a directory"),
        ("folder", "cannot be written: it is a folder"),
    ],
)
def test_outputs_that_cannot_be_created_are_found_before_anything_is_learned(model, folder, option, name, reason):
    os.mkdir("folder")
    seen = sorted(os.listdir())
    command = f"--quiet --on-error skip {option} {name} " + ("-r -" if option == "-p" else "-p -")
    commands = [f"train --algorithm gd {command}"]
    if option in ("-p", "-r", "--report", "--rejects"):
        commands.append(f"predict -i model {command}")
    for words in commands:
        done = finish(start(*words.split(), "data"))
        assert (done.code, done.out) == (73, "")
        assert done.err.splitlines()[-1].startswith(f"{name}: {reason}")
        assert leftovers(folder, seen) == []
        if option != "--cache-file" and name == "folder":  # nothing is read: the pipe is silent, and stays open
            process = start(*words.split())
            assert process.wait(PATIENT) == 73
            process.communicate()


@pytest.mark.parametrize("option", OUTPUTS)
def test_a_folder_without_permission(option, monkeypatch):
    place = Path(tempfile.mkdtemp())  # not tmp_path, which only its owner may enter
    try:
        place.chmod(0o755)
        (place / "closed").mkdir(mode=0o555)
        (place / "data").write_bytes(GOOD)
        monkeypatch.chdir(place)

        def attempt():
            if os.geteuid() == 0:  # who may do everything
                os.setuid(65534)
            return run(["train", *GD, "data", "--quiet", "--on-error", "skip", option, "closed/x"])

        assert in_child(attempt) == 73
        assert os.listdir("closed") == []
    finally:
        (place / "closed").chmod(0o755)
        shutil.rmtree(place)


@pytest.mark.third
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("train much --algorithm gd -m old", "old"),
        ("train much --algorithm gd -p old", "old"),
        ("train much --algorithm gd -r old", "old"),
        ("train much --algorithm gd --cache-file old", "old"),
        ("train much --algorithm gd --passes 2 --cache-file old -m new", "old"),
        ("train broken --algorithm gd --on-error skip --rejects old", "old"),
        ("train much --algorithm gd -m old --checkpoint-every 500", "old"),
        ("train data --report old --quantile-tau 0.5 --loss quantile", "old"),
        ("predict -i model much -p old", "old"),
        ("predict -i model much -r old", "old"),
        pytest.param("train much --algorithm gd -m /dev/full", "/dev/full", marks=FULL),
        pytest.param("train much --algorithm gd -p /dev/full", "/dev/full", marks=FULL),
        pytest.param("train much --algorithm gd -r /dev/full", "/dev/full", marks=FULL),
        pytest.param("train much --algorithm gd --report /dev/full", "/dev/full", marks=FULL),
        pytest.param("train broken --algorithm gd --on-error skip --rejects /dev/full", "/dev/full", marks=FULL),
        pytest.param("predict -i model much -p /dev/full", "/dev/full", marks=FULL),
        pytest.param("predict -i model much --report /dev/full", "/dev/full", marks=FULL),
    ],
)
def test_a_full_disk_is_an_error_and_the_old_file_stays(model, folder, command, name):
    old = b"vwlite cache" if "--cache-file" in command else OLD  # another file is not replaced by a cache
    write("old", old)
    write("broken", b"nonsense |a b\n" * 200)
    seen = [*os.listdir(), "new"] if "new" not in command else os.listdir()
    done = shell(f"ulimit -f 1; vwlite {command} --quiet 2>&1 | grep -v '(skipped)'")
    reason = "No space left on device" if name == "/dev/full" else "File too large"
    assert done.out.splitlines()[-1] == f"{name}: cannot be written: {reason}"
    assert done.code == 74
    assert Path("old").read_bytes() == old
    assert leftovers(folder, seen) == []


@FULL
def test_a_report_that_cannot_be_written_does_not_cost_the_model(vwlite, model):
    assert shell("vwlite train data --algorithm gd -m new --report /dev/full --quiet").code == 74
    assert Path("new").read_bytes() == Path(model).read_bytes()


@pytest.mark.parametrize("option", [option for option in OUTPUTS if option != "--cache-file"])
def test_a_second_job_with_the_same_output_is_turned_away(vwlite, model, option):
    """The first one is in the middle of its work; the second changes nothing about it."""
    command = ["train", *GD, "--quiet", "--on-error", "skip", option]
    first = start(*command, "output")
    end = time.monotonic() + PATIENT
    while not os.path.exists(".output.lock"):
        assert time.monotonic() < end and first.poll() is None
        time.sleep(0.01)
    second = finish(start(*command, "output", "much"))
    assert (second.code, second.out) == (75, "")
    assert second.err == (
        "output: another job is writing it; wait for it, or write to another file "
        f"(its lock is {os.path.realpath('.output.lock')})\n"
    )
    assert finish(first, Path("data").read_bytes()).code == 0
    assert leftovers(Path(), ["data", "much", "model", "output"]) == []
    vwlite(*command, "expected", "data")
    if option != "--report":  # which tells the time
        assert Path("output").read_bytes() == Path("expected").read_bytes()


def test_a_second_job_with_the_same_cache_is_turned_away(model):
    with AtomicFile("cache"):
        done = finish(start("train", *GD, "data", "--cache-file", "cache", "--quiet"))
    assert done.code == 75
    assert done.err.startswith("cache: another job is writing it; ")


@pytest.mark.parametrize(
    "script",
    [
        "vwlite predict -m model huge | head -1 >/dev/null",
        "vwlite predict -m model huge -p /dev/stdout | head -1 >/dev/null",
        "{ yes '1 |a x' || true; } | vwlite predict -m model | head -1 >/dev/null",
        "vwlite train huge --algorithm gd --quiet -p - | head -1 >/dev/null",
        "vwlite weights big --all | head -1 >/dev/null",
        "mkfifo pipe; head -1 pipe >/dev/null & vwlite predict -m model huge -p pipe && wait",
    ],
)
def test_a_reader_that_has_had_enough_ends_the_run_quietly(vwlite, model, script):
    write("huge", text(1, 2000) * 5)
    write("numbers", b"".join(b"1 %d:1\n" % i for i in range(1, 9999)))
    vwlite("train", *GD, "numbers", "-m", "big", "--quiet")
    done = shell(script)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    ("out", "command"),
    [
        ("-", "train --algorithm gd -m"),
        ("/dev/stdout", "train --algorithm gd -m"),
        ("pipe", "train --algorithm gd -m"),
        ("-", "train --algorithm gd -r"),
        ("-", "train --algorithm gd --cache-file"),
        ("-", "predict -i model -r"),
        ("pipe", "predict -i model -r"),
    ],
)
def test_a_reader_that_has_had_enough_does_not_cost_the_other_outputs(vwlite, model, out, command):
    write("huge", text(1, 2000) * 5)
    os.mkfifo("pipe")
    script = f"vwlite {command} output huge -p {out} --quiet"
    done = shell(f"head -1 pipe >/dev/null & {script} && wait" if out == "pipe" else f"{script} | head -1 >/dev/null")
    assert (done.code, done.err) == (0, "")
    vwlite(*command.split(), "expected", "huge", "-p", "predictions", "--quiet")
    assert Path("output").read_bytes() == Path("expected").read_bytes()
    assert os.path.getsize("predictions") > 1 << 16  # more than a pipe holds


# --- saved on the way ------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", MANY)
@pytest.mark.parametrize("passes", [1, 3])
def test_checkpoints_leave_no_trace_in_the_model(vwlite, folder, algorithm, passes):
    write("data", text(1, 300))
    command = ("train", "data", "--algorithm", algorithm, *NEEDED[algorithm], "--passes", passes, "--quiet")
    vwlite(*command, "-m", "expected")
    for every in ("70", "100000", "1s"):
        vwlite(*command, "-m", "model", "--checkpoint-every", every)
        assert Path("model").read_bytes() == Path("expected").read_bytes()
    assert leftovers(folder, ["data", "model", "expected"]) == []


@pytest.mark.parametrize("every", [(), ("--checkpoint-every", "100")])
def test_the_best_pass_survives_the_checkpoints_of_worse_ones(vwlite, folder, every):
    """Nothing can be learned here; the first pass is the best, the third after it the last."""
    chance = random.Random(1)
    rows = [
        f"{chance.choice([-1, 1])} |a " + " ".join(f"w{chance.randrange(200)}" for _ in range(8)) for _ in range(300)
    ]
    write("data", "\n".join(rows).encode())
    command = ("train", "data", "--loss", "logistic", "-l", 1, "--l1", 0.003, "--algorithm", "truncated-gradient")
    done = vwlite(*command, "--passes", 20, "-m", "model", "-P", 50, "--report", "report", *every)
    assert "best pass, kept = 1\n" in done.err
    report = json.loads(Path("report").read_bytes())
    model = read_model("model")
    assert len(report["passes"]) == 4
    assert model.counters["examples"] == 270 and not model.interrupted
    counted = sum(w != 0 for k, w in zip(model.keys, model.weights, strict=True) if k != CONSTANT)
    assert report["results"]["nonzero weights"] == counted
    last = [row.split() for row in done.err.splitlines() if row.endswith(" h")][-1]
    assert last[-2] != str(counted)  # the last pass ended with another number
    assert leftovers(folder, ["data", "model", "report"]) == []


def test_a_model_of_several_passes_can_go_into_a_pipe(vwlite):
    write("data", text(1, 300))
    vwlite("train", *GD, "data", "--passes", 3, "-m", "expected", "--quiet")
    assert shell("vwlite train data --algorithm gd --passes 3 --quiet -m >(cat >model); wait $!").code == 0
    assert Path("model").read_bytes() == Path("expected").read_bytes()


def test_a_full_disk_for_the_best_pass_is_an_error(folder):
    write("data", (b"1 |a " + b" ".join(b"%d" % i for i in range(40)) + b"\n") * 4)  # 820 pairs in the model
    write("model", OLD)
    command = "vwlite train data --passes 2 --holdout-period 2 -q aa --quiet -m model"
    done = shell(f"ulimit -f 8; {command}")
    assert (done.code, done.err) == (74, "model: cannot be written: File too large\n")
    assert Path("model").read_bytes() == OLD
    assert leftovers(folder, ["data", "model"]) == []
    assert shell(f"ulimit -f 64; {command}").code == 0


def start_training(*options):
    """A training run that has learned 100 examples and waits for more."""
    process = start("train", *GD, "-m", "model", "-P", "100", *options)
    process.stdin.write(GOOD * 50)
    process.stdin.flush()
    while process.stderr.readline().split()[2:3] != [b"100"]:  # the row that is printed after 100 examples
        assert process.poll() is None
    return process


def test_a_checkpoint_is_there_while_the_run_continues(vwlite):
    process = start_training("--checkpoint-every", "30")
    early = read_model("model")
    assert (early.counters["examples"], early.interrupted) == (90, True)
    shutil.copy("model", "early")
    assert finish(process, GOOD * 10).code == 0
    last = read_model("model")
    assert (last.counters["examples"], last.interrupted) == (120, False)
    vwlite("train", write("rest", GOOD * 15), "-i", "early", "-m", "continued", "--quiet")
    assert content(Path("continued")) == content(Path("model"))


def test_checkpoints_by_the_clock():
    process = start_training("--checkpoint-every", "1s")
    end = time.monotonic() + PATIENT
    while not os.path.exists("model"):
        assert time.monotonic() < end and process.poll() is None
        process.stdin.write(GOOD)
        process.stdin.flush()
        time.sleep(0.1)
    early = read_model("model")
    assert early.counters["examples"] >= 100 and early.interrupted
    assert finish(process).code == 0
    assert not read_model("model").interrupted


# --- kill -9 ---------------------------------------------------------------------------------


def wait_for_versions(name, count, child):
    """Wait until a process has replaced a file `count` times, or ends."""

    def version():
        found = os.stat(name)
        return found.st_ino, found.st_mtime_ns

    def running():
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    for _ in range(count):
        was = version()
        while version() == was and running():
            time.sleep(0.001)


def test_killed_at_any_moment_there_is_a_whole_model_and_nothing_in_the_way(vwlite, folder):
    write("first", text(1, 100))
    write("data", text(2, 4000))
    vwlite("train", *GD, "first", "-m", "old", "--quiet")
    old = Path("old").read_bytes()
    before = read_model("old").counters["examples"]
    command = ["train", "data", "-i", "model", "-m", "model", "-c", "--passes", "2", "--quiet"]

    def learned():
        return read_model("model").counters["examples"] - before

    def job():
        return run([*command, "--checkpoint-every", "400"])

    write("model", old)
    assert in_child(job) == 0
    final = learned()
    chance = random.Random(1)
    found = []
    for i in range(24):  # a moment after the start, or after the first, second, ... checkpoint
        write("model", old)
        Path("data.vwlite-cache").unlink(missing_ok=True)
        child = start_child(job)
        wait_for_versions("model", i % 5, child)
        time.sleep(chance.random() * (0.02 if i else 0))
        os.kill(child, signal.SIGKILL)
        assert wait_child(child) in (0, -signal.SIGKILL)
        assert vwlite("check", "model").out.startswith("model: a model, whole")
        found.append(learned())
        assert found[-1] % 400 == 0 or found[-1] == final
        if os.path.exists("data.vwlite-cache"):
            assert vwlite("check", "data.vwlite-cache").out.startswith("data.vwlite-cache: a cache, whole")
    assert 0 in found
    assert any(0 < count < final for count in found)
    # Files of killed runs do not disturb; the next run that writes there removes them.
    write("model", old)
    vwlite(*command, "--kill-cache")
    assert learned() == final
    assert leftovers(folder, ["first", "data", "old", "model", "data.vwlite-cache"]) == []


# --- pipes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    ("line", "reply"), [(b"1 'a|a x\n", b" a\n"), (b"|a x y\n", b"\n"), (b"1 3:1 5:2\n", b"\n"), (b"3:1\n", b"\n")]
)
def test_a_line_is_answered_before_the_next_one_comes(model, threads, line, reply):
    process = start("predict", "-m", model, "--threads", threads)
    try:
        for _ in range(3):
            process.stdin.write(line)
            process.stdin.flush()
            assert select.select([process.stdout], [], [], PATIENT)[0], "no answer"
            answer = os.read(process.stdout.fileno(), 1000)
            assert answer.endswith(reply)
            float(answer.split()[0])
        assert finish(process).code == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("option", ["-p", "-r"])
@pytest.mark.parametrize("lines", [[b"\n"], [b"|a x\n", b" \t\r\n", b"|a x\n"], [b"2:1\n", b"\n", b"# a comment\n"]])
def test_a_blank_line_is_answered_with_an_empty_one(model, lines, option):
    process = start("predict", "-m", model, *((option, "-") if option == "-p" else ("-p", os.devnull, "-r", "-")))
    try:
        for line in lines:
            process.stdin.write(line)
            process.stdin.flush()
            assert select.select([process.stdout], [], [], PATIENT)[0], "no answer"
            answer = os.read(process.stdout.fileno(), 1000)
            assert answer == b"\n" if line.strip()[:1] in (b"", b"#") else float(answer)
        assert finish(process).code == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("passes", [1, 2])
def test_predictions_before_learning_have_a_line_for_each_line(vwlite, passes):
    write("data", b"\n1 |a x\n\n\n-1 |a y\n1 |a x:abc\n")
    options = ("-p", "p", "-r", "r", "--holdout-off", "--on-error", "skip", "--passes", passes)
    vwlite("train", "data", *options)
    for name in "pr":
        lines = Path(name).read_text().splitlines()
        assert [bool(line) for line in lines] == [False, True, False, False, True, False] * passes


# --- divergence ------------------------------------------------------------------------------

# Poisson, without a constant, rate 1: the first line makes the weight of x 999, and exp(999) is infinite.
DIVERGING = b"1000 |a x\n1 |a y\n1 |a x\n"
LINKED = {
    "logistic": lambda p: 1 / (1 + np.exp(-p)),
    "glf1": lambda p: 2 / (1 + np.exp(-p)) - 1,
    "poisson": np.exp,
    "identity": lambda p: p,
}


@pytest.mark.parametrize("link", LINKED)
def test_a_link_is_kept_shown_used_and_overridden(vwlite, link):
    """It was forgotten with the run that trained."""
    loss = "poisson" if link == "poisson" else "logistic"
    Path("data").write_text("1 |a b c:2\n" * 20 + "-1 |a d:0.5\n".replace("-1", "2" if loss == "poisson" else "-1") * 9)
    plain = ("train", *GD, "data", "--loss", loss, "-p", "-")
    scores = np.array([float(p) for p in vwlite(*plain, "-m", "plain", "--link", "identity").out.split()])
    done = vwlite(*plain, "-m", "model", "--link", link)
    np.testing.assert_allclose([float(p) for p in done.out.split()], LINKED[link](scores), rtol=1e-5, atol=1e-6)
    assert (f", link = {link}\n" in done.err) == (link != "identity")
    assert json.loads(vwlite("info", "--json", "model").out)["options"]["link"] == link
    predict = ("predict", "data", "--report", "report", "-r", "raw", "-m")
    before = vwlite(*predict, "plain").out
    scores = np.array([float(p) for p in before.split()])
    linked = vwlite(*predict, "model").out
    np.testing.assert_allclose([float(p) for p in linked.split()], LINKED[link](scores), rtol=1e-5, atol=1e-6)
    assert json.loads(Path("report").read_text())["options"]["link"] == link
    np.testing.assert_allclose([float(p) for p in Path("raw").read_text().split()], scores, rtol=1e-6)
    assert vwlite(*predict, "model", "--link", "identity").out == before
    assert vwlite(*predict, "plain", "--link", link).out == linked
    vwlite("train", "data", "-i", "model", "-m", "later", "--quiet")
    vwlite("train", "data", "-i", "plain", "-m", "other", "--quiet")
    assert read_model("later").settings.link == link
    changed = vwlite("train", "data", "-i", "other", "-m", "changed", "--link", link).err
    assert ("link = " in changed) == (link != "identity")
    assert bytes(read_model("later").weights) == bytes(read_model("other").weights)
    assert read_model("changed").settings.link == link


@pytest.mark.parametrize(
    ("loss", "link", "right"),
    [("squared", "logistic", "logistic"), ("squared", "glf1", "logistic"), ("hinge", "logistic", "logistic"),
     ("quantile", "poisson", "poisson"), ("logistic", "poisson", "poisson"), ("poisson", "glf1", "logistic")],
)
def test_a_link_that_makes_no_sense_of_the_loss_is_refused(vwlite, loss, link, right):
    Path("data").write_text("1 |a b\n")
    said = f"--link {link} cannot be applied to the scores of --loss {loss}, only of --loss {right}"
    assert said in vwlite("train", *GD, "data", "--loss", loss, "--link", link, "-m", "model", code=2).err
    vwlite("train", *GD, "data", "--loss", loss, "-m", "model", "--quiet")
    assert said in vwlite("predict", "-m", "model", "data", "--link", link, code=2).err
    assert said in vwlite("train", "data", "-i", "model", "--link", link, "-m", "model", code=2).err
    vwlite("predict", "-m", "model", "data", "--link", "identity")


def test_a_model_from_before_links_were_kept_has_none(vwlite):
    Path("data").write_text("1 |a b\n")
    vwlite("train", *GD, "data", "--loss", "logistic", "--link", "identity", "-m", "model", "--quiet")
    new = vwlite("predict", "-m", "model", "data").out
    parts = split_into_parts(Path("model").read_bytes())
    assert parts.header["options"].pop("link") == "identity"
    Path("model").write_bytes(put_together(parts))
    assert vwlite("predict", "-m", "model", "data").out == new
    vwlite("train", "data", "-i", "model", "-m", "model", "--link", "logistic", "--quiet")


PLAIN = ("--loss", "poisson", "--no-constant", "-l", "1", "--power-t", "0", "--quiet")


@pytest.mark.parametrize(
    "algorithm", [("sgd",), ("truncated-gradient", "--l1", "1e-9"), ("l1-ball", "--radius", "1e9")], ids=lambda a: a[0]
)
@pytest.mark.parametrize(
    ("sources", "place"),
    [
        ([DIVERGING], "0:3:1"),
        ([b"1 |a z\n" * 9 + DIVERGING], "0:12:1"),
        ([b"1 |a z\n", gzip.compress(DIVERGING)], "1:3:1"),
        ([b"1 |a z\n", "-"], "<stdin>:3:1"),
    ],
)
def test_diverging_is_an_error_that_names_the_example(vwlite, folder, algorithm, sources, place):
    files = [s if s == "-" else write(str(i), s) for i, s in enumerate(sources)]
    write("input", DIVERGING)
    write("model", OLD)
    before = os.listdir()
    with standard_input(Path("input")):
        done = vwlite("train", *files, "--algorithm", *algorithm, *PLAIN, "-m", "model", code=65)
    assert done.err == (
        f"{place}: the prediction is not finite: learning has diverged; try a smaller --learning-rate (it is 1), "
        "or scale the features\n"
    )
    assert Path("model").read_bytes() == OLD
    assert leftovers(folder, before) == []


@pytest.mark.parametrize("cache", [(), ("-c",)])
def test_diverging_in_a_later_pass_names_the_example_too(vwlite, cache):
    write("data", b"1 |a z\n1 |a x\n1000 |a x\n")
    command = ("train", "data", "--algorithm", "sgd", *PLAIN, "--holdout-off", *cache)
    vwlite(*command, "-m", "model")
    os.unlink("model")
    done = vwlite(*command, "--passes", 2, "-m", "model", code=65)
    assert done.err.startswith("data:2:1: the prediction is not finite: learning has diverged; ")
    assert not os.path.exists("model")


def test_weights_that_overflow_at_the_end_are_not_written(vwlite, folder):
    """No prediction comes after them: a rate of 1e20 and a value of 1e30 make a weight beyond 32 bits."""
    write("data", b"1 |a x:1e30\n")
    done = vwlite("train", "data", "--algorithm", "sgd", "-l", "1e20", "-m", "model", "--quiet", code=65)
    assert done.err.startswith("model: not written: learning has diverged, a weight is not finite; try a smaller ")
    assert leftovers(folder, ["data"]) == []


def test_a_checkpoint_before_the_divergence_stays(vwlite):
    write("data", DIVERGING)
    vwlite("train", "data", "--algorithm", "sgd", *PLAIN, "-m", "model", "--checkpoint-every", 2, code=65)
    assert read_model("model").counters["examples"] == 2


# --- what data can do ------------------------------------------------------------------------

EVIL = [
    b"1 1 'save_evil|a x",
    b"1 1 save_evil|a x",
    b"1 'save|a x",
    b"|a save_evil",
    b"1 '--model|a x",
    b"1 '-f|--final_regressor evil -m evil >evil |-p evil",
    b"-1 |-q ab --quiet --passes 7 -b 3 --loss hinge",
    b"1 '$(touch~evil)|a `touch~evil` $(touch~evil) ;touch~evil",
    b"1 '../evil|/tmp/evil x |../evil y",
    b"1 '%s%n{0}|a %s{0} {x}",
    b"1 '\xff\x00\x1b[2J|a \xff\x00",
]


def test_no_line_of_data_writes_a_file_or_changes_an_option(vwlite, folder):
    write("evil.vw", b"\n".join(EVIL))
    write("evil.libsvm", b"1 1:2 # -m evil --passes 3\n# save_evil\n-1 2:1 #$(touch evil)\n")
    write("harmless.vw", b"\n".join(b"1 |a x" for _ in EVIL))
    before = os.listdir()
    outputs = ("-m", "model", "-p", "predictions", "--report", "report")
    command = ("train", *GD, *outputs, "--passes", 2, "--loss", "logistic")
    seen = []
    for name in ("evil.vw", "evil.libsvm", "harmless.vw"):
        vwlite(*command, name)
        vwlite("predict", "-i", "model", name, "-p", "predictions")
        vwlite("check", name, "model")
        vwlite("weights", "model", "--all")
        model = read_model("model")
        options = json.loads(Path("report").read_bytes())["options"]
        assert options.pop("data") == [name]
        seen.append((model.options, model.algorithm, model.loss, options))
    assert seen[0] == seen[1] == seen[2]
    assert leftovers(folder, [*before, "model", "predictions", "report"]) == []


EMPTY_INPUTS = {
    "nothing": (b"", "the input has no examples"),
    "blank lines": (b"\n \n", "the input has no examples"),
    "no labels": (b"|a x\n|a y\n", "of 2 lines, 2 without a label"),
    "importance 0": (b"1 0 |a x\n|a y\n\n", "of 3 lines, 1 without a label, 1 of importance 0"),
    "bad lines": (b"1 |a x:abc\n\nx |a y\n", "of 3 lines, 2 bad"),
    "gzip of nothing": (gzip.compress(b""), "the input has no examples"),
}


@pytest.mark.parametrize("options", [(), ("--quiet",), ("--passes", 2), ("--save-weights-only",), ("-i", "m")], ids=str)
@pytest.mark.parametrize("kind", EMPTY_INPUTS)
def test_an_input_without_examples_does_not_replace_a_model(vwlite, folder, kind, options):
    data, why = EMPTY_INPUTS[kind]
    Path("data").write_bytes(data)
    Path("good").write_bytes(b"1 |a x\n-1 |a y\n")
    vwlite("train", *GD, "good", "-m", "m")
    old, inputs = Path("m").read_bytes(), ("data", *GD, "--on-error", "skip", "--checkpoint-every", 1, *options)
    refused = vwlite("train", *inputs, "-m", "m", "-p", "p", "--report", "r", code=65)
    assert f"no example was learned: {why}; m is unchanged (--allow-empty" in refused.err
    assert Path("m").read_bytes() == old
    assert leftovers(folder, ["data", "good", "m", "r"]) == []
    vwlite("train", *inputs, "-m", "m", "--allow-empty")
    labelled = 2 * ("-i" in options) + (kind == "importance 0") * (2 if "--passes" in options else 1)
    if "--save-weights-only" not in options:
        assert read_model("m").counters["examples"] - read_model("m").counters["unlabelled"] == labelled
    warned = vwlite("train", *GD, "data", "--on-error", "skip", "--quiet")
    assert f"warning: no example was learned: {why}\n" in warned.err


def test_a_run_that_holds_out_all_there_is_has_learned_nothing(vwlite):
    Path("data").write_bytes(b"|a x\n1 |a x\n")
    said = vwlite("train", "data", "--passes", 3, "--holdout-period", 2, "-m", "m", code=65).err
    assert "of 2 lines, 1 without a label, every one with a label is held out; m is not written (--allow-empty" in said


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


ODD = "m\x1b[31m\x7f\x9b"
SHOWN = r"m\x1b[31m\x7f\x9b"
WITH_NAMES = [
    "train data -m new", "train data -m none/new", "train none", "train bad", "train data -i none -m new",
    "train data -i model -m new", "train data -c -m new", "train data --algorithm auto -m new",
    "predict -m model none", "predict -m model bad", "predict -m none data", "evaluate -m model data",
    "evaluate -m model data --against model", "explain -m model data", "worst -m model data", "diff model model",
    "diff model none", "drift data data", "describe data", "describe none", "describe bad",
    "check data bad none model", "info model", "info data", "weights model --feature x^y", "weights none",
    "names model data", "convert none", "convert bad", "merge model model -o new", "merge model none -o new",
    "calibrate -m model data -o new", "solve data --l1 0.1 -m new", "certify -m model data --l1 0.1",
    "export none --to tsv -o new", "import none -m new", "tune data -m new --max-seconds 1",
    "report -m model data -o new.html", "train data -m new --report none/x", "vw -d none", "vw -d data -f new",
]


@pytest.mark.parametrize("command", WITH_NAMES)
def test_names_of_files_do_not_command_a_terminal(at, vwlite, command):
    """They are printed escaped, as names of features are."""
    Path(ODD + "data").write_text("1 |a x:2\n-1 |a y\n" * 20)
    Path(ODD + "bad").write_text("1 |a x:2\n1 |a x:?\n")
    vwlite("train", ODD + "data", "--algorithm", "gd", "-m", ODD + "model", "--quiet", "--loss", "logistic")
    names = ("data", "bad", "none", "model", "new")
    words = [ODD + word if re.match(rf"({'|'.join(names)})\b", word) else word for word in command.split()]
    found = vwlite(*words, code=None)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", found.out + found.err), (found.out, found.err)


def test_the_name_of_a_file_is_shown_escaped(at, vwlite):
    assert f"{SHOWN}: No such file" in vwlite("train", ODD, code=66).err
