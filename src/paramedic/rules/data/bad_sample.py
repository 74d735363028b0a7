"""PM320."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paramedic.findings import Severity
from paramedic.record.facts import BadSample, Ended, Loader
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at, many, shape

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split


@rule("PM320", "bad-sample", severity="error", coverage=[Loader], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """A sample could not be loaded, or does not match the others in its batch.

    ## Why it hurts
    The run ends in the middle of an epoch, often after hours, and the message does not say which sample it was.

    ## What to try first
    Load that sample by its index and look at it. Then repair it, skip it, or bring all samples to the same size in the
    dataset or in a `collate_fn`.

    ## When this is wrong
    When the script catches the exception and continues.

    ## Options
    In an audit: `rare`: share of samples up to which another shape or type is odd, and not one of several sizes;
    `unsure`: the same where nobody knows how batches are put together; `samples`: the fewest that are judged.
    """
    ended = run.first(Ended)
    for event in run.facts(BadSample):
        if ended is None or not event.in_reader:
            continue
        which = f"sample {event.sample}" if event.sample is not None else _among(event.samples)
        problem = "does not match the others in its batch" if event.collate else "could not be loaded"
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


# In an audit: the data itself, before any training.
_MODE = "they have a different number of channels, so batching or the first layer fails"


def in_data(audit: Audit, *, rare: float = 0.05, unsure: float = 0.01, samples: int = 20) -> Iterator[Finding]:
    """Every failing sample is named; the rest is still audited."""
    from paramedic.audit.dense_labels import is_dense, misfitting

    for split in audit.splits:
        bad = split.sketch.bad
        if bad:
            kinds = Counter(sample.error.partition(":")[0] for sample in bad)
            failed = [sample.index for sample in bad]
            names = [sample.name or str(sample.index) for sample in bad]
            read = "used" if any(sample.column for sample in bad) else "read"
            yield Finding(
                what=f"{many(len(bad), 'sample')} of {split.name} cannot be {read} ({', '.join(kinds)}): "
                f"{', '.join(names[:5])}{f' and {len(names) - 5:,} more' if len(names) > 5 else ''}; "
                f"the first: {bad[0].error}",
                why="training stops at the first of them, in the middle of an epoch"
                if read == "read"
                else "such a cell stops the script or is misread",
                remedy=f"look at sample {names[0]}; repair these samples, or leave them out",
                evidence=(Evidence(name="failed", value=len(bad), limit="0"),),
                confidence=0.97,
                split=split.name,
                samples=tuple(failed),
                columns=tuple(dict.fromkeys(sample.column for sample in bad if sample.column)),
                files=tuple(sample.name for sample in bad if sample.name),
            )
        if is_dense(audit):
            yield from misfitting(split)
        most = max(rare * split.size, 1)
        if split.source.kind == "dataset":  # its collate function is not known, and may bring them to one size
            most = min(most, max(unsure * split.size, 3))
        for name, sketch in split.sketch.inputs.items():
            for what, counts in (("shape", sketch.shapes), ("type", sketch.types)):
                if split.size >= samples and counts.total() - max(counts.values(), default=0) <= most:
                    yield from _odd(split, name, what, counts, sketch.odd)
            if sketch.is_text and sketch.empty:
                yield _empty(split, name, sketch.empty, rare)
            if sketch.damaged:
                yield _damaged(split, name, sketch.damaged)


def _odd(split: Split, name: str, what: str, counts: Counter[Any], samples: dict[Any, list[int]]) -> Iterator[Finding]:
    """A few samples that differ from all others; not where sizes vary by design."""
    usual, most = counts.most_common(1)[0] if counts else ((), 0)
    others = [key for key in counts if key != usual]
    strange = sum(counts[key] for key in others)
    files = split.source.kind == "images"
    if not strange or not (split.source.fed or files):
        return
    if what == "shape" and len(usual) == 1 and all(len(key) == 1 for key in others):
        return  # sequences have lengths of their own, and a collate function that pads them
    odd = sorted(sample for key in others for sample in samples.get(key, []))
    ranks = what == "shape" and any(len(key) != len(usual) for key in others)
    severity: Severity = "error" if ranks or what == "type" or len(others) <= 3 else "warning"
    severity = "warning" if files else severity  # a transform may bring them to one size and colour mode
    yield Finding(
        what=f"{many(strange, 'sample')} of {split.name} {'has' if strange == 1 else 'have'} the {what} "
        f"{_shown(others[0])}{f' of {name}' if name else ''}; all others have {_shown(usual)}: {split.samples(odd)}",
        why="they cannot be batched with the others" if not (ranks and files) else _MODE,
        remedy='Image.open(path).convert("RGB") gives all images three channels'
        if ranks and files
        else "bring all samples to the same shape and dtype in the dataset, or repair these",
        evidence=(Evidence(name="odd", value=strange, limit=f"{most:,} others"),),
        confidence=0.93,
        severity=severity,
        split=split.name,
        samples=tuple(odd),
    )


def _empty(split: Split, name: str, samples: list[int], rare: float) -> Finding:
    few = len(samples) <= rare * split.size
    return Finding(
        what=f"{many(len(samples), 'text')} of {split.name}{f' in {name!r}' if name else ''} "
        f"{'is' if len(samples) == 1 else 'are'} empty: {split.samples(samples)}",
        why="there is nothing to learn from them, and their labels are noise",
        remedy="drop these samples, or find the step that lost their text",
        evidence=(Evidence(name="empty", value=len(samples), limit="0"),),
        confidence=0.95,
        severity="warning" if few else "note",
        split=split.name,
        samples=tuple(samples),
        columns=(name,) if name else (),
    )


def _damaged(split: Split, name: str, damaged: dict[int, str]) -> Finding:
    samples = sorted(damaged)
    return Finding(
        what=f"{many(len(samples), 'text')} of {split.name}{f' in {name!r}' if name else ''} "
        f"{'was' if len(samples) == 1 else 'were'} decoded with the wrong encoding, with letters such as "
        f"{damaged[samples[0]]!r}: {split.samples(samples)}",
        why="the same words are spelt differently elsewhere, so the model learns where a text comes from",
        remedy="read the files as UTF-8 (open(path, encoding='utf-8')); text.encode('cp1252').decode('utf-8') repairs "
        "what was read as Latin-1",
        evidence=(Evidence(name="damaged", value=len(samples), limit="0"),),
        confidence=0.95,
        severity="warning",
        split=split.name,
        samples=tuple(samples),
        columns=(name,) if name else (),
    )


def _shown(key: Any) -> str:
    return shape(key) if isinstance(key, tuple) else str(key)
