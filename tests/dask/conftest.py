"""A cluster of Dask for tests that kill none of its workers."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    """A scheduler and two workers, all processes of their own."""
    distributed = pytest.importorskip("distributed", reason="the front on Dask is an extra")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0, silence_logs=50
    ) as found:
        yield found


@pytest.fixture
def small_sample(monkeypatch):
    """A sample of SAMPLE rows, so that few rows are more than that."""
    from drawn_tables import SAMPLE

    from vwlite.dask import default

    monkeypatch.setattr(default, "MOST_ROWS", SAMPLE)
