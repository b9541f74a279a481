"""Servers for tests, each in a process of its own, and clients that send exactly these bytes."""

import json
import random
import re
import signal
import socket
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from running import PATIENT, finish, run_here, standard_input, start

RANDOM = random.Random(31)
CITIES = ("Rome", "Oslo", "Bern")
TABLE = "click,age,city,note\n" + "".join(
    f"{i % 3 % 2},{20 + i * 7 % 40},{CITIES[i % 3]},w{i % 5} w{i % 7}\n" for i in range(60)
)
TEXT = "".join(
    f"{RANDOM.choice((1, -1))} 't{i}|a " + " ".join(f"w{RANDOM.randrange(40)}:{RANDOM.random():.3f}" for _ in range(6))
    + f" |b c{i % 5}\n" for i in range(200)
)
# Classes that pairs of columns tell. No row has every pair of levels, or lacks a cell.
PAIRS = "y,a,b,c\n" + "".join(
    f"{'uvw'[(n % 3 + n // 3) % 3]},{'pqr'[n % 3]},{'stx'[n // 3 % 3]},{n % 4}\n" for n in range(600) if n % 9
)
DENSE = "".join(f"{(-1) ** i} |a x:{i % 7} y:{i % 5} z:{i % 3 + 0.5}\n" for i in range(80))
CLASSES = "".join(f"{('red', 'green', 'blue')[i % 3]} |a x{i % 3} y{i % 5}:{i % 4}\n" for i in range(90))


def predicted(model, data, *options):
    """What `vwlite predict` writes for bytes from standard input."""
    with TemporaryDirectory() as folder:
        given, written = Path(folder, "data"), Path(folder, "predictions")
        given.write_bytes(data)
        with standard_input(given):
            run_here("predict", "-m", model, "--quiet", "-p", written, *options)
        return written.read_bytes()


class Server:
    """A running server."""

    def __init__(self, *options):
        self.process = start("serve", "--port", "0", *options)
        line = self.process.stderr.readline().decode()
        places = re.findall(r"127\.0\.0\.1:(\d+)", line)
        assert places, line + self.process.stderr.read().decode()
        self.port, *self.others = map(int, places)

    def raw(self, data, *, port=None, half=False, timeout=PATIENT):
        """What the server answers to these bytes, up to its end of the connection."""
        with socket.create_connection(("127.0.0.1", port or self.port), timeout) as s:
            s.sendall(data)
            if half:
                s.shutdown(socket.SHUT_WR)
            found = b""
            while more := s.recv(1 << 16):
                found += more
        return found

    def ask(self, path, body=None, *, kind="", method="", headers=""):
        """Status, headers and body of one answer."""
        text = f"Content-Type: {kind}\r\n" if kind else ""
        if body is not None:
            text += f"Content-Length: {len(body)}\r\n"
        method = method or ("GET" if body is None else "POST")
        found = self.raw(f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}{text}\r\n".encode()
                         + (body or b""))
        head, _, rest = found.partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode("latin-1"), rest

    def post(self, path, body, status=200, **options):
        """The answer to a body, whose status must be this."""
        found, _, answer = self.ask(path, body, **options)
        assert found == status, answer
        return answer

    def json(self, path, body=None, **options):
        return json.loads(self.ask(path, body, **options)[2])

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return finish(self.process)


def wait_for(condition):
    """Until it is true."""
    end = time.monotonic() + PATIENT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
