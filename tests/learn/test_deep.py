"""Networks of PyTorch; skipped where Opacus is not installed, which is large."""

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.audit import replay
from deniable.learn.deep import NeuralNetwork

try:
    import opacus  # noqa: F401  installed where torch is
    import torch
except ImportError:  # too large for the default environment; the tests are there all the same
    torch = None
pytestmark = pytest.mark.skipif(torch is None, reason="torch and opacus are not installed")
Module = torch.nn.Module if torch else object

FACTS = dp.Schema(columns={"a": dp.bounds(-1, 1), "b": dp.bounds(-1, 1), "y": dp.bounds(-2, 2)})


def table(rows=2000):
    random = np.random.default_rng(0)
    a, b = random.uniform(-1, 1, (2, rows))
    return pd.DataFrame({"a": a, "b": b, "y": a - b})


def squares(out, y):
    return (out[:, 0] - y) ** 2


def net(*layers, **settings):
    torch.manual_seed(0)
    module = torch.nn.Sequential(*layers) if layers else torch.nn.Linear(2, 1).double()
    made = {"clip": 1.0, "size": 2000, "steps": 60} | settings
    return NeuralNetwork(
        module=module,
        loss=settings.pop("loss", squares),
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.5),
        **{name: value for name, value in made.items() if name != "loss"},
    )


@pytest.mark.parametrize("how", [{}, {"sample_rate": 0.2}, {"batches": 5}], ids=str)
def test_a_network_learns_and_is_charged_before_the_first_step(how):
    frame, budget = table(), dp.epsilon(5.0, delta=1e-4)
    session = dp.open(frame, unit=dp.rows(), budget=budget, schema=FACTS)
    start = net(**how)
    before = [each.detach().clone() for each in start.module.parameters()]
    model = session.fit(start, target="y", spend=budget)
    assert len(session.ledger.entries) == 1
    assert np.abs(model.predict(frame) - frame["y"]).mean() < 0.4
    assert all((a == b).all() for a, b in zip(before, model.module.parameters(), strict=True))
    plan = dp.Mechanism.from_dict(model.plan_)
    assert plan.epsilon_at(2.5e-5) <= 5.0 + 1e-9
    assert "floating point" in str(model.certificate())


def test_one_row_moves_no_sum_further_than_declared():
    frame = table(50)
    one = pd.DataFrame({"a": [1.0], "b": [-1.0], "y": [-2.0]})

    def program(data):
        session = dp.open(data, unit=dp.rows(), budget=dp.mu(1.0), schema=FACTS)
        session.fit(net(steps=3, size=50), target="y", spend=dp.mu(1.0))

    found = replay(program, frame, pd.concat([frame, one], ignore_index=True))
    assert found.ok, found
    assert found.moved > 0.5 * found.declared


@pytest.mark.parametrize(
    "model",
    [
        lambda: net(torch.nn.Linear(2, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1)),
        lambda: net(clip=None),
        lambda: NeuralNetwork(clip=1.0, size=10),
    ],
    ids=["rows mixed", "no clip", "no module"],
)
def test_what_cannot_be_trained_is_refused_for_free(model):
    session = dp.open(table(10), unit=dp.rows(), budget=dp.mu(1.0), schema=FACTS)
    with pytest.raises(dp.BadParameter):
        session.fit(model(), target="y", spend=dp.mu(1.0))
    assert not session.ledger.entries


class Centred(Module):
    def forward(self, x):
        return x - x.mean(0)


class Counting(Module):
    """Keeps what it saw, and changes no row for it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(2, dtype=torch.float64))

    def forward(self, x):
        self.seen += x.detach().sum(0)
        return x


def between(layer):
    return lambda: net(torch.nn.Linear(2, 4), layer(), torch.nn.Linear(4, 1))


@pytest.mark.parametrize(
    "model",
    [
        between(lambda: torch.nn.BatchNorm1d(4, affine=False)),
        between(lambda: torch.nn.BatchNorm1d(4, affine=False, track_running_stats=False)),
        between(lambda: torch.nn.BatchNorm1d(4, track_running_stats=False)),
        between(lambda: torch.nn.Softmax(dim=0)),
        between(Centred),
        between(lambda: torch.nn.Dropout(0.5)),
        lambda: net(loss=lambda out, y: (out[:, 0] - y) ** 2 / len(y)),
        lambda: net(loss=lambda out, y: (out[:, 0] - y.mean()) ** 2),
        lambda: net(loss=lambda out, y: ((out - y) ** 2).mean(0)),
        lambda: net(loss=lambda out, y: ((out[:, 0] - y) ** 2).mean()),
        lambda: net(torch.nn.Linear(3, 1)),
        lambda: net(torch.nn.Linear(2, 1), torch.nn.Flatten(0)),
    ],
    ids=[
        "batch norm without weights",
        "batch norm without statistics",
        "batch norm with weights alone",
        "softmax over rows",
        "a layer of one's own",
        "dropout",
        "mean loss",
        "a loss of the mean target",
        "a loss of every pair",
        "one loss of all",
        "another number of features",
        "another shape",
    ],
)
@pytest.mark.parametrize("way", ["table", "arrays"])
def test_a_gradient_that_other_rows_change_is_refused_for_free(model, way):
    session = dp.open(table(10), unit=dp.rows(), budget=dp.mu(1.0), schema=FACTS)
    made, frame = model(), table(10)

    def fitted():
        if way == "table":
            return session.fit(made, target="y", spend=dp.mu(1.0))
        return made.set_params(epsilon=1.0, delta=1e-6).fit(frame[["a", "b"]], frame["y"])

    with pytest.raises(dp.BadParameter):
        fitted()
    assert not session.ledger.entries
    assert made.spent == dp.mu(0.0)


def test_what_a_module_keeps_of_the_rows_is_not_released():
    session = dp.open(table(10), unit=dp.rows(), budget=dp.mu(1.0), schema=FACTS)
    start = net(Counting(), torch.nn.Linear(2, 1).double(), steps=2)
    model = session.fit(start, target="y", spend=dp.mu(1.0))
    assert model.module_[0].seen.tolist() == [0.0, 0.0]


def test_classes_and_embeddings_are_tried_on_values_within_their_bounds():
    facts = dp.Schema(columns={"a": dp.bounds(0, 7), "y": dp.bounds(0, 2)})
    frame = pd.DataFrame({"a": [1, 7, 3, 0], "y": [0, 2, 1, 1]})
    session = dp.open(frame, unit=dp.rows(), budget=dp.mu(1.0), schema=facts)

    class Looked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(8, 3)

        def forward(self, x):
            return self.table(x[:, 0].long())

    def crossed(out, y):
        return torch.nn.functional.cross_entropy(out, y.long(), reduction="none")

    model = net(Looked(), loss=crossed, size=4, steps=2)
    assert set(session.fit(model, target="y", spend=dp.mu(1.0)).predict(frame)) <= {0, 1, 2}


def test_what_a_module_writes_down_of_rows_is_not_in_the_model():
    class Curious(torch.nn.Linear):
        def forward(self, x):
            self.last, self.seen = x, getattr(self, "seen", 0) + len(x)
            return super().forward(x)

    given = Curious(2, 1).double()
    made = net(steps=3)
    made.module = given
    session = dp.open(table(), unit=dp.rows(), budget=dp.mu(1.0), schema=FACTS)
    model = session.fit(made, target="y", spend=dp.mu(1.0))
    assert not {"last", "seen"} & vars(model.module_).keys()
    assert not {"last", "seen"} & vars(model.module).keys()
