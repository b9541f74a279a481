"""`vwlite merge`: options and help."""

import os
from dataclasses import replace

from vwlite.algorithms.settings import SPECS
from vwlite.errors import UsageError
from vwlite.options.declaring import command
from vwlite.options.spec import OUT, option, option_name, specs_of
from vwlite.options.types import PATH, Choice, Whole
from vwlite.records import record
from vwlite.runs.options import DATA, OF_RUN, READING, InputOptions

MERGE, HOLDOUT = "Merge", "Holdout"
RULES = ("search", "path", "information", "mean", "dual")
STATES = ("sum", "mean")


_LOSS = replace(
    SPECS["loss"], group=HOLDOUT, default=None, vw=(),
    help="The loss of models of Vowpal Wabbit. Such models do not store it.",
)


@command(
    "merge", "vwlite.merging.merge:merge",
    replace(DATA, metavar="SHARD..."), MERGE, HOLDOUT, _LOSS,
    *(replace(spec, group=HOLDOUT) for spec in specs_of(InputOptions, *READING)), OUT, *OF_RUN,
    usual=("--model", "--start", "--rule", "--state", "--holdout", "--allow-missing", "--quiet",),
    examples=("vwlite merge shard1.model shard2.model -o all.model",
              "vwlite merge shard1.model shard2.model --holdout held.vw --state mean -o round1.model"),
)
@record(frozen=True)
class MergeOptions(InputOptions):
    """Merge SHARDs: models with the same options, each trained on one shard of the data.

    With --holdout, the result is an average of several merge rules and of the SHARDs, weighted by their losses there.
    It does not depend on the order of the SHARDs. `vwlite help merge` says when not to merge.
    """

    def _check_rule(self) -> None:
        if self.rule == "search" and not self.holdout:
            raise UsageError("--rule search needs examples to compare merges: add --holdout FILE")

    model: str | None = option(
        None, "-o", "-m", "--model", group=OUT, type=PATH, required=True, metavar="FILE", writes=True,
        help="Write the merged model to this file.",
    )
    initial: str | None = option(
        None, "--start", "initial", group=MERGE, type=PATH, metavar="FILE", reads="the input model",
        help="The model from which every shard was continued. With vwlite train -i; without it, the shards began "
             "from nothing.",
    )
    rule: str | None = option(
        None, "--rule", group=MERGE, type=Choice(RULES), shown="found", check=_check_rule,
        help="How weights are combined. By default: by kept rows, if there are some beside all shards; search with "
             "--holdout; else by the algorithm. See `vwlite help merge`.",
    )
    state: str = option(
        "sum", "--state", group=MERGE, type=Choice(STATES),
        help="State of the model: sum, or mean for more rounds. sum: as much as all shards have learned, to predict "
             "or to continue alone. mean: as much as one of them. The weights are the same.",
    )
    allow_missing: int = option(
        0, "--allow-missing", group=MERGE, type=Whole(0), metavar="N",
        help="Merge even if up to N shards do not exist.",
    )
    holdout: tuple[str, ...] = option(
        (), "--holdout", group=HOLDOUT, multiple=True, type=PATH, metavar="FILE", reads="a file of --holdout",
        help="Examples for weighting merges and shards. As text or a cache; no shard may have learned from them. May "
             "be repeated.",
    )

    def check(self) -> None:
        """UsageError for options that cannot be used together, or for missing ones."""
        if not self.data:
            raise UsageError("no shard is given: name the models to merge, as in vwlite merge a.model b.model")
        if not self.holdout:
            for name in ("max_errors", "rejects"):
                if getattr(self, name) is not None:
                    raise UsageError(f"{option_name(name)} needs --holdout: shards are models, not lines")
        if "-" in self.data:
            raise UsageError("-: a shard is a file, not standard input")
        super().check()
        for paths, what in ((self.data, "what it has learned"), (self.holdout, "its examples")):
            seen: dict[str, str] = {}
            for path in paths:
                if other := seen.get(os.path.realpath(path)):
                    raise UsageError(f"{other} and {path} are the same file: {what} would count twice; name it once")
                seen[os.path.realpath(path)] = path
