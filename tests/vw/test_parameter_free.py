"""The rules of --coin, --pistol and --freegrad against their definitions."""

import numpy as np
import pytest
import slow_rules
import test_rules
from losses import LOG_LINKED, LOSSES
from streams import random_stream
from test_rules import FLOAT, assert_agree

from vwlite.core.vw.coin import Coin
from vwlite.core.vw.freegrad import FreeGrad
from vwlite.core.vw.pistol import Pistol

RULES = {
    "coin": (Coin, slow_rules.Coin),
    "pistol": (Pistol, slow_rules.Pistol),
    "freegrad": (FreeGrad, slow_rules.FreeGrad),
}


@pytest.fixture(autouse=True)
def parameter_free_rules(monkeypatch):
    monkeypatch.setattr(test_rules, "RULES", RULES)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss not in LOG_LINKED])
@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        ("coin", {}, FLOAT),
        ("coin", {"alpha": 1.0, "beta": 0.1}, FLOAT),
        ("pistol", {}, FLOAT),
        ("pistol", {"alpha": 0.5, "beta": 2.0}, FLOAT),
        ("freegrad", {}, 10 * FLOAT),
        ("freegrad", {"epsilon": 0.1, "restart": True}, 10 * FLOAT),
    ],
)
def test_against_the_definition(name, options, tolerance, loss):
    """With collisions, repeated features, importance, held-out and unlabelled examples, two passes."""
    stream = random_stream(60, 300, loss=loss, scales=False)
    if name == "freegrad":  # an importance below 1 can make its V negative, in Vowpal Wabbit too
        stream = [line._replace(importance=1.0 if line.importance == 0.3 else line.importance) for line in stream]
    _, reference = assert_agree(name, loss, stream, options, tolerance=tolerance, passes=2, holdout_period=7)
    assert np.count_nonzero(reference.weights) > 50
