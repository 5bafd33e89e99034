"""Figures recorded from the code, with every allowance for rounding made large enough to show.

Other tests compare prices with the truth, to the last digit. But a bound on the error of an
integral or of a sum is mostly far above the error itself, so that no truth notices when a part of
the bound is lost. Here an ulp is 2⁻²⁰: whatever is allowed for rounding then shows in the sixth
digit, and the figures are compared to ten. They also hold the choices that cost time or tightness
alone, such as the width of a window.

After a change that is meant, record them again: `python -m tests.losses.figures`.
"""

import contextlib
import dataclasses
import importlib
import json
import math
import pkgutil
from pathlib import Path

import numpy as np

from deniable import losses

HERE = Path(__file__).parent
RECORD = HERE / "figures.json"
COARSE = 2.0**-20


@contextlib.contextmanager
def coarse():
    """An ulp of 2⁻²⁰ wherever losses allow for one, and nothing remembered from before."""
    names = [each.name for each in pkgutil.walk_packages(losses.__path__, "deniable.losses.")]
    inside = [importlib.import_module(name) for name in names]  # all: none may come later
    patched = [
        (module, name, getattr(module, name))
        for module in inside
        for name in ("ULP", "FORMULA_ERROR")
        if hasattr(module, name)
    ]
    forget = [f for m in inside for f in vars(m).values() if hasattr(f, "cache_clear")]
    try:
        for module, name, _ in patched:
            setattr(module, name, COARSE)
        for function in forget:
            function.cache_clear()
        yield
    finally:
        for module, name, was in patched:
            setattr(module, name, was)
        for function in forget:
            function.cache_clear()


def check(part, case, compute, *, within=1e-10):
    """The figures of a case are as recorded, to a share `within` of each."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))[part][case]
    np.testing.assert_allclose(found(compute), recorded, rtol=within)


def found(compute):
    with coarse():
        return [*_flat(compute())]


def _flat(value):
    """All numbers inside, in order."""
    if value is None or isinstance(value, str):
        return
    if isinstance(value, dict):
        value = [*value.values()]
    if dataclasses.is_dataclass(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if isinstance(value, complex):
        value = [value.real, value.imag]
    if isinstance(value, list | tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield float(value)


def main():
    tests = sorted(p for p in HERE.rglob("test_*.py") if "figures.check(" in p.read_text("utf-8"))
    record = {}
    for path in tests:
        name = ".".join(path.relative_to(HERE.parents[1]).with_suffix("").parts)
        module = importlib.import_module(name)
        record[module.PART] = {case: found(compute) for case, compute in module.CASES.items()}
        numbers = [x for case in record[module.PART].values() for x in case]
        assert not any(map(math.isnan, numbers)), path
    lines = [
        f"  {json.dumps(part)}: {{\n"
        + ",\n".join(f"    {json.dumps(case)}: {json.dumps(held)}" for case, held in cases.items())
        + "\n  }"
        for part, cases in record.items()
    ]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
