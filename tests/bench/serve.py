"""`vwlite serve` beside a naive server of a scikit-learn pipeline, and Vowpal Wabbit's daemon.

The naive server writes each answer at once and turns Nagle's algorithm off: without both, each request waits 40 ms for
a delayed acknowledgement, and any server would look fast beside it. Servers take turns, and the median run counts.
"""

import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from harness import GD, VWLITE, document, in_turns, installed, made, options_of, run, table
from load import load

NAIVE = '''
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
lines = open(sys.argv[1]).read().splitlines()
model = make_pipeline(HashingVectorizer(n_features=2**20, alternate_sign=False), SGDClassifier(loss="log_loss"))
model.fit([line.split("|", 1)[1] for line in lines], [line.split()[0] for line in lines])
class Handler(BaseHTTPRequestHandler):
    protocol_version, wbufsize, disable_nagle_algorithm = "HTTP/1.1", -1, True
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        found = model.predict_proba([line.split("|", 1)[1] for line in body.splitlines()])[:, 1]
        answer = "".join(f"{p:.6f}\\n" for p in found).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_):
        pass
ThreadingHTTPServer.request_queue_size = 128
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"serving at 127.0.0.1:{server.server_port}", file=sys.stderr, flush=True)
server.serve_forever()
'''

# Vowpal Wabbit's package for Python has its daemon.
DAEMON = '''
import os, sys, time
place = f"{sys.argv[1]}.{os.getpid()}"
if os.fork() == 0:  # the daemon itself says nothing before the first client
    while not os.path.exists(place) or not os.path.getsize(place):
        time.sleep(0.1)
    print("serving at 127.0.0.1:" + open(place).read(), file=sys.stderr, flush=True)
    os._exit(0)
from vowpalwabbit import Workspace
run = Workspace(f"--daemon -t -i {sys.argv[1]} --port_file {place} --port 0 --num_children 8 --foreground --quiet")
run.run_parser()
'''
ABOUT = """
Text lines over 8 connections that are kept, from one client on the same machine; servers take turns, and the medians
count. The naive server predicts by a pipeline of scikit-learn in a thread of `http.server` for each connection, with
buffered answers and without Nagle's algorithm. The daemons have a process for each. `make bench-serve` makes this anew.
"""
TITLES = ("server", "lines in a body", "requests/s", "lines/s", "p50 ms", "p99 ms", "requests/s of each run")


def rows(n: int) -> list[str]:
    draw = random.Random(1)
    return [f"{(-1) ** i} |a " + " ".join(f"w{int(draw.paretovariate(0.7)) % 5000}" for _ in range(20)) + "\n"
            for i in range(n)]


def measured(command: list[str], bodies: list[bytes], seconds: float, by_line: bool) -> tuple[float, float, float]:
    """Requests a second, and milliseconds at p50 and p99."""
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert server.stderr is not None
    places = (re.search(r"127\.0\.0\.1:(\d+)", line) for line in server.stderr)
    port = int(next(filter(None, places))[1])
    try:
        load(("127.0.0.1", port), bodies, seconds=0.5, by_line=by_line)
        times, answers = load(("127.0.0.1", port), bodies, seconds=seconds, by_line=by_line)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()
    assert all(status == 200 for _, status, _ in answers)
    times.sort()
    return len(times) / seconds, 1e3 * times[len(times) // 2], 1e3 * times[int(0.99 * len(times))]


def main() -> None:
    parser = options_of(__doc__, results="the file for the table")
    parser.add_argument("--seconds", type=float, default=5, help="of each run (default: 5)")
    parser.add_argument("--rounds", type=int, default=5, help="(default: 5)")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, lines = Path(name), rows(20_000)
        data, model, old, big = (folder / name for name in ("d.vw", "m", "old", "big.vw"))
        data.write_text("".join(lines))
        run(VWLITE, "train", data, "--loss", "logistic", "--link", "logistic", *GD, "-m", model, "--quiet")
        run(VWLITE, "vw", "-d", data, "--loss_function", "logistic", "-f", old, "--quiet")
        bodies = {1: [line.encode() for line in lines[:2000]],
                  1000: ["".join(lines[i : i + 1000]).encode() for i in range(0, len(lines), 1000)]}
        servers = {
            "vwlite serve": [VWLITE, "serve", "-m", str(model), "--port", "0"],
            "scikit-learn, http.server": [sys.executable, "-c", NAIVE, str(data)],
            "vwlite vw --daemon": [VWLITE, "vw", "--daemon", "-t", "-i", str(old), "--port", "0", "--foreground"],
            "Vowpal Wabbit --daemon": [sys.executable, "-c", DAEMON, str(old)],
        }
        if not installed("vowpalwabbit"):
            del servers["Vowpal Wabbit --daemon"]
        works = {
            f"{name} | {size}": partial(measured, command, bodies[size], o.seconds, "--daemon" in name)
            for name, command in servers.items()
            for size in bodies
        }
        cells = []
        for place, runs in in_turns(works, o.rounds).items():
            server, _, size = place.partition(" | ")
            rate, p50, p99 = (statistics.median(column) for column in zip(*runs, strict=True))
            each = " ".join(f"{one[0]:.0f}" for one in runs)
            cells.append([server, size, f"{rate:.0f}", f"{rate * int(size):.0f}", f"{p50:.2f}", f"{p99:.2f}", each])
        big.write_text("".join(lines) * 50)
        predict = (VWLITE, "predict", "-m", model, big, "--quiet", "-o", "/dev/null")
        seconds = statistics.median(run(*predict).seconds for _ in range(o.rounds))
        cells.append(["vwlite predict, a file", "", "", f"{len(lines) * 50 / seconds:.0f}", "", "", ""])
    about = f"{o.rounds} runs of {o.seconds:g} seconds. {made('vwlite', 'vowpalwabbit', 'scikit-learn')}"
    text = document(ABOUT, "Servers", about, table(TITLES, cells))
    print(text)
    if o.results:
        o.results.write_text(text)


if __name__ == "__main__":
    main()
