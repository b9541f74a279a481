"""Functions that the compiler builds several times, for different generations of processors.

`VWLITE_CLONES` before a C function: the loader selects the copy for the processor; without
it, a build for every x86-64 has vectors of 16 bytes only. All copies give the same bits: they
have the same source, and floating-point operations are never contracted (cython_ext/build.py). If
the toolchain does not support it, there is one copy.

`VWLITE_CLONES_V3` creates none with vectors of 64 bytes, which are not faster where roots and divisions dominate.
"""

cdef extern from *:
    """
    #include <stdint.h>  /* includes the header that identifies the C library */
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) \\
        && __GNUC__ >= 12 && !defined(__SANITIZE_ADDRESS__) && !defined(VWLITE_PORTABLE)
    #define VWLITE_CLONED
    #define VWLITE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
    #define VWLITE_CLONES_V3 __attribute__((target_clones("arch=x86-64-v3", "default")))
    #else
    #define VWLITE_CLONES
    #define VWLITE_CLONES_V3
    #endif
    """
