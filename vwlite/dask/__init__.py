"""The front on Dask: shards of files and URLs, commands that run on workers, merges in rounds.

Dask and fsspec are imported only in this package: they are the extra `vwlite[dask]`.
"""
