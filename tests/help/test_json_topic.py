"""`vwlite help json` against what commands write: each key is listed with its type, and each listed key is written."""

import json
import re
from pathlib import Path

import pytest
from running import run_here

import vwlite.help

TEXT = (Path(vwlite.help.__file__).parent / "json.txt").read_text(encoding="utf-8")
TYPES = {"integer": int, "number": (int, float), "text": str, "boolean": bool}
# Keys that no run here writes: of interrupted runs, large data, shards that were not found, and what auto may do.
ELSEWHERE = ("signal*", "missing", "sample*", "approximate*", "best_pass*", "derived*", "notes", "l1*", "model*",
             "offsets")


class Line:
    """A listed key. origin: its section, or shared object, and how it is written there."""

    def __init__(self, key, type, prefix, optional, origin):
        self.key, self.type, self.nullable = prefix + key.replace("*", ""), type.rstrip("?"), type.endswith("?")
        self.is_open = self.type in ("any", "object")
        self.is_required = not (optional or "*" in key or re.search(r"\[\]|[A-Z]{3}", self.key) or self.is_open)
        pattern = re.escape(self.key).replace("WHERE_", "(holdout_|out_of_fold_|validation_|progressive_)?")
        pattern = re.sub("CLASS|COLUMN|NAME", r"[^.(]*(?:\\([^)]*\\))?[^.]*", pattern).replace("FILE", ".*")
        pattern = pattern.replace("MEASURE", r"[a-z]\w*(?:\.\d\w*)*").replace("TAU", r"\d\.\d+")
        self.pattern = re.compile(pattern + (r"([.[].*)?" if self.is_open else ""))
        self.origin = origin

    def allows(self, value):
        if value is None or self.is_open:
            return self.nullable or self.is_open
        return isinstance(value, TYPES[self.type]) and (self.type == "boolean") == isinstance(value, bool)


def listed():
    """The lines of each section, with those of shared objects in their place."""
    raw, into = {}, None
    for line in TEXT.splitlines():
        if m := re.match(r"    (each line|[\w.*\[\]]+)  *(\([a-z]+\)|[a-z]+\??)( |$)", line):
            into.append((m[1], m[2]))
        elif re.match(r"\([a-z]+\)$|each --report$|.*--(json|report)$", line):
            into = []
            raw.update((name, into) for name in line.split(", "))

    def lines(section, prefix="", optional=False):
        for key, type in raw[section]:
            if type.startswith("("):
                inner = "" if key == "each line" else f"{key.replace('*', '')}."
                yield from lines(type, prefix + inner, optional or "*" in key)
            else:
                yield Line(key, type, prefix, optional, (id(raw[section]), section, key))

    return {name: [*lines(name)] for name in raw if not name.startswith("(")}


LISTED = listed()


def leaves(value, path=""):
    """The paths and values of what is neither an object nor a list."""
    if isinstance(value, dict):
        return [x for key, inner in value.items() for x in leaves(inner, f"{path}.{key}" if path else key)]
    if isinstance(value, list):
        return [x for inner in value for x in leaves(inner, path + "[]")]
    return [(path, value)]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What commands write, by section."""
    folder = tmp_path_factory.mktemp("json")
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.chdir(folder)

    def vwlite(line, code=0):
        return run_here(*line.split(), code=code).out

    rows = [(f"c{(i * 7) % 5 % 3}", f"w{i % 3}", (i * 37 % 101) / 10, i % 2 == 0 or i % 7 == 0) for i in range(240)]
    table = "kind,word,size,when,yes\n" + "".join(
        f"{k},{w},{s},2026-01-{1 + i % 28:02}T0{i % 10}:00:00,{int(y)}\n" for i, (k, w, s, y) in enumerate(rows)
    )
    (folder / "t.csv").write_text(table)
    prices = (f"{k},{w},{2 ** (s / 2) * (i % 3 * 2 + 1) * (20 + i % 7)}\n" for i, (k, w, s, _) in enumerate(rows))
    (folder / "p.csv").write_text("kind,word,price\n" + "".join(prices))
    (folder / "u.csv").write_text(table.replace("w1", "w9"))
    (folder / "odd.csv").write_text(table + "c9,w1,2,2026-01-01,\n" + "x,w1\n")
    (folder / "bad.csv").write_text("kind,word,size\n1,2\n")
    for line in ("--label yes -m b.model", "--label kind --oaa 3 --classes auto -m c.model",
                 "--label size --algorithm gd --passes 3 -m r.model",
                 "--label size --algorithm gd --l1 .01 -m q.model",
                 "--label size --loss quantile --quantile-tau .1,.5,.9 -m t.model",
                 "--label size --loss quantile --algorithm gd -m h.model",
                 "--label size --loss tweedie -m w.model"):
        vwlite(f"train t.csv {line}")
    found = {name: [] for name in LISTED}

    def report(name, line, code=0):
        vwlite(f"{line} --report x.json", code)
        content = json.loads((folder / "x.json").read_text())
        common = {key: content.pop(key) for key in [*content] if key in COMMON}
        found["each --report"].append(common)
        if not code:
            found[name].append(content)

    COMMON = {"schema", "program", "command", "exit_code", "signal", "error", "options", "notes"}
    report("train --report", "train t.csv --label yes -m x.model")
    report("train --report", "train t.csv --label kind --oaa 3 --classes auto -m x.model")
    report("train --report", "train t.csv --label size --algorithm gd --passes 3 -i r.model -l .1 -m x.model")
    report("train --report", "train t.csv --label yes --sparse -m x.model")
    vwlite("train --continue n.model t.csv --label yes")
    report("train --report", "train --continue n.model u.csv")
    vwlite("train --continue n.model u.csv --again --keep-rows 0")
    for _ in range(2):
        vwlite("train --continue few.model t.csv --label yes --keep-rows 1K --again")
    report("train --report", "train t.csv --label yes --validate u.csv -m x.model")
    report("train --report", "train odd.csv --label yes --on-error skip -m x.model")
    report("train --report", "train t.csv --label size --algorithm adagrad-rda --nonzeros 3 --passes 9 -m x.model")
    report("train --report", "train t.csv --label size --algorithm l1-ball --nonzeros 3 --ignore x --names -m x.model")
    report("train --report", "train p.csv --label price -m x.model")
    report("train --report", "train t.csv --label size --loss quantile --quantile-tau .1,.5,.9 -m x.model")
    report("predict --report", "predict -m t.model u.csv")
    report("predict --report", "predict -m b.model u.csv")
    report("predict --report", "predict -m c.model odd.csv --on-error skip")
    report("predict --report", "predict -m c.model u.csv")
    report("predict --report", "predict -m c.model bad.csv", 65)
    for line in ("-m b.model t.csv --against b.model --by yes", "-m c.model t.csv", "-m c.model t.csv --top 2",
                 *(f"-m {name}.model u.csv" for name in "rthw"), "-m t.model t.csv --against t.model --by yes"):
        found["evaluate --json"].append(json.loads(vwlite(f"evaluate {line} --json")))
        report("evaluate --report", f"evaluate {line}")
    for line in ("--label yes --stratify", "--label size --loss quantile --quantile-tau .1,.9"):
        found["cv --json"].append(json.loads(vwlite(f"cv t.csv {line} --folds 2 --json")))
    (folder / "front.json").write_text(vwlite("tune t.csv --label yes --seconds 1 --json"))
    found["tune --json"].append(json.loads((folder / "front.json").read_text()))
    for line in ("-m b.model t.csv --front front.json", "-m r.model t.csv"):
        found["report --json"].append(json.loads(vwlite(f"report {line} --json")))
        report("report --report", f"report {line} -o page.html")
    for command in ("explain", "worst"):
        for model in "bcrt":
            lines = vwlite(f"{command} -m {model}.model t.csv --json").splitlines()
            found[f"{command} --json"] += [json.loads(line) for line in lines[:20]]
    for name, line in (
        ("info --json", "info b.model"), ("info --json", "info r.model"),
        ("weights DATA --json", "weights b.model t.csv"), ("weights DATA --json", "weights c.model t.csv"),
        ("diff --json", "diff r.model q.model"), ("diff --json", "diff r.model q.model t.csv"),
        ("diff --json", "diff c.model c.model"), ("drift --json", "drift -m b.model t.csv u.csv"),
        ("describe --json", "describe t.csv --label yes"), ("describe --json", "describe t.csv --label size"),
        ("calibrate --json", "calibrate -m b.model t.csv -o y.model"),
        ("info --json", "info y.model"), ("info --json", "info n.model"), ("info --json", "info few.model"),
    ):
        found[name].append(json.loads(vwlite(f"{line} --json")))
    report("calibrate --report", "calibrate -m c.model t.csv -o y.model")
    report("calibrate --report", "calibrate -m b.model t.csv -o y.model")
    report("solve --report", "solve t.csv --label yes --loss logistic --labels 0,1 --l2 .1 -m s.model")
    report("solve --report", "solve t.csv --label size --loss squared --radius 1 -m s2.model")
    for line in ("t.csv --label size --loss squared --l1-path 3 -m path%d.model",
                 "t.csv u.csv --label size --loss squared --l2 1 --shards 2 -m s2.model",
                 "t.csv --label kind --oaa 3 --classes c0,c1,c2 --loss logistic --l1 1 -m s2.model"):
        report("solve --report", f"solve {line}")
    report("certify --report", "certify -m s.model t.csv --against s.model")
    vwlite("train t.csv --label yes --algorithm gd --loss logistic --labels 0,1 -m 1.model")
    vwlite("train u.csv --label yes --algorithm gd --loss logistic --labels 0,1 -m 2.model")
    report("merge --report", "merge 1.model 2.model --holdout t.csv -m m.model")
    monkeypatch.undo()
    return found


def within_results(name, content):
    """`--report` of these has under `results` what `--json` has; these two sections are one."""
    if name in ("evaluate --report", "report --report", "calibrate --report"):
        return content["results"]
    return content


def test_what_commands_write_is_listed_and_what_is_listed_is_written(written):
    listed, seen = {}, set()
    for name, lines in LISTED.items():
        assert written[name], name
        listed |= {line.origin[::2]: line.origin[1:] for line in lines}
        for content in written[name]:
            content.pop("schema", None)
            found = leaves(within_results(name, content))
            for path, value in found:
                fits = [line for line in lines if line.pattern.fullmatch(path)]
                assert any(line.allows(value) for line in fits), (name, path, value)
                seen |= {line.origin[::2] for line in fits}
            paths = {path for path, _ in found}
            assert not [line.key for line in lines if line.is_required and line.key not in paths], name
    unseen = [where for origin, where in listed.items() if origin not in seen]
    assert not [where for where in unseen if not set(re.split(r"[^\w*]+", where[1])) & {*ELSEWHERE}]
