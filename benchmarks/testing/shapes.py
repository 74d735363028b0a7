"""Totals of parameters and multiply-adds on ten models of transformers and five own ones, beside other packages."""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from benchmarks.testing.bugs import Net, mlp
from paramedic.shapes.table import measure

warnings.simplefilter("ignore")
Built = tuple[nn.Module, tuple[Any, ...]]


def transformers_model(name: str, **settings: Any) -> Callable[[], Built]:
    def build() -> Built:
        import transformers

        config = getattr(transformers, f"{name}Config")(**settings)
        config._attn_implementation = "eager"
        config.use_cache = False
        return getattr(transformers, f"{name}Model")(config).eval(), (torch.randint(1, 90, (2, 12)),)

    return build


def vision(name: str, **settings: Any) -> Callable[[], Built]:
    def build() -> Built:
        model, _ = transformers_model(name, **settings)()
        return model, (torch.randn(2, 3, 32, 32),)

    return build


SMALL = {"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
MODELS: dict[str, Callable[[], Built]] = {
    "MLP": lambda: (mlp().eval(), (torch.randn(4, 1, 8, 8),)),
    "CNN with batch norm": lambda: (Net().eval(), (torch.randn(4, 1, 8, 8),)),
    "1-D convolutions": lambda: (
        nn.Sequential(nn.Conv1d(4, 8, 3), nn.GELU(), nn.Conv1d(8, 8, 3, groups=8), nn.Conv1d(8, 4, 1)).eval(),
        (torch.randn(4, 4, 32),),
    ),
    "transposed convolutions": lambda: (
        nn.Sequential(nn.ConvTranspose2d(8, 4, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(4, 3, 4, 2, 1)).eval(),
        (torch.randn(2, 8, 4, 4),),
    ),
    "transformer encoder layer": lambda: (
        nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).train(),
        (torch.randn(2, 12, 32),),
    ),
    "BERT": transformers_model("Bert", **SMALL, intermediate_size=64),
    "GPT-2": transformers_model("GPT2", vocab_size=100, n_embd=32, n_layer=2, n_head=4),
    "Llama": transformers_model("Llama", **SMALL, intermediate_size=64),
    "ViT": vision(
        "ViT", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32
    ),
    "ConvNeXt": vision("ConvNext", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    "DistilBERT": transformers_model("DistilBert", vocab_size=100, dim=32, n_layers=2, n_heads=4, hidden_dim=64),
    "RoBERTa": transformers_model("Roberta", **SMALL, intermediate_size=64),
    "OPT": transformers_model("OPT", **SMALL, ffn_dim=64, word_embed_proj_dim=32),
    "Qwen2": transformers_model("Qwen2", **SMALL, num_key_value_heads=2, intermediate_size=64),
    "ResNet": vision("ResNet", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic"),
}


def torchinfo(model: nn.Module, inputs: tuple[Any, ...]) -> tuple[int, int]:
    from torchinfo import summary

    found = summary(model, input_data=inputs, verbose=0)
    return found.total_params, found.total_mult_adds


def fvcore(model: nn.Module, inputs: tuple[Any, ...]) -> tuple[int, int]:
    from fvcore.nn import FlopCountAnalysis, parameter_count

    analysis = FlopCountAnalysis(model, inputs).unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    analysis.set_op_handle("aten::scaled_dot_product_attention", attention_products)
    counted = analysis.by_operator()
    kept = ("linear", "conv", "matmul", "addmm", "bmm", "einsum", "scaled_dot_product_attention")
    return parameter_count(model)[""], int(sum(counted.get(name, 0) for name in kept))


def attention_products(inputs: Any, outputs: Any) -> int:
    """The two matrix products of this operation, which fvcore does not know."""
    query, key = (list(value.type().sizes()) for value in inputs[:2])
    return 2 * math.prod(query) * key[-2]


def report() -> str:
    torch.manual_seed(0)
    peers = {n: f for n, f in (("torchinfo", torchinfo), ("fvcore", fvcore)) if importlib.util.find_spec(n) is not None}
    rows = ["| model | parameters | multiply-adds | " + "".join(f"{p} parameters | multiply-adds | " for p in peers)]
    rows.append("|---|---|---|" + "---|---|" * len(peers))
    for name, build in MODELS.items():
        model, inputs = build()
        table = measure(model, (inputs, {}))
        cells = [f"{table.parameters:,}", f"{table.flops // 2:,}"]
        for peer in peers.values():
            try:
                cells += [f"{number:,}" for number in peer(model, inputs)]
            except Exception as error:
                cells += [type(error).__name__, "–"]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    words = (
        "Parameters are the same everywhere. Multiply-adds are half of our FLOPs. fvcore is asked for its matrix "
        "products and convolutions only, for it counts norms, too; it does not know scaled_dot_product_attention, "
        "whose two products it was told. torchinfo counts differently: the bias of a layer, a Linear once per "
        "sample instead of once per position, transposed convolutions per output, and no "
        "products between activations (attention)."
    )
    return "\n".join([words, "", *rows])
