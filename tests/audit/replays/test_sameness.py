"""Two results of a replay are the same only if nothing in them can be told apart."""

import pandas as pd
import pytest
from tests.audit.labels import CASES

from deniable.audit.replays.sameness import difference

EXACT = {name: case for name, case in CASES.items() if "exception" not in name}


@pytest.mark.parametrize("case", EXACT.values(), ids=EXACT.keys())
def test_labels_types_and_order_make_a_difference(case):
    assert difference(case(0.5, True), case(0.5, False)) is not None
    assert difference(case(0.5, True), case(0.5, True)) is None


def test_nan_is_the_same_as_itself():
    assert difference(pd.Series([float("nan")]), pd.Series([float("nan")])) is None
