"""Exact counts of marginals, against one row after the other, and how far a unit moves them."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from tests.synthetic.people import SCHEMA, opened, people
from tests.synthetic.test_wide import exact

import deniable as dp
from deniable.query.rows import Matrix
from deniable.statistics.building import About
from deniable.synthetic import counting
from deniable.synthetic.counting import Hidden, Listed, Tabulated, counted
from deniable.synthetic.domain import domain_of
from deniable.synthetic.inference import Partition

SIZES = (3, 4, 2)
CLIQUES = [(0,), (1,), (2,), (0, 1), (1, 0), (0, 2), (0, 1, 2), (2, 1, 0)]


def codes(rows, weights=None):
    draw = np.random.default_rng(5)
    columns = [draw.integers(0, n, rows).astype(np.uint8) for n in SIZES]
    return counting._Codes(sizes=SIZES, columns=columns, weights=weights)


def by_hand(held, clique):
    weights = [1] * len(held.columns[0]) if held.weights is None else held.weights.tolist()
    seen = Counter()
    for i, weight in enumerate(weights):
        seen[tuple(int(held.columns[a][i]) for a in clique)] += weight
    return [seen[cell] for cell in np.ndindex(*(SIZES[a] for a in clique))]


@pytest.mark.parametrize("clique", CLIQUES, ids=str)
@pytest.mark.parametrize("rows", [0, 1, 50])
def test_counts_are_those_of_one_row_after_the_other(clique, rows):
    held = codes(rows)
    assert held.counts(clique).tolist() == by_hand(held, clique)
    high = np.random.default_rng(6).integers(2**53, 2**57, rows)
    held = codes(rows, weights=high | 1)
    assert held.counts(clique).tolist() == by_hand(held, clique)


def test_weights_across_the_halves_are_added_up_exactly():
    weights = np.array([2**20 - 1, 2**20, 2**20 + 1, 1, 2**60 + 1, 3])
    held = codes(6, weights=weights)
    assert held.counts((0,)).tolist() == by_hand(held, (0,))
    assert held.counts((0,)).sum() == weights.sum()


def matrix(points, weights):
    return Matrix(
        keys=np.zeros((len(points), 0), dtype=np.int64),
        points=np.array(points),
        weights=np.array(weights),
        people=np.arange(len(points)),
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_cells_are_read_from_steps_of_a_lattice(weighted):
    reader = counting._Reader(
        sizes=(300, 8, 2), lattices=((10.0, 0.5), (0.0, 1.0), (0.5, 0.25)), weighted=weighted
    )
    held = reader(matrix([[0, 5, -2], [580, 7, 2]], [3, 4]))
    assert [each.tolist() for each in held.columns] == [[10, 300], [5, 7], [0, 1]]
    assert [each.dtype.itemsize for each in held.columns] == [2, 1, 1]
    assert held.sizes == (300, 8, 2)
    assert (held.weights.tolist() if weighted else held.weights) == ([3, 4] if weighted else None)
    counter = counting._Counter(reader, ((1,), (2, 1)))
    ones = [3, 4] if weighted else [1, 1]
    expected = np.zeros(8 + 16, dtype=int)
    expected[[5, 7, 8 + 5, 8 + 8 + 7]] = ones * 2
    assert counter(matrix([[0, 5, -2], [580, 7, 2]], [3, 4])).tolist() == expected.tolist()


def test_parts_are_joined_column_by_column_and_let_go():
    parts = [codes(4, weights=np.arange(4)), codes(0, weights=np.arange(0)), codes(2, np.arange(2))]
    whole = [[c.tolist() for c in each.columns] for each in parts]
    joined = counting._joined(iter(parts))
    assert joined.sizes == SIZES
    for a, column in enumerate(joined.columns):
        assert column.tolist() == [cell for each in whole for cell in each[a]]
    assert joined.weights.tolist() == [0, 1, 2, 3, 0, 1]
    assert all(column is None for each in parts for column in each.columns)
    assert counting._joined(iter([codes(3), codes(1)])).weights is None


# ---- how far one unit moves a marginal


def hidden(l1, unit):
    value = dp.Sensitive(lambda: np.arange(12), l1=l1, l2=l1, whole=True, shape=12, unit=unit)
    return Hidden(columns=(0, 1), value=value, worth=0.5, shape=(3, 4))


@pytest.mark.parametrize("relation", [None, "add_remove", "replace"])
@pytest.mark.parametrize("l1", [2.0, 6.0, 10.0, 14.0, 2.0**40 + 2])
def test_merged_counts_move_as_far_as_both_sides_of_a_unit_can(relation, l1):
    """Each side is at most b in either norm: l1/2 of a replaced unit, and l1 of one added."""
    unit = None if relation is None else dp.rows(relation=relation)
    halves = Partition(np.array([0, 1, 1, 0]))
    found = hidden(l1, unit).merged((None, halves))
    assert (found.shape, found.worth, found.columns) == ((3, 2), 0.5, (0, 1))
    assert found.value.form.shape == (6,)
    assert exact(found).tolist() == [3, 3, 11, 11, 19, 19]
    assert found.l1 == l1
    if relation == "replace":
        assert Fraction(found.l2) ** 2 >= Fraction(l1) ** 2 / 2
        assert found.l2 == pytest.approx(l1 / 2**0.5)
    else:
        assert found.l2 == l1


@pytest.mark.parametrize("partitions", [None, (), (None, None)])
def test_counts_that_are_not_merged_stay_what_they_are(partitions):
    counts = hidden(1.0, None)
    assert counts.merged(partitions) is counts


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("rows", [1, 3, 11, 23])
def test_counts_of_rows_move_as_far_as_a_person_has_rows(relation, rows):
    frame = people(30).assign(id=np.arange(30) // 3)
    unit = dp.person("id", rows=rows, relation=relation)
    about = About(session=opened(frame, dp.rho(1.0), unit=unit), table=None)
    domain = domain_of({name: SCHEMA.columns[name] for name in ("sex", "member")})
    for way in (Listed(about, domain), Tabulated(about, domain, [(0, 1), (0,)])):
        found = way[0, 1]
        most = Fraction(rows) / Fraction(found.worth)
        sides = 2 if relation == "replace" else 1
        assert (found.shape, found.value.form.shape) == ((3, 3), (9,))
        assert Fraction(found.l1) == sides * most
        assert Fraction(found.l2) ** 2 >= sides * most**2
        assert found.l2 == pytest.approx(sides**0.5 * float(most), rel=1e-12)
        assert exact(way[0,]).size == 3


def test_the_engine_counts_64_marginals_per_scan_each_under_its_own_columns():
    """Twelve columns, and 66 pairs: two scans. Names have one digit or two."""
    names = [f"c{i}" for i in range(12)]
    columns = {name: dp.keys([0, 1]) for name in names}
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({name: draw.integers(0, 2, 40) for name in names})
    about = About(session=opened(frame, dp.rho(1.0), schema=dp.Schema(columns=columns)), table=None)
    domain = domain_of(columns)
    pairs = [(a, b) for b in range(12) for a in range(b)]
    found = counted(about, domain, [*pairs, pairs[0], (11,)])
    assert list(found) == [*pairs, (11,)]
    for clique in (pairs[0], pairs[-1], pairs[63], pairs[64], (11,)):
        cells = frame[[names[a] for a in clique]].to_numpy()
        expected = np.zeros((3,) * len(clique), dtype=int)
        for row in cells:
            expected[tuple(row)] += 1
        assert found[clique].columns == clique
        assert exact(found[clique]).tolist() == expected.ravel().tolist()


def test_a_marginal_is_counted_once_while_it_is_kept(monkeypatch):
    about = About(session=opened(people(20), dp.rho(1.0)), table=None)
    domain = domain_of({name: SCHEMA.columns[name] for name in ("sex", "member")})
    seen, inner = [], counting._Codes.counts

    def recorded(self, clique):
        seen.append(clique)
        return inner(self, clique)

    monkeypatch.setattr(counting._Codes, "counts", recorded)
    listed = Listed(about, domain)
    first = exact(listed[0, 1])
    assert exact(listed[0, 1]).tolist() == first.tolist()
    assert exact(listed[0,]).sum() == 20
    assert seen == [(0, 1), (0,)]
    assert listed._kept._size == 9 + 3


@pytest.mark.parametrize(
    ("unit", "weighted"), [(dp.rows(), False), (dp.person("id", rows=3), True)], ids=str
)
def test_rows_have_weights_only_where_several_are_of_one_person(unit, weighted):
    frame = people(20).assign(id=range(20))
    about = About(session=opened(frame, dp.rho(1.0), unit=unit), table=None)
    listed = Listed(about, domain_of({"sex": SCHEMA.columns["sex"]}))
    assert listed._reader.weighted is weighted
