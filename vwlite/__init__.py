"""Sparse online linear learning from text streams."""

__version__ = "0.3.0"

__all__ = ["LoadedModel", "SparseClassifier", "SparseRegressor", "__version__", "evaluate", "load_model", "report"]

_PLACES = {
    "SparseClassifier": "sparse", "SparseRegressor": "sparse", "load_model": "loaded", "LoadedModel": "loaded",
    "evaluate": "evaluation", "report": "evaluation",
}


def __getattr__(name: str) -> object:
    """Import a public name on its first use, so that the commands start without it."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    try:
        module = import_module(f"vwlite.estimators.{_PLACES[name]}")
    except ModuleNotFoundError as e:
        if (e.name or "").split(".")[0] != "sklearn":
            raise
        raise ImportError(f"{name} needs scikit-learn: pip install 'vwlite[sklearn]'") from None
    return getattr(module, name)


def __dir__() -> list[str]:
    """The names of the module, also those that are not imported yet."""
    return sorted({*globals(), *__all__})
