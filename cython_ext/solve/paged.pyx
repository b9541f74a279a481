"""Entries of rows or columns in temporary files, for data that are larger than memory.

They are written once, in chunks, and then mapped: rows or columns are read as if they were in
memory, in the same order, and so with the same bits. Each visit of a line is recorded (`visit` of rows.pxd); when more
entries than `most` were visited, all pages are returned to the system, which may still have them in its cache of the
disk.

The files are unlinked: no other process can change them, and they disappear with the process.
"""

import os
import tempfile

from libc.stdint cimport uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from vwlite.core.base.arrays cimport view_of

cdef enum:
    WRITTEN = 1 << 16   # bytes that are written at once: those of a window


cdef class Paged:
    """No entries yet. sizes: of one or two arrays, the bytes of an item. OSError: no temporary file can be made."""

    def __cinit__(self):
        memset(&self.paging, 0, sizeof(Paging))

    def __init__(self, *sizes):
        self.sizes = sizes
        self.files = [tempfile.TemporaryFile(prefix="vwlite-", buffering=0) for _ in sizes]
        self.paging.window = WRITTEN // max(sizes)

    def __dealloc__(self):
        free(self.paging.visited)

    cdef int write(self, int array, const void* items, size_t at, size_t n) except -1:
        """Put n items of an array into its file, the first of them as the at-th. OSError."""
        cdef size_t size = self.sizes[array]
        write_at(self.files[array], view_of(self, <void*>items, n * size, 1, "B"), at * size)
        return 0

    cdef int map(self, size_t n, size_t most) except -1:
        """Map n items of each array at paging.data; read-only, and valid while this lives. OSError; MemoryError."""
        import mmap     # few runs come here

        cdef const uint8_t[::1] view
        self.paging.windows = n // self.paging.window + 1
        self.paging.visited = <char*>calloc(self.paging.windows, 1)
        if self.paging.visited == NULL:
            raise MemoryError("no memory for the examples")
        self.paging.most, self.maps = most, []
        for k in range(len(self.sizes) if n else 0):
            self.maps.append(mmap.mmap(self.files[k].fileno(), n * self.sizes[k], prot=mmap.PROT_READ))
            view = self.maps[k]
            self.paging.data[<int>k], self.paging.bytes[<int>k] = <char*>&view[0], view.shape[0]
        for file in self.files:
            file.close()
        return 0


def write_at(file, data, size_t at):
    """Write bytes into a file, from a place on. OSError.

    Linux caches each write as one block of up to 2 MB, and maps all of that at the first page fault: so the writes
    are small, and the resident memory matches the count.
    """
    while data:
        written = os.pwrite(file.fileno(), data[: WRITTEN - at % WRITTEN], at)
        data, at = data[written:], at + written
