"""One pair of draws, figure by figure: where proposals aim, what they miss, and where p is."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from deniable.learn.convex import Ball, Box, Simplex, proximal
from deniable.learn.convex.lattice import Lattice
from deniable.learn.convex.objectives import NAMES, STEP, Rows, link
from deniable.learn.convex.proximal import Chain, Target, _combined, _exact_sums

DOMAINS = [Ball(2.0), Box((-1.0, 0.5, 2.0), (3.0, 0.75, 4.0)), Simplex(2.0)]


def chain(domain=DOMAINS[0], *, name="logistic", weight=0.4, ridge=2.0, rows=30, arithmetic=1e-8):
    draw = np.random.default_rng(7)
    points = draw.normal(size=(rows, 3))
    points = np.trunc(points / np.linalg.norm(points, axis=1)[:, None] / STEP)
    made = link(name, blur=0.2)
    targets = np.zeros(rows) if made.labels else draw.normal(size=rows)
    held = Rows(points=points, targets=targets, link=made)
    target = Target(rows=held, domain=domain, weight=weight, ridge=ridge)
    return Chain(target=target, mixing=1e-9, arithmetic=arithmetic)


def gradient(walk, x):
    """Of b·Σφ(a·x − t) + m‖x − o‖²/2."""
    target, rows = walk.target, walk.target.rows
    a = rows.points * STEP
    center = target.domain.center(3)
    return target.weight * rows.link.slope(a @ x - rows.targets) @ a + target.ridge * (x - center)


# ---- what is fixed before


def test_only_rows_that_reach_a_bend_have_mass():
    """Rows of length 1 and ½ on [½, 1]: where a·x − t reaches [−¼, ¼], ends included."""
    for length, first, last in ((1.0, 0.25, 1.25), (0.5, 0.0, 0.75)):
        targets = {first: 1, last: 1, first - 1e-9: 0, last + 1e-9: 0, -last: 0, 0.5: 1}
        for t, counts in targets.items():
            points = np.array([[length / STEP]])
            rows = Rows(points=points, targets=np.array([t]), link=link("absolute", blur=0.25))
            mass = Target(rows=rows, domain=Box(0.5, 1.0), weight=1.0, ridge=1.0).mass
            assert counts * (1 + 2.0**-21) <= mass / length**2 <= counts * (1 + 2.0**-19)
    walk = chain()
    exact = (walk.target.rows.points**2).sum() * STEP**2
    assert 1 + 2.0**-21 <= walk.target.mass / exact <= 1 + 2.0**-19


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("ridge", [0.01, 300.0])
def test_a_little_of_the_ridge_is_spared_by_the_proposals_exactly(domain, ridge):
    """The precision of proposals and what is in hand make 1/η + m; m/(64 + 4d) is in hand."""
    walk = chain(domain, ridge=ridge)
    spread, per_step, precision, hand = walk._precise
    assert per_step == 1 / Fraction(walk.lattice.root) ** 2
    assert precision == 1 / (Fraction(spread) * Fraction(walk.width)) ** 2
    assert precision + hand == per_step + Fraction(ridge)
    assert float(hand) == pytest.approx(ridge / 76, rel=1e-6)


def test_the_lattice_is_that_of_the_rows():
    walk = chain(rows=11)
    wanted = Lattice(
        domain=DOMAINS[0], coordinates=3, size=11, mass=walk.target.mass, weight=0.4, ridge=2.0,
        link=walk.target.rows.link, mixing=1e-9, arithmetic=1e-8,
    )  # fmt: skip
    assert walk.lattice == wanted
    assert walk.target.center.tolist() == [0.0, 0.0, 0.0]
    assert walk._points(np.array([0.3, -0.2, 0.0])) * walk.width == pytest.approx([0.3, -0.2, 0.0])


# ---- a run


def test_a_run_makes_all_steps_and_completes_what_is_released(monkeypatch):
    walk, checked, states = chain(DOMAINS[2]), [], []
    monkeypatch.setattr(proximal, "check_floats", lambda: checked.append(1))

    def following(self, state, last=None):
        assert last == (len(states) or None)
        states.append(state.tolist())
        return state + 1, len(states)

    monkeypatch.setattr(Chain, "_next", following)
    monkeypatch.setattr(Lattice, "released", lambda self, state: np.array([9.0, 0.5, 0.25]))
    assert walk.draw().tolist() == [1.25, 0.5, 0.25]
    assert checked == [1]
    assert len(states) == walk.lattice.steps
    first = np.rint(walk.target.center / walk.width)
    assert states[0] == first.tolist()
    assert states[-1] == (first + len(states) - 1).tolist()


def test_a_pair_adds_noise_of_the_root_and_proposes_until_one_is_kept(monkeypatch):
    walk, seen = chain(), []
    noise = np.array([5.0, -3.0, 2.0])

    def drawn(sigma, mean, count):
        seen.append((sigma * walk.width, mean, count))
        return noise

    proposals = iter([np.array([1, 1, 1]), np.array([2, 2, 2]), np.array([3, 3, 3])])
    kept = type("Kept", (), {"kept": lambda self, proposal: proposal[0] == 2})()
    monkeypatch.setattr(proximal, "rounded_gaussian", drawn)
    monkeypatch.setattr(Chain, "_near", lambda self, ahead, last: (ahead.tolist(), last))
    monkeypatch.setattr(Chain, "_tangent", lambda self, ahead, place: (ahead, kept))
    monkeypatch.setattr(Ball, "normal", lambda self, *given: seen.append(given) or next(proposals))
    found, place = walk._next(np.array([10, 20, 30]), "last")
    assert found.tolist() == [2, 2, 2]
    assert place == ([15, 17, 32], "last")
    assert seen[0] == (pytest.approx(walk.lattice.root), 0.0, 3)
    for aim, sigma, width in seen[1:]:
        assert aim.tolist() == [15, 17, 32]
        assert (sigma, width) == (walk._precise[0], walk.width)
    assert len(seen) == 3


# ---- looking at all rows


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_a_look_finds_the_gradient_in_whole_numbers(domain, name):
    walk = chain(domain, name=name)
    x = domain.project(np.array([0.9, 0.6, 2.2]))
    place, rows = walk._look(x, age=5), walk.target.rows
    assert place.x == pytest.approx(x, abs=1e-12)
    assert place.age == 5
    assert (place.point * walk.width == place.x).all()
    assert place.z == pytest.approx(rows.points @ x * STEP - rows.targets, abs=1e-9)
    assert (place.slopes == np.rint(place.slopes)).all()
    assert np.abs(place.slopes * 2.0**-22 - rows.link.slope(place.z)).max() <= 2.0**-23
    exact = [
        sum(int(s) * int(a) for s, a in zip(place.slopes, c, strict=True)) for c in rows.points.T
    ]
    assert place.sums.tolist() == exact
    assert place.slope == pytest.approx(gradient(walk, x), abs=1e-5)


@pytest.mark.parametrize("sharp", [0.3, 40.0])
@pytest.mark.parametrize("name", ["logistic", "huber"])
def test_newtons_step_divides_by_the_curvature(name, sharp):
    """By differences of the gradient."""
    walk, x = chain(name=name, weight=3.0), np.array([0.2, 0.1, -0.3])
    curved = np.array([
        (gradient(walk, x + 1e-6 * e) - gradient(walk, x - 1e-6 * e)) / 2e-6 for e in np.eye(3)
    ]) - 2.0 * np.eye(3)  # fmt: skip
    wanted = sharp * np.linalg.inv(curved + sharp * np.eye(3))
    assert walk._newton(walk._look(x), sharp) == pytest.approx(wanted, abs=1e-5)


def test_sums_are_added_in_chunks_and_in_words_as_long_as_these_hold_them(monkeypatch):
    draw = np.random.default_rng(1)
    points, slopes = np.trunc(draw.normal(size=(11, 2)) * 9e3), np.trunc(draw.normal(size=11) * 1e6)
    exact = [int(x) for x in (slopes[:, None] * points).sum(axis=0)]
    monkeypatch.setattr(proximal, "_CHUNK", 4)
    for few, kind in ((11, np.int64), (10, object)):
        monkeypatch.setattr(proximal, "_FEW", few)
        found = _exact_sums(points, slopes)
        assert found.dtype == kind
        assert found.tolist() == exact


def test_factors_and_vectors_are_combined_exactly():
    parts = [
        (Fraction(1, 6), np.array([3, 5])),
        (Fraction(-7, 4), np.array([2**70, 1], dtype=object)),
        (Fraction(2), np.array([0, -1])),
    ]
    numbers, scale = _combined(parts)
    wanted = [sum(f * int(v[i]) for f, v in parts) for i in range(2)]
    assert [Fraction(x, scale) for x in numbers] == wanted


# ---- the tangent


@pytest.mark.parametrize("arithmetic", [1e-8, 1e-30])
@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_proposals_aim_down_the_gradient_and_what_rounding_leaves_is_exact(
    name, domain, arithmetic
):
    """c = p − (∇U(p) + (p − y)/η)/a, rounded; l = ∇U(p) + (p − y)/η − a(p − c), exactly."""
    walk = chain(domain, name=name, arithmetic=arithmetic)
    place = walk._look(domain.project(np.array([0.9, 0.6, 2.2])))
    y = np.array([1.5, -0.4, 2.0])
    ahead = walk._points(y)
    aim, tangent = walk._tangent(ahead, place)
    _, per_step, precision, hand = walk._precise
    slope = gradient(walk, place.x) + float(per_step) * (place.x - y)
    wanted = place.x - slope / float(precision)
    assert np.asarray(aim * walk.width, dtype=float) == pytest.approx(wanted, abs=1e-5)
    width, numbers, below = Fraction(walk.width), *tangent.left
    for i in range(3):
        p, o, c, t = (int(v[i]) * width for v in (place.point, walk._center, aim, ahead))
        exact = Fraction(0.4) * Fraction(STEP) / 2**22 * int(place.sums[i])
        exact += 2 * (p - o) + per_step * (p - t) - precision * (p - c)
        assert Fraction(numbers[i], below) == exact
        assert abs(exact) <= precision * (width + abs(p - c) / 2**50)
    assert tangent.slopes.tolist() == (place.slopes * 2.0**-22).tolist()
    assert (tangent.hand, tangent.width) == (hand, walk.width)
    assert (tangent.weight, tangent.norm) == (0.4, domain.norm(3))
    assert tangent.point is place.point


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("radius", "far"), [(2.0, 3.0), (2.0**30, 1.0), (1.0, 2.0**31)])
def test_slopes_are_off_by_their_rounding_and_by_that_of_their_arguments(name, radius, far):
    """Half a step of 2⁻²², and max φ″ times 2⁻⁴⁸ of d·‖x‖ + max |t| + 1."""
    walk = chain(Ball(radius), name=name)
    rows = replace(walk.target.rows, targets=np.linspace(-far, far / 2, 30))
    walk = replace(walk, target=replace(walk.target, rows=rows))
    tangent = walk._tangent(walk._center, walk._look(np.zeros(3)))[1]
    argument = rows.link.sharpest * 2.0**-48 * (3 * radius + far + 1)
    rounding = tangent.off - argument
    assert 2.0**-23 * (1 + 2.0**-19) <= rounding <= 2.0**-23 * (1 + 2.0**-17)


def test_sharp_corners_and_no_targets_leave_the_rounding_of_numbers_up_to_1():
    walk = chain(Ball(2.0**-7))
    rows = replace(walk.target.rows, targets=np.zeros(30), link=link("absolute", blur=2.0**-10))
    walk = replace(walk, target=replace(walk.target, rows=rows))
    off = walk._tangent(walk._center, walk._look(np.zeros(3)))[1].off
    assert off - 2.0**-23 * (1 + 2.0**-18) == pytest.approx(2.0**-38 * (1 + 3 / 128), abs=2.0**-44)


# ---- where p is


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("weight", [0.4, 30.0])
@pytest.mark.parametrize("y", [[0.5, 0.6, 2.0], [-3.0, 2.0, 1.0], [9.0, 9.0, -9.0]])
def test_p_is_about_the_mean_of_the_proposals_that_are_made_with_it(domain, weight, y, monkeypatch):
    """To half of their spread, and after a few looks at the rows."""
    walk, looks = chain(domain, weight=weight, rows=200), []
    look = Chain._look
    monkeypatch.setattr(
        Chain, "_look", lambda *given, **more: looks.append(1) or look(*given, **more)
    )
    eta = walk.lattice.root**2
    sharp, y = 1 / eta + 2.0, np.array(y) * min(1.0, 3 * walk.lattice.root)
    place = walk._near(walk._points(y), None)
    slope = gradient(walk, place.x) + (place.x - y) / eta
    mean = domain.mean(place.x - slope / sharp, 1 / math.sqrt(sharp))
    assert np.linalg.norm(mean - place.x) <= 0.5 / math.sqrt(sharp) * (1 + 1e-3)
    assert len(looks) <= 8
    assert np.allclose(domain.project(place.x), place.x, atol=1e-9)
    again = walk._near(walk._points(y), place)
    assert again.point.tolist() == place.point.tolist()
    assert again.age == place.age + 1
    assert again.newton is place.newton


@pytest.mark.parametrize("first", [0, 1])
def test_steps_are_newtons_at_first_and_then_those_of_the_worst_curvature(first, monkeypatch):
    """The latter, shortened by the curvature that the sum has at most, lead there surely."""
    walk, looked = chain(Ball(30.0), name="huber", weight=9.0), []
    look = Chain._look
    monkeypatch.setattr(
        Chain, "_look", lambda self, x, **more: looked.append(x) or look(self, x, **more)
    )
    monkeypatch.setattr(proximal, "_NEWTON", first)
    monkeypatch.setattr(Chain, "_newton", lambda self, place, sharp: 0.5 * np.eye(3))
    y, eta = np.array([20.0, -9.0, 3.0]), walk.lattice.root**2
    sharp = 1 / eta + 2.0
    walk._near(walk._points(y), None)
    assert len(looked) > 2
    for turn, (x, after) in enumerate(itertools.pairwise(looked)):
        step = -(gradient(walk, x) + (x - y) / eta) / sharp  # inside a ball a mean is the aim
        share = 0.5 if turn < first else sharp / (sharp + walk.lattice.bend)
        assert after - x == pytest.approx(share * step, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("share", [1 - 1e-5, 1 + 1e-5])
@pytest.mark.parametrize("domain", [Ball(50.0), Box(3.0, 60.0)], ids=str)
@pytest.mark.parametrize("y", [[4.0, 5.0, 6.0], [-300.0, 4.0, 5.0]])
def test_p_is_no_farther_from_y_than_is_counted_on(domain, y, share, monkeypatch):
    """dist(y, K) + 2η(bn + mD) + √(dη); the nearest point of the set takes its place."""
    walk, y = chain(domain, name="huber", weight=50.0), np.array(y)
    monkeypatch.setattr(type(domain), "mean", lambda self, center, sigma: kept.x)
    eta, nearest = walk.lattice.root**2, domain.project(y)
    most = np.linalg.norm(nearest - y) + 2 * eta * walk.lattice.steepest + math.sqrt(3 * eta)
    low, high = 0.0, 60.0  # a point inside that is so far from y
    for _ in range(80):
        middle = (low + high) / 2
        away = domain.project(nearest + np.array([middle, 0.0, 0.0]))
        low, high = (middle, high) if np.linalg.norm(away - y) < share * most else (low, middle)
    assert np.linalg.norm(away - y) == pytest.approx(share * most, rel=1e-9)
    kept = walk._look(away)
    found = walk._near(walk._points(y), replace(kept, newton=np.eye(3)))
    assert found.x == pytest.approx(away if share < 1 else nearest, abs=1e-6)


@pytest.mark.parametrize(("age", "computed"), [(3, 0), (14, 0), (15, 1), (40, 1)])
def test_the_curvature_is_computed_again_after_sixteen_pairs(age, computed, monkeypatch):
    """If p has to be looked for at all, and not at the first try."""
    walk, found = chain(), []
    newton = Chain._newton
    monkeypatch.setattr(Chain, "_newton", lambda *given: found.append(1) or newton(*given))
    last = replace(walk._look(np.array([1.9, 0.0, 0.0]), age=age), newton=0.3 * np.eye(3))
    far = walk._points(np.array([-1.5, 0.5, 0.0]))
    place = walk._near(far, last)
    assert len(found) == computed
    assert place.age == (0 if computed else age + 1)
