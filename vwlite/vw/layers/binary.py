"""The sign: binary."""

from vwlite.vw.layers.base import Current, Symmetric


class Binary(Symmetric):
    """Predicts the sign, and counts wrong signs."""

    option = name = "binary"
    compatible_with = ("batches", "lines")
    predicts_first = False

    def run(self, e: Current, learns: bool) -> None:
        self.pass_on(e, learns)
        e.prediction = 1.0 if e.prediction > 0 else -1.0
        if e.labelled:
            if abs(e.label) != 1:
                self.streams.error(f"The label '{e.label:.9g}' is not -1 or 1 as loss function expects.")
            elif e.prediction == e.label:
                e.loss = 0.0
            else:
                e.loss = e.weight
