"""The engines that questions are put to."""

import pytest

from ..back.conftest import postgres  # noqa: F401, TID252  (one server for this folder, too)
from .hostile import Stored, duckdb_store


@pytest.fixture(scope="session")
def in_duckdb():
    return duckdb_store()


@pytest.fixture(scope="session")
def in_postgres(postgres):  # noqa: F811
    return Stored("postgres", postgres)


@pytest.fixture(params=["duckdb", "postgres"])
def engine(request):
    return request.getfixturevalue(f"in_{request.param}")
