"""Boxes: as small as they can be, never smaller than asked."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.anonymity import anonymize, check, ranges, tree

numbers = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=4, max_size=60)


@given(numbers, st.integers(1, 4))
@settings(max_examples=40)
def test_no_box_could_be_cut_once_more(points, k):
    table = pa.table({"a": [p[0] for p in points], "b": [p[1] for p in points]})
    done = anonymize(table, quasi=["a", "b"], k=k, method="mondrian")
    released = list(zip(done.frame["a"].to_pylist(), done.frame["b"].to_pylist(), strict=True))
    members = {}
    for place, label in zip(done.rows.tolist(), released, strict=True):
        members.setdefault(label, []).append(points[place])
    for box in members.values():
        for axis in (0, 1):
            values = sorted(point[axis] for point in box)
            cuts = [i for i in range(1, len(values)) if values[i] != values[i - 1]]
            assert all(min(i, len(values) - i) < k for i in cuts)


def test_relaxed_boxes_hold_between_k_and_2k_minus_1_rows_where_values_differ():
    rng = np.random.default_rng(1)
    table = pa.table({"a": rng.permutation(1_000), "b": rng.permutation(1_000)})
    done = anonymize(table, quasi=["a", "b"], k=10, method="mondrian", strict=False)
    sizes = check(done.frame, quasi=["a", "b"]).classes["size"].to_numpy()
    assert sizes.min() >= 10
    assert sizes.max() <= 19


def test_cuts_follow_the_hierarchy():
    towns = {"north": ["Ayr", "Dumfries"], "south": ["Bonn", "Cork"]}
    table = pa.table({"town": ["Ayr", "Bonn", "Cork", "Dumfries"] * 3})
    done = anonymize(
        table, quasi=["town"], k=4, method="mondrian", hierarchies={"town": tree(towns)}
    )
    assert set(done.frame["town"].to_pylist()) == {"north", "south"}
    loose = anonymize(table, quasi=["town"], k=4, method="mondrian")
    assert set(loose.frame["town"].to_pylist()) == {"Ayr | Bonn", "Cork | Dumfries"}


def test_a_column_no_box_has_blurred_keeps_its_type():
    table = pa.table({"a": [1, 1, 2, 2], "b": [5, 6, 7, 8]})
    done = anonymize(table, quasi=["a", "b"], k=2, method="mondrian")
    assert done.frame.schema.field("a").type == pa.int64()
    assert set(done.frame["b"].to_pylist()) == {"[5, 6]", "[7, 8]"}


def test_null_is_set_apart_or_hidden_with_the_rest():
    apart = pa.table({"a": [1, 2, 3, None, None, None]})
    done = anonymize(apart, quasi=["a"], k=3, method="mondrian")
    assert set(done.frame["a"].to_pylist()) == {"[1, 3]", None}
    hidden = pa.table({"a": [1, 2, 3, None]})
    done = anonymize(hidden, quasi=["a"], k=3, method="mondrian")
    assert set(done.frame["a"].to_pylist()) == {"*"}
    assert done.report.loss == 1


def test_infinite_numbers_and_nan_stand_apart():
    inf, nan = float("inf"), float("nan")
    table = pa.table({"a": [-inf, -inf, 1.0, 2.0, inf, inf, nan, nan]})
    done = anonymize(table, quasi=["a"], k=2, method="mondrian")
    assert set(done.frame["a"].to_pylist()) == {"-inf", "[1.0, 2.0]", "inf", "nan"}
    wide = {"a": ranges(4)}
    done = anonymize(table, quasi=["a"], k=2, suppression=0.0, hierarchies=wide)
    assert set(done.frame["a"].to_pylist()) == {"-inf", "[0, 4)", "inf", "nan"}


def test_the_losses_are_those_of_the_labels():
    table = pa.table({"a": [0, 2, 8, 10], "b": ["x", "y", "z", "z"]})
    done = anonymize(table, quasi=["a", "b"], k=2, method="mondrian")
    assert set(done.frame["a"].to_pylist()) == {"[0, 2]", "[8, 10]"}
    assert set(done.frame["b"].to_pylist()) == {"x | y", "z"}
    assert done.report.losses["ncp"] == pytest.approx((0.2 + (0.5 + 0) / 2) / 2)
    # a: of 2 bits a row 1 is lost; b: of 2, 2, 1, 1 bits 1, 1, 0, 0 are lost.
    assert done.report.losses["entropy"] == pytest.approx((4 / 8 + 2 / 6) / 2)
    assert done.report.losses["discernibility"] == pytest.approx(8 / 16)


def test_adult_is_cut_into_thousands_of_classes():
    quasi = ["sex", "age", "race", "marital_status", "education", "native_country"]
    report = anonymize(dp.load_adult(split="all"), quasi=quasi, k=5, method="mondrian").report
    assert report.k >= 5
    assert report.measured.classes > 2_976  # the best peer's
    assert report.loss < 0.02
