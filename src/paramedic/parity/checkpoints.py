"""Two checkpoints: what is missing, renamed, of another shape or type, changed most, not finite. No code is run."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from paramedic.aliases import Fields
from paramedic.errors import ParamedicError
from paramedic.parity.causes.parameters import relation
from paramedic.parity.fingerprints import fingerprint
from paramedic.parity.measure import difference
from paramedic.parity.report import Section, Story

MOST = 12
OPTIMIZER = ("optimizer", "optim")


def compare_checkpoints(a: Path, b: Path) -> Story:
    first, second = (dict(leaves(load(path))) for path in (a, b))
    shared = [name for name in first if name in second]
    renamed = dict(_renamed(first, second))
    gone = [n for n in first if n not in second and n not in renamed]
    new = [n for n in second if n not in first and n not in renamed.values()]
    forms = [n for n in shared if _form(first[n]) != _form(second[n])]
    settings = [n for n in shared if n not in forms and not _tensor(first[n]) and first[n] != second[n]]
    tensors = [n for n in shared if _tensor(first[n]) and n not in forms]
    changed = [n for n in tensors if fingerprint(first[n]) != fingerprint(second[n])]
    amounts = {n: difference(first[n], second[n]) for n in changed}
    ranked = sorted(changed, key=lambda n: -amounts[n].relative)
    bad = [(side, n) for side, held in (("a", first), ("b", second)) for n, t in held.items() if _not_finite(t)]
    sections = list(_sections(first, second, gone, new, renamed, forms, settings, ranked, amounts, bad))
    same = not (gone or new or renamed or forms or settings or changed)
    return Story(
        kind="checkpoints",
        verdict="agree" if same else "differ",
        sentence=_sentence(same, tensors, changed, gone, new, renamed, forms, settings, bad),
        sections=sections,
        data={
            "a": str(a),
            "b": str(b),
            "fingerprints": {"a": _whole(first), "b": _whole(second)},
            "only_a": gone,
            "only_b": new,
            "renamed": renamed,
            "forms": {n: [_form(first[n]), _form(second[n])] for n in forms},
            "settings": {n: [str(first[n]), str(second[n])] for n in settings},
            "changed": {n: {"relative": amounts[n].relative, "largest": amounts[n].largest} for n in ranked},
            "not_finite": [f"{side}: {name}" for side, name in bad],
        },
    )


def load(path: Path) -> Any:
    """Tensors and plain values only: a checkpoint that holds code is refused."""
    if not path.is_file():
        raise ParamedicError(f"there is no file {path}", expected="a checkpoint: .pt, .pth, .bin, .ckpt, .safetensors")
    if path.suffix == ".safetensors":
        from paramedic.parity.sides.dump import read

        return read(path)[0]
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ParamedicError(
            f"{path} cannot be read without running code from it ({str(error).splitlines()[0][:120]})",
            expected="a file of tensors, numbers and containers, which torch.load(weights_only=True) accepts",
            fix="save model.state_dict() instead of the model, or write a .safetensors file",
        ) from None


def leaves(value: object, before: str = "") -> Iterator[tuple[str, object]]:
    """Tensors and plain values with dotted names."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(part, f"{before}.{key}" if before else str(key))
    elif isinstance(value, list | tuple) and any(isinstance(p, Mapping | list | tuple | torch.Tensor) for p in value):
        for number, part in enumerate(value):
            yield from leaves(part, f"{before}.{number}" if before else str(number))
    else:
        yield before, value


def _sections(
    first: Fields, second: Fields, gone: list[str], new: list[str], renamed: dict[str, str],
    forms: list[str], settings: list[str], ranked: list[str], amounts: Fields, bad: list[tuple[str, str]],
) -> Iterator[Section]:  # fmt: skip
    if bad:
        yield Section(
            title="Not finite",
            mark="✗",
            rows=_cut([(side, _bad(n, (first if side == "a" else second)[n])) for side, n in bad]),
        )
    for side, names, others in (("a", gone, new), ("b", new, gone)):
        if names:
            held = first if side == "a" else second
            rows = [("", f"{n} {_form(held[n])}{_nearest(n, others)}") for n in names]
            yield Section(title=f"Only in {side}", mark="✗", rows=_cut(rows))
    if renamed:
        yield Section(
            title="Renamed: the same numbers", rows=_cut([("", f"{x} is now {y}") for x, y in renamed.items()])
        )
    if forms:
        rows = [("", f"{n}: {_form(first[n])} in a, {_form(second[n])} in b") for n in forms]
        yield Section(title="Of another shape or type", mark="✗", rows=_cut(rows))
    if settings:
        rows = [("", f"{n}: {_short(first[n])} in a, {_short(second[n])} in b") for n in settings]
        yield Section(title="Values", rows=_cut(rows))
    for title, part in (
        ("Weights that changed, most first", [n for n in ranked if not _of_optimizer(n)]),
        ("The optimizer's state that changed, most first", [n for n in ranked if _of_optimizer(n)]),
    ):
        if part:
            rows = [(f"{amounts[n].relative:.1e}", f"{n}{_how(first[n], second[n])}") for n in part]
            yield Section(title=title, rows=_cut(rows))


def _how(a: torch.Tensor, b: torch.Tensor) -> str:
    """A name for the change, where it has one."""
    if not (a.is_floating_point() and b.is_floating_point()) or a.numel() > 1_000_000:
        return ""
    told = relation(b, a)
    return "" if told.startswith(("holds other", "differs by")) else f" {told}"


def _renamed(first: dict[str, object], second: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Tensors that are there under another name. Zeros and ones are too many to be told apart."""
    free = {n: fingerprint(t) for n, t in second.items() if n not in first and _tensor(t) and _special(t)}
    for name, tensor in first.items():
        if name in second or not _tensor(tensor) or not _special(tensor):
            continue
        mark = fingerprint(tensor)
        match = next((n for n, known in free.items() if known == mark), None)
        if match is not None:
            del free[match]
            yield name, match


def _special(tensor: torch.Tensor) -> bool:
    return tensor.numel() > 1 and bool((tensor.flatten()[:1] != tensor.flatten()).any())


def _nearest(name: str, others: list[str]) -> str:
    near = difflib.get_close_matches(name, others, n=1, cutoff=0.5)
    return f" (nearest: {near[0]})" if near else ""


def _sentence(
    same: bool, tensors: list[str], changed: list[str], gone: list[str], new: list[str], renamed: dict[str, str],
    forms: list[str], settings: list[str], bad: list[tuple[str, str]],
) -> str:  # fmt: skip
    if same:
        return f"All {len(tensors)} tensors are equal, bit for bit." + (" Some are not finite." if bad else "")
    counts = (
        (f"{len(changed)} of {len(tensors)} shared tensors changed", bool(changed)),
        (f"{len(gone)} only in a", bool(gone)),
        (f"{len(new)} only in b", bool(new)),
        (f"{len(renamed)} renamed", bool(renamed)),
        (f"{len(forms)} of another shape or type", bool(forms)),
        (f"plain values that differ: {len(settings)}", bool(settings)),
        (f"{len(bad)} not finite", bool(bad)),
    )
    return "; ".join(words for words, wanted in counts if wanted) + "."


def _bad(name: str, tensor: torch.Tensor) -> str:
    nans, infs = int(tensor.isnan().sum()), int(tensor.isinf().sum())
    return f"{name}: {nans} NaN, {infs} infinite of {tensor.numel()}"


def _not_finite(value: Any) -> bool:
    return _tensor(value) and value.is_floating_point() and not bool(torch.isfinite(value).all())


def _of_optimizer(name: str) -> bool:
    return name.lower().startswith(OPTIMIZER) or ".exp_avg" in name or name.startswith("state.")


def _form(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return "a tensor" if isinstance(value, torch.Tensor) else "value"


def _tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}…"


def _whole(held: Mapping[str, object]) -> str:
    """One hash for the file's tensors in their order."""
    import zlib

    marks = " ".join(f"{name}={fingerprint(t)}" for name, t in held.items() if _tensor(t))
    return f"{zlib.crc32(marks.encode()):08x}"


def _cut(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return rows[:MOST] + ([("", f"… and {len(rows) - MOST} more")] if len(rows) > MOST else [])
