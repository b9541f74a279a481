"""Derived features of the reference as models have them."""

import math

import numpy as np
from derived_features import CURVE, Numbers

from vwlite.derived import WORDS, Derived, NumberColumn, WordColumn
from vwlite.hashing import feature_hash


def as_product(columns, places, resolution):
    return tuple((i, resolution if isinstance(columns[i], Numbers) else WORDS) for i in places)


def derived_of(columns, products) -> Derived:
    """As a model has it, from columns and products of the reference."""
    found = []
    for c in columns:
        if isinstance(c, Numbers):
            at = {k: tuple(c.knots(k)) for k in {CURVE, *(k for p in products for k in p.knots_of(columns))}}
            mean, deviation = c.scale
            found.append(NumberColumn(c.name, mean, deviation, any(map(math.isnan, c.sample)), at))
        else:
            found.append(WordColumn(c.name, tuple(c.kept)))
    return Derived(
        tuple(found), tuple(as_product(columns, p.columns, k) for p in products for k in p.knots_of(columns))
    )


def hashed(features, column):
    """Features of the reference in the namespace of a column, as hashes."""
    return [(feature_hash(name.encode(), column.name.encode()), np.float32(x)) for name, x in features]
