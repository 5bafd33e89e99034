"""Workloads: error and time of each strategy against lower bounds and the usual alternatives.

python -m bench workload
"""

from __future__ import annotations

import math
import time

import numpy as np

import deniable as dp
from deniable import workload
from deniable.workload.strategies import Blocks, Bounds, Identity
from deniable.workload.strategies.blocks import optimised


def lower_bound(n: int) -> float:
    """(Σ singular values)²/n over the number of ranges."""
    k = np.arange(1, n + 1)
    values = np.sqrt(n + 1) / (2 * np.sin(k * np.pi / (2 * (n + 1))))
    return math.sqrt(values.sum() ** 2 / n / (n * (n + 1) / 2))


def _tree(n: int) -> float:
    sizes, shares = optimised(n, 2, "ranges", "gaussian")
    tree = Blocks(cells=n, bounds=Bounds(), sizes=sizes, shares=shares, law="gaussian")
    return math.sqrt(tree.mean_variance("ranges", [1 / math.sqrt(s) for s in shares]))


def ranges() -> None:
    """All ranges: root mean squared error at μ = 1 and ε = 1, and seconds to plan and release."""
    print("all ranges, root mean squared error in counts")
    print(f"{'cells':>9} {'identity':>9} {'tree':>7} {'sine':>7} {'bound':>7} {'pure':>7} {'s':>6}")
    for n in (256, 1024, 4096, 65_536, 2**20):
        start = time.perf_counter()
        sine = workload.ranges(n).plan(spend=dp.mu(1.0)).rmse
        workload.ranges(n).release(np.zeros(n, dtype=np.int64), spend=dp.mu(1.0))
        took = time.perf_counter() - start
        identity = Identity(cells=n, bounds=Bounds()).mean_variance("ranges", [1.0]) ** 0.5
        pure = workload.ranges(n).plan(spend=dp.epsilon(1.0)).rmse
        print(
            f"{n:>9,} {identity:>9.2f} {_tree(n):>7.3f} {sine:>7.3f} {lower_bound(n):>7.3f}"
            f" {pure:>7.2f} {took:>6.2f}"
        )


def running() -> None:
    """Running totals: the largest standard deviation at μ = 1, and that of streams at the end."""
    print("\nrunning totals, largest standard deviation at μ = 1 (goal: at most 0.846 + ln T/π)")
    heads = "steps", "0.846 + ln T/π", "all at once", "stream", "length unknown", "binary tree"
    print(" ".join(f"{head:>14}" for head in heads))
    endless = workload.stream().counter(spend=dp.mu(1.0))
    for steps in (8, 10, 100, 2**10, 2**16, 2**20):
        levels = steps.bit_length()
        figures = (
            0.846 + math.log(steps) / math.pi,
            workload.prefixes(steps).plan(spend=dp.mu(1.0)).worst,
            workload.stream(steps=steps).plan(spend=dp.mu(1.0)).worst,
            endless.deviation(steps),
            math.sqrt(levels * (levels - 1)),
        )
        print(" ".join([f"{steps:>14,}", *(f"{each:>14.3f}" for each in figures)]))


def hierarchies() -> None:
    """A million leaves in four levels: seconds to plan, release and round."""
    n = 10**6
    county, state = np.arange(n) // 330, np.arange(n) // 20_000
    start = time.perf_counter()
    w = workload.groupings(n, {"county": county, "state": state})
    found = w.release(np.ones(n, dtype=np.int64), spend=dp.mu(1.0))
    fitted = time.perf_counter() - start
    _ = found.whole
    print(f"\n{w}: {fitted:.1f} s, whole numbers {time.perf_counter() - start - fitted:.1f} s more")
    print({name: round(error, 2) for name, error in w.plan(spend=dp.mu(1.0)).levels.items()})


def marginals() -> None:
    """All two-way marginals of Adult's columns: residuals against noise on each marginal."""
    sizes = [32, 9, 32, 16, 16, 7, 15, 6, 5, 2, 32, 32, 32, 42, 2]
    w = workload.marginals({f"c{i}": n for i, n in enumerate(sizes)}, ways=2)
    start = time.perf_counter()
    plan = w.plan(spend=dp.mu(1.0))
    took = time.perf_counter() - start
    print(f"\n{w}: {plan.rmse:.2f} ({math.sqrt(len(w.sets)):.2f} with noise on each), {took:.2f} s")


def expected() -> None:
    """Errors printed before against errors measured: linear workloads, the worst of them."""
    print("\nroot mean squared error over 40 releases, over that of the plan (goal: within 10 %)")
    rng = np.random.default_rng(0)
    for spend in (dp.mu(1.0), dp.epsilon(1.0)):
        for w in (
            workload.ranges(300),
            workload.prefixes(300),
            workload.matrix(rng.normal(size=(20, 60))),
            workload.groupings(64, {"block": np.arange(64) // 8, "parity": np.arange(64) % 2}),
        ):
            cells = w.sizes[0] if hasattr(w, "sizes") else w.cells
            counts = rng.integers(0, 100, cells)
            exact = w.release(counts, spend=dp.mu(1e6)).values  # noise of a millionth
            found = [w.release(counts, spend=spend) for _ in range(40)]
            gaps = np.array([each.values - exact for each in found])
            ratio = math.sqrt(np.square(gaps / found[0].deviations).mean())
            print(f"  {w!s:>50} {spend!s:>6}  {ratio:.3f}")


def streams() -> None:
    """Streams that come one value at a time: seconds per 10⁴ steps, and the ± at the end."""
    print("\nstreams of 10,000 steps, one value at a time, μ = 1 and ε = 1")
    for steps in (10_000, None):
        for spend in (dp.mu(1.0), dp.epsilon(1.0)):
            start = time.process_time()
            found = workload.stream(steps=steps).release(np.ones(10_000, dtype=int), spend=spend)
            took = time.process_time() - start
            print(
                f"  {found.plan.strategy:>24} {spend!s:>6} ± {found.errors[-1]:.1f}, {took:.1f} s"
            )


def peers() -> None:
    """OpenDP's b-ary tree with consistency: all ranges over 1024 cells at ε = 1."""
    try:
        import opendp.prelude as odp
    except ImportError:
        print("\nOpenDP: not installed")
        return
    odp.enable_features("contrib")
    n, branching = 1024, odp.t.choose_branching_factor(1024)
    space = odp.vector_domain(odp.atom_domain(T=int)), odp.l1_distance(T=int)
    tree = odp.t.make_b_ary_tree(*space, leaf_count=n, branching_factor=branching)
    fit = odp.t.make_consistent_b_ary_tree(branching)
    unit = tree.map(1)
    noisy = tree >> odp.m.then_laplace(scale=float(unit)) >> fit
    squares = []
    for _ in range(40):
        leaves = np.array(noisy([0] * n))[-n:]
        sums = np.concatenate([[0.0], np.cumsum(leaves)])
        squares.append(np.square(np.subtract.outer(sums, sums)[np.triu_indices(n + 1, 1)]).mean())
    own = workload.ranges(n).plan(spend=dp.epsilon(1.0)).rmse
    theirs = math.sqrt(np.mean(squares))
    print("\nall ranges over 1024 cells, ε = 1")
    print(f"  OpenDP (b = {branching}) {theirs:.1f}, ours {own:.1f}")


def main() -> None:
    """All of it."""
    ranges()
    running()
    streams()
    expected()
    hierarchies()
    marginals()
    peers()


if __name__ == "__main__":
    main()
