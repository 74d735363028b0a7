"""What a synthetic task is: a way to draw samples whose best possible answer is known, and a ladder of rungs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from paramedic.errors import ParamedicError

Array = npt.NDArray[Any]
Target = Array | dict[str, Array]

# By goal: how errors are counted, and what the smallest possible one is.
ERRORS = {
    "values": "mean squared error",
    "classes": "share of wrong answers",
    "labels": "share of wrong labels",
    "boxes": "share of objects not found",
}
OPTIMA = {
    "values": "the variance of the noise",
    "classes": "the Bayes error",
    "labels": "the Bayes error",
    "boxes": "0: every object can be found",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Samples, with what only their maker can know."""

    inputs: Array
    target: Target
    risk: Array  # per sample: the expected error of the best possible answer to this input
    place: Array | None = None  # in [-1, 1], a property of the input: the gap split cuts at ±0.8

    def take(self, chosen: Array | slice) -> Draw:
        target = self.target
        return Draw(
            inputs=self.inputs[chosen],
            target={k: v[chosen] for k, v in target.items()} if isinstance(target, dict) else target[chosen],
            risk=self.risk[chosen],
            place=None if self.place is None else self.place[chosen],
        )

    def columns(self) -> dict[str, Array]:
        """As files hold it."""
        target = self.target if isinstance(self.target, dict) else {"target": self.target}
        return {"input": self.inputs, **target}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One level of difficulty."""

    name: str
    needs: str  # what a model that breaks here probably lacks
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """All rungs of a task have the same shapes, so that one model can climb them all."""

    name: str
    summary: str
    goal: str  # "values", "classes", "labels" or "boxes": see goals.py
    form: str  # "tabular", "tokens", "series", "image" or "volume"
    draw: Callable[..., Draw]  # draw(rng, n, **settings)
    rungs: tuple[Rung, ...]
    usual: int  # the level one gets without asking for one
    gap: str = ""  # what lies apart in the gap split; empty when there is none

    def settings(self, level: int | None, changes: Mapping[str, object]) -> dict[str, object]:
        """What `draw` gets at this level: its defaults, then the rung's, then the caller's."""
        known = {
            p.name: p.default for p in inspect.signature(self.draw).parameters.values() if p.kind is p.KEYWORD_ONLY
        }
        for name in changes:
            if name not in known:
                raise ParamedicError(
                    f"the task {self.name} has no setting {name!r}",
                    expected=", ".join(f"{key}={value}" for key, value in known.items()),
                    fix=f"paramedic synth {self.name} --set {next(iter(known))}={next(iter(known.values()))}",
                )
        wanted = {name: _as_type_of(known[name], value, name) for name, value in changes.items()}
        return {**known, **self.rung(level).settings, **wanted}

    def rung(self, level: int | None) -> Rung:
        level = self.usual if level is None else level
        if not 1 <= level <= len(self.rungs):
            raise ParamedicError(
                f"the task {self.name} has no level {level}",
                expected=f"a level from 1 to {len(self.rungs)}",
                fix=f"paramedic synth {self.name} --level {self.usual}",
            )
        return self.rungs[level - 1]


def _as_type_of(default: Any, value: Any, name: str) -> object:
    try:
        return type(default)(value)
    except ValueError:
        raise ParamedicError(
            f"{name}={value} is not understood",
            expected=f"a value like {default!r}",
            fix=f"--set {name}={default}",
        ) from None


def column(values: Array) -> Array:
    """A regression target: one value per sample, in a column as models return it."""
    return values.astype(np.float32).reshape(-1, 1)


def flipped(rng: np.random.Generator, labels: Array, classes: int, share: float) -> Array:
    """The labels, of which this share was replaced by another class: nobody can be right more often than 1 − share."""
    wrong = (labels + rng.integers(1, classes, labels.shape)) % classes
    return np.where(rng.random(labels.shape) < share, wrong, labels)
