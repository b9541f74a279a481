"""What README, results and help have from the program: `make docs` writes it, a test checks it."""

import json
import re
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from textwrap import wrap

import click

from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.table import ALGORITHMS
from vwlite.commands.help import topics
from vwlite.program import COMMANDS, program
from vwlite.solvers.table import SOLVERS

HERE = Path(__file__).parent
ROOT = HERE.parent
README = ROOT / "README.md"
RESULTS = HERE / "bench/RESULTS.md"
ALGORITHMS_TEXT = ROOT / "vwlite/help/algorithms.txt"
FIRST_RUN = "vwlite train data/breast_cancer.train.vw --loss logistic --passes 5 -m cancer.model"

EXACT_RUN = (
    "vwlite solve data/sources.train.vw --l1 0.002 -m exact.model",
    "vwlite train data/sources.train.vw --loss logistic --passes 5 --holdout-off -l 1 --algorithm adagrad-rda "
    "--l1 0.002 -m online.model --quiet",
    "vwlite certify -m online.model data/sources.train.vw --against exact.model",
)

# The rows of the table of speed and memory that the README has.
NUMBERS = (
    "train `gd` logistic from text, documents",
    "train `gd` logistic from text, clicks, one `-q`",
    "predict from text, documents",
    "train `l1-ball` logistic from text, documents",
    "train `sgd` logistic from libsvm text, documents",
    "a pass over the cache, `sgd` logistic, documents",
    "peak memory, clicks, `-q ck`, 4,787,109 features",
    "a one-line train",
)


def help_of(command: str) -> str:
    """What `vwlite COMMAND --help` prints."""
    settings = {**program.context_settings, "terminal_width": 100}
    context = click.Context(program, info_name="vwlite", **settings)
    found = program.get_command(context, command)
    assert found is not None
    return found.get_help(click.Context(found, context, info_name=command, **settings))


def table(*rows: tuple[str, ...]) -> str:
    """A table in Markdown; the first row has the titles."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], ("---",) * len(rows[0]), *rows[1:]))


def printed(*commands: str) -> list[str]:
    """What commands of the README print, one after the other, without their times."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data").symlink_to(ROOT / "data", target_is_directory=True)
        for command in commands:
            done = subprocess.run(
                [sys.executable, "-m", *command.split()], cwd=folder, check=True, capture_output=True, text=True
            )
            text = re.sub(r"(?m)^(seconds =) .*$", r"\1 ...", done.stdout + done.stderr)
            text = re.sub(r"(?m)^( +\d+) +\d+\.\d{3} ", r"\1       ... ", text)
            found.append(f"```text\n{text}```")
    return found


def first_run() -> str:
    """What the first command of the README prints."""
    return printed(FIRST_RUN)[0]


def exact_run() -> dict[str, str]:
    """What the commands print that find an optimum, and judge a model by it."""
    solved, _, certified = printed(*EXACT_RUN)
    return {"solve run": solved, "certify run": certified}


def numbers() -> str:
    """The rows of the results that matter most: against the first rival of each."""
    text = RESULTS.read_text(encoding="utf-8").split("<!-- begin bench: bench -->\n")[1].split("<!-- end")[0]
    found = {}
    for line in text.splitlines():
        if line.startswith("| "):
            work, ours, rival, theirs, ratio, *_ = (cell.strip() for cell in line[1:-1].split("|"))
            found.setdefault(work, (ours, f"{rival} {theirs}".strip() or "-", ratio))
    rows = [(work, *found[work]) for work in NUMBERS if work in found]
    return table(("work", "vwlite", "against", "ratio (min-max)"), *rows) + "\n\n" + text.split("\n\n")[0]


def sections() -> dict[str, str]:
    """What stands in the README between the markers `<!-- begin NAME -->` and `<!-- end NAME -->`."""
    return {
        "first run": first_run(),
        **exact_run(),
        "commands": table(("command", "what it does"), *((f"`{name}`", about) for name, about in COMMANDS.items())),
        "topics": table(("topic", "about"), *((f"`{name}`", about) for name, about in topics().items())),
        "algorithms": table(
            ("`--algorithm`", "what it does"), *((f"`{a.name}`", a.summary) for a in ALGORITHMS.values())
        ),
        "solvers": table(("`--solver`", "what it does"), *((f"`{s.name}`", s.summary) for s in SOLVERS.values())),
        "numbers": numbers(),
    }


def results() -> dict[str, str]:
    """The same of the results: tables whose numbers are kept as JSON."""
    return {f"bench: {name}": measured(name) for name in ("compare", "claims")}


def measured(name: str) -> str:
    """The tables of a program of the benches, from the results that it left."""
    sys.path.insert(0, str(HERE / "bench"))
    try:
        document = import_module(name).document
    finally:
        sys.path.pop(0)
    return document(json.loads((HERE / f"bench/{name}.json").read_text(encoding="utf-8")))


def losses() -> str:
    """The table of losses as `vwlite help algorithms` has it, indented, at most 100 columns wide."""
    labels = {"any": "any number", "binary": "-1, 1", "nonnegative": "0 or more"}
    found = [("loss", "l(p, y)", "labels")]
    found += [(loss.name, loss.formula, "; ".join(filter(None, (labels[loss.labels], loss.note))))
              for loss in LOSSES.values()]  # fmt: skip
    first, second = (max(len(row[i]) for row in found) for i in (0, 1))
    room = 100 - 4 - (first + 2) - (second + 2)
    cells = [(name, formula, wrap(about, room)) for name, formula, about in found]
    last = max(len(line) for _, _, lines in cells for line in lines)
    cells.insert(1, ("-" * first, "-" * second, ["-" * last]))
    lines = []
    for name, formula, (about, *more) in cells:
        lines.append(f"    {name:<{first}}  {formula:<{second}}  {about}")
        lines += [" " * (100 - room) + line for line in more]
    return "\n".join(lines)


def with_losses(text: str) -> str:
    """`vwlite help algorithms` with its table of losses made anew."""
    head, _, rest = text.partition("\nLosses\n------\n\n")
    return f"{head}\nLosses\n------\n\n{losses()}\n\n{rest[rest.index('Advice on each'):]}"


def updated(text: str, made: dict[str, str]) -> str:
    """A text with its made parts made anew."""
    for name, content in made.items():
        pattern = rf"(<!-- begin {re.escape(name)} -->\n).*?(<!-- end {re.escape(name)} -->)"
        text, found = re.subn(pattern, lambda m, c=content: f"{m[1]}{c}\n{m[2]}", text, flags=re.DOTALL)
        assert found == 1, f"no markers for {name}"
    return text


if __name__ == "__main__":
    for path, make in ((RESULTS, results), (README, sections)):
        path.write_text(updated(path.read_text(encoding="utf-8"), make()), encoding="utf-8")
    ALGORITHMS_TEXT.write_text(with_losses(ALGORITHMS_TEXT.read_text(encoding="utf-8")), encoding="utf-8")
