"""What re-running a step on a copy says about its targets, using the user's own loss, however it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paramedic.record.facts import CallAsked, Grouping, LogProb, Optimizer, Step, StepAsked, TargetAsked
from paramedic.record.reader import Run
from paramedic.rules.support import by_place

FEWEST = 16  # elements of an answer that the loss moves
NEARLY_ALL = 0.95


class Suspect(NamedTuple):
    """A target that the loss does not treat as a target, in every round of probing."""

    step: StepAsked
    target: TargetAsked
    rounds: int


def pushed_away(run: Run) -> Iterator[Suspect]:
    """The loss pushes predictions without bound away from the only tensor that says what they should be.

    Rewards may make actions less likely, and an adversary may want a prediction to be wrong: anything else that steers
    the loss, or a second optimizer, counts as such a reason. A label may say what a prediction should not be, as in
    pairs whose distance should be small: then there is a best prediction.
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
    """The target changes the loss by an amount that does not depend on the prediction."""
    for step, target, rounds in _only_targets(run):
        if not target.steers and not target.paired:
            yield Suspect(step, target, rounds)


def any_order(run: Run) -> Iterator[Suspect]:
    """The loss does not depend on which row of the target belongs to which prediction.

    A generator's samples belong to no row of the data. So the target must have come with the model's input.
    """
    for step, target, rounds in _only_targets(run):
        together = target.name in step.loaded and set(step.inputs) & set(step.loaded) - {target.name}
        if target.steers and not target.paired and together:
            yield Suspect(step, target, rounds)


def _only_targets(run: Run, *, agreeing: bool = True) -> Iterator[Suspect]:
    """Targets of steps: one row for each row of the predictions, which depend on other data of the step.

    Agreeing: all rounds give the same result; otherwise each is returned separately.
    """
    if run.facts(LogProb):
        return
    for asked in by_place(run.facts(StepAsked)).values():
        steps = [step for step in asked if step.targets]
        if not steps or any(len(step.targets) != 1 for step in steps) or not _one_trains(run, steps):
            continue
        first = steps[0]
        target = first.targets[0]
        alike = [step for step in steps if not agreeing or _verdict(step.targets[0]) == _verdict(target)]
        rows = {sizes[0] for sizes in first.answers if sizes}
        if len(alike) < len(steps) or target.shape[0] not in rows or not set(first.inputs) - {target.name}:
            continue
        for step in steps[:1] if agreeing else steps:
            yield Suspect(step, step.targets[0], len(steps))


def similarity_minimised(run: Run) -> Iterator[Suspect]:
    """The minimised value is largest at the target and below zero at its opposite, as with a cosine."""
    for step, target, rounds in _only_targets(run):
        values = _values(target)
        if values is None or target.kind != "value" or target.elements < FEWEST:
            continue
        perfect, opposite, _ = values
        if perfect > 0 > opposite and abs(perfect + opposite) < 0.02 * perfect and (step.loss or 0.0) < perfect:
            yield Suspect(step, target, rounds)


def driven_apart(run: Run, *, wider: float = 2.0) -> Iterator[Suspect]:
    """The loss is larger where samples of one class lie together than where they are mixed, and takes them apart.

    A loss that wants each class at a place of its own may be larger at other places; but it moves a class as a whole.
    """
    for step, target, rounds in _only_targets(run, agreeing=False):
        asked = [t.grouping for s in run.facts(StepAsked) for t in s.targets if t.name == target.name]
        if rounds < 2 or not all(found is not None and _parted(found, wider) for found in asked):
            return
        yield Suspect(step, target, rounds)
        return


def _parted(found: Grouping, wider: float) -> bool:
    """It costs clearly more each time; and at least half of that is gone once the classes have become wider."""
    if found.after is None or found.apart is None:
        return False
    clear = all(a - b > 0.2 * abs(a) for a, b in zip(found.together, found.dealt, strict=True))
    halfway = (found.together[-1] + found.dealt[-1]) / 2
    return clear and found.after < halfway and found.apart > wider


def beaten_by_chance(run: Run) -> Iterator[Suspect]:
    """Random predictions give a negative loss, clearly below that of correct ones, for labels of 0 and 1.

    Opposite predictions must not: a label may say what is absent.
    """
    for step, target, rounds in _only_targets(run, agreeing=False):
        values = _values(target)
        if values is None or target.kind != "binary" or target.elements < FEWEST:
            continue
        perfect, opposite, lowest = values
        if not (opposite > perfect > -1e-3) or lowest is None:
            continue
        if lowest < min(0.0, perfect - 0.1 * (opposite - perfect)):
            yield Suspect(step, target, rounds)
            return


def _values(target: TargetAsked) -> tuple[float, float, float | None] | None:
    """The best loss of perfect and of opposite predictions, and of all that were tried."""
    if target.optimum is None:
        return None
    perfect = [value for value in target.optimum.perfect if value is not None]
    opposite = [value for value in target.optimum.opposite if value is not None]
    return (min(perfect), min(opposite), target.optimum.lowest) if perfect and opposite else None


class LeftOut(NamedTuple):
    """A model output that the loss does not use, although it uses another one like it."""

    step: StepAsked
    call: CallAsked
    input: str | None  # the data on which no other answer depends
    rounds: int


def left_out(run: Run) -> Iterator[LeftOut]:
    """Of two calls of a model, or of two outputs of one call, the loss uses only one.

    Outputs may be unused on purpose: so the calls must be of the same model, and the output must be the only one to
    depend on some of the data, in every round. If there are several losses, another one may use the output.
    """
    if len(run.curves("loss")) != 1:
        return
    for asked in by_place(run.facts(StepAsked)).values():
        steps = [step for step in asked if step.reason is None]
        if len(steps) < 2 or len({_pattern(step) for step in steps}) > 1 or not _one_trains(run, steps):
            continue
        first = steps[0]
        for call in first.calls:
            twins = [c for c in first.calls if c is not call and c.model == call.model and c.answers == call.answers]
            ignored = call.used and not any(call.used)
            if ignored and any(all(twin.used) for twin in twins):
                yield LeftOut(first, call, None, len(steps))
            elif first.idle and _one_of_two(call):
                yield LeftOut(first, call, first.idle[0], len(steps))


def _one_of_two(call: CallAsked) -> bool:
    used = [shape for shape, is_used in zip(call.answers, call.used, strict=True) if is_used]
    return any(shape in used for shape, is_used in zip(call.answers, call.used, strict=True) if not is_used)


def _pattern(step: StepAsked) -> tuple[object, ...]:
    return tuple(tuple(call.used) for call in step.calls), tuple(step.idle)


def _one_trains(run: Run, steps: list[StepAsked]) -> bool:
    """Whether one optimizer is at work at that time, on a model; another may have had its turn before."""
    times: dict[int, list[int]] = {}
    for taken in run.facts(Step):
        times.setdefault(taken.optimizer, []).extend((taken.step, taken.last_step))
    first, last = min(step.step for step in steps), max(step.step for step in steps)
    active = [number for number, seen in times.items() if min(seen) <= last and max(seen) >= first]
    return len(active) == 1 and any(o.number == active[0] and o.in_models for o in run.facts(Optimizer))


def _verdict(target: TargetAsked) -> tuple[str, bool, bool, bool]:
    return target.name, target.paired, target.steers, target.away >= NEARLY_ALL
