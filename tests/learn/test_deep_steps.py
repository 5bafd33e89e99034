"""Networks are trained on noisy sums of their rows' own gradients; here with NumPy for PyTorch."""

import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.learn import told

import deniable as dp
from deniable.learn import deep
from deniable.learn.deep import NeuralNetwork
from deniable.learn.models.custom import GradientDescent


class Tensor(np.ndarray):
    """As much of a tensor as is used: parameters have gradients, by row and of a sum."""

    requires_grad, grad, grad_sample = True, None, None

    def numel(self):
        return self.size

    def view_as(self, other):
        return self.reshape(other.shape)

    def clone(self):
        return self.copy()

    def detach(self):
        return self

    def numpy(self):
        return np.asarray(self)


def tensor(numbers, dtype=None):
    return np.array(numbers, dtype=dtype).view(Tensor)


class Net:
    """x·w + b, with a parameter that is not trained and a statistic of what it saw."""

    def __init__(self):
        self.w, self.frozen, self.b = tensor([[1.0], [2.0]]), tensor([9.0]), tensor([3.0])
        self.frozen.requires_grad = False
        self.seen = 0

    def parameters(self):
        return iter([self.w, self.frozen, self.b])

    def __deepcopy__(self, memo):
        made = type(self)()
        made.load_state_dict(self.state_dict())
        return made

    def state_dict(self):
        return {"w": self.w, "frozen": self.frozen, "b": self.b, "seen": self.seen}

    def load_state_dict(self, state):
        for name in ("w", "frozen", "b"):  # in place, so that gradients stay where they are
            getattr(self, name)[...] = state[name]
        self.seen = state["seen"]

    def to_standard_module(self):
        return self

    def zero_grad(self, *, set_to_none):
        assert set_to_none
        for each in self.parameters():
            each.grad_sample = None

    def __call__(self, x):
        self.seen += len(x)
        self.inputs = np.asarray(x)
        return tensor(self.inputs @ self.w + self.b)


class Mixing(Net):
    """Something that Opacus refuses."""


class Lost:
    """One loss per row, (output − y)²/2, whose gradients are kept by row."""

    def __init__(self, net, out, y):
        self.net, self.off, self.shape = net, np.asarray(out[:, 0] - y), (len(y),)

    def sum(self):
        return self

    def backward(self):
        for each, own in ((self.net.w, self.net.inputs), (self.net.b, np.ones((len(self.off), 1)))):
            assert each.grad_sample is None, "gradients of other rows are still there"
            each.grad_sample = tensor(self.off[:, None] * own)


@pytest.fixture(autouse=True)
def libraries(monkeypatch):
    """NumPy in the place of PyTorch, and of Opacus a copy of the module."""
    torch, opacus = ModuleType("torch"), ModuleType("opacus")
    torch.as_tensor = tensor
    torch.cat = lambda rows, dim: tensor(np.concatenate(rows, axis=dim))
    torch.no_grad = nullcontext
    opacus.GradSampleModule = sampler
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "opacus", opacus)


def sampler(module, *, loss_reduction, strict):
    assert (loss_reduction, strict) == ("sum", True)
    if isinstance(module, Mixing):
        raise NotImplementedError("BatchNorm")
    return module


class Falling:
    """Plain steps against the gradient."""

    def __init__(self, parameters):
        self.parameters = parameters

    def step(self):
        for each in self.parameters:
            each[...] = each - 0.5 * each.grad


def network(**given):
    facts = {"module": Net(), "loss": "given below", "optimizer": Falling, "clip": 2.0, "size": 4}
    model = NeuralNetwork(**{**facts, "steps": 1, **given})
    if model.loss == "given below":
        model.loss = lambda out, y: Lost(model._trained, out, y)
    return model


def test_each_parameter_steps_by_its_own_part_of_the_noisy_slope():
    model = network(steps=2)
    given = model.module
    model._sum = lambda held, step, terms: np.array([4.0, -8.0, 16.0]) * (step + 1) * 2**20
    told.driven(model._steps(told.bought(), None))
    slope = np.array([4.0, -8.0, 16.0]) * 3 * 2.0 / 4  # clip over size, both steps together
    assert model.module_.w.ravel().tolist() == [1 - slope[0] / 2, 2 - slope[1] / 2]
    assert model.module_.b.tolist() == [3 - slope[2] / 2]
    assert model.module_.frozen.tolist() == [9.0]
    assert model.module_ is not given
    assert not hasattr(model, "_trained")


def test_gradients_are_those_of_single_rows_and_nothing_of_them_is_kept(monkeypatch):
    monkeypatch.setattr(deep, "_ROWS", 3)
    model = network()
    assert model.dimension == 3
    model._trained = net = Net()
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(7, 2)), draw.normal(size=7)
    off = X @ [1.0, 2.0] + 3.0 - y
    wanted = np.column_stack([off[:, None] * X, off])
    assert model._gradients(np.zeros(0), X, y) == pytest.approx(wanted)
    assert net.seen == 0
    assert all(each.grad_sample is None for each in net.parameters())


def test_a_loss_is_one_number_per_row():
    model = network(loss=lambda out, y: SimpleNamespace(shape=()))
    model._trained = Net()
    with pytest.raises(dp.BadParameter, match="one loss per row"):
        model._gradients(np.zeros(0), np.ones((2, 2)), np.ones(2))


def test_predictions_are_the_output_or_the_place_of_the_largest():
    model = network()
    with pytest.raises(NotFittedError):
        model.predict([[0.0, 0.0]])
    model.module_, model.n_features_in_ = Net(), 2
    assert model.predict([[1.0, 1.0], [0.0, 2.0]]).tolist() == [6.0, 7.0]
    model.module_.w, model.module_.b = tensor([[1.0, 0.0], [0.0, 1.0]]), tensor([0.0, 0.5])
    assert model.predict([[1.0, 0.0], [1.0, 0.9], [0.0, 0.0]]).tolist() == [0, 1, 1]


@pytest.mark.parametrize("missing", ["module", "loss", "optimizer", "clip", "size"])
def test_what_training_needs_must_be_given(missing):
    network().check_parameters()
    with pytest.raises(dp.BadParameter, match="needs"):
        network(**{missing: None}).check_parameters()
    if missing in ("module", "loss"):
        assert network(**{missing: None}).gradient is None
    assert callable(network().gradient)


def test_modules_that_cannot_be_sampled_are_refused_at_once(monkeypatch):
    with pytest.raises(dp.BadParameter, match="cannot be trained privately: BatchNorm"):
        network(module=Mixing()).check_parameters()
    monkeypatch.setitem(sys.modules, "opacus", None)
    with pytest.raises(dp.MissingExtra, match="opacus"):
        network().check_parameters()


def test_rows_are_tried_within_their_bounds_before_they_are_held(monkeypatch):
    tried = []
    monkeypatch.setattr(NeuralNetwork, "_try", lambda self, *ends: tried.append(ends))
    held = network()._on_arrays(np.ones((5, 2)), np.zeros(5))
    assert tried.pop() == ([(0.0, 1.0), (0.0, 1.0)], (0.0, 1.0))
    assert held.space.dimension == 3
    bounds = {"a": (-1.0, 1.0), "b": (0.0, 5.0), "y": (2.0, 3.0)}
    monkeypatch.setattr(deep, "as_number", lambda about, name: name)
    monkeypatch.setattr(deep, "bounds_of", bounds.get)
    monkeypatch.setattr(GradientDescent, "on_table", lambda *given: "held")
    for target, ends in ((None, (0.0, 0.0)), ("y", (2.0, 3.0))):
        assert network().on_table(None, None, target, ["a", "b"]) == "held"
        assert tried.pop() == ([(-1.0, 1.0), (0.0, 5.0)], ends)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("off", "fits"), [(5e-4, True), (2e-3, False)])
def test_another_order_of_additions_may_change_a_thousandth_of_the_largest(scale, off, fits):
    model = network()
    model._gradients = lambda _, X, y: scale * (1 + off * (len(X) > 1)) * np.ones((len(X), 3))
    if fits:
        model._try([(0.0, 1.0)], (0.0, 1.0))
    else:
        with pytest.raises(dp.BadParameter, match="changes with the rows beside it"):
            model._try([(0.0, 1.0)], (0.0, 1.0))
