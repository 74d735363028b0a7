"""A torch model beside ONNX, Keras and a dump."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import paramedic


def head() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.GELU(), nn.Linear(6, 3)).eval()


def graph(model: nn.Module, *, eps: float = 1e-5, transposed: bool = False) -> Any:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    if transposed:
        weights["0.weight"] = weights["0.weight"].T.copy()
    make = onnx.helper
    nodes = [
        make.make_node("Gemm", ["x", "0.weight", "0.bias"], ["h0"], "first", transB=1),
        make.make_node("LayerNormalization", ["h0", "1.weight", "1.bias"], ["h1"], "norm", epsilon=eps),
        make.make_node("Gelu", ["h1"], ["h2"], "act"),
        make.make_node("Gemm", ["h2", "3.weight", "3.bias"], ["y"], "last", transB=1),
    ]
    shapes = {name: make.make_tensor_value_info(name, 1, [4, size]) for name, size in (("x", 6), ("y", 3))}
    held = [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()]
    made = make.make_graph(nodes, "head", [shapes["x"]], [shapes["y"]], held)
    return make.make_model(made, opset_imports=[make.make_opsetid("", 20)], ir_version=10)


def test_onnx_agrees_and_its_faults_are_named() -> None:
    model, x = head(), torch.randn(4, 6)
    assert paramedic.compare(model, graph(model), x).agrees
    found = paramedic.compare(model, graph(model, eps=1e-3), x)
    assert found.first is not None and (found.first.a, found.first.b) == ("1", "norm") and found.first.confirmed
    assert found.first.cause == "eps is 1e-05 in a and 0.001 in b"
    found = paramedic.compare(model, graph(model, transposed=True), x)
    assert found.first is not None and found.first.b == "first" and "transposed" in found.first.cause


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(9, 4), nn.LSTM(4, 5, batch_first=True)
        self.gru, self.norm, self.head = nn.GRU(5, 5, batch_first=True), nn.BatchNorm1d(5), nn.Linear(5, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.gru(self.lstm(self.embedding(ids))[0])[0][:, -1]))


def test_keras_gets_the_weights_and_its_default_is_named() -> None:
    os.environ.setdefault("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    torch.manual_seed(0)
    model = Mixed().eval()
    model.norm.running_mean.normal_()
    model.norm.running_var.uniform_(0.01, 0.1)
    layers = keras.layers
    port = keras.Sequential(
        [
            keras.Input((6,), dtype="int32"), layers.Embedding(9, 4), layers.LSTM(5, return_sequences=True),
            layers.GRU(5), layers.BatchNormalization(name="bn"), layers.Dense(2),
        ]
    )  # fmt: skip
    assert paramedic.copy_weights(model, port).complete
    ids = torch.randint(9, (3, 6))
    found = paramedic.compare(model, port, ids)
    assert found.first is not None and found.first.b == "bn" and found.first.confirmed and len(found.parts) == 1
    assert found.first.cause == "eps is 1e-05 in a and 0.001 in b" and "1e-3 in Keras" in found.first.default
    port.get_layer("bn").epsilon = 1e-5
    assert paramedic.compare(model, port, ids, backward=True).agrees
    again = Mixed().eval()
    assert paramedic.copy_weights(port, again).complete
    torch.testing.assert_close(again(ids), model(ids))


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_a_dump_takes_the_place_of_a_model(tmp_path: Path, kind: str) -> None:
    model, x = head(), torch.randn(4, 6)
    arrays, meta, value = {"inputs/0": x}, '{"norm": {"kind": "LayerNormalization"}}', x
    for number, (name, layer) in enumerate(zip(("first", "norm", "act", "last"), model, strict=True)):
        arrays[f"layers/{number:04d}/{name}/input/0"] = value
        value = nn.functional.layer_norm(value, (6,), eps=1e-3) if name == "norm" else layer(value)
        arrays[f"layers/{number:04d}/{name}/output/0"] = value
    arrays = {name: tensor.detach().clone() for name, tensor in arrays.items()}  # no shared memory
    path = tmp_path / f"dump.{kind}"
    if kind == "npz":
        np.savez(path, meta=meta, **{name: tensor.numpy() for name, tensor in arrays.items()})
    else:
        pytest.importorskip("safetensors.torch").save_file(arrays, path, {"meta": meta})
    found = paramedic.compare(model, path)
    assert found.first is not None and found.first.b == "norm" and found.first.confirmed
    assert found.first.cause == "eps is 1e-05 in a and 0.001 in b"
