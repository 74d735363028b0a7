"""Tensors without readable values get an honest reason, and their neighbours their numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from paramedic.capture.stats import Collector, NotSummarised, Summary, layout, summarise
from statistics_engines import each_engine, fused
from statistics_reference import Engine, rows_of


class Subclass(torch.Tensor):
    pass


def _fake() -> torch.Tensor:
    with FakeTensorMode():
        return torch.randn(3)


def _quantized() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(torch.randn(5), 0.1, 0, torch.qint8)


def _nested(layout: torch.layout) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], layout=layout)


def _released() -> torch.Tensor:
    """What FSDP leaves of a parameter: with an offset, so that even its pointer is not null."""
    whole = torch.randn(100)
    part = whole[50:]
    whole.untyped_storage().resize_(0)
    return part


ODD: dict[str, tuple[Callable[[], Any], str]] = {
    "meta": (lambda: torch.empty(3, device="meta"), "meta device"),
    "fake": (_fake, "fake tensor"),
    "nested": (lambda: _nested(torch.strided), "nested"),
    "jagged": (lambda: _nested(torch.jagged), "nested"),
    "quantized": (_quantized, "qint8"),
    "subclass": (lambda: torch.randn(3).as_subclass(Subclass), "Subclass"),
    "lazy": (lambda: torch.nn.UninitializedParameter(), "not initialised"),
    "mkldnn": (lambda: torch.randn(3, 3).to_mkldnn(), "mkldnn"),
    "released": (_released, "released"),
    "not a tensor": (lambda: [1.0, 2.0], "not a tensor but list"),
}


@each_engine
@pytest.mark.parametrize("name", ODD)
def test_says_why(engine: Engine, name: str) -> None:
    make, words = ODD[name]
    on_gpu = engine is fused and torch.cuda.is_available()
    if on_gpu and name == "mkldnn":
        pytest.skip("exists on the CPU alone")
    with torch.device("cuda") if on_gpu else nullcontext():
        odd = make()
    before, odd, after = rows_of([torch.ones(5), odd, torch.zeros(20_000)], engine)
    assert isinstance(odd, NotSummarised) and words in odd.reason, odd
    assert isinstance(before, Summary) and before.mean == 1.0
    assert isinstance(after, Summary) and after.zeros == 20_000


def test_the_collector_keeps_the_order_of_odd_and_even() -> None:
    tensors = [torch.full((3,), 2.0), *(make() for make, _ in ODD.values()), torch.full((3,), 4.0)]
    first, *odd, last = summarise(tensors)
    assert isinstance(first, Summary) and first.mean == 2.0 and isinstance(last, Summary) and last.mean == 4.0
    for got, (_, words) in zip(odd, ODD.values(), strict=True):
        assert isinstance(got, NotSummarised) and words in got.reason


@each_engine
def test_inside_vmap_and_grad(engine: Engine) -> None:
    weight, out = torch.ones(4), torch.empty(2, layout.WIDTH, dtype=torch.float64)

    def look(x: torch.Tensor) -> torch.Tensor:
        reasons.append(engine([x, weight], out))
        return (x * weight).sum()

    for transform in (torch.vmap, torch.func.grad, lambda f: torch.vmap(torch.func.grad(f))):
        reasons: list[list[str | None]] = []
        out.zero_()
        transform(look)(torch.randn(4) if transform is torch.func.grad else torch.randn(5, 4))
        ((wrapped, plain),) = reasons
        assert wrapped is not None and "vmap" in wrapped and plain is None
        assert out[0].isnan().all() and out[1, layout.MEAN] == 1.0


@each_engine
def test_zero_tensors_are_zeros(engine: Engine) -> None:
    (got,) = rows_of([torch._efficientzerotensor((7,))], engine)
    assert isinstance(got, Summary) and (got.count, got.zeros, got.norm) == (7, 7, 0.0)


def test_what_cannot_be_computed_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    from paramedic.capture.stats import portable

    def fail(*_: object) -> None:
        raise torch.OutOfMemoryError("no room\nat all")

    for name in ("_measure_joined", "_measure_large"):
        monkeypatch.setattr(portable, name, fail)
    collector = Collector()
    collector.add([torch.ones(3), torch.ones(20_000)])
    collector.send("tag")
    (batch,) = collector.take()
    assert batch.tag == "tag" and batch.reasons == dict.fromkeys(range(2), "OutOfMemoryError: no room")
