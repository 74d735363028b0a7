"""Copy weights from one model into another: find the partner of each layer, fuse or split attention, lay out anew."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from paramedic.aliases import Fields
from paramedic.parity.alignment import align
from paramedic.parity.trace import Layer
from paramedic.parity.weights.holders import Slot, slots_of

FUSED = re.compile(r"qkv|in_proj|c_attn|query_key_value")
PARTS = ("q", "k", "v")


@dataclass(slots=True)
class Copied:
    """What was copied where, and what was left over."""

    pairs: list[tuple[str, str]] = field(default_factory=list)
    left_in_source: list[str] = field(default_factory=list)
    left_in_target: list[str] = field(default_factory=list)  # keep the weights they had

    @property
    def complete(self) -> bool:
        return not (self.left_in_source or self.left_in_target)

    def __str__(self) -> str:
        lines = [f"{len(self.pairs)} layers copied."]
        for title, names, others in (
            ("not copied from the source", self.left_in_source, self.left_in_target),
            ("not filled in the target", self.left_in_target, self.left_in_source),
        ):
            lines += [f"  {title}: {name}{_nearest(name, others)}" for name in names]
        return "\n".join(lines)


def copy(source: object, target: object, *, names: Mapping[str, str] | None = None) -> Copied:
    givers, takers = slots_of(source), slots_of(target)
    givers, takers = _split_where_needed(givers, takers)
    result = Copied()
    taken: set[int] = set()
    for giver, taker in _partners(givers, takers, dict(names or {})):
        new, rest = _fitting(giver.tensors, taker.tensors)
        if not new:
            continue
        taker.put(new)
        taken |= {id(giver), id(taker)}
        result.pairs.append((giver.name, taker.name))
        result.left_in_target += [f"{taker.name}.{key} {list(taker.tensors[key].shape)}" for key in rest]
        lost = [key for key in giver.tensors if key not in new and key not in taker.tensors]
        result.left_in_source += [f"{giver.name}.{key} {list(giver.tensors[key].shape)}" for key in lost]
    result.left_in_source += [_told(slot) for slot in givers if id(slot) not in taken]
    result.left_in_target += [_told(slot) for slot in takers if id(slot) not in taken]
    return result


def _partners(givers: list[Slot], takers: list[Slot], names: dict[str, str]) -> list[tuple[Slot, Slot]]:
    """The same names with the same shapes belong together; the others are aligned in their order."""
    by_name = {taker.name: taker for taker in takers}
    sure = {
        giver.name: giver.name
        for giver in givers
        if giver.name not in names
        and giver.name in by_name
        and _shapes(giver.tensors) == _shapes(by_name[giver.name].tensors)
    }
    known = {**sure, **{mine: other for mine, other in names.items() if other in by_name}}
    fixed = [(giver, by_name[known[giver.name]]) for giver in givers if giver.name in known]
    done = {id(slot) for pair in fixed for slot in pair}  # in whatever order they stand
    givers, takers = ([slot for slot in side if id(slot) not in done] for side in (givers, takers))
    a, b = [_layer(slot) for slot in givers], [_layer(slot) for slot in takers]
    slots = {id(layer): slot for layer, slot in zip(a + b, givers + takers, strict=True)}
    return fixed + [(slots[id(pair.a)], slots[id(pair.b)]) for pair in align(a, b)]


def _layer(slot: Slot) -> Layer:
    """For the alignment, a layer whose shape is that of its weights."""
    shapes = [t for t in slot.tensors.values() if t.dim() > 1] or list(slot.tensors.values())
    form = torch.zeros(sorted(shapes[0].shape)) if shapes[0].numel() < 10_000_000 else torch.zeros(1)
    return Layer(name=slot.name, kind=slot.kind, parameters=slot.tensors, outputs=(form.bool(),))


def _fitting(given: Mapping[str, torch.Tensor], wanted: Mapping[str, torch.Tensor]) -> tuple[Fields, list[str]]:
    """What can be put in, by name and shape, and what is wanted but not there."""
    new = {key: given[key] for key, old in wanted.items() if key in given and given[key].shape == old.shape}
    rest = [key for key in wanted if key not in new]
    for key in list(rest):  # one tensor on each side: the name does not matter
        if len(given) == len(wanted) == 1 and next(iter(given.values())).shape == wanted[key].shape:
            new[key] = next(iter(given.values()))
            rest.remove(key)
        elif key.startswith("bias") and not any(name.startswith("bias") for name in given):
            new[key] = torch.zeros_like(wanted[key])
            rest.remove(key)
    return new, rest


def _split_where_needed(givers: list[Slot], takers: list[Slot]) -> tuple[list[Slot], list[Slot]]:
    """A projection for queries, keys and values together on one side only is taken apart."""
    whole = [sum("in_proj_weight" in slot.tensors for slot in side) for side in (givers, takers)]
    if whole[0] != whole[1]:
        givers, takers = ([part for slot in side for part in _opened(slot)] for side in (givers, takers))
    fused = [sum(_is_fused(slot) for slot in side) for side in (givers, takers)]
    if fused[0] != fused[1]:
        givers, takers = ([part for slot in side for part in _thirds(slot)] for side in (givers, takers))
    return givers, takers


def _opened(slot: Slot) -> list[Slot]:
    """MultiheadAttention as a fused projection and an output projection."""
    if "in_proj_weight" not in slot.tensors:
        return [slot]
    parts = []
    for name, keys in (
        ("in_proj", {"weight": "in_proj_weight", "bias": "in_proj_bias"}),
        ("out_proj", {"weight": "out_proj.weight", "bias": "out_proj.bias"}),
    ):
        held = {new: slot.tensors[old] for new, old in keys.items() if old in slot.tensors}

        def put(new: dict[str, torch.Tensor], keys: dict[str, str] = keys) -> None:
            slot.put({keys[key]: value for key, value in new.items()})

        parts.append(Slot(name=f"{slot.name}.{name}", kind="Linear", tensors=held, put=put))
    return parts


def _is_fused(slot: Slot) -> bool:
    weight = slot.tensors.get("weight")
    return weight is not None and weight.dim() == 2 and weight.shape[0] % 3 == 0 and bool(FUSED.search(slot.name))


def _thirds(slot: Slot) -> list[Slot]:
    if not _is_fused(slot):
        return [slot]
    kept = {key: tensor.clone() for key, tensor in slot.tensors.items()}
    parts = []
    for number, letter in enumerate(PARTS):

        def put(new: dict[str, torch.Tensor], number: int = number) -> None:
            for key, value in new.items():
                kept[key].chunk(3)[number].copy_(value)
            slot.put({key: kept[key] for key in new})

        held = {key: tensor.chunk(3)[number] for key, tensor in slot.tensors.items()}
        parts.append(Slot(name=f"{slot.name}.{letter}", kind=slot.kind, tensors=held, put=put))
    return parts


def _shapes(tensors: Mapping[str, torch.Tensor]) -> list[tuple[int, ...]]:
    return sorted(tuple(t.shape) for t in tensors.values())


def _told(slot: Slot) -> str:
    return f"{slot.name} ({slot.kind}: {', '.join(f'{k} {list(t.shape)}' for k, t in slot.tensors.items())})"


def _nearest(name: str, others: list[str]) -> str:
    near = difflib.get_close_matches(name, others, n=1, cutoff=0.4)
    return f"; nearest: {near[0]}" if near else ""
