"""What holds weights: every layer's tensors in torch's layout, and how to put other ones in their place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from paramedic.parity.kinds import canonical
from paramedic.parity.weights.layouts import from_torch, to_torch

Put = Callable[[dict[str, torch.Tensor]], None]
NOT_WEIGHTS = ("num_batches_tracked", "seed_generator_state")


@dataclass(slots=True, kw_only=True)
class Slot:
    """One layer's weights."""

    name: str
    kind: str
    tensors: dict[str, torch.Tensor]  # in torch's layout, with torch's names
    put: Put


def slots_of(holder: object) -> list[Slot]:
    """Of a torch module, a Keras model, (flax module, variables), variables, a state dict, or a SavedModel's folder."""
    keras = sys.modules.get("keras")
    if keras is not None and isinstance(holder, keras.Model):
        return list(_keras(holder))
    if isinstance(holder, nn.Module):
        return list(_torch(holder))
    if isinstance(holder, tuple) and len(holder) == 2:
        return list(_mapping(holder[1]))
    if isinstance(holder, Mapping):
        return list(_mapping(holder))
    if isinstance(holder, str | Path) and (Path(holder) / "saved_model.pb").exists():
        return list(_saved_model(Path(holder)))
    from paramedic.errors import ParamedicError

    raise ParamedicError(
        f"a {type(holder).__name__} holds no weights that are known",
        expected="a torch module, a Keras model, flax variables, a state dict or the folder of a SavedModel",
    )


def _torch(model: nn.Module) -> Iterator[Slot]:
    inside: set[str] = set()
    for name, module in model.named_modules():
        if any(name.startswith(f"{known}.") for known in inside):
            continue
        attention = isinstance(module, nn.MultiheadAttention)
        if attention:
            inside.add(name)
        held = dict(module.named_parameters(recurse=attention)) | dict(module.named_buffers(recurse=attention))
        held = {n: t for n, t in held.items() if n not in NOT_WEIGHTS}
        if held:
            turned = type(module).__name__ == "Conv1D" and "weight" in held and held["weight"].dim() == 2
            kind = "Linear" if turned else type(module).__name__
            yield _tensors(name, kind, held, turned=turned)


def _tensors(name: str, kind: str, held: Mapping[str, torch.Tensor], *, turned: bool = False) -> Slot:
    """Tensors that can be written into. GPT-2's Conv1D holds its weight as (in, out)."""

    def shown(key: str) -> torch.Tensor:
        return held[key].t() if turned and key == "weight" else held[key]

    def put(new: dict[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for key, value in new.items():
                shown(key).copy_(value.to(held[key].dtype))

    return Slot(name=name, kind=kind, tensors={key: shown(key).detach() for key in held}, put=put)


def _keras(model: nn.Module) -> Iterator[Slot]:
    from paramedic.parity.sides.keras_side import raw_weights

    for layer in _leaf_layers(model):
        held = raw_weights(layer)
        if not held:
            continue

        def put(new: dict[str, torch.Tensor], layer: Any = layer, held: Any = held) -> None:
            kind = type(layer).__name__
            values = held | from_torch(kind, to_torch(kind, held) | new, held)
            names = [n for n in (v.path.split("/")[-1] for v in layer.weights) if n not in NOT_WEIGHTS]
            order = list(held) if len(held) == len(layer.weights) else names
            layer.set_weights([values[name].contiguous().numpy() for name in order])

        yield Slot(name=layer.name, kind=type(layer).__name__, tensors=to_torch(type(layer).__name__, held), put=put)


def _saved_model(path: Path) -> Iterator[Slot]:
    from paramedic.errors import ParamedicError
    from paramedic.parity.sides.saved_model_side import weights_of

    def put(_: dict[str, torch.Tensor]) -> None:
        raise ParamedicError(f"{path} is a SavedModel, into which no weights are copied", expected="it as the source")

    for name, layer in weights_of(path).items():
        yield Slot(name=name, kind=layer.kind, tensors=dict(layer.parameters), put=put)


def _leaf_layers(layer: object) -> Iterator[Any]:
    if hasattr(layer, "_query_dense"):
        yield layer
        return
    parts = getattr(layer, "layers", None) or getattr(layer, "_layers", None) or []
    inner = [part for part in parts if getattr(part, "weights", None)]
    cells = any(type(part).__name__.endswith("Cell") for part in inner)  # an LSTM and its cell are one
    if inner and not cells:
        for part in inner:
            yield from _leaf_layers(part)
    elif getattr(layer, "weights", None):
        yield layer


def _mapping(tree: Mapping[str, Any]) -> Iterator[Slot]:
    """A state dict, or the nested variables of Flax: names up to the last word make a layer."""
    places = dict(_places(tree))
    groups: dict[str, dict[str, tuple[Any, str]]] = {}
    for path, place in places.items():
        owner, _, last = path.rpartition(".")
        grand, _, part = owner.rpartition(".")
        if (
            part in ("query", "key", "value", "out")
            and last in ("kernel", "bias")
            and f"{grand}.query.kernel" in places
        ) or (len(part) == 2 and part[0] in "ih" and last in ("kernel", "bias")):
            owner, last = grand, f"{part}.{last}"
        elif part == "out_proj" and f"{grand}.in_proj_weight" in places:
            owner, last = grand, f"out_proj.{last}"
        if last not in NOT_WEIGHTS:
            groups.setdefault(_without_collection(owner), {})[last] = place
    for name, group in groups.items():
        held = {last: _as_tensor(owner[key]) for last, (owner, key) in group.items()}
        kind = _guess(name, held)

        def put(new: dict[str, torch.Tensor], kind: str = kind, held: Any = held, group: Any = group) -> None:
            back = from_torch(kind, to_torch(kind, held) | new, held) if _foreign(held) else new
            for last, value in back.items():
                owner, key = group[last]
                owner[key] = _like(value, owner[key])

        yield Slot(name=name, kind=kind, tensors=to_torch(kind, held) if _foreign(held) else held, put=put)


def _places(tree: Any, before: str = "") -> Iterator[tuple[str, tuple[Any, str]]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _places(value, f"{before}{key}.")
        elif hasattr(value, "shape"):
            yield f"{before}{key}", (tree, key)


def _without_collection(name: str) -> str:
    for collection in ("params", "batch_stats"):
        if name == collection or name.startswith(f"{collection}."):
            return name[len(collection) + 1 :]
    return name


def _foreign(held: Mapping[str, torch.Tensor]) -> bool:
    known = ("kernel", "scale", "embedding", "embeddings", "gamma", "beta", "mean", "var", "moving_mean")
    return any(name.rpartition(".")[2] in known for name in held)


def _guess(name: str, held: Mapping[str, torch.Tensor]) -> str:
    """The kind of a layer that is only known by its tensors."""
    if "query.kernel" in held or "in_proj_weight" in held:
        return "MultiheadAttention"
    if "ii.kernel" in held or any(key.startswith("weight_ih") for key in held):
        wide = held.get("weight_ih_l0")
        deep = held.get("weight_hh_l0")
        return "GRU" if wide is not None and deep is not None and wide.shape[0] == 3 * deep.shape[1] else "LSTM"
    if "ir.kernel" in held:
        return "GRU"
    if "running_mean" in held or "mean" in held or "moving_mean" in held:
        return "BatchNorm"
    main = held.get("weight", held.get("kernel"))
    if "embedding" in held or "embeddings" in held or (main is not None and "emb" in name.lower()):
        return "Embedding"
    if main is None or main.dim() == 1:
        return "LayerNorm"
    return "Linear" if main.dim() == 2 else "Conv"


def _as_tensor(value: object) -> torch.Tensor:
    import numpy as np

    return value if isinstance(value, torch.Tensor) else torch.as_tensor(np.array(value))


def _like(value: torch.Tensor, old: Any) -> Any:
    if isinstance(old, torch.Tensor):
        return value.to(old.dtype).reshape(old.shape).contiguous()
    import numpy as np

    return np.asarray(value.numpy(), dtype=np.asarray(old).dtype).reshape(np.shape(old))


def same_family(a: str, b: str) -> bool:
    return canonical(a) == canonical(b)
