"""The front of models by size and loss."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def front_of(items: Iterable[Item], key: Callable[[Item], tuple[float, ...]]) -> list[Item]:
    """Those with less loss than all that are as small, from the smallest on. key: the size, the loss, and what decides
    between equal ones."""
    found: list[Item] = []
    least = float("inf")
    for item in sorted(items, key=key):
        if key(item)[1] < least:
            found.append(item)
            least = key(item)[1]
    return found
