"""Helpers shared by several rules."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from paramedic.findings import Where
from paramedic.findings.words import listed as listed
from paramedic.record.facts import Asked, Census, GivenTarget, Labels, Loader, LossCall, Optimizer, Step
from paramedic.record.facts.fact import F, Fact
from paramedic.record.reader import Run

TRAINABLE, GRADIENT, NONZERO, MOVED, WATCHED = 1, 2, 4, 8, 16  # the bits of a census


def at(event: Fact, place: Sequence[object] | None) -> Where:
    """The event's place, moved to another file and line when one is known."""
    if not place or place[0] is None:
        return event.where
    function = str(place[2]) if len(place) > 2 and place[2] else None
    return replace(event.where, file=str(place[0]), line=int(str(place[1])), function=function)


def labels_made_at(run: Run, event: Fact, how: str) -> Where:
    """Where the labels of an event are computed ("shifted", "left_out", "padded"), if its line only starts a loop.

    The optimizer's steps then come from that same line.
    """
    place = (event.where.file, event.where.line)
    if all((step.where.file, step.where.line) != place for step in run.facts(Step)):
        return event.where
    made = [loader.labels_at.of(how) for loader in run.facts(Loader) if loader.labels_at]
    return at(event, next((site for site in made if site), None))


def shape(sizes: Sequence[int]) -> str:
    return f"({', '.join(str(size) for size in sizes)}{',' * (len(sizes) == 1)})"


def many(count: int, word: str) -> str:
    """'1 tensor', '3 tensors', '2 batches'."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}{'es' if word.endswith('ch') else 's'}"


def common_path(names: Iterable[str]) -> str:
    """The innermost module that contains all these parameters."""
    split = [name.split(".")[:-1] for name in names]
    if not split:
        return ""
    kept = []
    for parts in zip(*split, strict=False):
        if len(set(parts)) > 1:
            break
        kept.append(parts[0])
    return ".".join(kept)


def entropy(counts: Iterable[int]) -> float:
    """In nats: the loss of a model that knows only how often each class occurs."""
    counts = [count for count in counts if count]
    total = sum(counts)
    return -sum(count / total * math.log(count / total) for count in counts) if total else 0.0


@dataclass(slots=True)
class ParameterHistory:
    """What the examined steps saw of one parameter that an optimizer holds."""

    name: str
    optimizer: int
    examined: int = 0
    trainable: int = 0
    with_gradient: int = 0
    nonzero: int = 0
    watched: int = 0  # steps in which a movement would have been noticed
    moved: int = 0
    rate: float = 0.0  # the highest learning rate seen
    first_step: int = 0


def parameter_histories(run: Run) -> list[ParameterHistory]:
    """The census of all examined steps, per parameter; several rules use it, and a model may have thousands."""
    known = _histories.get(run)
    if known is None:
        known = _histories[run] = _read_histories(run)
    return known


_histories: WeakKeyDictionary[Run, list[ParameterHistory]] = WeakKeyDictionary()


def _read_histories(run: Run) -> list[ParameterHistory]:
    found: dict[tuple[int, str], ParameterHistory] = {}
    for census in run.facts(Census):
        for name, flags, rate in zip(census.names, census.flags, census.rates, strict=True):
            key = (census.optimizer, name)
            history = found.get(key)
            if history is None:
                history = found[key] = ParameterHistory(name, census.optimizer, first_step=census.step)
            history.examined += 1
            history.trainable += bool(flags & TRAINABLE)
            history.with_gradient += bool(flags & GRADIENT)
            history.nonzero += bool(flags & NONZERO)
            history.watched += bool(flags & WATCHED and flags & NONZERO and rate > 0)
            history.moved += bool(flags & MOVED)
            history.rate = max(history.rate, rate)
    return list(found.values())


def twin_optimizers(run: Run) -> tuple[Optimizer, Optimizer] | None:
    """Two optimizers of one run that hold the same parameters: one was probably meant for others."""
    known: dict[frozenset[str], Optimizer] = {}
    for optimizer in run.facts(Optimizer):
        names = frozenset(name for group in optimizer.groups for name in group.parameters)
        if names and names in known and known[names].number != optimizer.number:
            return known[names], optimizer
        known.setdefault(names, optimizer)
    return None


def by_place(facts: Iterable[F]) -> dict[tuple[str | None, int | None, str], list[F]]:
    """Facts of the same line and phase together."""
    groups: dict[tuple[str | None, int | None, str], list[F]] = defaultdict(list)
    for fact in facts:
        groups[(fact.where.file, fact.where.line, fact.phase)].append(fact)
    return dict(groups)


def always_given(looks: Sequence[GivenTarget], fewest: int) -> tuple[GivenTarget, int] | None:
    """The first of these looks and the number of batches, if the target stood among the inputs in all of them."""
    batches = sum(event.count for event in looks)
    return (looks[0], batches) if batches >= fewest and all(event.given for event in looks) else None


def label_batches(run: Run) -> list[list[Labels]]:
    """Batches of training labels, by the line of their loss and its number of classes: two losses may share a line."""
    groups: dict[tuple[str | None, int | None, int], list[Labels]] = defaultdict(list)
    for event in run.facts(Labels, phase="train"):
        groups[(event.where.file, event.where.line, event.classes)].append(event)
    return list(groups.values())


def measured(calls: Iterable[LossCall], *functions: str) -> list[LossCall]:
    """Loss calls of these functions whose values were read."""
    return [call for call in calls if call.function in functions and call.values]


def train_first(calls: Iterable[LossCall]) -> list[list[LossCall]]:
    """Loss calls by place, those of the training before those of evaluations."""
    return sorted(by_place(calls).values(), key=lambda group: group[0].phase != "train")


def why_not(run: Run) -> str | None:
    """Why no copy of the model could be probed, if that is known."""
    return next((event.reason for event in run.facts(Asked) if event.reason), None)
