"""One walk reaches every relation, so that nothing that is asked of all of them misses one."""

import dataclasses

from tests.query.front.front_tables import ask

from deniable.query.algebra import Relation, Scan, walk

ASKED = [
    """SELECT SUM(x) AS s FROM (SELECT user_id, age AS x FROM people WHERE age > 3
        UNION ALL SELECT user_id, stay AS x FROM visits) u""",
    """SELECT AVG(LEAST(n, 9)) AS a FROM (SELECT user_id, COUNT(*) AS n FROM visits
        WHERE zip IN (SELECT zip FROM zips) GROUP BY user_id)""",
    """SELECT region, COUNT(*) AS n FROM visits JOIN people USING (user_id)
        LEFT JOIN zips USING (zip) GROUP BY region""",
]


def test_the_children_of_a_relation_are_all_relations_it_holds():
    met = set()
    for sql in ASKED:
        for each in walk(ask(sql).relation):
            held = [getattr(each, field.name) for field in dataclasses.fields(each)]
            assert each.children == tuple(h for h in held if isinstance(h, Relation))
            met.add(type(each))
    assert met == set(Relation.__subclasses__())


def test_tables_are_met_from_left_to_right():
    found = [each.table for each in walk(ask(ASKED[2]).relation) if isinstance(each, Scan)]
    assert found == ["visits", "people", "zips"]
