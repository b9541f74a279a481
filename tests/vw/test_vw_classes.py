"""`vwlite vw` with several classes: labels that are missing, outside or without a name, and what is counted then."""

import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from vwlite.vw.layers.bootstrap import majority

LABELS = ["1", "2 2", "3", "7", "", "0", "-1", "2 3", "1", "", "3", "9", "2"]
LINES = [f"{label} |a x{i % 3} y{i % 5}:0.5 |b z{i % 4}\n" for i, label in enumerate(LABELS)]
PROBABLE = ["--oaa", "3", "--probabilities", "--loss_function", "logistic"]
SLOW = [[], ["--ignore_linear", "q"]]  # through the engine's loop, and one by one


def summary(err: str) -> dict[str, str]:
    return dict(line.split(" = ", 1) for line in err.splitlines() if " = " in line)


def parsed(text: str) -> tuple[int | None, float]:
    words = text.split("|")[0].split()
    number = int(words[0]) if words else -1
    return (None if number == -1 else number), float(words[1]) if len(words) > 1 else 1.0


@pytest.mark.parametrize("slow", SLOW)
@pytest.mark.parametrize("shown", ["--probabilities", "--scores"])
def test_no_prediction_is_that_of_a_missing_label(vwlite: Any, tmp_path: Path, shown: str, slow: list[str]) -> None:
    """The weight of an example without a label is in the loss, and not in what it is divided by. The log loss is that
    of the class whose number has the same remainder as the label, -1 if there is none, without a sign."""
    (tmp_path / "d").write_text("".join(LINES))
    arguments = ["--oaa", "3", "--indexing", "1", "--loss_function", "logistic", shown, "-P", "1", *slow]
    done = vwlite("vw", "-d", tmp_path / "d", "-p", tmp_path / "p", *arguments)
    loss = log_loss = weight = 0.0
    rows = []
    for line, predicted in zip(LINES, (tmp_path / "p").read_text().splitlines(), strict=True):
        label, importance = parsed(line)
        shares = [float(pair.partition(":")[2]) for pair in predicted.split()]
        best = 1 + max(range(3), key=lambda i: (shares[i], -i))
        loss += importance * (best != label)
        if label is not None:
            weight += importance
            log_loss -= importance * math.log(shares[(label - 1) % 2**32 % 3]) if shown == "--probabilities" else 0.0
        percent = f"({100 * shares[best - 1]:.0f}%)" if shown == "--probabilities" else ""
        rows.append([str(2**32 - 1 if label is None else label), f"{best}{percent}"])
    found = summary(done.err)
    assert float(found["average loss"]) == pytest.approx(loss / weight, abs=1e-6)
    if shown == "--probabilities":
        assert float(found["average multiclass log loss"]) == pytest.approx(log_loss / weight, abs=1e-5)
    table = [line.split()[4:6] for line in done.err.splitlines() if re.match(r"\d\.\d{6} ", line)]
    assert table == rows


@pytest.mark.parametrize("slow", SLOW)
def test_the_log_loss_of_what_was_held_out(vwlite: Any, tmp_path: Path, slow: list[str]) -> None:
    """With holdout it is theirs, and that of examples without a label, over the weight of all that are learned."""
    (tmp_path / "d").write_text("".join(LINES * 3))
    done = vwlite("vw", "-d", tmp_path / "d", "--holdout_after", "30", "-p", tmp_path / "p", *PROBABLE, *slow)
    total = weight = 0.0
    for i, (line, predicted) in enumerate(zip(LINES * 3, (tmp_path / "p").read_text().splitlines(), strict=True), 1):
        label, importance = parsed(line)
        shares = [float(pair.partition(":")[2]) for pair in predicted.split()]
        if label is None or i > 30:
            total -= importance * math.log(shares[(-2 if label is None else label - 1) % 2**32 % 3])
        else:
            weight += importance
    shown, mark = summary(done.err)["average multiclass log loss"].split()
    assert mark == "h" and float(shown) == pytest.approx(total / weight, abs=1e-5)


@pytest.mark.parametrize("slow", SLOW)
def test_no_labels_at_all(vwlite: Any, tmp_path: Path, slow: list[str]) -> None:
    (tmp_path / "d").write_text("".join(LINES))
    (tmp_path / "t").write_text(" |a x1\n |a x2\n")
    vwlite("vw", "-d", tmp_path / "d", *PROBABLE, "-f", tmp_path / "m")
    done = vwlite("vw", "-d", tmp_path / "t", "-i", tmp_path / "m", "-t", "--probabilities", *slow)
    assert summary(done.err)["average multiclass log loss"] == "-nan"


def test_class_weights_of_several_classes(vwlite: Any, tmp_path: Path) -> None:
    (tmp_path / "d").write_text("".join(LINES))
    done = vwlite("vw", "-d", tmp_path / "d", "--oaa", "3", "--classweight", "1:2,3:0.5")
    assert "Enabled learners: gd, scorer-identity, oaa, classweight-multi\n" in done.err
    done = vwlite("vw", "-d", tmp_path / "d", *PROBABLE, "--classweight", "1:2", code=1)
    assert "--classweight not implemented for this type of prediction" in done.out


# --- names -------------------------------------------------------------------------------------------

NAMED = "dog |a x\ncat 2 |a y\nbird |a x y\nfish |a z\ndog |a x\n |a y\ncow 3 |a x\n"


@pytest.mark.parametrize("slow", SLOW)
def test_a_label_that_is_not_a_name(vwlite: Any, tmp_path: Path, slow: list[str]) -> None:
    """It counts as class 0, which no class is: as a wrong prediction, and as unknown in the table. Vowpal Wabbit's
    parser runs ahead, so that its words come first."""
    (tmp_path / "d").write_text(NAMED)
    arguments = ["-d", tmp_path / "d", "--oaa", "3", "--named_labels", "dog,cat,bird", *slow]
    done = vwlite("vw", *arguments, "-P", "1", "-p", tmp_path / "p")
    outside = "[warning] label 0 is not in {1,3}. This won't work for 1-indexed actions."
    first = "[info] label 3 found -- labels are now considered 1-indexed."
    missing = [f"[warning] Missing named label '{name}'" for name in ("fish", "cow")]
    assert done.out.splitlines() == [*missing, first, outside, outside]
    predicted = (tmp_path / "p").read_text().split()
    labels = [(words[0], float(words[1]) if len(words) > 1 else 1.0) if (words := line.split("|")[0].split()) else None
              for line in NAMED.splitlines()]
    loss = sum(label[1] for label, p in zip(labels, predicted, strict=True) if label and label[0] != p)
    weight = sum(label[1] for label in labels if label)
    assert float(summary(done.err)["average loss"]) == pytest.approx(loss / weight, abs=1e-6)
    table = [line.split()[4] for line in done.err.splitlines() if re.match(r"\d\.\d{6} ", line)]
    assert table == ["dog", "cat", "bird", "unknown", "dog", "unknown", "unknown"]
    done = vwlite("vw", *arguments, "--onethread")
    assert done.out.splitlines() == [first, missing[0], outside, missing[1], outside]
    done = vwlite("vw", *arguments, "-c", "-k", "--passes", "2", "--holdout_off")
    assert done.out.count("Missing") == 2  # in the cache they are numbers


@pytest.mark.parametrize("k", [2, 4])
def test_as_many_names_as_classes(vwlite: Any, tmp_path: Path, k: int) -> None:
    (tmp_path / "d").write_text(NAMED)
    done = vwlite("vw", "-d", tmp_path / "d", "--oaa", str(k), "--named_labels", "dog,cat,bird", code=1)
    assert "There are 3 named labels. Use that as the argument to oaa." in done.out


def test_costs_of_classes_without_a_name(vwlite: Any, tmp_path: Path) -> None:
    """They count as those of the last class; what has no cost costs most."""
    (tmp_path / "d").write_text("dog:1 bird:2 |a x\nfish:0 dog:3 |a y\ncat bird:1 |a x\n |a y\nfish |a z\n")
    done = vwlite(
        "vw", "-d", tmp_path / "d", "--csoaa", "3", "--named_labels", "dog,cat,bird", "-P", "1", "-r", tmp_path / "r",
        "-p", tmp_path / "p",
    )
    assert done.out.splitlines()[:3] == [
        "[warning] Missing named label 'fish'", "[warning] Missing named label 'fish'",
        "[info] label 3 found -- labels are now considered 1-indexed.",
    ]
    raw = [line.split() for line in (tmp_path / "r").read_text().splitlines()]
    classes = [[pair.partition(":")[0] for pair in line] for line in raw]
    assert classes == [["1", "3"], ["3", "1"], ["2", "3"], [], ["3"]]
    predicted = (tmp_path / "p").read_text().split()
    assert predicted[0] == "dog"  # both scores are 0
    invalid = "csoaa predicted an invalid class. Are all multi-class labels in the {1..k} range?"
    assert (invalid in done.out) == (predicted[2] == "cat")


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("1.5", "Malformed example: label has trailing character(s): ."),
        ("3x", "Malformed example: label has trailing character(s): x"),
        ("abc", "'abc' is not a good int, replacing with 0"),
        ("1 2 3", "Malformed example, words.size() = 3"),
        ("\xff", "label has trailing character"),
        ("-", "'-' is not a good int"),
    ],
)
def test_labels_that_are_not_classes(vwlite: Any, tmp_path: Path, label: str, said: str) -> None:
    (tmp_path / "d").write_bytes(f"{label} |a x\n".encode("latin-1"))
    assert said in vwlite("vw", "-d", tmp_path / "d", "--oaa", "3", code=1).out


@pytest.mark.parametrize(
    ("label", "shown"),
    [("+2", "2"), ("99999999999", "1215752191"), ("1" * 5000, "unknown"), ("4294967294", "unknown")],
)
def test_numbers_of_classes_have_32_bits(vwlite: Any, tmp_path: Path, label: str, shown: str) -> None:
    (tmp_path / "d").write_text(f"{label} |a x\n")
    done = vwlite("vw", "-d", tmp_path / "d", "--oaa", "3")
    assert next(line.split()[4] for line in done.err.splitlines() if line.endswith(" 2")) == shown


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("1:2:3", "[error] example with a weird name. What is '1:2:3'?"),
        ("1:x 2:0", "'x' is not a good float"),
        ("shared:1", "shared feature vectors should not have costs on: shared:1"),
        ("label", "label feature vectors should have exactly one cost on: label"),
        ("9999999:1 2:0", ""),
        ("dog:1 2:0", ""),
        (":", "no names on: :"),
    ],
)
def test_unusual_costs(vwlite: Any, tmp_path: Path, label: str, said: str) -> None:
    (tmp_path / "d").write_text(f"{label} |a x\n2:1 1:0 |a x\n")
    assert said in vwlite("vw", "-d", tmp_path / "d", "--csoaa", "3", code=1 if "no names" in said else 0).out


# --- votes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predicted", "vote"),
    [
        ([0.4, 0.3, 2.0], 0),
        ([1.0, 2.0], 1),  # of two that cancel each other out, the first
        ([2.2, 0.6, 0.7, 2.3, 2.4], 2),
        ([-0.5, -0.4], 0),  # halves are rounded up
        ([1, 1, 2, 2, 2, 3], 2),
        ([3, 3, 2, 2, 1, 4], 2),  # the least of the most frequent ones
        ([1, 2, 2, 3, 3, 3, 4], 3),
    ],
)
def test_the_vote(predicted: list[float], vote: int) -> None:
    assert majority(predicted) == vote


def test_votes_are_counted_as_wrong_or_right(vwlite: Any, tmp_path: Path) -> None:
    (tmp_path / "d").write_text("".join(f"{i % 2} {1 + i % 3} |a x{i % 2} y{i % 7}\n" for i in range(40)) + " |a x0\n")
    done = vwlite(
        "vw", "-d", tmp_path / "d", "--bootstrap", "5", "--bs_type", "vote", "-p", tmp_path / "p", "-r", tmp_path / "r"
    )
    rows = [[float(x) for x in line.split()] for line in (tmp_path / "p").read_text().splitlines()]
    lines = (tmp_path / "r").read_text().splitlines()
    raw = [[float(pair.partition(":")[2]) for pair in line.split()] for line in lines]
    assert len(rows) == len(raw) == 41 and {len(row) for row in raw} == {5}
    loss = weight = 0.0
    for i, ((vote, low, high), scores) in enumerate(zip(rows, raw, strict=True)):
        assert vote == int(vote) and math.floor(low + 0.5) <= vote <= math.floor(high + 0.5)
        clipped = Counter(math.floor(min(max(score, 0), 1) + 0.5) for score in scores)
        assert vote == max(clipped, key=lambda v: clipped[v])
        importance = 1 + i % 3 if i < 40 else 1
        loss += importance * (i == 40 or vote != i % 2)
        weight += importance * (i < 40)
    assert float(summary(done.err)["average loss"]) == pytest.approx(loss / weight, abs=1e-6)


# --- words, in one thread ----------------------------------------------------------------------------


@pytest.mark.parametrize("audit", [[], ["-a"]])
def test_in_one_thread_words_of_a_line_come_when_it_is_learned(vwlite: Any, tmp_path: Path, audit: list[str]) -> None:
    text = "5 |a x:1:2\n1 |a x\n-4 |a y:nan\nq |a w\n1 |a x\n"
    (tmp_path / "d").write_text(text)
    arguments = ["-d", tmp_path / "d", "--loss_function", "logistic", *audit]
    parts = [("malformed", 2), ("label 5", 2), ("NaN", 1), ("label -4", 2), ("good float", 1)]
    for more, order in ((["--onethread"], [0, 1, 2, 3, 4]), ([], [0, 2, 4, 1, 3])):
        out = [line for line in vwlite("vw", *arguments, *more).out.splitlines() if line.startswith("[warning]")]
        expected = [part for i in order for part in [parts[i][0]] * parts[i][1]]
        assert len(out) == len(expected)
        for line, part in zip(out, expected, strict=True):
            assert part in line


# --- audits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cache", [[], ["-c", "-k", "--passes", "2", "--holdout_off"]])
def test_an_audit_shows_each_class_once(vwlite: Any, tmp_path: Path, cache: list[str]) -> None:
    """Before it is learned, with the tag; after a cache, features have no names."""
    (tmp_path / "d").write_text("1 'one |a x\n3 |a x y\n |b z\n")
    out = vwlite("vw", "-d", tmp_path / "d", "--oaa", "3", "-a", *cache).out
    heads = [line for line in out.splitlines() if line[:1] not in ("\t", "[", "")]
    rows = [line for line in out.splitlines() if line.startswith("\t")]
    passes = 2 if cache else 1
    assert len(heads) == len(rows) == 3 * 3 * passes
    assert [head.endswith(" one") for head in heads] == ([True] * 3 + [False] * 6) * passes
    assert [sorted(cell.split(":")[0] for cell in row.split("\t")[1:]) for row in rows[:9]] == (
        [["Constant", "a^x"]] * 3 + [["Constant", "a^x", "a^y"]] * 3 + [["Constant", "b^z"]] * 3
    )
    assert all(sorted(cell.split(":")[0] for cell in row.split("\t")[1:])[-1] == "Constant" for row in rows[9:])
    assert all(cell.split("@")[0].endswith(":0") for row in rows[:3] for cell in row.split("\t")[1:])


@pytest.mark.parametrize("direct", [[], ["--inpass"]])
def test_an_audit_of_a_network_shows_the_output_without_the_tag(vwlite: Any, tmp_path: Path, direct: list[str]) -> None:
    """Hidden units are a separate example, unless the features are passed to the output with them."""
    (tmp_path / "d").write_text("1 'one |a x\n-1 'two |a x y\n")
    lines = vwlite("vw", "-d", tmp_path / "d", "--nn", "2", "-a", *direct).out.splitlines()
    tagged = {lines[i - 1].endswith((" one", " two")) for i, line in enumerate(lines) if "OutputLayer" in line}
    assert tagged == {bool(direct)}
    assert any(line.endswith(" one") for line in lines)


@pytest.mark.parametrize("slow", SLOW)
def test_each_class_learns_from_the_scores_that_were_shown(vwlite: Any, tmp_path: Path, slow: list[str]) -> None:
    """Label 4 teaches all three classes -1, so scores above 0 are clipped to 0 in the next example: also for
    classes after the right one, though its label of 1 widens the range. What 1 and 3 learn is the same."""
    (tmp_path / "d").write_text("4 |a x:-1\n2 |a x:2\n|a x\n")
    vwlite("vw", "-d", tmp_path / "d", "--oaa", "3", "-r", tmp_path / "r", *slow)
    first, second, third = (line.split() for line in (tmp_path / "r").read_text().splitlines())
    assert first == second == ["1:0", "2:0", "3:0"]
    scores = [float(score.partition(":")[2]) for score in third]
    assert scores[0] == scores[2] < 0 < scores[1]
