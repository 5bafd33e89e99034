"""The whole story in a minute: an attack, and how noise, prices, a ledger and an auditor answer it.

python -m deniable.cli.demo
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

import deniable as dp
from deniable import data
from deniable.audit import audit
from deniable.ledger import Ledger
from deniable.losses import textbook
from deniable.release.numbers import shown_error

_WIDTH = 44
_RICH = "SELECT COUNT(*) AS n FROM adult WHERE income = '>50K'"
_BUT_ONE = f"{_RICH} AND NOT (age = 71 AND education = 'Doctorate')"


def main() -> int:
    """Tell the story, a chapter at a time."""
    with tempfile.TemporaryDirectory() as folder:
        with dp.open(
            data.PATH,
            unit=dp.rows(),
            schema=dp.Schema(columns={"age": dp.bounds(0, 125, type="int")}),
            budget=dp.epsilon(1.0),
            ledger=Path(folder) / "adult.ledger",
        ) as session:
            for chapter in (attack, partial(private, session), partial(refused, session)):
                tell(chapter)
        for chapter in (noise, price, fault):
            tell(chapter)
    sys.stdout.write(
        "\nNext: deniable init people.parquet, docs/guides/command-line.md, README.md\n"
    )
    return 0


def tell(chapter: Callable[[], Iterator[str]]) -> None:
    """A heading, and what the chapter has to say."""
    sys.stdout.write(f"\n{getattr(chapter, 'func', chapter).__doc__}\n\n")
    for line in chapter():
        sys.stdout.write(f"  {line}\n" if line else "\n")
    sys.stdout.flush()


def attack() -> Iterator[str]:
    """1. An attack on the raw table (UCI Adult): two harmless counts, and one person's income"""
    with duckdb.connect() as engine:
        engine.read_parquet(str(data.PATH)).create_view("adult")
        counts = [engine.execute(text).fetchall()[0][0] for text in (_RICH, _BUT_ONE)]
    yield "You know someone of 71 with a doctorate, and that they were asked. Two questions:"
    for text, count in zip((_RICH, _BUT_ONE), counts, strict=True):
        yield f"{count:>8,}  {text}"
    told = "more" if counts[0] - counts[1] == 1 else "no more"
    yield f"{counts[0] - counts[1]:>8,}  is the difference: they earn {told} than 50,000."


def private(session: dp.Curator) -> Iterator[str]:
    """2. The same two questions, asked privately: ± and price are known before anything is spent"""
    yield from str(session.sql(_RICH).explain(spend=dp.epsilon(0.4))).split("\n")
    yield ""
    answers = [session.sql(text).release(spend=dp.epsilon(0.4)) for text in (_RICH, _BUT_ONE)]
    rows: list[dict[str, Any]] = [r.rows()[0] for r in answers]
    values, errors = [row["n"] for row in rows], [row["n_error"] for row in rows]
    for text, value, error in zip((_RICH, _BUT_ONE), values, errors, strict=True):
        yield f"{value:>8,} ± {shown_error(error)}  {text}"
    apart, spread = values[0] - values[1], sum(errors)
    yield f"{apart:>8,} ± {shown_error(spread)}  is the difference: the noise hides one person."
    again = session.sql(_RICH).release(spend=dp.epsilon(0.4))
    yield f"{again.value:>8,}  again, if you repeat the first: free, and averaging gains nothing."


def refused(session: dp.Curator) -> Iterator[str]:
    """3. A question too many: refused before the data are touched; and the ledger"""
    question = session.sql("SELECT COUNT(*) AS n, AVG(age) AS age FROM adult")
    try:
        question.release(spend=dp.epsilon(0.5))
    except dp.BudgetExceeded as error:
        yield from str(error).split("\n")
    yield ""
    yield from str(question.release(spend=dp.epsilon(0.2))).split("\n")
    yield ""
    yield from str(session).split("\n")
    assert isinstance(session.ledger, Ledger)
    head = session.ledger.verify()
    yield f"  verified  {head.sequence} lines, ending in {head.hash[:16]}…"


def noise() -> Iterator[str]:
    """4. Exact noise: a million draws of DiscreteLaplace(scale=3) against its law (│)"""
    draws = dp.DiscreteLaplace(scale=3).release(np.zeros(1_000_000, dtype=np.int64))
    points = np.arange(-6, 7)
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
    """5. Its price: what k answers at ε = 0.1 each cost together, at δ = 1e-6"""
    delta, each = 1e-6, 0.1
    yield f"{'k':>6} {'added up':>10} {'advanced':>10} {'zCDP':>10} {'tight (Laplace)':>16}"
    for k in (1, 10, 100, 1000):
        tight = (k * dp.Laplace(scale=1 / each)).epsilon_at(delta)
        zcdp = (k * dp.Laplace(scale=1 / each).loss(dp.Zcdp)).epsilon_at(delta)
        advanced = textbook.advanced(each, times=k, delta=delta)
        yield f"{k:>6} {k * each:>10.3f} {advanced:>10.3f} {zcdp:>10.3f} {tight:>16.3f}"


def fault() -> Iterator[str]:
    """6. An auditor: two mechanisms that claim ε = 1, one of them with 10 % too little noise"""
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
