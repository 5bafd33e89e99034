"""Exact noise and selection beside OpenDP's exact noise and NumPy's inexact noise.

Every figure is CPU time, the least of several repeats, so that other work on the machine counts
little. OpenDP is given shorter vectors and compared per number: its time grows with the length.

    python -m bench sampling        needs opendp 0.16; without it only our own figures are shown
"""

import subprocess
import sys
import time

import numpy as np
from scipy import stats

from bench._figures import measured
from deniable.sampling import Lattice, discrete_laplace, rounded_laplace
from deniable.sampling.gaussian import discrete_gaussian, rounded_gaussian
from deniable.sampling.select import gumbel_max, noisy_max

try:
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
except ImportError:
    opendp = None

LONG = 1_000_000
SHORT = 20_000
CANDIDATES = 10_000
CALLS = 20_000
SCALES = (1.0, 10.0, 1e3, 1e6)


def main():
    """Print the tables."""
    print("CPU time, least of the repeats; OpenDP on shorter vectors, scaled to one number")
    integers()
    floats()
    singles()
    selection()
    timing()
    imported = measured("import deniable", import_time() * 1e3, "ms")
    print(f"\nimport deniable  {imported:.0f} ms of CPU beyond an empty interpreter")


def least(work, repeats=5):
    """CPU seconds of the fastest of several runs, after one to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def table(title, *, unit):
    """The head of a table; NumPy's noise is neither exact nor secret."""
    names = f"{'ours':>10}{'OpenDP':>12}{'NumPy':>10}{'vs OpenDP':>12}{'vs NumPy':>10}"
    print(f"\n{title:<34}{names}  {unit}")


def row(name, ours, theirs=None, insecure=None, unit="ns"):
    """One line: the ratios are above 1 where we are faster."""
    for who, figure in (("deniable", ours), ("OpenDP", theirs), ("NumPy", insecure)):
        measured(f"{name} {who}", figure, unit)

    def number(value):
        return f"{value:,.1f}" if value is not None else "-"

    def ratio(value):
        return f"{value / ours:,.2f}x" if value is not None else "-"

    print(
        f"{name:<34}{number(ours):>10}{number(theirs):>12}{number(insecure):>10}"
        f"{ratio(theirs):>12}{ratio(insecure):>10}"
    )


def integers():
    """Vectors of integer noise."""
    table("integer noise, vectors", unit="ns per number")
    generator = np.random.default_rng()
    for scale in SCALES:
        ours = least(lambda s=scale: discrete_laplace(s, LONG)) / LONG * 1e9
        naive = least(lambda s=scale: np.rint(generator.laplace(0, s, LONG)).astype(np.int64))
        row(f"whole Laplace {scale:g}", ours, peer("laplace", int, scale), naive / LONG * 1e9)
    for scale in SCALES:
        ours = least(lambda s=scale: discrete_gaussian(s, LONG)) / LONG * 1e9
        naive = least(lambda s=scale: np.rint(generator.normal(0, s, LONG)).astype(np.int64))
        row(f"whole Gaussian {scale:g}", ours, peer("gaussian", int, scale), naive / LONG * 1e9)


def floats():
    """Vectors of floats: split on a lattice, noise, join."""
    table("float values plus noise, vectors", unit="ns per number")
    generator = np.random.default_rng()
    values = generator.normal(size=LONG) * 1e3
    for scale in SCALES:
        grid = Lattice.for_scale(scale)

        ours = least(lambda s=scale, g=grid: on_lattice(rounded_laplace, g, s, values)) / LONG * 1e9
        naive = least(lambda s=scale: values + generator.laplace(0, s, LONG)) / LONG * 1e9
        row(f"floats plus Laplace {scale:g}", ours, peer("laplace", float, scale), naive)
    for scale in SCALES:
        grid = Lattice.for_scale(scale)

        ours = (
            least(lambda s=scale, g=grid: on_lattice(rounded_gaussian, g, s, values)) / LONG * 1e9
        )
        naive = least(lambda s=scale: values + generator.normal(0, s, LONG)) / LONG * 1e9
        row(f"floats plus Gaussian {scale:g}", ours, peer("gaussian", float, scale), naive)


def on_lattice(sampler, grid, scale, values):
    """Values plus real noise, rounded to the grid."""
    return grid.perturb(values, lambda rests: sampler(grid.steps(scale), rests))


def peer(kind, number, scale):
    """OpenDP's nanoseconds per number on a vector."""
    if opendp is None:
        return None
    release = opendp_noise(kind, number, scale, vector=True)
    values = [number(0)] * SHORT
    return least(lambda: release(values), repeats=3) / SHORT * 1e9


def opendp_noise(kind, number, scale, *, vector):
    """OpenDP's measurement."""
    atom = opendp.atom_domain(T=int) if number is int else opendp.atom_domain(T=float, nan=False)
    if kind == "laplace":
        metric = opendp.l1_distance(T=number) if vector else opendp.absolute_distance(T=number)
        make = opendp.m.make_laplace
    else:
        metric = opendp.l2_distance(T=float) if vector else opendp.absolute_distance(T=float)
        make = opendp.m.make_gaussian
    return make(opendp.vector_domain(atom) if vector else atom, metric, scale=scale)


def singles():
    """One number per call."""
    table("one number per call, scale 10", unit="µs per call")
    many = range(2000)

    def microseconds(call):
        return least(lambda: [call() for _ in many]) / len(many) * 1e6

    generator = np.random.default_rng()
    for name, ours, kind, naive in (
        ("Laplace", discrete_laplace, "laplace", generator.laplace),
        ("Gaussian", discrete_gaussian, "gaussian", generator.normal),
    ):
        theirs = None
        if opendp is not None:
            release = opendp_noise(kind, int, 10.0, vector=False)
            theirs = microseconds(lambda release=release: release(0))
        mine = microseconds(lambda ours=ours: ours(10.0, 1))
        insecure = microseconds(lambda naive=naive: naive(0, 10.0))
        row(f"one {name} number", mine, theirs, insecure, unit="µs")
        fresh = iter(range(1, 10**6))
        row(
            f"one {name} number, a new scale",
            microseconds(lambda ours=ours, fresh=fresh: ours(10 + next(fresh) / 2**20, 1)),
            unit="µs",
        )


def selection():
    """The best of many candidates."""
    table("selection", unit="ns per candidate")
    scores = np.random.default_rng().normal(size=LONG)
    few = scores[:CANDIDATES].tolist()
    theirs = {"exponential": None, "gumbel": None}
    if opendp is not None:
        domain = opendp.vector_domain(opendp.atom_domain(T=float, nan=False))
        for noise, measure in (
            ("exponential", opendp.max_divergence()),
            ("gumbel", opendp.zero_concentrated_divergence()),
        ):
            metric = opendp.linf_distance(T=float)
            release = opendp.m.make_noisy_max(domain, metric, measure, scale=1.0)
            theirs[noise] = least(lambda r=release: r(few), repeats=3) / CANDIDATES * 1e9
    generator = np.random.default_rng()
    naive = least(lambda: np.argmax(scores + generator.gumbel(size=LONG))) / LONG * 1e9
    ours = least(lambda: gumbel_max(scores, 1.0)) / LONG * 1e9
    row("exponential mechanism, 10^6", ours, theirs["gumbel"], naive)
    ours = least(lambda: noisy_max(scores, 1.0, noise="exponential")) / LONG * 1e9
    row("permute and flip, 10^6", ours, theirs["exponential"])
    ours = least(lambda: noisy_max(scores, 1.0, noise="laplace")) / LONG * 1e9
    row("Laplace noisy max, 10^6", ours)
    small = scores[:CANDIDATES]
    ours = least(lambda: gumbel_max(small, 1.0), repeats=20) / CANDIDATES * 1e9
    row(f"exponential mechanism, {CANDIDATES:,}", ours, theirs["gumbel"])


def timing():
    """Does the time of a call tell how large its noise was?"""
    print(f"\nrank correlation of |noise| with time, {CALLS:,} calls each (p-value)")
    calls = [
        ("Laplace, scale 10, ours", lambda: discrete_laplace(10.0, 1)[0]),
        ("Gaussian, sigma 10, ours", lambda: discrete_gaussian(10.0, 1)[0]),
        ("rounded Gaussian, ours", lambda: rounded_gaussian(1e6)[0]),
    ]
    if opendp is not None:
        for kind in ("laplace", "gaussian"):
            release = opendp_noise(kind, int, 10.0, vector=False)
            calls.append((f"{kind.title()}, scale 10, OpenDP", lambda r=release: r(0)))
    for name, call in calls:
        result = correlation(call)
        measured(f"time and noise, {name}", result.statistic, "rank correlation")
        print(f"{name:<34}{result.statistic:>10.4f}   ({result.pvalue:.1g})")


def correlation(call):
    """Spearman's, over many calls."""
    clock = time.perf_counter_ns
    sizes, times = [], []
    for _ in range(CALLS):
        start = clock()
        value = call()
        times.append(clock() - start)
        sizes.append(abs(int(value)))
    return stats.spearmanr(sizes, times)


def import_time():
    """CPU seconds that `import deniable` adds to an empty interpreter, least of ten."""

    def seconds(statement):
        code = f"import time; s = time.process_time(); {statement}; print(time.process_time() - s)"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    return min(seconds("import deniable") for _ in range(10))


if __name__ == "__main__":
    main()
