"""Hyper-parameters that the two layers hold with different values."""

from __future__ import annotations

from collections.abc import Iterator

from paramedic.parity.alignment import Pair
from paramedic.parity.causes.candidate import Candidate, Labels, differing, shown
from paramedic.parity.changes import Change


def candidates(pair: Pair, labels: Labels) -> Iterator[Candidate]:
    """Each by itself, then all together."""
    if pair.b.is_op:
        return
    names = [name for name in differing(pair.a.settings, pair.b.settings) if name not in ("function", "module")]
    groups = [[name] for name in names] + ([names] if len(names) > 1 else [])
    for group in groups:
        values = [(name, _shaped(pair.a.settings[name], pair.b.settings[name])) for name in group]
        yield Candidate(
            what="; ".join(labels.versus(n, pair.a.settings[n], pair.b.settings[n]) for n in group),
            layer=pair.b,
            change=Change(words=" and ".join(f"{n}={shown(v)}" for n, v in values), settings=tuple(values)),
        )


def _shaped(value: object, like: object) -> object:
    """A setting as this layer holds it: 2 for (2, 2)."""
    if isinstance(like, tuple) and not isinstance(value, tuple | list | str):
        return (value,) * len(like)
    return tuple(value) if isinstance(like, tuple) and isinstance(value, list) else value
