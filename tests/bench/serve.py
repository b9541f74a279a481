"""`vwlite serve` beside a naive server of a scikit-learn pipeline, and Vowpal Wabbit's daemon.

The naive server writes each answer at once and turns Nagle's algorithm off: without both, each request waits 40 ms for
a delayed acknowledgement, and any server would look fast beside it. Servers take turns, and the median run counts.
"""

import argparse
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import made
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
ABOUT = """# Servers

Text lines over 8 connections that are kept, from one client on the same machine; servers take turns, and the medians
count. The naive server predicts by a pipeline of scikit-learn in a thread of `http.server` for each connection, with
buffered answers and without Nagle's algorithm. The daemons have a process for each. `make bench-serve` makes this anew.
"""


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
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=5)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--results", type=Path, help="the file for the table")
    o = options.parse_args()
    vwlite = [str(Path(sys.executable).with_name("vwlite"))]
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder, "d.vw"), str(Path(folder, "m"))
        lines = rows(20_000)
        data.write_text("".join(lines))
        loss = ["--loss", "logistic", "--link", "logistic", "--algorithm", "gd"]
        subprocess.run([*vwlite, "train", str(data), *loss, "-m", model, "--quiet"], check=True)
        single = [line.encode() for line in lines[:2000]]
        large = ["".join(lines[i : i + 1000]).encode() for i in range(0, len(lines), 1000)]
        old = str(Path(folder, "old"))
        learn = ["-d", str(data), "--loss_function", "logistic", "-f", old, "--quiet"]
        subprocess.run([*vwlite, "vw", *learn], check=True)
        ours = [*vwlite, "vw", "--daemon", "-t", "-i", old, "--port", "0", "--foreground"]
        servers = {"vwlite serve": [*vwlite, "serve", "-m", model, "--port", "0"],
                   "scikit-learn, http.server": [sys.executable, "-c", NAIVE, str(data)],
                   "vwlite vw --daemon": ours,
                   "Vowpal Wabbit --daemon": [sys.executable, "-c", DAEMON, old]}
        found: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
        for _ in range(o.rounds):
            for name, command in servers.items():
                for size, bodies in ((1, single), (1000, large)):
                    found.setdefault((name, size), []).append(measured(command, bodies, o.seconds, "--daemon" in name))
        titles = ("server", "lines in a body", "requests/s", "lines/s", "p50 ms", "p99 ms", "requests/s of each run")
        table = [f"| {' | '.join(titles)} |", "|---" * 7 + "|"]
        for (name, size), runs in found.items():
            rate, p50, p99 = (statistics.median(column) for column in zip(*runs, strict=True))
            each = " ".join(f"{run[0]:.0f}" for run in runs)
            table.append(f"| {name} | {size} | {rate:.0f} | {rate * size:.0f} | {p50:.2f} | {p99:.2f} | {each} |")
        big = Path(folder, "big.vw")
        big.write_text("".join(lines) * 50)
        times = []
        for _ in range(o.rounds):
            begin = time.perf_counter()
            subprocess.run([*vwlite, "predict", "-m", model, str(big), "--quiet", "-o", "/dev/null"], check=True)
            times.append(time.perf_counter() - begin)
        table.append(f"| vwlite predict, a file | | | {len(lines) * 50 / statistics.median(times):.0f} | | | |")
        about = f"{o.rounds} runs of {o.seconds:g} seconds. {made('vwlite', 'vowpalwabbit', 'scikit-learn')}"
        text = "\n".join([ABOUT, about, "", *table, ""])
        print(text)
        if o.results:
            o.results.write_text(text)


if __name__ == "__main__":
    main()
