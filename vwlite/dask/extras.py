"""Optional packages: an error message for each that is missing."""

from importlib import import_module
from types import ModuleType

from vwlite.errors import UsageError

# Which package has the file system of a protocol, where it is not the one that fsspec names.
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hdfs": "pyarrow", "abfs": "adlfs",
             "az": "adlfs", "http": "aiohttp", "https": "aiohttp"}


def distributed() -> ModuleType:
    """dask.distributed. UsageError if it is not there."""
    return _imported("distributed")


def fsspec() -> ModuleType:
    """UsageError if it is not there."""
    return _imported("fsspec")


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as e:
        raise UsageError(f"vwlite dask needs packages that are not installed ({e}): pip install 'vwlite[dask]'") from e


def unknown_protocol(url: str, e: Exception) -> UsageError:
    """What to say of a URL whose file system cannot be loaded."""
    protocol = url.partition("://")[0]
    if isinstance(e, ValueError):
        return UsageError(f"{url}: {e}")
    return UsageError(f"{url}: {protocol}:// needs another package: pip install {_PACKAGES.get(protocol, protocol)}")
