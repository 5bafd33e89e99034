"""What an executor does to a batch: the mechanisms that were paid for, on each group alone."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.query.backends.spark import versions
from deniable.query.scatter.executors import Draw
from deniable.session.elsewhere import Commission

from .asking import allocated

MUCH = dp.epsilon(1e6)
COUNT = "SELECT city, COUNT(*) AS n FROM data GROUP BY city"


def draw(allocation, **options):
    chosen = () if allocation.selection is None else (allocation.selection,)
    commission = Commission(mechanisms=(*chosen, *allocation.noise), entry="", **options)
    return Draw.of(commission, allocation)


def batch(people, *, rows=None, start=0):
    counts = people if rows is None else rows
    return pa.RecordBatch.from_pydict(
        {
            "k0": [f"c{start + i}" for i in range(len(people))],
            "selection": pa.array(people, pa.int64()),
            "c0_0": pa.array([n * 2**20 for n in counts], pa.int64()).cast(pa.decimal128(38, 0)),
        }
    )


def test_lone_people_are_hidden_and_others_are_shown():
    private = allocated(COUNT, spend=dp.epsilon(1e6, delta=1e-9))
    (found,) = draw(private).over(iter([batch([1, 500, 1, 400])]))
    assert found.column("city").to_pylist() == ["c1", "c3"]
    assert found.column("n").to_pylist() == [500, 400]


def test_nothing_is_shown_of_a_batch_that_hides_all():
    private = allocated(COUNT, spend=dp.epsilon(1e6, delta=1e-9))
    found = list(draw(private).over(iter([batch([1]), batch([500], start=7)])))
    assert [b.column("city").to_pylist() for b in found] == [[], ["c7"]]


def test_it_travels_small_and_without_lists_of_keys():
    many = {"city": dp.keys([f"city {i}" for i in range(20_000)])}
    made = draw(allocated(COUNT, keys=many))
    sent = pickle.dumps(made)
    assert len(sent) < 10_000
    assert b"city 77" not in sent
    again = pickle.loads(sent)
    (found,) = again.over(iter([batch([5, 6])]))
    assert found.num_rows == 2


def test_numbers_of_a_batch_get_noise_of_their_own():
    public = allocated(COUNT, keys={"city": dp.keys(["a"])}, spend=dp.epsilon(1e-3))
    made, one = draw(public), batch([0] * 2000)
    first, second = (b.column("n").to_numpy() for b in made.over(iter([one, one])))
    assert not np.array_equal(first, second)
    assert len(np.unique(first)) > 1000  # b ≈ 4000: equal neighbours are rare


@pytest.mark.parametrize(
    ("asked", "told"),
    [("COUNT(*) + 1 AS n FROM data GROUP BY city", [101, 201]),
     ("COUNT(*) AS n FROM data GROUP BY city HAVING COUNT(*) > 150", [200])],
)  # fmt: skip
def test_expressions_and_having_are_computed_where_the_table_is_not_known(asked, told):
    public = allocated(f"SELECT city, {asked}", keys={"city": dp.keys(["c0", "c1"])}, spend=MUCH)
    sent = pickle.loads(pickle.dumps(draw(public)))
    (found,) = sent.over(iter([batch([100, 200])]))
    assert np.rint(found.column("n").to_numpy()).tolist() == told


def test_another_version_refuses_to_draw():
    public = allocated(COUNT, keys={"city": dp.keys(["a"])})
    with pytest.raises(RuntimeError, match=r"0\.0\.0 where it was paid"):
        next(draw(public, version="0.0.0").over(iter([batch([1])])))


def test_a_probe_tells_the_version_alone():
    (found,) = versions(iter([batch([1, 2])]))
    assert found.to_pydict() == {"version": [dp.__version__]}
