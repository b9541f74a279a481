"""Write the models of a run in its current state."""

import sys
from typing import Any

from vwlite.output.atomic import AtomicFile
from vwlite.vw.arguments import OPTIONS, letters
from vwlite.vw.layers.base import Layer
from vwlite.vw.models.binary import (
    Header,
    SlotLayout,
    VwModel,
    woven,
    write_binary,
    write_regularizer,
    write_regularizer_text,
    write_text,
)
from vwlite.vw.setup import Setup
from vwlite.vw.text.parser import to_float

UPDATE_OPTIONS = ("sgd", "adaptive", "invariant", "normalized", "learning_rate", "power_t")
MERGED = ("ignore", "ignore_linear", "keep")  # options whose values are kept as one set of namespaces


class ModelWriter:
    """Writes the models of a run: `-f`, `--readable_model`, `--invert_hash`, and regularization strengths.

    idle: options without effect in this run, which a model stores nevertheless. writes_regularizer: it is the
    strengths of a batch solver that go to their files. saved: `save` was called.
    """

    def __init__(self, setup: Setup, learner: Layer, idle: dict[str, Any]) -> None:
        self.setup, self.arguments, self.plan, self.idle = setup, setup.arguments, setup.plan, idle
        self.learner, self.bottom = learner, learner.bottom
        self.batch: Any = self.bottom if self.bottom.in_batches else None
        self.writes_regularizer = self.saved = False

    def save(self) -> None:
        """Write every model that was asked for."""
        a = self.arguments
        self.saved = True
        binary = a.get("output_feature_regularizer_binary", a.get("final_regressor"))
        if binary is not None:
            self.save_binary(binary)
        if "output_feature_regularizer_text" in a:
            _write(a["output_feature_regularizer_text"], self._text(None).encode("utf-8", "surrogateescape"))
            return
        for name in ("readable_model", "invert_hash"):
            if name in a:
                names = self.setup.namer.found if name == "invert_hash" else None
                _write(a[name], self._text(names).encode("utf-8", "surrogateescape"))

    def save_binary(self, path: str) -> None:
        """Write the model that can be continued."""
        if self.writes_regularizer:
            data = write_regularizer(self._header(), *self.batch.next_regularizer())
        else:
            data = write_binary(self._model(), self.learner.saved_bytes())
        _write(path, data)

    def _text(self, names: dict[int, bytes] | None) -> str:
        """The readable model, with names the inverted one; or the regularizer, if that is to be written."""
        hexfloat = self.arguments.flag("hexfloat_weights")
        if self.writes_regularizer:
            slots, floats = self.batch.next_regularizer()
            return write_regularizer_text(self._header(), slots, floats, hexfloat)
        return write_text(self._model(), self.learner.saved_text(), names, hexfloat)

    def _header(self) -> Header:
        a, stepper = self.arguments, self.bottom.stepper
        return Header(
            a.get("id", ""), stepper.min_label, stepper.max_label, self.plan.bits, list(a.get("ngram", [])),
            list(a.get("skips", [])), self._options(a.flag("predict_only_model")),
        )

    def _model(self) -> VwModel:
        s = self.setup
        stepper = self.bottom.stepper
        stepper.select(0)
        rule = stepper.rule
        header = self._header()
        state = None
        if self.batch is not None:
            self.batch.store()
        if not self.arguments.flag("predict_only_model"):
            t = s.statistics
            state = {
                "initial_t": self.plan.initial_t, "norm normalizer": getattr(rule, "norm_sum", 0.0), "t": t.t,
                "sum_loss": t.sum_loss, "sum_loss_since_last_dump": t.sum_loss_since_last_dump,
                "dump_interval": t.dump_interval, "min_label": stepper.min_label, "max_label": stepper.max_label,
                "weighted_labeled_examples": t.weighted_labeled_examples, "weighted_labels": t.weighted_labels,
                "weighted_unlabeled_examples": t.weighted_unlabeled_examples, "example_number": t.example_number,
                "total_features": t.total_features, "total_weight": getattr(rule, "weight_sum", 0.0),
                "sd::oec.weighted_labeled_examples": t.old_weighted_labeled_examples,
                "current_pass": t.current_pass, "l1_state": getattr(rule, "gravity", 0.0) + s.owed,
                "l2_state": getattr(rule, "contraction", 1.0),
            }
        slots, columns = SlotLayout(rule, self.plan.fields).columns()
        return VwModel(header, state, len(columns), slots, woven(columns))

    def _options(self, predict_only: bool) -> str:
        """The options that the model keeps."""
        out = []
        a = self.arguments
        values = {**a.values, **self.idle}
        for name in sorted(values):
            option = OPTIONS[name]
            if not option.keep or name in MERGED or (predict_only and name in UPDATE_OPTIONS):
                continue
            value = values[name]
            if option.type == "bool":
                out.append(f" --{name}" if value else "")
            elif option.type == "list[str]":
                out += [f" --{name} {item}" for item in value]
            elif option.type == "float":
                out.append(f" --{name} {to_float(value):.15g}")
            else:
                out.append(f" --{name} {value}")
        for name in MERGED:
            if name in a:
                merged = bytes(sorted(set(letters(a[name])))).decode("utf-8", "surrogateescape")
                out.append(f" --{name} {merged}")
        if self.setup.random.state:
            out.append(f" --random_seed {self.setup.random.state}")
        return "".join(out)


def _write(path: str, data: bytes) -> None:
    if path == "/dev/stdout":
        sys.stdout.write(data.decode("utf-8", "surrogateescape"))
        return
    with AtomicFile(path) as file:
        file.write(data)
        file.commit()
