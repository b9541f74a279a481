"""scikit-learn's own checks of estimators: each passes, or is listed here with the reason."""

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import vwlite


class OfMatrices:
    """The checks are of matrices, which are numbers: those of estimators that take categories and missing values make
    matrices of NaN and of numbers that stand for categories, which only frames have."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.allow_nan = False
        return tags


class SparseClassifier(OfMatrices, vwlite.SparseClassifier):
    pass


class SparseRegressor(OfMatrices, vwlite.SparseRegressor):
    pass


ESTIMATORS = [
    SparseClassifier(), SparseRegressor(), SparseClassifier(algorithm="adagrad"),
    SparseClassifier(algorithm="gd"), SparseRegressor(algorithm="gd"),
    SparseClassifier(algorithm="ftrl", loss="hinge", l1=0.01, passes=3),
    SparseClassifier(softmax=True, radius=1.0), SparseRegressor(algorithm="adagrad", loss="huber", average=True),
]
_WEIGHTS = (
    "an online learner takes one step from an example of weight 2, and two steps from two examples: as the command "
    "does with an importance, so that the same data give the same model"
)
REASONS = {
    "check_sample_weight_equivalence_on_dense_data": _WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": _WEIGHTS,
}
_ADAGRAD = {
    "check_class_weight_classifiers": "AdaGrad takes steps of one size for each column, whatever the scale of its "
    "values: where these have a deviation of 20, an intercept does not outweigh them in one pass, nor in twenty"
}


def failing(estimator):
    return REASONS | (_ADAGRAD if estimator.algorithm == "adagrad" else {})


@pytest.mark.third
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=failing)
def test_check(estimator, check):
    check(estimator)


def test_every_reason_is_that_of_a_check():
    names = {check.func.__name__ for estimator in ESTIMATORS for _, check in estimator_checks_generator(estimator)}
    assert {*REASONS, *_ADAGRAD} < names
    assert len(names) > 40
