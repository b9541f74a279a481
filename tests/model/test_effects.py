"""The effects of columns: their sums are the scores, and their parts those of the features."""

import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from effects import corners, frame_of
from tables import bent_rows, review_rows, written

from vwlite import SparseClassifier, SparseRegressor, load_model
from vwlite.errors import DataError
from vwlite.estimators.memory import InMemory
from vwlite.model import read_model
from vwlite.model.contributions import Contributions
from vwlite.model.effects import NumberAxis, effects_of, place_on
from vwlite.model.file import to_bytes
from vwlite.output.text import shown
from vwlite.runs.opened import applied

KINDS = {
    "derived": {}, "curves": {"derive": "curves"}, "plain": {"derive": "none"},
    "l2": {"normalize": "l2", "derive": "none"}, "log": {"normalize": "log", "derive": "none"},
    "gd": {"algorithm": "gd", "passes": 2},
}


@pytest.fixture(scope="module", params=KINDS)
def fitted(request):
    frame = frame_of()
    return SparseClassifier(time=["at"], **KINDS[request.param]).fit(frame.drop(columns="y"), frame["y"]), frame


def new_rows() -> pd.DataFrame:
    """Rows with what was not learned: other words, numbers outside of all knots, nothing."""
    frame = frame_of(300).sample(60, random_state=1).drop(columns="y").reset_index(drop=True)
    frame.loc[0, "x"], frame.loc[1, "x"], frame.loc[2, "x"] = 1e6, -1e6, math.nan
    frame.loc[3, "w"], frame.loc[4, "w"], frame.loc[5, "rare"], frame.loc[6, "at"] = "new", None, "also new", pd.NaT
    return frame


def test_base_and_contributions_are_the_score(fitted):
    m, _ = fitted
    rows = new_rows()
    found = m.contributions(rows)
    assert found.shape == (len(rows), len(m.effects_))
    apart = np.abs(m.base_value_ + found.sum(axis=1) - m.decision_function(rows))
    assert (apart <= 1e-12 * np.abs(found).sum(axis=1)).all()


def test_contributions_have_the_mean_0_over_training_data(fitted):
    m, frame = fitted
    if m.get_params()["algorithm"] == "gd":
        assert m.effects_.rows == 0 and m.base_value_ == m.effects_.intercept
        return
    found = m.contributions(frame.drop(columns="y"))
    assert m.effects_.rows == len(frame)
    means = np.array([effect.mean[0] for effect in m.effects_])  # which have six digits
    assert (np.abs(found.mean(axis=0)) <= 1e-5 * np.abs(means) + 1e-12).all()


def test_effects_as_they_were_learned_are_the_sums_over_the_features_of_a_column(fitted):
    """Those that `explain` lists by feature, each a 32-bit float."""
    m, _ = fitted
    opened = applied(m._learned.model(), "m")
    effects = effects_of(opened.model)
    contributions = Contributions(opened.model, effects)
    rows, derived = new_rows(), m._learned.settings.derived
    of = {f"{space}^{name}": what for space, name, what in derived.names()} if derived is not None else {}
    batches = InMemory(rows, None, opened).batches(replace(opened.parse, spaces=True))
    found = np.concatenate([contributions.of(parsed.batch).effects[:, :, 0] for parsed in batches])
    means = [effect.mean[0] for effect in effects]
    for explained, row in zip(m.explain(rows, top=10_000), found + means, strict=True):
        sums = dict.fromkeys((effect.name for effect in effects), 0.0)
        for c in explained["contributions"]:
            name = c["name"]
            space, _, feature = ("p^w", "", "") if name.startswith("p^w^") else name.partition("^")
            part = "month" if feature == "at?" else feature.partition("=")[0]
            column = of.get(name) or (f"{space}.{part}" if space == "at" else space)
            sums[column] += c["contribution"]
        assert row == pytest.approx([*sums.values()], abs=1e-5)


def test_effects_are_what_they_say(fitted):
    """Linear between knots on each axis, from the readable form alone; but for levels without a name."""
    m, _ = fitted
    rows, found = new_rows(), m.contributions(new_rows())
    if m.effects_.normalize != "none" or m.effects_.rows == 0:
        return
    for i, effect in enumerate(m.effects_):
        for row, expected in zip(rows.to_dict("records"), found[:, i], strict=True):
            if effect.slope is not None:
                parts = [((0, float(math.isnan(row[effect.name]))),)]
            else:
                parts = product(*(corners(axis, row[axis.column]) for axis in effect.axes))
            total = sum(effect.values[tuple(p for p, _ in c)][0] * math.prod(w for _, w in c) for c in parts)
            if effect.slope is not None and not math.isnan(row[effect.name]):
                total += effect.slope[0] * np.float32(row[effect.name])
            assert total - effect.mean[0] == pytest.approx(expected, abs=1e-6)


def test_classes_and_numbers_have_effects():
    frame = frame_of(300)
    three = np.where(frame["z"] > 0.5, "high", frame["y"])
    m = SparseClassifier(time=["at"]).fit(frame.drop(columns="y"), three)
    rows = new_rows()
    found = m.contributions(rows)
    assert found.shape == (len(rows), len(m.effects_), 3) and m.effects_.classes == ("high", "no", "yes")
    apart = np.abs(m.base_value_ + found.sum(axis=1) - m.decision_function(rows))
    assert (apart <= 1e-12 * np.abs(found).sum(axis=1)).all()
    r = SparseRegressor(time=["at"]).fit(frame.drop(columns="z"), frame["z"])
    rows = rows.assign(y="no")[[*frame.drop(columns="z")]]
    found = r.contributions(rows)
    assert r.base_value_ + found[2:].sum(axis=1) == pytest.approx(r.predict(rows)[2:], abs=1e-9)  # not clipped


@pytest.mark.parametrize("options", [{}, {"normalize": "none"}, {"derive": "none"}])
def test_texts_have_one_effect_with_the_mean_0(options):
    frame = pd.DataFrame(review_rows(600), columns=["review", "y"])
    m = SparseClassifier(text="review", **options).fit(frame[["review"]], frame["y"])
    found = m.contributions(frame[["review"]])
    assert found.shape == (len(frame), 1) and abs(found.mean()) <= 1e-5 * np.abs(found).max()
    assert m.base_value_ + found[:, 0] == pytest.approx(m.decision_function(frame[["review"]]), rel=1e-12)


def test_a_column_may_have_the_name_of_a_product():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(1500, 3)), columns=["a", "b", "a*b"])
    m = SparseRegressor().fit(frame, frame["a"] * frame["b"] * 2 + frame["a*b"])
    assert {"a", "b", "a*b", "a * b"} == {effect.name for effect in m.effects_}
    assert m.base_value_ + m.contributions(frame).sum(axis=1) == pytest.approx(m.predict(frame), abs=1e-6)


def test_keys_that_are_no_columns_are_other_features(vwlite, tmp_path):
    rows = [{"x": i % 7, "y": int(i % 7 > 3), **({"more": {"deep": "a"}} if i % 2 else {"w": "b"})} for i in range(400)]
    path = tmp_path / "d.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    vwlite("train", path, "--label", "y", "-m", tmp_path / "m")
    model = load_model(tmp_path / "m")
    found = model.effects()
    assert {"x", "w"} <= {effect.name for effect in found}
    assert isinstance(found["x"].axes[0], NumberAxis) and found["w"].axes[0].levels == ("b",)


def test_the_command_and_the_estimator_keep_the_same(vwlite, tmp_path):
    frame = frame_of().drop(columns=["at"])
    path = written(tmp_path / "d.csv", [*frame], bent_rows_with(frame))
    vwlite("train", path, "--label", "y", "-m", tmp_path / "m")
    model = read_model(str(tmp_path / "m"))
    assert {name.decode() for _, name in model.names} >= {"w^w=a", "w^w=b c", "w^w=d^", "rare^rare=often"}
    assert model.means["rows"] == len(frame) and set(model.means["effects"]) == {e.name for e in effects_of(model)}
    for options in (["--threads", 1], ["--cache"]):
        vwlite("train", path, "--label", "y", *options, "-m", tmp_path / "other")
        assert (tmp_path / "other").read_bytes() == (tmp_path / "m").read_bytes()


def bent_rows_with(frame):
    """The cells of a frame as text."""
    rows = frame.to_numpy().tolist()
    return [["" if isinstance(x, float) and math.isnan(x) else str(x) for x in row] for row in rows]


@pytest.mark.parametrize("means", [
    {"rows": 1}, {"rows": 0, "length": 1.0, "effects": {}}, {"rows": 2, "length": -1.0, "effects": {}},
    {"rows": 2, "length": 1.0, "effects": {"x": [1.0, 2.0]}}, {"rows": 2, "length": 1.0, "effects": {"x": 1.0}},
    {"sizes": {"x": [1.0, 2.0]}}, {"sizes": [1.0]}, {"columns": {"x": [1.0]}}, {"columns": {"x": [[1.0], ["a"]]}},
    {"moved": {"x*z": [1.0]}}, {"moved": [1]}, {"squares": {"x": 1.0}}, {"squares": {"x": -1.0}, "scaled": {}},
    {"squares": {"x": "a"}, "scaled": {}}, {"ranges": {"x": [2.0, 1.0]}}, {"ranges": {"x": [1.0]}},
])
def test_invalid_means_are_refused(fitted, tmp_path, means):
    m, _ = fitted
    path = tmp_path / "m"
    if "rows" not in means:
        means = {"rows": 2, "length": 1.0, "effects": {}, **means}
    path.write_bytes(to_bytes(replace(m._learned.model(), means=means), "m"))
    with pytest.raises(DataError, match=r"mean|effect|column"):
        read_model(str(path))


def test_a_model_of_text_or_crosses_has_no_effects(vwlite, tmp_path):
    (tmp_path / "d.vw").write_text("1 |f a\n-1 |f b\n" * 50)
    vwlite("train", tmp_path / "d.vw", "-m", tmp_path / "m")
    with pytest.raises(ValueError, match="it has no columns"):
        load_model(tmp_path / "m").effects()
    path = written(tmp_path / "d.csv", ["x", "z", "w", "y"], bent_rows(200))
    vwlite("train", path, "--label", "y", "-q", "x,w", "-m", tmp_path / "crossed")
    with pytest.raises(ValueError, match="it crosses columns"):
        load_model(tmp_path / "crossed").effects()
    vwlite("train", path, "--label", "y", "--ignore", "w", "-m", tmp_path / "ignored")
    with pytest.raises(ValueError, match="leaves columns out"):
        load_model(tmp_path / "ignored").effects()


def test_places_are_those_between_knots():
    knots = np.array([0.0, 1.0, 4.0])
    found = place_on(knots, np.array([-5.0, 0.0, 0.25, 1.0, 3.0, 4.0, 9.0, math.nan]))
    assert found.low.tolist() == [0, 0, 0, 1, 1, 2, 2, 3]
    assert found.behind.tolist() == [0, 0, 0.25, 0, 2 / 3, 0, 0, 0]


def test_pictures_of_effects():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    frame = frame_of()
    m = SparseClassifier(time=["at"]).fit(frame.drop(columns="y"), frame["y"])
    axes = m.plot_effects()
    shown = [ax for ax in np.ravel(axes) if ax.figure is not None]
    assert {ax.get_title() for ax in shown} >= {"x", "w", "x and w"}
    ax = pyplot.figure().add_subplot()
    m.plot_effects(ax, names=["x"])
    x, y = ax.lines[0].get_data()
    assert y == pytest.approx(m.effects_["x"].number(np.asarray(x))[:, 0] - m.effects_["x"].mean[0])
    with pytest.raises(ValueError, match="choose from"):
        m.plot_effects(ax, names=["nothing"])
    pyplot.close("all")


def test_pictures_of_numbers_without_a_curve_have_the_range_of_the_data_and_one_scale():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    frame = frame_of().drop(columns="at")
    for normalize in ("none", "log"):
        m = SparseClassifier(normalize=normalize, derive="none").fit(frame.drop(columns="y"), frame["z"] > 0.2)
        shown = [ax for ax in np.ravel(m.plot_effects()) if ax.get_title()]
        assert [ax.get_title() for ax in shown] == [e.name for e in m.effects_ if e.slope is None or e.slope.any()]
        scales = {ax.get_ylim() if ax.lines and ax.get_xlabel() else ax.get_xlim() for ax in shown}
        assert len(scales) == 1
        x, y = next(ax for ax in shown if ax.get_title() == "z").lines[0].get_data()
        assert [x[0], x[-1]] == pytest.approx(np.quantile(frame["z"], [0.01, 0.99]), rel=1e-5)
        assert y == pytest.approx(m.effects_["z"].number(x)[:, 0] - m.effects_["z"].mean[0])
        pyplot.close("all")


def test_bands_are_those_of_models_that_have_not_learned_a_fold():
    """They contain the effect, which is their mean, and are narrower with more rows; not of normalized rows."""
    widths = []
    for n in (600, 3000):
        frame = frame_of(n)
        m = SparseClassifier(time=["at"], derive="curves").fit(frame.drop(columns="y"), frame["y"])
        for effect in m.effects_:
            low, high = effect.band
            shown = effect.values[:, 0] - effect.mean[0]
            rounding = 0.01 * np.abs(shown) + 1e-3  # edges have three digits
            assert (low <= shown + rounding).all() and (shown <= high + rounding).all()
        low, high = m.effects_["x"].band
        widths.append(np.mean(high - low))
    assert widths[1] < widths[0]
    m = SparseClassifier(normalize="l2", derive="none", drop=["at"]).fit(frame.drop(columns="y"), frame["y"])
    assert m.effects_["w"].band is None


@pytest.mark.parametrize("options", [{"bits": 8, "derive": "none"}, {"bits": 10, "derive": "none"}, {"bits": 10}])
def test_words_that_share_an_index_have_its_weight(options):
    """Also an index of the intercept, or of a product: as in `predict`."""
    frame = frame_of()
    frame["many"] = (np.arange(len(frame)) * 7919 % 211).astype(str)
    m = SparseClassifier(time=["at"], categorical=["many"], **options).fit(frame.drop(columns="y"), frame["y"])
    rows = frame.drop(columns="y").head(300).assign(many=[f"new{i}" for i in range(300)])
    found = m.contributions(rows)
    assert m.base_value_ + found.sum(axis=1) == pytest.approx(m.decision_function(rows), abs=1e-9)


def test_a_frame_of_effects_has_a_row_for_each_place(fitted):
    m, _ = fitted
    found, lines = m.effects_.to_frame(), repr(m.effects_).splitlines()
    assert lines[0] == f"<{len(m.effects_)} effects, base {shown(m.base_value_)}"
    assert [line.split(":")[0].strip() for line in lines[1:]] == [effect.name for effect in m.effects_]
    assert [*found.columns[:3]] == ["effect", "kind", "at"] and found.columns[-1] == "score"
    for effect in m.effects_:
        rows = found[found["effect"] == effect.name]
        assert repr(effect).endswith(f", {shown(rows['score'].min())} to {shown(rows['score'].max())}")
        assert (effect.size is None) == ("on average" not in repr(effect))
        if len(effect.axes) == 1 and isinstance(effect.axes[0], NumberAxis):
            assert set(rows["kind"]) == {"line" if effect.slope is not None else "curve"}
            scores = effect.number(rows["at"].to_numpy(float))[:, 0] - effect.mean[0]
            assert rows["score"].to_numpy() == pytest.approx(scores, abs=1e-12)
        elif len(effect.axes) == 1:
            assert {*rows["at"]} >= {*effect.axes[0].levels, "other"} and set(rows["kind"]) == {"levels"}
        else:
            assert set(rows["kind"]) == {"grid"} and len(rows) == effect.values[..., 0].size


def test_a_frame_of_effects_of_texts_and_classes():
    frame = frame_of(60)
    frame["t"] = frame["w"] + " so"
    m = SparseClassifier(derive="none", text=["t"], names=True).fit(frame[["x", "t"]], frame["w"])
    found = m.effects_.to_frame()
    assert [*found.columns] == ["effect", "kind", "class", "at", "size", "score"]
    words = found[(found["kind"] == "words") & (found["class"] == m.effects_.classes[0])]
    assert dict(zip(words["at"], words["score"], strict=True)) == pytest.approx(
        {word: weight[0] for word, weight in m.effects_["t"].words.items()})
    assert "words, " in repr(m.effects_["t"]) and "of the classes" in repr(m.effects_)
