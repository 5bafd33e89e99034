"""A stated size is the exact number of rows only where rows are units and are replaced."""

import pytest

import deniable as dp
from deniable.query.sql.select import question_from_sql
from deniable.schema import bounds, column
from deniable.session.sources.arrow_tables import ArrowTable
from deniable.session.tables import Table

EXACT = {
    dp.rows(relation="replace"): 50,
    dp.rows(): None,
    dp.person("id", rows=1, relation="replace"): None,
    dp.person("id", rows=1): None,
}


@pytest.mark.parametrize("unit", EXACT, ids=str)
def test_where_a_stated_size_is_exact(unit):
    columns = {"id": column("int"), "x": bounds(0, 1)}
    table = Table(name="t", columns=columns, public=False, size=50, source=ArrowTable(held=None))
    asked = question_from_sql("SELECT COUNT(*) FROM t", tables={"t": table}, unit=unit)
    assert asked.relation.size == EXACT[unit]
