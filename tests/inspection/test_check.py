"""`vwlite check`: what each file is, what is wrong with it, and the labels that `vwlite train` takes."""

import re

import pytest
from running import GD, shell

pytestmark = pytest.mark.usefixtures("sample")


def test_check_says_what_each_file_is(vwlite, sample, sample_model):
    vwlite("train", *GD, "d.vw", "-c", "--quiet")
    done = vwlite("check", "m", "d.vw", "d.vw.vwlite-cache")
    assert done.out.splitlines() == [
        "m: a model, whole: gd, 6 nonzero weights",
        "d.vw: data, 4 lines, every line valid",
        "d.vw.vwlite-cache: a cache, whole: 4 lines",
    ]


def test_check_says_why_and_continues(vwlite, sample, sample_model):
    (sample / "bad.vw").write_text("1 |a x:abc\n" * 25)
    (sample / "one.vw").write_text("1 |a x:abc\n")
    (sample / "cut").write_bytes((sample / "m").read_bytes()[:-1])
    (sample / "empty").touch()
    done = vwlite("check", "bad.vw", "one.vw", "cut", "empty", "nosuch", ".", "d.vw", code=1)
    lines = done.out.splitlines()
    assert lines[:20] == [f"bad.vw:{n}:8: feature value 'abc' is not a number" for n in range(1, 21)]
    assert lines[20:] == [
        "bad.vw: ... and 5 more",
        "bad.vw: data, 25 lines, 25 bad lines",
        "one.vw:1:8: feature value 'abc' is not a number",
        "one.vw: data, 1 line, 1 bad line",
        "cut: not a complete model: its end is missing or damaged; use another copy",
        "empty: empty",
        "nosuch: No such file or directory",
        ".: Is a directory: ./* names the files in it",
        "d.vw: data, 4 lines, every line valid",
    ]
    assert done.err == ""


@pytest.mark.parametrize(
    ("options", "bad"),
    [
        ("", []),
        ("--loss logistic", [3]),
        ("--loss poisson", [2]),
        ("--labels 0,1", [2, 3]),
        ("--labels 0,3 --loss logistic", [2, 4]),
    ],
)
def test_check_takes_the_labels_that_train_takes(vwlite, tmp_path, options, bad):
    data = tmp_path / "data.vw"
    data.write_text("0 |f a\n-1 |f b\n3 |f c\n1 |f d\n")
    done = vwlite("check", data, *options.split(), code=1 if bad else 0)
    places = [line.split(":")[1] for line in done.out.splitlines()[:-1]]
    assert places == [str(line) for line in bad]
    trained = vwlite("train", data, *options.split(), "--quiet", code=None)
    assert trained.code == (65 if bad else 0)
    assert trained.err.splitlines()[:1] == done.out.splitlines()[:1] if bad else not trained.err


def test_check_refuses_options_of_labels_that_contradict_each_other(vwlite, sample):
    for options in ("--labels 0,1 --loss poisson", "--oaa 3 --labels 0,1", "--oaa 3 --classes a,b"):
        said = vwlite("check", "d.vw", *options.split(), code=2).err
        assert said == vwlite("train", *GD, "d.vw", *options.split(), code=2).err != ""


@pytest.mark.parametrize("command", ["vwlite check - <d.vw", "cat d.vw | vwlite check -", "vwlite check <(cat d.vw)"])
def test_check_reads_pipes_from_their_beginning(command):
    done = shell(command)
    assert re.fullmatch(r"(<stdin>|/dev/fd/\d+): data, 4 lines, every line valid\n", done.out)
    assert done.code == 0


def test_file_names_that_are_not_text_come_out_as_they_went_in(sample_model):
    done = shell(r"""mv m $'m\xff' && vwlite check $'m\xff' | od -An -c | head -1""", LC_ALL="C")
    assert done.out.split()[:3] == ["m", "377", ":"]


def test_check_counts_the_classes_of_all_files_together(vwlite, tmp_path):
    """As training from them does."""
    one, two = tmp_path / "one.vw", tmp_path / "two.vw"
    one.write_text("red |f a\ngreen |f b\n")
    two.write_text("green |f a\nblue |f b\n")
    options = ["--classes", "auto", "--oaa"]
    assert vwlite("check", one, two, *options, 3).out.count("every line valid") == 2
    message = f"{two}:2:1: label 'blue' is a new class, but --oaa 2 allows only red, green\n"
    assert message in vwlite("check", one, two, *options, 2, code=1).out
    assert vwlite("train", *GD, one, two, *options, 2, "--quiet", code=65).err == message
    vwlite("check", two, *options, 2)


def test_two_words_are_labels_and_a_third_is_not(vwlite, sample):
    (sample / "t.vw").write_text("ham |x\nspam |x\n" * 9)
    assert "every line valid" in vwlite("check", "t.vw").out
    (sample / "bad.vw").write_text("a |x\nb |x\nc |x\n")
    assert "third word" in vwlite("check", "bad.vw", code=1).out
