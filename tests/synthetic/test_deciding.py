"""What a synthesis decides before it reads anything: the method, the marginals, who counts them."""

import math
from contextlib import nullcontext
from functools import partial
from itertools import combinations
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.synthetic import synthesis as module
from deniable.synthetic.synthesis import Interrupted, Synthesis


def of(sizes=(2, 3, 5), *, method="auto", marginals=None, bins=None, cells=30, **more):
    """What a method of a synthesis looks at, with columns of these sizes."""
    domain = SimpleNamespace(
        sizes=tuple(sizes), size_of=lambda clique: math.prod(sizes[a] for a in clique)
    )
    made = SimpleNamespace(
        domain=domain, method=method, marginals=marginals, bins=bins, cells=cells, about="about"
    )
    made._usual = lambda: Synthesis._usual(made)
    made.cliques = lambda method: Synthesis.cliques(made, method)
    vars(made).update(more)
    return made


@pytest.mark.parametrize(
    ("columns", "method"),
    [(1, "independent"), (2, "tree"), (3, "adaptive"), (40, "adaptive"), (41, "tree")],
)
def test_the_usual_method_follows_from_the_number_of_columns(columns, method):
    assert Synthesis._usual(of((2,) * columns)) == method
    assert Synthesis.chosen(of((2,) * columns)) == method


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({"method": "tree"}, "tree"),
        ({"marginals": [["x"]]}, "marginals"),
        ({"method": "adaptive", "marginals": [["x"]]}, "adaptive"),
        ({"method": "marginals", "marginals": [["x"]]}, "marginals"),
        ({"method": "adaptive", "bins": "private"}, "adaptive"),
        ({"sizes": (2,) * 250, "method": "tree"}, "tree"),
        ({"sizes": (2,) * 251, "method": "independent"}, "independent"),
        ({"method": "guess"}, ValueError("method must be")),
        ({"method": "marginals"}, ValueError("needs marginals=")),
        ({"method": "tree", "marginals": [["x"]]}, ValueError("finds its own marginals")),
        ({"method": "independent", "marginals": [["x"]]}, ValueError("finds its own marginals")),
        ({"sizes": (2,) * 251, "method": "tree"}, ValueError("takes at most 250 columns")),
        ({"sizes": (2,) * 251, "method": "adaptive"}, ValueError("takes at most 250 columns")),
        ({"method": "tree", "bins": "public"}, ValueError("bins must be")),
        ({"method": "independent", "bins": "private"}, ValueError("does not go with")),
    ],
)
def test_a_method_is_taken_or_refused_by_public_facts(facts, found):
    if isinstance(found, str):
        assert Synthesis.chosen(of(**facts)) == found
    else:
        with pytest.raises(dp.BadParameter, match=str(found)):
            Synthesis.chosen(of(**facts))


@pytest.mark.parametrize(
    ("facts", "method", "cliques"),
    [
        ({}, "independent", [(0,), (1,), (2,)]),
        ({"cells": 10}, "tree", [(0, 1), (0, 2)]),
        ({}, "adaptive", [(0, 1, 2)]),  # 30 cells, which is the most
        ({"cells": 29}, "adaptive", [(0,), (1,), (2,)]),
        ({"sizes": (2, 2)}, "adaptive", [(0, 1)]),
        ({"sizes": (2, 2, 2, 5), "cells": 8}, "adaptive", [(0, 1, 2)]),
        ({"sizes": (2, 2, 2, 5), "cells": 8}, "marginals", [(0, 1, 2), (3,)]),
        ({"marginals": [(0, 2)]}, "marginals", [(0, 2), (1,)]),
        ({"marginals": [(0, 2)]}, "adaptive", [(0, 2)]),
        ({"sizes": (1,) * 40}, "adaptive", list(combinations(range(40), 3))),
        ({"sizes": (1,) * 41}, "adaptive", list(combinations(range(41), 2))),
    ],
)
def test_marginals_are_all_that_fit_or_those_asked_for(facts, method, cliques, monkeypatch):
    monkeypatch.setattr(module, "workload_of", lambda domain, asked, *, largest: list(asked))
    assert Synthesis.cliques(of(**facts), method) == cliques


LIMITS = {"MOST_SENT": 20, "MOST_TABULATED": 40, "MOST_COUNTED": 16, "MOST_ASKED": 6}


@pytest.mark.parametrize(
    ("sizes", "method", "apart", "who"),
    [
        ((8,), "independent", False, "counted"),  # 16 cells: each column is named twice
        ((9,), "independent", False, "tabulated"),
        ((2, 2), "independent", False, "counted"),
        ((1, 1, 1), "independent", False, "counted"),  # six marginals
        ((1, 1, 1, 1), "independent", False, "tabulated"),
        ((1, 1, 1), "adaptive", True, "tabulated"),
        ((20,), "independent", False, "tabulated"),
        ((21,), "independent", False, "listed"),
        ((2,), "independent", True, "tabulated"),
        ((10,), "independent", True, "tabulated"),
        ((11,), "independent", True, "listed"),
        ((2, 2), "adaptive", False, "listed"),
        ((2, 2), "adaptive", True, "tabulated"),
        ((4, 4), "adaptive", True, "listed"),  # 24 cells: both columns and the pair
    ],
)
def test_rows_are_counted_where_that_takes_least(sizes, method, apart, who, monkeypatch):
    asked = []

    def counting(name):
        return lambda about, domain, *wanted: asked.extend(wanted) or name

    for name, most in LIMITS.items():
        monkeypatch.setattr(module, name, most)
    monkeypatch.setattr(module, "is_apart", lambda about: apart)
    for name in ("Listed", "Tabulated", "counted"):
        monkeypatch.setattr(module, name, counting(name.lower()))
    made = of(sizes, cells=100)
    assert Synthesis._hidden(made, method) == who
    if who != "listed":
        singles = [(a,) for a in range(len(sizes))]
        wanted = {*singles, *made.cliques(method)}
        if method == "adaptive":  # and every part of those
            wanted |= {
                part for c in wanted for n in range(1, len(c)) for part in combinations(c, n)
            }
        assert set(asked[0]) == wanted


@pytest.mark.parametrize("method", ["tree", "adaptive", "marginals", "independent"])
def test_each_method_takes_its_own_steps(method, monkeypatch):
    monkeypatch.setattr(module, "tree", lambda run, cliques: ("tree", run, cliques))
    monkeypatch.setattr(module, "fixed", lambda run, cliques: ("fixed", run, cliques))
    monkeypatch.setattr(module, "adaptive", lambda run, c, *, cells: ("adaptive", run, c, cells))
    found = Synthesis._steps(of(cliques=lambda method: ["cliques of", method]), "run", method)
    name = method if method in ("tree", "adaptive") else "fixed"
    wanted = (name, "run", ["cliques of", method], *([30] if method == "adaptive" else []))
    assert found == wanted


@pytest.mark.parametrize(("bins", "most"), [(None, None), ("private", 32), ({"x": 3}, None)])
def test_private_bins_are_few_groups(bins, most, monkeypatch):
    monkeypatch.setattr(module, "Run", SimpleNamespace)
    made = of(bins=bins, start=("model", "zeros"), _hidden=lambda method: "hidden " + method)
    run = Synthesis._run(made, "tree", "purse")
    assert (run.most_groups, run.fixed, run.marginals) == (most, "zeros", "hidden tree")


@pytest.mark.parametrize("measured", [[], ["something"]])
def test_a_run_that_ended_early_is_what_it_measured(measured):
    run = SimpleNamespace(measured=measured, notes=[])
    made = of(_made=lambda run, method, spend: (method, spend, list(run.notes)))
    found = Synthesis._rest(made, run, "tree", "spend", "interrupted")
    note = "interrupted: only what was measured until then is in the model"
    assert found == (("tree", "spend", [note]) if measured else None)


def test_who_interrupts_a_run_is_told_where_its_rest_is():
    error = Interrupted(None)
    assert "error.synthetic" in str(error)
    assert error.synthetic is None


@pytest.mark.parametrize("fails", [None, RuntimeError(), KeyboardInterrupt()])
@pytest.mark.parametrize("converged", [True, False])
@pytest.mark.parametrize("person", [None, "who"])
def test_a_model_is_fitted_to_the_end_and_says_what_it_lacks(person, converged, fails, monkeypatch):
    fitted = []

    def refit(*, steps):
        fitted.append(steps)
        if fails is not None:
            raise fails

    for name in ("Release", "Synthetic"):
        monkeypatch.setattr(module, name, SimpleNamespace)
    monkeypatch.setattr(module, "_provenance", lambda *given: given)
    run = SimpleNamespace(
        converged=converged, refit=refit, notes=["first"], mechanisms=[], charges=[],
        unfolded="model", total=7.0, measured=["m"],
    )  # fmt: skip
    session = SimpleNamespace(unit=SimpleNamespace(column=person, rows=3))
    about = SimpleNamespace(source=SimpleNamespace(name="table"))
    found = Synthesis._made(of(session=session, about=about), run, "tree", "spend")
    assert len(fitted) == (not converged)
    notes = ["first", "cut short", "at most 3 rows per person"]
    kept = [True, not converged and fails is not None, person is not None]
    wanted = [note for note, there in zip(notes, kept, strict=True) if there]
    assert len(found.notes) == len(wanted)
    assert all(part in note for part, note in zip(wanted, found.notes, strict=True))
    assert (found.model, found.total, found.release.loss) == ("model", 7.0, "spend")


ENDINGS = [None, dp.BudgetExceeded("no more"), KeyboardInterrupt(), ZeroDivisionError()]


@pytest.mark.parametrize("ends", ENDINGS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("measured", [[], ["something"]])
def test_what_was_paid_for_is_kept_however_a_run_ends(ends, measured, monkeypatch):
    run = SimpleNamespace(measured=measured, notes=[], charges="charges")
    checked = []

    def driven(steps, *, name, charges):
        assert (steps, charges, checked) == ("steps", "charges", ["due spend"])
        if ends is not None:
            raise ends

    session = SimpleNamespace(
        spending=lambda spend: spend, run=driven, ledger=SimpleNamespace(check=checked.append)
    )
    monkeypatch.setattr(module, "offering", lambda *given: nullcontext())
    made = of(
        session=session, chosen=lambda: "tree", _purse=lambda spend: "purse",
        _run=lambda method, purse: run, _due=lambda spend: f"due {spend}",
        _steps=lambda run, method: "steps", _made=lambda run, *more: ("made", list(run.notes)),
        _rest=lambda run, method, spend, why: ("rest", why),
    )  # fmt: skip
    release = partial(Synthesis.release, made, spend="spend")
    if ends is None:
        assert release() == ("made", [])
    elif isinstance(ends, dp.BudgetExceeded) and measured:
        assert release() == ("made", ["the budget ran out before all was spent on this table"])
    elif isinstance(ends, KeyboardInterrupt):
        with pytest.raises(Interrupted) as stopped:
            release()
        assert stopped.value.synthetic == ("rest", "interrupted")
    else:
        with pytest.raises(type(ends)) as stopped:
            release()
        if not isinstance(ends, dp.BudgetExceeded):
            assert stopped.value.synthetic == ("rest", "stopped by an error")


@pytest.mark.parametrize(
    ("columns", "person", "names"),
    [
        (None, None, ["who", "age", "sex"]),
        (None, "who", ["age", "sex"]),
        (["sex"], "who", ["sex"]),
        (["who"], None, ["who"]),
        (["who", "age"], "who", None),
    ],
)
@pytest.mark.parametrize(
    ("bins", "used"), [(None, None), ("private", 256), ({"age": 3}, {"age": 3})]
)
def test_all_columns_but_the_one_that_identifies_people(
    columns, person, names, bins, used, monkeypatch
):
    source = SimpleNamespace(columns=["who", "age", "sex"], column=lambda name: f"column {name}")
    monkeypatch.setattr(module, "distinct_columns", lambda about, what, asked: list(asked))
    monkeypatch.setattr(module, "domain_of", lambda columns, *, bins: (list(columns), bins))
    monkeypatch.setattr(module, "refined", lambda domain, columns, constraints: domain)
    made = of(
        about=SimpleNamespace(source=source), columns=columns, bins=bins, constraints=(),
        session=SimpleNamespace(unit=SimpleNamespace(column=person)),
    )  # fmt: skip
    if names is None:
        with pytest.raises(dp.BadParameter, match="identifies people"):
            Synthesis.domain.func(made)
    else:
        assert Synthesis.domain.func(made) == (names, used)
