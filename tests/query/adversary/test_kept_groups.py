"""Which groups a person keeps is drawn anew for every question: nobody can foresee it."""

import pyarrow as pa
import pytest

import deniable as dp

from .exact import exact

PEOPLE, KEYS = 20, 30
DATA = pa.table(
    {
        "id": [who for who in range(PEOPLE) for _ in range(KEYS)],
        "k": [key for _ in range(PEOPLE) for key in range(KEYS)],
    }
)
PERSON = dp.person("id", rows=KEYS, groups=1)
PUBLIC = dp.Schema(columns={"k": dp.keys(range(KEYS))})
PRIVATE = dp.Schema(columns={"k": dp.column("int")})


def kept(schema):
    """How many people kept each key."""
    asked = "SELECT k, COUNT(DISTINCT id) AS n FROM data GROUP BY k"
    rows = exact(DATA, asked, unit=PERSON, schema=schema)
    return {row["k"]: row["n"] for row in rows if row["n"]}


@pytest.mark.parametrize("schema", [PUBLIC, PRIVATE], ids=["public keys", "private keys"])
def test_people_keep_other_groups_next_time(schema):
    """20 people and 30 keys: the same counts twice have a chance of at most 20!/30²⁰ < 1e-11."""
    first, second = kept(schema), kept(schema)
    assert max(sum(first.values()), sum(second.values())) <= PEOPLE
    assert first != second
    assert len(first) > 1  # and not all the same key: 30⁻¹⁹


def test_the_executors_get_a_secret_of_their_own_each_time():
    pytest.importorskip("pyspark")
    from deniable.query.execute import drawn_secret

    assert len({drawn_secret() for _ in range(50)}) == 50
