"""Reading ahead: a thread that fills one buffer while another is in use."""

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import TypeVar

Buffer = TypeVar("Buffer")
Item = TypeVar("Item")


def read_ahead(fill: Callable[[Buffer], Item | None], buffers: Iterable[Buffer], name: str) -> Iterator[Item]:
    """What `fill` makes in a buffer that is free, until it gives None; another thread, of this name, calls it.

    Each item is valid until the next one. What is raised in the thread is raised here, in its place.
    """
    empty: SimpleQueue[Buffer | None] = SimpleQueue()
    full: SimpleQueue[tuple[Item, Buffer] | BaseException | None] = SimpleQueue()

    def run() -> None:
        try:
            while (buffer := empty.get()) is not None and (item := fill(buffer)) is not None:
                full.put((item, buffer))
            full.put(None)
        except BaseException as error:
            full.put(error)

    for buffer in buffers:
        empty.put(buffer)
    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        while (found := full.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            item, buffer = found
            yield item
            empty.put(buffer)
    finally:
        empty.put(None)
        thread.join()
