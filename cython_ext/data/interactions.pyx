"""Expansion of interaction patterns, in Vowpal Wabbit's order and with its rules."""

from itertools import product

WILDCARD = ord(":")


def concrete(patterns, letters, bint leave_duplicates=False) -> list[bytes]:
    """The interactions that match `patterns` when the namespaces `letters` have occurred.

    A pattern is one letter per namespace, `:` for any that has occurred (and is printable). A
    pattern that starts with a repeated wildcard, such as `::`, gives each combination once.
    Interactions are sorted by length and bytes; the same set of letters counts once, unless `leave_duplicates`.
    """
    present = sorted(c for c in letters if 32 <= c <= 126)
    found = []
    for pattern in patterns:
        if WILDCARD not in pattern:
            found.append(settled(pattern))
            continue
        choices = [present if c == WILDCARD else [c] for c in pattern]
        for letters_of in product(*choices):
            wild = [c for c, p in zip(letters_of, pattern, strict=True) if p == WILDCARD]
            if leave_duplicates or wild == sorted(wild, reverse=len(wild) > 2):
                found.append(settled(bytes(letters_of)))
    if leave_duplicates:
        return sorted(found, key=lambda t: (len(t), t))
    unique = {bytes(sorted(term)): term for term in sorted(found, key=lambda t: (len(t), t), reverse=True)}
    return sorted(unique.values(), key=lambda t: (len(t), t))


cdef bytes settled(bytes term):
    """Letters in the order in which they are hashed: sorted if some repeat and some do not."""
    mixed = 1 < len(set(term)) < len(term)
    return bytes(sorted(term)) if mixed else term
