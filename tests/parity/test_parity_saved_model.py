"""A torch model beside a TensorFlow SavedModel."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import paramedic
from paramedic.errors import ParamedicError
from workshop import ROOT

HAS_TENSORFLOW = importlib.util.find_spec("tensorflow") is not None


@pytest.mark.skipif(HAS_TENSORFLOW, reason="TensorFlow is installed")
def test_without_tensorflow_a_saved_model_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").touch()
    with pytest.raises(ParamedicError, match="TensorFlow is not installed") as refused:
        paramedic.compare(nn.Linear(2, 2), tmp_path, torch.randn(1, 2))
    assert "docs/compare.md" in str(refused.value)


# Keras keeps the backend with which it was imported first: the export runs in a process of its own
EXPORT = """
import sys, keras, paramedic
from keras import layers
from tests.parity.test_parity_saved_model import Net

def export(name, eps, padding):
    port = keras.Sequential([
        keras.Input((8, 8, 3)), *([layers.ZeroPadding2D(1)] if padding == "valid" else []),
        layers.Conv2D(5, 3, strides=2, padding=padding, name="stem"),
        layers.BatchNormalization(epsilon=eps, name="norm"), layers.ReLU(), layers.DepthwiseConv2D(3, name="deep"),
        layers.GlobalAveragePooling2D(), layers.LayerNormalization(epsilon=1e-5, name="layer_norm"),
        layers.Dense(6, activation="gelu", name="wide"), layers.Dense(2, name="head"),
    ])
    assert paramedic.copy_weights(Net.made(), port).complete
    port.export(f"{sys.argv[1]}/{name}", verbose=False)

export("right", 1e-5, "valid")
export("eps", 1e-3, "valid")
export("same", 1e-5, "same")
"""


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 5, 3, stride=2, padding=1), nn.BatchNorm2d(5)
        self.deep, self.layer_norm = nn.Conv2d(5, 5, 3, groups=5), nn.LayerNorm(5)
        self.wide, self.head = nn.Linear(5, 6), nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.deep(torch.relu(self.norm(self.stem(x))))
        return self.head(nn.functional.gelu(self.wide(self.layer_norm(x.mean((2, 3))))))

    @classmethod
    def made(cls) -> Net:
        torch.manual_seed(0)
        model = cls().eval()
        model.norm.running_mean.normal_()
        model.norm.running_var.uniform_(0.01, 0.1)
        return model


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("exported")
    environment = {**os.environ, "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "2"}
    words = [sys.executable, "-c", EXPORT, str(folder)]
    subprocess.run(words, env=environment, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.mark.slow
def test_a_saved_model_agrees_and_gives_its_weights(exported: Path) -> None:
    model, path, x = Net.made(), exported / "right", torch.randn(2, 3, 8, 8)
    found = paramedic.compare(model, path, x)
    assert found.agrees and found.precision == "float64" and found.error < 1e-12
    pairs = {(layer.a, layer.b) for layer in found.layers}
    assert {(name, name) for name in ("stem", "norm", "deep", "layer_norm", "wide", "head")} <= pairs
    empty = Net().eval()
    assert paramedic.copy_weights(path, empty).complete
    assert torch.equal(empty(x), model(x))


@pytest.mark.slow
def test_the_default_of_keras_is_named(exported: Path) -> None:
    found = paramedic.compare(Net.made(), exported / "eps", torch.randn(2, 3, 8, 8))
    assert found.first is not None and found.first.b == "norm" and found.first.confirmed and len(found.parts) == 1
    assert found.first.cause == "eps is 1e-05 in a and 0.001 in b"


@pytest.mark.slow
def test_same_padding_is_named(exported: Path) -> None:
    found = paramedic.compare(exported / "same", Net.made(), torch.randn(2, 3, 8, 8))
    assert found.first is not None and found.first.a == "stem" and found.first.confirmed and len(found.parts) == 1
    assert "SAME" in found.first.cause


@pytest.mark.slow
def test_wrong_inputs_are_refused(exported: Path) -> None:
    x = torch.randn(2, 3, 8, 8)
    with pytest.raises(ParamedicError, match="2 inputs were given"):
        paramedic.compare(exported / "right", exported / "right", (x, x))
    with pytest.raises(ParamedicError, match="shape"):
        paramedic.compare(exported / "right", exported / "right", x[:, :2])


@pytest.mark.slow
def test_a_fused_batch_norm_is_compared_in_float64(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).eval()
    kernel = model[0].weight.detach().permute(2, 3, 1, 0).contiguous()
    tensors = [kernel, model[0].bias, *list(model[1].state_dict().values())[:4]]

    class Raw(tf.Module):
        def __init__(self) -> None:
            self.held = [tf.Variable(tensor.detach().numpy()) for tensor in tensors]

        @tf.function(input_signature=[tf.TensorSpec([None, 5, 5, 3], name="x")])
        def __call__(self, x: object) -> object:
            kernel, bias, *norm = self.held
            given = tf.nn.conv2d(x, kernel, 1, "VALID") + bias
            return tf.compat.v1.nn.fused_batch_norm(given, *norm, epsilon=1e-3, is_training=False)[0]

    tf.saved_model.save(Raw(), str(tmp_path))
    found = paramedic.compare(model, tmp_path, torch.randn(2, 3, 5, 5))
    assert found.precision == "float64" and found.first is not None and found.first.confirmed
    assert (found.first.a, found.first.b) == ("1", "FusedBatchNormV3")
    assert found.first.cause == "eps is 1e-05 in a and 0.001 in b"
