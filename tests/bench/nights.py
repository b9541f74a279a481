"""Nights: a model that is continued day by day, beside one that learns all days at once.

    make continue SETS=FOLDER       writes a table of AUTO.md; ONLY=NAMES prints the rows of some sets or streams

Sets: the training part of each, cut into 10 and 30 days in its order, is learned by `vwlite train --continue`, and the
model of the last day is compared with `vwlite train` of all days by the loss of the test part: log(loss / that of all
days), loss being log loss or the root of the mean squared error. All rows fit into what is kept, so that forgetting on
data that do not change is all that can make a difference.

Some sets again, and generated clicks, with a limit of a tenth of what all rows need; and without kept rows.

Streams change, at the 8th of 14 days of 800 rows: all labels are turned round (numbers about their mean); those of half
of the rows (the first number above its median); those of a share that grows to .8; none; or the base rate moves every
fourth day. The mean loss of each next day, before it is learned, is compared with that of models of all days before,
and of the last day alone; the day of the change is left out, which no model can know. Messages are a stream as they
came, of 14 days.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from auto_tables import Data, sets_of, small_sets
from compare import vwlite
from harness import generate, made, options_of, read_lines, say, show, table, work_folder

from vwlite.model import read_model
from vwlite.model.kept_rows import found_for, sizes
from vwlite.model.nights import nights_of

DAYS = (10, 30)
STREAM_DAYS, ROWS = 14, 800
CHANGES = ("flip", "part", "slow", "still", "rate")
STREAMS = ("adult", "bank", "california")
LIMITED = {"bank": 30, "california": 30, "clickbait": 10, "rcv1": 10, "clicks": 10}  # days
SHARES = (0.1, 0.0)  # of the rows that are kept
CLICKS, CLICKS_TEST = 100_000, 30_000


class Lines(NamedTuple):
    """Of a CSV file, or of one in the libsvm format, which has no header."""

    header: str
    rows: list[str]

    @staticmethod
    def of(path: Path, has_header: bool) -> "Lines":
        found = read_lines(path)
        return Lines(found[0], found[1:]) if has_header else Lines("", found)

    def write(self, path: Path, begin: int, end: int) -> Path:
        path.write_text(self.header + "".join(self.rows[begin:end]))
        return path


def documents(source: Path) -> Iterator[Data]:
    """A set of word counts, in the libsvm format: no column has a name."""
    train, test = (source / f"rcv1.{part}.libsvm.gz" for part in ("train", "test"))
    if train.exists():
        yield Data("rcv1", "bin", {}, train, test)


def messages(source: Path, folder: Path) -> Iterator[Data]:
    """Short messages, and whether each of them was asked for, in the order in which they came."""
    if (found := source / "sms_spam.raw.tsv.gz").exists():
        with (path := folder / "sms.train.csv").open("w", encoding="utf-8", newline="") as out:
            rows = (line.rstrip("\n").split("\t", 1) for line in read_lines(found))
            csv.writer(out, lineterminator="\n").writerows([["target", "text"], *rows])
        yield Data("sms", "bin", {"text": "text"}, path, path)


def clicks(folder: Path) -> Iterator[Data]:
    """Generated clicks of two namespaces with many names."""
    lines = read_lines(generate("clicks", folder / "clicks.vw", "--examples", CLICKS + CLICKS_TEST))
    train, test = folder / "clicks.train.vw", folder / "clicks.test.vw"
    train.write_text("".join(lines[:CLICKS]))
    test.write_text("".join(lines[CLICKS:]))
    yield Data("clicks", "bin", {}, train, test)


def options(data: Data) -> list[str]:
    if not data.kinds:
        return []
    texts = [name for name, kind in data.kinds.items() if kind == "text"]
    classes = ["--oaa", str(len(data.names)), "--classes", "auto"] if data.task == "mc" else []
    return ["--label", "target", *(["--text", ",".join(texts)] if texts else []), *classes]


def loss_of(model: Path, test: Path, task: str) -> float:
    measures = vwlite(model.parent, "evaluate", "-m", model, test)["measures"]
    return float(measures["rmse" if task == "reg" else "log_loss"]["value"])


def of_set(data: Data, days: int, kept: float = 1.0) -> tuple[str, int, float, float, int]:
    """The set, its days, the loss of all days at once, the difference of the nights, and on how many they forgot. kept:
    the share of the rows that are kept."""
    with work_folder() as name:
        folder, has_header = Path(name), bool(data.kinds)
        ending = "csv" if has_header else "vw" if data.name == "clicks" else "libsvm"
        rows = Lines.of(data.train, has_header)
        n = len(rows.rows)
        test = Lines.of(data.test, has_header).write(folder / f"test.{ending}", 0, 1 << 30)
        vwlite(folder, "train", rows.write(folder / f"all.{ending}", 0, n), *options(data), "-m", folder / "all",
               "--keep-rows", "4G")
        limit = [] if kept == 1 else ["--keep-rows", str(int(kept * bytes_of_rows(folder / "all")))]
        for day in range(days):
            part = rows.write(folder / f"day.{ending}", n * day // days, n * (day + 1) // days)
            vwlite(folder, "train", "--continue", folder / "m", part, *options(data), *limit)
        found, whole = (loss_of(folder / model, test, data.task) for model in ("m", "all"))
        return data.name, days, whole, float(np.log(found / whole)), forgot(folder / "m")


def bytes_of_rows(model: Path) -> int:
    """What all kept rows of a model need, as `--keep-rows` counts it."""
    rows, _ = found_for(str(model), read_model(str(model)).digest)
    assert rows is not None
    return sum(int(sizes(batch).sum()) for batch in rows.batches())


def forgot(model: Path) -> int:
    """The number of the last nights on which the past was made to count less."""
    return sum(night.past < 1 for night in nights_of(read_model(str(model)).continued))


def changed(data: Data, change: str, rows_of_day: int) -> list[list[list[str]]]:
    """The header, and the rows of the days of a stream, as cells."""
    header, *rows = csv.reader(read_lines(data.train))
    rows, draw = rows[: STREAM_DAYS * rows_of_day * (2 if change == "rate" else 1)], np.random.default_rng(1)
    target = header.index("target")
    number = next((header.index(name) for name, kind in data.kinds.items() if kind == "num"), 0)
    middle = np.median([float(row[number] or "nan") for row in rows if row[number]]) if change == "part" else 0.0
    turned = _turned([row[target] for row in rows], data.task)
    days: list[list[list[str]]] = [[] for _ in range(STREAM_DAYS)]
    for row in rows:
        day = next((k for k, rows_of in enumerate(days) if len(rows_of) < rows_of_day), None)
        if day is None:
            break
        late, is_first = day >= STREAM_DAYS // 2, turned[row[target]] > row[target]
        if change == "rate" and is_first == (day // 4 % 2 == 0) and draw.random() < 0.6:
            continue
        is_turned = {
            "flip": late, "part": change == "part" and late and float(row[number] or 0) > middle,
            "slow": draw.random() < day / (STREAM_DAYS - 1) * 0.8,
        }.get(change, False)
        days[day].append([*row[:target], turned[row[target]] if is_turned else row[target], *row[target + 1 :]])
    return [[header], *days]


def _turned(labels: Sequence[str], task: str) -> dict[str, str]:
    """Of two labels the other one; numbers about their mean."""
    found = sorted({*labels})
    if task == "reg":
        mean = np.mean([float(label) for label in labels])
        return {label: f"{2 * mean - float(label):.6g}" for label in found}
    return dict(zip(found, reversed(found), strict=True))


def of_stream(data: Data, change: str, rows_of_day: int) -> tuple[str, str, float, float, float, int]:
    """The set, the change, the mean loss of the nights, those of all days and of the last day, over the better of these
    as logarithms, and on how many nights the past was made to count less."""
    head, *days = changed(data, change, rows_of_day)
    with work_folder() as name:
        folder, losses = Path(name), np.zeros((3, STREAM_DAYS - 1))

        def write(file: str, rows: Sequence[Sequence[str]]) -> Path:
            with (folder / file).open("w", newline="") as out:
                csv.writer(out, lineterminator="\n").writerows([*head, *rows])
            return folder / file

        for k in range(STREAM_DAYS - 1):
            day, following = write("day.csv", days[k]), write("next.csv", days[k + 1])
            vwlite(folder, "train", "--continue", folder / "m", day, *options(data))
            for i, past in enumerate(([row for rows in days[: k + 1] for row in rows], days[k])):
                vwlite(folder, "train", write("past.csv", past), *options(data), "-m", folder / f"past{i}")
                losses[i + 1, k] = loss_of(folder / f"past{i}", following, data.task)
            losses[0, k] = loss_of(folder / "m", following, data.task)
        calm = [k for k in range(STREAM_DAYS - 1) if k != STREAM_DAYS // 2 - 1 or change not in ("flip", "part")]
        nights, whole, last = losses[:, calm].mean(axis=1)
        best = min(whole, last)
        return data.name, change, nights, *(float(np.log(x / best)) for x in (nights, whole)), forgot(folder / "m")


def main() -> None:
    parser = options_of(__doc__, quick="small sets, and a stream of few rows: does it work?", data=True,
                        results="put the tables into this file")
    parser.add_argument("--only", default="", help="names of sets or changes, some of which a row must have")
    parser.add_argument("--limited", action="store_true", help="sets of which not all rows are kept, in another table")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    o = parser.parse_args()
    only: Callable[[str], bool] = lambda text: not o.only or any(word in text for word in o.only.split())  # noqa: E731
    with work_folder() as name, ProcessPoolExecutor(o.jobs) as pool:
        folder = small_sets(Path(name)) if o.quick else o.data / "tables"
        sets = [data for texts in (False, True) for data in sets_of(folder, texts, Path(name))]
        if o.quick:
            streamed = [(data, CHANGES, 12) for data in sets if data.task == "bin"][:1]
        else:
            kept = [data for data in sets if data.name in STREAMS]
            streamed = [(data, CHANGES[: 4 if data.task == "reg" else 5], ROWS) for data in kept]
            streamed += [(data, ("as it came",), len(read_lines(data.train)) // STREAM_DAYS)
                         for data in messages(o.data, Path(name))]
            sets += documents(o.data)
        few = [*sets, *clicks(Path(name))] if o.limited else []
        limited = [pool.submit(of_set, data, LIMITED[data.name], share) for data in few if data.name in LIMITED
                   for share in SHARES if only(f"{data.name} {share:g} kept")]
        if o.limited:
            sets, streamed = [], []
        chains = [pool.submit(of_set, data, days) for data in sets for days in DAYS[: 1 if o.quick else None]
                  if only(f"{data.name} {days} days")]
        streams = [pool.submit(of_stream, data, change, rows) for data, changes, rows in streamed for change in changes
                   if only(f"{data.name} {change}")]
        partly = list(_shown(limited))
        nights = list(_shown(chains))
        drifts = list(_shown(streams))
    mean = np.mean([difference for *_, difference, _ in nights]) if nights else 0.0
    rows = [[name, str(days), f"{whole:.4f}", f"{d:+.3f}", str(n)] for name, days, whole, d, n in nights]
    first = table(["set", "days", "all at once", "nights", "forgot"], rows, "lr")
    others = [[name, change, f"{loss:.4f}", f"{d:+.3f}", f"{whole:+.3f}", str(n)]
              for name, change, loss, d, whole, n in drifts]
    third = table(["set", "days", "kept", "all at once", "nights"], [
        [row[0], str(row[1]), "a tenth" if k % 2 == 0 else "none", f"{row[2]:.4f}", f"{row[3]:+.3f}"]
        for k, row in enumerate(partly)], "lrl")
    second = table(["stream", "change", "loss", "nights", "all days", "forgot"], others, "llr")
    parts = ([first, f"Mean {mean:+.4f}."] if nights else []) + ([second] if others else [])
    parts = [third] if o.limited else parts
    name = "continue limited" if o.limited else "continue"
    show("\n\n".join([*parts, made("vwlite", "numpy")]), o.results, name)


def _shown(futures: Sequence) -> Iterator[tuple]:  # type: ignore[type-arg]
    for future in futures:
        say(str(result := future.result()))
        yield result


if __name__ == "__main__":
    main()
