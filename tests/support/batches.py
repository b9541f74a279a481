"""Batches made by hand: what the parser would make of a stream, without any text."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner


class Line(NamedTuple):
    """One example: features as (hash, value), all in one namespace unless `spans` cuts them up."""

    label: float
    features: Sequence[tuple[int, float]]
    importance: float = 1.0
    initial: float = 0.0
    tag: bytes = b""
    spans: Sequence[tuple[int, int]] = ()  # (letter, number of features), in order
    kind: int = 0


def batch_of(lines: Iterable[Line], *, numbered: bool = False) -> Batch:
    """The batch that holds these lines. numbered: with numbers instead of hashes, however many are distinct."""
    lines = list(lines)
    spans = [line.spans or ([(ord(" "), len(line.features))] if line.features else []) for line in lines]
    flat_spans = [span for of_line in spans for span in of_line]
    features = [feature for line in lines for feature in line.features]
    hashes = [h for h, _ in features]
    distinct = list(dict.fromkeys(hashes)) if numbered else []
    numbers = {h: i for i, h in enumerate(distinct)}
    tags = b"".join(line.tag for line in lines)
    arrays = [
        np.array([line.label for line in lines], "<f8"),
        np.array([line.importance for line in lines], "<f8"),
        np.array([line.initial for line in lines], "<f8"),
        np.cumsum([0] + [len(line.tag) for line in lines]).astype("<u4"),
        np.cumsum([0] + [len(s) for s in spans]).astype("<u4"),
        np.cumsum([0] + [size for _, size in flat_spans]).astype("<u4"),
        np.array(distinct, "<u4"),
        np.array([numbers[h] for h in hashes], "<u2") if distinct else np.array(hashes, "<u4"),
        np.array([x for _, x in features], "<f4"),
        np.array([line.kind for line in lines], "u1"),
        np.array([letter for letter, _ in flat_spans], "u1"),
        np.frombuffer(tags, "u1"),
    ]
    data = bytearray(np.array([len(lines), len(flat_spans), len(features), len(tags), len(distinct), 0], "<u8"))
    for array in arrays:
        piece = array.tobytes()
        data += piece + bytes(-len(piece) % 8)
    return Batch.view(data, 0, len(data))


def learn(learner: Learner, batch: Batch) -> int:
    """Run over a batch, line by line if the rule needs importances in advance, as in `vwlite vw`."""
    if not hasattr(learner.rule, "importance"):
        return learner.run(batch)
    at = 0
    while at < len(batch):
        learner.rule.importance = batch.importance[at]
        if learner.run(batch, at, at + 1) != at + 1:
            break
        at += 1
    return at
