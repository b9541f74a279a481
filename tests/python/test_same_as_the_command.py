"""What an estimator learns from a matrix is, byte by byte, what `vwlite train` learns from its libsvm text."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse as sp
from algorithm_options import OPTIONS, UNSEEN_WEIGHS, usual_loss, words
from matrices import COLUMNS, ROWS, drawn
from running import GD
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from test_battery import FORMS, OF_VW, PAIRS

from vwlite import SparseClassifier, SparseRegressor, load_model
from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.table import ALGORITHMS
from vwlite.core.data.normalize import NORMALIZATIONS
from vwlite.core.learn.output import number_text
from vwlite.model import read_model


def written(path, x, y):
    dump_svmlight_file(x, y, str(path))
    return path


def estimator(loss, options):
    kind = SparseClassifier if LOSSES[loss].labels == "binary" or "oaa" in options else SparseRegressor
    return kind(loss=None if options.get("softmax") else loss, **options)


def check(vwlite, folder, x, y, loss, options):
    data = written(folder / "data.libsvm", x, y)
    typed = {"loss": loss} if not options.get("softmax") else {}
    typed |= {"link": links[0]} if (links := LOSSES[loss].links) and LOSSES[loss].labels != "binary" else {}
    vwlite("train", data, *words(typed | options), "-m", folder / "command.model", "--quiet")
    made = estimator(loss, options).fit(x, y)
    made.save(folder / "python.model")
    assert (folder / "python.model").read_bytes() == (folder / "command.model").read_bytes()
    # Predictions are those that the command prints; and the file predicts the same bits.
    printed = vwlite("predict", data, "-m", folder / "command.model", "--quiet", "-r", folder / "raw").out.split()
    loaded = load_model(folder / "command.model")
    text = data.read_bytes().splitlines()
    if "oaa" in options:
        assert list(map(str, made.predict(x))) == printed == list(loaded.predict_lines(text))
        return made
    raw = (folder / "raw").read_text().split()
    shown = made.decision_function(x) if isinstance(made, SparseClassifier) else loaded.decision_function(x)
    assert [*map(number_text, shown)] == raw
    assert [*map(number_text, loaded.predict(x))] == printed
    assert list(loaded.predict_lines(text)) == loaded.predict(x).tolist()
    if isinstance(made, SparseRegressor):
        assert made.predict(x).tolist() == loaded.predict(x).tolist()
    return made


@pytest.mark.third
@pytest.mark.parametrize(("algorithm", "loss"), PAIRS)
def test_every_algorithm_with_every_loss(vwlite, tmp_path, algorithm, loss):
    x, y = drawn(loss)
    options = {"algorithm": algorithm, "learning_rate": 0.05} | OPTIONS[algorithm]
    if ALGORITHMS[algorithm].rate != "learning_rate":
        del options["learning_rate"]
    made = check(vwlite, tmp_path, x, y, loss, options)
    linear = x @ np.ravel(made.coef_) + made.intercept_
    raw = load_model(tmp_path / "python.model").decision_function(x)
    assert linear == pytest.approx(raw, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("options", [{}, *({"normalize": n} for n in NORMALIZATIONS), {"quadratic": ["  "]},
                                     {"algorithm": "auto"}, {"algorithm": "auto", "quadratic": ["  "]}])
@pytest.mark.parametrize("classes", [2, 3])
def test_coefficients_give_the_score_or_are_refused(options, classes):
    """Tools such as SHAP know X @ coef_ + intercept_ only."""
    x = np.random.default_rng(4).normal(size=(200, 3))
    y = np.digitize(x[:, 0] * x[:, 1], [0, 0.5][: classes - 1])
    made = SparseClassifier(**{"algorithm": "gd"} | options).fit(x, y)
    is_linear = made.normalize_ == "none" and "quadratic" not in options
    assert hasattr(made, "coef_") == is_linear
    if is_linear:
        score = np.squeeze(x @ made.coef_.T + made.intercept_)
        assert made.decision_function(x) == pytest.approx(score, rel=1e-5, abs=1e-5)
    else:
        with pytest.raises(AttributeError, match=r"would not be the score: .*; weights_ has all weights"):
            made.coef_  # noqa: B018
    assert made.intercept_.shape == (classes if classes > 2 else 1,)


@pytest.mark.parametrize("form", [form for form in FORMS if form not in OF_VW])
def test_every_form(vwlite, tmp_path, form):
    algorithm, settings = FORMS[form]
    options = {"algorithm": algorithm} | OPTIONS[algorithm] | settings
    if options.get("nonzeros"):
        options = {name: value for name, value in options.items() if name not in ("l1", "radius")} | {"nonzeros": 5}
    loss = usual_loss(algorithm)
    if algorithm == "l1-subgradient":
        options["l1"] = 0.01
    made = check(vwlite, tmp_path, *drawn(loss, classes=options.get("oaa", 0)), loss, options)
    if "normalize" not in settings:
        assert made.coef_.shape == (options.get("oaa", 1), COLUMNS)


RUNS = {
    "passes with a holdout": {"passes": 4},
    "passes without one": {"passes": 3, "holdout_off": True, "decay_learning_rate": 0.5},
    "another period": {
        "passes": 9, "holdout_period": 3, "early_terminate": 1, "algorithm": "sgd", "learning_rate": 50.0,
    },
    "few bits": {"bits": 3},
    "hash all": {"hash": "all"},
    "no constant": {"no_constant": True},
    "products": {"quadratic": ["  "]},
    "a link": {"link": "logistic"},
    "ftrl until 4 weights": {"algorithm": "ftrl", "nonzeros": 4, "passes": 3},
}


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_every_option_of_a_run(vwlite, tmp_path, options):
    made = check(vwlite, tmp_path, *drawn(), "logistic", {"algorithm": "gd"} | options)
    assert made.n_iter_ <= options.get("passes", 1)
    if options.get("early_terminate"):
        assert made.n_iter_ < options["passes"]


@pytest.mark.parametrize("names", [["blue", "green", "red"], [0, 1, 2], [-1.0, 2.0, 3.0]])
@pytest.mark.parametrize("softmax", [False, True])
def test_classes_by_name(vwlite, tmp_path, names, softmax):
    x, y = drawn(classes=3)
    data = written(tmp_path / "data.libsvm", x, y)
    said = [f"{name:g}" if isinstance(name, float) else str(name) for name in names]
    text = [f"{said[int(line.split()[0]) - 1]} {line.partition(' ')[2]}" for line in data.read_text().splitlines()]
    data.write_text("\n".join(text) + "\n")
    options = {"softmax": True, "algorithm": "sgd"} if softmax else {"algorithm": "gd", "loss": "logistic"}
    vwlite("train", data, f"--classes={','.join(said)}", *words(options), "-m", tmp_path / "command.model", "--quiet")
    made = SparseClassifier(**options).fit(x, np.array(names)[y - 1])
    made.save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == (tmp_path / "command.model").read_bytes()
    assert made.classes_.tolist() == names
    loaded = load_model(tmp_path / "python.model")
    assert loaded.predict(x).tolist() == [said[names.index(label)] for label in made.predict(x)]
    shown = [f"{name}:{number_text(p)}" for name, p in zip(said, made.predict_proba(x)[7], strict=True)]
    line = vwlite("predict", data, "-m", tmp_path / "command.model", "--probabilities", "--quiet").out.splitlines()[7]
    assert line.split() == shown
    assert list(loaded.predict_lines(text, probabilities=True))[7] == dict(
        zip(said, made.predict_proba(x)[7], strict=True)
    )


def test_weights_of_rows_are_importances(vwlite, tmp_path):
    x, y = drawn()
    weight = np.round(np.random.default_rng(0).exponential(size=ROWS), 2)
    weight[3] = 0
    written(tmp_path / "data.libsvm", x, y)
    lines = (line.partition(" ") for line in (tmp_path / "data.libsvm").read_text().splitlines())
    text = [f"{label} {w} | {rest}" for w, (label, _, rest) in zip(weight, lines, strict=True)]
    (tmp_path / "data.vw").write_text("\n".join(text) + "\n")
    vwlite("train", *GD, tmp_path / "data.vw", "--loss", "logistic", "-m", tmp_path / "command.model", "--quiet")
    SparseClassifier(algorithm="gd").fit(x, y, sample_weight=weight).save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == (tmp_path / "command.model").read_bytes()


def test_labels_of_two_numbers_are_those_that_the_option_maps(vwlite, tmp_path):
    x, y = drawn()
    y = (y + 1) // 2
    data = written(tmp_path / "data.libsvm", x, y)
    vwlite("train", *GD, data, "--loss", "logistic", "--labels", "0,1", "-m", tmp_path / "command.model", "--quiet")
    made = SparseClassifier(algorithm="gd").fit(x, y)
    made.save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == (tmp_path / "command.model").read_bytes()
    assert made.classes_.tolist() == [0, 1]


ROUNDING = [("l1-subgradient", {"l1": 0.02, "round_at_end": 0.05})]


@pytest.mark.parametrize(("algorithm", "options"), [*OPTIONS.items(), *ROUNDING])
def test_partial_fit_is_what_continuing_learns(vwlite, tmp_path, algorithm, options):
    loss = usual_loss(algorithm)
    x, y = drawn()
    typed = words({"algorithm": algorithm, "loss": loss} | options)
    made, model = SparseClassifier(algorithm=algorithm, loss=loss, **options), tmp_path / "command.model"
    for i, part in enumerate(np.split(np.arange(ROWS), [30, 31, 80])):
        data = written(tmp_path / "part.libsvm", x[part], y[part])
        vwlite("train", data, *(typed if i == 0 else ["-i", model]), "-m", model, "--quiet")
        made.partial_fit(x[part], y[part], classes=[-1, 1])
        if i == 2:
            made.predict(x)
    made.save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == model.read_bytes()


def test_partial_fit_continues_after_the_best_of_several_passes(vwlite, tmp_path):
    x, y = drawn()
    options = {"passes": 9, "holdout_period": 3, "early_terminate": 1, "algorithm": "sgd", "learning_rate": 50.0}
    data, model = written(tmp_path / "data.libsvm", x, y), tmp_path / "command.model"
    vwlite("train", data, "--loss", "logistic", *words(options), "-m", model, "--quiet")
    vwlite("train", data, "-i", model, "-m", model, "--quiet")
    SparseClassifier(**options).fit(x, y).partial_fit(x, y).save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == model.read_bytes()


def test_a_model_of_the_command_is_continued(vwlite, tmp_path):
    for loss, classes in (("hinge", 0), ("logistic", 3), ("squared", 0)):
        x, y = drawn(loss, classes)
        data, model = written(tmp_path / "data.libsvm", x, y), tmp_path / "first.model"
        typed = ["--classes", "1,2,3"] if classes else []
        vwlite("train", data, "--algorithm", "ftrl", "--loss", loss, *typed, "-m", model, "--quiet")
        vwlite("train", data, "-i", model, "--passes", 3, "-m", tmp_path / "command.model", "--quiet")
        made = (SparseRegressor if loss == "squared" else SparseClassifier)(initial=str(model), passes=3).fit(x, y)
        made.save(tmp_path / "python.model")
        assert (tmp_path / "python.model").read_bytes() == (tmp_path / "command.model").read_bytes()
        made.partial_fit(x, y).save(tmp_path / "python.model")
        assert read_model(str(tmp_path / "python.model")).base == read_model(str(model)).digest
    with pytest.raises(ValueError, match="algorithm sgd contradicts the model"):
        SparseRegressor(initial=str(model), algorithm="sgd").fit(x, y)
    with pytest.raises(FileNotFoundError, match="none: No such file"):
        SparseRegressor(initial="none").fit(x, y)
    with pytest.raises(ValueError, match="cannot be used with initial, which has classes"):
        SparseClassifier(initial=str(model), oaa=3, classes="auto").fit(x, np.sign(y))


def test_new_classes_appear_where_the_options_allow_them(vwlite, tmp_path):
    x, y = drawn(classes=3)
    names = np.array(["?", "red", "blue", "green"])[y]
    order = np.argsort(names == "green", kind="stable")
    x, y, names = x[order], y[order], names[order]
    model = tmp_path / "command.model"
    made = SparseClassifier(algorithm="gd", oaa=4, classes="auto")
    for i, part in enumerate(np.split(np.arange(ROWS), [40])):
        data = written(tmp_path / "part.libsvm", x[part], y[part])
        lines = (line.partition(" ") for line in data.read_text().splitlines())
        text = [f"{name} {rest}\n" for name, (_, _, rest) in zip(names[part], lines, strict=True)]
        data.write_text("".join(text))
        typed = ["--loss", "logistic", "--oaa", 4, "--classes", "auto"] if i == 0 else ["-i", model]
        vwlite("train", *GD, data, *typed, "-m", model, "--quiet")
        made.partial_fit(x[part], names[part])
        assert made.classes_.tolist() == sorted({*names[: part[-1] + 1]})
    made.save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == model.read_bytes()
    assert made.decision_function(x).shape == (ROWS, 3)
    assert (made.classes_[made.decision_function(x).argmax(1)] == made.predict(x)).all()
    with pytest.raises(ValueError, match="exceeds oaa=4 classes"):
        made.partial_fit(x[:2], ["mauve", "pink"])
    made.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == model.read_bytes()


def test_a_file_of_columns_from_1_keeps_its_indices_if_it_is_read_so(vwlite, tmp_path):
    x, y = drawn()
    dump_svmlight_file(x, y, str(tmp_path / "data.libsvm"), zero_based=False)
    vwlite("train", *GD, tmp_path / "data.libsvm", "--loss", "logistic", "-m", tmp_path / "command.model", "--quiet")
    x, y = load_svmlight_file(str(tmp_path / "data.libsvm"), zero_based=True)
    SparseClassifier(algorithm="gd").fit(x, y).save(tmp_path / "p")
    assert (tmp_path / "p").read_bytes() == (tmp_path / "command.model").read_bytes()


def strided(x):
    wide = np.zeros((2 * x.shape[0], 3 * x.shape[1]))
    wide[::2, ::3] = x.toarray()
    return wide[::2, ::3]


def unsorted(x):
    columns, values = x.indices.copy(), x.data.copy()
    for begin, end in zip(x.indptr, x.indptr[1:], strict=False):
        columns[begin:end], values[begin:end] = x.indices[begin:end][::-1], x.data[begin:end][::-1]
    return sp.csr_matrix((values, columns, x.indptr), shape=x.shape)


def repeated(x):
    """Each value in two halves."""
    return sp.csr_matrix((np.repeat(x.data / 2, 2), np.repeat(x.indices, 2), 2 * x.indptr), shape=x.shape)


def with_zeros(x):
    full = sp.csr_matrix(np.ones(x.shape))
    full.data[:] = x.toarray().ravel()
    return full


def wide_indices(x):
    x = x.copy()
    x.indices, x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    return x


def read_only(x):
    x = x.copy()
    for array in (x.data, x.indices, x.indptr):
        array.flags.writeable = False
    return x


SHAPES = {
    "csc": sp.csc_matrix, "coo": sp.coo_matrix, "csr array": sp.csr_array, "lil": sp.lil_matrix,
    "dense": lambda x: x.toarray(), "Fortran": lambda x: np.asfortranarray(x.toarray()), "strided": strided,
    "backwards": lambda x: np.ascontiguousarray(x.toarray()[::-1, ::-1])[::-1, ::-1],
    "list": lambda x: x.toarray().tolist(), "unsorted": unsorted, "repeated": repeated, "explicit zeros": with_zeros,
    "int64 indices": wide_indices, "read-only": read_only, "big endian": lambda x: x.toarray().astype(">f8"),
    "float32": lambda x: x.astype(np.float32), "float32 dense": lambda x: x.toarray().astype(np.float32),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_matrix_is_the_same_in_every_shape(shape, tmp_path):
    x, y = drawn()
    rows_of = {"usual": x, "other": shape(x)}
    made_of = {name: SparseClassifier(algorithm="gd").fit(rows, y) for name, rows in rows_of.items()}
    for name, made in made_of.items():
        made.save(tmp_path / name)
    assert (tmp_path / "usual").read_bytes() == (tmp_path / "other").read_bytes()
    assert (made_of["usual"].decision_function(shape(x)) == made_of["usual"].decision_function(x)).all()


def test_unseen_features_have_the_weight_of_unseen_ones():
    for algorithm in UNSEEN_WEIGHS:
        x, y = drawn()
        x = sp.hstack([x, sp.csr_matrix((ROWS, 3))])
        made = SparseClassifier(algorithm=algorithm, radius=2.0, features=1000).fit(x, y)
        assert (made.coef_[0, -3:] == made.coef_[0, -1]).all()
        assert made.coef_[0, -1] > 0 or algorithm == "simplex"
