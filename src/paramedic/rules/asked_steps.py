"""What a step that was run again on a copy says of its targets: the loss is the user's own, however it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paramedic.record.facts import LogProb, Optimizer, StepAsked, TargetAsked
from paramedic.record.reader import Run
from paramedic.rules.support import by_place

FEWEST = 16  # elements of an answer that the loss moves
NEARLY_ALL = 0.95


class Suspect(NamedTuple):
    """A target that the loss does not treat as one, in every round of questions."""

    step: StepAsked
    target: TargetAsked
    rounds: int


def pushed_away(run: Run) -> Iterator[Suspect]:
    """The loss pulls the answers away from the only tensor that says what they should be, and without end.

    Rewards may make actions less likely, and adversaries may want an answer to be wrong: whatever else steers the
    loss, or a second optimizer, is taken for such a reason. A label may say what an answer should not be, as in pairs
    whose distance is to be small: then there is a best answer.
    """
    for step, target, rounds in _only_targets(run):
        if target.away < NEARLY_ALL or target.elements < FEWEST or not target.paired:
            continue
        if not _falls_without_end(target.further):
            continue
        top = target.at_target
        if target.kind == "value" and (top is None or top.steepness > 0.05 or not top.loss > (step.loss or 0.0)):
            continue
        yield Suspect(step, target, rounds)


def _falls_without_end(further: Sequence[float | None]) -> bool:
    if not further or further[0] is None:
        return False
    known = [value for value in further if value is not None]
    return known[-1] < 0 and (len(known) < 2 or known[-1] < 5 * known[-2] < 0)


def without_effect(run: Run) -> Iterator[Suspect]:
    """The target changes the loss by a number that is the same whatever the model answers."""
    for step, target, rounds in _only_targets(run):
        if not target.steers and not target.paired:
            yield Suspect(step, target, rounds)


def any_order(run: Run) -> Iterator[Suspect]:
    """It makes no difference to the loss which row of the target belongs to which answer.

    A generator's samples belong to no row of the data. So the target must have come with what the model was given.
    """
    for step, target, rounds in _only_targets(run):
        together = target.name in step.loaded and set(step.inputs) & set(step.loaded) - {target.name}
        if target.steers and not target.paired and together:
            yield Suspect(step, target, rounds)


def _only_targets(run: Run) -> Iterator[Suspect]:
    """Targets of steps that have one: a row for each row of the answers, which depend on other data of the step."""
    optimizers = run.facts(Optimizer)
    if len(optimizers) != 1 or not optimizers[0].in_models or run.facts(LogProb):
        return
    for asked in by_place(run.facts(StepAsked)).values():
        steps = [step for step in asked if step.targets]
        if not steps or any(len(step.targets) != 1 for step in steps):
            continue
        first = steps[0]
        target = first.targets[0]
        alike = [step for step in steps if _verdict(step.targets[0]) == _verdict(target)]
        rows = {sizes[0] for sizes in first.answers if sizes}
        if len(alike) < len(steps) or target.shape[0] not in rows or not set(first.inputs) - {target.name}:
            continue
        yield Suspect(first, target, len(steps))


def _verdict(target: TargetAsked) -> tuple[str, bool, bool, bool]:
    return target.name, target.paired, target.steers, target.away >= NEARLY_ALL
