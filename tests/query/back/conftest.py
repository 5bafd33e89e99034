"""The engines that the same questions are put to: DuckDB, a real Postgres, a real Spark cluster."""

import pytest

from .holding import Holding


@pytest.fixture(scope="session")
def postgres(server):
    """The address of a Postgres server of our own."""
    return server


@pytest.fixture(params=["duckdb", "postgres", "spark"])
def holding(request):
    """A place to put tables, on each engine."""
    if request.param == "duckdb":
        return Holding(kind="duckdb")
    return Holding(kind=request.param, place=request.getfixturevalue(request.param))


@pytest.fixture
def duckdb_holding():
    return Holding(kind="duckdb")
