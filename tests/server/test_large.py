"""Questions that are too large are refused at once, from public facts: they hold up nobody."""

import numpy as np
import pytest

from deniable.server.jobs.kinds.robust import _parted
from deniable.server.jobs.work import Room, said

from .conftest import fill

WIDE = [f"k{i}" for i in range(60)]
SCHEMA = "[unit]\nrelation = 'add_remove'\n" + "".join(
    f"[columns.{name}]\ntype = 'int'\nbounds = [0, 99]\nmissing = 'drop'\n" for name in WIDE
)
LARGE = [
    {"kind": "marginals", "columns": WIDE, "ways": 10},
    {"kind": "marginals", "columns": WIDE[:6], "ways": 5},
    {"kind": "marginals", "columns": WIDE, "ways": 2},
    {"kind": "hierarchy", "columns": WIDE[:5]},
    {"kind": "hierarchy", "columns": WIDE},
    {"kind": "synthesize", "columns": WIDE, "method": "marginals", "marginals": 4},
    {"kind": "ranges", "column": "k0", "bins": 100_000},
    {"kind": "prefixes", "column": "k0", "bins": 100_000},
    {"kind": "fit", "estimator": "KMeans", "parameters": {"n_clusters": 1000, "steps": 1000}},
    {"kind": "fit", "estimator": "KMeans", "parameters": {"n_clusters": 10_000}},
    {"kind": "fit", "estimator": "KMeans", "parameters": {"steps": 1e4}},
    {
        "kind": "fit",
        "estimator": "LogisticRegression",
        "target": "k0",
        "parameters": {"steps": 10**4},
    },
    {
        "kind": "fit",
        "estimator": "GradientBoosting",
        "target": "k0",
        "parameters": {"rounds": 1000},
    },
]


@pytest.mark.parametrize("asked", LARGE)
@pytest.mark.parametrize("kind", ["explain", "ask"])
def test_what_is_too_large_is_refused_before_any_work(house, tmp_path, asked, kind):
    folder = fill(tmp_path / "tables", schema=SCHEMA)
    lines = [",".join(WIDE), ",".join("1" for _ in WIDE)]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    home = house(folder=folder)
    room = Room(home.groups, {name: home._place(name) for name in home.groups})
    task = {"kind": kind, "people": "people", "asker": None, "ask": asked}
    room.do(task | {"kind": "ready"})
    lines = len(home.ledgers["people"].entries)
    answer = said(room, task | {"spend": {"epsilon": 0.5}})
    assert answer["refused"]["cost"] == "nothing was spent"
    assert len(home.ledgers["people"].entries) == lines


def test_ten_thousand_cells_and_more_are_priced(house, tmp_path):
    folder = fill(tmp_path / "tables", schema=SCHEMA)
    (folder / "visits.csv").write_text(",".join(WIDE) + "\n")
    home = house(folder=folder)
    room = Room(home.groups, {name: home._place(name) for name in home.groups})
    asked = {"kind": "marginals", "columns": WIDE[:4], "ways": 4}
    task = {"kind": "explain", "people": "people", "asker": None, "spend": {"epsilon": 0.5}}
    assert "ok" in said(room, task | {"ask": asked})


def test_each_of_many_parts_has_its_own_units():
    """Each part has its own units, sorted; some are empty."""
    rng = np.random.default_rng(5)
    values, parts = rng.integers(0, 50, 400).astype(float), 300
    placed = rng.integers(0, parts, values.size)
    slow = [np.sort(values[placed == part]).tolist() for part in range(parts)]
    assert [part.tolist() for part in _parted(values, placed, parts)] == slow
    many = rng.random(1_000_000)
    assert len(_parted(many, rng.integers(0, 10_000, many.size), 10_000)) == 10_000
