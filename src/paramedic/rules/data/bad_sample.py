"""PM320."""

from collections.abc import Iterator, Sequence

from paramedic.record.facts import BadSample, Ended, Loader
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at


@rule("PM320", "bad-sample", severity="error", needs=[Loader])
def check(run: Run) -> Iterator[Finding]:
    """A sample could not be loaded, or does not match the others in its batch.

    ## Why it hurts
    The run ends in the middle of an epoch, often after hours, and the message does not say which sample it was.

    ## What to try first
    Load that one sample by its index and look at it. Then repair it, skip it, or bring all samples to one size in the
    dataset or in a `collate_fn`.

    ## When this is wrong
    When the script catches the exception and goes on.
    """
    ended = run.first(Ended)
    for event in run.facts(BadSample):
        if ended is None or not event.in_reader:
            continue
        which = f"sample {event.sample}" if event.sample is not None else _among(event.samples)
        problem = "does not match the others in its batch" if event.collate else "could not be made"
        yield Finding(
            what=f"{which} of the dataset {problem}: {event.type}: {event.message}",
            why="the loader stops at the first sample that fails",
            remedy=f"look at dataset[{event.sample if event.sample is not None else 'i'}]; repair or skip it",
            where=at(event, event.reader) if event.collate or event.where.file is None else event.where,
            evidence=(Evidence(name="sample", value=event.sample if event.sample is not None else "unknown"),),
            confidence=0.93,
        )


def _among(samples: Sequence[int]) -> str:
    return f"one of the samples {', '.join(map(str, samples[:8]))}" if samples else "a sample"
