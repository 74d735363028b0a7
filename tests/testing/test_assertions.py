"""Every assertion: silent on what is right, and the cause named with its code on what is wrong."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from paramedic import testing
from paramedic.testing import CheckFailed

torch.set_num_threads(1)


def batch(size: int = 16) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(size, 6, generator=torch.Generator().manual_seed(0))
    return x, x[:, :3].argmax(1)


def net(*more: nn.Module) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3), *more)


def adam(model: nn.Module, lr: float = 1e-2, **more: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=lr, **more)


def fails(check: Callable[[], None], code: str) -> CheckFailed:
    with pytest.raises(CheckFailed) as caught:
        check()
    assert code in [cause.code for cause in caught.value.causes], str(caught.value)
    assert not code or (code in str(caught.value) and "try " in str(caught.value))
    return caught.value


def test_a_model_that_learns_is_left_as_it_was() -> None:
    model = net(nn.Dropout(0.5))
    model.eval()
    optimizer = adam(model)
    model(batch()[0]).sum().backward()
    optimizer.step()
    weights = [p.detach().clone() for p in model.parameters()]
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    moments = [s["exp_avg"].clone() for s in optimizer.state.values()]
    states = random.getstate(), numpy.random.get_state()[1].copy(), torch.get_rng_state()
    testing.assert_learns(model, F.cross_entropy, batch(), optimizer=optimizer)
    assert all(torch.equal(a, b) for a, b in zip(weights, model.parameters(), strict=True))
    assert all(torch.equal(a, p.grad) for a, p in zip(gradients, model.parameters(), strict=True) if p.grad is not None)
    assert all(torch.equal(a, s["exp_avg"]) for a, s in zip(moments, optimizer.state.values(), strict=True))
    assert not any(module.training for module in model.modules())
    assert states[0] == random.getstate() and (states[1] == numpy.random.get_state()[1]).all()
    assert torch.equal(states[2], torch.get_rng_state())


def test_softmax_before_the_loss_is_named() -> None:
    model = net(nn.Softmax(dim=1))
    failure = fails(lambda: testing.assert_learns(model, F.cross_entropy, batch(), optimizer=adam(model)), "PM502")
    assert failure.code == "PM502" and "drop the softmax" in str(failure)


def test_the_optimizer_is_named_when_a_change_of_it_helps() -> None:
    model = net()
    optimizer = adam(model, lr=1e-2, weight_decay=10.0)
    fails(lambda: testing.assert_learns(model, F.cross_entropy, batch(), optimizer=optimizer, steps=100), "PM217")


def test_a_flipped_sign_has_no_floor() -> None:
    fails(lambda: testing.assert_learns(net(), lambda out, y: -F.cross_entropy(out, y), batch()), "PM516")


class WithItsLoss(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = net()

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = self.net(x)
        return scores, F.cross_entropy(scores, y)


def test_log_probabilities_and_losses_of_the_model_itself_have_a_floor() -> None:
    """Trained freely, both would fall for ever; neither is a wrong sign."""
    model = net(nn.LogSoftmax(dim=1))
    testing.assert_learns(model, F.nll_loss, batch(), optimizer=adam(model))
    own = WithItsLoss()
    testing.assert_learns(own, testing.Step(lambda m, b: m(*b)[1]), batch(), optimizer=adam(own))


def test_soft_targets_have_a_floor_above_zero() -> None:
    """A fixed ratio of the first loss could never be reached."""
    x, y = batch()
    soft = 0.7 * F.one_hot(y, 3).float() + 0.1
    testing.assert_learns(net(), F.cross_entropy, (x, soft))


def test_inputs_that_do_not_differ_are_named() -> None:
    x, y = batch()
    fails(lambda: testing.assert_learns(net(), F.cross_entropy, (torch.ones_like(x), y), steps=60), "PM303")


def test_a_loss_of_model_and_batch_as_a_whole() -> None:
    step = testing.Step(lambda model, given: F.cross_entropy(model(given["x"]), given["y"]))
    x, y = batch()
    testing.assert_all_move(net(), step, {"x": x, "y": y})


class Cut(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.first(x).relu().detach())


class Hidden(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(6, 8)]
        self.last = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.layers[0](x).relu())


def test_parameters_that_do_not_move() -> None:
    testing.assert_all_move(net(), F.cross_entropy, batch())
    failure = fails(lambda: testing.assert_all_move(Cut(), F.cross_entropy, batch()), "PM403")
    assert "2 of 4" in str(failure) and "first.weight" in str(failure)
    testing.assert_all_move(Cut(), F.cross_entropy, batch(), ignore=["first.*"])
    fails(lambda: testing.assert_all_move(Hidden(), F.cross_entropy, batch()), "PM401")
    model = net()
    some = torch.optim.Adam(model[0].parameters())
    fails(lambda: testing.assert_all_move(model, F.cross_entropy, batch(), optimizer=some), "PM402")


def test_frozen_parameters() -> None:
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))
    model[0].requires_grad_(False)
    testing.assert_frozen(model, F.cross_entropy, batch())
    fails(lambda: testing.assert_frozen(model, F.cross_entropy, batch(), names=["2.*"]), "PM404")
    model[1].requires_grad_(False)
    failure = fails(lambda: testing.assert_frozen(model, F.cross_entropy, batch()), "PM420")
    assert "1.running_mean" in str(failure)


class Log(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu().log()


def test_nothing_is_nan() -> None:
    testing.assert_no_nan(net(), F.cross_entropy, batch())
    failure = fails(lambda: testing.assert_no_nan(net(Log()), F.cross_entropy, batch()), "PM102")
    assert failure.causes[0].where == "3"
    x, y = batch()
    x[3, 2] = float("nan")
    fails(lambda: testing.assert_no_nan(net(), F.cross_entropy, (x, y)), "PM105")


class Sequence(nn.Module):
    def __init__(self, batch_first: bool) -> None:
        super().__init__()
        self.rnn = nn.GRU(4, 5, batch_first=batch_first)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rnn(x)[0]


def test_samples_that_meet_in_a_recurrent_layer() -> None:
    x = torch.randn(4, 6, 4)
    testing.assert_batch_independent(Sequence(batch_first=True), x)
    failure = fails(lambda: testing.assert_batch_independent(Sequence(batch_first=False), x), "PM413")
    assert failure.causes[0].where == "rnn" and "batch_first" in str(failure)


class Attention(nn.Module):
    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.embed, self.head, self.causal = nn.Embedding(11, 8), nn.Linear(8, 11), causal

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        return self.head(F.scaled_dot_product_attention(x, x, x, is_causal=self.causal))


def test_the_future() -> None:
    ids = torch.randint(0, 11, (3, 7), generator=torch.Generator().manual_seed(0))
    testing.assert_causal(Attention(causal=True), ids)
    testing.assert_batch_independent(Attention(causal=False), ids)
    fails(lambda: testing.assert_causal(Attention(causal=False), ids), "PM417")


class Pool(nn.Module):
    def __init__(self, masked: bool) -> None:
        super().__init__()
        self.embed, self.masked = nn.Embedding(11, 8), masked

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        return (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True) if self.masked else x.mean(1)


def test_padding() -> None:
    lengths = torch.tensor([5, 3])
    mask = (torch.arange(5) < lengths.unsqueeze(1)).float()
    ids = torch.randint(1, 11, (2, 5)) * mask.long()
    testing.assert_padding_invariant(Pool(masked=True), (ids, mask), lengths)
    fails(lambda: testing.assert_padding_invariant(Pool(masked=False), (ids, mask), lengths), "PM415")


def test_the_order_of_a_set() -> None:
    x = torch.randn(2, 5, 6)
    testing.assert_permutation_equivariant(net(), x)
    fails(lambda: testing.assert_permutation_equivariant(Sequence(True), torch.randn(2, 5, 4)), "")


class AlwaysOn(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout(x, 0.5)


def test_dropout_that_is_always_on() -> None:
    testing.assert_deterministic(net(nn.Dropout(0.5)), batch()[0])
    fails(lambda: testing.assert_deterministic(net(AlwaysOn()), batch()[0]), "PM613")


def test_a_checkpoint_without_the_optimizer() -> None:
    model = net()
    optimizer = adam(model)
    step = (model, F.cross_entropy, batch())
    testing.assert_resumes(*step, optimizer=optimizer)
    check = lambda: testing.assert_resumes(  # noqa: E731
        *step, optimizer=optimizer, save=model.state_dict, load=model.load_state_dict
    )
    assert "the optimizer's state" in str(fails(check, "PM609"))


class Counting(nn.Linear):
    seen = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen += 1
        return super().forward(x) / (1 + 0.1 * self.seen)


def test_state_that_no_checkpoint_holds_is_named() -> None:
    model = nn.Sequential(nn.Linear(6, 6), Counting(6, 3))
    failure = fails(lambda: testing.assert_resumes(model, F.cross_entropy, batch()), "PM609")
    assert "lacks 1.seen: attributes" in str(failure)


def test_a_learning_rate_that_is_far_too_low() -> None:
    model = net()
    slow = torch.optim.SGD(model.parameters(), lr=1e-5)
    failure = fails(lambda: testing.assert_learns(model, F.cross_entropy, batch(), optimizer=slow), "PM206")
    assert "instead of 1e-05 it learns" in str(failure)


def test_output_range() -> None:
    testing.assert_output_range(net(nn.Sigmoid()), batch()[0], 0, 1)
    fails(lambda: testing.assert_output_range(net(), batch()[0], 0, 1), "PM512")


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * ctx.saved_tensors[0]  # the factor 2 is missing


def test_gradients_against_finite_differences() -> None:
    testing.assert_gradients(nn.Sequential(nn.Linear(6, 3), nn.Tanh()), batch()[0])
    fails(lambda: testing.assert_gradients(Wrong.apply, torch.randn(4)), "")


def test_shapes_of_a_model() -> None:
    testing.assert_shapes(net(), batch()[0], "B 6 -> B classes", classes=3)
    failure = fails(lambda: testing.assert_shapes(net(), batch()[0], "B 6 -> B 4"), "PM422")
    assert "is 3 instead of 4" in str(failure)


def test_data() -> None:
    x, y = batch(64)
    testing.assert_data_ok((x, y), select=["PM105"])
    x[1, 1] = float("inf")
    fails(lambda: testing.assert_data_ok((x, y), select=["PM105"]), "PM105")


def test_quality_within_and_below_the_band(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "accuracy.json")
    monkeypatch.setenv("PARAMEDIC_UPDATE", "1")
    testing.assert_quality(lambda seed: 0.9 + 0.01 * (seed % 3), file)
    monkeypatch.delenv("PARAMEDIC_UPDATE")
    testing.assert_quality(lambda seed: 0.89, file)
    fails(lambda: testing.assert_quality(lambda seed: 0.8, file), "PM904")
    testing.assert_quality(lambda seed: 0.1, [0.2, 0.21, 0.19], higher_is_better=False)


def test_speed_is_a_ratio() -> None:
    testing.assert_speed(lambda: None, lambda: time.sleep(0.002), repeats=3)
    fails(lambda: testing.assert_speed(lambda: time.sleep(0.005), lambda: None, repeats=3), "")


def test_a_golden_step_tells_the_first_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, model = str(tmp_path / "step.json"), net()
    monkeypatch.setenv("PARAMEDIC_UPDATE", "1")
    testing.golden_step(file, model, F.cross_entropy, batch(), optimizer=adam(model))
    monkeypatch.delenv("PARAMEDIC_UPDATE")
    assert Path(file).stat().st_size < 10_000
    testing.golden_step(file, model, F.cross_entropy, batch(), optimizer=adam(model))
    changed = nn.Sequential(model[0], nn.LeakyReLU(0.01), model[2])
    failure = fails(lambda: testing.golden_step(file, changed, F.cross_entropy, batch()), "PM902")
    assert "output of 1" in str(failure)
    other_rate = adam(model, lr=2e-2)
    failure = fails(lambda: testing.golden_step(file, model, F.cross_entropy, batch(), optimizer=other_rate), "PM902")
    assert "update of" in str(failure)
