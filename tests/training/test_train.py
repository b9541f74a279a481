"""`vwlite train`: the same bytes however the data arrives, bad lines, and inputs without examples."""

import gzip
import json
import lzma
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from algorithm_options import MANY, TYPED
from lines import BAD, COMPRESS, GOOD, OLD, SAID, text, write
from running import GD, leftovers, standard_input

from vwlite.algorithms.table import ALGORITHMS
from vwlite.input import pipeline
from vwlite.model import read_model
from vwlite.runs import source
from vwlite.training.trainer import PassTrainer

pytestmark = pytest.mark.usefixtures("folder")

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
    whole = ("train", "--algorithm", algorithm, "--loss", loss, *TYPED[algorithm], "-q", "ab", "--quiet")
    command = (*whole, "--passes", "3", "-m", "model", "-p", "predictions", "--report", "report")

    def outcome(*arguments):
        vwlite(*command, *arguments)
        results = json.loads(Path("report").read_bytes())["results"]
        del results["seconds"]
        return Path("model").read_bytes(), Path("predictions").read_bytes(), results

    expected = outcome("data", "--threads", 1)
    assert read_model("model").counters["examples"] > 300
    whole_list = algorithm == "gd"  # as data arrive for all algorithms in one way
    for size in (1, 700, 4000, 1 << 20) if whole_list else (700,):
        blocks_of(size)
        for threads in (1, 2, 3, 5) if size == 700 and whole_list else (2,):
            assert outcome("data", "--threads", threads) == expected, (size, threads)
    blocks_of(1500)
    for kind, compress in list(COMPRESS.items())[: None if whole_list else 1]:
        write("packed", compress(data))
        assert outcome("packed") == expected, kind
    lines = data.splitlines(keepends=True)
    files = [write(f"part{i}", b"".join(lines[100 * i : 100 * i + 100])) for i in range(3)]
    files[1] = write("part.gz", gzip.compress(Path(files[1]).read_bytes()))
    files[2] = write("part", Path(files[2]).read_bytes().rstrip(b"\n"))
    assert outcome(*files) == expected
    with standard_input(Path("data")):
        assert outcome() == expected
    if whole_list:
        with standard_input(Path(files[1])):
            assert outcome(files[0], "-", files[2]) == expected
    assert outcome("data", "-c") == expected
    assert Path("data.vwlite-cache").exists()
    assert outcome("data", "-c") == expected


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
    one_pass = PassTrainer._one_pass

    def changing(self, *arguments):
        found = one_pass(self, *arguments)
        write("data", b"not a line of anything\n")
        return found

    monkeypatch.setattr(PassTrainer, "_one_pass", changing)
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


def test_text_of_a_bad_line_cannot_command_the_terminal(vwlite):
    write("data", b"1 |a x:\x1b]0;title\x07\n1 |a \x1b[2J\x9b:z\n\x1b[31m\n")
    done = vwlite("train", *GD, "data", "--format", "vw", "--on-error", "skip", "--quiet")
    assert done.err.isascii() and done.err.replace("\n", "").isprintable()
    assert done.err.count("(skipped)") == 3


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="cannot tell here how much memory is in use")
def test_too_little_memory_is_said_and_leaves_no_model(folder):
    write("data", b"1 |a " + b" ".join(b"%d" % i for i in range(3000)) + b"\n")  # 4.5 million pairs
    write("model", OLD)

    # A process of its own: one that has run other tests has memory that it can use again.
    limited = (
        "import resource, pathlib, sys; from vwlite.cli import run; import vwlite.training.train\n"
        "pages = int(pathlib.Path('/proc/self/statm').read_text().split()[0])\n"
        "limit = pages * resource.getpagesize() + (48 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit)); sys.exit(run(sys.argv[1:]))"
    )
    command = ["train", *GD, "data", "-m", "model", "-q", "aa", "--quiet"]
    done = subprocess.run([sys.executable, "-c", limited, *command], capture_output=True, text=True)
    assert done.returncode == 70, done.stderr
    # The second if this process had memory for the features
    said = "out of memory: (data:1 makes 4,504,501 features .* do not fit|the model does not fit); .*\n"
    assert re.fullmatch(said, done.stderr)
    assert Path("model").read_bytes() == OLD
    assert leftovers(folder, ["data", "model"]) == []


@pytest.mark.parametrize("passes", [1, 2])
def test_predictions_before_learning_have_a_line_for_each_line(vwlite, passes):
    write("data", b"\n1 |a x\n\n\n-1 |a y\n1 |a x:abc\n")
    options = ("-p", "p", "-r", "r", "--holdout-off", "--on-error", "skip", "--passes", passes)
    vwlite("train", "data", *options)
    for name in "pr":
        lines = Path(name).read_text().splitlines()
        assert [bool(line) for line in lines] == [False, True, False, False, True, False] * passes


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


def test_a_report_of_a_name_that_is_not_utf_8(vwlite, folder):
    Path("data").write_text("1 |a x\n")
    vwlite("train", "data", "--numeric", "\udcff", "--report", "report", code=65)
    assert "\udcff" in json.loads(Path("report").read_text())["error"]
