"""Weights from file to file: those of one model or checkpoint, laid out as another one holds them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Fields
from paramedic.errors import ParamedicError
from paramedic.parity.weights.copying import Copied, copy


def convert(source: object, target: object, out: Path, names: Mapping[str, str]) -> Copied:
    """`source` and `target` are models or paths of checkpoints; the target is left as it is."""
    giver, taker = _opened(source), _opened(target)
    copied = copy(giver, taker, names=names)
    _write(taker, out)
    return copied


def _opened(thing: object) -> Any:
    if not isinstance(thing, str | Path):
        return thing
    path = Path(thing)
    if (path / "saved_model.pb").exists():
        return path
    if path.suffix == ".npz":
        from paramedic.parity.sides.dump import read

        return dict(read(path)[0])
    from paramedic.parity.checkpoints import load

    held = load(path)
    for key in ("state_dict", "model", "model_state_dict"):
        if isinstance(held, Mapping) and isinstance(held.get(key), Mapping):
            held = held[key]
    return {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in held.items()}


def _write(taker: Any, out: Path) -> None:
    if not isinstance(taker, nn.Module) and hasattr(taker, "save_weights"):
        taker.save_weights(out)
        return
    held = taker.state_dict() if isinstance(taker, nn.Module) else taker[1] if isinstance(taker, tuple) else taker
    if hasattr(taker, "save_weights"):  # Keras on torch is a module as well
        taker.save_weights(out)
    elif out.suffix == ".safetensors":
        from safetensors.torch import save_file

        save_file({name: value.contiguous().clone() for name, value in held.items()}, out)
    elif out.suffix == ".npz":
        import numpy as np

        arrays: Fields = {name: np.asarray(value) for name, value in held.items()}
        np.savez(out, **arrays)
    elif out.suffix in (".pt", ".pth", ".bin"):
        torch.save(held, out)
    else:
        raise ParamedicError(f"{out} has no known ending", expected=".pt, .safetensors, .npz, .weights.h5 of Keras")
