"""`vwlite train --max-size`: a model whose file is not larger. What predictions do not need is left out first; then a
smaller model is learned: by `--sparse`, or for several scores or another algorithm with fewer bits.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from vwlite.errors import DataError, UsageError
from vwlite.output.stdio import say
from vwlite.records import record
from vwlite.runs.options import KEPT_GAIN, TrainOptions

if TYPE_CHECKING:
    from vwlite.model import Model

ATTEMPTS = 5


@record(frozen=True)
class TooLarge:
    """A model that is larger than it may be. scores: of an example, one or one for each class."""

    size: int
    features: int
    scores: int

    def fit(self, limit: int) -> int:
        """How many features would be small enough, if the rest of the file is as it is."""
        of_feature = 4 + 8 * self.scores
        return (limit - self.size) // of_feature + self.features


def fitted(model: "Model", limit: int) -> "tuple[Model | TooLarge, str]":
    """The model without what has to be left out, and what that is; TooLarge, if that is not enough."""
    import numpy as np

    from vwlite.model.feature_names import NONE
    from vwlite.model.file import to_bytes
    from vwlite.model.slots import array_of
    from vwlite.model.weights import has_weight

    unseen = model.rule.get("unseen", 0.0)
    rule = {"unseen": unseen} if any(unseen if isinstance(unseen, list) else [unseen]) else {}
    small = replace(model, state={}, more={}, rule=rule, weights_only=True, means={})
    if not rule:  # a feature that is not there has the weight 0
        kept, k = has_weight(model), model.records
        keys, weights = np.asarray(model.keys)[kept], np.asarray(model.weights).reshape(-1, k)[kept]
        seen = max(model.seen, len(model.keys))
        small = replace(small, keys=array_of(keys.tobytes(), "I"), weights=array_of(weights.tobytes(), "d"), seen=seen)
    for found in ((model, ""), (small, "its state, so -i cannot continue it"),
                  (replace(small, names=NONE), "its state and names, so -i cannot continue it")):
        size = len(to_bytes(found[0], "the model"))
        if size <= limit:
            return found
    return TooLarge(size, len(small.keys), model.records), ""


def in_size(o: TrainOptions, run: Callable[[TrainOptions], int | TooLarge]) -> int:
    """Train until the model is small enough; the exit code. run: trains once."""
    if o.continued is not None:
        raise UsageError("--max-size and --continue cannot be used together: a model that is continued needs its state")
    assert o.max_size is not None
    size = 0
    for _ in range(ATTEMPTS):
        found = run(o)
        if isinstance(found, int):
            return found
        size = found.size
        smaller = _smaller(o, found)
        if smaller is None:
            break
        o, how = smaller
        if not o.quiet:
            say(f"\nthe model would have {found.size:,} bytes, more than --max-size: {how}")
    raise DataError(f"a model of at most {o.max_size:,} bytes was not found; the last one had {size:,}: its header "
                    "alone may be too large (classes, columns, derived features: --derive none)")


def _smaller(o: TrainOptions, found: TooLarge) -> tuple[TrainOptions, str] | None:
    """The options of the next attempt, and which they are in words; None: there is none."""
    fit = found.fit(o.max_size or 0)
    chooses = not ({"algorithm", "bits", "label_transform"} & set(o.typed)) and o.group is None and o.validate is None
    if found.scores == 1 and chooses and o.typed.get("normalize") != "center":
        # The header of the next model is another one, so at first half of the file is for weights at least.
        most = max(fit, (o.max_size or 0) // 24) if o.most_weights is None else min(fit, o.most_weights - 1)
        given = o.given - {"derive", "pairs", "passes", "early_terminate"}
        o = replace(o, sparse=o.sparse or KEPT_GAIN, most_weights=most, passes=1, given=given)
        return (o, f"--sparse, with at most {most:,} weights") if most > 0 else None
    bits = min(fit.bit_length() - 1, o.typed.get("bits", 33) - 1)
    return (replace(o, typed={**o.typed, "bits": bits}), f"--bits {bits}") if fit > 1 and bits > 0 else None
