"""The same mechanism at the same ε, here and in peers' libraries: time a release, and its error.

Time is CPU time of one call, the least of several repeats. Error is the mean absolute error of many
calls at equal privacy; for selection the mean loss in score. A peer that is not installed, or that
cannot run, is printed as such.

    python -m bench mechanisms      peers: opendp 0.16, diffprivlib 0.6.6, tmlt.core
"""

import time
import warnings

import numpy as np

import deniable as dp
from bench._figures import measured
from deniable.sampling import PublicRandom

EPSILON, DELTA = 1.0, 1e-6
CALLS = 2_000
SCORES = PublicRandom(1).generator.normal(50, 3, 1_000).round()


def main():
    """Print one table per mechanism."""
    warnings.simplefilter("ignore")
    for title, rows, error in TABLES:
        print(f"\n{title}\n{'':4}{'':<14}{'µs per call':>12}{'error':>12}")
        ours = None
        for name, make in rows.items():
            try:
                call = make()
            except Exception as reason:
                print(f"{'':4}{name:<14}cannot run: {type(reason).__name__}")
                continue
            micros, off = measure(call, error)
            ours = ours or (micros, off)
            kept = f"{title.partition(', ε')[0]}, {name.partition(' (')[0]}"
            measured(f"{kept}, time", micros, "µs")
            measured(f"{kept}, error", off, "mean absolute error")
            beside = (
                ""
                if name == "deniable"
                else f"{micros / ours[0]:>9.1f}x time{off / ours[1]:>7.2f}x error"
            )
            print(f"{'':4}{name:<14}{micros:>12.1f}{off:>12.4f}{beside}")


def measure(call, error):
    """Microseconds per call, and the mean error."""
    answers = [call() for _ in range(CALLS)]
    times = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(200):
            call()
        times.append((time.process_time() - start) / 200)
    return min(times) * 1e6, float(np.mean([error(answer) for answer in answers]))


def opendp(make):
    """A peer's mechanism, made by a function of its prelude."""

    def build():
        import opendp.prelude as peer

        peer.enable_features("contrib", "floating-point")
        return make(peer)

    return build


def diffprivlib(make):
    """Likewise."""

    def build():
        from diffprivlib import mechanisms

        return make(mechanisms)

    return build


def tumult(make):
    """Likewise."""

    def build():
        from tmlt.core.measurements import noise_mechanisms

        return make(noise_mechanisms)

    return build


def bound(function, *arguments):
    return lambda: function(*arguments)


def count_space(peer):
    return peer.atom_domain(T=int), peer.absolute_distance(T=int)


def real_space(peer):
    return peer.atom_domain(T=float, nan=False), peer.absolute_distance(T=float)


SIGMA = dp.Gaussian.calibrate(epsilon=EPSILON, delta=DELTA).sigma
RHO = 0.5

TABLES = [
    (
        f"Laplace on a real number, ε = {EPSILON}",
        {
            "deniable": lambda: bound(dp.Laplace.calibrate(epsilon=EPSILON).release, 0.0),
            "OpenDP": opendp(
                lambda p: bound(p.m.make_laplace(*real_space(p), scale=1 / EPSILON), 0.0)
            ),
            "diffprivlib": diffprivlib(
                lambda m: bound(m.Laplace(epsilon=EPSILON, sensitivity=1).randomise, 0.0)
            ),
            "Tumult Core": tumult(lambda m: bound(m.AddLaplaceNoise(scale=1), 0.0)),
        },
        abs,
    ),
    (
        f"Laplace on a count, ε = {EPSILON}",
        {
            "deniable": lambda: bound(dp.DiscreteLaplace(scale=1 / EPSILON).release, 0),
            "OpenDP": opendp(
                lambda p: bound(p.m.make_laplace(*count_space(p), scale=1 / EPSILON), 0)
            ),
            "diffprivlib": diffprivlib(
                lambda m: bound(m.Geometric(epsilon=EPSILON, sensitivity=1).randomise, 0)
            ),
        },
        abs,
    ),
    (
        f"Gaussian on a real number, ε = {EPSILON}, δ = {DELTA}",
        {
            "deniable": lambda: bound(dp.Gaussian(sigma=SIGMA).release, 0.0),
            "OpenDP (zCDP)": opendp(
                lambda p: bound(p.m.make_gaussian(*real_space(p), scale=zcdp_sigma()), 0.0)
            ),
            "diffprivlib": diffprivlib(
                lambda m: bound(
                    m.GaussianAnalytic(epsilon=EPSILON, delta=DELTA, sensitivity=1).randomise, 0.0
                )
            ),
        },
        abs,
    ),
    (
        f"Gaussian on a count, ρ = {RHO}",
        {
            "deniable": lambda: bound(dp.DiscreteGaussian(sigma=1.0).release, 0),
            "OpenDP": opendp(lambda p: bound(p.m.make_gaussian(*count_space(p), scale=1.0), 0)),
        },
        abs,
    ),
    (
        f"Selection among {SCORES.size:,}, ε = {EPSILON}, scores that may move by 1 either way",
        {
            "deniable": lambda: bound(dp.PermuteAndFlip(epsilon=EPSILON).release, SCORES),
            "OpenDP": opendp(
                lambda p: bound(
                    p.m.make_noisy_max(
                        p.vector_domain(p.atom_domain(T=float, nan=False)),
                        p.linf_distance(T=float),
                        p.max_divergence(),
                        scale=2 / EPSILON,
                    ),
                    SCORES.tolist(),
                )
            ),
            "diffprivlib": diffprivlib(
                lambda m: bound(
                    m.PermuteAndFlip(
                        epsilon=EPSILON, sensitivity=1, utility=SCORES.tolist(), monotonic=False
                    ).randomise
                )
            ),
        },
        lambda chosen: SCORES.max() - SCORES[int(chosen)],
    ),
    (
        f"Randomized response, ε = {EPSILON}",
        {
            "deniable": lambda: bound(dp.RandomizedResponse(epsilon=EPSILON).release, 1),
            "OpenDP": opendp(
                lambda p: bound(p.m.make_randomized_response_bool(prob=truth()), True)
            ),
            "diffprivlib": diffprivlib(
                lambda m: bound(
                    m.Binary(epsilon=EPSILON, value0="no", value1="yes").randomise, "yes"
                )
            ),
        },
        lambda answer: answer in (0, False, "no"),
    ),
]


def truth():
    return float(np.exp(EPSILON) / (1 + np.exp(EPSILON)))


def zcdp_sigma():
    """The noise OpenDP needs for (ε, δ): it accounts for a Gaussian by zCDP."""
    return dp.calibrate(_Zcdp, to=dp.epsilon(EPSILON, delta=DELTA))


class _Zcdp:
    def __init__(self, sigma):
        self.loss = dp.rho(1 / (2 * sigma**2))

    def epsilon_at(self, delta):
        return self.loss.epsilon_at(delta)

    def delta_at(self, epsilon):
        return self.loss.delta_at(epsilon)

    def pure(self):
        return float("inf")


if __name__ == "__main__":
    main()
