"""The digest of contents, BLAKE2b."""

try:  # hashlib has the same function, but loads OpenSSL for others: a twentieth of the start of a command
    from _blake2 import blake2b  # type: ignore[import-not-found]
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
