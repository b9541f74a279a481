"""Inputs of users that went wrong once. Each folder has them and `cmd.sh`; what it must print is here, from the
definition, from the real Vowpal Wabbit 9.11, or from what is in the data."""

import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "reported"
EXACT = {
    "vw-json-text-colon": """\
0
\tsee:16232:1:0\thttp_//a.example:24606:1:0\tat:151491:1:0\t10_30:125977:1:0\tyes_no:169476:1:0\tConstant:116060:1:0
""",
    "vw-json-label-object": """\
weight:
weighted example sum = 3.000000
weighted label sum = 0.000000
0
0
initial:
weighted example sum = 2.000000
weighted label sum = 1.000000
0.500000
0.378442
only_initial:
weighted example sum = 2.000000
weighted label sum = 0.000000
0
0
""",
    "float-ids-categorical": "float64\n1.0\n",
    "save-loses-class-names": "['not good', 'fine', 'bad'] ['not good', 'fine', 'bad'] ['bad', 'fine', 'not good']\n",
    "text-hindi": """\
0 |text फिल्म बहुत खराब है
1 |text फिल्म बहुत अच्छी है
1 |text தமிழ் மொழி
0 |text ภ า ษ า ไ ท ย ดี ม า ก
1 |text السَّلامُ عليكم
0 |text שָׁלוֹם עולם
""",
    "blank-before-quote": """\
columns: label Weight(Pounds); numeric Index, Height(Inches)
112.99 |Index Index:1 |Height(Inches) Height(Inches):65.78
136.49 |Index Index:2 |Height(Inches) Height(Inches):71.52
153.03 |Index Index:3 |Height(Inches) Height(Inches):69.4
rc 0
""",
    "bar-delimiter": """\
t.csv:1:1: --label sold: no such column; the only one is size|age|sold: if | is the delimiter, add --delimiter '|'
rc 65
""",
    "json-array": "".join(
        f"{name}.json:1:1: a JSON array, not JSON lines: write each object of it on a line of its own, as with "
        "`jq -c '.[]' FILE`\nrc 65\n"
        for name in ("t", "pretty")
    ),
}


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]\d\d)?(?![\w.])", text)]


def line_of(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


def not_inverted(out: str) -> None:
    predicted = {kind: float(line_of(out, kind).split()[-1]) for kind in ("pro", "basic")}
    assert predicted["pro"] > 0.5 > predicted["basic"]
    for name in ("accuracy", "AUC"):
        own = numbers(line_of(out, name))[0]
        assert own >= 0.9 and numbers(line_of(out, f"out-of-fold {name.lower()}"))[0] <= own


def as_good_as_on_its_own_rows(out: str) -> None:
    """A line for the ratings is no better than a constant, a curve is: that is what the losses say, by any name."""
    assert "rc of train --fail-if 'log_loss>0.66': 0\n" in out
    first, second = (line for line in out.splitlines() if line.startswith("chosen = "))
    assert first == second and "intercept" not in first
    own = numbers(line_of(out, "log loss"))[0]
    assert own <= numbers(line_of(out, "out-of-fold average loss"))[0] < own + 0.02


def refused(out: str) -> None:
    assert "JSON parser error" in out and "Invalid value" in out and "rc 1\n" in out and "can't open: m" in out


def quoted_numbers_are_words(out: str) -> None:
    first, second = (line for line in out.splitlines() if line.startswith("\t"))
    assert re.search(r"\tage\^30:\d+:1:", first) and re.search(r"\tage\^60:\d+:1:", second)


def audited(out: str) -> None:
    assert "\ta^x:55432:1:0@0" in out and "\ta^y:42847:1:0@0" in out


def all_right(out: str) -> None:
    assert re.findall(r"[\d.]+$", out, re.MULTILINE) == ["1.0"] * 3


def six_rows_in_quotes(out: str) -> None:
    assert re.search(r"^note: t.tsv:3: a cell in quotes has 4 lines.*add --quote none$", out, re.MULTILINE)
    plain = vwlite("convert t.tsv --label y --text text --drop id --quote none 2>/dev/null")
    assert [line.split()[0] for line in plain.splitlines()] == ["1", "0", "0", "1", "1", "0"]


def classes_as_in_the_file(out: str) -> None:
    for name in ("very good", "very_good", "bad"):
        assert numbers(line_of(out, f"{name} ")[len(name) :]).count(30) == 1
    rows = [line.split(",") for line in out.splitlines() if line.startswith(",")]
    assert [row[1:3] for row in rows] == [[name, name] for name in ("very good", "very_good", "bad")]
    assert "expected very good or bad, as in --labels" in out


def tags_as_in_the_file(out: str) -> None:
    assert [row[0] for row in csv.reader(out.splitlines())] == ["tag", "A 1", "A_1", "B|2", "Smith, Jo"]


def reads_with_escape(out: str) -> None:
    assert r"--escape '\' reads \" as a quote" in out and out.endswith("rc 65\n")
    rows = vwlite(r"convert t.tsv --label sentiment --text review --drop id --escape '\' 2>/dev/null")
    assert rows == "1 |review he said wow and left\n0 |review dull\n"


def without_empty_columns(out: str) -> None:
    assert "ham |v2 going home\nspam |v2 win cash\nham |v2 nah no\nrc 0\n" in out


def columns_apart(out: str) -> None:
    for name in ("MSE", "MAE"):
        assert re.search(r" - \d\.\d+e\+\d\d +\d+\.\d % worse$", line_of(out, name))


def within_0_and_1(out: str) -> None:
    for name in ("AUC", "average prec.", "Brier", "accuracy"):
        low, high = re.search(r"(\S+) - (\S+)", line_of(out, name)[len(name) :]).groups()
        assert 0 <= float(low) <= float(high) <= 1


def rows_and_weights_apart(out: str) -> None:
    assert out.splitlines()[0] == "4 rows, 2 y (50.0 %); weight 12, 10 of it y (83.3 %)"


def no_note(out: str) -> None:
    assert out == "chosen = the intercept alone: nothing predicts better than a constant\n"


def read_as_numbers(out: str) -> None:
    for name in ("price", "rate", "salary"):
        assert re.search(rf"^note: column {name}: 300 of 300 cells are numbers .* reads them\b", out, re.MULTILINE)
    assert "--drop" not in out
    command = re.search(r"^next:\n  vwlite (train .*) -m", out, re.MULTILINE)[1]
    vwlite(f"{command} -m m --quiet")
    assert numbers(line_of(vwlite("evaluate -m m m.csv"), "AUC"))[0] > 0.999


CHECKS: dict[str, Callable[[str], None]] = {
    "auto-inverted-category": not_inverted,
    "auto-false-out-of-fold": as_good_as_on_its_own_rows,
    "vw-json-nan": refused,
    "vw-csv-quoted-number": quoted_numbers_are_words,
    "vw-audit-ignore-linear": audited,
    "pandas-category-of-ints": all_right,
    "y-name-drops-column": all_right,
    "labels-merged": classes_as_in_the_file,
    "tags-changed": tags_as_in_the_file,
    "tsv-unbalanced-quotes": six_rows_in_quotes,
    "backslash-quotes": reads_with_escape,
    "empty-header-names": without_empty_columns,
    "evaluate-columns-glued": columns_apart,
    "evaluate-intervals": within_0_and_1,
    "evaluate-weighted-share": rows_and_weights_apart,
    "note-unknown-features": no_note,
    "numbers-with-signs": read_as_numbers,
}


def script(text: str) -> str:
    """What a script prints, on both outputs. `vwlite` and `python` are those of the tests."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(["sh", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                          env={**os.environ, "PATH": path}, check=False)
    return done.stdout.decode()


def vwlite(arguments: str) -> str:
    return script(f"vwlite {arguments}")


@pytest.mark.third
@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.iterdir()))
def test_what_was_reported_is_right(name, tmp_path, monkeypatch):
    if (FOLDER / name / "t.py").exists():
        pytest.importorskip("pandas")
    shutil.copytree(FOLDER / name, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    out = script(Path("cmd.sh").read_text())
    if name in EXACT:
        assert out == EXACT[name]
    else:
        CHECKS[name](out)
