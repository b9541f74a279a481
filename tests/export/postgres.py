"""A server of PostgreSQL for the tests of this process, where its programs are installed; else tests are skipped."""

import atexit
import csv
import functools
import io
import os
import shutil
import subprocess
import tempfile
from glob import glob

import pytest

NULL = "\\N"


@functools.cache
def server():
    """The command that runs SQL of its standard input; None without PostgreSQL."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True)])
    initdb, postgres, psql = (shutil.which(name, path=path) for name in ("initdb", "postgres", "psql"))
    if not (initdb and postgres and psql):
        return None
    folder = tempfile.mkdtemp(prefix="vwlite-postgres-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    who = {"cwd": folder}
    if os.geteuid() == 0:  # the server does not run as root
        who["user"] = "nobody"
        shutil.chown(folder, "nobody")
    subprocess.run([initdb, "-D", "data", "-U", "tests", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"],
                   check=True, capture_output=True, **who)
    log = open(f"{folder}/log", "w")
    running = subprocess.Popen([postgres, "-D", "data", "-k", folder, "-h", "", "-F"], stdout=log, stderr=log,
                               **who)
    atexit.register(running.wait)
    atexit.register(running.terminate)
    command = [psql, "-h", folder, "-U", "tests", "-d", "postgres", "-X", "-q", "-v", "ON_ERROR_STOP=1",
               "--csv", "-P", f"null={NULL}"]
    for _ in range(200):
        if subprocess.run([*command, "-c", "SELECT 1"], capture_output=True).returncode == 0:
            return command
        try:
            running.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError(open(f"{folder}/log").read())


class Connection:
    """As much of a connection of Python's as the tests need. A table is that of the last CREATE TABLE."""

    def __init__(self):
        if server() is None:
            pytest.skip("PostgreSQL is not installed")

    def execute(self, statement):
        done = subprocess.run(server(), input="SET jit = off;\n" + statement, capture_output=True, encoding="utf-8")
        if done.returncode:
            raise RuntimeError(done.stderr)
        titles, *rows = csv.reader(io.StringIO(done.stdout, newline="")) if done.stdout else [[]]
        return Result(titles, [tuple(map(value, row)) for row in rows])

    def executemany(self, statement, rows):
        table = statement.removeprefix("INSERT INTO ").partition(" VALUES")[0]
        lines = "".join("\t".join(map(cell, row)) + "\n" for row in rows)
        self.execute(f"COPY {table} FROM STDIN;\n{lines}\\.\n")


class Result:
    def __init__(self, titles, rows):
        self.description, self._rows = [(title,) for title in titles], rows

    def fetchall(self):
        return self._rows


def value(text):
    if text == NULL:
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def cell(x):
    if x is None:
        return NULL
    text = str(x).replace("\\", "\\\\")
    return text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
