"""Weights from layout to layout, checkpoints side by side, and no code run from any of them."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch
from torch import nn

import paramedic
from paramedic.parity.checkpoints import compare_checkpoints
from paramedic.parity.fingerprints import fingerprint
from paramedic.parity.weights.files import convert


class Whole(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention, self.norm = nn.MultiheadAttention(8, 2), nn.LayerNorm(8)


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8) for _ in range(4))
        self.ln = nn.LayerNorm(8)


class Fused(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.o, self.ln = nn.Linear(8, 24), nn.Linear(8, 8), nn.LayerNorm(8)


def test_attention_is_split_and_fused_again() -> None:
    whole, parts, fused, again = Whole(), Parts(), Fused(), Whole()
    with torch.no_grad():
        whole.norm.weight.uniform_()
    for source, target in ((whole, parts), (parts, fused), (fused, again)):
        assert paramedic.copy_weights(source, target).complete
    assert torch.equal(parts.k.weight, whole.attention.in_proj_weight[8:16])
    assert torch.equal(fused.qkv.weight, whole.attention.in_proj_weight)
    assert all(torch.equal(p, q) for p, q in zip(whole.parameters(), again.parameters(), strict=True))


def test_what_has_no_partner_is_listed() -> None:
    target = Parts()
    target.extra = nn.Linear(5, 7)
    copied = paramedic.copy_weights(Parts(), target)
    assert not copied.complete and len(copied.pairs) == 5 and "extra" in str(copied)


def test_weights_from_file_to_file(tmp_path: Path) -> None:
    whole, fused = Whole(), Fused()
    torch.save(whole.state_dict(), tmp_path / "whole.pt")
    torch.save({"model": fused.state_dict()}, tmp_path / "fused.pt")
    assert convert(tmp_path / "whole.pt", tmp_path / "fused.pt", tmp_path / "out.pt", {}).complete
    held = torch.load(tmp_path / "out.pt", weights_only=True)
    assert torch.equal(held["qkv.weight"], whole.attention.in_proj_weight) and list(held) == list(fused.state_dict())


def test_a_fingerprint_knows_order_and_sign() -> None:
    x = torch.randn(4, 6)
    assert fingerprint(x) == fingerprint(x.clone())
    assert len({fingerprint(t) for t in (x, -x, x.flip(0), x.T, x.reshape(6, 4), x.double())}) == 6


def test_checkpoints_side_by_side(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 3))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
    before = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1}
    torch.save(before, tmp_path / "a.pt")
    assert compare_checkpoints(tmp_path / "a.pt", tmp_path / "a.pt").verdict == "agree"
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    weights["0.weight"] = weights["0.weight"].T.contiguous()
    weights["1.weight"].neg_()
    weights["2.bias"][0] = float("nan")
    weights["last.weight"] = weights.pop("2.weight")
    weights["1.bias"] = weights["1.bias"].half()
    torch.save({**before, "model": weights, "epoch": 2}, tmp_path / "b.pt")
    story = compare_checkpoints(tmp_path / "a.pt", tmp_path / "b.pt")
    told = "\n".join(f"{section.title} {row}" for section in story.sections for row in section.rows)
    assert story.verdict == "differ"
    for words in (
        "0.weight is transposed", "1.weight has the opposite sign", "model.2.bias: 1 NaN", "epoch: 1 in a, 2 in b",
        "model.2.weight is now model.last.weight", "model.1.bias: float32[4] in a, float16[4] in b",
    ):  # fmt: skip
        assert words in told
    assert not any(name.startswith("optimizer") for name in story.data["changed"])


class Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('code was run')",)


def test_no_code_is_run_from_a_checkpoint(tmp_path: Path) -> None:
    torch.save({"x": torch.ones(2)}, tmp_path / "good.pt")
    torch.save(Trap(), tmp_path / "trap.pt")
    (tmp_path / "bare.pt").write_bytes(pickle.dumps(Trap()))
    for name in ("trap.pt", "bare.pt"):
        with pytest.raises(paramedic.ParamedicError, match="without running code"):
            compare_checkpoints(tmp_path / "good.pt", tmp_path / name)
