"""The stories of `vwlite help`: their commands run as they stand, on files of the kind that they are about."""

import csv
import json
import math
import random
import re
import shutil
import socket
import sys
from itertools import product

import pytest
from running import shell

from vwlite.help.commands import TEXTS

ABOUT = {"card": ["card", "debit card", "plastic"], "transfer": ["transfer", "bank transfer", "wire"],
         "top_up": ["top up", "topping up", "deposit"], "pin": ["pin", "pin code", "passcode"],
         "cash": ["cash", "withdrawal", "atm money"], "refund": ["refund", "money back", "reimbursement"],
         "fee": ["fee", "charge", "extra cost"], "identity": ["identity check", "passport check", "verification"],
         "exchange": ["exchange", "currency rate", "conversion"], "payment": ["payment", "purchase", "order"],
         "account": ["account", "profile", "login"]}
WHAT = {"lost": ["I lost my {}", "my {} is missing", "where is my {}"],
        "late": ["my {} is still not there", "why is the {} so slow", "waiting for my {} since Monday"],
        "declined": ["my {} was declined", "the {} was refused", "they rejected my {}"],
        "wrong": ["my {} is wrong", "there is an error in the {}", "the {} does not look right"],
        "cancel": ["please cancel my {}", "I want to stop the {}", "how do I undo the {}"],
        "how": ["how does the {} work", "explain the {} to me", "I need help with the {}"],
        "limit": ["what is the limit of the {}", "how much {} is allowed", "the maximum for my {}"]}
ENDS = ["", " please", " thanks", " today", " in the app", " - hello?", " since yesterday"]


def chance(draw, score):
    return int(draw.random() < 1 / (1 + math.exp(-score)))


def write_table(path, names, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([names.split(), *rows])


def of_intents(folder, draw, subjects=2):
    lines = [f"__label__{about}_{what} {draw.choice(WHAT[what]).format(draw.choice(ABOUT[about]))}{draw.choice(ENDS)}\n"
             for about, what in product([*ABOUT][:subjects], WHAT) for _ in range(12 if subjects < 9 else 8)]
    draw.shuffle(lines)
    (folder / "messages.txt").write_text("".join(lines))


def of_prices(folder, draw):
    places = {"north": 0, "south": 0.1, "center": 0.5, "harbor": 0.3}
    houses = [(f"h{k}", draw.choice([*places]), draw.randrange(1900, 2020)) for k in range(150)]
    rows = []
    for i in range(900):
        house, place, built = draw.choice(houses)
        area = round(draw.lognormvariate(4.3, 0.35))
        log = 1.2 + 0.8 * math.log(area) + places[place] + (built - 1950) / 300 + i / 6000 + draw.gauss(0, 0.2)
        sold = f"{2025 + i // 600}-{i // 50 % 12 + 1:02}-{i % 28 + 1:02}"
        rows.append([sold, house, place, area, max(1, area // 25), built, round(1000 * math.exp(log))])
    write_table(folder / "prices.csv", "sold house district area rooms built price", rows)
    write_table(folder / "offers.csv", "sold house district area rooms built", [row[:6] for row in rows[:9]])


def of_churn(folder, draw):
    duckdb = pytest.importorskip("duckdb")
    names = "id customer month country contract tenure charges tickets churned"
    for table, count, more in (("customers", 1500, 0), ("today", 300, 9)):
        rows = []
        for i in range(count):
            customer, tickets = draw.randrange(400), min(9, int(draw.expovariate(0.8)))
            contract, tenure = ["yearly", "monthly", "monthly"][customer % 3], customer % 60 + 1
            charges = round(20 + customer % 7 * 9 + draw.gauss(0, 3) + more, 2)
            score = -1.2 + 0.7 * tickets - 0.03 * tenure + (contract == "monthly") + charges / 80
            month, country = f"2026-0{1 + (more > 0)}", "DFP"[customer % 5 % 3]
            rows.append([i, f"c{customer}", month, country, contract, tenure, charges, tickets, chance(draw, score)])
        write_table(folder / f"{table}.csv", names, rows)
        with duckdb.connect(str(folder / "shop.db")) as base:
            base.execute(f"CREATE TABLE {table} AS SELECT * FROM read_csv('{folder}/{table}.csv')")
    # What the program of DuckDB does with a statement, or with standard input.
    program = (f"#!{sys.executable}\nimport duckdb, sys\nname, *more = sys.argv[1:]\n"
               "print(duckdb.connect(name).sql(more[1] if more else sys.stdin.read()) or '')\n")
    (folder / "bin/duckdb").write_text(program)
    (folder / "bin/duckdb").chmod(0o755)


def of_platform(folder, draw):
    pytest.importorskip("mlflow")
    for day in (1, 2):
        rows = []
        for _ in range(400):
            device, price = draw.choice(["phone", "tablet", "desktop"]), round(draw.expovariate(0.3), 2)
            rows.append([chance(draw, (device == "phone") * 2 - price / 3), device, price])
        write_table(folder / f"day{day}.csv", "clicked device price", rows)


STORIES = {"intents": of_intents, "prices": of_prices, "churn": of_churn, "platform": of_platform}


def commands_of(story):
    text = (TEXTS / f"{story}.txt").read_text(encoding="utf-8")
    blocks = re.findall(r"(?<=\n\n)((?: {4}.+\n)+)", text)
    return re.findall(r"^ {4}(\S.*\n(?: {8}.*\n)*)", "".join(blocks), re.M)


def outputs(story, folder, **options):
    """What each command of a story has printed to standard output; a server is stopped at the end."""
    commands = "".join(commands_of(story))
    if "curl" in commands and not shutil.which("curl"):
        pytest.skip("needs curl")
    program = folder / "bin" / "vwlite"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vwlite "$@"\n')
    program.chmod(0o755)
    STORIES[story](folder, random.Random(51), **options)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    script = "echo \f\n".join([f"cd {folder}; export PATH={folder}/bin:$PATH; unset -f vwlite; set -e\n"
                               "trap '[ -z $! ] || kill $!' EXIT\n", *commands_of(story)])
    script = script.replace("8080", port).replace("localhost", "127.0.0.1").replace("echo \f", "printf '\\f'")
    done = shell(script, timeout=1800)
    assert done.code == 0, done
    return done.out.split("\f")[1:]


@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_ten_commands(story):
    assert len(commands_of(story)) == 10


@pytest.mark.parametrize("subjects", [2, pytest.param(11, marks=pytest.mark.long)])
def test_intents(tmp_path, subjects):
    _, _, evaluated, worst, _, predicted, folds, _, _, served = outputs("intents", tmp_path, subjects=subjects)
    value = {m[1]: float(m[2]) for m in re.finditer(r"^(\S.*?) {2,}([\d.]+)", evaluated, re.M)}
    assert value["accuracy"] > 0.5 and value["accuracy"] <= value["recall at 3"] <= 1
    assert value["precision at 3"] == pytest.approx(value["recall at 3"] / 3, abs=1e-4)
    assert "1. test.txt:" in worst and "accuracy" in folds
    (first, chance), *others = (word.split(":") for word in predicted.split())
    assert first.endswith("_lost") and len(others) == 2 and all(float(p) <= float(chance) for _, p in others)
    answer = json.loads(served)
    assert answer["prediction"] == first and answer["probability"] == float(chance)


@pytest.mark.long
def test_prices(tmp_path):
    told, *_, compared, _, _, intervals, _, folds = outputs("prices", tmp_path)
    assert "--time sold" in told and "minus mean.model" in compared and "Gamma deviance" in folds
    assert re.search(r"coverage 0.1 0.9 .* expected 0.8000", intervals)
    with open(tmp_path / "offers.csv") as before, open(tmp_path / "priced.csv") as after:
        pairs = zip(csv.DictReader(before), csv.DictReader(after), strict=True)
        for offer, priced in pairs:
            low, middle, high = (float(priced.pop(f"quantile_{tau}")) for tau in (0.1, 0.5, 0.9))
            assert priced == offer and low <= middle <= high


@pytest.mark.long
def test_churn(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    *_, evaluated, _, _, _, _, drift = outputs("churn", tmp_path)
    assert "monthly" in evaluated and re.search(r"charges: mean value .* \*", drift)
    query, scored = (tmp_path / "churn.sql").read_text(), tmp_path / "scored.parquet"
    with duckdb.connect(str(tmp_path / "shop.db")) as base:
        in_base = base.execute(query).fetchall()
        in_file = base.execute(f"SELECT id, probability FROM '{scored}'").fetchall()
    found = {id: probability for id, *_, probability in in_base}
    assert found == pytest.approx(dict(in_file), abs=1e-6) and len(found) == 300


@pytest.mark.long
def test_platform(tmp_path):
    _, evaluated, _, _, _, ready, model, inferred, invoked, metrics = outputs("platform", tmp_path)
    assert json.loads(evaluated)["schema"] == json.loads((tmp_path / "train.json").read_text())["schema"] == 2
    assert json.loads(ready)["ready"] and [x["name"] for x in json.loads(model)["inputs"]] == ["device", "price"]
    (tensor,) = (x for x in json.loads(inferred)["outputs"] if x["name"] == "probability")
    assert tensor["data"][0] == json.loads(invoked)["predictions"][0]["probability"] > tensor["data"][1]
    assert "vwlite_prediction_bucket" in metrics and (tmp_path / "clicks/MLmodel").exists()
