"""PM603."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from paramedic.record.facts import Labels, Loop, LossCall
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import label_batches


@rule("PM603", "accumulation-not-normalised", severity="warning", needs=[Loop, Labels])
def check(run: Run, *, ratio: float = 2.0, fewest: int = 6) -> Iterator[Finding]:
    """Micro-batches with very different numbers of labels get the same weight.

    Each micro-batch's loss is a mean over its own labels, and the means are added up.

    ## Why it hurts
    A token in a short micro-batch counts many times as much as one in a long micro-batch. The result differs from
    training with one large batch, although the losses look alike.

    ## What to try first
    `reduction="sum"` in each micro-batch, divided by the number of labels of the whole step.

    ## When this is wrong
    When every sequence is to have the same weight, whatever its length.

    ## Options
    `ratio`: largest to smallest number of labels within a step; `fewest`: steps to be seen.
    """
    accumulating = [loop for loop in run.facts(Loop) if sum(op[0] == "backward" for op in loop.ops) > 1]
    rounds = sum(loop.count for loop in run.facts(Loop))
    if sum(loop.count for loop in accumulating) < max(2.0, 0.3 * rounds):  # where phases meet, two passes may, too
        raise Abstain("gradients are not accumulated over several backward passes")
    lines = {(op[2], op[3]) for loop in accumulating for op in loop.ops if op[0] == "backward"}
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
            what=f"micro-batches of one step hold {min(sizes)} to {max(sizes)} labels but get equal weight "
            f"(typically {median(spread):.1f} times as many in the largest as in the smallest)",
            why="each loss is a mean over its own labels, so labels in short micro-batches count more",
            remedy='reduction="sum", divided by the number of labels of the whole step',
            where=calls[0].where,
            evidence=(Evidence(name="largest_to_smallest", value=round(median(spread), 2), limit=f"< {ratio:g}"),),
            confidence=0.85,
        )
