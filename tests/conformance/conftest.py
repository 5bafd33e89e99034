"""Every test that asks for an `example` is run once for each mechanism."""

import pytest

from .examples import EXAMPLES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "example" in metafunc.fixturenames:
        metafunc.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
    if "table" in metafunc.fixturenames:
        metafunc.parametrize("table", [EXAMPLES], ids=["examples"])
