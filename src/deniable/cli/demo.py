"""See deniable at work: noise, its price, a ledger that refuses, an auditor that finds a fault.

python -m deniable.cli.demo
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

import deniable as dp
from deniable import data
from deniable.audit import audit
from deniable.losses import textbook

_WIDTH = 44


def main() -> int:
    """Tell the story, a chapter at a time."""
    for chapter in (noise, price, session, fault):
        sys.stdout.write(f"\n{chapter.__doc__}\n\n")
        for line in chapter():
            sys.stdout.write(f"  {line}\n")
    sys.stdout.write("\nNext: README.md, docs/guides/open-a-session.md\n")
    return 0


def noise() -> Iterator[str]:
    """1. Exact noise: a million draws of DiscreteLaplace(scale=3) against its law."""
    draws = dp.DiscreteLaplace(scale=3).release(np.zeros(1_000_000, dtype=np.int64))
    points = np.arange(-10, 11)
    law = np.exp(-np.abs(points) / 3) * np.tanh(1 / 6)
    seen = np.array([(draws == point).mean() for point in points])
    yield from bars(points, seen, law)
    worst = np.abs(seen - law).max()
    chance = 4 * np.sqrt(law.max() / draws.size)
    yield f"furthest from its law: {worst:.5f}, which chance alone explains (±{chance:.5f})"


def bars(
    points: NDArray[np.int64], seen: NDArray[np.float64], law: NDArray[np.float64]
) -> Iterator[str]:
    """A bar a point for what was seen, with a mark where the law says it should end."""
    top = max(seen.max(), law.max())
    for point, share, exact in zip(points, seen, law, strict=True):
        bar = "█" * round(_WIDTH * share / top)
        mark = round(_WIDTH * exact / top)
        line = bar.ljust(mark)[:mark] + "│" + bar[mark:]
        yield f"{point:>4} {line.ljust(_WIDTH + 2)} {share:.4f}"


def price() -> Iterator[str]:
    """2. Its price: what k answers at ε = 0.1 each cost together, at δ = 1e-6."""
    delta, each = 1e-6, 0.1
    yield f"{'k':>6} {'added up':>10} {'advanced':>10} {'zCDP':>10} {'tight (Laplace)':>16}"
    for k in (1, 10, 100, 1000):
        tight = (k * dp.Laplace(scale=1 / each)).epsilon_at(delta)
        zcdp = (k * dp.Laplace(scale=1 / each).loss(dp.Zcdp)).epsilon_at(delta)
        advanced = textbook.advanced(each, times=k, delta=delta)
        yield f"{k:>6} {k * each:>10.3f} {advanced:>10.3f} {zcdp:>10.3f} {tight:>16.3f}"


def session() -> Iterator[str]:
    """3. A session on the UCI Adult data: charge, compute, draw; then a question too many."""

    def over_40() -> int:
        people = duckdb.read_parquet(str(data.PATH)).filter("age > 40")
        return int(people.count("*").fetchall()[0][0])

    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "census.ledger"
        s = dp.open(data.PATH, unit=dp.rows(), budget=dp.epsilon(1.0), ledger=ledger)
        count = dp.Sensitive(over_40, l1=1, unit=dp.rows())
        mechanism = dp.Laplace.calibrate(epsilon=0.8)
        yield f"before asking: ±{mechanism.error(0.95):.2f} with 95 %, for ε 0.8"
        yield from str(s.release(mechanism.on(count), question="how many are over 40?")).split("\n")
        try:
            s.release(dp.Laplace.calibrate(epsilon=0.5).on(count), question="once more?")
        except dp.BudgetExceeded as refused:
            yield from str(refused).split("\n")
        yield from str(s).split("\n")


def fault() -> Iterator[str]:
    """4. An auditor: two mechanisms that claim ε = 1, one of them with 10 % too little noise."""
    for name, scale in (("right", 1.0), ("wrong", 0.9)):
        verdict = audit(
            None,
            0.0,
            1.0,
            epsilon=1.0,
            batch=partial(answers, dp.Laplace(scale=scale)),
            confidence=1 - 1e-6,
            samples=400_000,
        )
        yield f"{name}: {str(verdict).splitlines()[0]}"


def answers(mechanism: dp.Mechanism, value: float, n: int) -> object:
    """That many answers about one value."""
    return mechanism.release(np.full(n, value))


if __name__ == "__main__":
    sys.exit(main())
