"""A test that asks for an `example` is run for each mechanism; an `erring` one states a ±."""

import pytest

from .examples import EXAMPLES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "example" in metafunc.fixturenames:
        metafunc.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
    if "erring" in metafunc.fixturenames:
        erring = {name: e for name, e in EXAMPLES.items() if e.error is not None}
        metafunc.parametrize("erring", erring.values(), ids=erring.keys())
    if "table" in metafunc.fixturenames:
        metafunc.parametrize("table", [EXAMPLES], ids=["examples"])
