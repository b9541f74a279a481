"""`vwlite vw --daemon`: what its clients get, beside the same lines from a file."""

import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from running import PATIENT, finish, start

DATA = "1 't1|a b c\n-1 |a d\n1 0.5 tag3|a b d\n2 |a c:3\n\n|\nbad|a b:x\n'q|a b\n" * 40
CLASSES = "1 't1|a b c\n2 |a d\n3 u|a b d\n" * 40
COSTS = "1:0 |a x\n2:1 |a y\n\n1:1 |a y\n2:0 |a z\n\n" * 40
SMALL = [("--loss_function logistic --link logistic", DATA), ("-q aa", DATA), ("--oaa 3 --probabilities", CLASSES),
         ("--csoaa_ldf m", COSTS), ("--ftrl", DATA)]


def ask(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), PATIENT) as s:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        return s.makefile("rb").read()


def wait_for_file(name: str) -> None:
    end = time.monotonic() + PATIENT
    while not Path(name).exists() or not Path(name).read_text():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(("options", "data"), SMALL, ids=[options for options, _ in SMALL])
def test_clients_get_the_predictions_of_a_file(vwlite: Any, tmp_path: Path, options: str, data: str) -> None:
    (tmp_path / "d").write_text(data)
    os.chdir(tmp_path)
    vwlite("vw", "-d", "d", *options.split(), "-f", "m", "--quiet")
    vwlite("vw", "-d", "d", "-t", "-i", "m", "-p", "p", "--quiet")
    server = start("vw", "--daemon", "-t", "-i", "m", "--port", "0", "--num_children", "2", "--port_file", "port",
                   "--foreground", "--pid_file", "pid", "--quiet")
    wait_for_file("pid")
    port = int(Path("port").read_text())
    assert int(Path("pid").read_text()) == server.pid
    expected = Path("p").read_bytes()
    assert [ask(port, data.encode()) for _ in range(4)] == [expected] * 4
    # As old clients do it: some lines, then their answers, on a connection that stays; others come and go meanwhile.
    part = data[: len(data) // 40].encode()
    with socket.create_connection(("127.0.0.1", port), PATIENT) as s, s.makefile("rb") as answers:
        for _ in range(3):
            s.sendall(part)
            found = b""
            while found.count(b"\n") < expected.count(b"\n") // 40:
                found += answers.readline()
            assert found == expected[: len(found)]
            assert ask(port, data.encode()) == expected
        socket.create_connection(("127.0.0.1", port)).close()
        server.send_signal(signal.SIGTERM)
    done = finish(server)
    assert done.code == 0 and not done.err, done


def test_it_goes_to_the_background_with_its_port(vwlite: Any, tmp_path: Path) -> None:
    os.chdir(tmp_path)
    Path("d").write_text(DATA)
    vwlite("vw", "-d", "d", "-f", "m", "--quiet")
    command = ["vw", "-t", "-i", "m", "--port_file", "port", "--pid_file", "pid", "--quiet", "--port"]
    assert start(*command, "0", stdin=None, stdout=None, stderr=None).wait(PATIENT) == 0
    wait_for_file("pid")
    try:
        assert ask(int(Path("port").read_text()), b"|a b\n") != b""
        done = finish(start(*command, Path("port").read_text().strip()))
        assert done.code == 1 and "another --port" in done.err
    finally:
        os.kill(int(Path("pid").read_text()), signal.SIGTERM)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--daemon"], "it never learns"), (["--port", "0", "-t"], "it never learns"),
        (["--daemon", "-t", "-i", "m", "-f", "n"], "with --final_regressor"),
        (["--daemon", "-t", "-i", "m", "-d", "d"], "with --data"),
        (["--daemon", "-t", "-i", "m", "-p", "p"], "with --predictions"),
    ],
)
def test_what_it_does_not_do_is_refused(vwlite: Any, options: list[str], said: str) -> None:
    done = vwlite("vw", *options, code=2)
    assert said in done.err and done.err.count("\n") == 1
