"""Entries of rows or columns that lie in a file. See paged.pyx."""

cdef extern from *:
    """
    #include <stddef.h>
    #include <string.h>
    #include <sys/mman.h>

    struct vwlite_paging {
        char *data[2];              /* mapped; the second one may be NULL */
        size_t bytes[2];
        size_t window;              /* entries that are counted together: about those of one page fault */
        char *visited;              /* of each window: whether it was, since the pages were given back */
        size_t windows;
        size_t seen;                /* entries of those that were */
        size_t most;                /* with how many they are given back */
    };

    static inline void vwlite_give_back(struct vwlite_paging *p) {
        for (int k = 0; k < 2; k++)
            if (p->bytes[k])
                madvise(p->data[k], p->bytes[k], MADV_DONTNEED);
        memset(p->visited, 0, p->windows);
        p->seen = 0;
    }

    static inline void vwlite_visit(struct vwlite_paging *p, size_t begin, size_t end) {
        if (begin == end)
            return;
        size_t last = (end - 1) / p->window;
        for (size_t i = begin / p->window; i <= last; i++) {
            if (p->visited[i])
                continue;
            if (p->seen + p->window > p->most)
                vwlite_give_back(p);
            p->visited[i] = 1;
            p->seen += p->window;
        }
    }
    """
    ctypedef struct Paging "struct vwlite_paging":
        char* data[2]
        size_t bytes[2]
        size_t window
        char* visited
        size_t windows
        size_t most
    void visit_entries "vwlite_visit"(Paging* p, size_t begin, size_t end) noexcept nogil
    void give_back "vwlite_give_back"(Paging* p) noexcept nogil


cdef class Paged:
    cdef Paging paging
    cdef tuple sizes            # bytes of an item of each array
    cdef list files, maps       # one for each array

    cdef int write(self, int array, const void* items, size_t at, size_t n) except -1
    cdef int map(self, size_t n, size_t most) except -1
