"""`vwlite algorithms`"""

from textwrap import fill, indent

import click

from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.page import read_page
from vwlite.algorithms.settings import SPECS
from vwlite.algorithms.solvers import SOLVERS, SolverRow
from vwlite.algorithms.table import AUTO, CHOICES, SCHEDULE, Algorithm
from vwlite.options.declaring import parameter
from vwlite.options.spec import shown_value

WIDTH = 100
NAMES = list(dict.fromkeys([*CHOICES, *SOLVERS]))  # some are both
SOLVERS_FOLLOW = "Solvers, for `vwlite solve --solver`:"
# The meaning of the letters in formulas of solvers.
BATCH = (
    "p_i = <w, x_i> + b, h_i the importance of example i divided by the total, g = sum of h_i l'(p_i, y_i) x_i the "
    "gradient of the mean loss."
)
FREE = "The intercept b has no penalty."


def algorithms(name: str | None) -> int:
    """Run `vwlite algorithms`; the exit code."""
    if name is None:
        click.echo(f"{table()}\n\n{SOLVERS_FOLLOW}\n\n{table_of_solvers()}")
    else:
        pages = [page(name)] if name in CHOICES else []
        pages += [page_of_solver(name)] if name in SOLVERS else []
        click.echo("\n\n\n".join(pages))
    return 0


def table() -> str:
    """Name, what it does, formula, options with defaults, paper: of each algorithm."""
    rows = []
    for a in CHOICES.values():
        options = [f"{option} {default}" for option, default in defaults(a).items()]
        rows.append(_row(a.name, a.summary, a.formula, ", ".join(options) or "no options of its own", a.paper))
    return "\n\n".join(rows)


def table_of_solvers() -> str:
    """Name, what it does, formula, what it takes, paper: of each solver."""
    return "\n\n".join(
        _row(s.name, s.summary, s.formula, f"{taken(s)}; --loss {', '.join(s.losses)}", s.paper)
        for s in SOLVERS.values()
    )


def taken(s: SolverRow) -> str:
    """The options of a problem that a solver takes, and its own."""
    found = [SPECS[name].long + (" (needed)" if name in s.needs else "") for name in s.takes]
    return ", ".join([*found, *(["--softmax"] if s.softmax else []), *(f"--{name}" for name in s.options)])


def _row(name: str, *lines: str) -> str:
    return "\n".join(_wrapped(line, 20, 2) for line in lines).replace(" " * 20, f"{name:<20}", 1)


def defaults(a: Algorithm) -> dict[str, str]:
    """Its own options as they are typed, with their defaults; those of the rate only where they are its own too."""
    return {SPECS[name].long: default_of(a, name) for name in (*a.options, *a.defaults)}


def default_of(a: Algorithm, name: str) -> str:
    """The default of an option, as text."""
    if name in a.required:
        return "required"
    if name in a.defaults:
        return shown_value(a.defaults[name])
    return a.unset.get(name) or SPECS[name].default_text() or "off"


def page(name: str) -> str:
    """All about one algorithm."""
    a, p = CHOICES[name], read_page(name)
    parts = [_wrapped(f"{a.name}: {a.summary}", 0), _wrapped(p.about, 0)]
    parts += _section("A step", p.step.split("\n"), where(a, p.d))
    parts += _section("Options", options_of(a) or ["No options of its own."])
    parts += _section("Refuses", refusals(a, p.refuses))
    parts += _section("Cost of an example with k features", [p.cost + "."])
    parts += _section("Source", [p.source + "."])
    loss = "logistic" if "logistic" in a.losses else a.losses[0]
    begin = f"vwlite train data/breast_cancer.train.vw --loss {loss}"
    if a is not AUTO:
        begin += " --passes 20 --holdout-off"
    end = f"--algorithm {name} {p.command} -m {name}.model".replace("  ", " ")
    parts += _section("Try", [f"{begin} \\", f"  {end}"])
    return "\n\n".join(parts)


def page_of_solver(name: str) -> str:
    """All about one solver."""
    s, p = SOLVERS[name], read_page(name, "solver_pages")
    parts = [_wrapped(f"--solver {name}: {s.summary}", 0), _wrapped(p.about, 0)]
    parts += _section("A step", p.step.split("\n"), [BATCH if s.penalizes_constant else f"{BATCH} {FREE}"])
    parts += _section("Takes", [f"{taken(s)}; --loss {', '.join(s.losses)}."])
    parts += _section("Cost of a step", [p.cost + "."])
    parts += _section("Source", [p.source + "."])
    parts += _section("Try", [f"vwlite solve data/sources.train.vw --solver {name} {p.command} -m {name}.model"])
    return "\n\n".join(parts)


def where(a: Algorithm, d: str) -> list[str]:
    """The meaning of the letters in the formulas."""
    found = ["t counts the examples, p is the prediction <w, x>, h the importance of the example"]
    if a.schedule and a.name != "gd":
        found.append("eta_t = learning-rate decay-learning-rate^(pass - 1) (t + initial-t)^-power-t")
    if a.name not in ("gd", AUTO.name) and len(a.losses) > 1:
        found.append("g = h l'(p, y) x, the gradient")
    if d:
        found.append(f"d = {d}")
    if a.name not in ("gd", AUTO.name) and {"l1", "l2", "radius", "threshold"} & set(a.options):
        found.append("The intercept is learned like any other weight, but never shrunk, rounded or projected.")
    return found


def options_of(a: Algorithm) -> list[str]:
    """A line for each option: how it is typed, what it means, its default."""
    context = click.Context(click.Command("train"))
    found = []
    for spec in (SPECS[name] for name in (*a.options, *a.schedule)):
        record = parameter(spec).get_help_record(context)
        assert record is not None
        typed = f"{spec.long} {record[0].split(' ')[-1]}"
        text = a.meanings.get(spec.name) or spec.page or spec.help[0].upper() + spec.help[1:]
        found.append(f"{typed:<28} {text}  [{_described(a, spec.name)}]")
    return found


def _described(a: Algorithm, name: str) -> str:
    default = default_of(a, name)
    return default if default == "required" else f"default: {default}"


def refusals(a: Algorithm, more: str) -> list[str]:
    """Options that mean nothing to it and the reason, those of one reason together; then what else it refuses."""
    from vwlite.algorithms.checks import refused  # here, as it brings what opens files

    found: dict[str, list[str]] = {}
    elsewhere = []
    for name, why in refused(a).items():
        if name not in a.instead and (name not in SCHEDULE or name in a.schedule):
            elsewhere.append(SPECS[name].long)
        else:
            found.setdefault(why, []).append(SPECS[name].long)
    lines = [f"{', '.join(names)}: {why}." for why, names in found.items()]
    lines.append(f"Options of other algorithms: {', '.join(elsewhere)}.")
    if set(a.losses) != set(LOSSES):
        lines.insert(0, f"--loss {', '.join(loss for loss in LOSSES if loss not in a.losses)}: use {a.losses[0]}.")
    return [*lines, more] if more else lines


def _section(title: str, *blocks: list[str]) -> list[str]:
    """A heading with indented lines; a blank line between blocks."""
    text = "\n\n".join("\n".join(_wrapped(line, 2, 29 if "  [" in line else 2) for line in b) for b in blocks)
    return [f"{title}:\n{text}"]


def _wrapped(line: str, left: int, more: int = 0) -> str:
    """A line folded to the width, `left` spaces before it and `more` before what follows."""
    if left + len(line) <= WIDTH:
        return indent(line, " " * left)
    return fill(
        line, WIDTH, initial_indent=" " * left, subsequent_indent=" " * (left + more), break_on_hyphens=False,
        break_long_words=False,
    )
