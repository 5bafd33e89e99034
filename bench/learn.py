"""Learning: accuracy, AUC and seconds on census incomes, beside peers and without privacy.

python -m bench learn        needs scikit-learn; diffprivlib 0.6.6 (with scikit-learn 1.6),
                             interpret-core 0.7.8 and opacus 1.6 are compared where installed
"""

import importlib
import importlib.util
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.metrics import r2_score, roc_auc_score

import deniable as dp
from bench._census import KEYS, NUMBERS, opened
from deniable.calibration import analytic_gaussian_sigma
from deniable.learn import GradientBoosting, LinearRegression, LogisticRegression

DELTA = 1e-5
EPSILONS = (0.1, 1.0, 3.0)
SEEDS = 10


def main():
    """Print the tables."""
    warnings.simplefilter("ignore")
    train, test = dp.load_adult("train"), dp.load_adult("test")
    print(f"\ncensus incomes, δ = {DELTA:g}: accuracy, AUC, seconds of CPU (mean ± sd of {SEEDS})")
    through_a_session(train, test)
    on_arrays(train, test)
    regression(train, test)
    many_features()
    large()
    violation()


def budget(epsilon):
    """The Gaussian loss that is (ε, δ), exactly."""
    return dp.mu((1 - 1e-12) / analytic_gaussian_sigma(epsilon, delta=DELTA))


def through_a_session(train, test):
    """Defaults only, with a schema of bounds and keys."""
    rich = np.array(test["income"].to_pylist()) == ">50K"
    for kind in (LogisticRegression, GradientBoosting):
        for epsilon in EPSILONS:

            def fit(kind=kind, epsilon=epsilon):
                session = opened(train, budget(epsilon))
                return session.fit(kind(), target="income", spend=budget(epsilon))

            def judge(model):
                found = model.predict_proba(test)[:, 1]
                return (found > 0.5) == rich, roc_auc_score(rich, found)

            line(f"s.fit({kind.__name__}())", epsilon, fit, judge)


def on_arrays(train, test):
    """Scaled numbers and ones for keys: ours, peers', and without privacy."""
    X, y = features(train)
    Z, z = features(test)
    norm = float(np.sqrt(len(NUMBERS) + len(KEYS) - 1))

    def judge(model):
        found = model.predict_proba(Z)[:, 1]
        return (found > 0.5) == z, roc_auc_score(z, found)

    known = {"delta": DELTA, "bounds": (0, 1), "norm": norm, "classes": [False, True]}
    for solver in ("descent", "objective", "output"):
        for epsilon in EPSILONS:
            ours = LogisticRegression(epsilon=epsilon, solver=solver, **known)
            line(f"plain features, {solver}", epsilon, lambda m=ours: m.fit(X, y), judge)
    for epsilon in EPSILONS:
        line(
            "noisy descent in NumPy, 100 steps",
            epsilon,
            lambda e=epsilon: Naive(X, y, norm, e),
            judge,
        )
    for name, make in peers(norm, X).items():
        for epsilon in EPSILONS:
            line(name, epsilon, lambda m=make, e=epsilon: m(e).fit(X, y), judge)
    line("scikit-learn, no privacy", None, lambda: Plain(max_iter=2000).fit(X, y), judge, seeds=1)


def peers(norm, X):
    """What is installed of them."""
    found = {}
    try:
        models = importlib.import_module("diffprivlib.models")
        found["diffprivlib LogisticRegression (δ = 0)"] = lambda e: models.LogisticRegression(
            epsilon=e, data_norm=norm, C=0.01, max_iter=1000
        )
    except ImportError:
        print("  diffprivlib: not installed, or not with this scikit-learn")
    try:
        private = importlib.import_module("interpret.privacy")
        names = [f"x{i}" for i in range(X.shape[1])]
        found["interpret DPExplainableBoosting"] = lambda e: (
            private.DPExplainableBoostingClassifier(
                epsilon=e,
                delta=DELTA,
                feature_names=names,
                feature_types=["continuous"] * len(names),
                privacy_bounds=dict.fromkeys(names, (0.0, 1.0)),
            )
        )
    except ImportError:
        print("  interpret: not installed")
    print("  opacus: " + ("see tests/learn/test_deep.py" if _has("opacus") else "not installed"))
    return found


def _has(name):
    return importlib.util.find_spec(name) is not None


class Naive:
    """Plain noisy gradient descent, as textbooks print it (zCDP, no preconditioner)."""

    def __init__(self, X, y, norm, epsilon, steps=100):
        rho = budget(epsilon).mu ** 2 / 2
        random = np.random.default_rng()
        X = np.column_stack([X, np.ones(len(X))]) / np.hypot(norm, 1)
        self.theta, self.norm, sigma = np.zeros(X.shape[1]), norm, np.sqrt(steps / (2 * rho))
        for _ in range(steps):
            residual = 1 / (1 + np.exp(-X @ self.theta)) - y
            noisy = X.T @ residual + random.normal(0, sigma, X.shape[1])
            self.theta -= 40 * noisy / len(X)

    def predict_proba(self, X):
        X = np.column_stack([X, np.ones(len(X))]) / np.hypot(self.norm, 1)
        found = 1 / (1 + np.exp(-X @ self.theta))
        return np.column_stack([1 - found, found])


def regression(train, test):
    """Age from all other columns."""
    print("\nage from all other columns: R², seconds of CPU")
    age = test["age"].to_numpy()
    for epsilon in EPSILONS:
        start = time.process_time()
        model = opened(train, budget(epsilon)).fit(
            LinearRegression(), target="age", spend=budget(epsilon)
        )
        took = time.process_time() - start
        told = r2_score(age, model.predict(test))
        print(f"  s.fit(LinearRegression())  ε {epsilon:<4g} {told:.3f} {took:6.2f} s")


def many_features(rows=50_000, wide=200):
    """A made-up problem with 200 features, of which 20 matter."""
    print(f"\nmade up, {rows:,} rows × {wide} features: accuracy, seconds of CPU")
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (rows, wide))
    y = X[:, :20] @ random.normal(size=20) + 0.3 * random.logistic(size=rows) > 0
    for epsilon in EPSILONS:
        start = time.process_time()
        model = LogisticRegression(
            epsilon=epsilon, delta=DELTA, bounds=(-1, 1), classes=[False, True]
        ).fit(X, y)
        print(f"  ε {epsilon:<4g} {model.score(X, y):.3f} {time.process_time() - start:6.2f} s")


def large():
    """Ten million rows through a session, in a process of their own, whose memory is measured."""
    print(flush=True)
    subprocess.run([sys.executable, "-m", "bench.learn_large"], check=True)


def violation(samples=20_000):
    """A peer at data_norm 1000, claimed ε = 1: a lower bound on its true ε."""
    try:
        models = importlib.import_module("diffprivlib.models")
    except ImportError:
        print("\ndiffprivlib at data_norm 1000: not installed, or not with this scikit-learn")
        return
    from deniable.audit import audit

    def weight(last):
        X = np.array([[0.0], [0.0], last[:1]])
        model = models.LogisticRegression(epsilon=1.0, data_norm=1000.0, fit_intercept=False)
        return abs(float(model.fit(X, [0, 1, 1]).coef_[0, 0]))

    found = audit(weight, np.array([0.0]), np.array([1000.0]), epsilon=1.0, samples=samples)
    print(f"\ndiffprivlib at data_norm 1000, claimed ε = 1: {found}")


def features(table):
    """Numbers scaled by public bounds (amounts by their logarithm), ones for keys."""
    made = []
    for name, (low, high) in NUMBERS.items():
        value = np.clip(table[name].to_numpy().astype(float), low, high)
        wide = high > 1000
        made.append(np.log1p(value) / np.log1p(high) if wide else (value - low) / (high - low))
    for name, keys in KEYS.items():
        if name != "income":
            value = np.array(table[name].to_pylist(), dtype=object)
            made += [(value == key).astype(float) for key in keys]
    return np.stack(made, axis=1), np.array(table["income"].to_pylist()) == ">50K"


def line(name, epsilon, fit, judge, seeds=SEEDS):
    """One row of a table."""
    found = []
    for _ in range(seeds):
        start = time.process_time()
        model = fit()
        took = time.process_time() - start
        right, area = judge(model)
        found.append((right.mean(), area, took))
    (accuracy, area, took), (spread, wide, _) = np.mean(found, axis=0), np.std(found, axis=0)
    shown = "     " if epsilon is None else f"ε {epsilon:<3g}"
    print(
        f"  {name:<40}{shown}  {accuracy:.4f} ± {spread:.4f}  {area:.4f} ± {wide:.4f}  "
        f"{took:6.2f} s"
    )
