"""From tables of counts back to rows, on a census-like block of Adult."""

import itertools

import numpy as np
import pytest

import deniable as dp
from deniable.attacks import cross_tabulate, domains_of, reconstruct_rows
from deniable.sampling.public import PublicRandom
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using

COLUMNS = ["sex", "race", "education_num", "marital_status", "income"]


@pytest.fixture(scope="module")
def adult():
    return dp.load_adult("all").select(COLUMNS)


@pytest.fixture(scope="module")
def domains(adult):
    return domains_of(adult, columns=COLUMNS)


def block(adult, size, seed):
    return adult.take(PublicRandom(seed).generator.choice(adult.num_rows, size, replace=False))


def test_two_way_tables_of_a_block_of_ten_are_its_rows(adult, domains):
    shares, certain = [], []
    for seed in range(4):
        truth = block(adult, 10, seed)
        found = reconstruct_rows(cross_tabulate(truth), domains=domains)
        assert found.exact
        shares.append(found.recovered(truth))
        certain.append(sum(found.certain))
    assert np.mean(shares) > 0.9
    assert np.mean(certain) > 7


def test_certain_rows_are_always_true(adult, domains):
    for seed in (5, 6):
        truth = block(adult, 25, seed)
        found = reconstruct_rows(cross_tabulate(truth), domains=domains)
        left = [tuple(row.values()) for row in truth.to_pylist()]
        for row, sure in zip(found.rows, found.certain, strict=True):
            if sure:
                left.remove(row)  # raises if a certain row is not there


def test_a_control_block_is_not_recovered(adult, domains):
    found = reconstruct_rows(cross_tabulate(block(adult, 10, 0)), domains=domains)
    assert found.recovered(block(adult, 10, 99)) < 0.5


def test_private_tables_give_no_row_for_certain(adult, domains):
    truth = block(adult, 10, 1)
    tables = cross_tabulate(truth)
    # Ten tables, one cell of each a person: ε = 1 in all is noise of scale 10.
    # The noise is seeded: no alarms.
    noise = dp.Laplace(scale=10.0, sensitivity=10.0)
    private = {}
    for i, (names, counts) in enumerate(tables.items()):
        cells = list(itertools.product(*(domains[name] for name in names)))
        with using(SeededSource(i)):
            noisy = noise.release(np.array([counts.get(cell, 0.0) for cell in cells]))
        private[names] = dict(zip(cells, noisy.tolist(), strict=True))
    found = reconstruct_rows(private, domains=domains, seconds=3)
    assert not found.exact
    assert not any(found.certain)
    assert not found.unique
    # Rows are invented by the hundred: hitting half of ten by luck does not happen.
    assert found.recovered(truth) * 10 / max(1, len(found.rows)) < 0.2
    assert "contradict" in found.explain()
    assert found.plot() is not None


def test_a_column_without_a_domain_is_refused():
    tables = cross_tabulate({"a": [1], "b": [2]})
    with pytest.raises(dp.BadParameter, match="no domain"):
        reconstruct_rows(tables, domains={"a": [1]})
    with pytest.raises(dp.BadParameter, match="cells"):
        reconstruct_rows(tables, domains={"a": range(1000), "b": range(1000)})
