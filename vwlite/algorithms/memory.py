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


# Of `--algorithm auto`.
HEADER, FOLD, LINE = 8, 40, 64  # bytes of a record: without lanes, for each fold of a class, and its alignment
PLACE = 27  # of the place of a feature in the table of records
KEPT = 48  # of what is kept of the best pass
LOCATED = 80_000_000  # at most, if there is room: where the features of batches are


def lanes_need(features: int, folds: int, classes: int = 1, *, halved: bool = False) -> int:
    """The bytes of a learning-rate grid. halved: with half of the rates."""
    record = -(-(HEADER + classes * FOLD * folds // (1 + halved)) // LINE) * LINE
    return features * (record + PLACE + classes * KEPT)


def available_memory() -> int | None:
    """The bytes that this process can still get without swapping; None: not known."""
    import resource

    found = []
    try:
        with open("/proc/meminfo") as f:
            found += [int(line.split()[1]) << 10 for line in f if line.startswith("MemAvailable:")]
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            with open("/proc/self/statm") as f:
                found.append(limit - int(f.read().split()[0]) * resource.getpagesize())
        with open("/sys/fs/cgroup/memory.max") as most, open("/sys/fs/cgroup/memory.current") as now:
            found.append(int(most.read()) - int(now.read()))
    except (OSError, ValueError):
        pass  # not Linux, or no limit
    return max(min(found), 0) if found else None


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
