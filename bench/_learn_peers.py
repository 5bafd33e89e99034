"""Peers of learning on arrays: what is installed of them, and textbook noisy descent in NumPy.

Each maps a name to a function of ε that makes an unfitted model. All get the same public facts:
bounds, norms and names of features.
"""

import importlib

import numpy as np

from deniable.calibration import analytic_gaussian_sigma


def classifiers(X, *, low, high, norm, delta):
    """Models with `fit` and `predict_proba`."""
    found = {"noisy descent in NumPy, 100 steps": lambda e: Naive(norm, e, delta)}
    if models := _module("diffprivlib.models"):
        found["diffprivlib LogisticRegression (δ = 0)"] = lambda e: models.LogisticRegression(
            epsilon=e, data_norm=norm, C=0.01, max_iter=1000
        )
    if private := _module("interpret.privacy"):
        known = _interpret_facts(X, low, high)
        found["interpret DPExplainableBoosting"] = lambda e: (
            private.DPExplainableBoostingClassifier(epsilon=e, delta=delta, **known)
        )
    if _module("opacus"):
        found["Opacus, linear model, 10 epochs"] = lambda e: Opacus(norm, e, delta)
    return found


def regressors(X, *, low, high, target, norm, delta):
    """Models with `fit` and `predict`; `target` are the bounds of what is predicted."""
    found = {}
    if models := _module("diffprivlib.models"):
        found["diffprivlib LinearRegression (δ = 0)"] = lambda e: models.LinearRegression(
            epsilon=e, bounds_X=(low, high), bounds_y=target
        )
    if private := _module("interpret.privacy"):
        known = _interpret_facts(X, low, high)
        found["interpret DPExplainableBoosting"] = lambda e: private.DPExplainableBoostingRegressor(
            epsilon=e,
            delta=delta,
            privacy_target_min=target[0],
            privacy_target_max=target[1],
            **known,
        )
    if _module("opacus"):
        found["Opacus, linear model, 10 epochs"] = lambda e: Opacus(norm, e, delta, target=target)
    return found


def _module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"  {name}: not installed, or not with this scikit-learn")
        return None


def _interpret_facts(X, low, high):
    names = [f"x{i}" for i in range(X.shape[1])]
    return {
        "n_jobs": 1,
        "feature_names": names,
        "feature_types": ["continuous"] * len(names),
        "privacy_bounds": dict.fromkeys(names, (low, high)),
    }


class Naive:
    """Plain noisy gradient descent, as textbooks print it (zCDP, no preconditioner)."""

    def __init__(self, norm, epsilon, delta, steps=100):
        self.norm, self.steps = norm, steps
        self.rho = 1 / analytic_gaussian_sigma(epsilon, delta=delta) ** 2 / 2

    def fit(self, X, y):
        random = np.random.default_rng()
        X = np.column_stack([X, np.ones(len(X))]) / np.hypot(self.norm, 1)
        self.theta, sigma = np.zeros(X.shape[1]), np.sqrt(self.steps / (2 * self.rho))
        for _ in range(self.steps):
            residual = 1 / (1 + np.exp(-X @ self.theta)) - y
            noisy = X.T @ residual + random.normal(0, sigma, X.shape[1])
            self.theta -= 40 * noisy / len(X)
        return self

    def predict_proba(self, X):
        X = np.column_stack([X, np.ones(len(X))]) / np.hypot(self.norm, 1)
        found = 1 / (1 + np.exp(-X @ self.theta))
        return np.column_stack([1 - found, found])


class Opacus:
    """A linear layer under Opacus: Poisson batches of 512 on average, clipped to 1, Adam."""

    def __init__(self, norm, epsilon, delta, target=None, epochs=10, batch=512):
        self.norm, self.epsilon, self.delta, self.target = norm, epsilon, delta, target
        self.epochs, self.batch = epochs, batch

    def _scaled(self, X):
        import torch

        return torch.tensor(X / self.norm * 3, dtype=torch.float32)

    def fit(self, X, y):
        import torch
        from opacus import PrivacyEngine
        from torch.utils.data import DataLoader, TensorDataset

        low, high = self.target or (0.0, 1.0)
        wanted = torch.tensor((np.asarray(y, dtype=np.float64) - low) / (high - low)).float()
        loader = DataLoader(TensorDataset(self._scaled(X), wanted), batch_size=self.batch)
        module = torch.nn.Linear(X.shape[1], 1)
        module, optimizer, loader = PrivacyEngine().make_private_with_epsilon(
            module=module,
            optimizer=torch.optim.Adam(module.parameters(), lr=0.02),
            data_loader=loader,
            target_epsilon=self.epsilon,
            target_delta=self.delta,
            epochs=self.epochs,
            max_grad_norm=1.0,
        )
        loss = torch.nn.MSELoss() if self.target else torch.nn.BCEWithLogitsLoss()
        for _ in range(self.epochs):
            for rows, truth in loader:
                optimizer.zero_grad()
                loss(module(rows)[:, 0], truth).backward()
                optimizer.step()
        self.module = module
        return self

    def _outputs(self, X):
        import torch

        with torch.no_grad():
            return self.module(self._scaled(X))[:, 0].double().numpy()

    def predict_proba(self, X):
        found = 1 / (1 + np.exp(-self._outputs(X)))
        return np.column_stack([1 - found, found])

    def predict(self, X):
        low, high = self.target
        return low + (high - low) * self._outputs(X)
