"""`paramedic.summarize`: one line about any tensor, whatever its kind; it changes nothing and never fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from paramedic import summarize
from workshop import Workshop

KINDS: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "floats": (lambda: torch.arange(9.0), ["(9,) float32 cpu · 0 … 8 · mean 4 ± 2.58"]),
    "a scalar": (lambda: torch.tensor(3.5), ["scalar float32 cpu · 3.5"]),
    "few": (lambda: torch.tensor([1, 2]), ["(2,) int64 cpu · [1, 2]"]),
    "constant": (lambda: torch.ones(3, 4), ["(3, 4) float32 cpu · all 1"]),
    "empty": (lambda: torch.zeros(0, 3), ["(0, 3)", "empty"]),
    "bad values": (
        lambda: torch.tensor([0.0, float("nan"), float("inf"), -float("inf"), 1, 2, 3]),
        ["1 NaN and 2 Inf of 7 · 0 … 3"],
    ),
    "only bad ones": (lambda: torch.full((9,), float("nan")), ["9 NaN of 9"]),
    "with a graph": (lambda: torch.ones(8, requires_grad=True) * 2, ["MulBackward0"]),
    "a parameter": (lambda: nn.Parameter(torch.ones(8)), ["requires grad"]),
    "a lazy parameter": (lambda: nn.LazyLinear(3).weight, ["shape not known yet"]),
    "booleans": (lambda: torch.arange(8) < 2, ["25.0% true"]),
    "sparse": (lambda: torch.eye(8).to_sparse(), ["(8, 8)", "sparse_coo", "8 values stored"]),
    "sparse rows": (lambda: torch.eye(8).to_sparse_csr(), ["sparse_csr", "8 values stored"]),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)]), ["(2, ragged)", "all 1"]),
    "jagged": (
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(9)], layout=torch.jagged),
        ["(2, ragged)", "all 1"],
    ),
    "quantized": (lambda: torch.quantize_per_tensor(torch.ones(9), 0.1, 0, torch.qint8), ["quantized · all 1"]),
    "complex": (lambda: torch.full((9,), 3 + 4j), ["|x| all 5"]),
    "fp8": (lambda: torch.arange(9.0).to(torch.float8_e4m3fn), ["float8_e4m3fn cpu · 0 … 8"]),
    "fp4": (lambda: torch.empty(8, dtype=torch.float4_e2m1fn_x2), ["values cannot be read"]),
    "unsigned": (lambda: torch.arange(9).to(torch.uint64), ["uint64 cpu · 0 … 8"]),
    "meta": (lambda: torch.ones(9, device="meta"), ["meta · no data"]),
    "freed": (lambda: _freed(), ["its storage was freed"]),
    "fake": (lambda: _fake(), ["FakeTensor (9,)", "fake"]),
    "a subclass": (lambda: torch.arange(9.0).as_subclass(Sub), ["Sub (9,) float32 cpu · 0 … 8"]),
    "expanded": (lambda: torch.ones(1).expand(10**9), ["(1000000000,)", "all 1"]),
    "a list": (lambda: [torch.ones(8)] * 9, ["list of 9: [(8,) float32 cpu, "]),
    "a module": (lambda: nn.Linear(3, 4), ["Linear(in_features=3, out_features=4, bias=True)"]),
    "a trap": (lambda: Trap(), ["Trap object"]),
    "a recursive list": (lambda: _recursive(), ["list of 1: [list of 1"]),
}


class Sub(torch.Tensor):
    pass


class Trap:
    def __getattribute__(self, name: str) -> Any:
        raise SystemExit(name)


def _freed() -> torch.Tensor:
    tensor = torch.ones(9)
    tensor.untyped_storage().resize_(0)
    return tensor


def _fake() -> torch.Tensor:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(9)


def _recursive() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind: str) -> None:
    make, expected = KINDS[kind]
    value = make()
    before = torch.get_rng_state()
    text = summarize(value)
    assert torch.equal(torch.get_rng_state(), before)
    assert "\n" not in text
    for words in expected:
        assert words in text, text


def test_inside_a_function_transform() -> None:
    seen = []
    torch.vmap(lambda x: seen.append(summarize(x)) or x)(torch.ones(3, 4))  # type: ignore[func-returns-value]
    assert seen == ["(4,) float32 cpu · inside vmap or grad: no values yet"]


def test_one_bad_value_in_a_hundred_million_is_counted() -> None:
    huge = torch.zeros(100_000_000, dtype=torch.float16)
    huge[12_345_679] = float("nan")
    assert "1 NaN of 100,000,000" in summarize(huge)
    assert "1 NaN of 100,000,000" in summarize(huge.view(10, -1).T)


def test_plots_are_blocks_inside_the_width() -> None:
    matrix = torch.arange(600.0).reshape(20, 30)
    matrix[0, 0] = float("nan")
    _, bars, *cells, legend = summarize(matrix, plot=True, width=60).splitlines()
    assert set(bars) & set("▁▂▃▄▅▆▇█") and bars.split()[0] == "1" and bars.split()[-1] == "599"
    assert cells[0].strip().startswith("x") and cells[-1].strip().endswith("█") and "x not finite" in legend
    assert max(map(len, [bars, *cells, legend])) <= 60
    assert summarize("text", plot=True) == "'text'"


def test_the_tensor_repr_is_opt_in_reversible_and_leaves_compilation_alone(warm_shop: Workshop) -> None:
    text = """
import paramedic, torch
paramedic.install(tensor_repr=True)
x = torch.arange(9.0)
print(x, [x], torch.nn.Parameter(x), f"{torch.tensor(1.5):.2f}")
compiled = torch.compile(lambda x: x * 2, backend="eager", fullgraph=True)
print(compiled(x))
paramedic.install()
print(torch.ones(2))
"""
    warm_shop.write("show.py", text)
    done = warm_shop.python("show.py")
    line = "tensor (9,) float32 cpu · 0 … 8 · mean 4 ± 2.58"
    parameter = line.replace("tensor", "parameter") + " · requires grad"
    first, second, third = done.stdout.splitlines()
    assert first == f"{line} [{line}] {parameter} 1.50" and "0 … 16" in second and third == "tensor([1., 1.])"
