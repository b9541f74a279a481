"""Absent cells of tables: missing cells, and cells whose words are all unknown to the model.

Each column has a feature `name?` for them. Missing cells of the training data have this feature, so its weight is
learned like any other. At the end of training its weight becomes, with n the number of missing cells of the column in
the training data,

    n / (n + 10) (the learned weight) + 10 / (n + 10) (the mean effect of the column)

where the mean is over the training rows that have a value, weighted by importance. So a cell without information
counts as an average one. The same holds for the cells of a product of which a column is absent: their mean is over the
distribution of that column, given the other columns; with hats h_i and h_j of the rows, and weights W,

    mean_j = sum_i M_ij W_ij / sum_i M_ij,    M_ij = sum over rows of (importance) h_i h_j

Products of the same columns at several resolutions share the features of cells without a number, whose weight is then
the sum of the means. Models of `--sparse` have no such means of products, which would be more weights. Means are over
a sample of the rows (`RowSample`). If features are normalized, the mean is of effects of normalized rows, and the
weight is this mean divided by the mean value of `name?` in these rows.

A model knows a word if it has its key, even with the weight 0. Some models drop keys of weight 0: if a word of the
sample has no key, no word counts as absent.

The header of a model keeps n, the mean, and whether the feature was learned, for each column: a model that is
continued begins without features that were not, and combines its means with those of its new rows.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import TYPE_CHECKING, Any

from vwlite.errors import DataError
from vwlite.hashing import absent_hash
from vwlite.input.schema import OPTIONAL, Schema
from vwlite.model.feature_names import FeatureNames
from vwlite.model.header import brief
from vwlite.model.row_sample import ENOUGH, MOST_ROWS
from vwlite.model.slots import array_of
from vwlite.model.weights import intercept_key
from vwlite.names import absent_name, namespace_of
from vwlite.output.text import printable

if TYPE_CHECKING:
    from vwlite.core.data.batch import Batch
    from vwlite.input.strangers import KnownColumns
    from vwlite.model.absent_means import ColumnMean
    from vwlite.model.file import Model

MOST_NOTES = 20  # on absent cells


def applied_schema(model: "Model") -> Schema:
    """The columns of a model that is applied. Keys of JSON lines whose means the model has are columns by value. Words
    that it did not learn are absent, if it can tell which these are."""
    schema = Schema.restored(model.columns)
    if not schema.absents:
        return schema
    keys = dict.fromkeys(model.absent.get("columns", ()), "auto") if schema.open else {}
    return replace(schema, roles=keys | dict(schema.roles) if keys else schema.roles, known=model.known_keys)


def learned(model: "Model") -> "Model":
    """The model as it was learned: without the features of absent cells that were not learned, and with the learned
    weights of the others."""
    record = model.absent.get("columns", {})
    columns = {key: record[name] for name, key in _keys(model, record).items() if "learned" in record[name]}
    if not columns or _are_state(model):
        return model
    import numpy as np

    keys, k = np.asarray(model.keys), model.records
    weights = np.array(model.weights).reshape(-1, k)
    for key, found in columns.items():
        if found["learned"]:
            n, at = found["missing"], np.searchsorted(keys, key)
            weights[at] = ((n + ENOUGH) * weights[at] - ENOUGH * np.array(found["mean"])) / n
    added = {key for key, found in columns.items() if not found["learned"]}
    kept = ~np.isin(keys, np.array([*added], np.uint32))
    record = {name: {"missing": found["missing"], "mean": found["mean"]} for name, found in record.items()}
    return replace(
        model, keys=array_of(keys[kept].tobytes(), "I"), weights=array_of(weights[kept].tobytes(), "d"),
        absent=model.absent | {"columns": record},
        names=FeatureNames.of((key, name) for key, name in model.names if key not in added),
        state={name: array_of(np.asarray(x).reshape(-1, k)[kept].tobytes(), x.format)
               for name, x in model.state.items()},
    )


def _are_state(model: "Model") -> bool:
    """Whether the weights of absent cells are also those of the state, with which `auto` goes on, as gd. Other rules
    with `chosen`, of `--sparse` and `--normalize center`, have another state."""
    return bool(model.chosen) and model.settings.algorithm == "gd" and "N" in model.state


def _keys(model: "Model", columns: Iterable[str]) -> dict[str, int]:
    """The keys of the features of absent cells of these columns."""
    settings = model.settings  # once: the property creates it at each access
    hash_all, mask = settings.hash == "all", (1 << settings.bits) - 1
    return {name: absent_hash(namespace_of(name), hash_all) & mask for name in columns}


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def with_absent(model: "Model", rows: "Sequence[Batch]", keys: Iterable[str] = (), before: Any = None) -> "Model":
    """A model of a table with the weights of absent cells. rows: of training. keys: those of JSON lines that were seen.
    before: the record of the model that was continued."""
    schema = Schema.restored(model.columns) if model.columns else None
    if schema is None or not schema.absents or not (rows or before):
        return model
    columns = [name for name, role in schema.roles.items() if role not in OPTIONAL]
    columns += [name for name in keys if schema.open and name not in schema.roles]
    from vwlite.model.absent_means import Means  # not at the top, for the time of a start

    means = Means(model, rows)
    means_of = {name: means.of(name, is_key=name not in schema.roles) for name in columns}
    found = _combined(means_of, means.rows, before)
    shared = means.of_other_features(_keys(model, found["columns"]))
    found["columns"] = {name: column for name, column in found["columns"].items() if name not in shared}
    found["words"] = means.all_known() and (before or {}).get("words", True)
    model = with_record(model, found, before)
    if _are_state(model) and model.settings.derived is not None and model.settings.normalize == "none":
        model = _inserted(model, means.of_products(model, (before or {}).get("rows", 0)))
    return model


def _combined(found: "dict[str, ColumnMean]", rows: int, before: Any) -> dict[str, Any]:
    old = (before or {}).get("columns", {})
    columns: dict[str, Any] = {}
    for name, column in found.items():
        past = old.get(name)
        missing, mean = column.missing, column.mean / column.unit
        if past is not None:
            weight = min(before["rows"], MOST_ROWS) if column.rows else 1.0
            mean = (weight * _array(past["mean"]) + column.rows * mean) / (weight + column.rows)
            missing += past["missing"]
        if column.rows or past is not None:
            columns[name] = {"missing": round(missing), "mean": [float(f"{x:.9g}") for x in mean.tolist()]}
    for name in old.keys() - columns.keys():
        columns[name] = {key: value for key, value in old[name].items() if key != "learned"}
    return {"rows": rows + (before or {}).get("rows", 0), "columns": columns}


def _array(values: Any) -> Any:
    import numpy as np

    return np.array(values, float)


def with_record(model: "Model", found: dict[str, Any], before: Any = None) -> "Model":
    """The model with the weights of absent cells that follow from its learned ones and these means. before: as for
    `with_absent`. Columns that share the key of this feature, as with few --bits, have what was learned, and no record:
    it is that of others too."""
    old = (before or {}).get("columns", {})
    given = {name for name, c in old.items() if not c["missing"] and c.get("learned")}  # of `auto`: only their keys
    weights: dict[int, Any] = {}
    columns, keys = {}, _keys(model, found["columns"])
    columns_of_key, intercept = Counter(keys.values()), intercept_key(model.settings)
    for name, column in found["columns"].items():
        key = keys[name]
        if columns_of_key[key] > 1 or key == intercept:
            continue
        at = bisect_left(model.keys, key)
        is_learned = at < len(model.keys) and model.keys[at] == key and (name not in given or column["missing"] > 0)
        own = _array(model.weights[at * model.records : (at + 1) * model.records]) if is_learned else 0.0
        n, mean = max(column["missing"], int(is_learned)), _array(column["mean"])
        weights[key] = (n * own + ENOUGH * mean) / (n + ENOUGH)
        columns[name] = column | {"missing": n, "learned": is_learned or _are_state(model)}
    model = replace(model, absent=found | {"columns": columns})
    return _inserted(with_names(model) if len(model.names) else model, weights)


def absent_weights(model: "Model") -> dict[int, float]:
    """Those of absent cells, by key, of a model with one score."""
    keys = _keys(model, model.absent.get("columns", ())).values()
    return {key: model.weights[bisect_left(model.keys, key)] for key in keys}


def unlearned(model: "Model") -> set[int]:
    """The keys of absent cells that the training data did not have."""
    columns = model.absent.get("columns", {})
    keys = _keys(model, [name for name, found in columns.items() if not (found["missing"] and found.get("learned"))])
    places = ((key, bisect_left(model.keys, key)) for key in keys.values())
    return {key for key, at in places if at < len(model.keys) and model.keys[at] == key}


def checked_absents(path: str, model: "Model") -> set[int]:
    """The keys of absent cells, whose weights are not those of the state. DataError if such a weight, where it was not
    learned, is not that of the record, or if there is no weight or cell that it was learned from."""
    if not model.absent or _are_state(model):
        return set()
    keys, k = _keys(model, model.absent["columns"]), model.records
    for name, column in model.absent["columns"].items():
        key, n = keys[name], column["missing"]
        at = bisect_left(model.keys, key)
        has_it = at < len(model.keys) and model.keys[at] == key
        if column["learned"] and not (n and has_it):
            raise DataError(f"{path}: not a valid model: the weight of absent cells of {brief(name)} was learned from "
                            "none")
        shown = model.weights[at * k : (at + 1) * k].tolist() if has_it else [0.0] * k
        expected = [ENOUGH * mean / (n + ENOUGH) for mean in column["mean"]]
        if not column["learned"] and not all(map(_is_near, shown, expected)):
            raise DataError(f"{path}: not a valid model: the weight of absent cells of {brief(name)} is not that of "
                            "its record")
    return {*keys.values()}


def _is_near(a: float, b: float) -> bool:
    return isclose(a, b, rel_tol=1e-6, abs_tol=1e-30)


def united(records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The record of the rows of several ones."""
    found = [record for record in records if record]
    if not found:
        return {}
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for record in found for name in record["columns"]):
        each = [(record["rows"], record["columns"][name]) for record in found if name in record["columns"]]
        rows = max(sum(n for n, _ in each), 1)
        mean = sum((n / rows * _array(column["mean"]) for n, column in each), _array([0.0]))
        columns[name] = {"missing": sum(column["missing"] for _, column in each), "mean": mean.tolist()}
    return {"rows": sum(record["rows"] for record in found), "columns": columns,
            "words": all(record["words"] for record in found)}


def with_names(model: "Model") -> "Model":
    """The model with the names of the features of absent cells."""
    keys = _keys(model, model.absent.get("columns", ()))
    pairs = [(key, _bytes(f"{(space := namespace_of(name))}^{absent_name(space)}")) for name, key in keys.items()]
    return replace(model, names=FeatureNames.of([*model.names, *pairs])) if pairs else model


def _inserted(model: "Model", weights: dict[int, Any]) -> "Model":
    """The model with these weights by key; the state of new ones is that of features without an example, or of `auto`
    their weight."""
    import numpy as np

    if not weights:
        return model
    k = model.records
    keys = np.asarray(model.keys)
    new = np.array(sorted({*weights} - {*keys[np.isin(keys, [*weights])].tolist()}), np.uint32)
    every = np.concatenate([keys, new])
    order = np.argsort(every, kind="stable")
    every = every[order]

    def merged(numbers: Any) -> Any:
        values = np.asarray(numbers).reshape(-1, k)
        return np.concatenate([values, np.zeros((len(new), k), values.dtype)])[order]

    values, state = merged(model.weights), {name: merged(x) for name, x in model.state.items()}
    places = np.searchsorted(every, np.array([*weights], np.uint32))
    given = np.array([np.broadcast_to(x, (k,)) for x in weights.values()], float)
    values[places] = given
    if _are_state(model):
        state["w"][places] = given
        added = np.isin(every, new)
        for name in state.keys() - {"w"}:
            state[name][added] = 1
        values[places] = state["w"][places]
    return replace(
        model, keys=array_of(every.tobytes(), "I"), weights=array_of(values.tobytes(), "d"),
        state={name: array_of(x.tobytes(), model.state[name].format) for name, x in state.items()},
    )


def absent_cells(model: "Model", found: Mapping[str, tuple[int, int]], rows: int) -> Iterator[str]:
    """Notes on columns with absent cells of a kind that training did not have. found: of columns, how many of their
    cells in these rows are missing, and have only words that the model does not know."""
    columns = model.absent.get("columns", {})
    shown = 0
    for name, (missing, unknown) in found.items():
        counted = []
        if missing and name in columns and not columns[name]["missing"]:
            counted.append(f"{missing:,} of {rows:,} cells {_is(missing)} missing, and none was missing in training")
        if unknown:
            counted.append(f"{unknown:,} of {rows:,} cells {_has(unknown)} only words that training did not have")
        if counted and shown < MOST_NOTES:
            shown += 1
            yield f"column {printable(name)}: {'; '.join(counted)}: such a cell counts as an average one"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


def _has(n: int) -> str:
    return "has" if n == 1 else "have"


def known_columns(model: "Model", features: int) -> "KnownColumns | None":
    """The columns of which a row of JSON must have one, for a model with this number of features."""
    from vwlite.input.strangers import KnownColumns  # not at the top: it needs NumPy

    return KnownColumns.of(model.columns, features, model.absent_hashes)
