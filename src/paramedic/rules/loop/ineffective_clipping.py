"""PM604."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from paramedic.record.facts import Clip, Loop, Step
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import argument_history, edited_at
from paramedic.static.history import Link
from paramedic.static.program import called

_GENERATORS = ("parameters", "named_parameters", "filter", "map", "chain")
MEASURING = 1e6  # a limit that no gradient reaches: the call is there for the norm that it returns


@rule("PM604", "ineffective-clipping", severity="error", needs=[Clip], coverage=[Step])
def check(run: Run, *, share: float = 0.5) -> Iterator[Finding]:
    """Gradient clipping has no effect on the gradients the optimizer uses.

    ## Why it hurts
    The code claims that gradients are limited, but they are not. The first large gradient goes through.

    ## What to try first
    Between `backward()` and `step()`: `torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)`. Pass a list or a new
    `model.parameters()`; a generator that was already consumed is empty.

    ## When this is wrong
    Clipping in every micro-batch of an accumulation is only a warning: it limits something, but not the gradient that
    is used. A call with an infinite limit clips nothing and only measures the norm, wherever it is.

    ## Options
    `share`: smallest share of clipping calls without effect.
    """
    places: dict[tuple[str | None, int | None], list[Clip]] = {}
    for event in run.facts(Clip):
        if event.limit is None or event.limit < MEASURING:
            places.setdefault((event.where.file, event.where.line), []).append(event)
    for events in places.values():
        total = sum(event.count for event in events)
        for event in events:
            told = _reason(event)
            if told is None or event.count < 2 or event.count < share * total:
                continue
            what, why, remedy = told
            yield Finding(
                what=f"{event.function} {what} in {event.count:,} of {total:,} calls",
                why=why,
                remedy=remedy,
                **edited_at(event.where, None if event.tensors else _stored(run, event)),
                evidence=(
                    Evidence(name="tensors", value=event.tensors, limit="≥ 1"),
                    Evidence(name="with_gradient", value=event.with_gradient, limit="≥ 1"),
                    Evidence(name="covered_by_an_optimizer", value=event.covered, limit="≥ 1"),
                ),
                confidence=0.97,
            )
            break
        else:
            yield from _per_micro_batch(run, events[0], total)


def _reason(event: Clip) -> tuple[str, str, str] | None:
    between = "call it between backward() and step()"
    if event.tensors == 0:
        empty = "received no tensors: its generator was already consumed"
        return empty, "nothing is clipped; gradients of any size go through", "pass model.parameters() or a list"
    if event.with_gradient == 0:
        return "saw no gradient at all", "it runs before backward() has written any", between
    if event.stale:
        return "came after step(), on gradients already used", "the update used unclipped gradients", between
    if event.covered == 0 and event.optimised_with_gradient:
        other = "clipped tensors that no optimizer holds"
        return other, "the gradients that are used stay unclipped", "pass the parameters of the model being trained"
    return None


def _stored(run: Run, event: Clip) -> Link | None:
    """The statement that keeps the generator under a name, `params = model.parameters()`: a list could be kept."""
    made = argument_history(run, event.where, [event.function], keyword="parameters")
    kept = [link for link in made if link.kind == "assigned" and isinstance(link.node, ast.Call | ast.Name)]
    unread = any(isinstance(link.node, ast.Call) and called(link.node) in _GENERATORS for link in made)
    return kept[0] if kept and unread else None


def _per_micro_batch(run: Run, event: Clip, total: int) -> Iterator[Finding]:
    """Clip, backward, clip, backward, step: a running sum that is clipped again with each part."""
    cycles = run.facts(Loop)
    steps = sum(cycle.count for cycle in cycles)
    guilty = sum(cycle.count for cycle in cycles if _clips_a_running_sum(cycle.ops, event.where.line))
    if steps < 4 or guilty < 0.5 * steps:
        return
    yield Finding(
        what=f"{event.function} runs on every micro-batch in {guilty:,} of {steps:,} steps, not on their sum",
        why="the running sum is clipped again with each micro-batch, so early ones count less than late ones",
        remedy="clip once, right before optimizer.step()",
        where=event.where,
        severity="warning",
        evidence=(Evidence(name="clips_per_step", value=round(total / steps, 2), limit="1"),),
        confidence=0.85,
    )


def _clips_a_running_sum(ops: Sequence[Sequence[Any]], line: int | None) -> bool:
    clipped = False
    for op, _, _, at_line, _ in ops:
        if op == "clip" and at_line == line:
            clipped = True
        elif op == "zero_grad":
            clipped = False
        elif op == "backward" and clipped:
            return True
    return False
