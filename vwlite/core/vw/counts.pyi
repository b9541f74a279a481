"""Made from cython_ext/vw/counts.pyx by tests/stubs.py."""

from typing import Any

class Counts:
    t: float
    sum_loss: float
    sum_loss_since_last_dump: float
    dump_interval: float
    weighted_labeled_examples: float
    weighted_labels: float
    weighted_unlabeled_examples: float
    example_number: int
    total_features: int
    log_loss: float
    held_log_loss: float
    holdout_weight: float
    holdout_loss: float
    holdout_weight_since_dump: float
    holdout_loss_since_dump: float
    holdout_weight_since_pass: float
    holdout_loss_since_pass: float
    @property
    def distinct_labels(self) -> int: ...
    @property
    def first_label(self) -> float: ...
    @property
    def second_label(self) -> float: ...
    def __init__(self) -> None: ...
    @property
    def weight(self) -> Any: ...
    def update(self, held: bool, labelled: bool, loss: float, weight: float, features: int) -> None: ...
    def count_label(self, held: bool, label: float, weight: float) -> None: ...
    def see_label(self, label: float) -> None: ...
    def count_log_loss(self, held: bool, loss: float) -> None: ...
