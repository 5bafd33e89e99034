"""Bars in panels: every part has one, and says what it leaves out."""

import numpy as np
import pytest

import deniable as dp
from deniable import workload
from deniable.plots.panels import panels

RELEASED = {
    "hierarchy": (workload.groupings(40, {"half": np.arange(40) // 20}), np.arange(40)),
    "marginals": (workload.marginals({"a": 2, "b": 3}, ways=1), np.arange(6).reshape(2, 3)),
    "matrix": (workload.matrix([[1, 1, 0], [0, 1, 1]]), np.arange(3)),
    "ranges": (workload.ranges(9), np.arange(9)),
    "prefixes": (workload.prefixes(9), np.arange(9)),
    "stream": (workload.stream(), np.arange(9)),
}
TITLES = {
    "hierarchy": ["leaf (the 12 largest of 40)", "half", "total"],
    "marginals": ["a", "b"],
    "matrix": ["query"],
}


@pytest.mark.parametrize("name", RELEASED)
def test_every_workload_of_arrays_has_a_picture(name):
    w, counts = RELEASED[name]
    found = w.release(counts, spend=dp.rho(0.5))
    drawn = found.plot()
    if name in TITLES:
        assert [each.get_title(loc="left") for each in drawn.figure.axes] == TITLES[name]
    else:
        assert drawn.get_title(loc="left") == str(w)
    assert drawn._repr_png_()[:4] == b"\x89PNG"
    assert "±" in repr(found)
    assert repr(found).startswith(str(w))


def test_on_axes_of_the_callers_the_first_panel_is_drawn():
    from matplotlib.figure import Figure

    own = Figure().add_subplot()
    keys = {"a": [0, 1, None], "b": [None, None, 5]}
    assert panels(keys, [1, 2, 3], [1, 1, 1], axis_label="n", ax=own) is own
    assert own.get_title(loc="left") == "a"
    assert "1 more" in own.get_xlabel()
