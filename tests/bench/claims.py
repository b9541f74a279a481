"""What papers claim of small models, measured: equal numbers of weights, --nonzeros, the objective after more passes.

    make compare            runs this after compare.py; writes claims.json beside this file

The data sets and their parts are those of compare.py. In the first two tables each setting learns the part that is to
fit; of those with at most N nonzero weights the one with the best AUC on the validation part is taken, and its model
predicts the test part. Strengths are found by halving, for every learning rate: the weakest with at most N
weights. The part to fit has a multiple of 100 examples, so that what shrinks or rounds at times does so at the end.

In the third table a setting is evaluated by its objective, on the whole training part: the mean log loss and l1 times
the sum of |weights|, the constant left out. Every cell has the learning rate that was best for it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from compare import (
    FALLING,
    GRIDS,
    QUICK_SETS,
    SETS,
    Data,
    Grid,
    Parts,
    Refused,
    Schedule,
    Setting,
    auc,
    learned,
    log_loss,
    made,
    options_with_sets,
    prepare,
    quick_data,
    schedules,
    small,
    vwlite,
)
from harness import best_in_bold, in_order, read_results, say, table, work_folder, write_records

from vwlite.core.data.expand import CONSTANT_HASH

LIMITS = (10, 100, 1000)  # nonzero weights; those of at most half the features
PASSES = (1, 5, 20)
OBJECTIVE_L1 = (1e-3, 1e-2)


def steps(first: float, last: float) -> tuple[float, ...]:
    """Strengths from the weakest to the strongest, five to a factor of ten."""
    return tuple(np.geomspace(first, last, round(5 * abs(np.log10(last / first))) + 1).tolist())


@dataclass(frozen=True)
class Kind:
    """A way to a small model: what is typed for a strength, {} in its place."""

    algorithm: str
    strengths: tuple[float, ...]  # the weakest first
    typed: tuple[str, ...]  # each is tried
    grid: Grid

    @staticmethod
    def of(algorithm: str, first: float, last: float, *typed: str, **changed: Any) -> "Kind":
        return Kind(algorithm, steps(first, last), typed, replace(GRIDS[algorithm], **changed))


# The algorithms of figure 2 in the paper on truncated gradient, which has K = 10; rounding may take its time.
PAPER = {
    "`truncated-gradient`": Kind.of("truncated-gradient", 1e-7, 10, "--period 10 --l1 {}"),
    "`--threshold` = `--l1`": Kind.of("truncated-gradient", 1e-4, 100, "--period 10 --l1 {0} --threshold {0}"),
    "`rounding`": Kind.of("rounding", 1e-5, 100, *(f"--period {k} --threshold {{}}" for k in (10, 100))),
    "`l1-subgradient`": Kind.of(
        "l1-subgradient", 1e-5, 100, *(f"--l1 {l1} --round-at-end {{}}" for l1 in ("1e-5", "1e-4", "1e-3"))
    ),
}
LIMITED = {
    "truncated-gradient": Kind.of("truncated-gradient", 1e-7, 10, "--l1 {}"),
    "l1-ball": Kind.of("l1-ball", 1e5, 1e-3, "--radius {}"),
    "adagrad": Kind.of("adagrad", 1e-7, 10, "--l1 {}"),
    "adagrad-rda": Kind.of("adagrad-rda", 1e-7, 10, "--l1 {}"),
    "ftrl": Kind.of("ftrl", 1e-3, 1e4, "--l1 {}", beside=(("--ftrl-beta", "0.1"),)),
}
DENSE = {"spambase": 1.0, "mnist": 0.2, "magic04d": 1.0}  # and how much of the training part is learned
MIRROR = {
    "truncated-gradient": Grid("-l", (*FALLING, 30), relative=True),
    "smidas": Grid("-l", (1, 3, 10, 30, 100), relative=True, needs_count=True),
}


# --- equal numbers of weights -----------------------------------------------------------------------


def ranked(parts: Parts, algorithm: str, setting: Setting, folder: Path) -> Setting | None:
    """The setting with what it is worth on the validation part: its loss is 1 - AUC. None if it cannot be learned."""
    try:
        results, scores = learned(parts, algorithm, setting, "fit", "valid", folder)
    except Refused:
        return None
    setting.loss = 1 - auc(scores, parts.labels["valid"])
    setting.nonzeros = results["nonzero_weights"]
    return setting


def at_most(
    parts: Parts, kind: Kind, typed: str, schedule: Schedule, limits: Iterable[int], folder: Path
) -> dict[int, Setting]:
    """For each limit the weakest strength whose model has no more nonzero weights; counts fall with strength."""
    seen: dict[int, Setting | None] = {}
    rate, words = schedule

    def run(i: int) -> Setting | None:
        if i not in seen:
            options = [*words, *typed.format(f"{kind.strengths[i]:.3g}").split()]
            seen[i] = ranked(parts, kind.algorithm, Setting(rate, None, options), folder)
        return seen[i]

    found = {}
    for limit in limits:
        low, high = -1, len(kind.strengths) - 1  # too weak; strong enough, if any is
        while high - low > 1:
            middle = (low + high) // 2
            setting = run(middle)
            low, high = (low, middle) if setting and setting.nonzeros <= limit else (middle, high)
        last = run(high)
        if last and last.nonzeros <= limit:
            found[limit] = last
    return found


def tested(parts: Parts, algorithm: str, tried: list[Setting], folder: Path) -> dict[str, Any]:
    """The best on the validation part, as it is on the test part."""
    best = min(tried, key=lambda s: s.loss)
    _, scores = learned(parts, algorithm, best, "fit", "test", folder)
    return {"auc": auc(scores, parts.labels["test"]), "nonzeros": best.nonzeros, "options": " ".join(best.options)}


def tuned(parts: Parts, kind: Kind, limits: list[int], folder: Path) -> dict[str, Any]:
    """The best of the settings with at most N weights, for each limit N."""
    every = [
        at_most(parts, kind, typed, schedule, limits, folder)
        for typed in kind.typed
        for schedule in schedules(kind.grid, parts.data)
    ]
    tried = {limit: [found[limit] for found in every if limit in found] for limit in limits}
    return {str(n): tested(parts, kind.algorithm, settings, folder) for n, settings in tried.items() if settings}


def limited(parts: Parts, kind: Kind, limits: list[int], folder: Path) -> dict[str, Any]:
    """The same with --nonzeros in place of a strength."""
    cells = {}
    for n in limits:
        settings = [
            Setting(rate, None, [*words, "--nonzeros", str(n)]) for rate, words in schedules(kind.grid, parts.data)
        ]
        found = [setting for setting in settings if ranked(parts, kind.algorithm, setting, folder)]
        if found:
            cells[str(n)] = tested(parts, kind.algorithm, found, folder)
    return cells


# --- the objective ----------------------------------------------------------------------------------


def objective(parts: Parts, algorithm: str, words: Iterable[str], l1: float, passes: int, folder: Path) -> float:
    """The mean log loss of the training part and l1 ||w||_1, after `passes` passes."""
    model, raw = folder / "model", folder / "predictions.txt"
    typed = [parts.files["train"], "--algorithm", algorithm, "--loss", "logistic", *words, "--l1", l1]
    typed += ["--passes", passes, *(["--holdout-off"] if passes > 1 else [])]
    vwlite(folder, "train", *typed, "--cache-file", folder / f"{parts.data.name}.cache", "-m", model)
    vwlite(folder, "predict", parts.files["train"], "-m", model, "--link", "identity", "-p", raw)
    with np.load(model) as arrays:
        weights = arrays["weights"][arrays["keys"] != CONSTANT_HASH]
    return log_loss(np.fromfile(raw, sep=" "), parts.labels["train"]) + l1 * float(np.abs(weights).sum())


def minimised(parts: Parts, grids: dict[str, Grid], passes: Iterable[int], folder: Path) -> dict[str, Any]:
    """The least objective of each algorithm, for every l1 and number of passes."""
    found: dict[str, Any] = {}
    for l1 in OBJECTIVE_L1:
        for algorithm, grid in grids.items():
            fixed = ["--features", str(parts.features)] if grid.needs_count else []
            cells = found.setdefault(f"{l1:g}", {})[algorithm] = {}
            for n in passes:
                tried = []
                for _, words in schedules(grid, parts.data):
                    try:
                        tried.append((objective(parts, algorithm, [*words, *fixed], l1, n, folder), " ".join(words)))
                    except Refused:
                        continue
                cells[str(n)] = dict(zip(("objective", "options"), min(tried), strict=True))
    return found


def in_two(parts: Parts, share: float) -> Parts:
    """The first part of the training part; of classes those in the upper half against the others."""
    path = parts.files["train"]
    lines = path.read_text(encoding="utf-8").splitlines()[: round(share * len(parts.labels["train"]))]
    labels = parts.labels["train"][: len(lines)]
    if parts.data.classes:
        labels = np.where(labels > parts.data.classes / 2, 1.0, -1.0)
        lines = [f"{y:g} {line.split(None, 1)[1]}" for y, line in zip(labels, lines, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return replace(parts, data=replace(parts.data, classes=0), labels={"train": labels})


# --- what comes out ---------------------------------------------------------------------------------


def counts_table(sets: dict[str, Any]) -> str:
    """AUC at equal numbers of weights, the best in bold."""
    lines = []
    for name, found in sets.items():
        for n in found["limits"]:
            cells = [found["paper"][kind].get(str(n)) for kind in PAPER]
            best = max((f"{cell['auc']:.4f}" for cell in cells if cell), default="")
            shown = [f"{cell['auc']:.4f}" if cell else "-" for cell in cells]
            lines.append([name, f"{n:,}", *best_in_bold(shown, best)])
    return table(["", "weights", *PAPER], lines, "lr")


def pairs(sets: dict[str, Any]) -> list[tuple[float, float]]:
    """AUC with --nonzeros, and with a tuned strength, wherever both can be."""
    return [
        (cell["auc"], other["auc"])
        for found in sets.values()
        for algorithm in LIMITED
        for n, cell in found["nonzeros"][algorithm].items()
        if (other := found["tuned"][algorithm].get(n))
    ]


def limits_table(sets: dict[str, Any]) -> str:
    """AUC with --nonzeros and with a tuned strength, the better in bold."""
    lines = []
    for name, found in sets.items():
        for n in found["limits"]:
            line = [name, f"{n:,}"]
            for algorithm in LIMITED:
                cells = [found[way][algorithm].get(str(n)) for way in ("nonzeros", "tuned")]
                texts = [f"{cell['auc']:.4f}" if cell else "-" for cell in cells]
                better = max(texts) if texts[0] != texts[1] else ""
                line.append(", ".join(best_in_bold(texts, better)))
            lines.append(line)
    return table(["", "N", *(f"`{a}`" for a in LIMITED)], lines, "lr")


def objective_table(sets: dict[str, Any]) -> str:
    """The objective of truncated gradient and of SMIDAS, the less in bold."""
    passes = sorted({n for found in sets.values() for cells in found.values() for n in cells["smidas"]}, key=int)
    titles = [f"{n} {'pass' if n == '1' else 'passes'}" for n in passes]
    lines = []
    for name, found in sets.items():
        for l1, cells in found.items():
            line = [name, l1]
            for n in passes:
                texts = [f"{cells[algorithm][n]['objective']:.4f}" for algorithm in MIRROR]
                less = min(texts) if texts[0] != texts[1] else ""
                line.append(", ".join(best_in_bold(texts, less)))
            lines.append(line)
    return table(["", "`--l1`", *titles], lines, "llr")


def document(results: dict[str, Any]) -> str:
    """The tables for RESULTS.md, from what claims.json holds."""
    better = [a - b for a, b in pairs(results["counts"])]
    won, lost = sum(d > 0 for d in better), sum(d < 0 for d in better)
    return "\n\n".join(
        (
            "Test AUC of the best model with at most so many nonzero weights:",
            counts_table(results["counts"]),
            "Test AUC with `--nonzeros N`, and with the best strength that leaves at most N weights: `--nonzeros` "
            f"is ahead in {won} of {len(better)}, behind in {lost}; the median is {median(better or [0]):+.4f}.",
            limits_table(results["counts"]),
            "Mean log loss + l1 ||w||_1 on the training part, `truncated-gradient`, `smidas`:",
            objective_table(results["objective"]),
            results["made"],
        )
    )


def at_equal_counts(data: Data, source: Path, folder: Path, quick: bool) -> dict[str, Any]:
    """The first two tables for a data set."""
    parts = prepare(data, source, folder)
    lines = parts.files["fit"].read_text(encoding="utf-8").splitlines(keepends=True)
    parts.files["fit"].write_text("".join(lines[: len(lines) // 100 * 100]), encoding="utf-8")
    kinds = PAPER | LIMITED
    if quick:
        kinds = {a: replace(kind, strengths=kind.strengths[::10], grid=small(kind.grid)) for a, kind in kinds.items()}
    limits = [n for n in LIMITS[: 1 if quick else None] if n <= parts.features / 2]
    found: dict[str, Any] = {"limits": limits}
    for way, names in (("paper", PAPER), ("tuned", LIMITED)):
        found[way] = {name: tuned(parts, kinds[name], limits, folder) for name in names}
    found["nonzeros"] = {name: limited(parts, kinds[name], limits, folder) for name in LIMITED}
    return found


def main() -> None:
    typed = options_with_sets(__doc__, "claims.json").parse_args()
    kept = typed.out / "claims.json"
    results = read_results(kept, {"counts": {}, "objective": {}}, typed.only)
    all_sets = QUICK_SETS[1:] if typed.quick else SETS
    dense = {"tumours": 1.0, "digits": 0.2} if typed.quick else DENSE
    grids = {name: small(grid) for name, grid in MIRROR.items()} if typed.quick else MIRROR
    with work_folder() as name:
        folder = Path(name)
        source = quick_data(folder) if typed.quick else typed.data
        for data in all_sets:
            if typed.only not in (None, data.name):
                continue
            if not data.classes and not data.only:
                results["counts"][data.name] = at_equal_counts(data, source, folder, typed.quick)
                say(f"{data.name}: {results['counts'][data.name]}")
            if data.name in dense:
                parts = in_two(prepare(data, source, folder), dense[data.name])
                results["objective"][data.name] = minimised(parts, grids, PASSES[: 2 if typed.quick else None], folder)
                say(f"{data.name}: {results['objective'][data.name]}")
            for path in folder.glob(f"{data.name}.*"):
                path.unlink()
            for kind in ("counts", "objective"):
                results[kind] = in_order(results[kind], [d.name for d in all_sets])
            results["made"] = made()
            write_records(kept, results, depth=2)  # a row of a table
    print(document(results))


if __name__ == "__main__":
    main()
