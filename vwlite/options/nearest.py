"""The valid name that is nearest to an invalid one. Imported only after an error."""

from collections.abc import Iterable

PER_EDIT = 4  # characters of a word in which one may be wrong

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
    """The names that were probably meant by a word: those with the fewest wrong characters, if these are few, or those
    that begin with it."""
    names, word = list(names), word.lower().replace("_", "-")
    if word in names or not word:
        return [word] if word else []
    same = [name for name in names if word in _VALUES.get(name, "").split()]
    letters = word.lstrip("-")
    if not same and len(letters) > 2:
        away = {name: edits(letters, name.lstrip("-")) for name in names}
        best = min(away, key=away.__getitem__, default="")
        same = [best] if best and away[best] <= max(1, len(letters) // PER_EDIT) else []
    return same or [n for n in names if n.startswith(word)][:3]


def edits(a: str, b: str) -> int:
    """The least number of insertions, deletions, replacements and swaps of neighbours that make b of a."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(row[-1] + 1, last[j] + 1, last[j - 1] + (x != y)))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                row[j] = min(row[j], before[j - 2] + 1)
        before, last = last, row
    return last[-1]


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """A question, with a space before it; "" if no name is similar."""
    found = near(word, names)
    return f" Did you mean {' or '.join(map(repr, found))}?" if found else ""
