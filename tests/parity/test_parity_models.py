"""Two torch models: the first layer that differs, why, and the proof; nothing is said of mere rounding."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

import paramedic


class Block(nn.Module):
    def __init__(self, *, eps: float = 1e-5, residual: bool = True, approximate: str = "none") -> None:
        super().__init__()
        self.norm, self.wide, self.narrow = nn.LayerNorm(8, eps=eps), nn.Linear(8, 16), nn.Linear(16, 8)
        self.drop = nn.Dropout(0.5)
        self._residual, self._approximate = residual, approximate  # private: the code differs, no setting tells it

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.narrow(self.drop(F.gelu(self.wide(self.norm(x)), approximate=self._approximate)))
        return x + h if self._residual else h


class ByHand(Block):
    """The same, written out."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        centred = x - x.mean(-1, keepdim=True)
        h = centred * torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + self.norm.eps)
        h = F.linear(h * self.norm.weight + self.norm.bias, self.wide.weight, self.wide.bias)
        return self.narrow(h * 0.5 * (1 + torch.erf(h / 2**0.5))) + x


def pair(make: type[nn.Module] = Block, **second: object) -> tuple[nn.Module, nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    a, b = (nn.Sequential(Block(), Block(), nn.Linear(8, 3)) for _ in range(2))
    b[1] = make(**second)
    b.load_state_dict(a.state_dict())
    return a.eval(), b.eval(), torch.randn(4, 8)


def test_a_model_agrees_with_its_copy() -> None:
    a, b, x = pair()
    found = paramedic.compare(a, b, x)
    assert found.agrees and found.verdict == "agree" and not found.parts and found.error == 0


def test_an_eps_that_float32_hides_is_found_and_proved() -> None:
    a, b, x = pair(eps=1e-6)
    torch.testing.assert_close(a(x), b(x), rtol=1e-4, atol=1e-5)  # nobody would notice
    found = paramedic.compare(a, b, x)
    assert found.first is not None and found.first.b == "1.norm" and found.first.confirmed
    assert found.first.cause == "eps is 1e-05 in a and 1e-06 in b"
    assert "confirmed: with eps=1e-05 in b the models agree" in str(found)


def test_a_missing_residual_is_named_and_proved() -> None:
    found = paramedic.compare(*pair(residual=False))
    assert found.first is not None and found.first.b == "1" and found.first.between and found.first.confirmed
    assert "add" in found.first.cause and "test_parity_models.py" in found.first.cause


def test_every_difference_is_found_the_first_one_first() -> None:
    a, b, x = pair(eps=1e-3, approximate="tanh")
    with torch.no_grad():
        b[2].weight.neg_()
    found = paramedic.compare(a, b, x)
    assert [part.b for part in found.parts] == ["1.norm", "1", "2"] and all(part.confirmed for part in found.parts)
    assert "opposite sign" in found.parts[2].cause and found.parts[2].agreement == 0


def test_a_layer_written_out_by_hand_is_no_difference() -> None:
    found = paramedic.compare(*pair(ByHand))
    assert found.verdict == "rounding" and found.error < 1e-12 and not found.parts


def test_a_permuted_weight_is_named() -> None:
    a, b, x = pair()
    with torch.no_grad():
        b[0].wide.weight.copy_(b[0].wide.weight.flip(0))
        b[0].wide.bias.copy_(b[0].wide.bias.flip(0))
    found = paramedic.compare(a, b, x)
    assert found.first is not None and found.first.b == "0.wide" and "reversed along axis 0" in found.first.cause


def test_dropout_draws_the_same_on_both_sides() -> None:
    a, b, x = pair()
    assert paramedic.compare(a.train(), b.train(), x).agrees


def test_models_and_random_state_are_left_alone() -> None:
    a, b, x = pair(eps=1e-3)
    weights, state = [p.clone() for p in b.parameters()], torch.get_rng_state()
    paramedic.compare(a.train(), b.train(), x)
    assert torch.equal(torch.get_rng_state(), state) and a.training and b[1].norm.eps == 1e-3
    assert all(torch.equal(p, q) for p, q in zip(b.parameters(), weights, strict=True))
    assert not b._forward_hooks and not b[1].norm._forward_pre_hooks and b[0].wide.weight.dtype == torch.float32


def test_a_map_decides_which_layers_belong_together() -> None:
    a, b, x = pair()
    found = paramedic.compare(a, b, x, map={"0.wide": "1.wide"})
    assert ("0.wide", "1.wide", "map") in [(row.a, row.b, row.evidence) for row in found.layers]


class Cut(Block):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.detach())


def test_gradients_are_compared_on_request() -> None:
    assert paramedic.compare(*pair(), backward=True).agrees
    found = paramedic.compare(*pair(Cut), backward=True)
    assert not found.agrees and "gradients do not" in found.sentence
    assert found.gradients[0].b.startswith("0") and "no gradient arrives in b" in found.gradients[0].evidence


def test_optimizers_are_compared_on_request() -> None:
    adam = torch.optim.Adam
    found = paramedic.compare(*pair(), optimizers=(adam, lambda p: adam(p, eps=1e-7)))
    assert found.first is not None and found.first.cause == "eps is 1e-08 in a and 1e-07 in b" and found.first.confirmed
    assert paramedic.compare(*pair(), optimizers=(adam, adam)).agrees
