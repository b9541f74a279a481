"""The required memory, and the message when it is not available."""

# Of `vwlite solve` and `certify`, in bytes: upper bounds of what the solvers were measured to use.
FIXED = 1 << 20
EXAMPLE = 160  # its place, label and importance, predictions, derivatives, a dual point, two steps
COLUMN = 150  # its key, weights, gradient, place in the copy, what Newton's method knows of it
CLASS_EXAMPLE = 40  # for each class, if all have one problem
CLASS_COLUMN = 130
GRAM = 1500  # weights in the matrix of Newton's method

# What to say of an example that the expander cannot normalize.
TOO_LONG = (
    "the example has too many features with its interactions to normalize them, which needs all of them in memory: use "
    "fewer interactions, or --normalize none"
)


def table_needs(features: int = 0, where: str = "") -> str:
    """What to say when there is no memory for the weights; features: of the line that needs too much, else 0."""
    if not features:
        return "the weight table does not fit; try fewer --bits"
    return (
        f"{where or 'a line'} makes {features:,} features with its interactions, and their weights do not fit; "
        "try fewer --bits, or fewer interactions"
    )


def least_of_batch(examples: int, columns: int, *, classes: int, together: bool, gram: bool) -> int:
    """The bytes that a batch problem needs beside the entries of its rows and columns.

    classes: how many weights a feature has; together: in one problem. gram: whether Newton's method solves it.
    """
    found = FIXED + EXAMPLE * examples + COLUMN * columns
    if together:
        found += classes * (CLASS_EXAMPLE * examples + CLASS_COLUMN * columns)
    else:
        found += 24 * (classes - 1) * columns
    return found + (8 * min(columns, GRAM) ** 2 if gram else 0)
