"""Private convex optimisation: excess risk against n, d and ε, and the sampler on Adult.

    python -m bench convex            the curves, and Adult at ε = 0.1 and 1 (some minutes)

Curves: measured excess of the mean logistic loss on made-up rows beside our bounds and beside the
rates MDd/(nε) and MD√(d ln 1/δ)/(nε), with slopes in n and d fitted on log scales.
Adult: 32,561 rows; a noisy second moment matrix (a quarter of μ²) whitens the rows, the regularised
exponential mechanism draws the model with the rest. Together they are √(μ₁² + μ₂²)-GDP up to the
sampler's distance t in total variation, hence (ε, δ)-DP with δ = δ_GDP(ε) + (1 + e^ε)·t. The radius
and by how much rows are lengthened before they are clipped were chosen on a fifth of the training
rows, held out.
"""

import math
import time

import numpy as np

import deniable as dp
from deniable.calibration import analytic_gaussian_sigma
from deniable.learn.convex import Ball, ConvexExponential, explain, minimize
from deniable.learn.convex.exponential import ARITHMETIC, MIXING
from deniable.learn.convex.objectives import Rows, clipped
from deniable.sampling import PublicRandom

DELTA = 1e-6
SPEND = dp.epsilon(1.0, delta=DELTA)
METHODS = ("regularised", "exponential", "descent", "stochastic")


def main():
    """All figures."""
    curves()
    hard()
    for epsilon, radius, longer in ((0.1, 5.0, 2.0), (1.0, 8.0, 1.0)):
        for _ in range(5):
            adult(epsilon, radius, longer)


# ---- curves


def made_up(n, d, seed=0):
    """Rows in the unit ball with labels that a linear model explains in part."""
    generator = PublicRandom(seed).generator
    rows = generator.normal(size=(n, d)) / math.sqrt(d)
    truth = generator.normal(size=d)
    chance = 1 / (1 + np.exp(-3 * rows @ truth))
    return rows, generator.uniform(size=n) < chance


def risk(x, rows, labels):
    signed = np.where(labels, 1.0, -1.0)[:, None] * rows
    signed = signed / np.maximum(1.0, np.linalg.norm(signed, axis=1))[:, None]
    return float(np.logaddexp(0, -signed @ x).mean())


def least(rows, labels, radius):
    """The least risk on the ball, by plain projected descent."""
    signed = np.where(labels, 1.0, -1.0)[:, None] * rows
    signed = signed / np.maximum(1.0, np.linalg.norm(signed, axis=1))[:, None]
    x, ball = np.zeros(rows.shape[1]), Ball(radius)
    for _ in range(3000):
        slope = -(signed / (1 + np.exp(signed @ x))[:, None]).mean(axis=0)
        x = ball.project(x - 4 * slope)
    return risk(x, rows, labels)


def excess(method, n, d, epsilon, repeats=3):
    """Measured and bounded excess of the mean loss."""
    spend = dp.epsilon(epsilon, delta=DELTA)
    facts = {"domain": Ball(1.0), "lipschitz": 1.0, "spend": spend, "method": method, "size": n}
    rows, labels = made_up(n, d)
    floor = least(rows, labels, 1.0)
    found = [minimize("logistic", data=(rows, labels), **facts) for _ in range(repeats)]
    measured = float(np.mean([risk(m.x, rows, labels) - floor for m in found]))
    return measured, found[0].excess_bound


def rates(n, d, epsilon):
    """MDd/(nε) and MD√(d ln 1/δ)/(nε) at M = 1, D = 2."""
    return 2 * d / (n * epsilon), 2 * math.sqrt(d * math.log(1 / DELTA)) / (n * epsilon)


def curves():
    """A table per axis, with slopes."""
    axes = {
        "n": [(n, 4, 1.0) for n in (200, 400, 800)],
        "d": [(400, d, 1.0) for d in (2, 4, 8)],
        "epsilon": [(400, 4, e) for e in (0.5, 1.0, 2.0)],
    }
    print(f"{'axis':8} {'n':>6} {'d':>3} {'ε':>4} {'pure':>8} {'approx':>8}", end="")
    print("".join(f" {m + ' (bound)':>26}" for m in METHODS))
    for axis, places in axes.items():
        seen = {method: [] for method in METHODS}
        for n, d, epsilon in places:
            line = f"{axis:8} {n:6} {d:3} {epsilon:4} "
            line += "".join(f"{rate:8.4f} " for rate in rates(n, d, epsilon))
            for method in METHODS:
                measured, bound = excess(method, n, d, epsilon)
                seen[method].append((measured, bound))
                line += f"{measured:16.5f} ({bound:.4f}) "
            print(line, flush=True)
        varied = [place["nd".find(axis)] if axis in "nd" else place[2] for place in places]
        for method, found in seen.items():
            slopes = [
                np.polyfit(np.log(varied), np.log(np.abs(each)), 1)[0]
                for each in zip(*found, strict=True)
            ]
            print(f"  slope in {axis}, {method}: {slopes[0]:+.2f} measured, {slopes[1]:+.2f} bound")


def hard(repeats=24):
    """Slopes where noise decides: the sum of all rows is as long as the noise of its direction.

    Rows are ±u, so that Σ = s·u with s = √d/ε. On a ball of radius 0.9 hinge loss is 1 − a·x, and
    the excess of the mean at x is (s/n)·(0.9 − u·x): the instance behind the lower bound of
    [BST14].
    """
    print("\nrows ±u that add up to √d/ε·u: excess of the mean hinge loss, slopes on log scales")
    for method in ("descent", "stochastic", "regularised"):
        for axis, places in {
            "n": [(n, 16) for n in (500, 1000, 2000)],
            "d": [(1000, d) for d in (4, 16, 64)],
        }.items():
            found = [hard_excess(method, n, d, repeats) for n, d in places]
            varied = [place["nd".find(axis)] for place in places]
            slope = np.polyfit(np.log(varied), np.log(found), 1)[0]
            shown = ", ".join(f"{axis} = {v}: {e:.5f}" for v, e in zip(varied, found, strict=True))
            print(f"  {method:12} {shown}   slope {slope:+.2f}", flush=True)


def hard_excess(method, n, d, repeats):
    u = np.ones(d) / math.sqrt(d)
    up = round((n + math.sqrt(d)) / 2)
    labels = np.arange(n) < up
    facts = {"domain": Ball(0.9), "lipschitz": 1.0, "spend": SPEND, "method": method, "size": n}
    rows = np.tile(u, (n, 1))
    found = [minimize("hinge", data=(rows, labels), **facts).x for _ in range(repeats)]
    return float(np.mean([(2 * up - n) / n * (0.9 - u @ x) for x in found]))


def plot(path="convex.png", sizes=(300, 1000, 3000, 10_000, 30_000, 100_000), columns=10):
    """The bounds of the three methods beside the rates, against n."""
    from deniable.plots import curves as chart

    facts = {"domain": Ball(1.0), "lipschitz": 1.0, "spend": SPEND}
    lines = {"MDd/(nε)": [rates(n, columns, 1.0)[0] for n in sizes]}
    lines["MD√(d ln 1/δ)/(nε)"] = [rates(n, columns, 1.0)[1] for n in sizes]
    for method in ("regularised", "descent"):
        plans = [
            explain("logistic", columns=columns, size=n, method=method, **facts) for n in sizes
        ]
        lines[method] = [plan.errors["excess"] for plan in plans]
    ax = chart(sizes, lines, x="rows", y="excess of the mean loss", logarithmic=True)
    ax.set_yscale("log")
    ax.figure.savefig(path)


# ---- Adult

RANGES = {"age": (17, 90), "education_num": (1, 16), "hours_per_week": (1, 99)}
TAILS = {"capital_gain": 99_999, "capital_loss": 4356}
KEYS = (
    "workclass",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)


def features(table, listed):
    """Scaled numbers, one column per key, an intercept; at most √13 long, by public bounds."""
    columns = []
    for name, (low, high) in RANGES.items():
        values = table[name].to_numpy(zero_copy_only=False).astype(float)
        columns.append(np.clip((values - low) / (high - low), 0, 1))
    for name, high in TAILS.items():
        values = table[name].to_numpy(zero_copy_only=False).astype(float)
        columns.append(np.log1p(np.clip(values, 0, high)) / np.log1p(high))
    for name in KEYS:
        values = np.array(table[name].to_pylist(), dtype=object)
        columns += [(values == key).astype(float) for key in listed[name]]
    columns.append(np.ones(table.num_rows))
    return np.stack(columns, axis=1) / math.sqrt(13)


def whitening(rows, mu, size):
    """W with (rows @ W) of about equal spread in all directions, from a noisy moment matrix.

    A row has entries of at most 1/√13 and ‖a‖ ≤ 1. The upper triangle of aaᵀ has the squared norm
    (‖a‖⁴ + Σaᵢ⁴)/2 ≤ (1 + 1/13)/2.
    """
    d = rows.shape[1]
    moved = math.sqrt((1 + 1 / 13) / 2) * (1 + 1e-9)
    noise = dp.Gaussian(sigma=moved / mu)
    noisy = np.asarray(noise.release(np.triu(rows.T @ rows)))
    noisy = np.triu(noisy) + np.triu(noisy, 1).T
    spread, turn = np.linalg.eigh(noisy / size)
    floor = moved * math.sqrt(d) / (mu * size)
    kept = np.maximum(spread, floor)
    length = math.sqrt(np.minimum(np.maximum(spread, 0) / kept, 1).sum())
    return turn @ np.diag(kept**-0.5) @ turn.T * (1.0 / length)


def adult(epsilon, radius, longer, delta=1e-5, share=0.25):
    """Accuracy and AUC on the test part, steps, CPU seconds."""
    train, test = dp.load_adult(split="train"), dp.load_adult(split="test")
    listed = {
        k: sorted({v for t in (train, test) for v in t[k].to_pylist() if v is not None})
        for k in KEYS
    }
    started = time.process_time()
    rows, others = features(train, listed), features(test, listed)
    labels, truth = (
        [str(v).startswith(">50K") for v in t["income"].to_pylist()] for t in (train, test)
    )
    n, d = rows.shape
    lost = (1 + math.exp(epsilon)) * (MIXING + ARITHMETIC)
    mu = 1 / analytic_gaussian_sigma(epsilon, delta=delta - lost) * (1 - 1e-9)
    turned = longer * whitening(rows, mu * math.sqrt(share), n)
    points, targets = clipped(rows @ turned, labels, norm=1.0, labels=True)
    ridge = 2 * d / radius**2
    mechanism = ConvexExponential(
        loss_name="logistic", domain=Ball(4 * radius).record(), coordinates=d, lipschitz=1.0,
        sensitivity=1.0, weight=mu * math.sqrt((1 - share) * ridge), ridge=ridge, epsilon=epsilon,
    )  # fmt: skip
    chain = mechanism.chain(Rows(points=points, targets=targets))
    x = turned @ chain.draw()
    scores, truth = others @ x, np.array(truth)
    ranks = np.argsort(np.argsort(scores)) + 1.0
    p = int(truth.sum())
    auc = (ranks[truth].sum() - p * (p + 1) / 2) / (p * (len(truth) - p))
    accuracy = ((scores > 0) == truth).mean()
    print(
        f"adult ε = {epsilon}: n = {n:,}, d = {d}, {chain.lattice.steps:,} steps, within "
        f"{mechanism.distance:.1e}, {chain.lattice.missed:.0e} of it by rounding: "
        f"accuracy {accuracy:.4f}, AUC {auc:.4f}, "
        f"{time.process_time() - started:.1f} CPU s",
        flush=True,
    )
