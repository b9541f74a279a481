"""Small tables of all kinds of columns, and models of them, for tests of exports by columns."""

import csv
import io
import random
import subprocess
from pathlib import Path

from running import with_gd

WORDS = ["Lis bon", "Porto", "é|x:y", "a\nb", 'q"u', "50%", "*/ x", "A", "a", "a=b^c", "17", "\u2028", "?", "\\"]
KINDS = ["red", "green", "blue", "a rather long word, which has more than thirteen bytes"]
MISSING = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "-"}
TITLES = ["id", "city name", "kind", "age", "income:net", "at", "y"]


def rows_of(count, seed=1):
    """Rows of TITLES; the label is 1 or 0."""
    chance = random.Random(seed)
    for i in range(count):
        city, kind = chance.choice([*WORDS, "", " Porto "]), chance.choice([*KINDS, ""])
        age = chance.choice(["", "NA", *[f"{chance.gauss(40, 12):.6g}"] * 6])
        income = chance.choice(["0", "-0", f"{chance.expovariate(1 / 3000):.3f}", "1e3", " 250.5\t"])
        day = f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        at = chance.choice([f"{day}T{chance.randint(0, 23):02}:15:30Z", day, "", "1769864700.5"])
        x = float(age) if age.strip() not in MISSING else 60
        score = abs(x - 40) / 6 * (1 if city.strip() == "Porto" else -1) + (kind == "red") + (float(income) > 1000)
        score += ("T1" in at) - (at == "")
        yield [f"r {i}", city, kind, age, income, at, int(score + chance.gauss(0, 1) > 0)]


def new_rows():
    """Rows that training has not seen the like of."""
    yield from rows_of(200, seed=2)
    for age in ("1e30", "-1e30", "40", "0", "-3.25", ".5", "5.", "+7e-3", "1e-50"):
        yield ["", "nowhere", "red\x01", age, age, "0001-01-01", ""]
    for city in ("17.0", " 17.0", "017.0", "-17.0", "17.0.0", ".0", "170", "17.", "7.0", "017", "1-7.0", "-.0"):
        yield ["", city, "red", "40", "0", "", ""]
    yield ["", *[" "] * 5, ""]
    yield ["x", *[""] * 5, "1"]
    yield ["x", "\t \n", "PORTO", "-", "NaN", "-86400.5", "0"]
    yield ["x", "porto", "green", "39.999999", "1000.0001", "20260228", "0"]


def as_csv(rows, titles=TITLES, **how):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", **how).writerows([titles, *rows] if titles else rows)
    return text.getvalue()


def labels(rows, of):
    """Rows whose label is another one."""
    for i, row in enumerate(rows):
        yield [*row[:-1], of(i, row[-1])]


LOGISTIC = "--loss logistic --labels 0,1 --link logistic"
CLASSES = ("none of them", "two", "x")
# What is trained with, how many rows there are, and their labels.
MODELS = {
    "logistic": (LOGISTIC, 300, None),
    "scores": ("--loss logistic --labels 0,1", 300, None),
    "hinge": ("--loss hinge --labels 0,1 --no-constant", 300, None),
    "words as labels": ("--loss logistic --labels no,yes --link logistic", 300, lambda i, y: ("no", "yes")[y]),
    "glf1": ("--loss logistic --link glf1", 300, lambda i, y: 2 * y - 1),
    "poisson": ("--loss poisson --link poisson -l 0.01 --normalize l2", 300, lambda i, y: 3 * y),
    "clipped": ("--loss squared -l 5 --normalize l2", 300, lambda i, y: y + i % 3 / 8),
    "hash all": (f"{LOGISTIC} --hash all", 300, None),
    "length": (f"{LOGISTIC} --normalize l2", 300, None),
    "logarithms": (f"{LOGISTIC} --normalize log", 300, None),
    "unseen words count": (f"{LOGISTIC} --algorithm eg --radius 3 --features 400", 300, None),
    "classes": ("--oaa 5 --classes auto --loss logistic", 300, lambda i, y: CLASSES[y + i % 2]),
    "numbered classes": ("--oaa 3 --loss logistic --normalize log", 300, lambda i, y: 1 + y + i % 2),
    "classes without shares": ("--oaa 3", 300, lambda i, y: 1 + y + i % 2),
    "softmax": ("--classes red,green,blue --softmax --radius 5", 300, lambda i, y: ("red", "green", "blue")[y + i % 2]),
    "quantiles": ("--loss quantile --quantile-tau 0.1,0.5,0.75,0.9 -l 3", 300, lambda i, y: 9 * y + i % 7),
    "derived": ("--algorithm auto --normalize none", 2500, None),
    "derived, of two passes": ("--algorithm auto --normalize none --passes 2 --labels 0,1", 2500, None),
    "derived regression": ("--algorithm auto --normalize none", 2500, lambda i, y: 1000 * y + i % 17),
    "derived, log1p": ("--algorithm auto --label-transform log1p", 2500, lambda i, y: 1000 * y + i % 17),
    "derived quantiles": ("--algorithm auto --loss quantile --quantile-tau 0.1,0.9 --normalize none", 1600,
                          lambda i, y: 1000 * y + i % 17),
    "derived classes": ("--algorithm auto --normalize none --oaa 3 --classes auto", 2500,
                        lambda i, y: CLASSES[2 * y if i % 5 else 1]),
}


def train(vwlite, name):
    """`model` of the table `t.csv`, with names of all words; and the rows to predict, `new.csv`."""
    options, count, label = MODELS[name]
    rows = list(rows_of(count))
    Path("t.csv").write_text(as_csv(labels(rows, label) if label else rows), newline="")
    Path("new.csv").write_text(as_csv([*row[:-1], ""] for row in new_rows()), newline="")
    names = () if "--algorithm auto" in options else ("--names",)  # auto keeps those of words
    vwlite("train", "t.csv", "--label", "y", "--tag", "id", "--time", "at", "-m", "model", "--quiet",
           *with_gd(options.split()), *names)


def predictions(vwlite, data="new.csv", *options):
    """What `vwlite predict` prints: the prediction or probabilities, without tags."""
    vwlite("predict", "-m", "model", data, "-p", "expected", "--quiet", *options)
    return [line.split(" ") for line in Path("expected").read_text().split("\n")[:-1]]


def compiled(strict=("-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror"), compiler="cc"):
    """`main` of `driver.c`."""
    subprocess.run([compiler, *strict, "driver.c", "-o", "main", "-lm"], check=True)
