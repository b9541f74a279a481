"""The picture of the README: test log loss over nonzero weights on rcv1, for vwlite and others that learn with l1.

    make picture SETS=FOLDER      writes picture.png, and its numbers to picture.json, beside this file

Each program learns with several strengths of its l1 penalty (vwlite: numbers of weights). For each strength, the
learning rate and the number of passes are those with the least log loss on the last fifth of the training part, which
the program did not learn. Then it learns all of the training part and predicts the test part, once; these are the dots.
In this last part the programs take turns.

Seconds are processor time, of all threads, from reading the text to the end of training. The time in which Python
imports modules is not counted. Programs that are not installed are left out.
"""

import json
import os
import re
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from compare import log_loss
from harness import (
    HERE,
    VW,
    VWLITE,
    installed,
    made,
    options_of,
    pyplot,
    read_lines,
    report_of,
    run,
    save_picture,
    say,
    work_folder,
    write_records,
)

VW_CONSTANT = str(11650396 % 2**18)  # the index of its intercept
Outcome = tuple[int, np.ndarray, float]  # nonzero weights without the intercept, scores of the test part, seconds


# --- the programs ---------------------------------------------------------------------------------


def vwlite(train: Path, test: Path, options: str) -> Outcome:
    model, scores, report = (train.with_name(f"vwlite.{kind}") for kind in ("model", "scores", "json"))
    common = ["--quiet", "--report", report]
    typed = ["--loss", "logistic", "--algorithm", "ftrl", "--holdout-off", *options.split()]
    seconds = run(VWLITE, "train", train, *typed, "-m", model, *common).processor
    weights = report_of(report)["nonzero_weights"]
    run(VWLITE, "predict", test, "-m", model, "--link", "identity", "-p", scores, *common)
    return weights, np.loadtxt(scores), seconds


def vowpal_wabbit(train: Path, test: Path, options: str) -> Outcome:
    model, scores, readable = (train.with_name(f"vw.{kind}") for kind in ("model", "scores", "readable"))
    cache = ["-c", "-k", "--cache_file", train.with_name("vw.cache"), "--holdout_off"] if "--passes" in options else []
    typed = ["--loss_function", "logistic", "--quiet", *cache, *options.split()]
    seconds = run(*VW, "-d", train.with_suffix(".vw"), *typed, "-f", model).processor
    run(*VW, "-d", test.with_suffix(".vw"), "-t", "-i", model, "-p", scores, "--readable_model", readable, "--quiet")
    weights = re.findall(r"(?m)^(\d+):(\S+)", readable.read_text())
    return sum(key != VW_CONSTANT and float(w) != 0 for key, w in weights), np.loadtxt(scores), seconds


def in_python(name: str, learn: Callable[[Path, Path, dict[str, Any]], tuple[int, np.ndarray]]) -> Any:
    """A program that is a module of Python: it learns in a process of its own, which is this file."""

    def called(train: Path, test: Path, options: str) -> Outcome:
        result = train.with_name("result.npz")
        run(sys.executable, __file__, "--learn", name, train, test, result, options)
        with np.load(result) as found:
            return int(found["weights"]), found["scores"], float(found["seconds"])

    return called


def processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def sklearn_sgd(train: Path, test: Path, options: dict[str, Any]) -> Outcome:
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import SGDClassifier

    begin = processor_time()
    x, y = load_svmlight_file(str(train))
    x.indices, x.indptr = x.indices.astype("int32"), x.indptr.astype("int32")  # what fit asks for
    model = SGDClassifier(loss="log_loss", penalty="l1", random_state=1, **options).fit(x, y)
    seconds = processor_time() - begin
    x, _ = load_svmlight_file(str(test), n_features=x.shape[1])
    return np.count_nonzero(model.coef_), model.decision_function(x), seconds


def liblinear(train: Path, test: Path, options: dict[str, Any]) -> Outcome:
    from liblinear import liblinearutil
    from sklearn.datasets import load_svmlight_file

    begin = processor_time()
    x, y = load_svmlight_file(str(train))
    model = liblinearutil.train(y, x, f"-s 6 -c {options['C']} -B 1 -q")
    seconds = processor_time() - begin
    w, bias = model.get_decfun()
    w = np.array(w)
    x, _ = load_svmlight_file(str(test), n_features=len(w))
    return np.count_nonzero(w), x @ w + bias, seconds


def river(train: Path, test: Path, options: dict[str, Any]) -> Outcome:
    from river import linear_model, optim, stream

    begin = processor_time()
    model = linear_model.LogisticRegression(optim.SGD(options["rate"]), l1=options["l1"])
    for x, y in stream.iter_libsvm(str(train)):
        model.learn_one(x, y > 0)
    seconds = processor_time() - begin
    p = np.array([model.predict_proba_one(x)[True] for x, _ in stream.iter_libsvm(str(test))])
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return sum(w != 0 for w in model.weights.values()), np.log(p / (1 - p)), seconds


@dataclass(frozen=True)
class Program:
    """One that learns: how, with which strengths, and what is tried with each."""

    title: str
    package: str
    learn: Callable[[Path, Path, str], Outcome]
    strengths: tuple[str, ...]  # options
    tried: tuple[str, ...] = ("",)  # more options, of which the best are taken


def json_options(name: str, *values: float) -> tuple[str, ...]:
    return tuple(f'"{name}": {value:g}' for value in values)


IN_PYTHON = {"sklearn": sklearn_sgd, "liblinear": liblinear, "river": river}
PROGRAMS = (
    Program(
        "vwlite", "vwlite", vwlite, tuple(f"--nonzeros {n}" for n in (10, 30, 100, 300, 1000, 3000, 10000)),
        tuple(f"--ftrl-alpha {a} --ftrl-beta {b} --passes {n}" for a in (1, 3) for b in (0.1, 1) for n in (1, 5)),
    ),
    Program(
        "Vowpal Wabbit --l1", "vowpalwabbit", vowpal_wabbit,
        tuple(f"--l1 {l1}" for l1 in ("1e-5", "3e-5", "1e-4", "3e-4", "1e-3")),
        tuple(f"-l {rate}{passes}" for rate in (1, 3, 10) for passes in ("", " --passes 5")),
    ),
    Program(
        "scikit-learn SGD", "scikit-learn", in_python("sklearn", sklearn_sgd),
        json_options("alpha", 1e-6, 1e-5, 3e-5, 1e-4, 3e-4),
        ('"learning_rate": "optimal"', *(f'"learning_rate": "adaptive", "eta0": {eta}' for eta in (0.1, 1))),
    ),
    Program(
        "LIBLINEAR l1", "liblinear-official", in_python("liblinear", liblinear),
        json_options("C", 0.05, 0.15, 0.5, 1.5, 5),
    ),
    Program(
        "river", "river", in_python("river", river), json_options("l1", 1e-5, 1e-4, 1e-3),
        json_options("rate", 0.3, 3),
    ),
)


# --- measuring ------------------------------------------------------------------------------------


def is_installed(program: Program) -> bool:
    module = {"scikit-learn": "sklearn", "liblinear-official": "liblinear"}.get(program.package, program.package)
    return installed(module, *(["sklearn"] if module == "liblinear" else []))


def labels_of(path: Path) -> np.ndarray:
    with path.open() as lines:
        return np.array([float(line.split(None, 1)[0]) for line in lines])


def write_parts(train: Path, test: Path, folder: Path) -> dict[str, Path]:
    """The texts as libsvm and as VW text: all to train, four fifths to fit, the last fifth to validate, and to test."""
    texts = {"train": read_lines(train), "test": read_lines(test)}
    cut = len(texts["train"]) * 4 // 5
    texts |= {"fit": texts["train"][:cut], "valid": texts["train"][cut:]}
    parts = {name: folder / f"{name}.libsvm" for name in texts}
    for name, lines in texts.items():
        parts[name].write_text("".join(lines))
        parts[name].with_suffix(".vw").write_text("".join(line.replace(" ", " | ", 1) for line in lines))
    return parts


def tuned(program: Program, strength: str, parts: dict[str, Path]) -> str:
    """The options with the least log loss on the validation part."""
    python = program.package in ("scikit-learn", "liblinear-official", "river")
    typed = [(", " if python else " ").join(filter(None, (strength, more))) for more in program.tried]
    typed = [f"{{{options}}}" if python else options for options in typed]
    if len(typed) == 1:
        return typed[0]
    labels = labels_of(parts["valid"])
    return min(typed, key=lambda options: log_loss(program.learn(parts["fit"], parts["valid"], options)[1], labels))


def measure(train: Path, test: Path, programs: list[Program]) -> list[dict[str, Any]]:
    """A record for each dot."""
    with work_folder() as name:
        parts = write_parts(train, test, Path(name))
        labels = labels_of(parts["test"])
        chosen = {p.title: [tuned(p, strength, parts) for strength in p.strengths] for p in programs}
        dots = []
        for turn in range(max(len(p.strengths) for p in programs)):
            for p in programs:
                for options in chosen[p.title][turn : turn + 1]:
                    weights, scores, seconds = p.learn(parts["train"], parts["test"], options)
                    dot = {"program": p.title, "options": options, "nonzeros": weights}
                    dots.append({**dot, "loss": log_loss(scores, labels), "seconds": round(seconds, 3)})
                    say(str(dots[-1]))
        return dots


# --- the picture ----------------------------------------------------------------------------------

STYLES = {  # colour and marker
    "vwlite": ("#d62728", "o"),
    "LIBLINEAR l1": ("#9467bd", "D"),
    "scikit-learn SGD": ("#2ca02c", "^"),
    "river": ("#8c564b", "v"),
    "Vowpal Wabbit --l1": ("#1f77b4", "s"),
}


def seconds_of(times: list[float]) -> str:
    return f"{median(times):.1f} s" if median(times) < 10 else f"{median(times):.0f} s"


def draw(results: dict[str, Any], path: Path) -> None:
    """Fonts are large enough to be read where the picture is 400 pixels wide."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7.2, 5), layout="constrained")
    for title, (colour, marker) in STYLES.items():
        dots = sorted((d for d in results["dots"] if d["program"] == title), key=lambda d: d["nonzeros"])
        if not dots:
            continue
        ours = title == "vwlite"
        points = [[d[name] for d in dots] for name in ("nonzeros", "loss")]
        label = f"{title}, {seconds_of([d['seconds'] for d in dots])}"
        axes.plot(*points, color=colour, marker=marker, linewidth=5 * ours, markersize=8, label=label)
    legend = axes.legend(loc="upper right", frameon=False, fontsize=14, handlelength=1.2, borderaxespad=0)
    legend.get_texts()[0].set_weight("bold")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,g}"))
    axes.yaxis.set_major_locator(FixedLocator([0.15, 0.2, 0.3, 0.4, 0.5, 0.6]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(True, alpha=0.3)
    axes.tick_params(labelsize=13)
    axes.set_xlabel("nonzero weights", fontsize=14)
    axes.set_ylabel("test log loss", fontsize=14)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    save_picture(figure, path, 160)


def main() -> None:
    if sys.argv[1:2] == ["--learn"]:
        name, train, test, result, options = sys.argv[2:]
        weights, scores, seconds = IN_PYTHON[name](Path(train), Path(test), json.loads(options))
        np.savez(result, weights=weights, scores=scores, seconds=seconds)
        return
    parser = options_of(__doc__, data=True)
    parser.add_argument("--draw", action="store_true", help="only draw, from picture.json")
    parser.add_argument("--out", type=Path, default=HERE, help="where picture.json and picture.png go")
    typed = parser.parse_args()
    kept = typed.out / "picture.json"
    if not typed.draw:
        os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        programs = [p for p in PROGRAMS if is_installed(p)]
        dots = measure(typed.data / "rcv1.train.libsvm.gz", typed.data / "rcv1.test.libsvm.gz", programs)
        write_records(kept, {"made": made(*(p.package for p in programs)), "dots": dots}, depth=1)
    draw(json.loads(kept.read_text(encoding="utf-8")), typed.out / "picture.png")


if __name__ == "__main__":
    main()
