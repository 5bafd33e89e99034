"""A test that asks for an `example` is run for each mechanism.

An `erring` one states a ±; a `numeric` one takes numbers, a `listed` one a list of them; a
`sampling` one draws a sample; two of a `light` one stay within a δ of 0.12.
"""

import pytest

from .examples import EXAMPLES

NOT_NUMERIC = ("best_of", "catastrophe", "convex_exponential", "objective_perturbation")
KINDS = {
    "erring": lambda e: e.error is not None,
    "numeric": lambda e: e.mechanism.name not in NOT_NUMERIC,
    "listed": lambda e: "shape" in e.declared and not callable(e.first),
    "sampling": lambda e: e.mechanism.name.startswith("sampled"),
    "light": lambda e: 2 * e.mechanism.approx()[1] <= 0.12,
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "example" in metafunc.fixturenames:
        metafunc.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
    for kind, belongs in KINDS.items():
        if kind in metafunc.fixturenames:
            some = {name: e for name, e in EXAMPLES.items() if belongs(e)}
            metafunc.parametrize(kind, some.values(), ids=some.keys())
    if "table" in metafunc.fixturenames:
        metafunc.parametrize("table", [EXAMPLES], ids=["examples"])
