cdef object view_of(object owner, void* data, size_t items, size_t size, str code)
