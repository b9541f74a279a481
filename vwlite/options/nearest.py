"""The valid name that is nearest to an invalid one. Imported only after an error."""

from collections.abc import Iterable
from difflib import get_close_matches

# Words of other programs for values of ours.
_VALUES = {
    "squared": "mse l2 ls mean-squared-error squared-error squared-loss least-squares regression",
    "logistic": "log logloss log-loss bce cross-entropy binary-crossentropy binary classification sigmoid",
    "hinge": "svm hinge-loss",
    "quantile": "mae l1 absolute absolute-error pinball",
    "libsvm": "svm svmlight liblinear",
    "jsonl": "json ndjson",
    "tsv": "csv",
    "python": "py",
    "sgd": "gradient-descent",
    "truncated-gradient": "tg",
    "identity": "none raw",
}


def near(word: str, names: Iterable[str]) -> list[str]:
    """The names that were probably meant by a word: those that begin with it, or the most alike; the best first."""
    names, word = list(names), word.lower().replace("_", "-")
    if word in names or not word:
        return [word] if word else []
    same = [name for name in names if word in _VALUES.get(name, "").split()]
    return same or get_close_matches(word, names, 1, 0.7) or [n for n in names if n.startswith(word)][:3]


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """A question, with a space before it; nothing if there is nothing alike."""
    found = near(word, names)
    return f" Did you mean {' or '.join(map(repr, found))}?" if found else ""
