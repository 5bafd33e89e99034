"""The tables that are made of measured figures say what the figures say."""

import copy
import datetime as dt
import re

import pytest
from bench import _figures

KEPT = _figures.load()
MADE = _figures.pages(KEPT)


@pytest.mark.parametrize("page", MADE)
def test_the_tables_of_a_page_are_what_the_kept_figures_make(page: str):
    assert (_figures.ROOT / page).read_text(encoding="utf-8") == MADE[page], (
        "write them anew: ./script/bench --tables"
    )


def test_no_claim_lacks_its_figure():
    tables = (_figures.ROOT / "bench" / "tables.md").read_text(encoding="utf-8")
    places = _figures.PLACE.findall(tables)
    assert len(places) > 100
    assert [place for place in places if _figures._figure(KEPT, *place) == "not run"] == []


@pytest.mark.parametrize("page", ["README.md", "docs/explain/comparison.md"])
def test_every_claim_names_a_benchmark_that_exists(page: str):
    named = re.findall(r"`(bench/\S+)` \|$", MADE[page], re.MULTILINE)
    assert len(named) >= 5
    assert all((_figures.ROOT / each).exists() for each in named)


def test_every_figure_has_a_unit_a_date_and_the_command_that_measures_it():
    for bench, figures in KEPT.items():
        for name, figure in figures.items():
            assert set(figure) == {"value", "unit", "date", "command"}, name
            assert isinstance(figure["value"], float)
            dt.date.fromisoformat(figure["date"])
            assert figure["command"].split()[:2] == ["./script/bench", bench]
        where = _figures.ROOT / "bench" / bench
        assert where.is_dir() or where.with_suffix(".py").is_file()


def test_another_figure_would_make_another_table():
    other = copy.deepcopy(KEPT)
    other["sampling"]["whole Laplace 10 OpenDP"]["value"] *= 2
    made = _figures.pages(other)
    assert all(made[page] != MADE[page] for page in MADE)


def test_a_run_replaces_its_own_figures_and_keeps_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(_figures, "KEPT", tmp_path / "figures.toml")
    monkeypatch.setattr(_figures, "_measured", {})
    _figures.measured("ε of A, ours", 1.25, "")
    _figures.measured("B", float("inf"), "ms")
    _figures.measured("a peer that is not installed", None, "ms")
    _figures.save("accounting", "./script/bench accounting")
    _figures.measured("B", 3, "ms")
    _figures.save("accounting", "./script/bench accounting 2")
    found = _figures.load()["accounting"]
    assert {name: figure["value"] for name, figure in found.items()} == {
        "ε of A, ours": 1.25,
        "B": 3.0,
    }
    assert [figure["command"][-1] for figure in found.values()] == ["g", "2"]


@pytest.mark.parametrize(
    ("form", "said"),
    [(",.0f", "10,930"), (".1f", "10929.5"), (".0e", "1e+4")],
)
def test_a_place_is_filled_in_its_format(form: str, said: str):
    kept = {"b": {"x": {"value": 10929.5}, "y": {"value": 2.0}, "z": {"value": -5.2e-5}}}
    assert _figures._figure(kept, "b", "x", form) == said
    assert _figures._figure(kept, "b", "x ÷ y", ".2f") == "5464.75"
    assert _figures._figure(kept, "b", "z", ".0e") == "−5e-5"
    assert _figures._figure(kept, "b", "nobody", ".0e") == "not run"
