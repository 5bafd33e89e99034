"""Neural networks of PyTorch: gradients per row by Opacus, exact sums and noise by us.

Opacus computes one gradient per row. What happens to them is what `GradientDescent` does: each is
clipped and rounded to a lattice, sums are exact, samples are drawn as they are priced, and all
noise is drawn exactly and charged before the first step. The optimizer sees noisy sums alone.

One thing is not proved. PyTorch computes the gradients of many rows together, in 32 bits and in an
order of its own, so another row may change the last digits of a row's gradient. The certificate
says so.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final

import numpy as np

from deniable.errors import BadParameter, MissingExtra
from deniable.learn.encoding import bounds_of
from deniable.learn.engine.budget import Paid
from deniable.learn.engine.examples import Held
from deniable.learn.engine.spaces import Floats
from deniable.learn.from_table import as_number
from deniable.sampling.public import PublicRandom
from deniable.session import Session
from deniable.statistics.building import About

from .models._estimator import check_is_fitted, numbers
from .models.custom import GradientDescent

_ROWS: Final = 1024
"""So many rows have their gradients computed at once."""
_TRIED: Final = 8
_NEAR: Final = 1e-3
"""Of the largest gradient: what 32 bits and another order of additions may change."""
_ALONE: Final = (
    "GroupNorm or LayerNorm for BatchNorm, and no Dropout",
    'one loss per row, of its own output and target: reduction="none"',
)


class NeuralNetwork(GradientDescent):
    """A PyTorch module, trained on clipped gradients with noise; needs `opacus`.

    `module` is copied, never changed; `loss(outputs, y)` returns one loss per row; `optimizer`
    makes an optimizer of parameters. The other settings are those of `GradientDescent`: `clip`,
    `size`, `steps`, and `sample_rate` or `batches`. Modules and losses that mix rows, such as batch
    normalisation, are refused: they are tried on made-up rows before anything is charged. What a
    module keeps besides its parameters stays as it was.

    Privacy    as `GradientDescent`, with the caveat of this file: gradients per row are computed in
               floating point
    Assumes    `size` is public, and the module's first parameters do not come from these rows; a
               row's gradient depends on that row and the parameters alone, also where made-up rows
               do not show it

        import torch
        net = NeuralNetwork(
            module=torch.nn.Linear(3, 1),
            loss=lambda out, y: (out[:, 0] - y) ** 2,
            optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.1),
            clip=1.0, size=10_000, sample_rate=0.05, steps=200,
        )
        s.fit(net, target="age", features=[...], spend=dp.epsilon(1.0, delta=1e-6))
    """

    caveat = (
        "PyTorch computes gradients per row in floating point: another row may change their last "
        "digits, which is not accounted for. Clipping, sums and noise are exact"
    )

    def __init__(
        self,
        *,
        module: Any = None,
        loss: Callable[[Any, Any], Any] | None = None,
        optimizer: Callable[[Any], Any] | None = None,
        clip: float | None = None,
        size: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        steps: int = 100,
        sample_rate: float | None = None,
        batches: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.module = module
        self.loss = loss
        self.optimizer = optimizer
        self.clip = clip
        self.size = size
        self.epsilon = epsilon
        self.delta = delta
        self.steps = steps
        self.sample_rate = sample_rate
        self.batches = batches
        self.random_state = random_state

    learning_rate, momentum = 1.0, 0.0  # the optimizer has its own

    @property
    def gradient(self) -> Any:  # type: ignore[override]
        """One gradient per row, by Opacus."""
        return None if self.module is None or self.loss is None else self._gradients

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """How many parameters are trained."""
        return sum(each.numel() for each in self.module.parameters() if each.requires_grad)

    def check_parameters(self) -> None:
        """Refuse what cannot be trained, before anything is charged."""
        if self.module is None or self.loss is None or self.optimizer is None:
            raise BadParameter(
                "NeuralNetwork needs module, loss and optimizer",
                fix="NeuralNetwork(module=net, loss=f, optimizer=torch.optim.Adam, clip=1.0, ...)",
            )
        super().check_parameters()
        self._sampler()

    def _sampler(self) -> Any:
        """A copy of the module that keeps the gradients of single rows."""
        try:
            from opacus import GradSampleModule
        except ImportError:
            raise MissingExtra.of("opacus", extra="deep") from None
        try:
            return GradSampleModule(copy.deepcopy(self.module), loss_reduction="sum", strict=True)
        except NotImplementedError as error:
            raise BadParameter(
                f"this module cannot be trained privately: {error}",
                why="gradients must be those of single rows",
                fix="layers without buffers: GroupNorm for BatchNorm",
            ) from None

    def _on_arrays(self, X: Any, y: Any) -> Held:
        held = super()._on_arrays(X, y)
        self._try([(0.0, 1.0)] * self.n_features_in_, (0.0, 1.0))
        return held

    def on_table(
        self, session: Session, about: About, target: str | None, features: list[str]
    ) -> Held:
        held = super().on_table(session, about, target, features)
        ends = [bounds_of(as_number(about, name)) for name in features]
        self._try(ends, (0.0, 0.0) if target is None else bounds_of(as_number(about, target)))
        return held

    def _try_gradient(self, columns: int) -> None:
        """Rows at the ends of their bounds are tried instead, once these are known: `_try`."""

    def _called(self, theta: Any, X: Any, y: Any) -> Any:
        return self._gradients(theta, X, y)

    def _try(self, features: Sequence[tuple[float, float]], target: tuple[float, float]) -> None:
        """Refuse what does not compute each row's gradient by itself: tried on made-up rows.

        Each row is tried in the company of others and alone, at the ends of its bounds.
        """
        ends = np.array([*features, target])
        chosen = PublicRandom(0).generator.integers(2, size=(_TRIED, len(ends)))
        made = ends[np.arange(len(ends)), chosen]
        X, y = made[:, :-1], made[:, -1]
        self._trained = self._sampler()
        try:
            together = self._gradients(np.zeros(0), X, y)
            each = [self._gradients(np.zeros(0), X[i : i + 1], y[i : i + 1]) for i in range(len(X))]
        except BadParameter:
            raise
        except Exception as error:
            raise BadParameter(
                f"this module or its loss fails on made-up rows: {error}", fix=_ALONE
            ) from error
        finally:
            del self._trained
        alone = np.concatenate(each)
        near = _NEAR * np.abs(np.nan_to_num(alone, posinf=0.0, neginf=0.0)).max(initial=0.0)
        if not np.allclose(together, alone, rtol=0.0, atol=near, equal_nan=True):
            raise BadParameter(
                "the gradient of a row changes with the rows beside it",
                why="a row may move a sum by its own gradient alone; dropout gives a row the coins "
                "of its place, which the rows before it decide",
                fix=_ALONE,
            )

    def _steps(self, bought: Paid, held: Held) -> Generator[Any, Any, None]:
        import torch

        assert self.optimizer is not None
        self._trained = self._sampler()
        trained = [each for each in self._trained.parameters() if each.requires_grad]
        optimizer = self.optimizer(trained)
        for step in range(self.steps):
            noisy = yield bought.handle.on(self._sum(held, step, self._terms))
            slope = torch.as_tensor(self._slope(noisy), dtype=trained[0].dtype)
            start = 0
            for each in trained:
                each.grad = slope[start : start + each.numel()].view_as(each).clone()
                start += each.numel()
            optimizer.step()
        # A copy of what was given, with what was learnt: whatever else `forward` wrote down goes.
        self.module_ = copy.deepcopy(self.module)
        self.module_.load_state_dict(self._trained.to_standard_module().state_dict())
        del self._trained

    def _terms(self, rows: Any) -> Any:
        return self._shortened(np.zeros(0), rows)

    def _gradients(self, _theta: Floats, X: Floats, y: Any) -> Floats:
        """A row of all parameters' gradients for each row; the module is left as it was."""
        import torch

        assert self.loss is not None
        net, kind = self._trained, next(self._trained.parameters()).dtype
        trained = [each for each in net.parameters() if each.requires_grad]
        made, before = np.zeros((len(X), self.dimension)), copy.deepcopy(net.state_dict())
        for start in range(0, len(X), _ROWS):
            part = slice(start, start + _ROWS)
            inputs = torch.as_tensor(np.ascontiguousarray(X[part]), dtype=kind)
            lost = self.loss(net(inputs), torch.as_tensor(np.asarray(y[part]), dtype=kind))
            if tuple(lost.shape) != (len(inputs),):
                raise BadParameter("loss must return one loss per row", fix='reduction="none"')
            net.zero_grad(set_to_none=True)
            lost.sum().backward()
            rows = [each.grad_sample.reshape(len(inputs), -1) for each in trained]
            made[part] = torch.cat(rows, dim=1).detach().numpy()
        net.zero_grad(set_to_none=True)
        net.load_state_dict(before)  # statistics that a module keeps would be released as they are
        return made

    def predict(self, X: Any) -> Any:
        """The module's output; of several outputs, the place of the largest."""
        import torch

        check_is_fitted(self, "module_")
        kind = next(self.module_.parameters()).dtype
        with torch.no_grad():
            found = self.module_(torch.as_tensor(numbers(self, X), dtype=kind)).numpy()
        return found[:, 0] if found.shape[1] == 1 else found.argmax(axis=1)
