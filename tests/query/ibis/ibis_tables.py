"""The tables of the front's tests as Ibis sees them."""

import pytest
from tests.query.front.front_tables import PERSON, TABLES

from deniable.query.ibis import question_from_ibis

# This folder has the package's name: only a module inside tells that Ibis is installed.
pytest.importorskip("ibis.expr.operations")
import ibis

PEOPLE = ibis.table(
    {
        "user_id": "int64",
        "age": "int64",
        "income": "float64",
        "wage": "float64",
        "debt": "float64",
        "sex": "string",
        "city": "string",
        "born": "date",
        "seen": "timestamp",
        "member": "boolean",
        "Group Name": "string",
        "blob": "binary",
    },
    name="people",
)
VISITS = ibis.table(
    {"user_id": "int64", "cost": "float64", "zip": "string", "stay": "int64"}, name="visits"
)
ZIPS = ibis.table({"zip": "string", "region": "string", "size": "float64"}, name="zips")


def asked(expression, **more):
    return question_from_ibis(expression, tables=TABLES, **{"unit": PERSON, **more})
