"""`vwlite algorithms`: the table and the pages say what the registry and the program say."""

import re
import shlex
from pathlib import Path

import pytest
from docs import help_of

from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.rules import rule_class
from vwlite.algorithms.settings import SPECS, Settings
from vwlite.algorithms.solvers import SOLVERS, best_solver
from vwlite.algorithms.table import ALGORITHMS, CHOICES, SCHEDULE
from vwlite.core.learn.rule import Rule
from vwlite.core.solve.solver import Solver
from vwlite.help.algorithms import SOLVERS_FOLLOW, WIDTH, defaults
from vwlite.options.spec import option_name
from vwlite.solving.solve import solver_class
from vwlite.training.auto import amounts, classes, derive, grid, mean_model, rare, rescaled, selection, times

ROOT = Path(__file__).parents[2]
FLAGS = {"--average", "--nonnegative"}  # options without a value


def sections(page):
    """The parts of a page, by heading; the first lines under ''. Without the page of a solver of the same name."""
    page = page.split("\n\n\n")[0]
    parts = re.split(r"\n\n(\S.*):\n", page)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def test_the_table_has_every_algorithm_with_formula_defaults_and_paper(vwlite):
    out = vwlite("algorithms").out.split(f"\n\n{SOLVERS_FOLLOW}\n\n")
    rows, solvers = (part.split("\n\n") for part in out)
    assert [row.split()[0] for row in rows] == list(CHOICES)
    assert [row.split()[0] for row in solvers] == list(SOLVERS)
    for row, s in zip(solvers, SOLVERS.values(), strict=True):
        words = " ".join(row.split())
        assert all(" ".join(text.split()) in words for text in (s.summary, s.formula, s.paper, *s.losses))
        assert max(map(len, row.splitlines())) <= WIDTH
    for row, a in zip(rows, CHOICES.values(), strict=True):
        words = " ".join(row.split())
        for text in (a.summary, a.formula, a.paper):
            assert " ".join(text.split()) in words
        for option, default in defaults(a).items():
            assert f"{option} {default}" in words
        assert max(map(len, row.splitlines())) <= WIDTH


def test_defaults_are_those_in_use():
    for a in ALGORITHMS.values():
        shown = defaults(a)
        assert list(shown) == [option_name(n) for n in (*a.options, *a.defaults)]
        for name in (*a.options, *a.defaults):
            value, text = getattr(Settings.of(a.name), name), shown[option_name(name)]
            if name in a.required:
                assert text == "required"
            elif isinstance(value, float | int) and not isinstance(value, bool):
                assert float(text) == value
            elif value is None or value is False:
                assert text in ("inf", "1", "off", "no limit", "2 ln d", "2^bits", "those seen so far")
            else:
                assert text == value


def named(text):
    """The options in a text."""
    return re.findall(r"--[a-z0-9-]+", text)


@pytest.mark.parametrize("name", CHOICES)
def test_what_a_page_says_is_refused_is_refused(vwlite, name, tmp_path):
    a = CHOICES[name]
    loss_refused = next((x for x in LOSSES if x not in a.losses), "")
    values = {"--update": "cmd", "--gravity": "rate", "--smidas-p": "4", "--feature-weights": "w.txt"}
    values["--loss"] = loss_refused
    (tmp_path / "d.vw").write_text("1 | a\n")
    rest = [tmp_path / "d.vw", "--algorithm", name, *(word for n in a.required for word in (option_name(n), "1"))]
    if a.required:
        said = vwlite("train", tmp_path / "d.vw", "--algorithm", name, code=2).err
        assert said == f"--algorithm {name} needs {option_name(a.required[0])}\n"
    refused = named(sections(vwlite("algorithms", name).out)["Refuses"])
    takers = {option_name(n): [b.name for b in ALGORITHMS.values() if n in b.options] for n in SPECS}
    whys = {option: f"it is an option of {', '.join(names)}" for option, names in takers.items() if names}
    whys |= {option_name(n): why for n, why in a.instead.items()}
    for option in set(refused) - {"--algorithm", *(option_name(n) for n in a.options)}:
        loss = [] if option == "--loss" else ["--loss", a.losses[0]]
        value = [] if option in FLAGS else [values.get(option, "1")]
        said = vwlite("train", *rest, *loss, option, *value, code=2).err
        assert option in said and f"--algorithm {name}" in said
        assert option not in whys or said == f"{option} has no effect with --algorithm {name}: {whys[option]}\n"


@pytest.mark.parametrize("name", CHOICES)
def test_a_page_has_everything_about_one(vwlite, name):
    a, page = CHOICES[name], vwlite("algorithms", name).out.split("\n\n\n")[0]
    parts = sections(page)
    assert parts[""].startswith(f"{name}: ")
    headings = ["A step", "Options", "Refuses", "Cost of an example with k features", "Source", "Try"]
    assert list(parts) == ["", *headings]
    assert set(re.findall(r"^  (--[a-z0-9-]+)", parts["Options"], re.M)) == {
        option_name(n) for n in (*a.options, *a.schedule)
    }
    assert parts["Options"].count("  [") == len((*a.options, *a.schedule))
    others = {n for other in ALGORITHMS.values() for n in other.options} - set(a.options)
    assert {option_name(n) for n in (*others, *SCHEDULE) if n not in a.schedule} <= set(named(parts["Refuses"]))
    assert ("--loss " in parts["Refuses"]) == (set(a.losses) != set(LOSSES))
    words = " ".join(parts["Source"].split())
    assert re.search(r"\d{4}", words) and a.paper.split()[0].strip(",") in words
    assert all(len(line) <= WIDTH for line in page.splitlines())


@pytest.mark.parametrize("name", CHOICES)
def test_the_command_of_a_page_learns_something(vwlite, name, tmp_path, monkeypatch):
    line = sections(vwlite("algorithms", name).out)["Try"]
    words = shlex.split(line.replace("\\\n", " "))
    assert words[0] == "vwlite" and words[-2:] == ["-m", f"{name}.model"] and f"--algorithm {name} " in line
    monkeypatch.chdir(tmp_path)
    vwlite(*(str(ROOT / w) if w.startswith("data/") else w for w in words[1:]), "--quiet")
    said = vwlite("predict", ROOT / "data/breast_cancer.test.vw", "-m", f"{name}.model", "-p", "p").err
    # 61 % of these tumours are benign.
    assert float(re.search(r"accuracy = (\S+)", said)[1]) > 0.85, said


def test_help_that_names_algorithms_by_hand_names_all_that_take_the_option():
    for option in ("threshold", "radius"):
        named = re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", SPECS[option].help)
        takers = [a for a in ALGORITHMS.values() if option in a.options]
        assert {name for name in named if name in ALGORITHMS} == {a.name for a in takers}
        assert all(option in a.meanings for a in takers)


def test_the_rows_agree_with_their_rules():
    for a in ALGORITHMS.values():
        assert ("average" in a.options) == ("average" in a.forms)
        assert ("feature_weights" in a.options) == ("feature_weights" in a.forms)
        assert ("box" in a.options) == ("box" in a.forms)
        assert {*a.forms, *sum(a.incompatible, ())} <= {*a.options, *a.schedule}
        assert set(a.required) | set(a.unset) <= set(a.options)
        assert not set(a.instead) & set(a.options)
        assert all(issubclass(rule_class(kind), Rule) for kind in (a.rule, *a.forms.values()))


def test_every_algorithm_has_a_page_and_every_page_an_algorithm():
    assert {p.stem for p in (ROOT / "vwlite/algorithms/pages").glob("*.txt")} == set(CHOICES)


def test_every_solver_has_a_class_a_page_and_what_it_needs():
    assert {p.stem for p in (ROOT / "vwlite/algorithms/solver_pages").glob("*.txt")} == set(SOLVERS)
    for s in SOLVERS.values():
        kinds = [kind for kind in (s.kind, s.on_ball, s.to_count) if kind]
        assert all(issubclass(solver_class(kind), Solver) for kind in kinds)
        assert all(loss in LOSSES for loss in s.losses)
        assert set(s.needs) <= set(s.takes) and (not s.softmax or s.needs == ("radius",))


@pytest.mark.parametrize("name", SOLVERS)
def test_a_page_has_everything_about_a_solver(vwlite, name):
    s, page = SOLVERS[name], vwlite("algorithms", name).out.split("\n\n\n")[-1]
    parts = sections(page)
    assert parts[""].startswith(f"--solver {name}: ")
    assert list(parts) == ["", "A step", "Takes", "Cost of a step", "Source", "Try"]
    assert {SPECS[option].long for option in s.takes} <= set(named(parts["Takes"]))
    assert all(f"--{option}" in parts["Takes"] for option in s.options)
    assert ("--softmax" in parts["Takes"]) == s.softmax
    assert re.search(r"\d{4}", parts["Source"])
    assert all(len(line) <= WIDTH for line in page.splitlines())


@pytest.mark.parametrize("name", SOLVERS)
def test_the_command_of_a_solver_solves_something(vwlite, name, tmp_path, monkeypatch):
    words = shlex.split(sections(vwlite("algorithms", name).out.split("\n\n\n")[-1])["Try"])
    assert words[:3] == ["vwlite", "solve", "data/sources.train.vw"] and words[-2:] == ["-m", f"{name}.model"]
    monkeypatch.chdir(tmp_path)
    said = vwlite("solve", ROOT / words[2], *words[3:]).err
    assert float(re.search(r"^gap = .* \((\S+) %\)", said, re.M)[1]) < 1, said


@pytest.mark.parametrize("strength", ["l1", "radius", "nonzeros"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge", "poisson"])
def test_the_best_solver_takes_the_problem(loss, strength):
    s = SOLVERS[best_solver(loss)]
    assert loss in s.losses and strength in s.takes


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("adagard", ["adagrad"]),
        ("FTRL", ["ftrl"]),
        ("truncated-gradeint", ["truncated-gradient"]),
        ("l1ball", ["l1-ball"]),
        ("xyzzy", []),
        ("", []),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(vwlite, typed, near):
    done = vwlite("algorithms", typed, code=2)
    assert done.out == ""
    assert f"unknown algorithm {typed!r}" in done.err
    assert all(name in done.err for name in near)
    assert ("Did you mean" in done.err) == bool(near)
    assert near or "`vwlite algorithms` lists all" in done.err


def test_the_help_of_train_points_here():
    assert "see `vwlite algorithms`" in " ".join(help_of("train").split())


def test_the_help_of_solve_names_the_usual_solvers_first():
    """Those that `auto` takes are usual; the solvers in solve/papers are not."""
    text = " ".join(help_of("solve").split()).split("algorithms`. One of ")[1].split(".")[0]
    usual, papers = (set(names.split(", ")) for names in text.split("; to reproduce papers, "))
    assert usual | papers == set(SOLVERS)
    assert {best_solver("logistic"), best_solver("hinge"), best_solver("logistic", softmax=True)} <= usual
    assert {name for name, row in SOLVERS.items() if row.kind.startswith("papers.")} <= papers


def test_the_page_of_auto_has_the_limits_of_the_program(vwlite):
    """Numbers of its candidates, stages and choices, which stand in the code."""
    page = " ".join(vwlite("algorithms", "auto").out.split())

    def number(x):
        return f"{x:f}".rstrip("0").rstrip(".").lstrip("0")

    for loss in ("squared", "logistic"):
        assert f"{', '.join(map(number, selection.STRENGTHS[loss]))} with the {loss} loss" in page
    for said in (
        f"Below {grid.FEW_FOR_STAGES:,} rows of a table, with the squared or the logistic loss",
        f"at most {grid.MOST_CELLS / 1e6:.0f} million, and", f"at most {grid.MOST_PRODUCTS / 1e6:.0f} million;",
        f"its loss is less than {number(selection.RIDGE_BETTER)} times",
        f"is {classes.WORK:,} / n, or {classes.WORK_OF_FEW:,} / n below {classes.SHORT_RACE_FROM:,} examples",
        f"at least {classes.PASSES[0]} and at most {classes.PASSES[1]}.",
        f"With more than {classes.MANY} classes there are no offsets",
        f"of at least {number(amounts.LEAST_SKEWNESS)}, then {amounts.SAMPLE:,} rows",
        f"more than {rescaled.HEAVY:.0f} interquartile ranges", f"at least {rescaled.SENTINEL:.0%}".replace("%", " %"),
        f"of {times.COMPARED:,} drawn rows", f"fewer than {rare.FEWEST_RARE:,} of the rarer one",
        f"Up to {derive.FEW_ROWS:,} rows, if a column has another scale",
        f"Below {grid.FEW_FOR_STAGES:,} rows, whose losses", f"{mean_model.AHEAD:.0f} are subtracted for models",
        f"with a weight below {number(mean_model.LEAST_WEIGHT)} are left out",
    ):
        assert said in page
