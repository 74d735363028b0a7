"""PM515."""

from collections.abc import Iterator

from paramedic.record.facts import Ctc
from paramedic.rules import Evidence, Finding, Run, rule


@rule("PM515", "ctc-target-too-long", severity="error", needs=[Ctc], causes=["PM101", "PM104", "PM105"], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """A CTC target is too long for the number of input frames.

    A target of n labels needs n frames, plus one between any two equal neighbours.

    ## Why it hurts
    The loss of that sample is infinite, and its gradient NaN. With `zero_infinity=True` the sample is silently ignored.

    ## What to try first
    Drop such samples, or reduce the stride of the encoder. Check that `input_lengths` are those *after* the encoder, in
    frames.

    ## When this is wrong
    With `zero_infinity=True` a few such samples are only a note.
    """
    for event in run.facts(Ctc):
        if not event.short:
            continue
        fine = sum(e.count for e in run.facts(Ctc) if e.where.line == event.where.line and not e.short)
        tolerated = event.zero_infinity and fine > 4 * event.count
        yield Finding(
            what=f"{event.short} of {event.samples} targets need more frames than the input has: {event.needed}, "
            f"but it has {event.room}",
            why="no path through so few frames can produce the target"
            + ("; zero_infinity hides it" if event.zero_infinity else ", so the loss is infinite"),
            remedy="drop these samples, or reduce the encoder's stride",
            where=event.where,
            severity="note" if tolerated else "error",
            evidence=(Evidence(name="frames_needed", value=event.needed, limit=f"≤ {event.room}"),),
            confidence=0.97,
        )
