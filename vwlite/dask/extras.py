"""The packages that are no part of vwlite: a sentence for each that is not there."""

from types import ModuleType

from vwlite.errors import UsageError

# Which package has the file system of a protocol, where it is not the one that fsspec names.
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hdfs": "pyarrow", "abfs": "adlfs",
             "az": "adlfs", "http": "aiohttp", "https": "aiohttp"}  # fmt: skip


def distributed() -> ModuleType:
    """dask.distributed. UsageError if it is not there."""
    try:
        import distributed as found
    except ImportError as e:
        raise _missing(e) from e
    module: ModuleType = found
    return module


def fsspec() -> ModuleType:
    """UsageError if it is not there."""
    try:
        import fsspec as found
    except ImportError as e:
        raise _missing(e) from e
    module: ModuleType = found
    return module


def _missing(e: ImportError) -> UsageError:
    return UsageError(f"vwlite dask needs packages that are not there ({e}): pip install 'vwlite[dask]'")


def unknown_protocol(url: str, e: Exception) -> UsageError:
    """What to say of a URL whose file system cannot be loaded."""
    protocol = url.partition("://")[0]
    if isinstance(e, ValueError):
        return UsageError(f"{url}: {e}")
    return UsageError(f"{url}: {protocol}:// needs another package: pip install {_PACKAGES.get(protocol, protocol)}")
