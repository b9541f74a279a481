"""Tables of drawn rows, what is drawn of them, and what is known of models of them."""

import hashlib
import json
import random
from contextlib import ExitStack
from pathlib import Path

from vwlite.runs.options import TrainOptions
from vwlite.runs.plan import planned
from vwlite.runs.run import BadLines
from vwlite.training.shards.drawing import Drawing

COUNT, SAMPLE = 600, 700  # rows of a shard, and of a sample where there is one
HEADER = "y,a,b,word\n"


def table(seed, count=COUNT, classes=False):
    """A curve, a pair and levels; y is 0 or 1, or one of three words."""
    chance, lines = random.Random(seed), []
    for _ in range(count):
        a, b, word = chance.random(), chance.random(), chance.choice("pqrs")
        score = 6 * (a - 0.5) ** 2 + 3 * (a - 0.5) * (b - 0.5) + (word == "p") - 0.8 + chance.gauss(0, 0.3)
        y = ("no", "some", "much")[(score > -0.3) + (score > 0.3)] if classes else int(score > 0)
        lines.append(f"{y},{a:.4f},{b:.4f},{word}\n")
    return lines


def digest(path):
    return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()


def loss(vwlite, model):
    return json.loads(vwlite("evaluate", "-m", model, "x.csv", "--json").out)["measures"]["log_loss"]["value"]


def draw(path, **options):
    o = TrainOptions(data=(str(path),), quiet=True, **options)
    return Drawing(planned(o), o.typed, o.given, BadLines(ExitStack(), skip=False)).read(lambda: False)
