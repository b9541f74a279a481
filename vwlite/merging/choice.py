"""The choice of a merge: the losses of its candidates on a holdout, and their stack."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

import numpy as np

from vwlite.merging.holdout import START, Candidate, HoldoutScores
from vwlite.merging.shards import Shards, in_order
from vwlite.merging.stack import Labelled, Numbers, averaged, differences

MEAN = Candidate("mean")
MOST_LABELS = 50_000  # examples times classes to which a stack is fitted, at most


@dataclass(frozen=True)
class MergeChoice:
    """The chosen candidate and, with a holdout, the losses of all."""

    chosen: Candidate
    candidates: list[Candidate] = field(default_factory=list)
    held: int = 0  # examples of the holdout
    mean_loss: float = inf  # the loss of the plain mean
    strength: float = inf  # of the ridge penalty of the stack


class Judge:
    """Chooses by a holdout among merges and models that exist already.

    own: the existing models, the start first. scores: a function that scores candidates on the holdout. clip: the range
    to which scores are clipped.
    """

    def __init__(
        self, shards: Shards, merges: list[Candidate], own: list[Candidate],
        scores: Callable[[list[Candidate]], HoldoutScores], clip: tuple[float, float] | None,
    ) -> None:
        self._shards, self._merges, self._own, self._scores, self._clip = shards, merges, own, scores, clip
        self._restricts = bool(shards.restricted or shards.limited)

    def choice(self, searches: bool) -> MergeChoice:
        """The first merge; with a search, the best of all candidates and their stack."""
        merges, own = self._merges, self._own
        asked = [*own, *dict.fromkeys([*merges, MEAN])]
        found = self._scores(asked)
        x = dict(zip(asked, found.each, strict=True))
        examples = Labelled.of(found, self._shards.settings, self._shards.named, self._clip)
        held, mean_loss = len(found.labels), examples.mean(examples.losses(x[MEAN]))[0]
        judged = [examples.judged(c, x[c]) for c in [*merges, *own]]
        if not searches:
            return MergeChoice(judged[0], judged, held, mean_loss)
        k = -(-examples.labels.size // MOST_LABELS)
        of_merges, of_own = judged[: len(merges)], judged[len(merges) :]
        first = merges[int(np.argmin([c.loss for c in of_merges]))]
        stack, strength = self._stack(examples.every(k).smoothed(), {c: s[::k] for c, s in x.items()}, first)
        parts = dict(stack.parts) or {stack: 1.0}
        scores = self._scores([stack]).each[0] if self._restricts else weighted(parts, x)
        chosen, best = examples.judged(stack, scores), min(of_own, key=lambda c: c.loss)
        if self._restricts and best.loss < chosen.loss - chosen.error:
            chosen = best  # the stack has lost too much when it was made sparse
        return MergeChoice(chosen, judged, held, mean_loss, strength)

    def _stack(self, examples: Labelled, x: dict[Candidate, Numbers], best: Candidate) -> tuple[Candidate, float]:
        """The stack of all candidates, and the strength of its penalty. Its first part is the best merge."""
        shards = [c for c in self._own if c != START and np.isfinite(x[c]).all()]
        alike = [best, *self._merges, START, *([] if self._restricts else shards)]  # the stack may have their zeros
        only_averages, strength = self._shards.algorithm.merging.ways == ("mean",), inf  # keep the sum of the weights
        u, scale = averaged(examples, {c: x[c] for c in alike}, len(self._shards.each), steps=not only_averages)
        if not only_averages:
            average, each = weighted(u, x), np.array([x[c] for c in shards])
            coefficients, strength = differences(examples, average, each, scale)
            for c, b in zip(shards, coefficients, strict=True):
                u[c] = u.get(c, 0.0) + float(b)
        alone = [c for c, b in u.items() if b]
        parts = tuple((c, b) for c, b in u.items() if b or c == best)
        return Candidate("stack", parts=parts) if len(alone) > 1 else alone[0], strength


def weighted(u: dict[Candidate, float], x: dict[Candidate, Numbers]) -> Numbers:
    """The weighted sum of scores; scores with a coefficient of 0 may be infinite."""
    return np.asarray(in_order(b * x[c] for c, b in u.items() if b))
