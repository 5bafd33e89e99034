"""The places where tables are held."""

import pytest

from .places import Place


@pytest.fixture(scope="session")
def in_duckdb():
    """In memory, on one thread: the tables are small."""
    import duckdb

    return Place("duckdb", source=duckdb.connect(config={"threads": 1}))


@pytest.fixture(scope="session")
def in_postgres(server):
    return Place("postgres", source=server)


@pytest.fixture(scope="session")
def in_parquet(tmp_path_factory):
    return Place("parquet", folder=tmp_path_factory.mktemp("parquet"))


@pytest.fixture(scope="session")
def in_csv(tmp_path_factory):
    return Place("csv", folder=tmp_path_factory.mktemp("csv"))


@pytest.fixture(scope="session")
def in_spark(spark, tmp_path_factory):
    return Place("spark", source=spark, folder=tmp_path_factory.mktemp("spark"))


@pytest.fixture(params=["duckdb", "postgres", "parquet", "csv", "spark"])
def place(request):
    """Each of them in turn."""
    return request.getfixturevalue(f"in_{request.param}")
