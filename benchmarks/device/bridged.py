"""Runs a program that was written for the CPU on an accelerator: everything is made there from the start.

`bridged.py paramedic run train.py` or `bridged.py train.py`. BRIDGE_DEVICE names the device, "" for programs that
choose one themselves; BRIDGE_HALF computes in bfloat16 where autocast would; BRIDGE_FUSED has optimizers step in one
kernel.
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import Any

import torch
from torch import nn
from torch.utils._device import _device_constructors
from torch.utils.data import RandomSampler, SubsetRandomSampler, WeightedRandomSampler, dataset


def bridge() -> None:
    if os.environ["BRIDGE_DEVICE"]:
        torch.set_default_device(os.environ["BRIDGE_DEVICE"])
        for sampler in (RandomSampler, SubsetRandomSampler, WeightedRandomSampler):
            draw_on_host(sampler, "__iter__")
        draw_on_host(dataset, "random_split")
        torch.utils.data.random_split = dataset.random_split
        port()
    torch.backends.cudnn.deterministic = True  # or what is printed would differ by itself
    if os.environ.get("BRIDGE_HALF"):
        torch.autocast("cuda", torch.bfloat16, cache_enabled=False).__enter__()
    if os.environ.get("BRIDGE_FUSED"):
        for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
            fuse(kind)


def draw_on_host(owner: Any, name: str) -> None:
    """Torch draws these with a generator of the host, and so must make the numbers there."""
    original = getattr(owner, name)

    def drawn(*args: Any, **kwargs: Any) -> Any:
        with torch.device("cpu"):
            result = original(*args, **kwargs)
            return iter(list(result)) if name == "__iter__" else result

    setattr(owner, name, drawn)


def draw_there(name: str) -> None:
    """Random numbers are drawn on the host, so that a program has the data that it has on a CPU, and sent over."""
    original = getattr(torch, name)

    def drawn(*args: Any, **kwargs: Any) -> Any:
        generator = kwargs.get("generator")
        elsewhere = generator is not None and generator.device.type != "cpu"
        if elsewhere or "device" in kwargs or "out" in kwargs or torch.get_default_device().type == "cpu":
            return original(*args, **kwargs)
        with torch.device("cpu"):
            sent = [a.detach().cpu() if isinstance(a, torch.Tensor) else a for a in args]
            found = original(*sent, **kwargs)
        first = args[0] if args else None
        device = first.device if isinstance(first, torch.Tensor) else os.environ["BRIDGE_DEVICE"]
        # The request for a gradient is for the tensor that the program gets.
        return found.detach().to(device).requires_grad_() if found.requires_grad else found.to(device)

    setattr(torch, name, drawn)


def start_there(kind: Any) -> None:
    """A layer's first weights are drawn on the host, too."""
    original = kind.reset_parameters

    def started(self: nn.Module) -> None:
        for parameter in self.parameters():
            parameter.data = parameter.data.cpu()
        with torch.device("cpu"):
            original(self)
        for parameter in self.parameters():
            parameter.data = parameter.data.to(os.environ["BRIDGE_DEVICE"])
        if isinstance(self, nn.RNNBase):
            self.flatten_parameters()

    kind.reset_parameters = started


def port() -> None:
    """What somebody would write who moves a program to a GPU, and a default device does not do."""
    device = os.environ["BRIDGE_DEVICE"]
    autocast, scaler = torch.autocast.__init__, torch.amp.GradScaler.__init__
    from_numpy, numpy, pack = torch.from_numpy, torch.Tensor.numpy, nn.utils.rnn.pack_padded_sequence

    def there(name: str) -> str:
        return device if name == "cpu" else name

    def packed(batch: Any, lengths: Any, *args: Any, **kwargs: Any) -> Any:
        return pack(batch, lengths.cpu() if isinstance(lengths, torch.Tensor) else lengths, *args, **kwargs)

    _device_constructors()  # torch remembers its own functions by this, which those below are not
    drawing = ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "rand_like", "randn_like")
    for name in drawing:
        draw_there(name)
    for kind in vars(nn.modules).values():
        if "reset_parameters" in getattr(kind, "__dict__", {}):
            start_there(kind)
    torch.from_numpy = lambda array: from_numpy(array).to(device)
    torch.Tensor.numpy = lambda self, **kwargs: numpy(self.cpu(), **kwargs)
    torch.Tensor.__array__ = lambda self, *args, **kwargs: numpy(self.detach().cpu()).__array__(*args, **kwargs)
    nn.utils.rnn.pack_padded_sequence = packed
    torch.autocast.__init__ = lambda self, device_type, *args, **kwargs: autocast(
        self, there(device_type), *args, **kwargs
    )
    torch.amp.GradScaler.__init__ = lambda self, device="cuda", *args, **kwargs: scaler(
        self, there(device), *args, **kwargs
    )


def fuse(kind: Any) -> None:
    original = kind.__init__

    def fused(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **{"fused": True, **kwargs})

    kind.__init__ = fused


if __name__ == "__main__":
    bridge()
    sys.argv = sys.argv[1:]
    if sys.argv[0] == "paramedic":
        from paramedic.__main__ import main

        main()
    else:
        sys.path[0] = os.path.dirname(sys.argv[0])
        runpy.run_path(sys.argv[0], run_name="__main__")
