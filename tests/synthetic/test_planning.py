"""What a plan says before anything is spent: errors, shares, steps and notes."""

import math
from statistics import NormalDist
from types import SimpleNamespace

import pytest
from tests.synthetic.people import opened, people

import deniable as dp
from deniable.mechanisms import Gaussian, Laplace
from deniable.release.numbers import digits
from deniable.synthetic import planning
from deniable.synthetic.run import mean_size

NAMES = ["age", "sex", "member"]


def planned(asked, spend, size):
    """The plan for a table that is known to have so many rows."""
    method = asked.chosen()
    run = asked._run(method, asked._purse(spend))
    about = SimpleNamespace(source=SimpleNamespace(size=size, name="t"))
    told = SimpleNamespace(session=asked.session, about=about)
    return planning.planned(told, run, method=method, spend=spend, cliques=asked.cliques(method))


@pytest.mark.parametrize(
    ("method", "shares"),
    [
        ("independent", {"age": 1 / 3, "sex": 1 / 3, "member": 1 / 3}),
        ("tree", {"age": 1 / 12, "sex": 1 / 12, "member": 1 / 12}),
        ("adaptive", {"age": 1 / 30, "sex": 1 / 30, "member": 1 / 30}),
        ("marginals", {"age × sex": 1 / 2, "member": 1 / 2}),
    ],
)
@pytest.mark.parametrize("spend", [dp.rho(0.4), dp.epsilon(0.8)], ids=["gaussian", "laplace"])
def test_errors_are_those_of_noise_for_the_share_of_each_marginal(method, shares, spend):
    """σ with 2σ²·ρ = 1, or the scale 1/ε; half a row more covers whole numbers."""
    s = opened(people(500), dp.epsilon(1.0) if hasattr(spend, "epsilon") else dp.rho(1.0))
    wanted = [["age", "sex"]] if method == "marginals" else None
    asked = s.synthesis(NAMES, method=method, marginals=wanted, bins={"age": 4})
    plan = planned(asked, spend, 500)
    assert plan.errors == asked.explain(spend=spend).errors
    assert set(plan.errors) == {f"count by {name}" for name in shares}
    sizes, off = {"age": 5, "sex": 3, "member": 3, "age × sex": 15}, {}
    for name, share in shares.items():
        if hasattr(spend, "epsilon"):
            scale = 1 / (0.8 * share)
            error, mean = scale * math.log(20) + 0.5, scale
        else:
            sigma = 1 / math.sqrt(2 * 0.4 * share)
            error, mean = sigma * NormalDist().inv_cdf(0.975) + 0.5, sigma * math.sqrt(2 / math.pi)
        assert plan.errors[f"count by {name}"] == pytest.approx(error, rel=1e-3)
        off[name] = f"{digits(100 * min(mean * sizes[name] / 1000, 1.0), significant=2)} %"
    misplaced = [note for note in plan.notes if "misplaces" in note]
    assert misplaced == [
        f"{n}: noise alone misplaces about {x} of the rows" for n, x in off.items()
    ]
    later = [note for note in plan.notes if "chosen during the run" in note]
    assert bool(later) == (method in ("tree", "adaptive"))
    noise = "Laplace" if hasattr(spend, "epsilon") else "Gaussian"
    assert noise in plan.steps[0]
    assert len(plan.steps) == {"tree": 3, "adaptive": 3}.get(method, 1)
    if method == "tree":
        assert "(25 % of the spend)" in plan.steps[0]
        assert "at most 2 of 3" in plan.steps[1]


def test_noise_that_exceeds_the_table_misplaces_all_of_it():
    s = opened(people(5), dp.rho(1.0))
    plan = planned(s.synthesis(NAMES, method="independent"), dp.rho(1e-6), 5)
    assert len(plan.notes) == 3
    assert all("about 100 % of" in note for note in plan.notes)


def test_a_dozen_marginals_are_noted_and_the_rest_counted(monkeypatch):
    s = opened(people(50), dp.rho(1.0))
    asked = s.synthesis(NAMES, method="independent")
    for shown, more in ((3, []), (2, ["… 1 more marginal"]), (1, ["… 2 more marginals"])):
        monkeypatch.setattr(planning, "_SHOWN", shown)
        notes = planned(asked, dp.rho(0.1), 50).notes
        assert len(notes) == shown + len(more)
        assert list(notes[shown:]) == more


@pytest.mark.parametrize("unit", [dp.rows(), dp.person("id", rows=3)], ids=["rows", "persons"])
def test_a_person_counts_as_few_rows(unit):
    s = opened(people(60).assign(id=range(60)), dp.rho(1.0), unit=unit)
    plan = s.synthesis(NAMES, method="independent").explain(spend=dp.rho(0.1))
    noted = [note for note in plan.notes if note.startswith("a person counts")]
    assert noted == (["a person counts as at most 3 rows"] if unit.column else [])


def test_without_a_known_number_of_rows_nothing_is_said_to_be_misplaced():
    s = opened(people(20), dp.rho(1.0))
    asked = s.synthesis(NAMES, method="independent")
    for size, notes in ((0, 0), (None, 0), (1, 3)):
        assert len(planned(asked, dp.rho(0.1), size).notes) == notes


@pytest.mark.parametrize("method", ["marginals", "adaptive"])
def test_steps_tell_how_many_marginals_there_are(method):
    run = SimpleNamespace(
        domain=SimpleNamespace(sizes=(2,) * 60), purse=SimpleNamespace(kind=dp.Pure)
    )
    for count, told in ((1, "1 marginal "), (2, "2 marginals "), (1200, "1,200 marginals ")):
        steps = planning._steps(run, method, [(0, 1)] * count)
        assert any(told in f"{step} " for step in steps), steps


def test_the_mean_size_and_the_reach_of_noise():
    gaussian, laplace = Gaussian(sigma=3.0), Laplace(scale=3.0)
    assert mean_size(gaussian) == pytest.approx(3 * math.sqrt(2 / math.pi))
    assert mean_size(laplace) == 3.0
    assert planning._reach(gaussian) == pytest.approx(3 * 1.959963984540054 + 0.5)
    assert planning._reach(laplace) == pytest.approx(3 * math.log(20) + 0.5)


@pytest.mark.parametrize(
    "noise", [Gaussian(sigma=8.0), Laplace(scale=8.0)], ids=["gaussian", "laplace"]
)
def test_what_is_counted_in_parts_of_rows_errs_by_as_much_less(noise):
    def plan(worth):
        hidden = SimpleNamespace(l1=4.0, l2=4.0, worth=worth)
        purse = SimpleNamespace(
            total=1.0, kind=dp.Pure, noise=lambda *given, **more: noise, due=lambda used: "due"
        )
        domain = SimpleNamespace(sizes=(5,), called=lambda c: "x", size_of=lambda c: 5)
        run = SimpleNamespace(domain=domain, marginals={(0,): hidden}, purse=purse)
        ledger = SimpleNamespace(filter=None, left=None, left_after=lambda due: None)
        session = SimpleNamespace(ledger=ledger, unit=dp.rows(), version="v")
        about = SimpleNamespace(source=SimpleNamespace(size=1000, name="t"))
        asked = SimpleNamespace(session=session, about=about)
        spend = dp.epsilon(1.0)
        return planning.planned(asked, run, method="independent", spend=spend, cliques=[(0,)])

    whole, parts = plan(1.0), plan(0.25)
    assert parts.errors["count by x"] == whole.errors["count by x"] / 4
    for told, worth in ((whole, 1.0), (parts, 0.25)):
        off = f"{100 * mean_size(noise) * worth * 5 / 2000:.2g} %"
        assert told.notes == (f"x: noise alone misplaces about {off} of the rows",)
