"""PM315."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.record.facts import Asked, Forward, Tokens
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import at

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


MUCH = 0.25  # of an answer; less may come from a recurrent network that reads padding before the rest


@rule("PM315", "padding-waste", severity="warning", coverage=[Forward], causes=["PM419"])
def check(run: Run, *, share: float = 0.5, fewest: int = 4, change: float = 0.1) -> Iterator[Finding]:
    """Most positions the model computes are padding, or padding changes its output.

    The latter is measured by running a copy of the model on short samples twice: together with longer ones, and alone,
    cut to their own maximum length.

    ## Why it hurts
    Wasted time and memory: half of the positions or more are empty. And if padding affects the output (a mean over all
    positions, the last state of a recurrent network that ran over the padding), the prediction for a sentence depends
    on the length of the others in its batch, and short ones are drowned out.

    ## What to try first
    Sort or bucket sequences by length, and pad each batch only to its own longest sequence. Average over real positions
    only: `(x * mask).sum(1) / mask.sum(1)`; pack the input of a recurrent network: `pack_padded_sequence`.

    ## When this is wrong
    When rows end in the same token for a reason other than padding. A model that is not told what is padding may learn
    to ignore it: that stays a note.

    ## Options
    `share`: share of padding above which it is reported; `fewest`: fewest batches seen; `change`: change of an
    output;
    `shortest`: tokens that a row must have in an audit.
    """
    yield from _answers(run, change)
    batches = [event for event in run.facts(Tokens, phase="train") if event.rows > 1 and event.longest > 1]
    if len(batches) < fewest:
        raise Abstain("too few batches of padded token ids were seen")
    padding = sum(event.padding for event in batches) / sum(event.rows * event.width for event in batches)
    if padding > share and len({event.value for event in batches}) == 1:
        yield Finding(
            what=f"{padding:.0%} of the positions in {len(batches)} batches are padding (id {batches[0].value})",
            why="the model computes them for nothing",
            remedy="batch sequences of similar length together, and pad each batch to its longest sequence",
            where=batches[0].where,
            evidence=(Evidence(name="padding", value=round(padding, 3), limit=f"≤ {share:g}"),),
            confidence=0.8,
            severity="note",  # it costs time, not the result
        )


def _answers(run: Run, change: float) -> Iterator[Finding]:
    """Outputs that depend on padding: a warning if the model is told what is padding."""
    asked = [(event, event.padding) for event in run.facts(Asked) if event.padding]
    # Where all batches are equally long, what padding adds to all answers alike does no harm.
    differ = len({padding.width for _, padding in asked}) > 1
    moved = [(event, p, gap) for event, p in asked if (gap := p.gap if differ else p.uneven) > change]
    if not moved or any(padding.gap <= change / 2 for _, padding in asked):
        return
    event, found, gap = moved[0]
    told = all(padding.told for _, padding, _ in moved)
    padding = "zeros" if found.value is None else f"id {found.value}"
    yield Finding(
        what=f"the outputs of {event.module} for short samples change by {gap:.0%} when padding "
        f"({padding}) is cut from {found.width} to {found.width - found.cut} positions",
        why="padding affects the output" + (", although the model is told what is padding" if told else ""),
        remedy="take each row's last real position: x[torch.arange(len(x)), lengths - 1]"
        if found.read_at
        else "exclude it from sums over positions: (x * mask).sum(1) / mask.sum(1), or pack_padded_sequence",
        where=at(event, found.read_at),
        evidence=(Evidence(name="change", value=round(gap, 4), limit=f"≤ {change:g}"),),
        confidence=0.85 if told else 0.7,
        severity="warning" if told and gap > MUCH else "note",
    )


# In an audit: the data itself, before any training.
def in_data(audit: Audit, *, share: float = 0.5, shortest: int = 8) -> Iterator[Finding]:
    """Rows of token ids that end in the same id."""
    import numpy as np

    judged = 0
    for name, values in audit.train.sketch.kept.inputs.items():
        tokens = isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 2
        if not tokens or not audit.train.source.fed or values.shape[1] < shortest or len(values) < 20:  # type: ignore[union-attr]
            continue
        judged += 1
        rows = np.asarray(values)
        if len(np.unique(rows[:, 0])) < 2 or rows.max() < 3:
            continue
        ends, counts = np.unique(rows[:, -1], return_counts=True)
        padding = ends[counts.argmax()]
        real = rows != padding
        length = np.where(real.any(axis=1), rows.shape[1] - real[:, ::-1].argmax(axis=1), 0)
        padded = 1 - float(length.mean()) / rows.shape[1]
        if padded > share and counts.max() > 0.5 * len(rows):
            yield Finding(
                what=f"{padded:.0%} of the positions of {name or 'the inputs'} are padding (id {padding}); the "
                f"longest of {len(rows):,} rows fills {int(length.max())} of {rows.shape[1]} positions",
                why="the model computes them for nothing",
                remedy="batch sequences of similar length together, and pad each batch to its longest sequence",
                evidence=(Evidence(name="padding", value=round(padded, 3), limit=f"≤ {share:g}"),),
                confidence=0.8,
                severity="note",
                split="train",
            )
    if not judged:
        raise Abstain("no rows of token ids were seen")
