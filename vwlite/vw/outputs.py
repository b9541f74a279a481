"""The output files of a run: checks that none overwrites another, and prediction files."""

import sys
from typing import IO

from vwlite.errors import WriteError
from vwlite.output.atomic import check_apart
from vwlite.vw.arguments import Arguments
from vwlite.vw.messages import Critical

OUTPUTS = (
    "final_regressor", "predictions", "raw_predictions", "readable_model", "invert_hash", "audit_regressor",
    "output_feature_regularizer_binary", "output_feature_regularizer_text",
)
STANDARD = ("stdout", "/dev/stdout")  # they may have several


def check_files(a: Arguments, data: str | None) -> None:
    """Refuse outputs that would overwrite each other or what is read; Vowpal Wabbit destroys them.

    data: the file to read; None: standard input.
    """
    outputs = {f"--{name}": a[name] for name in OUTPUTS if name in a and a[name] not in STANDARD}
    if "final_regressor" in a and a.flag("save_per_pass"):
        for n in range(a.get("passes", 1) + 1):
            outputs[f"--save_per_pass in pass {n}"] = f"{a['final_regressor']}.{n}"
    if "cache_file" in a:
        outputs["--cache_file"] = a["cache_file"][0]
    elif a.flag("cache") and data is not None:
        outputs["--cache"] = f"{data}.cache"
    inputs = [] if data is None and a.flag("no_stdin") else [(data or "-", "the data")]
    inputs += [(path, "a model that is read") for path in a.get("initial_regressor", [])]
    for name in ("input_feature_regularizer", "feature_mask"):
        if name in a:
            inputs.append((a[name], f"the file of --{name}"))
    continued = a["initial_regressor"][0] if "initial_regressor" in a else None
    check_apart(outputs, inputs, ("--final_regressor", continued))


class Predictions:
    """A file of predictions, or standard output."""

    def __init__(self, path: str) -> None:
        self._own = path not in STANDARD
        try:
            self.file: IO[str] = open(path, "w", errors="surrogateescape") if self._own else sys.stdout
        except OSError as e:
            raise Critical(f"Error opening the predictions file: {path}, {e.strerror}", "parse_args.cc", 1500) from None

    def write(self, text: str) -> None:
        try:
            self.file.write(text)
        except OSError as e:
            raise self._failed(e) from e

    def close(self) -> None:
        if not self._own:
            return
        try:
            self.file.close()
        except OSError as e:
            raise self._failed(e) from e

    def _failed(self, e: OSError) -> Exception:
        """Report an error of the file. Errors of standard output are reported elsewhere."""
        return WriteError(f"{self.file.name}: cannot be written: {e.strerror}") if self._own else e
