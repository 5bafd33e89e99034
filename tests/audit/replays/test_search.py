"""Right computations pass every pair; sabotaged ones fail, and the step is named. No statistics."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit import replay, search
from deniable.mechanisms import (
    BinaryTreeCounter,
    LaplaceThreshold,
    Parallel,
    PartitionSelection,
    ProposeTestRelease,
    SmoothNoise,
    TopK,
)
from deniable.sensitivity import (
    Mean,
    Quantile,
    TrimmedMean,
    automatic_mean,
    bounds_by_magnitude,
    clipped_sum,
    doubling,
    mean,
    propose_test_release,
    row_count,
    sample_and_aggregate,
    sample_and_aggregate_median,
    smooth_release,
    upper_bound,
)

AGES = np.array([33.0, 21.5, 40.0, 67.5, 67.5, 22.0, 80.0])
PLACE = pa.table({"x": [0.0]})


def opened(unit=None, delta=1e-5):
    """A session; arrays come to it by Sensitive, so its table is of no interest."""
    budget = dp.epsilon(50.0, delta=delta) if delta else dp.epsilon(50.0)
    return dp.open(PLACE, unit=unit or dp.rows(), budget=budget)


def run(algorithm, **options):
    return lambda values: opened(**options).run(algorithm(values))


def release(make, **options):
    """A program of one release: `make(values)` is the step."""
    return lambda values: opened(**options).release(make(values))


# ---- right ones


STATISTICS = [Mean(), Quantile(), Quantile(q=0.9), TrimmedMean(trim=1)]
WITHIN = {"low": 0, "high": 50}
RIGHT = {
    "mean": run(lambda x: mean(x, low=20, high=80, epsilon=1.0)),
    "automatic mean": run(lambda x: automatic_mean(x, epsilon=1.0)),
    "bounds": run(lambda x: bounds_by_magnitude(x, epsilon=1.0)),
    "upper bound": run(lambda x: upper_bound(x, doubling(first=1, count=9), epsilon=1.0)),
    "count": release(lambda x: dp.DiscreteLaplace(scale=1.0).on(row_count(x))),
    "sum": release(lambda x: clipped_sum(x, low=-5, high=80).noisy(epsilon=1.0)),
    "histogram": release(
        lambda x: dp.Gaussian(sigma=3.0).on(
            dp.Sensitive(
                lambda: np.histogram(x[np.isfinite(x)], bins=[0, 30, 60, 90])[0],
                l1=1,
                whole=True,
                shape=3,
            )
        )
    ),
}
for number, statistic in enumerate(STATISTICS):
    RIGHT |= {
        f"smooth {number}": run(
            lambda x, s=statistic: smooth_release(x, s, epsilon=1.0, **WITHIN), delta=None
        ),
        f"smooth with a delta {number}": run(
            lambda x, s=statistic: smooth_release(x, s, epsilon=1.0, delta=1e-7, **WITHIN)
        ),
        f"propose, test, release {number}": run(
            lambda x, s=statistic: propose_test_release(
                x, s, bound=9.0, epsilon=2.0, delta=1e-7, **WITHIN
            )
        ),
    }


@pytest.mark.parametrize("name", RIGHT)
def test_right_computations_move_as_declared(name):
    found = search(RIGHT[name], AGES)
    assert found.ok, found
    assert found.tried > 60
    assert found.steps >= 1
    assert 0 < found.moved <= found.declared


@pytest.mark.parametrize("algorithm", [sample_and_aggregate, sample_and_aggregate_median])
def test_parts_chosen_by_coins_move_as_declared_where_units_come_last(algorithm):
    """Each row has a coin of its own; frozen, the coins stay in place only if the rows do."""
    program = run(
        lambda x: algorithm(list(x), np.mean, parts=3, low=0, high=50, epsilon=1.0), delta=None
    )
    assert search(program, AGES, where="end").ok


@pytest.mark.parametrize("algorithm", [sample_and_aggregate, sample_and_aggregate_median])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_parts_chosen_by_a_keyed_hash_move_as_declared_anywhere(algorithm, relation):
    unit = dp.person("who", rows=2, relation=relation)
    table = pd.DataFrame({"who": ["ann", "bob", "bob", "cy", "dee", "eve"], "x": AGES[:6]})

    def program(data):
        session = dp.open(data, unit=unit, budget=dp.epsilon(9.0))
        people, values = list(data["who"]), list(data["x"])
        return session.run(
            algorithm(
                values, np.mean, parts=3, low=0, high=50, epsilon=1.0, people=people, unit=unit
            )
        )

    assert search(program, table, unit).ok


def test_under_replacement_the_same_bounds_are_other_numbers():
    unit = dp.rows(relation="replace")
    right = run(lambda x: mean(x, low=20, high=80, epsilon=1.0, unit=unit), unit=unit, delta=None)
    assert search(right, AGES, unit).ok


def adaptive(values):
    """Looks closer where the first answer says so, until a stream of questions is used up."""
    session = opened()
    count = session.release(dp.Laplace(scale=1.0).on(row_count(values))).value
    stream = session.open(dp.SparseVector(epsilon=1.0, answers=2, threshold=2.0))
    said = []
    for bar in range(20, 90, 10):
        above = dp.Sensitive(lambda bar=bar: int((values > bar).sum()), linf=1)
        try:
            said.append(session.release(stream.on(above)).value)
        except dp.BadParameter:
            break
    return count, said


def test_an_adaptive_program_takes_the_recorded_path():
    assert search(adaptive, AGES).ok


# ---- sabotaged ones


def clipped(values, low=20, high=80):
    return np.clip(values[~np.isnan(values)], low, high)


def whole(compute, **bounds):
    return dp.Sensitive(compute, **bounds)


def as_many_as_there_are(values):
    session = opened()
    return [session.release(dp.Laplace(scale=1.0).on(whole(lambda: 1, l1=1))) for _ in values]


def first_a_count_of_what_is_seen(values):
    session = opened()
    session.release(dp.Laplace(scale=1.0).on(row_count(values)))
    sigma = float(np.ptp(clipped(values))) + 1 if len(values) else 1.0
    return session.release(dp.Gaussian(sigma=sigma).on(whole(lambda: 0, l2=1)))


def by_position(values):
    parts = np.array_split(clipped(values, 0, 60), 3)
    return sum(round(part[0]) if part.size else 30 for part in parts)


def divided_by_the_true_size(values):
    total = opened().release(dp.Laplace(scale=80.0, sensitivity=80.0).on(total_of(values))).value
    return total / max(1, len(values))


def total_of(values, l1=80):
    return whole(lambda: int(np.rint(clipped(values)).sum()), l1=l1)


def charged_by_data(values):
    session = opened()
    if values.sum() > 300:
        session.open(2 * dp.Laplace(scale=1.0))
    return session.release(dp.Laplace(scale=1.0).on(row_count(values)))


def stops_when_it_likes(values):
    session = opened()
    session.release(dp.Laplace(scale=1.0).on(row_count(values)))
    if values.max(initial=0.0) > 1e6:
        raise dp.BadParameter("this is an outlier")
    return session.release(dp.Laplace(scale=1.0).on(row_count(values)))


def in_every_step(values):
    """Said to be events of one stream, and counted again at every step."""
    session = opened()
    counter = session.open(BinaryTreeCounter(steps=4, noise=dp.Laplace(scale=9.0)))
    for _ in range(2):
        session.release(counter.on(whole(lambda: len(values), l1=1, stream="rows")))


CELLS = len(set(clipped(AGES)))
SABOTAGED = {
    "u − l under add/remove": (
        release(lambda x: dp.Laplace(scale=60.0, sensitivity=60.0).on(total_of(x, l1=60))),
        "moved",
        1,
    ),
    "NaN through clipping": (
        release(
            lambda x: dp.Laplace(scale=80.0, sensitivity=80.0).on(
                whole(lambda: float(np.clip(x, 20, 80).sum()), l1=80)
            )
        ),
        "failure",
        1,
    ),
    "a sum of floats": (
        release(
            lambda x: dp.Laplace(scale=1.0).on(
                whole(lambda: float(np.sum(clipped(x / 60, 0, 1))), l1=1)
            )
        ),
        "moved",
        1,
    ),
    "as many releases as rows": (as_many_as_there_are, "path", None),
    "a scale from the data": (first_a_count_of_what_is_seen, "path", 2),
    "bounds from the data": (
        release(lambda x: dp.Laplace(scale=9.0, sensitivity=9.0).on(
            whole(lambda: 0, l1=min(9.0, float(np.nanmax(clipped(x), initial=0.0)) / 10)))),
        "path",
        1,
    ),
    "keys from the data": (
        release(lambda x: dp.Laplace(scale=1.0).on(
            whole(lambda: np.unique(clipped(x), return_counts=True)[1], l1=1, shape=CELLS)
        )),
        "failure",
        1,
    ),
    "parts by position": (
        release(lambda x: dp.Laplace(scale=60.0, sensitivity=60.0).on(
            whole(lambda: by_position(x), l1=60))),
        "moved",
        1,
    ),
    "the true size used as public": (divided_by_the_true_size, "result", 0),
    "a charge that depends on data": (charged_by_data, "charge", 0),
    "an error that depends on data": (stops_when_it_likes, "path", 2),
    "L2 declared for an L1 mechanism": (
        release(lambda x: dp.Laplace(scale=1.0, sensitivity=1.0).on(
            whole(lambda: np.histogram(np.tile(clipped(x), 2), [20, 80])[0], l1=1, shape=1))),
        "moved",
        1,
    ),
    "scores said to be monotonic": (
        release(lambda x: dp.NoisyMax(epsilon=1.0, monotonic=True).on(
            whole(lambda: [len(x), -len(x)], linf=1, shape=2))),
        "moved",
        1,
    ),
    "scores that move by two": (
        release(lambda x: TopK(epsilon=1.0, k=1).on(
            whole(lambda: [2 * len(x), 0], linf=1, shape=2))),
        "moved",
        1,
    ),
    "a distance that jumps": (
        release(lambda x: ProposeTestRelease(
            bound=1.0, epsilon_test=1.0, epsilon_release=1.0, delta=1e-7
        ).on(whole(lambda: (0.0, 3.0 * len(x)), linf=1))),
        "moved",
        1,
    ),
    "a local sensitivity that is not": (
        release(lambda x: ProposeTestRelease(
            bound=1.0, epsilon_test=1.0, epsilon_release=1.0, delta=1e-7
        ).on(whole(lambda: (float(clipped(x).sum()), 9.0), linf=1))),
        "moved",
        1,
    ),
    "a bound that is not smooth": (
        release(lambda x: SmoothNoise(epsilon=1.0, low=0.0, high=50.0).on(
            whole(lambda: (0.0, 0.001 + clipped(x).sum()), linf=50)), delta=None),
        "moved",
        1,
    ),
    "a person with many keys": (
        release(lambda x: PartitionSelection(epsilon=1.0, delta=1e-7).on(
            whole(lambda: {k: 5 + len(x) for k in "ab"}, linf=1, l1=1))),
        "moved",
        1,
    ),
    "a person counted twice": (
        release(lambda x: LaplaceThreshold.calibrate(epsilon=1.0, delta=1e-7).on(
            whole(lambda: (["a"], [2 * len(x) + 1]), linf=1, l1=1))),
        "moved",
        1,
    ),
    "a stream that counts a row at every step": (in_every_step, "moved", 2),
    "a row in two parts": (
        release(lambda x: Parallel(parts=(dp.Laplace(scale=1.0),) * 2).on(
            whole(lambda: [len(x), len(x)], l1=1))),
        "moved",
        1,
    ),
    "a sample of rows that all change": (
        release(lambda x: dp.Laplace(scale=1.0).sampled(rate=0.5).on(
            whole(lambda: np.full(len(x), 1 / max(1, len(x))), l1=1))),
        "moved",
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SABOTAGED)
def test_sabotage_is_found_and_the_step_is_named(name):
    program, kind, step = SABOTAGED[name]
    found = search(program, AGES)
    assert not found.ok
    assert found.faults[0].kind == kind, found
    assert step is None or found.faults[0].step == step, found
    assert f"step {found.faults[0].step}" in str(found) or found.faults[0].step == 0


def test_the_smallest_pair_is_reported():
    program, _, _ = SABOTAGED["u − l under add/remove"]
    found = search(program, AGES)
    assert found.pair.shared == ()
    (row,) = found.pair.here or found.pair.there
    assert row == 100  # 61 would do; the simplest number above the limit is taken
    assert (found.moved, found.declared) == (80, 60)
    assert "moved by 80; at most 60 was declared" in str(found)


def test_a_float_sum_passes_its_bound_by_rounding_alone():
    program, _, _ = SABOTAGED["a sum of floats"]
    found = search(program, np.array([0.1, 0.3, 1e9, 60.0]))
    assert not found.ok
    assert 1 < found.moved < 1 + 1e-9
    assert repr(found.moved) in str(found)


# ---- what cannot be judged


def test_a_program_with_randomness_of_its_own_is_told_apart():
    rng = np.random.default_rng()
    program = release(
        lambda x: dp.Laplace(scale=1.0).on(whole(lambda: int(rng.integers(10**9)), l1=1))
    )
    found = replay(program, AGES, AGES)
    assert [fault.kind for fault in found.faults] == ["repeat"]


def test_a_program_that_always_fails_is_not_judged():
    def fails(values):
        raise RuntimeError

    with pytest.raises(dp.BadParameter, match="released nothing"):
        search(fails, AGES)
    with pytest.raises(dp.BadParameter, match="released nothing"):
        replay(lambda values: 1, AGES, AGES)
    with pytest.raises(dp.BadParameter, match="must be a function"):
        replay(3, AGES, AGES)


def test_data_without_neighbours_are_refused():
    for data in ({1: 2}, np.zeros((2, 2, 2)), np.array([object()])):
        with pytest.raises(dp.BadParameter):
            search(RIGHT["mean"], data)
    with pytest.raises(dp.BadParameter):
        search(RIGHT["mean"], AGES, unit="rows")
    with pytest.raises(dp.UnknownName):
        search(RIGHT["mean"], AGES, dp.person("who", rows=1))
    with pytest.raises(dp.BadParameter, match="no row can be replaced"):
        search(RIGHT["mean"], [], dp.rows(relation="replace"))
    assert math.isfinite(search(RIGHT["mean"], AGES, most=1).moved)
