"""Rows of some days in several formats, and runs that continue a model with them."""

import csv
import io
import json
import random
from pathlib import Path

DAYS = 3


def rows_of(day, n=150):
    """Rows of one day, as dictionaries."""
    r = random.Random(day)
    for i in range(n):
        x, c, shop = r.gauss(0, 1), r.choice("abcde"), r.choice(["north", "south"] + ["new"] * day)
        score = x * x - 1 + (c in "ab") + r.gauss(0, 0.3)
        yield {
            "x": round(x, 3), "c": c, "shop": shop, "z": r.choice(["", round(r.random(), 2)]),
            "text": " ".join(r.choice(["good", "bad", "very", "new", "old"]) for _ in range(4)),
            "customer": f"k{i // 5}-{day}", "h": r.choice([1, 2]),
            "two": "yes" if score > 0 else "no", "zero": int(score > 0), "score": round(score, 3),
            "amount": round(abs(score) * 10, 2), "count": int(abs(score) * 3), "class": "abcd"[int(score * 2) % 4],
        }


def as_csv(rows, names):
    out = io.StringIO()
    writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_lines(rows, names):
    return "".join(json.dumps({k: v for k, v in row.items() if k in names and v != ""}) + "\n" for row in rows)


def as_vw(rows, names):
    return "".join(f"{1 if row['zero'] else -1} {row['h']} |a x:{row['x']} c={row['c']} |shop {row['shop']}\n"
                   for row in rows)


def as_parquet(rows, names):
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    table = pa.table({name: [row[name] if row[name] != "" else None for row in rows] for name in names})
    pq.write_table(table, out)
    return out.getvalue()


FORMATS = {"csv": as_csv, "jsonl": as_lines, "vw": as_vw, "parquet": as_parquet}
COLUMNS = ("x", "c", "shop", "z")
KINDS = {
    "two words": ("csv", (*COLUMNS, "two"), ("--label", "two")),
    "0 and 1": ("csv", (*COLUMNS, "zero"), ("--label", "zero")),
    "numbers": ("csv", (*COLUMNS, "score"), ("--label", "score")),
    "few bits": ("csv", (*COLUMNS, "score"), ("--label", "score", "-b", "6")),
    "importance": ("csv", (*COLUMNS, "h", "two"), ("--label", "two", "--importance", "h")),
    "groups": ("csv", (*COLUMNS, "customer", "two"), ("--label", "two", "--group", "customer")),
    "texts": ("csv", ("x", "text", "two"), ("--label", "two", "--text", "text")),
    "texts alone": ("csv", ("text", "two"), ("--label", "two", "--text", "text")),
    "classes": ("csv", (*COLUMNS, "class"), ("--label", "class", "--oaa", "5", "--classes", "auto")),
    "quantiles": ("csv", (*COLUMNS, "score"), ("--label", "score", "--loss", "quantile", "--quantile-tau", "0.1,0.9")),
    "quantile": ("csv", (*COLUMNS, "score"), ("--label", "score", "--loss", "quantile", "--quantile-tau", "0.7")),
    "huber": ("csv", (*COLUMNS, "score"), ("--label", "score", "--loss", "huber")),
    "expectile": ("csv", (*COLUMNS, "score"), ("--label", "score", "--loss", "expectile", "--expectile-tau", "0.2")),
    "poisson": ("csv", (*COLUMNS, "count"), ("--label", "count", "--loss", "poisson")),
    "logarithms": ("csv", (*COLUMNS, "amount"), ("--label", "amount", "--label-transform", "log1p")),
    "amounts": ("csv", (*COLUMNS, "amount"), ("--label", "amount")),
    "weights of classes": ("csv", (*COLUMNS, "two"), ("--label", "two", "--class-weight", "balanced")),
    "no derived features": ("csv", (*COLUMNS, "two"), ("--label", "two", "--derive", "none")),
    "JSON lines": ("jsonl", (*COLUMNS, "two"), ("--label", "two")),
    "Parquet": ("parquet", (*COLUMNS, "two"), ("--label", "two")),
    "VW text": ("vw", (), ()),
    "crosses": ("vw", (), ("-q", "as")),
}


def a_night(vwlite, write, *words, code=0):
    """A day, and the night after it; what that said. M is the model of the day, M.rows has its rows."""
    vwlite("train", "--continue", "M", write("two words", "first", [0]), "--label", "two", "--quiet")
    return lambda: vwlite("train", "--continue", "M", write("two words", "second", [1]), "--label", "two", *words,
                          code=code)


def unsettled():
    return [path.name for path in Path().iterdir() if path.name.startswith("M.rows.") or ".tmp" in path.name]
