"""The default where examples or classes are many: its time over that of `gd` or of a peer, its loss, its memory.

    make auto-scale SETS=FOLDER      writes two tables of AUTO.md, and one of RESULTS.md

Documents, clicks and texts of 77 classes are those of data/generate.py; a peer learns the same examples, on one core.
Times are those of processors, from text to model, the least of three runs (of one, where it takes minutes); those of
the peer are of vectorizing and fitting, without the start of Python. Losses are log losses on other examples. Memory is
the most that the process had, with the program itself.
"""

import csv
import gzip
import json
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from harness import GD, VWLITE, Run, generate, made, options_of, run, show, table, verdict, work_folder

TESTS = 30_000  # documents, after those that are learned
MB = 1 << 20


def least(work: Callable[[], Run], rounds: int) -> Run:
    runs = [work() for _ in range(rounds)]
    return Run(min(r.seconds for r in runs), min(r.processor for r in runs), max(r.peak for r in runs))


def head(path: Path, lines: int, to: Path) -> Path:
    """The first lines of a text, in a file of their own."""
    with path.open("rb") as text, to.open("wb") as out:
        for _, line in zip(range(lines), text, strict=False):
            out.write(line)
    return to


def tail(path: Path, lines: int, to: Path) -> Path:
    """The others."""
    with path.open("rb") as text, to.open("wb") as out:
        out.writelines(line for number, line in enumerate(text) if number >= lines)
    return to


def loss_of(model: Path, test: Path) -> float:
    said = subprocess.run([VWLITE, "evaluate", "-m", model, test, "--json"], check=True, capture_output=True).stdout
    return float(json.loads(said)["measures"]["log_loss"]["value"])


def documents(folder: Path, sizes: list[int], rounds: int) -> list[list[str]]:
    """The default over gd."""
    text = generate("rcv1", folder / "documents", "--examples", max(sizes) + TESTS)
    test, rows = tail(text, max(sizes), folder / "test"), []
    for n in sizes:
        train = head(text, n, folder / "train")
        models = {name: folder / name for name in ("auto", "gd")}
        auto = least(lambda train=train, to=models["auto"]: run(VWLITE, "train", train, "--quiet", "-m", to), rounds)
        plain = [VWLITE, "train", train, *GD, "--loss", "logistic", "--quiet", "-m", models["gd"]]
        gd = least(lambda plain=plain: run(*plain), rounds)
        losses = [loss_of(model, test) for model in models.values()]
        rows.append(compared(f"{n:,} documents, over `gd`", auto, gd, 12.0, losses))
    return rows


def compared(what: str, run_: Run, other: Run, goal: float, losses: list[float]) -> list[str]:
    ratio = run_.processor / max(other.processor, 1e-9)
    times = [f"{run_.processor:.2f}", f"{other.processor:.2f}", f"{ratio:.1f}", f"{goal:g}", verdict(ratio <= goal)]
    return [what, *times, *(f"{loss:.4f}" for loss in losses)]


def peer(texts: list[str], labels: list[str], tests: list[str], test_labels: list[str]) -> tuple[Run, float]:
    """TF-IDF of words and LogisticRegression."""
    import numpy as np  # not at the top: the memory of a child begins with that of its parent
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    found: list[Any] = []

    def learn() -> None:
        words = TfidfVectorizer()
        with threadpool_limits(1):
            found[:] = words, LogisticRegression(C=30, max_iter=1000).fit(words.fit_transform(texts), labels)

    begin, begin_processor = time.perf_counter(), time.process_time()
    learn()
    took = Run(time.perf_counter() - begin, time.process_time() - begin_processor, 0)
    words, model = found
    p = model.predict_proba(words.transform(tests))
    place = {name: k for k, name in enumerate(model.classes_)}
    own = [p[i, place[y]] if y in place else 0.0 for i, y in enumerate(test_labels)]
    return took, float(-np.log(np.maximum(own, 1e-15)).mean())


class Topics(NamedTuple):
    """Short texts of several classes, and how they were learned by the default and by gd."""

    classes: int
    train: Path
    test: Path
    auto: Run
    gd: Run
    loss: float

    def by_peer(self) -> tuple[Run, float]:
        parts = [[line.split(" |", 1) for line in x.read_text().splitlines()] for x in (self.train, self.test)]
        (labels, texts), (test_labels, tests) = (zip(*part, strict=True) for part in parts)
        return peer(list(texts), list(labels), list(tests), list(test_labels))


def topics(folder: Path, classes: int, n: int, rounds: int) -> Topics:
    options = "--classes", classes, "--examples", 2 * n
    text = generate("topics", folder / f"topics.{classes}", *options)
    train, test = (part(text, n, folder / f"{name}.{classes}") for part, name in ((head, "train"), (tail, "test")))
    command = [VWLITE, "train", train, "--classes", "auto", "--quiet", "-m", folder / "model"]
    auto = least(lambda: run(*command), rounds)
    loss = loss_of(folder / "model", test)
    gd = least(lambda: run(*command, *GD, "--loss", "logistic"), rounds)
    return Topics(classes, train, test, auto, gd, loss)


def agnews(data: Path, folder: Path, rounds: int) -> list[str]:
    parts = []
    for part in ("train", "test"):
        content = gzip.decompress((data / f"tables/agnews.{part}.csv.gz").read_bytes())
        (folder / f"{part}.csv").write_bytes(content)
        rows = list(csv.DictReader(content.decode().splitlines()))
        parts.append(([row["text"] for row in rows], [row["target"] for row in rows]))
    (texts, labels), (tests, test_labels) = parts
    options = "--label", "target", "--text", "text", "--classes", "auto", "--quiet", "-m", folder / "model"
    auto = least(lambda: run(VWLITE, "train", folder / "train.csv", *options), rounds)
    other, loss = peer(texts, labels, tests, test_labels)
    losses = [loss_of(folder / "model", folder / "test.csv"), loss]
    return compared("agnews, 5,700 texts with n-grams, over TF-IDF and LogisticRegression", auto, other, 4.0, losses)


def growth(folder: Path, sizes: list[int], rounds: int) -> str:
    """Clicks: 12 words an example, of up to a million."""
    text, rows = generate("clicks", folder / "clicks", "--examples", max(sizes)), []
    for n in sizes:
        train, most = text if n == max(sizes) else head(text, n, folder / "train"), 1 if n > 1_000_000 else rounds
        auto = least(lambda train=train: run(VWLITE, "train", train, "--quiet", "-m", folder / "model"), most)
        plain = [VWLITE, "train", train, *GD, "--loss", "logistic", "--quiet", "-m", folder / "gd"]
        gd = least(lambda plain=plain: run(*plain), most)
        size = [f"{r.peak / MB:,.0f}" for r in (auto, gd)]
        ratio = f"{auto.processor / gd.processor:.1f}"
        rows.append([f"{n:,}", f"{auto.processor:.2f}", f"{gd.processor:.2f}", ratio, f"{auto.seconds:.2f}", *size])
    titles = ["examples", "s of processors", "`gd`", "ratio", "s", "MB", "MB of `gd`"]
    return table(titles, rows, "r")


def scale(data: Path | None, rounds: int, *, quick: bool) -> tuple[str, str, str]:
    sizes = [1000, 10_000] if quick else [100_000, 1_000_000, 10_000_000]
    with work_folder() as place:
        grown = growth(Path(place), sizes, rounds)
    with work_folder() as place:
        folder, n, counts = Path(place), 1000 if quick else 10_000, (3, 5) if quick else (10, 77, 300, 1000)
        rows, of_classes = documents(folder, [2000, 4000] if quick else [90_000, 500_000], rounds), []
        for found in [topics(folder, k, n, 1 if k > 77 else rounds) for k in counts]:
            other, loss = found.by_peer()
            if found.classes in (5, 77):
                what = f"{n:,} texts of {found.classes} classes, over TF-IDF and LogisticRegression"
                rows.append(compared(what, found.auto, other, 4.0, [found.loss, loss]))
            took, gd = found.auto.processor, found.gd.processor
            times = [f"{x:.1f}" for x in (took, gd, took / gd, took / other.processor)]
            memory, losses = f"{found.auto.peak / MB:,.0f}", [f"{x:.4f}" for x in (found.loss, loss)]
            of_classes.append([f"{found.classes:,}", *times, memory, *losses])
        if data is not None:
            rows.append(agnews(data, folder, rounds))
    titles = ["", "s of processors", "of the other", "ratio", "at most", "reached", "test log loss", "of the other"]
    of = ["classes", "s of processors", "`gd`", "over `gd`", "over the peer", "MB", "test log loss", "of the peer"]
    return table(titles, rows, "lrrrrlrr"), table(of, of_classes, "r"), grown


def main() -> None:
    parser = options_of(__doc__, quick="small data: does it work?", data=True, results="put the tables into this file")
    parser.add_argument("--growth", type=Path, help="put the table of growth into this file")
    typed = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning, module="sklearn")
    many, classes, grown = scale(None if typed.quick else typed.data, 1 if typed.quick else 3, quick=typed.quick)
    about = made("vwlite", "numpy", "scikit-learn")
    show(f"{many}\n\n{about}", typed.results, "auto scale")
    show(f"{classes}\n\n{about}", typed.results, "auto classes scale")
    show(f"{grown}\n\n{about}", typed.growth, "auto growth")


if __name__ == "__main__":
    main()
