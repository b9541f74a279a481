"""The part of a page about the runs that continued a model: `vwlite help nights`."""

from collections.abc import Sequence

from vwlite.evaluation.page.charts import Axis, Series, chart
from vwlite.evaluation.page.markup import Markup, columns, paragraph, section
from vwlite.model.nights import Night
from vwlite.output.text import shown

FEWEST = 3  # runs that make a picture
TITLE = "Runs that continued the model"


def of_nights(nights: Sequence[Night], name: str = "") -> Markup:
    """The loss of each run's new rows, and what it let the kept rows count; nothing for fewer than FEWEST runs. name:
    of the model, beside others."""
    numbers = range(1 - len(nights), 1)
    points = [(k, night.loss, night.error or 0.0) for k, night in zip(numbers, nights, strict=True)
              if night.loss is not None]
    if len(points) < FEWEST:
        return Markup()
    at, losses = [k for k, _, _ in points], [loss for _, loss, _ in points]
    bounds = [(loss - error, loss + error) for _, loss, error in points]
    x = Axis("run, 0: the last one", [float(numbers[0]), 0.0], exact=True)
    parts = [chart(
        "Average loss of new rows", "The average loss of the new rows of each run, before they were learned",
        [Series("average loss", at, losses, bounds, points=True)], x,
        Axis("average loss, with its standard error", [edge for bound in bounds for edge in bound]),
    )]
    if any(night.past < 1 for night in nights):
        parts.append(chart(
            "What kept rows count", "The factor by which each run multiplied the importances of kept rows",
            [Series("past", [*numbers], [night.past for night in nights], points=True)], x,
            Axis("factor of kept rows", [0.0, 1.0]),
        ))
    last, before = nights[-1], nights[-2].loss
    said = f"The last run: {last}." + ("" if before is None else f" The run before: loss {shown(before)}.")
    about = ("Each run predicted its new rows with the model of the run before, and then learned them. The loss of the "
             "first run is of rows that were not learned.")
    return section(f"{TITLE}: {name}" if name else TITLE, paragraph(about), paragraph(said), columns(parts))
