"""`vwlite gradient`, `vwlite step`, `vwlite solve --shards`: the optimum of all shards, and what may not be mixed."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from crafted_models import put_together, taken_apart
from running import PATIENT, shell, start
from sets import SETS
from text_problems import SMOOTH, weights_of

from vwlite.model import read_model

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "data/sources.train.vw"
RCV1 = SETS / "rcv1.train.libsvm.gz"
STRENGTHS = {
    "l1": ["--l1", 0.02],
    "l2": ["--l2", 0.1],
    "elastic": ["--l1", 0.01, "--l2", 0.05],
    "radius": ["--radius", 0.7],
    "radius and l2": ["--radius", 0.7, "--l2", 0.05],
}


def split(path, count=3):
    """The lines of a file in shards of about equal size, dealt out."""
    lines = Path(path).read_text().splitlines(keepends=True)
    names = [f"shard{i}" for i in range(count)]
    for i, name in enumerate(names):
        Path(name).write_text("".join(lines[i::count]))
    return names


def report_of(path="r"):
    return json.loads(Path(path).read_text())


class Run:
    """Rounds by hand, over the shards of a file."""

    def __init__(self, vwlite, shards, *options):
        self.vwlite, self.shards = vwlite, shards
        self.gradients = [f"{s}.grad" for s in shards]
        vwlite("step", "--init", *options, "-i", "state", "-o", "w")

    def ask(self, *options):
        for shard, gradient in zip(self.shards, self.gradients, strict=True):
            self.vwlite("gradient", shard, "-i", "w", "-o", gradient, *options)

    def step(self, *options, code=0):
        return self.vwlite("step", *self.gradients, "-i", "state", "-o", "w", *options, code=code)

    def until_the_end(self, *options, certificate=True):
        for _ in range(300):
            self.ask(*["--certificate"] * certificate)
            word = self.step(*options).out.strip()
            if word != "continue":
                return word
        raise AssertionError("there is no end")


@pytest.fixture
def rounds(vwlite, at):
    return Run(vwlite, split("logistic"), "--loss", "logistic", "--l1", 0.02)


# --- the optimum -------------------------------------------------------------------------------


@pytest.mark.pairwise
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("name", STRENGTHS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_shards_have_the_optimum_of_the_whole(vwlite, at, loss, name, constant):
    options = ["--loss", loss, *STRENGTHS[name], *([] if constant else ["--no-constant"])]
    vwlite("solve", loss, *options, "--tolerance", 1e-9, "-m", "whole", "--report", "r")
    whole = report_of()["results"]["objective"]
    vwlite("solve", *split(loss), "--shards", 2, *options, "--tolerance", 1e-7, "-m", "m", "--report", "r")
    found = report_of()["results"]
    assert found["objective"] == pytest.approx(whole, rel=1e-6)
    assert found["lower bound"] <= whole * (1 + 1e-9)
    (w, b), (expected, b_expected) = weights_of("m"), weights_of("whole")
    np.testing.assert_allclose(w, expected, atol=1e-2)
    assert b == pytest.approx(b_expected, abs=1e-2)
    solved = read_model("m").solved
    assert (solved["objective"], solved["passes"]) == (found["objective"], found["rounds"])


@pytest.mark.parametrize("name", ["elastic", "radius"])
def test_steps_by_hand_are_those_of_one_machine(vwlite, at, name):
    shards = split("logistic")
    run = Run(vwlite, shards, "--loss", "logistic", *STRENGTHS[name])
    assert run.until_the_end("--tolerance", 1e-4) == "converged"
    by_hand = Path("w").read_bytes()
    for order, processes in ((shards, 1), (shards[::-1], 2), (shards, 3), (shards, 7)):
        options = ["--loss", "logistic", *STRENGTHS[name], "--tolerance", 1e-4]
        vwlite("solve", *order, "--shards", processes, *options, "-m", "m")
        assert Path("m").read_bytes() == by_hand
    vwlite("certify", "-m", "w", *shards)


def test_the_order_of_gradients_and_their_names_make_no_difference(rounds):
    for _ in range(3):
        rounds.ask()
        rounds.step()
    state, model = Path("state").read_bytes(), Path("w").read_bytes()
    Run(rounds.vwlite, rounds.shards, "--loss", "logistic", "--l1", 0.02)
    for _ in range(3):
        rounds.ask()
        for i, name in enumerate(rounds.gradients):
            Path(name).rename(f"{9 - i}")
        rounds.vwlite("step", "8", "9", "7", "-i", "state", "-o", "w")
    assert (Path("state").read_bytes(), Path("w").read_bytes()) == (state, model)


def test_without_certificates_it_ends_too(rounds):
    assert rounds.until_the_end("--tolerance", 1e-6, "--report", "r", certificate=False) == "converged"
    found = report_of()["results"]
    assert "gap" not in found and "lowered" in found["ended"]
    rounds.vwlite("solve", "logistic", "--loss", "logistic", "--l1", 0.02, "--tolerance", 1e-9, "--report", "r")
    assert found["objective"] == pytest.approx(report_of()["results"]["objective"], rel=1e-5)


def test_a_run_goes_on_with_another_tolerance(rounds):
    assert rounds.until_the_end("--tolerance", 0.1) == "converged"
    assert read_model("w").solved["objective"] is not None
    assert rounds.vwlite("step", "-i", "state", "-o", "w", "--tolerance", 0.1).out == "converged\n"
    assert rounds.vwlite("step", "-i", "state", "-o", "w", "--tolerance", 1e-5).out == "continue\n"
    assert read_model("w").solved["objective"] is None
    assert rounds.until_the_end("--tolerance", 1e-5) == "converged"
    by_two = Path("w").read_bytes()
    rounds.vwlite("step", "--init", "--loss", "logistic", "--l1", 0.02, "-i", "state", "-o", "w")
    rounds.until_the_end("--tolerance", 1e-5)
    assert by_two == Path("w").read_bytes()


def test_tables_are_shards_too(vwlite, at):
    chance, rows = random.Random(3), []
    for _ in range(60):
        a, city = chance.gauss(0, 1), chance.choice(["rome", "oslo", "bern"])
        rows.append(f"{1 if a + (city == 'rome') + chance.gauss(0, 1) > 0 else -1},{a:.3f},{city}\n")
    for i in range(3):
        Path(f"part{i}.csv").write_text("bought,a,city\n" + "".join(rows[i::3]))
    Path("all.csv").write_text("bought,a,city\n" + "".join(rows))
    run = Run(vwlite, [f"part{i}.csv" for i in range(3)], "--loss", "logistic", "--l1", 0.01)
    for _ in range(100):
        run.ask("--label", "bought", "--certificate")
        if run.step("--tolerance", 1e-6).out != "continue\n":
            break
    by_hand = read_model("w")
    vwlite("solve", "all.csv", "--label", "bought", "--loss", "logistic", "--l1", 0.01, "--tolerance", 1e-9, "-m", "m")
    whole = read_model("m")
    assert by_hand.columns == whole.columns
    assert by_hand.solved["objective"] == pytest.approx(whole.solved["objective"], rel=1e-6)
    vwlite("predict", "-m", "w", "all.csv", "-p", "p")
    Path("part1.csv").write_text("bought,a,city\n1,2,5\n-1,3,6\n")  # a column of words that are numbers here
    run = Run(vwlite, run.shards, "--loss", "logistic", "--l1", 0.01)
    run.ask("--label", "bought")
    assert "are of tables whose columns mean different things" in refusal(run)
    run.ask("--label", "bought", "--categorical", "city")
    assert run.step().out == "continue\n"


def test_it_begins_from_a_model(vwlite, at):
    shards = split("logistic")
    for i, shard in enumerate(shards):
        vwlite("train", shard, "--algorithm", "adagrad", "--loss", "logistic", "-m", f"{i}.model")
    vwlite("merge", *(f"{i}.model" for i in range(3)), "-o", "merged")
    vwlite("step", "--init", "--start", "merged", "--l1", 0.02, "-i", "state", "-o", "w")
    for x, y in zip(weights_of("w"), weights_of("merged"), strict=True):
        np.testing.assert_array_equal(x, y)
    vwlite("solve", *shards, "--shards", 2, "-i", "merged", "--l1", 0.02, "-m", "m", "--report", "r")
    warm = report_of()
    vwlite("solve", *shards, "--shards", 2, "--loss", "logistic", "--l1", 0.02, "-m", "m", "--report", "r")
    cold = report_of()
    assert warm["rounds"][0]["objective"] < cold["rounds"][0]["objective"]
    assert warm["results"]["objective"] == pytest.approx(cold["results"]["objective"], rel=1e-3)


def test_caches_and_text_give_the_same_gradient(vwlite, rounds):
    rounds.vwlite("gradient", "shard0", "-i", "w", "-o", "a")
    for _ in range(2):  # a cache that is made, and one that is there
        rounds.vwlite("gradient", "shard0", "-i", "w", "-o", "b", "--cache-file", "cache", "--threads", 1)
        assert Path("a").read_bytes() == Path("b").read_bytes()
    rounds.vwlite("gradient", "shard0", "-i", "w", "-o", "b", "--memory", "3M", "--report", "r")
    assert Path("a").read_bytes() == Path("b").read_bytes()
    assert report_of()["results"]["number of examples"] > 0


def test_processes_take_the_options_of_solve(vwlite, at):
    shards, options = split(SOURCES, 3), ["--loss", "logistic", "--l1", 0.005, "--tolerance", 0.01]
    said = vwlite("solve", *shards, "--shards", 2, *options, "-m", "m")
    assert said.err.startswith("solver = owl-qn, loss = logistic, shards = 3\n")
    for more in (["-c"], ["-c"], ["--memory", "30M"], ["--threads", 1], ["--on-error", "skip"]):
        assert vwlite("solve", *shards, "--shards", 2, *options, *more, "-m", "n", "--quiet").err == ""
        assert Path("n").read_bytes() == Path("m").read_bytes()
    assert all(Path(f"{shard}.vwlite-cache").exists() for shard in shards)
    said = vwlite("solve", *shards, "--shards", 2, *options, "--max-passes", 3, "-m", "n", "--report", "r")
    assert "warning: --max-passes 3 is reached: the gap is" in said.err
    found = report_of()
    assert (len(found["rounds"]), found["results"]["rounds"]) == (3, 3)
    assert found["results"]["warning"] == "--max-passes 3 is reached"
    assert read_model("n").solved["objective"] == found["results"]["objective"]
    said = vwlite("solve", *shards, "--shards", 2, *options, "--max-seconds", 0)
    assert "--max-seconds 0 is over" in said.err
    said = vwlite("solve", *shards, "--shards", 2, *options, "--memory", "1k", code=65)
    assert "--memory" in said.err


def test_a_gradient_is_what_numpy_reads(rounds):
    rounds.ask("--certificate")
    with np.load("shard0.grad") as found:
        assert found["keys"].dtype == np.uint32 and np.all(np.diff(found["keys"].astype(int)) > 0)
        assert len(found["keys"]) == len(found["more_slopes"]) == len(found["more_second"])
        lines = [line for line in Path("shard0").read_text().splitlines() if line]
        assert found["more_sums"][1] / found["more_sums"][0] == pytest.approx(np.log(2))
        assert json.loads(str(found["header"]))["counters"]["examples"] == len(lines)


def test_the_loop_of_the_help_runs(vwlite, at):
    text = (ROOT / "vwlite/help/rounds.txt").read_text()
    blocks = re.findall(r"(?:^    .*\n)+", text, re.M)
    loop = next(block for block in blocks if "while" in block)
    assert len(loop.splitlines()) <= 15
    for name in split("logistic"):
        Path(name).rename(f"part{name}.vw")
    done = shell(f"cd {at}; {loop.replace('1e-4', '0.02')}\necho $word")
    assert (done.code, done.out) == (0, "continue\nconverged\n"), done
    options = ["--loss", "logistic", "--l1", 0.02]
    vwlite("solve", *sorted(at.glob("part*.vw")), "--shards", 2, *options, "-m", "m")
    assert Path("m").read_bytes() == Path("w.model").read_bytes()


# --- how many rounds -----------------------------------------------------------------------------


def rounds_to(suboptimality, found, optimum):
    return next(row["round"] for row in found["rounds"] if row["objective"] <= optimum * (1 + suboptimality))


def test_few_rounds_are_enough(vwlite, at):
    options = ["--loss", "logistic", "--l1", 0.002]
    for constant in ([], ["--no-constant"]):
        vwlite("solve", SOURCES, *options, *constant, "--tolerance", 1e-6, "--report", "r")
        optimum = report_of()["results"]["objective"]
        vwlite("solve", *split(SOURCES, 8), "--shards", 2, *options, *constant, "--tolerance", 1e-3, "--report", "r")
        assert rounds_to(1e-3, report_of(), optimum) <= 30


@pytest.mark.skipif(not RCV1.exists(), reason="the data set is not here")
@pytest.mark.parametrize("constant", [True, False])
def test_rounds_of_rcv1(vwlite, at, constant):
    import gzip

    lines = gzip.decompress(RCV1.read_bytes()).splitlines(keepends=True)
    for i in range(8):
        Path(f"shard{i}").write_bytes(b"".join(lines[i::8]))
    shards = [f"shard{i}" for i in range(8)]
    options = ["--loss", "logistic", "--l1", 1e-4, *([] if constant else ["--no-constant"])]
    vwlite("solve", *shards, *options, "--tolerance", 1e-5, "--report", "r")
    optimum = report_of()["results"]["objective"]
    vwlite("solve", *shards, "--shards", 2, *options, "--max-passes", 25, "--report", "r")
    assert rounds_to(1e-3, report_of(), optimum) <= 25


def test_far_on_rounds_have_a_row_now_and_then(vwlite, at):
    shards, options = split(SOURCES, 2), ["--loss", "logistic", "--l1", 1e-6, "--tolerance", 1e-9]
    said = vwlite("solve", *shards, "--shards", 2, *options, "--max-passes", 150, "--report", "r").err
    shown = [int(line.split()[0]) for line in said.splitlines() if line[:6].strip().isdigit()]
    assert shown == [*range(1, 101), *range(101, 110), 110, 112, 114, 116, 118, 120, 123, 126, 129, 132, 136, 140, 145,
                     150]  # fmt: skip
    assert [row["round"] for row in report_of()["rounds"]] == list(range(1, 151))


# --- what goes wrong -----------------------------------------------------------------------------


def test_a_step_that_was_killed_is_taken_again(rounds):
    rounds.ask()
    before = Path("state").read_bytes(), Path("w").read_bytes()
    rounds.step()
    after = Path("state").read_bytes(), Path("w").read_bytes()
    Path("w").write_bytes(before[1])  # killed between its two files
    said = rounds.step()
    assert "taken these gradients before" in said.err and said.out == "continue\n"
    assert (Path("state").read_bytes(), Path("w").read_bytes()) == after
    Path("w").unlink()
    assert rounds.vwlite("step", "-i", "state", "-o", "w").out == "continue\n"
    assert (Path("state").read_bytes(), Path("w").read_bytes()) == after


def changed(path, **facts):
    """The file with other facts in its header."""
    parts = taken_apart(Path(path).read_bytes())
    parts.header |= facts
    Path(path).write_bytes(put_together(parts))


def refusal(rounds, code=65):
    """What a step says that is refused; nothing is written by it."""
    before = Path("state").read_bytes(), Path("w").read_bytes()
    said = rounds.step(code=code)
    assert (Path("state").read_bytes(), Path("w").read_bytes()) == before
    assert said.out == "" and not temporary(Path("."))
    return said.err


def test_gradients_that_do_not_belong_together(rounds, vwlite):
    rounds.ask()
    first = [Path(name).read_bytes() for name in rounds.gradients]
    Path("shard0.grad").unlink()
    assert "shard0.grad: No such file" in refusal(rounds, 66)
    Path("shard0.grad").write_bytes(first[1])
    assert "shard0.grad and shard1.grad are of the same examples" in refusal(rounds)
    for damaged in (first[0][:-100], first[0][:50], b"", first[0][:300] + b"?" + first[0][301:]):
        Path("shard0.grad").write_bytes(damaged)
        assert re.match(r"shard0\.grad: (not a whole gradient|not a gradient|damaged)", refusal(rounds))
    Path("shard0.grad").write_bytes(Path("w").read_bytes())
    assert "it is a model, not a gradient" in refusal(rounds)
    Path("shard0.grad").write_bytes(first[0])
    vwlite("gradient", "shard1", "-i", "w", "-o", "shard1.grad", "--certificate")
    assert re.match(r"shard1.grad has a certificate and shard\d.grad has none: make all", refusal(rounds))
    Path("shard1.grad").write_bytes(first[1])
    rounds.step()
    vwlite("gradient", "shard0", "-i", "w", "-o", "shard0.grad")
    assert "of the weights of two rounds" in refusal(rounds)
    rounds.ask()
    rounds.step()
    for name, content in zip(rounds.gradients, first, strict=True):
        Path(name).write_bytes(content)
    assert "shard0.grad is of other weights than state asks for" in refusal(rounds)
    rounds.ask()
    rounds.gradients = rounds.gradients[1:]
    assert "no gradient of a shard of the rounds before: that of" in refusal(rounds)
    vwlite("gradient", "logistic", "-i", "w", "-o", "shard0.grad")
    rounds.gradients = ["shard0.grad", *rounds.gradients]
    assert "shard0.grad is of examples that the rounds before did not have" in refusal(rounds)


def test_a_step_is_not_repeated_with_other_shards(rounds):
    """Those that it was not taken with would be left out silently."""
    rounds.ask()
    every, rounds.gradients = rounds.gradients, rounds.gradients[1:]
    rounds.step()
    assert "has taken these gradients before" in rounds.step().err
    rounds.gradients = every
    assert "shard0.grad is of examples that the rounds before did not have" in refusal(rounds)
    rounds.gradients = every[2:]
    assert "there is no gradient of a shard of the rounds before" in refusal(rounds)


@pytest.mark.parametrize(
    "facts, words",
    [
        ({"program": "vwlite 9.9"}, "all rounds need one version"),
        ({"format": 9}, "needs vwlite"),
        ({"shard": "x"}, "does not say what it is of"),
        ({"counters": {"examples": -1, "unlabelled": 0, "features": 0}}, "a counter cannot be"),
        ({"options": {"bits": 99}}, "not a valid gradient"),
        ({"columns": 3}, "no columns"),
        ({"more": 3}, "not that of a gradient"),
        ({"kind": "state"}, "a state of vwlite step, not a gradient"),
        ({"kind": ["state"]}, "not a"),
    ],
)
def test_headers_of_gradients(rounds, facts, words):
    rounds.ask()
    changed("shard1.grad", **facts)
    assert words in refusal(rounds)


def test_another_problem(rounds, vwlite):
    rounds.ask()
    vwlite("step", "--init", "--loss", "logistic", "--l1", 0.02, "--bits", 10, "-i", "other", "-o", "v")
    vwlite("gradient", "shard1", "-i", "v", "-o", "shard1.grad")
    assert "shard1.grad is of another problem than state: --bits is not the same (10 and 32)" in refusal(rounds)


def test_numbers_that_are_none(rounds):
    rounds.ask()
    parts = taken_apart(Path("shard1.grad").read_bytes())
    kind, shape, content = parts.arrays["more_slopes"]
    parts.arrays["more_slopes"] = (kind, shape, np.float64("nan").tobytes() + content[8:])
    Path("shard1.grad").write_bytes(put_together(parts))
    assert "shard1.grad: not a valid gradient: more_slopes has a number that is not finite" in refusal(rounds)


VALUES = [None, 0, -1, 2.5, 1e308, "", "x", "0" * 64, [], {}, [1], [["0" * 16, 1, 2]], {"a": 1}, True, 10**30,
          float("nan"), float("inf"), "\ud800"]  # fmt: skip


def damaged(content, chance):
    """A gradient or a state in which something is not what it was, with the right digest."""
    parts = taken_apart(content)
    if chance.random() < 0.6:
        facts, name = parts.header, chance.choice(sorted(parts.header))
        if isinstance(facts[name], dict) and facts[name] and chance.random() < 0.6:
            facts, name = facts[name], chance.choice(sorted(facts[name]))
        facts[name] = chance.choice(VALUES)
        return put_together(parts)
    name = chance.choice(sorted(parts.arrays))
    kind, shape, numbers = parts.arrays.pop(name)
    size = int(kind[2:])
    other = np.array([chance.choice([1e308, -1e308, 0, 1e-320, -1])]).tobytes()[:size]
    parts.arrays |= chance.choice([
        {}, {name: (chance.choice(["<f4", "<u4", "<f8"]), shape, numbers)}, {"more_s9": (kind, shape, numbers)},
        {name: (kind, f"({len(numbers) // size - 1},)", numbers[size:])}, {name: (kind, shape, other + numbers[size:])},
        {name: (kind, shape, numbers[::-1])},
    ])  # fmt: skip
    return put_together(parts)


@pytest.mark.parametrize("strength", [["--l1", 0.02], ["--radius", 0.5]])
def test_damaged_files_end_in_a_sentence(vwlite, at, strength):
    run = Run(vwlite, split("logistic", 2), "--loss", "logistic", *strength)
    for _ in range(3):
        run.ask("--certificate")
        run.step()
    run.ask("--certificate")
    healthy = {name: Path(name).read_bytes() for name in ("state", "w", *run.gradients)}
    codes = set()
    for seed in range(120):
        chance = random.Random(seed)
        for name, content in healthy.items():
            Path(name).write_bytes(content)
        name = chance.choice(["state", "shard1.grad"])
        Path(name).write_bytes(damaged(healthy[name], chance))
        before = {name: Path(name).read_bytes() for name in healthy}
        said = run.step(code=None)
        assert said.code in (0, 65) and "internal error" not in said.err, (seed, said)
        assert said.code == 0 or before == {name: Path(name).read_bytes() for name in healthy}, seed
        codes.add(said.code)
    assert codes == {0, 65}


def test_a_gradient_is_no_model(rounds):
    rounds.ask()
    assert "not a model: it is a gradient" in rounds.vwlite("info", "shard0.grad", code=65).err
    assert "not a model: it is a state" in rounds.vwlite("predict", "-m", "state", "logistic", code=65).err
    assert "it is a gradient of vwlite gradient, not a state" in rounds.vwlite(
        "step", "-i", "shard0.grad", "-o", "w", code=65
    ).err


WRONG = [
    ("gradient shard0 -o g", 2, "--initial"),
    ("gradient shard0 -i nothing -o g", 66, "nothing: No such file"),
    ("gradient nothing -i w -o g", 66, "nothing: No such file"),
    ("gradient shard0 -i online -o g", 2, "begin from it with vwlite step --init --start online"),
    ("gradient shard0 -i w -o shard0", 2, "which it would overwrite"),
    ("gradient shard0 -i w -o w", 2, "which it would overwrite"),
    ("gradient shard0 -i w -o -", 2, "--output -"),
    ("gradient empty -i w -o g", 65, "no example with a label"),
    ("gradient squared -i w -o g", 65, "label"),
    ("gradient shard0 -i w -o folder/g", 73, "folder/g"),
    ("step -i state", 2, "--model"),
    ("step --init -i s -o v", 2, "how strong?"),
    ("step --init --l1 1 --radius 2 -i s -o v", 2, "exclude each other"),
    ("step --init --l1 1 --start nothing -i s -o v", 66, "nothing: No such file"),
    ("step --init --l1 1 shard0.grad -i s -o v", 2, "leave one of them out"),
    ("step --init --l1 1 --loss hinge -i s -o v", 2, "hinge"),
    ("step --init --l1 1 --start classes -i s -o v", 2, "--oaa is not solved in rounds"),
    ("step -i state -o w --l1 1", 2, "--l1 is for --init"),
    ("step -i state -o w --start online", 2, "--start is for --init"),
    ("step shard0.grad shard0.grad -i state -o w", 2, "are one file"),
    ("step shard0.grad -i state -o shard0.grad", 2, "which it would overwrite"),
    ("step shard0.grad -i state -o state", 2, "are both"),
    ("step shard0.grad -i nothing -o w", 66, "nothing: No such file"),
    ("step shard0.grad -i w -o v", 65, "it is a model, not a state"),
    ("step - -i state -o w", 2, "files"),
    ("solve shard0 shard1 --shards 2", 2, "how strong?"),
    ("solve --shards 2 --l1 1", 2, "standard input is none"),
    ("solve shard0 shard1 --shards 2 --l1-of-max 0.1", 2, "--shards and --l1-of-max exclude each other"),
    ("solve shard0 shard1 --shards 2 --l1 0.1 --solver cd", 2, "--shards and --solver cd exclude each other"),
    ("solve shard0 shard1 --shards 2 --nonzeros 3", 2, "--nonzeros is not solved in rounds"),
    ("solve shard0 shard1 --shards 2 --l1 0.1 --nonnegative", 2, "--nonnegative is not solved in rounds"),
    ("solve shard0 shard1 --shards 2 --l1 0.1 --cache-file c", 2, "use --cache"),
    ("solve shard0 nothing --shards 2 --l1 0.1", 66, "nothing: No such file"),
    ("solve shard0 bad --shards 2 --l1 0.1", 65, "bad:1:"),
    ("solve shard0 empty --shards 2 --l1 0.1", 65, "no example with a label"),
    ("solve shard0 shard0 --shards 2 --l1 0.1", 65, "are of the same examples"),
    ("solve ones more --shards 2 --l1 0.1", 65, "on one side"),
]


@pytest.mark.parametrize("command, code, words", WRONG, ids=[command for command, _, _ in WRONG])
def test_what_cannot_be(rounds, vwlite, command, code, words):
    rounds.ask()
    Path("empty").write_text("")
    Path("bad").write_text("1 |a b:c\n")
    Path("ones").write_text("1 |a b\n")
    Path("more").write_text("1 |a c\n")
    vwlite("train", "ok", "-m", "online", "--loss", "logistic")
    Path("two").write_text("1 |a b\n2 |a c\n")
    vwlite("train", "two", "-m", "classes", "--loss", "logistic", "--oaa", 2)
    files = {path: path.read_bytes() for path in Path(".").iterdir()}
    said = vwlite(*command.split(), code=code)
    assert words in said.err, said
    assert {path: path.read_bytes() for path in Path(".").iterdir()} == files


def temporary(folder):
    """Files that were begun and are left."""
    return [path.name for path in Path(folder).iterdir() if path.name.endswith((".tmp", ".lock"))]


def children_of(pid):
    return [int(x) for x in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def started(at):
    """A run over shards that goes on for long, and its processes."""
    options = ["--loss", "logistic", "--l1", 1e-9, "--tolerance", 0]
    process = start("solve", *split(SOURCES, 4), "--shards", 2, *options, "-m", "m", cwd=at)
    assert process.stderr is not None
    for line in process.stderr:  # the first rounds
        if line.split()[:1] == [b"3"]:
            break
    return process


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
def test_a_process_that_is_killed(at):
    process = started(at)
    first, second = children_of(process.pid)
    os.kill(first, signal.SIGKILL)
    _, err = process.communicate(timeout=PATIENT)
    assert process.returncode == 71
    assert b"the process that holds shard0, shard2 has ended with signal 9" in err
    assert not Path("m").exists() and not temporary(at)
    gone(second)


@pytest.mark.third
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_whoever_asks(at, number):
    process = started(at)
    children = children_of(process.pid)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENT)
    for child in children:
        gone(child)
    if number == signal.SIGKILL:
        return
    assert process.returncode == 128 + number
    assert b"the model as of then is m" in err
    assert read_model("m").interrupted and not temporary(at)
    options = ["--loss", "logistic", "--l1", 1e-9]
    done = subprocess.run(
        [sys.executable, "-m", "vwlite", "solve", "shard0", "--shards", "1", "-i", "m", *map(str, options[2:]),
         "--max-passes", "2"],
        cwd=at, capture_output=True, timeout=PATIENT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done


def gone(pid):
    end = time.monotonic() + PATIENT
    while Path(f"/proc/{pid}").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < end
        time.sleep(0.05)
