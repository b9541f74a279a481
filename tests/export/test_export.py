"""Exports predict what the model does, on the same lines: as tables that come back, in SQL, in C and in Python."""

import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from running import GD, leftovers, shell, with_gd
from sets import SETS

from vwlite.core.data.batch import Batch
from vwlite.core.text.parser import Parser
from vwlite.export import EXPORTS
from vwlite.model import read_model

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data"
CC = shutil.which("cc")
NEAR = 1e-6
NARROW = 1e-7  # relative: predictions are written as float32

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
        else {
#if VWLITE_QUANTILES
            double all[VWLITE_QUANTILES];
            vwlite_quantiles(scores, all);
            if (all[VWLITE_QUANTILES / 2] != vwlite_prediction(scores) || vwlite_taus[0] != 0.1)
                return 1;
            for (int k = 0; k < VWLITE_QUANTILES; k++)
                printf("%.17g ", all[k]);
            puts("");
#else
            printf("%.17g\n", vwlite_prediction(scores));
#endif
        }
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
    "gamma": ("--loss gamma -l 0.1", numbers(TEXT, ["0.5", "2", "1"])),
    "tweedie": ("--loss tweedie --tweedie-power 1.7 -l 0.1", numbers(TEXT, ["0", "2", "1.5"])),
    "log1p": ("--label-transform log1p --passes 3", numbers(TEXT, ["0.5", "30", "-0.25"])),
    "log1p of the median": ("--label-transform log1p --loss quantile", numbers(TEXT, ["0.5", "30", "-0.25"])),
    "clipped": ("--loss squared -l 5", numbers(TEXT, ["0.5", "0.25", "1"])),
    "hash all": ("--loss logistic --hash all", TEXT),
    "few bits": ("--loss logistic -b 3", TEXT),
    "no constant": ("--loss hinge --algorithm sgd --no-constant", TEXT),
    "crossed": ("--loss logistic -q ax -q aa --cubic axx -b 18", TEXT),
    "crossed with wildcards": ("--loss logistic -q :: -q a:", TEXT),
    "crossed, hash all": ("--loss logistic --interactions aaxy --hash all", TEXT),
    "crossed by name": ("--loss logistic -q a,x -q a,a -q bb,yy -q ax --interactions x,a,yy", TEXT),
    "crossed by name, left out": ("--loss logistic -q a,x --ignore x -q bb,a --hash all -b 12", TEXT),
    "kept": ("--loss logistic --keep a --keep b", TEXT),
    "ignored": ("--loss logistic --ignore x -q ab", TEXT),
    "not linear": ("--loss logistic --ignore-linear a -q ax", TEXT),
    "normalized": ("--loss logistic --normalize l2", TEXT),
    "normalized logarithms": ("--normalize log -b 4 --loss logistic --link logistic", TEXT),
    "normalized, crossed": ("--loss logistic --normalize l2 -q ax -q a,a --no-constant --ignore-linear x -b 18", TEXT),
    "normalized, oaa": ("--oaa 3 --loss logistic --normalize log", numbers(TEXT, ["1", "2", "3", "2"])),
    "normalized, libsvm": ("--normalize l2 --algorithm eg --radius 3 --features 40", LIBSVM * 5),
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
    "quantiles": ("--loss quantile --quantile-tau 0.1,0.5,0.75,0.9 -l 2", numbers(TEXT, ["1", "2.5", "-3", "7", "12"])),
    "quantiles of auto": ("--loss quantile --quantile-tau 0.1,0.5,0.9 --algorithm auto --normalize none "
                          "--label-transform log1p", numbers(TEXT, ["1", "2.5", "3", "7", "12"])),
    "classes of auto": ("--oaa 3 --algorithm auto --normalize none", numbers(TEXT, ["1", "2", "3", "2"])),
    "normalized, classes of auto": (
        "--oaa 9 --classes auto --algorithm auto --normalize log",
        "".join(f"{['red', 'green', 'blue'][i % 3]} |a w{i % 3}:2 v{i % 7}:{i % 5}\n" for i in range(90)),
    ),
    "libsvm": ("--loss logistic", LIBSVM * 5),
    "libsvm, hash all": ("--loss logistic --hash all -b 20", LIBSVM * 5),
    "libsvm, oaa": ("--oaa 2", LIBSVM.replace("-1 ", "2 ") * 5),
}
CROSSED = {name for name in MODELS if "crossed" in name}
NOT_IN_SQL = CROSSED | {"kept", "ignored", "not linear"} | {name for name in MODELS if "normalized" in name}


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
            query = "SELECT * FROM vwlite_predictions"
            shown = {int(i): " ".join(map(str, p)) for i, *p in base.execute(query)}
        return [shown[i] if found is not None else "" for i, found in enumerate(examples)]

    return lines


WAYS = {
    "tsv": lambda vwlite: by_import(vwlite, "tsv"),
    "json": lambda vwlite: by_import(vwlite, "json"),
    "sql": in_sql,
    "c": in_c,
    "python": in_python,
}


def parted(line, quantiles=1):
    """What a line of predictions says: a number, a word, or numbers by class."""
    if quantiles > 1 and line:
        return [float(word) for word in line.split(" ")[:quantiles]]
    first = line.split(" ", 1)[0]
    if ":" in first:
        return {name: float(p) for name, _, p in (word.rpartition(":") for word in line.split(" ") if ":" in word)}
    try:
        return float(first)
    except ValueError:
        return first


def assert_same(found, expected, largest_difference=NEAR, quantiles=1):
    assert len(found) == len(expected)
    for line, (a, b) in enumerate(zip(found, expected, strict=True)):
        a, b = parted(a, quantiles), parted(b, quantiles)
        assert a == pytest.approx(b, NARROW, largest_difference) if not isinstance(b, str) else a == b, line


def trained(vwlite, folder, options, text):
    (folder / "data").write_text(text)
    vwlite("train", "data", "-m", "model", "--quiet", *with_gd(options.split()))
    (folder / "test").write_text(text)


@pytest.mark.third
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", WAYS)
def test_exports_predict_what_the_model_does(vwlite, tmp_path, monkeypatch, way, name):
    monkeypatch.chdir(tmp_path)
    options, text = MODELS[name]
    trained(vwlite, tmp_path, options, text)
    if way == "sql":
        if name in NOT_IN_SQL:
            assert "cannot be exported to sql" in vwlite("export", "model", "--to", "sql", "-o", "o", code=65).err
            assert not Path("o").exists()
            return
        # Initial scores are not in a table of features.
        Path("test").write_text(re.sub(r" 0\.25 (?='tagged)| 1 1 (?=no_.ar)", " ", text))
    vwlite("predict", "-m", "model", "test", "-p", "expected", "--quiet")
    lines, settings = WAYS[way](vwlite), read_model("model").settings
    quantiles = len(settings.outputs.taus)
    assert_same(lines(tmp_path, "test"), Path("expected").read_text().splitlines(), quantiles=quantiles)
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


@pytest.mark.third
@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("way", WAYS)
def test_exports_predict_what_the_model_does_on_real_data(vwlite, tmp_path, monkeypatch, way, name):
    monkeypatch.chdir(tmp_path)
    options, train, test = REAL[name]
    if way == "sql" and name in NOT_REAL_IN_SQL:
        pytest.skip("not for sql")
    for file, source in (("data", train), ("test", test)):
        place = next((folder / source for folder in (DATA, SETS) if (folder / source).exists()), None)
        if place is None:
            pytest.skip(f"there is no {source}")
        opened = gzip.open(place, "rb") if source.endswith("gz") else open(place, "rb")
        with opened as text:
            Path(file).write_bytes(b"".join(line for _, line in zip(range(1500), text, strict=False)))
    vwlite("train", "data", "-m", "model", "--quiet", *with_gd(options.split()))
    vwlite("predict", "-m", "model", "test", "-p", "expected", "--quiet")
    assert_same(WAYS[way](vwlite)(tmp_path, "test"), Path("expected").read_text().splitlines())


# --- tables that come back ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["import", "none", "-m", "n"], 66, "none: No such file"),
        (["import", "tsv"], 2, "Missing option"),
        (["import", "tsv", "-m", "tsv"], 2, "which it would overwrite"),
        (["import", "tsv", "-m", "no/n"], 73, "no/n"),
        (["export", "m", "--to", "vw"], 2, "--to vw writes a binary file: give its name to --output"),
        (["export", "m", "--to", "onnx"], 2, "--to onnx writes a binary file"),
        (["export", "m", "--to", "mlflow"], 2, "--to mlflow writes a folder, which standard output is not"),
        (["export", "m", "--to", "xml", "-o", "o"], 2, "'xml' is not one of"),
        (["export", "m", "--to", "c", "-o", "m"], 2, "which it would overwrite"),
        (["export", "none", "--to", "c", "-o", "o"], 66, "none: No such file"),
        (["export", "data", "--to", "c", "-o", "o"], 65, "data: not a model"),
        (["export", "m", "--to", "json", "-o", "no/o"], 73, "no/o"),
    ],
)
def test_what_export_and_import_refuse(vwlite, tiny, arguments, code, said):
    before = {path.name: path.read_bytes() for path in tiny.iterdir()}
    assert said in vwlite(*arguments, code=code).err
    assert {path.name: path.read_bytes() for path in tiny.iterdir()} == before


TEXTS = ["tsv", "json", "sql", "c", "python"]


def test_texts_go_to_standard_output(vwlite, tiny):
    assert [kind for kind, row in EXPORTS.items() if row.is_text and not row.is_folder] == TEXTS
    for kind in TEXTS:
        vwlite("export", "m", "--to", kind, "-o", "stdout")  # programs name their file
        assert vwlite("export", "m", "--to", kind).out == Path("stdout").read_text()
        assert vwlite("export", "m", "--to", kind, "-o", "-").out == Path("stdout").read_text()


@pytest.mark.parametrize("kind", TEXTS)
def test_a_full_disk_leaves_what_was_there(tiny, kind):
    Path("out").write_text("before")
    done = shell(f"ulimit -f 0; vwlite export m --to {kind} -o out; echo $?")
    assert done.out == "74\n" and "out: cannot be written" in done.err
    assert Path("out").read_text() == "before" and leftovers(tiny, ["data", "m", "tsv", "json", "out"]) == []


def test_what_cannot_be_exported_says_why(vwlite, tiny):
    vwlite("train", *GD, "data", "--interactions", ":::", "-m", "w", "--quiet")
    assert "too many wildcards to expand: use --to python" in vwlite(
        "export", "w", "--to", "c", "-o", "o", code=65
    ).err
    assert "cannot be exported to sql" in vwlite("export", "w", "--to", "sql", "-o", "o", code=65).err
    Path("nothing").write_text("|a b\n")
    vwlite("train", *GD, "nothing", "--oaa", "2", "--classes", "auto", "--allow-empty", "-m", "e", "--quiet")
    for kind in ("c", "python", "tsv"):
        assert "has not seen a class yet" in vwlite("export", "e", "--to", kind, "-o", "o", code=65).err


def test_bad_lines_end_a_program_in_python(vwlite, tiny):
    vwlite("export", "m", "--to", "python", "-o", "model.py")
    bad = {"1 |a b:x\n": "expected a number", "x y\n": "expected index", "1 |a b:1e99\n": "too large"}
    for text, said in bad.items():
        done = subprocess.run([sys.executable, "-I", "model.py"], input="\n" + text, capture_output=True, text=True)
        assert done.returncode == 1 and re.match(r"<stdin>:[23]: .*" + said, done.stderr), done
    done = subprocess.run([sys.executable, "-I", "model.py", "--magic"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("usage: model.py")
    code = "import model; print(model.predict('|user anna'), model.scores(b'|user anna'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    Path("one").write_text("|user anna\n")
    assert_same(done.stdout.split()[:1], vwlite("predict", "-m", "m", "one", "--quiet").out.split())


def test_a_program_in_python_heeds_who_reads_it(vwlite, tiny):
    vwlite("export", "m", "--to", "python", "-o", "model.py")
    read, write = os.pipe()
    os.close(read)
    with open("/dev/full", "wb") as full:
        for out, code, said in (write, 0, ""), (full, 74, "standard input or output: No space left on device\n"):
            for lines in (1, 100_000):  # one is written at the end, the others on the way
                Path("data").write_text("|user anna\n" * lines)
                with open("data", "rb") as data:
                    done = subprocess.run(
                        [sys.executable, "-I", "model.py"], stdin=data, stdout=out, stderr=subprocess.PIPE, text=True
                    )
                assert (done.returncode, done.stderr) == (code, said)
    os.close(write)


def test_arrays_are_scored_in_c(vwlite, tiny):
    if CC is None:
        pytest.skip("there is no C compiler")
    vwlite("export", "m", "--to", "c", "-o", "model.h")
    Path("main.c").write_text(
        '#include <stdio.h>\n#include "model.h"\nint main(void) {\n'
        '    uint32_t user = vwlite_space("user", 4);\n'
        "    double scores[VWLITE_SCORES];\n"
        "    vwlite_feature f[] = {{'u', 0, 0, 2}, {'u', 0, 0, 1}};\n"
        '    f[0].hash = vwlite_hash("anna", 4, user); f[1].hash = vwlite_hash("carl", 4, user);\n'
        '    printf("%d\\n", vwlite_scores(f, 2, 0.5, scores));\n    printf("%.17g\\n", vwlite_prediction(scores));\n'
        '    printf("%d %d\\n", vwlite_vw_line("1 |a b:x", 8, scores), vwlite_vw_line("nothing", 7, scores));\n'
        "    return 0;\n}\n"
    )
    subprocess.run([CC, "-std=c99", "main.c", "-o", "main", "-lm"], check=True)
    state, found, bad = subprocess.run(["./main"], capture_output=True, text=True, check=True).stdout.splitlines()
    Path("one").write_text("1 1 0.5 |user anna:2 carl\n")
    assert (state, bad) == ("1", "-1 -1")
    assert_same([found], vwlite("predict", "-m", "m", "one", "--quiet").out.split())


def test_names_are_in_all_of_them(vwlite, tiny):
    for kind, shown in (
        ("tsv", "\tuser^anna\n"), ("json", '"names": ["user^anna"]'), ("sql", "('user^anna', "),
        ("c", "/* user^anna */"), ("python", "\tuser^anna\n"),
    ):
        vwlite("export", "m", "--to", kind, "-o", "out")
        assert shown in Path("out").read_text()


def test_sql_knows_features_by_name(vwlite, tiny):
    vwlite("export", "m", "--to", "sql", "-o", "out")
    base = sqlite3.connect(":memory:")
    base.executescript(Path("out").read_text())
    base.execute("CREATE TABLE mine (example, name, value)")
    base.executemany("INSERT INTO mine VALUES (1, ?, ?)", [("user^anna", 2), ("page^home", 1), ("nobody", 3)])
    base.execute(
        "INSERT INTO vwlite_features SELECT example, feature, value FROM mine JOIN vwlite_names USING (name)"
    )
    ((found,),) = base.execute("SELECT prediction FROM vwlite_predictions")
    Path("one").write_text("|user anna:2 |page home\n")
    assert_same([str(found)], vwlite("predict", "-m", "m", "one", "--quiet").out.split())


def test_models_of_tables_predict_the_vw_text_of_their_rows(vwlite, tiny):
    """And come back with their columns."""
    rows = ["user,ad,price,y", "anna,shoes,1.5,1", 'carl,"big, red",2,-1', "dora,,1e3,-1", "anna,a|b:c,0.5,1", ""]
    Path("t.csv").write_text("\n".join(rows))
    vwlite("train", *GD, "t.csv", "--label", "y", "-q", "user,ad", "-m", "model", "--names", "--quiet")
    Path("t.vw").write_text(vwlite("convert", "t.csv", "--label", "y").out)
    vwlite("predict", "-m", "model", "t.csv", "-p", "expected", "--quiet")
    expected = Path("expected").read_text().splitlines()
    for way in ("c", "python"):
        assert_same(WAYS[way](vwlite)(tiny, "t.vw"), expected)
    for kind in ("tsv", "json"):
        assert_same(WAYS[kind](vwlite)(tiny, "t.csv"), expected)
        assert read_model("imported").columns == read_model("model").columns != {}
