"""Networks are tried on made-up rows before anything is charged; here without PyTorch."""

import numpy as np
import pytest

from deniable.errors import BadParameter
from deniable.learn.deep import NeuralNetwork

ENDS = [(-3.0, 5.0), (0.0, 1.0)]
TARGET = (10.0, 20.0)


class Tried(NeuralNetwork):
    """Its gradients are those of a function of the rows."""

    def __init__(self, function):
        super().__init__()
        self.function, self.seen = function, []

    def _sampler(self):
        return "a copy"

    def _gradients(self, _theta, X, y):
        assert self._trained == "a copy"
        self.seen.append((X, y))
        return self.function(X, np.asarray(y))


def alone(X, y):
    return X * y[:, None]


def centred(X, y):
    return alone(X - X.mean(axis=0), y)


def by_place(X, y):
    return alone(X, y) * (np.arange(len(X)) % 2)[:, None]


def sometimes_nothing(X, y):
    return alone(X, y) / (X[:, :1] > 0)


@pytest.mark.parametrize("function", [centred, by_place, lambda X, y: alone(X, y) * len(X)])
def test_a_gradient_that_changes_with_the_rows_beside_it_is_refused(function):
    tried = Tried(function)
    with pytest.raises(BadParameter, match="changes with the rows beside it"):
        tried._try(ENDS, TARGET)
    assert not hasattr(tried, "_trained")


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("function", [alone, sometimes_nothing])
def test_rows_at_the_ends_of_their_bounds_are_tried_together_and_alone(function):
    tried = Tried(function)
    tried._try(ENDS, TARGET)
    (together, targets), *each = tried.seen
    assert len(together) == len(each) == 8
    for i, (X, y) in enumerate(each):
        assert X.tolist() == [together[i].tolist()]
        assert y.tolist() == [targets[i]]
    for column, ends in zip((*together.T, targets), (*ENDS, TARGET), strict=True):
        assert set(column.tolist()) == set(ends)
    assert not hasattr(tried, "_trained")


@pytest.mark.parametrize(("off", "fits"), [(0.5, True), (2.0, False)])
def test_last_digits_may_differ_by_a_thousandth_of_the_largest_gradient(off, fits):
    largest = 5.0 * 20.0

    def function(X, y):
        return alone(X, y) + (off * 1e-3 * largest if len(X) > 1 else 0.0)

    if fits:
        Tried(function)._try(ENDS, TARGET)
    else:
        with pytest.raises(BadParameter, match="beside it"):
            Tried(function)._try(ENDS, TARGET)


def test_what_fails_on_made_up_rows_is_refused_and_our_own_words_are_kept():
    def fails(X, y):
        raise ValueError("too wide")

    def refuses(X, y):
        raise BadParameter("one loss per row")

    with pytest.raises(BadParameter, match="fails on made-up rows: too wide"):
        Tried(fails)._try(ENDS, TARGET)
    with pytest.raises(BadParameter, match="one loss per row"):
        Tried(refuses)._try(ENDS, TARGET)


@pytest.mark.parametrize("missing", ["module", "loss", "optimizer"])
def test_a_network_needs_a_module_a_loss_and_an_optimizer(missing):
    given = {"module": object(), "loss": max, "optimizer": max} | {missing: None}
    with pytest.raises(BadParameter, match="needs module, loss and optimizer"):
        NeuralNetwork(**given, clip=1.0, size=10).check_parameters()
