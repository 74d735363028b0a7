"""Two recorded runs: the first step and tensor that differ, and what differed before: data, settings, code, machine."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from paramedic.parity.report import Section, Story
from paramedic.record.facts import Batch, Fact, Loader, Model, Optimizer, Schedule, Seed, known_as
from paramedic.record.reader import Run, open_runs
from paramedic.record.samples import Sample

ROLES = ("output", "gradient", "update", "weight")  # in the order of a step
WORDS = {"output": "the output of", "gradient": "the gradient of", "update": "the update of", "weight": "the weight"}
NUMBERS = 10  # of a tensor's statistics that are exact
MOST_LINES = 60  # of a diff


def compare_runs(a: Path, b: Path) -> Story:
    first, second = open_runs(a)[0], open_runs(b)[0]
    surroundings = list(_surroundings(first, second))
    order = _data(first, second)
    tensor = _first_tensor(first, second)
    loss = _first_loss(first, second)
    code = list(_code(first, second))
    sections = []
    parting = _parting(order, tensor, loss)
    if parting:
        sections.append(Section(title=f"First difference: {parting[0][1]}", mark="✗", rows=parting))
    if surroundings:
        sections.append(Section(title="What was different from the start", rows=surroundings))
    if code:
        sections.append(Section(title="The code", rows=[("", line) for line in code[:MOST_LINES]]))
    same = not parting and first.steps == second.steps
    losses = {run: _losses(r) for run, r in (("a", first), ("b", second))}
    return Story(
        kind="runs",
        verdict="agree" if same else "differ",
        sentence=_sentence(same, parting, surroundings, code, first, second),
        sections=sections,
        data={
            "a": str(a),
            "b": str(b),
            "first_batch": order,
            "first_tensor": tensor,
            "first_loss": loss,
            "surroundings": dict(surroundings),
            "code": code,
            "steps": [first.steps, second.steps],
            "losses": losses,
        },
        picture=_curves(losses),
    )


def _parting(order: Any, tensor: Any, loss: Any) -> list[tuple[str, str]]:
    """In the order of a step: the batch, then what the model makes of it, then the loss."""
    found = []
    if order:
        found.append((order["step"], 0, ("data", f"the batch of step {order['step']} holds other samples")))
    if tensor:
        rank = 1 if tensor["role"] == "output" else 3
        words = f"{WORDS[tensor['role']]} {tensor['name']} at step {tensor['step']} (norm {tensor['a']:.9g} in a, {tensor['b']:.9g} in b)"  # noqa: E501
        found.append((tensor["step"], rank, ("tensor", words)))
    if loss:
        words = f"the loss at step {loss['step']}: {loss['a']:.9g} in a, {loss['b']:.9g} in b"
        found.append((loss["step"], 2, ("loss", words)))
    return [row for _, _, row in sorted(found)]


def _data(a: Run, b: Run) -> dict[str, object] | None:
    """The first batch that is another one, by its hash."""
    others = {_place(e): e for e in b.facts(Batch)}
    for event in a.facts(Batch):
        other = others.get(_place(event))
        if other is not None and _hashes(event) != _hashes(other):
            return {"step": event.step, "loader": event.loader, "position": event.position}
    return None


def _first_tensor(a: Run, b: Run) -> dict[str, object] | None:
    """The earliest sampled step at which both looked and saw different numbers."""
    found = []
    for rank, role in enumerate(ROLES):
        others = {sample.step: sample for sample in b.samples(role)}
        for sample in a.samples(role):
            name = _differing(sample, others[sample.step]) if sample.step in others else None
            if name is not None:
                mine, other = (s.summaries.get(name) for s in (sample, others[sample.step]))
                norms = {"a": mine.norm if mine else float("nan"), "b": other.norm if other else float("nan")}
                found.append((sample.step, rank, {"step": sample.step, "role": role, "name": name, **norms}))
                break
    return min(found, key=lambda row: row[:2])[2] if found else None


def _differing(a: Sample, b: Sample) -> str | None:
    known = dict(zip(b.names, b.rows, strict=True))
    for name, row in zip(a.names, a.rows, strict=True):
        if name in known and not _equal(row[:NUMBERS], known[name][:NUMBERS]):
            return name
    return None


def _equal(a: Any, b: Any) -> bool:
    return all(x == y or (x != x and y != y) for x, y in zip(a, b, strict=True))


def _first_loss(a: Run, b: Run) -> dict[str, object] | None:
    mine, other = _losses(a), dict(_losses(b))
    for step, value in mine:
        if step in other and other[step] != value and not (value != value and other[step] != other[step]):
            return {"step": step, "a": value, "b": other[step]}
    return None


def _losses(run: Run) -> list[tuple[int, float]]:
    """The loss that was trained on: the first series of its kind."""
    name = next((name for name in run.series_names if name.startswith("loss:")), None)
    return run.series(name) if name else []


def _surroundings(a: Run, b: Run) -> Iterator[tuple[str, str]]:
    for name in ("script", "command", "cwd", "world_size", "commit"):
        if a.meta.get(name) != b.meta.get(name):
            yield name, f"{a.meta.get(name)} in a, {b.meta.get(name)} in b"
    versions = a.meta.get("versions", {}), b.meta.get("versions", {})
    for name in {**versions[0], **versions[1]}:
        if versions[0].get(name) != versions[1].get(name):
            yield name, f"{versions[0].get(name)} in a, {versions[1].get(name)} in b"
    for kind in (Seed, Optimizer, Loader, Schedule, Model):
        yield from _settings(known_as(kind).name, a.facts(kind), b.facts(kind))
    if a.steps != b.steps:
        yield "steps", f"{a.steps} in a, {b.steps} in b"


def _settings(kind: str, a: Sequence[Fact], b: Sequence[Fact]) -> Iterator[tuple[str, str]]:
    if len(a) != len(b):
        yield kind, f"{len(a)} in a, {len(b)} in b"
    for first, second in zip(a, b, strict=False):
        mine, other = dict(_flat(first)), dict(_flat(second))
        for name in mine:
            if name in other and mine[name] != other[name] and not name.endswith(("line", "file")):
                yield kind, f"{name}: {mine[name]} in a, {other[name]} in b"


def _flat(value: object, before: str = "") -> Iterator[tuple[str, object]]:
    if is_dataclass(value):
        parts = {field.name.rstrip("_"): getattr(value, field.name) for field in fields(value)}
        parts.pop("occurrence", None)
        yield from _flat(parts, before)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _flat(part, f"{before}.{key}" if before else str(key))
    elif isinstance(value, (list, tuple)):
        for number, part in enumerate(value):
            yield from _flat(part, f"{before}.{number}")
    else:
        yield before, value


def _code(a: Run, b: Run) -> Iterator[str]:
    """The user's own files as both runs had them."""
    mine, other = a.meta.get("code", {}), b.meta.get("code", {})
    for name in sorted({*mine, *other}):
        old, new = mine.get(name, "").splitlines(), other.get(name, "").splitlines()
        yield from difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="", n=1)


def _sentence(same: bool, parting: Any, surroundings: Any, code: object, a: Run, b: Run) -> str:
    if same:
        looked = len({s.step for s in a.samples("gradient")} & {s.step for s in b.samples("gradient")})
        told = f"Batches, losses and the tensors of {looked} steps that both runs looked at are equal"
        return f"{told}, over {a.steps} steps."
    if not parting:
        return f"No difference in what both looked at, but {a.steps} and {b.steps} steps."
    reasons = [name for name, _ in surroundings if name not in ("command", "cwd")]
    because = f" Before that: {', '.join(dict.fromkeys(reasons))} differ." if reasons else ""
    edited = " The code differs." if code else ""
    return f"The runs diverge at {parting[0][1]}.{because}{edited}"


def _place(batch: Batch) -> tuple[int, int, int]:
    return batch.loader, batch.epoch, batch.position


def _hashes(batch: Batch) -> list[str | None]:
    return [tensor.hash for tensor in batch.tensors]


def _curves(losses: Mapping[str, list[tuple[int, float]]]) -> str:
    """Both losses in one small picture."""
    points = [(x, y) for line in losses.values() for x, y in line if y == y and abs(y) != float("inf")]
    if len(points) < 2:
        return ""
    left, right = min(x for x, _ in points), max(x for x, _ in points) or 1
    low, high = min(y for _, y in points), max(y for _, y in points)
    lines = []
    for colour, (name, line) in zip(("#0072b2", "#d55e00"), losses.items(), strict=True):
        spots = " ".join(
            f"{20 + 560 * (x - left) / max(right - left, 1):.1f},{180 - 160 * (y - low) / max(high - low, 1e-12):.1f}"
            for x, y in line if y == y and abs(y) != float("inf")
        )  # fmt: skip
        lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{spots}"/>')
        lines.append(f'<text x="{560 if name == "a" else 580}" y="16" fill="{colour}">{name}</text>')
    return f'<svg viewBox="0 0 600 200" role="img" aria-label="the losses of both runs">{"".join(lines)}</svg>'
