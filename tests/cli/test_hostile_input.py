"""Lines of data and names of files that are meant to write files, change options, or command a terminal."""

import json
import os
import re
from pathlib import Path

import pytest
from lines import write
from running import GD, leftovers

from vwlite.model import read_model

pytestmark = pytest.mark.usefixtures("folder")

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
