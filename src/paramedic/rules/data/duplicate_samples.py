"""PM308."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.rules import Abstain, Evidence, Finding, rule
from paramedic.rules.support import many

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split


@rule("PM308", "duplicate-samples", severity="warning", reads="audit")
def check(
    audit: Audit, *, share: float = 0.05, fewest: int = 10, meant: float = 0.2, near: int = 3
) -> Iterator[Finding]:
    """The data contains the same sample several times.

    Compared by content: exactly, and approximately for images (also mirrored), texts, and rows of numbers (with noise,
    or with one column changed). Found by `paramedic audit`.

    ## Why it hurts
    Duplicates get too much weight, and if the data is split later, they end up on both sides: validation then measures
    memory, not learning.

    ## What to try first
    Keep one of each group, or treat copies as one group in `GroupShuffleSplit`.

    ## When this is wrong
    Tables with few possible rows naturally repeat: that stays a note, as do a few copies with the same label. Equal
    samples with different labels are always a warning, unless rows are equal by chance. Rows count as near copies only
    if they are far closer than other neighbours, and than chance. Oversampling by a sampler is not reported.

    ## Options
    `share`: share of redundant samples above which it is a warning; `fewest`: their number; `meant`: share of samples
    with an equal one of another label above which the data was made that way; `near`: the fewest pairs of nearly equal
    texts with different labels, since a single one may turn on its one word.
    """
    from paramedic.audit.overlap import groups, oversampled

    for split in audit.splits:
        if not split.size:
            raise Abstain("no samples were read")
        if oversampled(split):
            raise Abstain("the loader's sampler draws samples repeatedly on purpose")
        exact = groups(split)
        copies = {index for group in exact for index in group}
        alike = [
            [pair.first, pair.second]
            for pair in audit.near.get((split.name, split.name), [])
            if not (pair.first in copies and pair.second in copies)
        ]
        if audit.task.kind == "classification":
            pairs = _conflicts(split, alike)
            yield from _contradictions(split, _conflicts(split, exact), pairs if len(pairs) >= near else [], meant)
        if exact or alike:
            yield _finding(split, exact, alike, share, fewest)


def _contradictions(split: Split, exact: list[list[int]], near: list[list[int]], meant: float) -> Iterator[Finding]:
    """One input with two labels. If there are many, they are intended: several annotators, or contrast pairs."""
    from paramedic.audit.overlap import rich

    prose = any(sketch.is_text for sketch in split.sketch.inputs.values())
    groups = [*exact, *(near if prose else [])]
    samples = list(dict.fromkeys(index for group in groups for index in group))
    if not groups or len(samples) > meant * split.size or not rich(split):
        return
    words = [many(len(exact), "group") + " of identical samples"] if exact else []
    words += [many(len(groups) - len(exact), "pair") + " of nearly identical texts"] if len(groups) > len(exact) else []
    yield Finding(
        what=f"{' and '.join(words)} of {split.name} {'has' if len(groups) == 1 else 'have'} different labels: "
        f"{split.samples(samples, 6)}",
        why="an input cannot belong to two classes: a label is wrong, or samples were mixed up",
        remedy="look at each group, keep the correct label, and drop the copies",
        evidence=(Evidence(name="groups", value=[group[:10] for group in groups[:20]], limit="none"),),
        severity="warning",
        confidence=0.93 if exact else 0.85,
        split=split.name,
        samples=tuple(samples),
    )


def _finding(split: Split, exact: list[list[int]], near: list[list[int]], share: float, fewest: int) -> Finding:
    from paramedic.audit.overlap import AGREEING, rich, same_targets

    extra = sum(len(group) - 1 for group in exact) + len({second for _, second in near})
    alike = same_targets(split, split, [(a, b) for a, b in near])
    other = alike is not None and alike < AGREEING and len(near) >= len(exact)
    serious = extra >= fewest and extra >= share * split.size and rich(split) and not other
    samples = list(dict.fromkeys(index for group in [*exact, *near] for index in group))
    kinds = [many(len(exact), "group") + " of identical samples"] if exact else []
    kinds += [many(len(near), "pair") + " of nearly identical ones"] if near else []
    example = (exact or near)[0]
    what = f"{extra:,} of {split.size:,} samples of {split.name} duplicate another one ({', '.join(kinds)}), such as "
    what += split.samples(example, 3)
    if other:
        what += f"; only {alike:.0%} of the pairs have the same target, so they may be meant to differ"
    return Finding(
        what=what,
        why="duplicates get too much weight, and leak into validation when the data is split",
        remedy="keep one of each group before splitting",
        evidence=(
            Evidence(name="superfluous", value=extra, limit=f"< {share:.0%} of {split.size:,}"),
            Evidence(name="groups", value=[group[:10] for group in [*exact, *near][:20]]),
        ),
        severity="warning" if serious else "note",
        confidence=0.9 if serious else 0.75,
        split=split.name,
        samples=tuple(samples),
    )


def _conflicts(split: Split, groups: list[list[int]]) -> list[list[int]]:
    """Groups of identical samples whose labels differ."""
    target = split.sketch.target
    labels = target.labels
    if labels is None:
        return []
    wanted = {index for group in groups for index in group}
    of = {
        index: label for index, label in zip(target.samples.tolist(), labels.tolist(), strict=True) if index in wanted
    }
    return [group for group in groups if len({of.get(index) for index in group}) > 1]
