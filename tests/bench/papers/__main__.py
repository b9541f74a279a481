"""The figures of the papers that vwlite is made from, beside what the papers say of them.

    make papers SETS=FOLDER     all of them; writes PAPERS.md, papers.json and the pictures in figures/
    make papers-quick           tiny data: does it work? Its numbers say nothing

A figure whose public data are not in FOLDER is left out, with a line that says so; other data are drawn with a seed.
The verdicts are made by the program from the numbers, as the functions in the papers' files say. Whose a difference is,
`ours` (data, sizes or settings of these runs) or the `paper's`, is written by hand. Times are of the processor.
"""

import os
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from harness import HERE, document, in_order, installed, made, options_of, read_results, say, work_folder, write_records

from papers.data import Missing
from papers.differences import DIFFERENCES
from papers.figures import Figure, as_json, draw, from_json, summary, table_of

T = TypeVar("T")
# Module and function of each figure, by the name of its picture.
FIGURES = {
    "tg-1": "truncated_gradient:figure1",
    "tg-2": "truncated_gradient:figure2",
    "tg-3": "truncated_gradient:figure3",
    "ada-rcv1": "adagrad:table",
    "l1-4": "projections:figure4",
    "l1-5": "projections:figure5",
    "l1-6": "projections:figure6",
    "l1-7": "projections:figure7",
    "l1-8": "projections:figure8",
    "l1-9": "projections:figure9",
    "scd-reuters": "stochastic:text",
    "scd-arcene": "stochastic:spectra",
    "scd-magic04": "stochastic:telescope",
}
LONG = ("tg-1", "scd-magic04", "l1-9")  # begun first, so that none is left to run alone


@dataclass
class Setting:
    """The arguments of a figure's function."""

    data: Path  # the public data sets
    folder: Path  # an empty one, for its files
    quick: bool = False

    @property
    def few(self) -> int | None:
        """The number of examples to use; None: all."""
        return 300 if self.quick else None

    def some(self, of: Sequence[T]) -> list[T]:
        """All of a grid; of two or three when it has to be quick."""
        every = list(of)
        return every if not self.quick or len(every) < 3 else [every[0], every[len(every) // 2]]


def begun(name: str) -> int:
    """When a figure is begun: the long ones first."""
    return LONG.index(name) if name in LONG else len(LONG)


def make(name: str, data: Path, quick: bool) -> dict[str, Any]:
    """One figure, as it is kept: in a process of its own."""
    module, function = FIGURES[name].split(":")
    began = time.monotonic()
    with work_folder() as folder:
        try:
            figure: Figure = getattr(import_module(f"papers.{module}"), function)(Setting(data, Path(folder), quick))
        except Missing as e:
            say(f"{name}: left out, as there is no {e} in {data}")
            return {"missing": str(e)}
    seconds = time.monotonic() - began
    say(f"{name}: {seconds:.0f} s; " + ", ".join(f.verdict for f in figure.findings))
    return {**as_json(figure), "seconds": seconds}


def text_of(results: dict[str, Any]) -> str:
    kept = {name: found for name, found in results["figures"].items() if "missing" not in found}
    figures = {name: from_json(found) for name, found in kept.items()}
    parts = [
        "`make papers SETS=FOLDER` makes all of this anew, `make papers ONLY=NAME` one figure.",
        summary(figures),
    ]
    for name, figure in figures.items():
        findings = table_of(figure.findings, DIFFERENCES.get(name, {}))
        parts += [f'<a id="{name}"></a>\n## {figure.title}', figure.data, findings]
        if figure.panels:
            parts.append(f"![{figure.title}](figures/{name}.svg)")
        parts.append(f"`make papers ONLY={name}`, {kept[name]['seconds']:.0f} s; {kept[name]['made']}")
    for name, found in results["figures"].items():
        if "missing" in found:
            parts.append(f"{name} is left out: {found['missing']} is not there.")
    return document(__doc__, "The papers' figures", *parts)


def main() -> None:
    parser = options_of(__doc__, quick="tiny data: does it work?", data=True)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=list(FIGURES), help="these figures")
    parser.add_argument("--out", type=Path, default=HERE, help="where PAPERS.md and figures/ go")
    parser.add_argument("--draw", action="store_true", help="only make pictures and table anew, from papers.json")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="figures that are made at a time")
    typed = parser.parse_args()
    kept = typed.out / "papers.json"
    results = read_results(kept, {"figures": {}}, typed.only or typed.draw)
    names = [] if typed.draw else list(typed.only or FIGURES)
    typed.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with ProcessPoolExecutor(typed.jobs, max_tasks_per_child=None) as pool:
        running = {pool.submit(make, name, typed.data, typed.quick): name for name in sorted(names, key=begun)}
        for future in as_completed(running):
            results["figures"][running[future]] = {**future.result(), "made": made("vwlite", "numpy")}
            results["figures"] = in_order(results["figures"], FIGURES)
            write_records(kept, results, depth=2)  # a curve, or a finding
    pictures = typed.out / "figures"
    if not typed.only and not typed.draw and pictures.exists():
        shutil.rmtree(pictures)
    pictures.mkdir(exist_ok=True)
    drawn = {name: found for name, found in results["figures"].items() if typed.draw or name in names}
    if installed("matplotlib"):
        for name, found in drawn.items():
            if found.get("panels"):
                draw(from_json(found), pictures / f"{name}.svg")
    else:
        say("papers: no pictures, as matplotlib is not installed (pip install 'vwlite[bench]')")
    (typed.out / "PAPERS.md").write_text(text_of(results), encoding="utf-8")
    say(f"papers: {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
