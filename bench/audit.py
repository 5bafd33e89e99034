"""The auditors: how quickly they see an error, what they miss, and what they say about peers.

python -m bench audit        needs diffprivlib 0.6.6, scikit-learn up to 1.8 and opendp 0.16;
                             without them only our own figures are shown
"""

import statistics
import time

import numpy as np

import deniable as dp
from deniable.audit import audit, search
from deniable.audit.specimens import SPECIMENS
from deniable.sensitivity import mean

SURE = 1 - 1e-9
TRIALS = 10


def main():
    """Print the tables."""
    errors()
    specimens()
    replays()
    peers()


def errors():
    """Laplace noise that is a little too small, at ε = 1."""
    print(
        f"\nnoise too small, ε = 1, 99.9 % sure: caught in {TRIALS} audits, median seconds of CPU"
    )
    for scale, samples in ((1.0, 2_000_000), (0.98, 2_000_000), (0.9, 200_000), (0.5, 2_000)):
        mechanism = dp.Laplace(scale=scale)

        def draws(value, n, mechanism=mechanism):
            return mechanism.release(np.full(n, value))

        caught, own, drawing = 0, [], []
        for _ in range(TRIALS):
            start = time.process_time()
            caught += audit(None, 0.0, 1.0, epsilon=1.0, samples=samples, batch=draws).violated
            own.append(time.process_time() - start)
            start = time.process_time()
            draws(0.0, samples), draws(1.0, samples)
            drawing.append(time.process_time() - start)
        own, drawing = statistics.median(own), statistics.median(drawing)
        named = f"{100 * (1 - scale):.0f} % too small" if scale < 1 else "right"
        print(
            f"  {named:<16}{samples:>10,} samples   {caught:>2} of {TRIALS}   {own:6.3f} s, "
            f"of which drawing {drawing:.3f}"
        )


def specimens():
    """Every wrong mechanism and its right twin."""
    start = time.process_time()
    found = sum(each.judge_wrong().refuted for each in SPECIMENS)
    middle = time.process_time()
    accused = sum(each.judge_right().refuted for each in SPECIMENS)
    end = time.process_time()
    print(
        f"\nspecimens: {found} of {len(SPECIMENS)} found in {middle - start:.1f} s; "
        f"{accused} right twins accused in {end - middle:.1f} s (CPU)"
    )


def replays():
    """A mean of clipped values on all its neighbours."""
    import pandas as pd

    def program(table):
        session = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0))
        return session.run(mean(table["x"], low=0, high=50, epsilon=1.0))

    table = pd.DataFrame({"x": np.linspace(0.0, 60.0, 100)})
    search(program, table, most=3)
    start = time.process_time()
    found = search(program, table)
    each = (time.process_time() - start) / found.tried
    print(f"\nreplay of a mean: {1e3 * each:.1f} ms a pair, {found.tried} pairs (CPU)")


def peers():
    """What black-box audits say about Laplace mechanisms at ε = 1."""
    print("\nLaplace mechanisms that claim ε = 1, on 0 and 1, 20,000 answers each")
    ours = dp.Laplace(scale=1.0)
    makers = {
        "deniable": lambda: lambda value: float(ours.release(value)),
        "OpenDP": opendp_laplace,
        "diffprivlib": diffprivlib_laplace,
        "NumPy": lambda: numpy_laplace,
    }
    for name, make in makers.items():
        try:
            mechanism = make()
        except ImportError:
            print(f"  {name:<12} not installed")
            continue
        start = time.process_time()
        verdict = audit(mechanism, 0.0, 1.0, epsilon=1.0, samples=20_000, confidence=SURE)
        said = "violated" if verdict.violated else "no violation"
        seconds = time.process_time() - start
        print(
            f"  {name:<12} {said:<13} ε ≥ {verdict.epsilon_lower:<6.3g} {seconds:5.1f} s   "
            f"{verdict.witness}"
        )


def opendp_laplace():
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    space = opendp.atom_domain(T=float, nan=False), opendp.absolute_distance(T=float)
    return opendp.m.make_laplace(*space, scale=1.0)


def diffprivlib_laplace():
    from diffprivlib.mechanisms import Laplace

    return Laplace(epsilon=1.0, sensitivity=1.0).randomise


def numpy_laplace(value):
    return value + np.random.default_rng().laplace()


if __name__ == "__main__":
    main()
