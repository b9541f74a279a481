"""Reductions of `vwlite vw`, each against a plain learner that is given the same steps."""

import random
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vwlite.vw.random import Random


def weights(path: Path) -> dict[int, list[float]]:
    """Slots and floats of a readable model."""
    lines = path.read_text().partition("l2_state")[2].splitlines()[1:]
    return {int(slot): [float(x) for x in rest.split()] for slot, _, rest in (line.partition(":") for line in lines)}


def agree(one: dict[int, list[float]], other: dict[int, list[float]], abs: float = 1e-5) -> None:
    assert one.keys() == other.keys() and len(one) > 5
    for slot, floats in one.items():
        assert floats == pytest.approx(other[slot], rel=1e-4, abs=abs)


# --- examples of several lines -----------------------------------------------------------------------


def groups() -> list[tuple[str, list[tuple[int, float, str]]]]:
    """Examples: the features of the shared line, and for each class its number, cost and features."""
    r = random.Random(5)
    found = []
    for _ in range(30):
        classes = sorted(r.sample(range(1, 7), r.randint(2, 4)))
        lines = [(c, r.randint(0, 4) / 2, f"|T t{c} {r.choice('abc')} {r.choice('def')}:{r.choice([0.5, 2])}")
                 for c in classes]
        found.append((r.choice(["", "|S x1 x2", "|S x2:0.5 x3"]), lines))
    return found


def grouped(found: list[tuple[str, list[tuple[int, float, str]]]]) -> str:
    out = []
    for shared, lines in found:
        out += [f"shared {shared}\n"] if shared else []
        out += [f"{c}:{cost} {features}\n" for c, cost, features in lines] + ["\n"]
    return "".join(out)


def negated(features: str) -> str:
    """The same features with the opposite values."""
    words = []
    for word in features.split(" "):
        name, _, value = word.partition(":")
        words.append(word if word.startswith("|") else f"{name}:{-float(value or 1)}")
    return " ".join(words)


def steps_of_m(shared: str, lines: list[tuple[int, float, str]]) -> list[str]:
    return [f"{cost} {features} {shared}\n" for _, cost, features in lines]


def steps_of_mc(shared: str, lines: list[tuple[int, float, str]]) -> list[str]:
    low, high = min(cost for _, cost, _ in lines), max(cost for _, cost, _ in lines)
    return [
        f"{-1 if cost == low else 1} {high - low if cost == low else cost - low} {features} {shared}\n"
        for _, cost, features in lines
    ]


def steps_of_wap(shared: str, lines: list[tuple[int, float, str]]) -> list[str]:
    """v(i) = the integral of 1 / (number of classes with a cost of at most t) over t from the least cost to c(i)."""
    costs = sorted(cost for _, cost, _ in lines)
    edges = list(enumerate(pairwise(costs), 1))
    value = {c: sum((b - a) / n for n, (a, b) in edges if b <= cost) for c, cost, _ in lines}
    return [
        f"{-1 if one[1] < other[1] else 1} {abs(value[one[0]] - value[other[0]])} {one[2]} {negated(other[2])}\n"
        for one, other in combinations(lines, 2)
        if value[one[0]] != value[other[0]]
    ]


@pytest.mark.parametrize(
    ("option", "steps"),
    [("--csoaa_ldf=m", steps_of_m), ("--csoaa_ldf=mc", steps_of_mc), ("--wap_ldf=m", steps_of_wap)],
)
def test_lines_are_learned_as_a_plain_learner_would(vwlite: Any, tmp_path: Path, option: str, steps: Any) -> None:
    found = groups()
    if "wap" in option:  # what is shared falls out of a difference
        found = [("", lines) for _, lines in found]
    (tmp_path / "d").write_text(grouped(found))
    (tmp_path / "plain").write_text("".join(step for group in found for step in steps(*group)))

    for name, more in (("d", [option]), ("plain", [])):
        vwlite("vw", "-d", tmp_path / name, *more, "--noconstant", "--readable_model", tmp_path / f"{name}.model")
    agree(weights(tmp_path / "d.model"), weights(tmp_path / "plain.model"))


def test_the_class_with_the_least_score_is_chosen_and_ranked_first(vwlite: Any, tmp_path: Path) -> None:
    found = groups()
    (tmp_path / "d").write_text(grouped(found))
    (tmp_path / "plain").write_text("".join(step for group in found for step in steps_of_m(*group)))
    at = {name: tmp_path / name for name in ("d", "plain", "m", "p", "rank", "odds")}
    vwlite("vw", "-d", at["plain"], "-f", at["m"])
    vwlite("vw", "-d", at["plain"], "-t", "-i", at["m"], "-r", at["p"])
    # The same weights under the other learner: learned in the same steps.
    vwlite("vw", "-d", at["d"], "--csoaa_ldf", "m", "-f", at["m"])
    vwlite("vw", "-d", at["d"], "-t", "-i", at["m"], "--csoaa_rank", "-p", at["rank"])
    scores = iter(float(x) for x in at["p"].read_text().split())
    ranked = [line for line in at["rank"].read_text().splitlines() if line]
    assert len(ranked) == len(found)
    for (_, lines), line in zip(found, ranked, strict=True):
        score = {c: next(scores) for c, _, _ in lines}
        shown = [(int(c), float(x)) for c, _, x in (pair.partition(":") for pair in line.split(","))]
        assert [x for _, x in shown] == sorted(x for _, x in shown)
        assert dict(shown) == pytest.approx(score, abs=2e-5)
    vwlite("vw", "-d", at["d"], "-t", "-i", at["m"], "-p", at["p"])
    chosen = [line.split() for line in at["p"].read_text().split("\n\n") if line.strip()]
    for line, shown in zip(ranked, chosen, strict=True):
        best = line.partition(":")[0]
        assert set(shown) <= {best, "0"} and shown.count(best) == 1


@pytest.mark.parametrize("bad", ["| a\n\n", "1:1 | a\n | b\n\n"])
def test_a_line_without_a_class_is_critical(vwlite: Any, tmp_path: Path, bad: str) -> None:
    (tmp_path / "d").write_text(bad)
    assert "no class" in vwlite("vw", "-d", tmp_path / "d", "--csoaa_ldf", "m", code=1).out


# --- neural networks ---------------------------------------------------------------------------------


def network(
    examples: list[tuple[list[int], float]], k: int, rate: float, seed: int, inpass: bool, dropout: bool
) -> list[float]:
    """What a network with k hidden units predicts before it learns each example by plain gradient descent.

    h = W x, p = (v, b) (tanh h, 1); v_i and b by the dloss of the loss, W_i by the step for half of the squared loss
    from h_i to h_i - dl/dh_i / 2. The bias of a unit, and v, begin at what one step leads to from 0 to a random number.
    """
    drawn, drops = Random(seed), Random(seed)
    size = 1 + max(i for features, _ in examples for i in features)
    hidden, behind, passed = np.zeros((k, size + 1)), np.zeros(k), np.zeros(size + 1)
    bias = np.array([2 * rate * (drawn.next() - 0.5) for _ in range(k)])
    # The bias has its own slot, not that of the constant: it only starts the randomness.
    assert (bias != 0).all()
    low = high = constant = 0.0
    out = []
    for features, label in examples:
        x = np.zeros(size + 1)
        x[features] = 1
        x[size] = 1
        low, high = min(low, label), max(high, label)
        h = np.clip(hidden @ x, -3, 3)
        off = np.array([dropout and drops.next() < 0.5 for _ in range(k)])
        for turn in range(2 if dropout else 1):
            scale = 2.0 if dropout else 1.0
            z = np.where(off, 0, scale * np.tanh(h))
            for i in range(k):
                if behind[i] == 0:
                    behind[i] = 2 * rate * (drawn.next() - 0.5) / np.sqrt(k)
            p = float(np.clip(behind @ z + (passed @ x if inpass else constant), low, high))
            if turn == 0:
                out.append(p)
            dloss = 2 * (p - label)
            behind = behind - rate * dloss * z
            if inpass:
                passed = passed - rate * dloss * x
            else:
                constant -= rate * dloss
            step = 0.5 * behind * dloss * scale * (1 - (z / scale) ** 2)
            goal = np.where(off, h, np.clip(h - step, -3, 3))
            hidden = hidden + 2 * rate * np.outer(goal - h, x)
            off = ~off
    return out


@pytest.mark.parametrize("flags", [[], ["--inpass"], ["--dropout"], ["--dropout", "--inpass"]])
def test_a_network_is_the_eager_one(vwlite: Any, tmp_path: Path, flags: list[str]) -> None:
    r = random.Random(2)
    examples = []
    for _ in range(150):
        features = sorted(r.sample(range(6), 3))
        examples.append((features, 1.0 if (0 in features) == (1 in features) else -1.0))
    (tmp_path / "d").write_text("".join(f"{y} | {' '.join(f'x{i}' for i in x)}\n" for x, y in examples))
    vwlite("vw", "-d", tmp_path / "d", "--nn", 3, "--sgd", "-l", 0.1, "--power_t", 0, "--random_seed", 7,
           "-p", tmp_path / "p", *flags)
    expected = network(examples, 3, 0.1, 7, "--inpass" in flags, "--dropout" in flags)
    assert [float(p) for p in (tmp_path / "p").read_text().split()] == pytest.approx(expected, abs=2e-3)
    assert max(abs(p) for p in expected[50:]) > 0.3


def test_a_network_learns_what_no_linear_model_can(vwlite: Any, tmp_path: Path) -> None:
    text = "".join(f"{a * b} | a:{a} b:{b}\n" for a in (-1, 1) for b in (-1, 1))
    (tmp_path / "d").write_text(text)
    at = {name: tmp_path / name for name in "dmp"}
    vwlite("vw", "-d", at["d"], "-c", "-k", "--passes", 300, "--holdout_off", "--nn", 5, "--random_seed", 2,
           "-f", at["m"])
    vwlite("vw", "-d", at["d"], "-t", "-i", at["m"], "-p", at["p"])
    assert [float(p) for p in at["p"].read_text().split()] == pytest.approx([1, -1, -1, 1], abs=0.1)


# --- the audit of a model ----------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [[], ["-q", "ab"], ["--ftrl"], ["--csoaa", "3"], ["--predict_only_model"]])
def test_an_audit_names_every_weight_of_a_model(vwlite: Any, tmp_path: Path, flags: list[str]) -> None:
    label = (lambda i: f"1:{i % 2} 2:1 3:{i % 3}") if "--csoaa" in flags else (lambda i: str(i % 2))
    (tmp_path / "d").write_text("".join(f"{label(i)} |a x{i % 7} y |b z{i % 3}:0.5\n" for i in range(40)))
    at = {name: tmp_path / name for name in ("d", "m", "names", "audit")}
    vwlite("vw", "-d", at["d"], "-f", at["m"], "--invert_hash", at["names"], *flags)
    done = vwlite("vw", "-d", at["d"], "-i", at["m"], "--audit_regressor", at["audit"])
    known = {}
    lines = at["names"].read_text().splitlines()
    for line in lines[next(i for i, line in enumerate(lines) if line in (":0", ":1")) + 1 :]:
        if line.count(":") == 2 and "::" not in line:
            name, slot, w = line.split(":")
            if float(w.split()[0]):
                known[slot] = (name.partition("[")[0], w.split()[0])
    found = {}
    for line in at["audit"].read_text().splitlines():
        *k, name, slot, w = line.split(":")
        assert slot not in found and len(k) == ("--csoaa" in flags)
        found[slot] = (name, w)
    assert found == known and len(found) > 9
    assert f"Regressor contains {len(found)} values" in done.err and "100%" in done.err.splitlines()[-1]


def test_an_audit_tells_of_weights_that_the_data_does_not_name(vwlite: Any, tmp_path: Path) -> None:
    at = {name: tmp_path / name for name in ("d", "e", "m", "audit")}
    at["d"].write_text("1 | a\n0 | b\n")
    at["e"].write_text("| a\n\n| a\n")
    vwlite("vw", "-d", at["d"], "-f", at["m"])
    done = vwlite("vw", "-d", at["e"], "-i", at["m"], "--audit_regressor", at["audit"])
    assert "(2 of 3 found)" in done.err
    assert "Nothing to audit" in vwlite("vw", "-d", at["e"], "--audit_regressor", at["audit"], code=1).out
    assert "--predictions" in vwlite("vw", "-d", at["e"], "--audit_regressor", at["audit"], "-p", at["m"], code=2).err


def test_an_audit_shows_the_powers_of_autolink(vwlite: Any, tmp_path: Path) -> None:
    """What Vowpal Wabbit 9.11 prints: weights outside of the slots have no names."""
    (tmp_path / "d").write_text("1 |a x y:2\n-1 |b z\n1 |a y x:3\n")
    found = vwlite("vw", "-d", tmp_path / "d", "--autolink", 2, "--audit", "--normalized", "--quiet").out.splitlines()
    of_second = ["Constant:116060:1:6.66667", "b^z:124687:1:0"]
    of_third = ["a^y:42847:1:3.33333", "Constant:116060:1:-1.41455"]
    assert found[4:] == [
        "1", "\t".join(["", *of_second]),
        "1", "\t".join(["", *of_second, ":256914:1:0", ":256915:1:0"]),
        "1", "\t".join(["", "a^x:55432:3:6.66667", *of_third]),
        "1", "\t".join(["", "a^x:55432:3:6.66667", ":256914:1:-8.08122", ":256915:1:-7.08122", *of_third]),
    ]


# --- experience replay -------------------------------------------------------------------------------


def replayed(lines: list[str], size: int, count: int, seed: int) -> list[str]:
    """The order in which a buffer plays lines: each new one takes the place of a random one, which is played."""
    drawn, buffer, out = Random(seed), [""] * size, []
    for line in lines:
        for _ in range(count):
            place = int(drawn.next() * size)
            out.append(buffer[place])
        buffer[place] = line
    return [line for line in [*out, *buffer] if line]


@pytest.mark.parametrize(
    ("level", "count", "flags", "label"),
    [("b", 1, [], "{0}"), ("b", 3, ["-q", "ab"], "{0}"), ("c", 2, ["--csoaa", "3"], "1:{0} 2:{1} 3:0.5")],
)
def test_a_buffer_plays_examples_in_a_random_order(
    vwlite: Any, tmp_path: Path, level: str, count: int, flags: list[str], label: str
) -> None:
    r = random.Random(8)
    lines = [f"{label.format(i % 2, i % 3)} |a x{r.randint(0, 9)} |b z{r.randint(0, 4)}:0.5\n" for i in range(50)]
    at = {name: tmp_path / name for name in ("d", "e", "one", "other")}
    at["d"].write_text("".join(lines))
    at["e"].write_text("".join(replayed(lines, 7, count, 5)))
    vwlite("vw", "-d", at["d"], f"--replay_{level}", 7, f"--replay_{level}_count", count, "--random_seed", 5,
           "--readable_model", at["one"], *flags)
    vwlite("vw", "-d", at["e"], "--readable_model", at["other"], *flags)
    agree(weights(at["one"]), weights(at["other"]))


def test_the_buffer_of_a_level_needs_its_learner(vwlite: Any, tmp_path: Path) -> None:
    for option in ("--replay_c", "--replay_m"):
        assert option in vwlite("vw", "-d", tmp_path / "d", option, 5, code=2).err


# --- the best of several lines, and a constant that is learned first -----------------------------------


def test_the_lines_with_the_largest_predictions_are_reported(vwlite: Any, tmp_path: Path) -> None:
    r = random.Random(9)
    sizes = [r.randint(1, 6) for _ in range(20)]
    text = ["".join(f"{r.randint(0, 3)} 't{g}_{i} |a x{r.randint(0, 9)} y{r.randint(0, 3)}\n" for i in range(size))
            for g, size in enumerate(sizes)]
    at = {name: tmp_path / name for name in ("d", "top", "plain")}
    at["d"].write_text("\n".join(text))
    vwlite("vw", "-d", at["d"], "--top", 2, "-p", at["top"])
    vwlite("vw", "-d", at["d"], "-p", at["plain"])
    predicted = iter([(float(p), tag) for p, tag in map(str.split, at["plain"].read_text().splitlines())])
    printed = [[line.split() for line in group.splitlines()] for group in at["top"].read_text().split("\n\n") if group]
    assert len(printed) == len(sizes)
    for size, lines in zip(sizes, printed, strict=True):
        scores = {tag: p for p, tag in [next(predicted) for _ in range(size)]}
        shown = [(float(p), tag) for p, tag in lines]
        assert [p for p, _ in shown] == pytest.approx(sorted(scores.values())[-2:], abs=2e-6)
        assert all(scores[tag] == pytest.approx(p, abs=2e-6) for p, tag in shown)


def baseline(examples: list[tuple[list[int], float]], rate: float, multiplier: float, separate: bool) -> list[float]:
    """What c + f(x) predicts before it learns: c by gradient descent from y, then f from y with c in its place."""
    w, constant, c = np.zeros(10), 0.0, 0.0
    low = high = 0.0
    out = []
    for x, y in examples:
        out.append(min(max((c + constant if separate else constant) + w[x].sum(), low), high))
        low, high = min(low, y), max(high, y)
        own = c if separate else constant
        p = min(max(own, low), high)
        step = -rate * multiplier * 2 * (p - y)
        if separate:
            c += step
        else:
            constant += step
        p = min(max(p + w[x].sum() + (constant if separate else 0), low), high)
        w[x] -= rate * 2 * (p - y)
        if separate:
            constant -= rate * 2 * (p - y)
    return out


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("multiplier", [1, 2.5])
def test_a_baseline_learns_first_and_the_rest_what_it_leaves(
    vwlite: Any, tmp_path: Path, separate: bool, multiplier: float
) -> None:
    r = random.Random(4)
    examples = [(r.sample(range(10), 3), r.choice([1.0, 3.0, 4.0])) for _ in range(80)]
    at = {name: tmp_path / name for name in "dp"}
    at["d"].write_text("".join(f"{y} | {' '.join(f'x{i}' for i in x)}\n" for x, y in examples))
    vwlite("vw", "-d", at["d"], "-p", at["p"], "--baseline", "--sgd", "-l", 0.02, "--power_t", 0,
           "--lr_multiplier", multiplier, *(["--global_only"] if separate else []))
    expected = baseline(examples, 0.02, multiplier, separate)
    assert [float(p) for p in at["p"].read_text().split()] == pytest.approx(expected, abs=1e-4)


# --- stochastic variance reduced gradient ------------------------------------------------------------


def test_svrg_is_the_eager_one(vwlite: Any, tmp_path: Path) -> None:
    r = random.Random(6)
    examples = [(r.sample(range(6), 2), r.choice([-1.0, 2.0]), r.choice([1, 2])) for _ in range(20)]
    at = {name: tmp_path / name for name in "dp"}
    at["d"].write_text("".join(f"{y} {k} | {' '.join(f'x{i}' for i in x)}\n" for x, y, k in examples))
    vwlite("vw", "-d", at["d"], "-p", at["p"], "--svrg", "--stage_size", 2, "-l", 0.05, "--passes", 5, "-c",
           "--holdout_off")
    w, v, mean, low, high, expected = np.zeros(7), np.zeros(7), np.zeros(7), 0.0, 0.0, []
    for number in range(5):
        if number % 3 == 0:
            v, mean = w.copy(), np.zeros(7)
        for features, y, importance in examples:
            x = np.zeros(7)
            x[[*features, 6]] = 1
            low, high = min(low, y), max(high, y)
            p, stable = (float(np.clip(z @ x, low, high)) for z in (w, v))
            expected.append(p)
            if number % 3 == 0:
                mean += 2 * (stable - y) * importance * x / len(examples)
            else:
                w -= 0.05 * x * (2 * (p - stable) * importance * x + mean)
    assert [float(p) for p in at["p"].read_text().split()] == pytest.approx(expected, abs=1e-4)
    assert max(map(abs, expected)) > 0.5
