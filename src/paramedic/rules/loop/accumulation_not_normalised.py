"""PM603."""

import ast
import contextlib
from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from paramedic.record.facts import Backward, Loop, LossCall
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at, spelled_at
from paramedic.rules.outcome import optimizer_of
from paramedic.rules.overshooting import PUSH, overshoot
from paramedic.rules.support import label_batches
from paramedic.static.history import Link
from paramedic.static.program import own_nodes, program

_GROWS = ("SGD", "ASGD")  # of torch's optimizers, those whose steps grow with the gradient; the others divide by it
_OVERSHOT = ["PM10", "PM201", "PM202", "PM203", "PM205", "PM207", "PM208", "PM209", "PM210", "PM213"]


@rule("PM603", "accumulation-not-normalised", severity="warning", needs=[Loop], causes=_OVERSHOT)
def check(run: Run, *, ratio: float = 2.0, fewest: int = 6, passes: int = 4) -> Iterator[Finding]:
    """Gradients of micro-batches are added up as they are, without regard to how many there are, or how large.

    Each micro-batch's loss is a mean over its own labels, and the means are added up.

    ## Why it hurts
    The sum over 32 micro-batches is 32 times as large as the gradient of one large batch, and so is the step. A token
    in a short micro-batch counts many times as much as one in a long micro-batch. The result differs from training
    with one large batch, although the losses look the same.

    ## What to try first
    `(loss / accumulation_steps).backward()`. Where micro-batches differ in size, `reduction="sum"` in each of them,
    divided by the number of labels of the whole step.

    ## When this is wrong
    When every sequence should have the same weight, whatever its length. A sum that nobody divides is a note, because
    the learning rate may have been chosen for it; it is an alarm if the steps are so large that the loss rose, and
    those of a mean would not be. Adam and its relatives rescale their steps, so a sum does them no harm.

    ## Options
    `ratio`: largest to smallest number of labels within a step; `fewest`: fewest steps seen; `passes`: fewest
    micro-batches whose sum may be too large.
    """
    accumulating = [loop for loop in run.facts(Loop) if sum(op[0] == "backward" for op in loop.ops) > 1]
    rounds = sum(loop.count for loop in run.facts(Loop))
    if sum(loop.count for loop in accumulating) < max(2.0, 0.3 * rounds):  # where phases meet, two passes may, too
        raise Abstain("gradients are not accumulated over several backward passes")
    lines = {(op[2], op[3]) for loop in accumulating for op in loop.ops if op[0] == "backward"}
    yield from _sum_too_large(run, accumulating, lines, passes)
    for events in label_batches(run):
        place = (events[0].where.file, events[0].where.line)
        calls = [c for c in run.facts(LossCall, phase="train") if (c.where.file, c.where.line) == place]
        if not calls or any(c.reduction != "mean" or c.weighted for c in calls) or len(lines) > 1:
            continue
        per_step: dict[int, list[int]] = defaultdict(list)
        for event in events:
            per_step[event.step].append(sum(event.counts.values()))
        spread = [max(n) / min(n) for n in per_step.values() if len(n) > 1 and min(n) > 0]
        if len(spread) < fewest or median(spread) < ratio:
            continue
        sizes = [count for counts in per_step.values() for count in counts]
        yield Finding(
            what=f"micro-batches of one step have {min(sizes)} to {max(sizes)} labels but equal weight "
            f"(typically {median(spread):.1f} times as many in the largest as in the smallest)",
            why="each loss is a mean over its own labels, so labels in short micro-batches count more",
            remedy='reduction="sum", divided by the number of labels of the whole step',
            where=calls[0].where,
            evidence=(Evidence(name="largest_to_smallest", value=round(median(spread), 2), limit=f"< {ratio:g}"),),
            confidence=0.85,
        )


def _sum_too_large(
    run: Run, accumulating: list[Loop], lines: set[tuple[str | None, int | None]], fewest: int
) -> Iterator[Finding]:
    """Steps that destroy what was learnt, made of sums that nobody has divided."""
    many = round(median(sum(op[0] == "backward" for op in loop.ops) for loop in accumulating))
    passes = [event for event in run.facts(Backward) if (event.where.file, event.where.line) in lines]
    calls = run.facts(LossCall, phase="train")
    reductions = {call.reduction for call in calls}
    direct = bool(passes) and all(event.direct for event in passes) and reductions == {"mean"}
    by_hand = bool(passes) and all(event.averaged for event in passes) and reductions == {"none"}
    optimizer = optimizer_of(run)
    if len(lines) != 1 or many < fewest or not (direct or by_hand) or optimizer is None:
        return
    if optimizer.class_ not in _GROWS:
        return
    found = None
    with contextlib.suppress(Abstain):  # whether the steps are too large may be unknown; that they are sums is not
        found = overshoot(run)
    handed = _handed_over(run, passes[0], calls[0])
    places = edited_at(passes[0].where, handed)
    remedy = f"(loss / {many}).backward(): the mean over the micro-batches, as of one large batch"
    if handed is not None:
        remedy = f"divide it by {many}, the number of micro-batches (Hugging Face: losses.sum() / num_items_in_batch)"
    counted = Evidence(name="micro_batches_per_step", value=many)
    if found is None or found.begun / many >= PUSH:
        yield Finding(
            what=f"the gradients of {many} micro-batches are added up, not averaged",
            why=f"each step is {many} × as long as that of one large batch with the same learning rate",
            remedy=f"{remedy}; or leave it, if the learning rate was chosen for the sum",
            **places,
            evidence=(counted,),
            severity="note",
            confidence=0.7,
        )
        return
    yield Finding(
        what=f"the gradients of {many} micro-batches are added up, not averaged: each step is {many} × too large",
        why=f"a step changes the weights by {found.begun:.0%} of their size; {found.story}",
        remedy=remedy,
        **places,
        evidence=(
            counted,
            Evidence(name="update_to_weight", value=float(f"{found.begun:.3g}"), limit=f"< {found.limit:g}"),
        ),
        confidence=0.93,
    )


def _handed_over(run: Run, event: Backward, call: LossCall) -> Link | None:
    """Where a library differentiates it, the only `return` of the function that computes the loss."""
    scope = program(run).scope(call.where.file, call.where.line)
    if spelled_at(run, event.where, ["backward"]) or scope is None or scope.function is None:
        return None
    returns = [node for node in own_nodes(scope.body) if isinstance(node, ast.Return) and node.value is not None]
    found = [Link(node.lineno, node.value, scope, "returned") for node in returns if node.value is not None]
    return found[0] if len(found) == 1 else None
