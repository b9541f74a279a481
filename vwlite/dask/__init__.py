"""The default on shards of files and URLs, with Dask or, of large files, in processes of this machine; its commands.

Dask and fsspec are imported only in this package: they are the extra `vwlite[dask]`.
"""
