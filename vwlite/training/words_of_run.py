"""The options of a run of `vwlite train` that shape its model and that nothing else in the model's header tells."""

from collections.abc import Iterator

from vwlite.runs.options import DEFAULT_DERIVED, MOST_NAMES, TrainOptions


def words_of_run(o: TrainOptions, needs_passes: bool) -> Iterator[str]:
    """They, as words of a command line. HOLDOUT stands for the file that held-out lines go to. needs_passes: the header
    has no record of every pass. Without --format and --on-error: the same examples make the same model."""
    if o.passes > 1 and needs_passes:
        yield from ("--passes", str(o.passes))
    if o.holdout_off and o.passes > 1:
        yield "--holdout-off"
    if o.holdout_to is not None:
        yield from ("--holdout-to", "HOLDOUT")
    if o.holdout_period is not None:
        yield from ("--holdout-period", str(o.holdout_period))
    if o.early_terminate is not None:
        yield from ("--early-terminate", str(o.early_terminate))
    if o.class_weight is not None:
        weights = o.class_weight
        shown = weights if isinstance(weights, str) else ",".join(f"{label}:{weight!r}" for label, weight in weights)
        yield f"--class-weight={shown}"
    if o.derive != DEFAULT_DERIVED:
        yield from ("--derive", o.derive)
    if o.pairs is not None:
        yield from ("--pairs", str(o.pairs))
    if o.names is not None and o.names != MOST_NAMES:
        yield f"--names={o.names}"
