"""A tensor of any kind in one line: shape, type, place, bad values, range, mean ± deviation, where it came from."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

SAMPLED = 1_000_000  # elements that mean and deviation are taken of
EXACT = 200_000_000  # elements up to which range and bad values are exact
CHUNK = 10_000_000  # elements that are counted at once, to bound the memory it takes
FEW = 6  # elements that are rather shown than described
PATIENCE = 1.0  # seconds to wait for a busy accelerator

_dead_devices: set[str] = set()


@contextmanager
def accelerators_spared() -> Iterator[None]:
    """After an error of the device itself every further call may fail or hang: only metadata in here."""
    _dead_devices.add("every")
    try:
        yield
    finally:
        _dead_devices.discard("every")


def summary(tensor: torch.Tensor) -> str:
    """One line; never raises, whatever kind of tensor it is."""
    try:
        with _in_peace():
            return " · ".join(part for part in (_header(tensor), *_facts(tensor), _origin(tensor)) if part)
    except Exception as error:
        return f"{type(tensor).__name__} ({type(error).__name__} when looked at)"


def header(tensor: torch.Tensor) -> str:
    """Shape, type and place only: does not touch the values."""
    try:
        with _in_peace():
            return _header(tensor)
    except Exception:
        return type(tensor).__name__


def values(tensor: torch.Tensor) -> torch.Tensor | None:
    """What can be plotted of a tensor: at most a sample of it, as plain finite-or-not floats on the CPU."""
    try:
        with _in_peace():
            plain, _ = _plain(tensor)
            if plain is None or plain.numel() == 0 or not _reachable(plain):
                return None
            return _floats(_sample(plain)).cpu()
    except Exception:
        return None


@contextmanager
def _in_peace() -> Iterator[None]:
    """No gradient graph, and none of the user's modes sees what we do."""
    with torch._C.DisableTorchFunction(), torch.no_grad():
        if torch._C._len_torch_dispatch_stack():
            with _disable_current_modes():
                yield
        else:
            yield


# What it is -----------------------------------------------------------------------------------------------------


def _header(tensor: torch.Tensor) -> str:
    parts = [_shape(tensor), str(tensor.dtype).removeprefix("torch."), str(tensor.device)]
    kind = type(tensor)
    if kind not in (torch.Tensor, torch.nn.Parameter):
        parts.insert(0, kind.__name__)
    if tensor.layout is not torch.strided:
        parts.append(str(tensor.layout).removeprefix("torch."))
    return " ".join(parts)


def _shape(tensor: torch.Tensor) -> str:
    if tensor.is_nested:
        return f"({tensor.size(0)}, ragged)"
    try:
        return shape_text(tensor.shape)
    except Exception:  # a parameter of a lazy module has no shape yet
        return "(shape not known yet)"


def shape_text(shape: Any) -> str:
    """As a tuple is written: `(32, 10)`, `(32,)`; the empty shape is a scalar."""
    sizes = ", ".join(str(size) for size in shape)
    return f"({sizes}{',' if len(shape) == 1 else ''})" if len(shape) else "scalar"


def _origin(tensor: torch.Tensor) -> str:
    if tensor.grad_fn is not None:
        return str(type(tensor.grad_fn).__name__)
    return "requires grad" if tensor.requires_grad else ""


# What is in it --------------------------------------------------------------------------------------------------


def _facts(tensor: torch.Tensor) -> list[str]:
    plain, remark = _plain(tensor)
    facts = [remark] if remark else []
    if plain is None:
        return facts
    if plain.numel() == 0:
        return [*facts, "empty"]
    if not _reachable(plain):
        return [*facts, "values not read: the device failed or is busy"]
    try:
        return [*facts, *_numbers(plain)]
    except Exception as error:
        if plain.device.type != "cpu":
            _dead_devices.add(str(plain.device))
        return [*facts, f"values cannot be read ({type(error).__name__})"]


def _plain(tensor: torch.Tensor) -> tuple[torch.Tensor | None, str]:
    """The ordinary tensor that holds the values, and what has to be said about the unusual one around it."""
    if torch.compiler.is_compiling():
        return None, "being compiled"
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return None, "inside vmap or grad: no values yet"
    if tensor.device.type == "meta":
        return None, "no data"
    local = tensor.__dict__.get("_local_tensor") if type(tensor).__name__ == "DTensor" else None
    if local is not None:
        return local, "this rank's part " + shape_text(local.shape)
    if tensor.is_nested:
        return _nested(tensor)
    if type(tensor).__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl:
        return None, "fake" if type(tensor).__name__ == "FakeTensor" else ""
    if isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin):
        return None, ""
    plain = tensor.detach()
    return _stored(plain if type(plain) is torch.Tensor else plain.as_subclass(torch.Tensor))


def _nested(tensor: torch.Tensor) -> tuple[torch.Tensor | None, str]:
    if tensor.layout is torch.jagged:
        return tensor.detach().values(), ""
    parts = tensor.detach().unbind()
    return torch.cat([part.reshape(-1) for part in parts]) if parts else None, ""


def _stored(tensor: torch.Tensor) -> tuple[torch.Tensor | None, str]:
    if tensor.layout is torch.sparse_coo:
        return tensor._values(), f"{tensor._nnz():,} values stored"
    if tensor.layout in (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc):
        return tensor.values(), f"{tensor.values().numel():,} values stored"
    if tensor.layout is not torch.strided:
        return tensor.to_dense(), ""
    if tensor.is_quantized:
        return _sample(tensor).dequantize(), "quantized"
    if tensor.numel() and not tensor.untyped_storage().nbytes():
        return None, "its storage was freed"
    return tensor, ""


def _reachable(tensor: torch.Tensor) -> bool:
    """Reading from an accelerator waits for all work before it; a collective without partners would never end."""
    if tensor.device.type == "cpu":
        return True
    if "every" in _dead_devices or str(tensor.device) in _dead_devices:
        return False
    module = getattr(torch, tensor.device.type, None)
    if module is None or not hasattr(module, "current_stream"):
        return True
    deadline = time.monotonic() + PATIENCE
    try:
        stream = module.current_stream(tensor.device)
        while not stream.query():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
    except Exception:
        _dead_devices.add(str(tensor.device))
        return False
    return True


def _sample(tensor: torch.Tensor) -> torch.Tensor:
    """Evenly spread elements, as a view: large dimensions are stepped through."""
    while tensor.numel() > SAMPLED:
        dimension = max(range(tensor.dim()), key=lambda d: tensor.shape[d])
        step = min(math.ceil(tensor.numel() / SAMPLED), tensor.shape[dimension])
        tensor = tensor[(slice(None),) * dimension + (slice(None, None, step),)]
    return tensor


def _floats(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_complex():
        tensor = tensor.abs()
    wide = torch.float32 if tensor.device.type == "mps" else torch.float64
    return tensor.reshape(-1).to(wide)


def _numbers(tensor: torch.Tensor) -> list[str]:
    if tensor.numel() <= FEW:
        return [_shown(tensor)]
    if tensor.dtype is torch.bool:
        return [f"{float(_floats(_sample(tensor)).mean()):.1%} true"]
    sample = _floats(_sample(tensor))
    sampled = sample.numel() < tensor.numel()
    finite = sample[torch.isfinite(sample)]
    low, high, bad = _extremes(tensor, sample, finite)
    facts = [bad] if bad else []
    if not finite.numel():
        return facts
    about = "≈ " if sampled else ""
    size = "|x| " if tensor.is_complex() else ""
    if low == high:
        return [*facts, f"{size}all {_number(low)}"]
    mean, deviation = float(finite.mean()), float(finite.std(correction=0))
    middle = f"{about}{_number(mean)} ± {_number(deviation)}"
    return [*facts, f"{size}{_number(low)} … {_number(high)}", f"mean {middle}"]


def _shown(tensor: torch.Tensor) -> str:
    if tensor.dtype.is_floating_point and tensor.dtype not in (torch.float32, torch.float64):
        tensor = tensor.to(torch.float32)
    shown = tensor.reshape(-1).tolist()
    texts = [_number(value) if isinstance(value, float) else str(value) for value in shown]
    return texts[0] if tensor.dim() == 0 else f"[{', '.join(texts)}]"


def _extremes(tensor: torch.Tensor, sample: torch.Tensor, finite: torch.Tensor) -> tuple[float, float, str]:
    """Smallest and largest finite value, and the bad ones in words; exact where the tensor is not monstrous."""
    low, high = (float(finite.min()), float(finite.max())) if finite.numel() else (math.nan, math.nan)
    if sample.numel() == tensor.numel():
        return low, high, _bad(sample, exact=True)
    try:
        if tensor.numel() > EXACT:
            raise NotImplementedError
        least, most = (float(value) for value in torch.aminmax(tensor))
    except (RuntimeError, NotImplementedError):  # complex and 8-bit types have no order here
        return low, high, _bad(sample, exact=False)
    if math.isfinite(least) and math.isfinite(most):
        return least, most, ""
    return low, high, _bad(tensor, exact=True)


def _bad(tensor: torch.Tensor, *, exact: bool) -> str:
    nan = inf = 0
    for part in _chunks(tensor):
        nan += int(torch.isnan(part).sum())
        inf += int(torch.isinf(part).sum())
    total = tensor.numel()
    at_least = "" if exact else "at least "
    found = [f"{at_least}{count:,} {name}" for count, name in ((nan, "NaN"), (inf, "Inf")) if count]
    return f"{' and '.join(found)} of {total:,}" if found else ""


def _chunks(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    if tensor.numel() <= CHUNK or tensor.dim() == 0:
        yield tensor
        return
    if tensor.shape[0] == 1:
        yield from _chunks(tensor[0])
        return
    rows = max(1, tensor.shape[0] * CHUNK // tensor.numel())
    for start in range(0, tensor.shape[0], rows):
        yield tensor[start : start + rows]


def _number(value: float) -> str:
    whole = math.isfinite(value) and value == int(value) and abs(value) < 1e6
    return f"{int(value)}" if whole else f"{value:.3g}"
