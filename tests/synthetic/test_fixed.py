"""Marginals chosen in advance: each gets the same share, and all are measured together."""

from types import SimpleNamespace

from deniable.synthetic.methods.fixed import STEPS, equal_noise, fixed
from deniable.synthetic.run import View

SPREADS = {(0,): (2.0, 1.5), (1, 2): (4.0, 3.0), (0, 2): (8.0, 6.0)}


class Recorded:
    """A run that does what it is asked and remembers it."""

    def __init__(self, left):
        self.seen = []
        noise = lambda amount, *, l1, l2: (amount, l1, l2)  # noqa: E731
        self.purse = SimpleNamespace(left=left, noise=noise)

    def hidden(self, view):
        l1, l2 = SPREADS[view.columns]
        return SimpleNamespace(l1=l1, l2=l2)

    def say(self, phase):
        self.seen.append(phase)

    def measure(self, views, noise):
        self.seen.append(([view.columns for view in views], noise))
        yield "measured"

    def refit(self, *, steps, tolerance):
        self.seen.append((steps, tolerance))


def test_all_that_is_left_is_shared_equally_and_each_phase_is_told():
    run = Recorded(left=6.0)
    assert list(fixed(run, list(SPREADS))) == ["measured"]
    assert run.seen == [
        "measuring 3 marginals",
        (list(SPREADS), [(2.0, 2.0, 1.5), (2.0, 4.0, 3.0), (2.0, 8.0, 6.0)]),
        "fitting the model",
        (STEPS, 1e-5),
    ]


def test_an_amount_is_shared_whatever_else_is_left():
    views = [View(clique) for clique in SPREADS][:2]
    assert equal_noise(Recorded(left=9.0), views, 5.0) == [(2.5, 2.0, 1.5), (2.5, 4.0, 3.0)]
