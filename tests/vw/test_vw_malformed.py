"""`vwlite vw` and lines that cannot be read: what is said, in which words, and what was done before them."""

from pathlib import Path
from typing import Any

import pytest

OAA = ("--oaa 3", "1 |a x\n2 |a y\n\n{} |a z\n2 |a x\n")
CSOAA = ("--csoaa 3", "1:1 2:0 |a x\n1:0 2:1 |a y\n\n{} |a z\n2:0 1:1 |a x\n")
LINES = ("--csoaa_ldf m", "1:1 |a x\n2:0 |a y\n\n{} |a z\n2:0.5 |a x\n\n1:1 |a y\n2:0 |a y\n")
STRICT = ("--strict_parse", "1 |a x\n2 |a y\n\n{}\n2 |a x\n")
TRAILING = "multiclass.cc", "Malformed example: label has trailing character(s): "
MALFORMED = "cost_sensitive.cc", "malformed cost specification on '1'"
NAMELESS = "cost_sensitive.cc", " invalid cost: specification -- no names on: :"
TOO_MANY = "multiclass.cc", "Malformed example, words.size() = 3"
STOPS = [
    (OAA, "1x", TRAILING, "x", []),
    (OAA, "1.5", TRAILING, ".", []),
    (OAA, "x", TRAILING, "x", ["[warning] 'x' is not a good int, replacing with 0"]),
    (OAA, "1 2 3", TOO_MANY, "", []),
    (CSOAA, "1:2:3:4", MALFORMED, "", ["[error] example with a weird name. What is '1:2:3:4'?"] * 2),
    (CSOAA, "1:2:3:4 2:0", MALFORMED, "", ["[error] example with a weird name. What is '1:2:3:4'?"]),
    (CSOAA, ":", NAMELESS, "", []),
    (LINES, "1:2:3:4", MALFORMED, "", ["[error] example with a weird name. What is '1:2:3:4'?"] * 2),
    (LINES, ":", NAMELESS, "", []),
    (STRICT, "1 |a:1:2 b", ("parse_example_text.cc", "malformed example! '|',space, or EOL expected after : "),
     '"|a:1"in Example #3: "|a:1:2 b"\n', []),
    (STRICT, "1 -1 |a z", ("parser.cc", "Example has an invalid importance weight (-1); "),
     "importance weights must be non-negative. Use 0 to hold an example out of training.", []),
]


def without_places(out: str) -> list[str]:
    lines = out.replace("[info] label 0 found -- labels are now considered 0-indexed.\n", "").split("\n")
    return [line.partition(":")[0] + line[line.index(")") :] if ".cc:" in line else line for line in lines]


@pytest.mark.parametrize(("kind", "line", "said", "end", "before"), STOPS)
@pytest.mark.parametrize("one", [False, True], ids=["threads", "one thread"])
def test_lines_that_end_a_run(
    vwlite: Any, tmp_path: Path, kind: Any, line: str, said: Any, end: str, before: list[str], one: bool
) -> None:
    """Vowpal Wabbit reads ahead in a thread that reports the example before the run does. Earlier lines are learned,
    predicted and shown; there is no summary, and no model."""
    options, text = kind
    (tmp_path / "d").write_text(text.format(line))
    arguments = ["-d", tmp_path / "d", "-p", tmp_path / "p", "-f", tmp_path / "m", "-P", "1", *options.split()]
    done = vwlite("vw", *arguments, *(["--onethread"] if one else []), code=1)
    place, words = said
    ahead = [] if one else [f"[error] vw example #3({place}): {words}{end}"]
    last = [f"[critical] vw ({place}): {words}{end}"]
    assert without_places(done.out) == "\n".join([*before, *ahead, *last, ""]).split("\n")
    predicted = (tmp_path / "p").read_text().split("\n")
    assert len(predicted) == (4 if kind is LINES else 3)
    assert "finished run" not in done.err and not (tmp_path / "m").exists()
    rows = [row for row in done.err.splitlines() if row[:4].replace(".", "").isdigit()]
    assert len(rows) == (1 if kind is LINES else 2)


@pytest.mark.parametrize("options", [["--json"], ["--csv"]])
def test_lines_before_one_of_another_form_are_learned(vwlite: Any, tmp_path: Path, options: list[str]) -> None:
    text = '{"_label":1,"a":1}\n{"_label":0,"b":1}\n{"a":\n' if options == ["--json"] else "a,_label\n1,1\n2,0\n1,2,3\n"
    (tmp_path / "d").write_text(text)
    done = vwlite("vw", "-d", tmp_path / "d", "-p", tmp_path / "p", *options, code=1)
    assert "[error] vw example #2(" in done.out and "\n[critical] vw (" in done.out
    assert len((tmp_path / "p").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("1:x", ["[warning] 'x' is not a good float, replacing with 0"] * 2),
        ("1:x 2:1", ["[warning] 'x' is not a good float, replacing with 0"]),
        ("1:nan", ["[warning] 'nan' is not a good float, replacing with 0"] * 2),
        ("1:1:1", ["[error] example with a weird name. What is '1:1:1'?"] * 2),
        ("1:1:1 2:0", ["[error] example with a weird name. What is '1:1:1'?"]),
        ("shared:1", ["[error] shared feature vectors should not have costs on: shared:1"]),
        ("label", ["[error] label feature vectors should have exactly one cost on: label"]),
        ("label:1:2", ["[error] example with a weird name. What is 'label:1:2'?",
                       "[error] label feature vectors should have exactly one cost on: label:1:2"]),
        ("::1", []),
        ("1:", []),
    ],
)
def test_costs_that_are_unusual_are_reported_as_vowpal_wabbit_does(
    vwlite: Any, tmp_path: Path, word: str, said: list[str]
) -> None:
    """A single word is read twice."""
    (tmp_path / "d").write_text(CSOAA[1].format(word))
    done = vwlite("vw", "-d", tmp_path / "d", "--csoaa", "3", "--indexing", "1")
    assert done.out.splitlines() == said
    assert "number of examples = 4\n" in done.err


def test_numbers_of_classes_that_are_negative_in_32_bits_are_shown_as_none(vwlite: Any, tmp_path: Path) -> None:
    """With --probabilities as they are, without a sign."""
    labels = ["-1", "-2", "4294967293", "2147483647", "2147483646", "99999999999"]
    (tmp_path / "d").write_text("".join(f"{label} |a x\n" for label in labels))
    arguments = ["-d", tmp_path / "d", "--oaa", "3", "-P", "1", "--loss_function", "logistic"]

    def shown(*more: str) -> list[str]:
        rows = [row.split() for row in vwlite("vw", *arguments, *more).err.splitlines()]
        return [row[4] for row in rows if len(row) == 7 and row[2].isdigit()]

    assert shown() == ["unknown"] * 4 + ["2147483646", str(99999999999 % 2**32)]
    assert shown("--probabilities")[1:4] == [str(2**32 - 2), "4294967293", "2147483647"]
