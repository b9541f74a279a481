"""Which loss fits the labels of the data."""

from collections.abc import Mapping, Sequence
from typing import Any

from vwlite.algorithms.settings import Settings
from vwlite.algorithms.table import AUTO
from vwlite.errors import DataError
from vwlite.input.two_words import in_order, typed
from vwlite.output.text import label_text, printable
from vwlite.records import record

MOST = 101  # different labels that are looked at
FEW = 20  # whole numbers that may be classes, wherever they begin
WORDS = 2  # labels that are words, at most


def maps_labels(settings: Settings, typed: Mapping[str, Any]) -> bool:
    """Whether labels may be two words, or 0 and 1, which nobody named. typed: the settings that somebody chose."""
    is_open = settings.labels is None and settings.oaa is None and not settings.outputs.transform.name
    return settings.algorithm == AUTO.name and is_open and ("loss" not in typed or settings.loss == "logistic")


@record(frozen=True)
class LabelChoice:
    """A loss, and how labels are mapped for it.

    loss: "logistic" or "squared". labels: of the settings; None: they are used as they are. in_batches: the negative
    and the positive label as batches have them; None: any number. why: as the end of a sentence. note: advice, or "".
    note_on_counts: the same if they are learned as counts.
    """

    loss: str
    labels: tuple[float, float] | tuple[str, str] | None
    in_batches: tuple[float, float] | None
    why: str
    note: str = ""
    note_on_counts: str = ""


def choose(found: Sequence[float], words: Sequence[str]) -> LabelChoice:
    """The loss by the labels of the data. found: the different ones by size, at most MOST of them; words: if they are
    words, of which `found` has the numbers from 1. DataError for a single word."""
    if words:
        return _of_words(words)
    said = " and ".join(label_text(label) for label in found)
    are = f"as the labels are {said}" if len(found) > 1 else f"as every label is {said}"
    if set(found) <= {0.0, 1.0} and 0.0 in found:
        return LabelChoice("logistic", (0.0, 1.0), (0.0, 1.0), are)
    if set(found) <= {-1.0, 1.0}:
        return LabelChoice("logistic", None, (-1.0, 1.0), are)
    notes = (_about_whole(found, are_counts=are_counts) for are_counts in (False, True))
    return LabelChoice("squared", None, None, "as the labels are numbers", *notes)


def _about_whole(found: Sequence[float], *, are_counts: bool) -> str:
    """What whole numbers may be, if there are more than two; "" for others. are_counts: they are learned as counts."""
    if len(found) <= 2 or not all(label == int(label) for label in found):
        return ""
    from_0, meant = found[0] in (0.0, 1.0), list[str]()
    if len(found) < MOST and (from_0 or len(found) <= FEW):
        classes = f"--oaa {found[-1]:g}" if found[0] == 1 else f"--oaa {len(found)} --classes auto"
        meant.append(f"if they are classes, add {classes}")
    if from_0 and not are_counts:
        meant.append("if they are counts, add --loss poisson")
    number = f"{len(found)}" if len(found) < MOST else f"at least {MOST}"
    return f"there are {number} different labels, all whole numbers: {'; '.join(meant)}" if meant else ""


def _of_words(words: Sequence[str]) -> LabelChoice:
    if len(words) < WORDS:
        raise DataError(f"every label is {printable(words[0])}: learning needs two labels; --labels NEG,POS names both")
    negative, positive = in_order(words)
    why = f"predicts the probability of {printable(positive)}; {typed([positive, negative])} for the other"
    places = words.index(negative) + 1.0, words.index(positive) + 1.0
    return LabelChoice("logistic", (negative, positive), places, why)
