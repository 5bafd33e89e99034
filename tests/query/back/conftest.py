"""The engines that the same questions are put to: DuckDB, a real Postgres, a real Spark cluster."""

import os
import shutil

import pytest

from .holding import Holding


@pytest.fixture(scope="session")
def postgres(server):
    """The address of a Postgres server of our own."""
    return server


@pytest.fixture(scope="session")
def spark():
    """A Spark session with two executor processes of their own."""
    pyspark = pytest.importorskip(
        "pyspark", reason="NOT TESTED: Spark. Install pyspark and Java 17 to test it"
    )
    if shutil.which("java") is None:
        pytest.skip("NOT TESTED: Spark. Install Java 17 to test it")
    home = os.path.dirname(pyspark.__file__)  # noqa: PTH120
    os.environ.setdefault("SPARK_HOME", home)
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "America/New_York")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(params=["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.slow)])
def holding(request):
    """A place to put tables, on each engine."""
    if request.param == "duckdb":
        return Holding(kind="duckdb")
    return Holding(kind=request.param, place=request.getfixturevalue(request.param))


@pytest.fixture
def duckdb_holding():
    return Holding(kind="duckdb")
