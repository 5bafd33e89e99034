"""The descent is the one that its docstring states, step by step, on sums without noise."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import deniable as dp
from deniable.learn.engine import descent, links, moments
from deniable.learn.engine.descent import Descent
from deniable.learn.engine.examples import Examples
from deniable.learn.engine.spaces import Dense, on_lattice
from deniable.mechanisms.combine import Composed

SPACE = Dense(dimension=2)
X = np.array([[0.9, 0.1], [-0.3, 0.7], [0.2, -0.8], [-0.6, -0.5], [0.4, 0.4]])


class Told:
    """Rows that anybody may read: the sum itself takes the place of a step."""

    space, weighted, rows = SPACE, False, 1

    def __init__(self, y):
        self.examples = Examples(x=SPACE.rounded(X), y=np.array(y))

    def sum(self, terms, **_):
        return terms(self.examples)


def driven(steps):
    """Answer each question with the exact sum."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(asked)
    except StopIteration as end:
        return end.value


def handle(sigma):
    mechanism = Composed.of((dp.Gaussian(sigma=sigma), 1), (dp.Gaussian(sigma=1.0), 3))
    return SimpleNamespace(on=lambda value: value, mechanism=mechanism)


@pytest.mark.parametrize(("classes", "scale"), [(2, 4.0), (3, 2.0)])
@pytest.mark.parametrize("noise", [0.25, 3.0])
def test_the_preconditioner_inverts_the_moments_and_their_noise(classes, scale, noise):
    how = Descent(space=SPACE, classes=classes, steps=4, clip=1.0)
    held, unit = Told([0, 1, 0, 1, 1]), SPACE.moment_unit(weighted=False)
    found = driven(descent.preconditioner(handle(noise * unit), held, how))
    features = held.examples.x / SPACE.unit
    damped = features.T @ features + noise * np.sqrt(2) * np.eye(2)
    assert found == pytest.approx(scale * np.linalg.inv(damped), rel=1e-9)


def test_a_direction_in_which_noise_made_the_moments_negative_is_damped_by_the_noise_alone():
    class Drowned(Told):
        def sum(self, terms, **_):
            return np.array([-2.0, 0.0, 3.0]) * SPACE.moment_unit(weighted=False)

    how = Descent(space=SPACE, classes=2, steps=4, clip=1.0)
    unit = SPACE.moment_unit(weighted=False)
    found = driven(descent.preconditioner(handle(0.5 * unit), Drowned([0] * 5), how))
    drowned = 0.5 * np.sqrt(2)
    assert found == pytest.approx(np.diag([4 / drowned, 4 / (3 + drowned)]), rel=1e-9)


@pytest.mark.parametrize(("classes", "y"), [(2, [0, 1, 0, 1, -1]), (3, [0, 1, 2, 1, -1])])
@pytest.mark.parametrize("steps", [1, 4, 5])
def test_the_later_half_of_the_steps_is_averaged(classes, y, steps):
    how = Descent(space=SPACE, classes=classes, steps=steps, clip=0.4)
    held, noise = Told(y), 0.25 * SPACE.moment_unit(weighted=False)
    features = held.examples.x / SPACE.unit
    inverse = driven(descent.preconditioner(handle(noise), held, how))
    theta, seen = np.zeros((2, *how.columns)), []
    for _ in range(steps):
        margins = features @ np.ldexp(on_lattice(theta).astype(float), -20)
        labels = np.eye(classes)[np.maximum(y, 0)]
        off = links.probabilities(margins) - labels
        off[np.array(y) < 0] = 0
        off = off[:, 1] if classes == 2 else off
        length = np.linalg.norm(features, axis=1)
        size = np.abs(off) if classes == 2 else np.linalg.norm(off, axis=1)
        most = (0.4 if classes == 2 else 0.4 * np.sqrt(2)) / length
        shrink = np.minimum(1.0, most / np.maximum(size, 1e-9))
        gradient = features.T @ (off * (shrink if classes == 2 else shrink[:, None]))
        theta = theta - inverse @ gradient
        seen.append(theta)
    wanted = np.mean(seen[steps // 2 :], axis=0)
    found = driven(descent.descend(handle(noise), held, how))
    assert found == pytest.approx(wanted, abs=0.02)
    assert np.abs(wanted).max() > 0.3, "the steps go somewhere"


@pytest.mark.parametrize("target", [False, True])
def test_moments_are_read_in_the_units_of_features_and_targets(target):
    y = np.rint(np.ldexp([0.5, -1.0, 1.0, 0.0, 0.25], moments.TARGET)).astype(int)
    held, unit = Told(y), SPACE.moment_unit(weighted=False)
    found = driven(moments.measured(handle(3.0 * unit), held, target=target))
    features = held.examples.x / SPACE.unit
    assert found.matrix == pytest.approx(features.T @ features)
    assert found.noise == 3.0
    wanted = features.T @ (y / 2**16) if target else np.zeros(2)
    assert found.products == pytest.approx(wanted, abs=1e-12)
    assert found.products_noise == (1.0 / (SPACE.unit * 2**16) if target else 0.0)


@pytest.mark.parametrize(("classes", "square"), [(2, 1), (3, 2)])
def test_what_a_row_can_move_is_rounded_up(classes, square):
    """Compared in squares, as √2 is not a fraction."""
    for clip in np.linspace(0.1, 2.0, 40).tolist():
        found = Fraction(Descent(space=SPACE, classes=classes, steps=4, clip=clip).gradient_l2)
        exact = square * (Fraction(clip) * 2**links.BITS * SPACE.unit) ** 2
        assert exact <= found**2 <= exact * (1 + Fraction(1, 2**40))


def test_a_wide_clip_leaves_residuals_of_many_classes_as_they_are():
    """Surely wrong of three classes: one entry is −1 and another is 1, together √2 long."""
    how = Descent(space=SPACE, classes=3, steps=4, clip=9.0)
    rows = Examples(x=SPACE.rounded(np.array([[1.0, 0.0]])), y=np.array([0]))
    theta = on_lattice(np.array([[-40.0, 40.0, -40.0], [0.0, 0.0, 0.0]]))
    found = descent.gradient(how, theta, rows) / (SPACE.unit * 2.0**links.BITS)
    assert found == pytest.approx(np.array([[-1.0, 1.0, 0.0], [0.0] * 3]), abs=1e-4)
