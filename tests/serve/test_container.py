"""The Dockerfile of `vwlite help serve`: its commands run in an environment that has nothing but them."""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import urllib.request
from pathlib import Path

from running import PATIENT, finish
from servers import TEXT, predicted, wait_for

from vwlite.help.commands import TEXTS

WORDS = ("FROM", "RUN", "USER", "WORKDIR", "COPY", "ENV", "EXPOSE", "HEALTHCHECK", "CMD")


def dockerfile():
    """Its lines, as (word, rest)."""
    text = (TEXTS / "serve.txt").read_text(encoding="utf-8")
    block = re.search(r"^    FROM .*\n(?:    .*\n)+", text, re.M)[0]
    lines = [line.strip().partition(" ")[::2] for line in block.splitlines()]
    assert {word for word, _ in lines} == {*WORDS}
    return lines


def environment(folder):
    """A new one of Python, which finds the packages that are installed here, and has their programs pip and vwlite."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "here.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (folder / "bin" / "pip").write_text(f'#!/bin/sh\nexec "{folder}/bin/python" -m pip "$@"\n')
    program = Path(sysconfig.get_path("scripts")) / "vwlite"
    (folder / "bin" / "vwlite").write_text(f"#!{folder}/bin/python\n" + program.read_text().partition("\n")[2])
    for name in ("pip", "vwlite"):
        (folder / "bin" / name).chmod(0o755)
    return {"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": str(folder), "PIP_NO_INDEX": "1"}


def test_the_commands_of_the_container_run(models, tmp_path):
    lines = dockerfile()
    own = environment(tmp_path / "env")
    place = tmp_path / "srv"  # WORKDIR
    place.mkdir()
    shutil.copy(models / "text.model", tmp_path / "clicks.model")
    server = port = health = None
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]

    def is_healthy():
        return subprocess.run(["sh", "-c", health], env=own, cwd=place, capture_output=True).returncode == 0

    for word, rest in lines:
        if word == "RUN":
            done = subprocess.run(["sh", "-c", rest], env=own, cwd=place, capture_output=True, text=True)
            assert done.returncode == 0 and "vwlite" in done.stdout, done
        elif word == "COPY":
            source, target = rest.split()
            shutil.copy(tmp_path / source, place / target)
        elif word == "ENV":
            own |= dict(pair.split("=", 1) for pair in rest.split())
        elif word == "EXPOSE":
            port = rest
        elif word == "HEALTHCHECK":
            health = rest.removeprefix("CMD ")
        elif word == "CMD":
            assert own["PORT"] == port
            own["PORT"] = str(free)  # as a platform says it
            pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            server = subprocess.Popen(json.loads(rest), env=own, cwd=place, **pipes)
    try:
        assert f"serving clicks at http://0.0.0.0:{free}" in server.stderr.readline().decode()
        wait_for(is_healthy)
        with urllib.request.urlopen(f"http://127.0.0.1:{free}/predict", TEXT.encode(), PATIENT) as answer:
            assert answer.read() == predicted(models / "text.model", TEXT.encode())
    finally:
        server.send_signal(signal.SIGTERM)
        done = finish(server)
    assert done.code == 0 and [json.loads(line)["path"] for line in done.out.splitlines()][-1] == "/predict"
    assert not is_healthy()
