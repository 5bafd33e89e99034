"""Learning: accuracy, AUC and seconds on census incomes, beside peers and without privacy.

script/bench learn           with diffprivlib 0.6.6, interpret-core 0.7.8 and Opacus 1.6, which need
                             an environment of their own (scikit-learn 1.6): requirements/learn.txt
python -m bench learn        with what is installed of them
"""

import importlib
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier as Trees
from sklearn.linear_model import LinearRegression as PlainLinear
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.metrics import r2_score, roc_auc_score

import deniable as dp
from bench._census import KEYS, NUMBERS, opened
from bench._learn_peers import classifiers, regressors
from deniable.calibration import analytic_gaussian_sigma
from deniable.learn import GradientBoosting, LinearRegression, LogisticRegression

DELTA = 1e-5
EPSILONS = (0.1, 1.0, 3.0)
SEEDS, PEER_SEEDS = 10, 3


def main():
    """Print the tables."""
    warnings.simplefilter("ignore")
    train, test = dp.load_adult("train"), dp.load_adult("test")
    print(f"means ± standard deviations of {SEEDS} fits, and of {PEER_SEEDS} of each peer")
    print(f"\ncensus incomes, δ = {DELTA:g}: accuracy, AUC, seconds of CPU")
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
    judge = judged(Z, z)
    known = {"delta": DELTA, "bounds": (0, 1), "norm": norm, "classes": [False, True]}
    for solver in ("descent", "objective", "output"):
        for epsilon in EPSILONS:
            ours = LogisticRegression(epsilon=epsilon, solver=solver, **known)
            line(f"plain features, {solver}", epsilon, lambda m=ours: m.fit(X, y), judge)
    beside(classifiers(X, low=0.0, high=1.0, norm=norm, delta=DELTA), X, y, judge)
    line("scikit-learn, no privacy", None, lambda: Plain(max_iter=2000).fit(X, y), judge, seeds=1)
    line("the same, boosted trees", None, lambda: Trees().fit(X, y), judge, seeds=1)


def judged(X, y):
    """Accuracy and AUC of a classifier on these rows."""

    def judge(model):
        found = model.predict_proba(X)[:, 1]
        return (found > 0.5) == y, roc_auc_score(y, found)

    return judge


def beside(peers, X, y, judge):
    for name, make in peers.items():
        for epsilon in EPSILONS:
            fit = lambda m=make, e=epsilon: m(e).fit(X, y)  # noqa: E731
            line(name, epsilon, fit, judge, seeds=PEER_SEEDS)


def regression(train, test):
    """Age from all other columns."""
    print("\nage from all other columns: R², root mean square error, seconds of CPU")
    age = test["age"].to_numpy()
    X, Z = (regressors_of(table) for table in (train, test))
    y, target = train["age"].to_numpy().astype(float), tuple(map(float, NUMBERS["age"]))

    def judge_on(rows):
        def judge(model):
            told = np.clip(model.predict(rows), *target)
            return r2_score(age, told), np.sqrt(np.mean((age - told) ** 2))

        return judge

    for epsilon in EPSILONS:

        def fit(epsilon=epsilon):
            session = opened(train, budget(epsilon))
            return session.fit(LinearRegression(), target="age", spend=budget(epsilon))

        line("s.fit(LinearRegression())", epsilon, fit, judge_on(test))
    norm = float(np.sqrt(len(NUMBERS) + len(KEYS) - 1))
    facts = {"low": 0.0, "high": 1.0, "target": target, "norm": norm, "delta": DELTA}
    beside(regressors(X, **facts), X, y, judge_on(Z))
    plain = lambda: PlainLinear().fit(X, y)  # noqa: E731
    line("scikit-learn, no privacy", None, plain, judge_on(Z), seeds=1)


def regressors_of(table):
    """All columns but age, as `features` makes them, and income."""
    X, rich = features(table)
    return np.column_stack([X[:, 1:], rich])


def many_features(rows=50_000, wide=200):
    """A made-up problem with 200 features, of which 20 matter; as many rows again to test."""
    print(f"\nmade up, {rows:,} rows × {wide} features: accuracy, AUC, seconds of CPU")
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (2 * rows, wide))
    noise = 0.3 * random.logistic(size=2 * rows)
    y = X[:, :20] @ random.normal(size=20) + noise > 0
    (X, Z), (y, z) = np.split(X, 2), np.split(y, 2)
    judge, norm = judged(Z, z), float(np.sqrt(wide))
    for epsilon in EPSILONS:
        known = {"delta": DELTA, "bounds": (-1, 1), "classes": [False, True]}
        ours = LogisticRegression(epsilon=epsilon, **known)
        line("LogisticRegression()", epsilon, lambda m=ours: m.fit(X, y), judge)
    peers = classifiers(X, low=-1.0, high=1.0, norm=norm, delta=DELTA)
    beside(peers, X, y, judge)
    line("scikit-learn, no privacy", None, lambda: Plain(max_iter=2000).fit(X, y), judge, seeds=1)


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
        first, second = judge(model)
        found.append((np.mean(first), second, took))
    (accuracy, area, took), (spread, wide, _) = np.mean(found, axis=0), np.std(found, axis=0)
    shown = "     " if epsilon is None else f"ε {epsilon:<3g}"
    print(
        f"  {name:<40}{shown}  {accuracy:.4f} ± {spread:.4f}  {area:.4f} ± {wide:.4f}  "
        f"{took:6.2f} s",
        flush=True,
    )
