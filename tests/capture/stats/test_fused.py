"""The GPU kernels, as far as a machine without a GPU can tell: they compile, and their plans are kept and dropped."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch

from paramedic.capture.stats import layout
from statistics_reference import rows_of

triton = pytest.importorskip("triton")
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


@pytest.mark.skipif(INTERPRETED, reason="the interpreter compiles nothing")
@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, None], ids=str)
def test_compiles(capability: int, dtype: torch.dtype | None) -> None:
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from paramedic.capture.stats import kernels

    signature: dict[str, str] = {"table": "*i64"} | ({} if dtype is None else {"pointers": "*i64"})
    signature |= {"floats": "*fp32", "counts": "*i32", "histograms": "*i32"}
    constants: dict[str, Any]
    if dtype is None:
        kernel, constants = kernels.merge, {"PARTS": 256}
        signature |= {"out": "*fp64"}
    else:
        kernel = kernels.measure
        signature |= {"first": "i32", "tensors": "i32"}
        constants = {"DTYPE": kernels.DTYPES[dtype], "ALIGNED": True}
        constants |= {"ROWS": kernels.ROWS, "LANES": kernels.LANES, "BLOCK": kernels.BLOCK}
    signature |= dict.fromkeys(constants, "constexpr")
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=dict(kernels.LAUNCH))
    if dtype is not None:  # four elements in one load, twice: where all is measured and where the histogram looks
        assert compiled.asm["ptx"].count("ld.global.v4.b32" if dtype is torch.float32 else "ld.global.v2.b32") == 8


@pytest.mark.skipif(not INTERPRETED and not torch.cuda.is_available(), reason="needs a GPU or TRITON_INTERPRET=1")
def test_plans_are_kept_for_tensors_of_the_same_sizes() -> None:
    from paramedic.capture.stats import fused

    device = "cuda" if torch.cuda.is_available() else "cpu"
    fused.prepare(torch.device(device))
    fused._plans.clear()
    tensors = [torch.randn(100, device=device), torch.randn(7, 9, device=device).t(), torch.arange(3, device=device)]
    out = torch.empty(3, layout.WIDTH, dtype=torch.float64, device=device)
    for _ in range(3):
        tensors[0] = tensors[0] + 1  # elsewhere in memory, as gradients are
        fused.summarise_into(tensors, out)
        assert out[0, layout.MEAN].item() == pytest.approx(tensors[0].mean().item(), abs=1e-5)
    assert len(fused._plans) == 1
    for size in range(fused.PLANS + 5):
        fused.summarise_into([torch.ones(size + 1, device=device)], out)
    assert len(fused._plans) == fused.PLANS


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
def test_chunks_of_any_size_merge(monkeypatch: pytest.MonkeyPatch) -> None:
    from paramedic.capture.stats import fused, kernels
    from statistics_reference import assert_same, fresh_seed, plant, random, reference

    fresh_seed()
    fused._plans.clear()
    monkeypatch.setattr(fused, "LEAST", kernels.BLOCK)  # many chunks per tensor, more than one merge loads at once
    tensors = [random(kernels.BLOCK * 300 + 5, torch.bfloat16), plant(random(kernels.BLOCK * 3, torch.float32), 2, 2)]
    for tensor, got in zip(tensors, rows_of(tensors, fused.summarise_into, seen=1 << 30), strict=True):
        assert_same(got, reference(tensor), eps=1e-5)
    fused._plans.clear()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_nothing_waits_for_the_device() -> None:
    from paramedic.capture.stats import Collector

    layer = torch.nn.Linear(512, 512, device="cuda")
    collector = Collector()
    arrived: list[int] = []
    for step in range(4):
        if step == 2:  # compiled and warm by now
            torch.cuda.set_sync_debug_mode("error")
        loss = layer(torch.randn(64, 512, device="cuda")).square().mean()
        loss.backward()
        weights = list(layer.parameters())
        collector.add([*weights, *(weight.grad for weight in weights), loss, torch.arange(9, device="cuda")])
        collector.send(step)
        arrived += [batch.tag for batch in collector.take()]
    torch.cuda.set_sync_debug_mode("default")
    assert arrived + [batch.tag for batch in collector.finish()] == [0, 1, 2, 3]
