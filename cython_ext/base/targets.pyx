"""Which of the copies of targets.pxd this processor gets."""

cdef extern from *:
    """
    static const char *vwlite_target(void) {
    #if defined(VWLITE_CLONED)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("x86-64-v4"))
            return "x86-64-v4";
        return __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3" : "x86-64";
    #elif defined(__x86_64__) && !defined(VWLITE_PORTABLE)
        return "x86-64";
    #elif defined(__aarch64__) && !defined(VWLITE_PORTABLE)
        return "aarch64";
    #else
        return "portable";
    #endif
    }
    """
    const char* vwlite_target()


def instruction_set() -> str:
    """The instructions that the functions with copies use here: x86-64-v4 (with AVX-512), x86-64-v3 (AVX2), ..."""
    return vwlite_target().decode()
