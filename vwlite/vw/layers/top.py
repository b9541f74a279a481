"""Multiline examples; the lines with the largest predictions are printed: top."""

from bisect import insort
from typing import Any

from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Current, Layer
from vwlite.vw.setup import Setup


class Top(Layer):
    """Predicts and learns each line by itself."""

    option = name = "top"
    excludes = ("csv", "json", "named_labels")
    requires = "lines"
    compatible_with = ("lines",)
    output = "SCALARS"

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        self.of_lines, self.k = self, s.arguments["top"]

    @classmethod
    def enabled(cls, a: Arguments) -> bool:
        return not (a.on("csoaa_ldf") or a.on("wap_ldf"))

    def group(self, run: Any, lines: list[Current]) -> None:
        """Learn the lines of one example, count them, and print the result."""
        s = run.statistics
        for e in lines:
            run.learn(e)
        for e in lines:
            run.labels.count(e)
            if e.held and e.labelled:
                s.weighted_labels += e.label * e.weight
        if run.predictions is not None:
            best: list[Current] = []
            for e in lines:
                if len(best) == self.k and self.k and best[0].prediction < e.prediction:
                    best.pop(0)
                if len(best) < self.k:
                    insort(best, e, key=lambda e: e.prediction)
            for e in best:
                tag = f" {e.tag.decode('utf-8', 'surrogateescape')}" if e.tag else ""
                run.predictions.write(f"{e.prediction:.6f} {tag} \n")
            run.predictions.write("\n")
        if run.progress.due:
            labels = ",".join(_decimals(e.label) for e in lines)
            shown = ",".join(_decimals(e.prediction) for e in lines)
            run.progress.tell(labels, shown, sum(e.features for e in lines), run.holdout)


def _decimals(x: float) -> str:
    """With two decimals at most; no label is the largest float."""
    return f"{x if x == x else 3.4028234663852886e38:.2f}".rstrip("0").rstrip(".")
