"""What type checkers know of the package. tests/stubs.py renews the parameters of the estimators, from the options."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, Unpack

from vwlite.estimators.loaded import LoadedModel as LoadedModel
from vwlite.estimators.loaded import load_model as load_model

__version__: str


class _Parameters(TypedDict, total=False):
    # begin: parameters of both
    bits: int | None  # None
    hash: Literal['strings', 'all'] | None  # None
    no_constant: bool  # False
    quadratic: str | Sequence[str] | None  # None
    cubic: str | Sequence[str] | None  # None
    interactions: str | Sequence[str] | None  # None
    keep: str | Sequence[str] | None  # None
    ignore: str | Sequence[str] | None  # None
    ignore_linear: str | Sequence[str] | None  # None
    algorithm: Literal['gd', 'sgd', 'truncated-gradient', 'rounding', 'l1-subgradient', 'l1-ball', 'simplex', 'eg', 'eg-pm', 'adagrad', 'adagrad-rda', 'adagrad-ball', 'adagrad-full', 'pa', 'pa-i', 'pa-ii', 'arow', 'ftrl', 'smidas'] | None  # None
    loss: Literal['squared', 'logistic', 'hinge', 'squared-hinge', 'quantile', 'huber', 'poisson'] | None  # None
    quantile_tau: float | None  # None
    huber_delta: float | None  # None
    learning_rate: float | None  # None
    power_t: float | None  # None
    initial_t: float | None  # None
    decay_learning_rate: float | None  # None
    l1: float | None  # None
    l2: float | None  # None
    period: int | None  # None
    threshold: float | None  # None
    radius: float | None  # None
    delta: float | None  # None
    update: Literal['cmd', 'rda'] | None  # None
    root_every: int | None  # None
    round_at_end: float | None  # None
    pa_c: float | None  # None
    arow_r: float | None  # None
    ftrl_alpha: float | None  # None
    ftrl_beta: float | None  # None
    features: int | None  # None
    feature_weights: str | None  # None
    box: float | None  # None
    nonnegative: bool  # False
    average: bool  # False
    nonzeros: int | None  # None
    link: Literal['identity', 'logistic', 'glf1', 'poisson'] | None  # None
    passes: int  # 1
    holdout_period: int | None  # None
    holdout_off: bool  # False
    early_terminate: int | None  # None
    initial: str | None  # None
    names: bool | int | None  # None
    numeric: Sequence[str]  # ()
    categorical: Sequence[str]  # ()
    text: Sequence[str]  # ()
    drop: Sequence[str]  # ()
    ngram: int  # 1
    verbose: bool  # False
    # end


class _Estimator:
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    n_iter_: int
    report_: dict[str, Any]
    @property
    def coef_(self) -> Any: ...
    @property
    def intercept_(self) -> NDArray[np.float64]: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = ...) -> Self: ...
    def predict(self, X: Any) -> NDArray[Any]: ...
    def score(self, X: Any, y: Any, sample_weight: Any = ...) -> float: ...
    def sparsify(self) -> Self: ...
    def densify(self) -> Self: ...
    def get_feature_names_out(self, input_features: Any = ...) -> NDArray[Any]: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def save(
        self, path: str | PathLike[str], *, weights_only: bool = ..., names: Sequence[str] | NDArray[Any] | None = ...
    ) -> None: ...


class SparseClassifier(_Estimator):
    """What help(SparseClassifier) says."""

    def __init__(
        self,
        *,
        # begin: parameters of SparseClassifier
        class_weight: Mapping[Any, float] | Literal['balanced'] | None = None,
        oaa: int | None = None,
        classes: str | Sequence[str] | None = None,
        softmax: bool = False,
        # end
        **parameters: Unpack[_Parameters],
    ) -> None: ...
    classes_: NDArray[Any]
    def partial_fit(self, X: Any, y: Any, classes: Any = ..., sample_weight: Any = ...) -> Self: ...
    def decision_function(self, X: Any) -> NDArray[np.float64]: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]: ...


class SparseRegressor(_Estimator):
    """What help(SparseRegressor) says."""

    def __init__(
        self,
        **parameters: Unpack[_Parameters],
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = ...) -> Self: ...
