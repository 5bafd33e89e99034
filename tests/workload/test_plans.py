"""Plans and estimates: the ± of multiples of a step, in other units, and as pictures."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable import workload
from deniable.workload.plans import Estimates, WorkloadPlan, half_width
from deniable.workload.tails import factor


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("step", [0.0, 0.25, 1.0, 3.0])
def test_half_a_step_more_than_a_multiple_holds_the_noise_and_no_smaller_one_does(
    law, confidence, step
):
    deviations = [0.0, 0.01, 0.43, 2.0, 17.3]
    found = half_width(deviations, law, confidence, step=step).tolist()
    for half, deviation in zip(found, deviations, strict=True):
        reach = factor(law, confidence) * deviation
        if not step:
            assert half == reach
            continue
        many = Fraction(half) / Fraction(step)
        assert many.denominator == 1
        assert (many + Fraction(1, 2)) * Fraction(step) >= reach
        assert many == 0 or (many - Fraction(1, 2)) * Fraction(step) < reach


def made(**given):
    plan = WorkloadPlan(
        workload="w", strategy="s", spend=dp.mu(1.0), rmse=1.0, worst=2.0,
        deviations=np.array([1.0, 2.0]), law="gaussian", **given,
    )  # fmt: skip
    return plan, Estimates(values=np.array([5.0, 7.0]), deviations=plan.deviations, plan=plan)


@pytest.mark.parametrize("step", [0.0, 1.0])
@pytest.mark.parametrize("wider", [1.0, 1.5])
@pytest.mark.parametrize("worth", [1.0, 0.25, 8.0])
def test_another_unit_scales_values_errors_and_steps(step, wider, worth):
    plan, found = made(step=step, wider=wider)
    wanted = half_width(plan.deviations * wider, "gaussian", 0.95, step=step)
    assert plan.errors.tolist() == wanted.tolist()
    other = found.times(worth)
    assert (other.values / worth).tolist() == pytest.approx([5.0, 7.0])
    assert (other.errors / worth).tolist() == pytest.approx(wanted.tolist())
    twice = other.times(2.0)
    assert (twice.errors / worth / 2).tolist() == pytest.approx(wanted.tolist())
    low = half_width(plan.deviations * wider, "gaussian", 0.5, step=step)
    assert (other.error(0.5) / worth).tolist() == pytest.approx(low.tolist())


def test_frames_hold_labels_values_and_errors():
    found = workload.matrix([[1, 0], [1, 1]]).release([3, 4], spend=dp.mu(1.0))
    frame = found.to_pandas()
    assert frame["query"].tolist() == [1, 2]
    assert frame["value"].tolist() == found.values.tolist()
    assert frame["error"].tolist() == found.errors.tolist()
    assert found.names() == {"query": [1, 2]}


@pytest.mark.parametrize(
    ("labels", "how"), [({}, "band"), ({"step": [1, 2]}, "band"), ({"query": [1, 2]}, "panels")]
)
def test_running_totals_and_cells_are_bands_and_named_answers_panels(labels, how, monkeypatch):
    plan, _ = made()
    arrays = {name: np.array(each) for name, each in labels.items()}
    found = Estimates(
        values=np.array([5.0, 7.0]), deviations=plan.deviations, plan=plan, labels=arrays
    )
    seen = []
    for name, module in (("band", "bands"), ("panels", "panels")):
        monkeypatch.setattr(
            f"deniable.plots.{module}.{name}", lambda *_, of=name, **__: seen.append(of)
        )
    found.plot()
    assert seen == [how]


def test_a_plan_says_its_errors_and_the_next_best():
    plan = workload.ranges(64).plan(spend=dp.mu(1.0))
    others = list(plan.chosen.others.items())
    assert all(f"{name} {error:.3g}" in plan.instead() for name, error in others[:3])
    assert f"{others[0][0]} {others[0][1] * 2:.3g}" in plan.instead(2.0)
    assert made()[0].instead() == ""
    assert plan.rmse <= min(plan.chosen.others.values())
    assert math.isclose(plan.worst, plan.deviations.max())
