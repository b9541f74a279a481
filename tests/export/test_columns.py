"""Programs in C and Python of models of tables: they take the cells of a row, and predict what the model does."""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from column_tables import KINDS, MISSING, MODELS, WORDS, as_csv, compiled, new_rows, predictions, rows_of, train
from nine_tables import NINE, table
from running import GD

from vwlite.model import read_model

NEAR = 1e-6
CC, CXX = shutil.which("cc"), shutil.which("c++")

# Rows in: names, then cells, with a TAB behind each. Predictions out, or probabilities.
DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include "model.h"
static char *cut(char **p) {
    char *begin = *p, *tab = strchr(begin, '\t');
    *p = tab ? tab + 1 : NULL;
    if (tab)
        *tab = 0;
    return begin;
}
static int line(char *to, int size) {
    int n = 0, c;
    while ((c = getchar()) != EOF && c != '\v' && n + 1 < size)
        to[n++] = (char)c;
    to[n] = 0;
    return n;
}
int main(int argc, char **argv) {
    static char text[1 << 20];
    static int number_of[1000], word_of[1000];
    int columns, i;
    char *p = text;
    line(text, sizeof text);
    for (columns = 0; *p && columns < 1000; columns++) {
        const char *name = cut(&p);
        number_of[columns] = word_of[columns] = -1;
        for (i = 0; vwlite_number_names[i]; i++)
            if (!strcmp(name, vwlite_number_names[i]))
                number_of[columns] = i;
        for (i = 0; vwlite_word_names[i]; i++)
            if (!strcmp(name, vwlite_word_names[i]))
                word_of[columns] = i;
    }
    while (line(text, sizeof text)) {
        vwlite_row row = vwlite_missing_row();
        p = text;
        for (i = 0; i < columns; i++) {
            char *cell = cut(&p);
            if (number_of[i] >= 0 && *cell)
                row.numbers[number_of[i]] = strtod(cell, NULL);
            if (word_of[i] >= 0)
                row.words[word_of[i]] = cell;
        }
        if (argc > 1) {
#if VWLITE_SIGMOID || VWLITE_SOFTMAX
            double scores[VWLITE_SCORES], shares[VWLITE_CLASSES];
            vwlite_scores(&row, scores);
            vwlite_probabilities(scores, shares);
            for (i = 0; i < VWLITE_CLASSES; i++)
                printf("%s%s\t%.17g", i ? "\t" : "", vwlite_class_names[i], shares[i]);
            puts("");
#endif
        } else if (VWLITE_CLASSES)
            puts(vwlite_class_names[(int)vwlite_predict(&row) - 1]);
        else {
#if VWLITE_QUANTILES
            double scores[VWLITE_SCORES], all[VWLITE_QUANTILES];
            vwlite_scores(&row, scores);
            vwlite_quantiles(scores, all);
            for (i = 0; i < VWLITE_QUANTILES; i++)
                printf(i ? " %.17g" : "%.17g", all[i]);
            puts("");
#else
            printf("%.17g\n", vwlite_predict(&row));
#endif
        }
    }
    (void)argv;
    return 0;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def module():
    """The exported program as a module."""
    spec = importlib.util.spec_from_file_location("exported", "model.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def in_python(vwlite, data, *options):
    assert "note" not in vwlite("export", "model", "--to", "python", "-o", "model.py").err
    with open(data, "rb") as text:
        done = subprocess.run([sys.executable, "-I", "model.py", *options], stdin=text, capture_output=True)
    assert done.returncode == 0, done.stderr[-300:]
    return [line.split(" ") for line in done.stdout.decode().split("\n")[:-1]]


def in_c(vwlite, data, *options):
    if CC is None:
        pytest.skip("there is no C compiler")
    assert "note" not in vwlite("export", "model", "--to", "c", "-o", "model.h").err
    Path("driver.c").write_text(DRIVER)
    compiled()
    vwlite("export", "model", "--to", "python", "-o", "model.py")
    reader = module()  # C has no reader of CSV: it takes numbers and words
    text = []
    with open(data, newline="\n") as file:
        for _, row in reader.table(file):
            cells = {".".join(name) if isinstance(name, tuple) else name: x
                     for name, x in reader.cells_of(row).items()}
            text += ["\t".join([*cells, ""])] if not text else []
            cells |= {name: row[name] for name in cells.keys() & row if reader.WHOLE.fullmatch(row[name].strip())}
            text.append("".join(f"{'' if x is None else repr(x) if isinstance(x, float) else x}\t"
                                for x in cells.values()))
    assert not any("\v" in line for line in text)
    done = subprocess.run(["./main", *options], input="\v".join(text).encode(), capture_output=True, check=True)
    split = "\t" if options else " "
    lines = [line.split(split) for line in done.stdout.decode().split("\n")[:-1]]
    return [[f"{a}:{b}" for a, b in zip(line[::2], line[1::2], strict=True)] for line in lines] if options else lines


def assert_same(found, expected):
    """The same class or number; with probabilities, those of all classes."""
    assert len(found) == len(expected) > 0
    for line, (a, b) in enumerate(zip(found, expected, strict=True)):
        for x, y in zip(a, b, strict=False):
            name, _, share = x.rpartition(":")
            other, _, target = y.rpartition(":")
            assert name.replace(" ", "%20") == other, line
            try:
                assert float(share) == pytest.approx(float(target), abs=NEAR, rel=NEAR), line
            except ValueError:
                assert share.replace(" ", "%20") == target, line


@pytest.mark.third
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", [in_python, in_c])
def test_programs_by_columns_predict_what_the_model_does(vwlite, way, name):
    train(vwlite, name)
    found, expected = way(vwlite, "new.csv"), predictions(vwlite)
    n = max(len(read_model("model").settings.outputs.taus), 1)
    first = [line[:n] if way is in_python or n > 1 else [" ".join(line).replace(" ", "%20")] for line in found]
    assert {len(line) for line in first} == {n}
    assert_same(first, [line[:n] for line in expected])
    if way is in_python:
        assert [line[n:] for line in found] == [line[n:] for line in expected]  # tags
    if read_model("model").settings.outputs.shares:
        assert_same(way(vwlite, "new.csv", "--probabilities"), predictions(vwlite, "new.csv", "--probabilities"))
    settings = read_model("model").settings
    assert (settings.derived is not None) == ("derived" in name)


@pytest.mark.third
@pytest.mark.parametrize("name", MODELS)
def test_effects_in_python_add_up_to_the_score(vwlite, name):
    """And each of a column depends on that alone, unless rows are normalized."""
    train(vwlite, name)
    vwlite("export", "model", "--to", "python", "-o", "model.py")
    program = module()
    rows = [dict(zip(["id", "city name", "kind", "age", "income:net", "at"], row, strict=False)) for row in new_rows()]
    for row in rows[::7]:
        effects = program.effects(row)
        scores = program.scores(row)
        for k, score in enumerate(scores):
            parts = [values[k] if program.SCORES > 1 else values for values in effects.values()]
            size = sum(map(abs, parts)) + abs(program.BASE[k])
            assert program.BASE[k] + sum(parts) == pytest.approx(score, abs=1e-12 * size + 1e-15)
        if program.NORMALIZE == "none":
            other = program.effects({**row, "age": 33})
            assert {n for n in effects if effects[n] != other[n]} <= {n for n in effects if "age" in n.split("*")}


def test_a_module_takes_values_as_python_has_them(vwlite):
    train(vwlite, "derived")
    vwlite("export", "model", "--to", "python", "-o", "model.py")
    predict = module().predict
    text = {"city name": "Porto", "kind": "red", "age": "41.5", "income:net": "1e3", "at": "2026-05-04 10:00"}
    assert predict(text) == predict({**text, "age": 41.5, "income:net": 1000, "more": object()})
    assert predict({**text, "age": "NA"}) == predict({**text, "age": None}) == predict({**text, "age": float("nan")})
    assert predict({**text, "kind": " "}) == predict({**text, "kind": None}) != predict(text)
    for wrong, why in (({"age": "x"}, "column age: 'x' is not a number"), ({"age": "inf"}, "is not a number"),
                       ({"age": 1e39}, "too large"), ({"at": "2026-13-01"}, "column at: '2026-13-01' is not a time")):
        with pytest.raises(ValueError, match=why):
            predict({**text, **wrong})
    del text["kind"]
    with pytest.raises(ValueError, match="column kind of the model is missing"):
        predict(text)


TIMES = ["2026-01-31T13:05:00.25+01:00", "2026-01-31 13:05Z", "20260131T130500", "20260131t13", "1769864700.5", "-1",
         "2026-01-31", "20260131", "2026-01-31 23", "2026-01-31T13:05:60,5-0130", "0", "9999-12-31", "1e9",
         "2026-01", "2026-01-31 13:05 UTC", "20260131T13 GMT", "1e12", "1769864699999", "-1769864700000",
         "1769864699999999", "1769864699999999744", "99999999999", "100000000000"]
NO_TIMES = ["2026", "202601", "2026-1-31", "2026-02-29", "2026-01-31T", "2026-01-31T24", "2026-01-31T13:5", "13:05",
            "2026-01-31T1305", "20260131T13:05", "2026-01-31T13:05:61", "2026-01-31+01", "x", "1e19", "2026-01-31T13.5",
            "2026-13", "2026-01 UTC", "2026-01-31T13:05Z UTC", "20260131130500", "2026-01-31T13:05+24",
            "0000-01-01", "10000-01-01", "2026-0131", "12345678"]
NUMBERS = ["1", "-1.5", "+.5", "5.", "1e3", "1E-3", "0", "-0", "3.4028234e38", "1e-60", "0017", " 2 "]
NO_NUMBERS = ["1,5", "1_0", "0x1", "inf", "-inf", "infinity", "1e", "e1", ".", "--1", "1 2", "٣", "3.5e38", "1e999",
              "Nan"]


@pytest.mark.parametrize(("column", "cells", "bad"), [("at", TIMES, NO_TIMES), ("age", NUMBERS, NO_NUMBERS)])
def test_cells_are_read_as_vwlite_reads_them(vwlite, column, cells, bad):
    train(vwlite, "logistic")
    row = {"id": "", "city name": "A", "kind": "red", "age": "1", "income:net": "1", "at": "", "y": ""}
    Path("some.csv").write_text(as_csv([{**row, column: cell}.values() for cell in cells]), newline="")
    assert_same(in_python(vwlite, "some.csv"), predictions(vwlite, "some.csv"))
    predict = module().predict
    for i, cell in enumerate(bad):
        Path("bad.csv").write_text(as_csv([row.values(), {**row, column: cell}.values()]), newline="")
        assert vwlite("predict", "-m", "model", "bad.csv", code=65).err.startswith("bad.csv:3:"), cell
        with pytest.raises(ValueError, match=f"^column {column}: "):
            predict({**row, column: cell})
        if i % 3:
            continue
        with open("bad.csv", "rb") as text:
            done = subprocess.run([sys.executable, "model.py"], stdin=text, capture_output=True)
        assert done.returncode == 1 and done.stdout.count(b"\n") == 1, cell
        assert done.stderr.decode().startswith(f"<stdin>:3: column {column}: "), cell


FORMATS = {
    "%d.%m.%Y %H:%M:%S.%f": (["31.01.2026 13:05:59.25", "1.2.2026  3:5:9.1234567"], ["31.02.2026 1:2:3.4", "1.2.2026"]),
    "%b %d, %y %I:%M%p %z": (["Jan 31, 26 01:05PM +01:00", "feb 1, 69 12:59am z"], ["Jan 31, 26 13:05PM Z", "x"]),
    "%B %Y": (["January 2026", "MAY 1999"], ["Jan 2026", "2026-01"]),
    "%Y%m%d": (["20260131", "19691231"], ["2026131", "1769864700", "2026-01-31"]),
}


@pytest.mark.parametrize("format", FORMATS)
def test_times_are_read_as_their_format_says(vwlite, format):
    cells, bad = FORMATS[format]
    rows = [[cell, i % 3] for i, cell in enumerate([*cells, "", "NA"] * 9)]
    Path("t.csv").write_text(as_csv(rows, ["at", "y"]))
    vwlite("train", *GD, "t.csv", "--label", "y", "--time", "at", "--time-format", format, "-m", "model", "--quiet",
           "--names")
    assert_same(in_python(vwlite, "t.csv"), predictions(vwlite, "t.csv"))
    for cell in bad:
        Path("bad.csv").write_text(as_csv([[cell, 1]], ["at", "y"]))
        assert f"expected --time-format '{format}'" in vwlite("predict", "-m", "model", "bad.csv", code=65).err
        with open("bad.csv", "rb") as text:
            done = subprocess.run([sys.executable, "model.py"], stdin=text, capture_output=True)
        assert done.returncode == 1 and b"is not a time" in done.stderr, cell


PLAIN = ["$1,026.50", "-$ 1,026.50", "$-7", "9.5 %", "12,34,567", "1,234", "€5", "1234.5", ".5 €", "+3", "NA", "-999"]
NOT_PLAIN = ["1,02", "1,0265", "12345,678", "1e3", "$5%", "1.2.3", ",5", "- $7", "1,234.5,6"]
EUROPEAN = ["1.026,50 €", "7,5", "-1.234.567,8", "€ -3", "12"]
SIGNED = ["5-", "(5)", "$(5)", "(5 %)", "5\u2212 %", "\u22125", "$5-", "\u202f1\u202f234,5\u2009%", "1 234\u00a0567"]
MASSES = ["5 kg", "5kg", "kg 5", "(5) kg", "-5.5\u202fkg", "5 fl oz", "kg5-", "5 m2", "m25", "$5"]


@pytest.mark.parametrize(("options", "cells", "bad"), [
    ("--decimal . --thousands ,", PLAIN, NOT_PLAIN), ("--decimal , --thousands .", EUROPEAN, ["1,026.5", "1.02,5"]),
    ("--decimal , --thousands ' '", SIGNED, ["--5", "(-5)", "-5-", "(5", "( 5)", "(5 )", "- 0 $", "5" * 65, "5 kg"]),
    ("--units 'kg,m2,fl oz,m'", MASSES, ["5 k", "5 kg m", "$5 kg", "kg", "m2", "5 KG", "1e5", "1,5"]),
])
def test_numbers_are_read_as_people_write_them(vwlite, options, cells, bad):
    Path("t.csv").write_text(as_csv([[cell, i % 2] for i, cell in enumerate(cells)], ["x", "y"]))
    vwlite("train", *GD, "t.csv", "--label", "y", "--labels", "0,1", "--numeric", "x", *shlex.split(options),
           "--missing=-999,NA", "-m", "model", "--quiet", "--names")
    assert_same(in_python(vwlite, "t.csv"), predictions(vwlite, "t.csv"))
    for cell in bad:
        Path("bad.csv").write_text(as_csv([[cell, 1]], ["x", "y"]))
        vwlite("predict", "-m", "model", "bad.csv", code=65)
        with open("bad.csv", "rb") as text:
            assert subprocess.run([sys.executable, "model.py"], stdin=text, capture_output=True).returncode == 1, cell


@pytest.mark.parametrize("options", ["--missing=-999,?", "--missing=0", "--missing="])
@pytest.mark.parametrize("way", [in_python, in_c])
def test_missing_values_are_those_of_the_model(vwlite, way, options):
    cells = ["-999", "-999.0", "?" if "?" in options else "", "0", "", "1", "2.5"] * 9
    Path("t.csv").write_text(as_csv([[x, x, i % 2] for i, x in enumerate(cells)], ["x", "w", "y"]))
    vwlite("train", *GD, "t.csv", "--label", "y", "--labels", "0,1", "--numeric", "x", "--categorical", "w",
           options, "-m", "model", "--quiet", "--names")
    assert_same(way(vwlite, "t.csv"), predictions(vwlite, "t.csv"))


@pytest.mark.parametrize(("options", "how", "titles"), [
    ("", {"delimiter": ";"}, ["a", "b", "y"]), ("", {"delimiter": "\t"}, ["a", "b", "y"]),
    ("--delimiter |", {"delimiter": "|"}, [" a", "b ", "y"]), ("--columns a,b,y", {}, None),
    ("--quote none", {"quoting": 3, "quotechar": None, "escapechar": None}, ["a", "b", "y"]),
])
def test_tables_are_read_as_vwlite_reads_them(vwlite, options, how, titles):
    text = as_csv([[i % 7, f"w{i % 3}", i % 2] for i in range(60)], titles, **how)
    if "none" in options:
        text = text.replace("w1", ' w1 "')
    Path("t.csv").write_text("\ufeff" + text.replace("\n", "\r\n"))
    vwlite("train", *GD, "t.csv", "--label", "y", "--labels", "0,1", *options.split(), "-m", "model", "--quiet",
           "--names")
    data = Path("t.csv").read_bytes()
    Path("t.csv").write_bytes(data + b"\r\n" + data.split(b"\r\n")[1] + b"\r\n")
    expected = predictions(vwlite, "t.csv")
    assert_same([line for line in in_python(vwlite, "t.csv") if line != [""]], [x for x in expected if x != [""]])
    assert in_python(vwlite, "t.csv").count([""]) == expected.count([""]) == 1


@pytest.mark.parametrize(("text", "said"), [
    ("kind,age,income:net,at\n", "<stdin>:1: column city name of the model is missing"),
    ("city name,kind,age,kind,income:net,at\n", "<stdin>:1: two columns are called 'kind'"),
    ("city name,kind,age,income:net,at\nA,red,1,2\n", "<stdin>:2: a row of 4 cells, but there are 5 columns"),
    ('city name,kind,age,income:net,at\n\nA,"red"x,1,2,\n', "<stdin>:3: "),
    ('city name,kind,age,income:net,at\n"A\nb",red,1,2,\nA,red,x,2,\n', "<stdin>:4: column age: 'x' is not a number"),
])
def test_bad_tables_end_a_program_in_python(vwlite, text, said):
    train(vwlite, "logistic")
    vwlite("export", "model", "--to", "python", "-o", "model.py")
    done = subprocess.run([sys.executable, "-I", "model.py"], input=text, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith(said), done
    done = subprocess.run([sys.executable, "-I", "model.py", "--magic"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("usage: model.py")


def test_a_program_by_columns_heeds_who_reads_it(vwlite):
    train(vwlite, "logistic")
    vwlite("export", "model", "--to", "python", "-o", "model.py")
    read, write = os.pipe()
    os.close(read)
    with open("/dev/full", "wb") as full:
        for out, code, said in (write, 0, ""), (full, 74, "standard input or output: No space left on device\n"):
            with open("new.csv", "rb") as data:
                done = subprocess.run([sys.executable, "-I", "model.py"], stdin=data, stdout=out,
                                      stderr=subprocess.PIPE, text=True)
            assert (done.returncode, done.stderr) == (code, said)
    os.close(write)


def test_a_header_by_columns_is_of_c_and_of_cpp(vwlite):
    """Any names of columns, and no warning. A row that is not filled in is one of missing values."""
    if CC is None or CXX is None:
        pytest.skip("there is no compiler")
    names = ["class", "a b", "a-b", "a+b", "é", "*/", "17", "\"q\\", "??/", "y"]
    rows = [[i % 5, *[WORDS[(i + k) % 9] for k in range(7)], KINDS[i % 3], i % 2] for i in range(90)]
    Path("t.csv").write_text(as_csv(rows, names))
    vwlite("train", *GD, "t.csv", "--label", "y", "--labels", "0,1", "--names", "-m", "model", "--quiet")
    vwlite("export", "model", "--to", "c", "-o", "model.h")
    Path("driver.c").write_text(DRIVER)
    compiled()
    compiled(["-x", "c++", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror"], CXX)
    assert_same(in_c(vwlite, "t.csv"), predictions(vwlite, "t.csv"))
    Path("driver.c").write_text(
        '#include <stdio.h>\n#include "model.h"\nint main(void) {\n    vwlite_row row = vwlite_missing_row();\n'
        '    printf("%.17g\\n", vwlite_predict(&row));\n    row.numbers[VWLITE_NUMBER_class] = 3;\n'
        '    row.words[VWLITE_WORD_a_b] = " Porto ";\n    printf("%.17g\\n", vwlite_predict(&row));\n'
        '    return 0;\n}\n')
    compiled()
    found = subprocess.run(["./main"], capture_output=True, text=True, check=True).stdout.split()
    Path("two.csv").write_text(as_csv([[""] * 10, ["3", "Porto", *[""] * 8]], names))
    assert_same([[x] for x in found], predictions(vwlite, "two.csv"))


@pytest.mark.parametrize(("options", "why"), [
    ("--text note", "column note is of text"), ("--text note --algorithm auto", "column note is of text"),
    ("-q a,b", "it crosses columns"), ("--ignore a", "it leaves out columns"),
    ("--no-names", "of its features have a weight but no name: train with --names"),
])
@pytest.mark.parametrize("way", ["c", "python"])
def test_other_models_of_tables_read_what_convert_writes(vwlite, way, options, why):
    from test_export import WAYS
    from test_export import assert_same as same_lines

    notes = ["good red shoes", "bad late shoes", "a|b good", "50% off: bad"]
    rows = [[i % 7, f"w {i % 3}", notes[i % 4], int("good" in notes[i % 4]) ^ (i % 11 == 0)] for i in range(3000)]
    Path("t.csv").write_text(as_csv(rows, ["a", "b", "note", "y"]))
    named = [] if "--no-names" in options else ["--names"]
    more = [word for word in options.split() if word != "--no-names"]
    vwlite("train", *(() if "auto" in options else GD), "t.csv", "--label", "y", "--labels", "0,1", *named, *more,
           "-m", "model", "--quiet")
    Path("t.vw").write_text(vwlite("convert", "t.csv", "-m", "model").out)
    vwlite("predict", "-m", "model", "t.csv", "-p", "expected", "--quiet")
    said = vwlite("export", "model", "--to", way, "-o", "out").err
    assert said.startswith("note: the program reads what `vwlite convert -m model` writes, and not columns: ")
    assert why in said
    same_lines(WAYS[way](vwlite)(Path(), "t.vw"), Path("expected").read_text().splitlines())


@pytest.mark.third
@pytest.mark.parametrize("way", [in_python, in_c])
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long if n == "satimage" else ()) for n in NINE])
def test_programs_of_the_nine_tables(vwlite, way, name):
    options = table(name)
    vwlite("train", "train.csv", *options, "--passes", "2", "-m", "model", "--quiet")
    assert_same(way(vwlite, "test.csv"), predictions(vwlite, "test.csv"))
    if read_model("model").settings.outputs.shares:
        assert_same(way(vwlite, "test.csv", "--probabilities"), predictions(vwlite, "test.csv", "--probabilities"))


def test_rows_have_missing_values():
    """So that the tables above try what they are for."""
    cells = [row[3] for row in rows_of(300)]
    assert {"", "NA"} < {*cells} and sum(cell in MISSING for cell in cells) < 150


def test_few_bits_need_the_hashes_of_words(vwlite, tmp_path):
    """Then a word that the model does not know has the weight of another one, as in `predict`."""
    path, other = tmp_path / "d.csv", tmp_path / "e.csv"
    path.write_text("c,y\n" + "".join(f"w{i % 200},{i % 200 % 2}\n" for i in range(800)))
    other.write_text("c,y\n" + "".join(f"new{i},1\n" for i in range(50)))
    vwlite("train", path, "--label", "y", "--bits", 8, "-m", tmp_path / "m")
    note = vwlite("export", tmp_path / "m", "--to", "python", "-o", tmp_path / "m.py").err
    assert "words that it does not know have weights of others (--bits 8)" in note
    text = vwlite("convert", other, "--label", "y", "-m", tmp_path / "m").out
    done = subprocess.run([sys.executable, tmp_path / "m.py"], input=text, capture_output=True, text=True, check=True)
    expected = vwlite("predict", "-m", tmp_path / "m", other).out.split()
    assert [float(x) for x in done.stdout.split()] == pytest.approx([float(x) for x in expected], abs=1e-6)
    refused = vwlite("export", tmp_path / "m", "--to", "sql", "--table", "t", "--id", "c", "-o", "-", code=65).err
    assert "(--bits 8)" in refused


@pytest.mark.parametrize(("bits", "shares"), [(2, True), (18, False)])
def test_columns_that_share_a_weight_and_are_normalized(vwlite, tmp_path, bits, shares):
    """Their values are one before the length is taken, so that a program by columns would predict something else."""
    names = [f"c{i}" for i in range(6)]
    rows = [[str((i * (j + 3)) % 11 + j) for j in range(6)] for i in range(50)]
    data = tmp_path / "d.csv"
    data.write_text("\n".join([",".join(["y", *names]), *(f"{i % 7},{','.join(row)}" for i, row in enumerate(rows))]))
    typed = ["--label", "y", "--algorithm", "gd", "--normalize", "l2", "-b", bits]
    vwlite("train", data, *typed, "-m", tmp_path / "m")
    said = vwlite("export", tmp_path / "m", "--to", "python", "-o", tmp_path / "p.py").err
    assert ("columns share a weight (--bits 2)" in said) == shares
    text = vwlite("convert", "-m", tmp_path / "m", data).out if shares else data.read_text()
    program = [sys.executable, tmp_path / "p.py"]
    found = subprocess.run(program, input=text, capture_output=True, text=True, check=True).stdout
    expected = vwlite("predict", "-m", tmp_path / "m", data).out
    assert [*map(float, found.split())] == pytest.approx([*map(float, expected.split())], rel=1e-6)
