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
from vwlite.help.commands import topics
from vwlite.program import program

HERE = Path(__file__).parent
ROOT = HERE.parent
README = ROOT / "README.md"
RESULTS = HERE / "bench/RESULTS.md"
ALGORITHMS_TEXT = ROOT / "vwlite/help/algorithms.txt"
FIRST_RUN = (
    "vwlite train data/code.train.csv --label is_cython --text code --drop id -m code.model",
    "vwlite predict -m code.model data/code.test.csv -p predictions.txt",
)

Row = tuple[str, ...]


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
            found.append(re.sub(r"(?m)^(seconds =) .*$", r"\1 ...", done.stdout + done.stderr))
    return found


SECONDS = r"(?m)[\d.]+$(?=\n\Z)"  # of the first row of the table


def first_run() -> str:
    """What the first commands of the README print, without the progress table."""
    trained, predicted = printed(*FIRST_RUN)
    head, rest = re.split(r"(?m)^[2-9]\d* +(?=\w)", trained, maxsplit=1)  # the second row of the table of passes
    summary = rest.split("finished run\n", 1)[1]
    left_out = ("weighted", "total", "features in", "derived", "loss without")
    kept = [line for line in summary.splitlines() if not line.startswith(left_out)]
    summary = "\n".join(kept)
    return f"```text\n{re.sub(SECONDS, '...', head)}...\n\n{summary}\n\n{predicted}```"


def tasks() -> str:
    """What somebody gets for a task, beside a peer: losses of `make auto`, speed and bytes of `make tasks`."""
    losses = json.loads((HERE / "bench/auto_tables.json").read_text(encoding="utf-8"))
    others = json.loads((HERE / "bench/tasks.json").read_text(encoding="utf-8"))
    clicks, select = others["clicks"], others["select"]
    million = clicks["examples"] / 1e6
    texts = {"TF-IDF, LogisticRegression, tuned": "tuned logistic regression of TF-IDF", "fastText": "fastText"}
    tables = {"LightGBM, tuned": "tuned LightGBM", "LightGBM": "LightGBM", "EBM": "EBM"}

    def learned(task: str, options: str, found: dict[str, dict[str, float]], peers: dict[str, str], digits: str) -> Row:
        """digits: the name of a loss, or of the error, and its form."""
        name, form = digits.rsplit(" ", 1)
        own, *theirs = (form.format(100 * found[x]["error"] if name == "error, %" else found[x]["loss"])
                        for x in ("auto", *peers))
        beside = ", ".join(f"{x} {peer}" for peer, x in zip(peers.values(), theirs, strict=True))
        return task, f"`vwlite train {options} -m m`", f"{name} **{own}**", beside

    rows = [
        learned("Which customers leave?", "telco.csv --label target", losses["tables"]["telco"], tables,
                "log loss {:.3f}"),
        learned("What is a text about?", "agnews.csv --label target --text text --oaa 4 --classes auto",
                losses["texts"]["agnews"], texts, "error, % {:.1f}"),
        learned("What is a house worth?", "california.csv --label target", losses["tables"]["california"], tables,
                "RMSE, $100,000 {:.3f}"),
        learned("What is a diamond worth?", "diamonds.csv --label target", losses["tables"]["diamonds"], tables,
                "RMSE of log(price) {:.4f}"),
        ("Learn clicks", "`vwlite train clicks.vw --loss logistic -q af --algorithm gd -m m`",
         f"**{million / clicks['vwlite']:.2f}** million examples/s", f"{million / clicks['VW']:.2f} Vowpal Wabbit"),
        ("Predict in the database", "`vwlite export m --to sql --dialect duckdb --table customers --id id`",
         f"one SELECT: **{select['DuckDB']:.2f} s** in DuckDB for {select['rows']:,} rows",
         f"{select['vwlite predict']:.2f} s `vwlite predict`"),
        ("Learn the same again", f"`vwlite train ... --threads {others['bytes']['threads']}`",
         f"**{'the same bytes' if others['bytes']['same'] else 'OTHER BYTES'}**", "one thread"),
    ]
    text = (HERE / "bench/AUTO.md").read_text(encoding="utf-8")
    made = re.findall(r"\n(.*), numpy.*\n<!-- end bench: auto tables", text)[0]
    about = ("Losses are of rows that were not learned, of telco (customers of a phone company, IBM's sample), AG News "
             "(Zhang, Zhao, LeCun 2015), California housing (Pace, Barry 1997) and ggplot2's diamonds: "
             f"[AUTO.md](tests/bench/AUTO.md), {made}. Speed and bytes: `make tasks`, {others['made']} Clicks are "
             "drawn by data/generate.py; the SELECT is of telco.")
    return table(("task", "command", "result", "beside"), *rows) + "\n\n" + "\n".join(wrap(about, 120))


def caption() -> str:
    """What the picture shows, and where and when it was measured."""
    results = json.loads((HERE / "bench/picture.json").read_text(encoding="utf-8"))
    about = (
        "22,490 news articles of rcv1. Seconds are processor time from text to model, the median of the dots. "
        "Learning rates and passes were chosen on a validation part; `vwlite` is `--algorithm ftrl --nonzeros N`. "
        "`make picture`:"
    )
    return "\n".join(wrap(f"{about} {results['made']}", 120))


def topic_links() -> str:
    """The topics of `vwlite help`, each with a link to its text, five in a line."""
    links = [f"[`{name}`](vwlite/help/{name}.txt)" for name in topics()]
    return " ·\n".join(" · ".join(links[i : i + 5]) for i in range(0, len(links), 5))


def sections() -> dict[str, str]:
    """The text of the README between the markers `<!-- begin NAME -->` and `<!-- end NAME -->`."""
    return {"tasks": tasks(), "first run": first_run(), "topics": topic_links()}


def results() -> dict[str, str]:
    """The same of the results: tables whose numbers are kept as JSON."""
    return {"picture": caption()} | {f"bench: {name}": measured(name) for name in ("compare", "claims")}


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
    labels = {"any": "any number", "binary": "-1, 1", "nonnegative": "0 or more", "positive": "above 0"}
    found = [("loss", "l(p, y)", "labels")]
    found += [(loss.name, loss.formula, "; ".join(filter(None, (labels[loss.labels], loss.note))))
              for loss in LOSSES.values()]
    first, second = (max(len(row[i]) for row in found) for i in (0, 1))
    width = 100 - 4 - (first + 2) - (second + 2)
    cells = [(name, formula, wrap(about, width)) for name, formula, about in found]
    last = max(len(line) for _, _, lines in cells for line in lines)
    cells.insert(1, ("-" * first, "-" * second, ["-" * last]))
    lines = []
    for name, formula, (about, *more) in cells:
        lines.append(f"    {name:<{first}}  {formula:<{second}}  {about}")
        lines += [" " * (100 - width) + line for line in more]
    return "\n".join(lines)


def with_losses(text: str) -> str:
    """`vwlite help algorithms` with its table of losses rebuilt."""
    head, _, rest = text.partition("\nLosses\n------\n\n")
    return f"{head}\nLosses\n------\n\n{losses()}\n\n{rest[rest.index('Advice on each'):]}"


def updated(text: str, made: dict[str, str]) -> str:
    """A text with its generated parts rebuilt."""
    for name, content in made.items():
        pattern = rf"(<!-- begin {re.escape(name)} -->\n).*?(<!-- end {re.escape(name)} -->)"
        text, found = re.subn(pattern, lambda m, c=content: f"{m[1]}{c}\n{m[2]}", text, flags=re.DOTALL)
        assert found == 1, f"no markers for {name}"
    return text


if __name__ == "__main__":
    for path, make in ((RESULTS, results), (README, sections)):
        path.write_text(updated(path.read_text(encoding="utf-8"), make()), encoding="utf-8")
    ALGORITHMS_TEXT.write_text(with_losses(ALGORITHMS_TEXT.read_text(encoding="utf-8")), encoding="utf-8")
