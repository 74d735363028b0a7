"""PM306."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from paramedic.record.facts import Labels, Loader, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at
from paramedic.rules.support import label_batches
from paramedic.static.attributes import buffer_size_at
from paramedic.static.program import program

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split


@rule("PM306", "unshuffled-training-data", severity="warning", needs=[Labels], causes=["PM209"])
def check(run: Run, *, purity: float = 0.5, fewest: int = 10) -> Iterator[Finding]:
    """Training batches come sorted by class.

    ## Why it hurts
    The model sees one class for a while, then the next, and forgets the first. The loss is a sawtooth, and the
    result leans to the classes that came last.

    ## What to try first
    `shuffle=True` in the DataLoader, or permute the samples before each epoch.

    ## When this is wrong
    Full-batch training does not depend on the order and is not reported; neither are streams that mix the classes, nor
    batches of one kind each that come in any order: the frames of one recording, the pixels of one tile. Where the
    script draws its batches itself and no class ever comes back, it may be learning one class after the other on
    purpose.

    ## Options
    `purity`: how much more uniform than a shuffled batch the labels of a batch must be, from 0 to 1; `fewest`:
    batches to be seen.
    """
    for events in label_batches(run):
        steps = _of_whole_steps(events)
        batches = list(steps.values())
        pooled = sum(batches, Counter())
        if len(pooled) < 2 or len(events) < fewest or min(batch.total() for batch in batches) < 2:
            continue
        if len(batches) < fewest:
            raise Abstain("several batches of labels belong to one step, and too few steps were seen as a whole")
        if max(pooled.values()) > 0.9 * sum(pooled.values()):
            raise Abstain("one class makes up nearly all labels, so their order cannot be judged")
        if _set_by_hand(events):
            raise Abstain("labels are set batch by batch, as for the real and fake samples of a GAN")
        excess = _excess(batches, pooled)
        loader = _training_loader(run)
        shuffled = loader is not None and loader.sampler not in ("SequentialSampler",) and not loader.iterable
        if excess < purity or shuffled or not _in_order(steps):
            continue
        if loader is None and not _comes_back(steps):
            raise Abstain("classes come one after the other and none comes back, perhaps on purpose")
        yield Finding(
            what=f"training batches are sorted by class: two samples of a batch share their label {excess:.0%} more "
            f"often than in shuffled data ({len(batches)} batches, {len(pooled)} classes)",
            why="the model learns one class at a time and forgets the ones before"
            + (f"; the loader uses {loader.sampler}" if loader else ""),
            remedy=_remedy(loader),
            **edited_at(
                loader.where if loader else events[0].where,
                buffer_size_at(program(run)) if loader and loader.iterable else None,
            ),
            evidence=(
                Evidence(name="label_excess", value=round(excess, 3), limit=f"< {purity:g}"),
                Evidence(name="batches", value=len(batches)),
            ),
            confidence=0.92,
        )


def _remedy(loader: Loader | None) -> str:
    if loader is None:
        return "permute the samples before each epoch"
    if loader.iterable:
        return "mix the classes where the stream is written, or shuffle it with a buffer larger than a class"
    return "DataLoader(..., shuffle=True)"


def _set_by_hand(events: list[Labels]) -> bool:
    """Two labels, one per batch, in quick alternation: nobody's data, but 'real' and 'fake'."""
    labels = [next(iter(event.counts)) for event in events if len(event.counts) == 1]
    if events[0].classes != 2 or len(labels) < len(events):
        return False
    switches = sum(a != b for a, b in itertools.pairwise(labels))
    return switches > 0.1 * len(labels) or len(events) > 1.5 * len({event.step for event in events})


def _leading(batch: Counter[str]) -> str:
    return batch.most_common(1)[0][0]


def _in_order(steps: dict[int, Counter[str]]) -> bool:
    """Whether what a batch holds tells what the next one does: the same again, a higher class, always the same one."""
    pairs = [(_leading(a), _leading(steps[step + 1])) for step, a in steps.items() if step + 1 in steps]
    if not pairs:
        return True
    leaders = Counter(map(_leading, steps.values()))
    by_chance = sum((count / len(steps)) ** 2 for count in leaders.values())
    again = sum(a == b for a, b in pairs) / len(pairs)
    successors: dict[str, Counter[str]] = {}
    for first, second in pairs:
        successors.setdefault(first, Counter())[second] += 1
    foreseen = sum(max(found.values()) for found in successors.values()) / len(pairs)
    rising = sum(int(a) <= int(b) for a, b in pairs) / len(pairs)
    if again - by_chance > 0.5 * (1 - by_chance) or (len(pairs) >= 8 and rising >= 0.9):
        return True
    return len(pairs) >= 3 * len(successors) and foreseen > 0.75


def _comes_back(steps: dict[int, Counter[str]]) -> bool:
    course = [leader for leader, _ in itertools.groupby(_leading(batch) for batch in steps.values())]
    return len(course) > len(set(course))


def _of_whole_steps(events: list[Labels]) -> dict[int, Counter[str]]:
    """The labels that each step saw: of all heads of a model, of all parts of an accumulated batch.

    Many steps are seen in part; those with fewer batches than others say nothing, for each head has its own labels.
    """
    calls = Counter(event.step for event in events)
    usual = sorted(calls.values())[-3:][0]  # the most, but for one or two odd steps
    steps: dict[int, Counter[str]] = {step: Counter() for step, count in calls.items() if count >= usual}
    for event in events:
        if event.step in steps:
            steps[event.step].update(event.counts)
    return steps


def _excess(batches: list[Counter[str]], pooled: Counter[str]) -> float:
    """0 when batches are drawn at random, 1 when each holds one class: the chance-corrected agreement of two labels."""
    total = sum(pooled.values())
    by_chance = sum((count / total) ** 2 for count in pooled.values())
    together = pairs = 0
    for batch in batches:
        counts = list(batch.values())
        size = sum(counts)
        together += sum(count * (count - 1) for count in counts)
        pairs += size * (size - 1)
    return (together / max(pairs, 1) - by_chance) / (1 - by_chance)


def _training_loader(run: Run) -> Loader | None:
    trained = {event.loader for event in run.facts(TrainForward)}
    return next((loader for loader in run.facts(Loader) if loader.number in trained), None)


# In an audit: the data itself, before any training.
FEWEST = 50
EXCESS = 0.5


def in_data(audit: Audit) -> Iterator[Finding]:
    """A warning for a loader that keeps the order; a note for data that somebody else may shuffle."""
    import numpy as np

    labels = audit.train.sketch.target.labels
    if audit.task.kind != "classification" or labels is None or len(labels) < FEWEST:
        raise Abstain("there is no row of class labels to look at")
    _, counts = np.unique(labels, return_counts=True)
    by_chance = float(((counts / counts.sum()) ** 2).sum())
    if len(counts) < 2 or by_chance > 0.8:
        raise Abstain("one class makes up nearly all labels, so their order cannot be judged")
    excess = (float(np.mean(labels[1:] == labels[:-1])) - by_chance) / (1 - by_chance)
    if excess < EXCESS:
        return
    kept = _keeps_order(audit.train)
    if kept is False or audit.train.source.kind == "images":
        return  # folders are always read class by class
    yield Finding(
        what=f"the samples of train are sorted by class: neighbouring rows share their label "
        f"{excess:.0%} more often than in shuffled data",
        why="the loader gives them in this order: the model learns one class at a time and forgets the ones before"
        if kept
        else "a split by position gets other classes than the rest, and so do batches unless they are shuffled",
        remedy="DataLoader(..., shuffle=True)" if kept else "shuffle before splitting, and in the training loader",
        evidence=(Evidence(name="label_excess", value=round(excess, 3), limit=f"< {EXCESS:g}"),),
        confidence=0.92 if kept else 0.7,
        severity="warning" if kept else "note",
        split="train",
    )


def _keeps_order(split: Split) -> bool | None:
    """Whether batch after batch comes as the samples lie; None when there is no loader to ask."""
    if split.source.kind != "loader":
        return None
    loader = split.source.origin
    data: Any = getattr(loader, "dataset", ())
    if hasattr(data, "__len__") and (getattr(loader, "batch_size", None) or 0) >= len(data) > 0:
        return False  # every batch is all of it
    return type(getattr(loader, "sampler", None)).__name__ == "SequentialSampler"
