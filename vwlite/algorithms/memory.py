"""The required memory, and the message when it is not available."""

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
