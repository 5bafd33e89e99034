"""Certificates: everything a sceptic needs, and a registry's fields."""

import hashlib
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.mechanisms.numbers import Gaussian, Laplace
from deniable.release.certificate import (
    _MOST_ROWS,
    OPENED,
    _answer,
    _check,
    _claim,
    _counted,
    _loss,
    _mechanism,
    _registry,
    certify,
)
from deniable.schema import Schema, bounds
from deniable.session import open as open_session


@pytest.fixture
def made():
    session = open_session(
        pa.table({"age": [1.0], "id": [7]}),
        unit=dp.person("id", rows=10, groups=3),
        budget=dp.epsilon(3, delta=1e-7),
        schema=Schema(columns={"age": bounds(0, 125)}),
    )
    step = Gaussian(sigma=30.0, sensitivity=10.0).on(
        dp.Sensitive(lambda: np.zeros(2), l2=10, shape=2)
    )
    return session.release(step, question="how <old>")


@pytest.fixture
def certificate(made):
    return made.certificate()


def test_it_states_the_claim_and_how_to_check_it(certificate):
    claim, loss = certificate["claim"], certificate["loss"]
    assert (
        claim["protects"]
        == "any one person (id; counted as at most 10 rows in 3 groups), added or removed"
    )
    assert "all rows of one person" in claim["neighbours"]
    assert claim["all_releases_together"].startswith("at most ε 3, δ 1e-07")
    assert "1e-07" in loss["epsilon_at_delta"]
    (mechanism,) = certificate["mechanisms"]
    assert mechanism["mechanism"] == "gaussian"
    assert mechanism["sigma"] == 30.0
    assert mechanism["lattice"].startswith("multiples of 2^")
    assert "numerics" in mechanism
    assert (
        "[DRS22, Thm 2.7]; ρ-zCDP, ρ = Δ₂²/2σ² [BS16, Prop. 1.6]; (ε, δ)-DP" in mechanism["privacy"]
    )
    assert len(certificate["ledger"]["entry_hash"]) == 64
    assert certificate["ledger"]["charged"]
    assert certificate["question"]["bounds"] == {"data.age": "bounds(0.0, 125.0)"}
    assert certificate["software"]["deniable"] == dp.__version__
    assert certificate["randomness"]


def test_the_registry_part_leaves_to_the_curator_what_only_they_know(certificate):
    deployment = certificate["registry"]["deployment"]
    assert deployment["product"]["name"] is None
    assert deployment["product"]["data_product_sector"] is None
    assert deployment["dp_flavor"]["name"] == "Approximate DP"
    assert deployment["privacy_loss"]["privacy_parameters"]["delta"] == 1e-7
    assert deployment["privacy_loss"]["privacy_unit"] == "User-level"
    assert deployment["model"]["model_name"] == "Central"


def test_it_reads_as_json_html_and_text(certificate, tmp_path):
    assert json.loads(certificate.to_json(tmp_path / "c.json")) == certificate.to_dict()
    page = certificate.to_html(tmp_path / "c.html")
    assert (tmp_path / "c.html").read_text(encoding="utf-8") == page
    assert "how &lt;old&gt;" in page
    assert "<script" not in page
    assert "for the curator to fill" in page
    assert "sigma: 30.0" in str(certificate)
    assert "entry" in certificate._repr_html_()
    assert set(certificate) == set(dict(certificate))
    assert len(certificate) > 5


@pytest.mark.parametrize("count", [4, 100, 101])
def test_every_group_that_was_stated_can_be_checked(count):
    """A long list is told by the hash of the column as one would write it."""
    keys = dp.keys([f"ward {i}" for i in range(count)])
    session = open_session(
        pa.table({"ward": ["ward 0"]}),
        unit=dp.rows(),
        budget=dp.epsilon(1),
        schema=Schema(columns={"ward": keys}),
        name="t",
    )
    told = certify(session.release(Laplace(scale=9.0).on(dp.Sensitive(lambda: 0.0, l1=1.0))))
    stated, whole = told["question"]["bounds"]["t.ward"], keys.shown(most=count)
    assert whole.count("'ward ") == count
    if count <= 100:
        assert stated == whole
    else:
        assert stated.startswith(repr(keys))
        assert hashlib.sha256(whole.encode()).hexdigest() in stated


@pytest.mark.parametrize(
    ("budget", "flavour"),
    [(dp.epsilon(1), "Pure DP"), (dp.rho(1), "Zero-concentrated DP"), (dp.mu(1), "Gaussian DP")],
    ids=str,
)
def test_every_kind_of_session_can_certify(budget, flavour):
    session = open_session(pa.table({"a": [1]}), unit=dp.rows(relation="replace"), budget=budget)
    mechanism = Laplace(scale=10.0) if flavour == "Pure DP" else Gaussian(sigma=10.0)
    certificate = session.release(mechanism.on(dp.Sensitive(lambda: 1.0, l1=1))).certificate()
    assert certificate["registry"]["deployment"]["dp_flavor"]["name"] == flavour
    assert "differ in one row" in certificate["claim"]["neighbours"]
    json.loads(certificate.to_json())


def leaves(held, path=""):
    if isinstance(held, dict):
        for name, part in held.items():
            yield from leaves(part, f"{path}/{name}")
    else:
        yield path, held


def test_what_nobody_said_is_stated_in_words_and_not_left_blank(certificate):
    blank = [path for path, held in leaves(certificate.to_dict()) if held is None or held == ""]
    assert [path for path in blank if not path.startswith("/registry/")] == []


@pytest.mark.parametrize(
    ("named", "shown"), [({}, "not given"), ({"version": "2026-11"}, "2026-11")]
)
def test_it_names_the_version_of_the_data(named, shown):
    session = open_session(pa.table({"age": [1.0]}), unit=dp.rows(), budget=dp.epsilon(3), **named)
    step = Laplace(scale=1.0).on(dp.Sensitive(lambda: 0.0, l1=1))
    assert session.release(step).certificate()["question"]["data_version"] == shown


@pytest.mark.parametrize("count", [1, _MOST_ROWS - 1, _MOST_ROWS, _MOST_ROWS + 7])
def test_a_short_answer_is_stated_row_by_row_and_a_long_one_by_its_hash(count):
    lines = ["city,n", *(f"c{i},{i}" for i in range(count))]
    text = "\n".join(lines) + "\n"
    found = _answer(SimpleNamespace(to_csv=lambda: text))
    if count + 1 <= _MOST_ROWS:
        assert found == lines
    else:
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert found == {"rows": count, "sha256 of r.to_csv()": digest}


def released(loss, **facts):
    """What a certificate reads of a release."""
    where = {"question": "how many", "time": "2026-11-18T05:00:00", "version": "1", "budget": {}}
    given = {"loss": loss, "unit": dp.rows(), "free": None, "provenance": SimpleNamespace(**where)}
    return SimpleNamespace(**(given | facts))


def test_the_registry_has_the_figures_of_a_loss_and_none_of_a_curve():
    for loss, figures in (
        (dp.epsilon(0.5, delta=1e-7), {"epsilon": 0.5, "delta": 1e-7}),
        (dp.rho(0.25), {"rho": 0.25}),
        (Gaussian(sigma=2.0).loss(dp.losses.Renyi), None),
    ):
        held = _registry(released(loss), [])["deployment"]
        assert held["privacy_loss"]["privacy_parameters"] == figures
        assert held["privacy_loss"]["privacy_unit"] == "Row-level"
        assert held["model"]["model_name"] == "Central"
        assert held["implementation"]["mechanisms"] == "none; deniable 1"
        assert held["product"]["publication_date"] == "2026-11-18"
    person = released(dp.rho(1.0), unit=dp.person("id", rows=2))
    found = _registry(person, [{"mechanism": "laplace"}, {"mechanism": "gaussian"}] * 2)
    held = found["deployment"]
    assert held["privacy_loss"]["privacy_unit"] == "User-level"
    assert held["implementation"]["mechanisms"] == "gaussian, laplace; deniable 1"


def test_what_was_paid_at_an_opening_and_what_all_releases_may_cost_is_claimed():
    assert not {"paid", "all_releases_together"} & set(_claim(released(dp.rho(0.1))))
    opened = _claim(released(dp.rho(0.1), free=OPENED))
    assert opened["paid"].startswith(OPENED)
    with_budget = released(dp.rho(0.1))
    with_budget.provenance.budget = dp.rho(2.0).to_dict()
    assert _claim(with_budget)["all_releases_together"].startswith("at most ρ 2")


def test_a_loss_is_shown_at_usual_deltas_and_at_that_of_the_budget():
    loss = Gaussian(sigma=2.0).loss(dp.losses.Gdp)
    usual = _loss(loss, {})["epsilon_at_delta"]
    assert list(usual) == ["1e-05", "1e-06", "1e-07", "1e-09"]
    assert "1e-08" in _loss(loss, {"delta": 1e-8})["epsilon_at_delta"]
    for delta, shown in usual.items():
        truth = loss.epsilon_at(float(delta))
        assert truth <= float(shown) <= truth * 1.01


def test_noise_and_charges_are_listed_where_there_are_any(made):
    plain = certify(made)
    assert not {"noise", "units"} & set(plain)
    assert "all_charges" not in plain["ledger"]
    where = replace(made.provenance, noise=("Laplace ± 3 rows",), entries=("ab", "cd"), time="")
    full = certify(replace(made, provenance=where))
    assert full["noise"] == ["Laplace ± 3 rows"]
    assert "in steps of the lattice" in full["units"]
    assert full["ledger"]["all_charges"] == ["ab", "cd"]
    assert full["registry"]["deployment"]["product"]["publication_date"] is None


@pytest.mark.parametrize(
    ("entry", "entry_hash", "counted", "check"),
    [
        (3, "ab", "of all askers", "The hash is the head of the ledger's hash chain"),
        (0, "ab", "of all askers", "The hash is the head of the ledger's hash chain"),
        (None, "ab", "this asker's own", "The hash is keyed: the curator finds the charge"),
        (None, "", "this asker's own", "Another asker with the same budget was charged"),
    ],
)
def test_how_to_check_depends_on_what_the_asker_may_know(entry, entry_hash, counted, check):
    where = SimpleNamespace(entry=entry, entry_hash=entry_hash)
    assert counted in _counted(where)
    assert _check(where).startswith(check)
    assert _check(where).endswith("unless you keep a copy of its head elsewhere.")


def test_a_mechanism_has_its_lattice_if_any_and_an_unknown_one_only_its_record():
    record = Laplace(scale=10.0).to_dict()
    lattice = Laplace(scale=10.0).lattice
    assert _mechanism(record)["lattice"] == f"multiples of 2^{lattice.exponent}"
    whole = dp.DiscreteLaplace(scale=2.0).to_dict()
    assert "lattice" not in _mechanism(whole)
    assert _mechanism(whole)["privacy"]
    unknown = {"mechanism": "of another library", "scale": 3.0}
    assert _mechanism(unknown) == unknown
