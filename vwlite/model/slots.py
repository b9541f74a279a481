"""Arrays as memoryviews of numbers, and views of one field of the slots of a rule."""

import array
from typing import Any, TypeAlias

from vwlite.core.base.arrays import packed

CODES: dict[str, Any] = {"<u4": "I", "<i4": "i", "<f4": "f", "<f8": "d"}  # from NumPy's types to those of memoryviews
Array: TypeAlias = "memoryview[Any]"


def array_of(data: "bytes | bytearray | Array", code: Any) -> Array:
    """The bytes as numbers of that format. (An empty view cannot be cast.)"""
    return memoryview(data).cast(code) if len(data) else memoryview(array.array(code))


def copied(view: Array) -> Array:
    """The numbers of a view, one after the other."""
    return array_of(packed(view), view.format)
