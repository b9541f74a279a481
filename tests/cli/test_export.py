"""Exports predict what the model does, on the same lines: as tables that come back, in SQL, in C and in Python."""

import gzip
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from vwlite.core.data.batch import Batch
from vwlite.core.text.parser import Parser
from vwlite.model import read_model

ROOT = Path(__file__).parents[2]
DATA, SHARED = ROOT / "data", ROOT.parent / "shared" / "data"
CC = shutil.which("cc")
NEAR = 1e-6

# What a header in C is tried with: lines in, predictions out.
DRIVER = r"""
#include <stdio.h>
#include "model.h"
int main(int argc, char **argv) {
    static char line[1 << 20];
    int libsvm = argc > 1 && argv[1][0] == 'l', probabilities = argc > 2;
    while (fgets(line, sizeof line, stdin)) {
        double scores[VWLITE_SCORES];
        size_t size = strlen(line);
        int state = libsvm ? vwlite_libsvm_line(line, size, scores) : vwlite_vw_line(line, size, scores);
        if (state < 0)
            return printf("bad line: %d\n", state), 1;
        if (state == 0)
            puts("");
        else if (probabilities) {
#if VWLITE_SIGMOID || VWLITE_SOFTMAX
            double p[VWLITE_CLASSES];
            vwlite_probabilities(scores, p);
            for (int k = 0; k < VWLITE_CLASSES; k++)
                printf("%s%s:%.17g", k ? " " : "", vwlite_class_names[k], p[k]);
            puts("");
#endif
        } else if (VWLITE_CLASSES)
            puts(vwlite_class_names[(int)vwlite_prediction(scores) - 1]);
        else
            printf("%.17g\n", vwlite_prediction(scores));
    }
    return 0;
}
"""

VW = """\
1 |a b:0.5 c d:-2 |x d 17 u:3e-1
-1 2 0.25 'tagged|a c:2 e |x:0.5 d f
| a nameless:1.5 17 017 :2 :-1 |x g |a b
 \t
-1 1 1 no_bar_before|x f:1e-50 d:1e3 |x u\t f:.5 |a\tb:+1.25 c:1e-3
1 'x |bb c d |0 17 |\u00e9t\u00e9 neige:2 |a e:0.25 |yy z w*v ^
-1 |a averyveryverylongname:0.5 abcdefgh:2 abcdefghi \x01ctl:1 |x
"""
TEXT = (VW + VW.replace("1 |", "-1 |", 1).replace("b", "q")) * 4

LIBSVM = """\
1 1:0.5 3:1 17:2.5
# only | a comment
-1 2:1e-3 3:2 4294967295:0.125

1 1:0.25 00000004:1
-1 3:1.5 17:-1 # a | comment
"""


def numbers(text, of):
    """Labels of another kind in a text."""
    labels = iter(of * 1000)
    return re.sub(r"(?m)^-?1(?= )", lambda match: next(labels), text)


# What is trained with, on which text; and what the prediction is called with.
MODELS = {
    "gd": ("", TEXT),
    "logistic": ("--loss logistic --link logistic", TEXT),
    "glf1": ("--loss logistic --link glf1", TEXT),
    "poisson": ("--loss poisson --link poisson -l 0.1", numbers(TEXT, ["0", "2", "1"])),
    "clipped": ("--loss squared -l 5", numbers(TEXT, ["0.5", "0.25", "1"])),
    "hash all": ("--loss logistic --hash all", TEXT),
    "few bits": ("--loss logistic -b 3", TEXT),
    "no constant": ("--loss hinge --algorithm sgd --no-constant", TEXT),
    "crossed": ("--loss logistic -q ax -q aa --cubic axx -b 18", TEXT),
    "crossed with wildcards": ("--loss logistic -q :: -q a:", TEXT),
    "crossed, hash all": ("--loss logistic --interactions aaxy --hash all", TEXT),
    "kept": ("--loss logistic --keep a --keep b", TEXT),
    "ignored": ("--loss logistic --ignore x -q ab", TEXT),
    "not linear": ("--loss logistic --ignore-linear a -q ax", TEXT),
    "averaged": ("--loss logistic --algorithm sgd --average", TEXT),
    "sparse": ("--loss logistic --algorithm ftrl --l1 0.5", TEXT),
    "nonzeros": ("--loss logistic --algorithm l1-ball --nonzeros 5", TEXT),
    "ball": ("--loss logistic --algorithm l1-ball --radius 2", TEXT),
    "eg": ("--loss logistic --algorithm eg --radius 3 --features 40", TEXT),
    "eg-pm": ("--loss logistic --algorithm eg-pm --radius 3 --features 40", TEXT),
    "simplex": ("--loss squared --algorithm simplex --radius 3 --features 40", TEXT),
    "weights only": ("--loss logistic --save-weights-only", TEXT),
    "oaa": ("--oaa 3 --loss logistic", numbers(TEXT, ["1", "2", "3", "2"])),
    "oaa squared": ("--oaa 3", numbers(TEXT, ["1", "2", "3", "2"])),
    "oaa crossed": ("--oaa 3 --loss logistic -q ax", numbers(TEXT, ["1", "2", "3", "2"])),
    "oaa of words": ("--oaa 5 --classes auto --loss logistic", numbers(TEXT, ["red", '"gr\\een?', "bl\u00fce"])),
    "oaa of eg": ("--oaa 3 --loss logistic --algorithm eg --radius 3 --features 40", numbers(TEXT, ["1", "2", "3"])),
    "softmax": ("--classes red,green,blue --softmax --radius 5", numbers(TEXT, ["red", "green", "blue"])),
    "libsvm": ("--loss logistic", LIBSVM * 5),
    "libsvm, hash all": ("--loss logistic --hash all -b 20", LIBSVM * 5),
    "libsvm, oaa": ("--oaa 2", LIBSVM.replace("-1 ", "2 ") * 5),
}
CROSSED = {"crossed", "crossed with wildcards", "crossed, hash all", "oaa crossed"}
NOT_IN_SQL = CROSSED | {"kept", "ignored", "not linear"}


def by_import(vwlite, kind):
    def lines(folder, data, *options):
        vwlite("export", "model", "--to", kind, "-o", f"table.{kind}")
        vwlite("import", f"table.{kind}", "-m", "imported")
        vwlite("predict", "-m", "imported", data, "-p", "again", "--quiet", *options)
        return (folder / "again").read_text().splitlines()

    return lines


def in_c(vwlite):
    if CC is None:
        pytest.skip("there is no C compiler")

    def lines(folder, data, *options):
        vwlite("export", "model", "--to", "c", "-o", "model.h")
        (folder / "main.c").write_text(DRIVER)
        strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror"]
        subprocess.run([CC, *strict, "main.c", "-o", "main", "-lm"], check=True)
        form = "vw" if "|" in Path(data).read_text().split("\n")[0].split("#")[0] else "libsvm"
        with open(data, "rb") as text:
            done = subprocess.run(["./main", form, *options], stdin=text, capture_output=True)
        assert done.returncode == 0, done.stdout[-200:]
        return done.stdout.decode().splitlines()

    return lines


def in_python(vwlite):
    def lines(folder, data, *options):
        vwlite("export", "model", "--to", "python", "-o", "model.py")
        with open(data, "rb") as text:
            done = subprocess.run([sys.executable, "-I", "model.py", *options], stdin=text, capture_output=True)
        assert done.returncode == 0, done.stderr[-300:]
        return done.stdout.decode().splitlines()

    return lines


def features(data, hash_all):
    """The lines of a text as what is put into a table: None for a blank one, else keys and values."""
    batch = Batch()
    text = Path(data).read_bytes()
    form = "vw" if b"|" in text.split(b"\n")[0].split(b"#")[0] else "libsvm"
    names = {} if form == "vw" else {"format": "libsvm"}
    assert not Parser(hash_all=hash_all, labels_in_tags=form == "vw", **names).parse(text, batch)
    for kind, first, last in zip(batch.kind, batch.span_begin, batch.span_begin[1:], strict=False):
        begin, end = batch.feature_begin[first], batch.feature_begin[last]
        yield list(zip(batch.hash[begin:end], batch.value[begin:end], strict=True)) if kind == 0 else None


def in_sql(vwlite):
    def lines(folder, data, *options):
        vwlite("export", "model", "--to", "sql", "-o", "model.sql")
        base = sqlite3.connect(":memory:")
        base.executescript((folder / "model.sql").read_text())
        examples = list(features(data, read_model("model").settings.hash == "all"))
        for i, found in enumerate(examples):
            rows = [(i, key, value) for key, value in found or []] or ([(i, 0, 0)] if found is not None else [])
            base.executemany("INSERT INTO vwlite_features VALUES (?, ?, ?)", rows)
        shown = {}
        if options:
            query = "SELECT example, name, probability FROM vwlite_probabilities"
            for example, name, p in base.execute(query):
                shown[int(example)] = f"{shown.get(int(example), '')} {name}:{p!r}".lstrip()
        else:
            shown = {int(i): str(p) for i, p in base.execute("SELECT example, prediction FROM vwlite_predictions")}
        return [shown[i] if found is not None else "" for i, found in enumerate(examples)]

    return lines


WAYS = {
    "tsv": lambda vwlite: by_import(vwlite, "tsv"),
    "json": lambda vwlite: by_import(vwlite, "json"),
    "sql": in_sql,
    "c": in_c,
    "python": in_python,
}


def parted(line):
    """What a line of predictions says: a number, a word, or numbers by class."""
    first = line.split(" ", 1)[0]
    if ":" in first:
        return {name: float(p) for name, _, p in (word.rpartition(":") for word in line.split(" ") if ":" in word)}
    try:
        return float(first)
    except ValueError:
        return first


def assert_same(found, expected, most_apart=NEAR):
    assert len(found) == len(expected)
    for line, (a, b) in enumerate(zip(map(parted, found), map(parted, expected), strict=True)):
        assert a == pytest.approx(b, abs=most_apart) if not isinstance(b, str) else a == b, line


def trained(vwlite, folder, options, text):
    (folder / "data").write_text(text)
    vwlite("train", "data", "-m", "model", "--quiet", *options.split())
    (folder / "test").write_text(text)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", WAYS)
def test_exports_predict_what_the_model_does(vwlite, tmp_path, monkeypatch, way, name):
    monkeypatch.chdir(tmp_path)
    options, text = MODELS[name]
    trained(vwlite, tmp_path, options, text)
    if way == "sql":
        if name in NOT_IN_SQL:
            assert "cannot be exported to sql, as" in vwlite("export", "model", "--to", "sql", "-o", "o", code=65).err
            assert not Path("o").exists()
            return
        # Initial scores are not in a table of features.
        Path("test").write_text(re.sub(r" 0\.25 (?='tagged)| 1 1 (?=no_.ar)", " ", text))
    vwlite("predict", "-m", "model", "test", "-p", "expected", "--quiet")
    lines = WAYS[way](vwlite)
    assert_same(lines(tmp_path, "test"), Path("expected").read_text().splitlines())
    settings = read_model("model").settings
    if settings.oaa and settings.loss == "logistic":
        vwlite("predict", "-m", "model", "test", "-p", "expected", "--quiet", "--probabilities")
        assert_same(lines(tmp_path, "test", "--probabilities"), Path("expected").read_text().splitlines())


REAL = {
    "tumours": ("--loss logistic --link logistic -q mw", "breast_cancer.train.vw", "breast_cancer.test.vw"),
    "sources": ("--loss logistic --algorithm adagrad-rda --l1 1e-3", "sources.train.vw", "sources.test.vw"),
    "digits": ("--oaa 10 --loss logistic", "digits.train.libsvm", "digits.test.libsvm"),
    "digits, softmax": ("--oaa 10 --softmax --radius 30", "digits.train.libsvm", "digits.test.libsvm"),
    "adult": ("--loss logistic -q cc -b 18 --keep c", "adult.train.vw.gz", "adult.test.vw.gz"),
    "spam": ("--loss logistic --algorithm ftrl --l1 1 --link logistic", "sms_spam.vw.gz", "sms_spam.vw.gz"),
    "spambase": ("--loss squared -b 24", "spambase.libsvm.gz", "spambase.libsvm.gz"),
}
NOT_REAL_IN_SQL = ("tumours", "adult")


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("way", WAYS)
def test_exports_predict_what_the_model_does_on_real_data(vwlite, tmp_path, monkeypatch, way, name):
    monkeypatch.chdir(tmp_path)
    options, train, test = REAL[name]
    if way == "sql" and name in NOT_REAL_IN_SQL:
        pytest.skip("not for sql")
    for file, source in (("data", train), ("test", test)):
        place = next((folder / source for folder in (DATA, SHARED) if (folder / source).exists()), None)
        if place is None:
            pytest.skip(f"there is no {source}")
        opened = gzip.open(place, "rb") if source.endswith("gz") else open(place, "rb")
        with opened as text:
            Path(file).write_bytes(b"".join(line for _, line in zip(range(1500), text, strict=False)))
    vwlite("train", "data", "-m", "model", "--quiet", *options.split())
    vwlite("predict", "-m", "model", "test", "-p", "expected", "--quiet")
    assert_same(WAYS[way](vwlite)(tmp_path, "test"), Path("expected").read_text().splitlines())
