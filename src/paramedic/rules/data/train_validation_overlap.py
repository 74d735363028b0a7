"""PM307."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.record.facts import EvalForward, FedRows, Forward, Loader, Overlap, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import (
    argument_history,
    caller,
    common,
    edited_at,
    first_link,
    in_common,
    model_input_history,
    outermost,
)
from paramedic.rules.splits import training_before, users
from paramedic.rules.support import many
from paramedic.static.history import Link
from paramedic.static.program import statement_at
from paramedic.static.signs import draws_again, parts_at_random

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit
    from paramedic.audit.models.interleaved import Interleaved


_FEWEST = 20  # rows in common
_MOSTLY = 0.75  # of the rows that would be known if it were training data that is looked at: not all have been seen
_COPIES = 5  # rows that one batch of a loader holds twice: nobody makes such data by a plain split
_STRETCHES = 200  # of the evaluated data: fewer say little
STRETCH = 8  # values
_HELD_OUT = ("val", "test", "dev", "eval", "hold")


@rule("PM307", "train-validation-overlap", severity="error", coverage=[Forward])
def check(run: Run, *, share: float = 0.02, windows: float = 0.5) -> Iterator[Finding]:
    """The same samples are used for training and evaluation.

    Compared by index in the shared dataset, and by content; without a loader, by the rows the model is called with.
    Windows of a series that overlap are compared by the stretches they have in common.
    `paramedic audit` also compares near copies, and groups of samples that belong together (`patient_id`, `user`),
    which stays a note.

    ## Why it hurts
    The evaluation measures memory, not learning. It looks excellent until new data arrives.

    ## What to try first
    Split once, before anything else is done to the data, and give each loader its own `Subset`. `subset.dataset` is the
    whole dataset, not the subset. Overlapping windows: split by time, or by recording, before cutting windows.

    ## When this is wrong
    Evaluating on part of the training data is fine if other data is evaluated as well; that stays a note, as does a
    loader with "train" in its name.

    ## Options
    `share`: share of the evaluated samples that may occur in the training data. `windows`: share of the evaluated
    stretches of series that may; where a series is split in time, the windows at the border share some. In an audit,
    which compares all samples, near copies too: `copies`: the same share.
    """
    loaders = {loader.number: loader for loader in run.facts(Loader)}
    trained, evaluated = users(run, TrainForward), users(run, EvalForward)
    only_evaluated = {number: events for number, events in evaluated.items() if number not in trained}
    if not loaders:
        yield from _without_loaders(run, share)
        return
    if trained and not only_evaluated and (copied := list(_without_loaders(run, share, copies=_COPIES))):
        yield from copied
        return
    if not trained or not only_evaluated:
        raise Abstain("no loader was used for evaluation only")
    # The last comparison counts; but once a dataset is gone, indices cannot be compared any more.
    known = sorted(run.facts(Overlap), key=lambda event: event.shared_indices > 0)
    overlaps = {(event.loader, event.other): event for event in known}
    found = []
    for number, events in only_evaluated.items():
        for other in training_before(events, trained):
            event = overlaps.get((number, other))
            if event is None:
                continue
            copies = not event.shared_indices and event.shared_contents > share * max(event.contents, 1)
            link = _oversampled(run, loaders[number], loaders[other]) if copies else None
            if link is not None:
                yield _copied(event, loaders[number], link)
                return
            shared = _shared(event)
            if shared is not None and shared[0] > share:
                found.append((number, other, *shared, _all_seen(event)))
                break
            most = windows * _share_seen(event, loaders[other])
            if event.stretches >= _STRETCHES and event.shared_stretches > most * event.stretches:
                yield _windows(run, event, loaders[number], loaders[other], most)
                return
    clean = set(only_evaluated) - {number for number, *_ in found}
    for number, other, part, count, how, all_seen in found:
        yield _finding(loaders[number], loaders[other], part, count, how, all_seen, others_clean=bool(clean))


def _share_seen(event: Overlap, train: Loader) -> float:
    """Of the training data: what has not been looked at, as in steps that ran untouched, cannot be recognised."""
    return min(1.0, max(0.5, event.other_contents / train.size)) if train.size else 1.0


def _without_loaders(run: Run, share: float, copies: int = 0) -> Iterator[Finding]:
    """Part of what one call evaluates was trained on: neither new data nor an evaluation of the training data.

    With a training loader, rows may be re-evaluated on purpose: then copies must have been seen.
    """
    groups: dict[tuple[str, int], list[FedRows]] = {}
    for event in (event for event in run.facts(FedRows) if event.twice >= copies):
        groups.setdefault((event.line, event.step), []).append(event)
    for calls in groups.values():
        partly = [c for c in calls if c.known > 0.6 and share < c.shared / c.rows < _MOSTLY * c.known]
        count, total = sum(c.shared for c in partly), sum(c.shared for c in calls)
        # All of the training data, and more, may be looked at as a whole.
        if count < _FEWEST or count < 0.9 * total or total > 0.5 * calls[0].trained:
            continue
        part = count / sum(c.rows for c in partly)
        yield Finding(
            what=f"{part:.0%} of the distinct rows that {calls[0].module} is evaluated on ({many(count, 'row')}) were "
            "already trained on",
            why="the evaluation measures memory: the data was oversampled before the split, or contains duplicates",
            remedy="split first, then oversample or augment only the training part",
            **edited_at(calls[0].where, _parted(run, calls[0])),
            severity="warning",
            evidence=(Evidence(name="share_in_training", value=round(part, 4), limit="0"),),
            confidence=0.9,
        )
        return


def _parted(run: Run, evaluated: FedRows) -> Link | None:
    """Where rows are drawn with replacement; else the last statement that both went through, which splits the data."""
    trained = [call for call in run.facts(TrainForward) if call.module == evaluated.module]
    seen = model_input_history(run, evaluated.where)
    learnt = model_input_history(run, trained[0].where) if trained else []
    copied = first_link(in_common(seen, learnt), draws_again)
    return caller(copied) if copied is not None else common(seen, learnt)


def _oversampled(run: Run, loader: Loader, train: Loader) -> Link | None:
    """Where rows are drawn with replacement before the split: copies end up on both sides."""
    mine = argument_history(run, loader.where, ("DataLoader",), 0, "dataset")
    theirs = argument_history(run, train.where, ("DataLoader",), 0, "dataset")
    return first_link(in_common(mine, theirs), draws_again)


def _copied(event: Overlap, loader: Loader, link: Link) -> Finding:
    part = event.shared_contents / max(event.contents, 1)
    return Finding(
        what=f"{part:.0%} of the samples that {loader.variable or 'the evaluation loader'} returned "
        f"({many(event.shared_contents, 'sample')}) are also trained on (by content)",
        why="rows are drawn with replacement before the split, so copies of a row are on both sides",
        remedy="split first, then oversample only the training part",
        **edited_at(loader.where, outermost(link)),
        evidence=(Evidence(name="share_in_training", value=round(part, 4), limit="0"),),
        confidence=0.9,
        severity="error",
    )


def _windows(run: Run, event: Overlap, loader: Loader, train: Loader, most: float) -> Finding:
    part = event.shared_stretches / event.stretches
    return Finding(
        what=f"the windows that {loader.variable or 'the evaluation loader'} returned overlap with training windows: "
        f"{part:.0%} of their values, in stretches of {STRETCH}, are trained on as well",
        why="windows of one series were split at random, so each has neighbours in the training data that share most "
        "of its values: the evaluation measures memory",
        remedy="split by time or by recording first, then cut windows from each part",
        **edited_at(loader.where, _split_at(run, loader, train)),
        evidence=(Evidence(name="stretches_in_training", value=round(part, 3), limit=f"≤ {most:.3g}"),),
        confidence=0.93,
        severity="error",
    )


def _split_at(run: Run, loader: Loader, train: Loader) -> Link | None:
    """Where the indices of both subsets, or else the samples themselves, were dealt out at random."""
    for names, position, keyword in ((("Subset",), 1, "indices"), (("DataLoader",), 0, "dataset")):
        mine, theirs = (argument_history(run, each.where, names, position, keyword) for each in (loader, train))
        kept = [link for link in in_common(mine, theirs) if not _loops(link)]
        if found := first_link(kept, parts_at_random):
            return found
    return common(mine, theirs)


def _loops(link: Link) -> bool:
    """`for k in rng.permutation(n)`: an order in which something is made, not one that parts it."""
    return isinstance(statement_at(link.scope, link.line), ast.For)


def _finding(
    loader: Loader, train: Loader, part: float, count: int, how: str, all_seen: bool, *, others_clean: bool
) -> Finding:
    function = loader.where.function or ""
    name = (loader.variable or (function if "loader" in function else "")).lower()
    declared = "train" in name
    held_out = any(word in name for word in _HELD_OUT) and not declared
    whole = loader.size == train.size and (part > 0.99 or all_seen)
    severity: Severity = "note" if declared or (others_clean and not held_out) else "error"
    if severity == "error" and not held_out:
        severity = "note" if whole else "warning"  # nothing says that this was meant to be new data
    shown = loader.variable or "the evaluation loader"
    why = f"{train.variable or 'the training loader'} returns them as well"
    if whole:
        why += "; both loaders read the whole dataset: a Subset's .dataset is not the subset"
    return Finding(
        what=f"{part:.0%} of the samples that {shown} returned ({many(count, 'sample')}) are also trained on (by "
        f"{how})",
        why=why,
        remedy="split first and give each loader its own Subset; deduplicate the data before the split",
        where=loader.where,
        severity=severity,
        evidence=(Evidence(name="share_in_training", value=round(part, 4), limit="0"),),
        confidence=0.97 if how == "index" else 0.93,
    )


def _shared(event: Overlap) -> tuple[float, int, str] | None:
    if event.shared_indices:
        return event.shared_indices / event.indices, event.shared_indices, "index"
    part = event.shared_contents / max(event.contents, 1)
    # Contents that repeat among different samples (few possible values) coincide by chance as well; not if hardly two
    # samples share a single value: then they are copies, of rows that were drawn again before the split.
    mine, others = (event.first_rows, event.first_contents), (event.other_first_rows, event.other_first_contents)
    repeated = max(_repeated(*mine), _repeated(*others))
    return (part, event.shared_contents, "content") if part > 5 * repeated or event.continuous else None


def _all_seen(event: Overlap) -> bool:
    """Whether as good as every training sample was evaluated whose content is known: not all are looked at."""
    return not event.shared_indices and event.shared_contents > 0.99 * event.other_contents


def _repeated(samples: int, contents: int) -> float:
    """The share of distinct samples of a loader with the same content as another one."""
    return 1 - contents / samples if samples else 1.0


# In an audit: the data itself, before any training.
FEWEST = 3


def in_data(audit: Audit, *, copies: float = 0.01, windows: float = 0.5) -> Iterator[Finding]:
    """An error if it spoils the validation; a note for single copies, and for tables with few possible rows."""
    from paramedic.audit.models.interleaved import interleaved
    from paramedic.audit.models.misses import coincide
    from paramedic.audit.models.windows import common_stretches
    from paramedic.audit.models.worth import leak_worth
    from paramedic.audit.overlap import AGREEING, near_across, rich, same_rows, same_targets, shared

    if audit.val is None:
        raise Abstain("no validation data was given (--val)")
    size = audit.val.size
    by_index = same_rows(audit.train, audit.val)
    if by_index is not None and len(by_index.samples):
        whole = len(by_index.samples) >= size
        why = "both are parts of one dataset" + (
            "; a Subset's .dataset is the whole dataset, not the subset" if whole else ""
        )
        yield _finding_in_data(audit, by_index.samples.tolist(), [], "by index", why, "error")
        return
    yield from _by_owner(audit)
    in_part = common_stretches(audit.train, audit.val)
    if in_part is not None and in_part > windows:
        yield _overlapping(in_part, windows)
        return
    if (between := interleaved(audit)) is not None:
        yield _in_time(between)
        return
    exact = shared(audit.train, audit.val)
    near = near_across(audit)
    samples = exact.samples.tolist() + list(dict.fromkeys(sample for sample, _ in near))
    if not samples:
        return
    pairs = list(zip(exact.samples.tolist(), exact.twins.tolist(), strict=True)) + near
    alike = same_targets(audit.train, audit.val, [(twin, sample) for sample, twin in near])
    other = alike is not None and alike < AGREEING and len(exact.samples) < len(samples) / 2
    serious = len(samples) >= FEWEST and len(samples) >= copies * size and not other
    chance = not rich(audit.train) or coincide(audit.train, audit.val)
    severity: Severity = "error" if serious and not chance else "note"
    how = "by content" if not near else ("nearly the same" if not len(exact.samples) else "the same or nearly so")
    why = "validation then measures memory, not learning"
    why = "with so few distinct values, rows coincide by chance" if chance else why
    why += f"; sample {pairs[0][0]} of val is sample {pairs[0][1]} of train, for example"
    why += f", but only {alike:.0%} of the pairs have the same target, so they may be meant to differ" if other else ""
    gain = leak_worth(audit, samples) if severity == "error" else ""
    yield _finding_in_data(audit, samples, pairs, how, why + gain, severity)


def _overlapping(part: float, limit: float) -> Finding:
    return Finding(
        what=f"windows of val overlap with windows of train: {part:.0%} of their values, in stretches of {STRETCH}, "
        "are in train as well, further on or back",
        why="windows of one series were split at random, so each has neighbours in train that share most of its "
        "values: validation then measures memory, not learning",
        remedy="split by time or by recording first, then cut windows from each part",
        evidence=(Evidence(name="stretches_in_training", value=round(part, 3), limit=f"{limit:g}"),),
        confidence=0.93,
        severity="error",
        split="val",
    )


def _in_time(found: Interleaved) -> Finding:
    return Finding(
        what=f"val lies between the samples of train in time: by {found.column!r}, {found.share:.0%} of its samples "
        f"come right before or after one of train; in train, a forest is right in {found.mixed:.1%} when split at "
        f"random, in {found.apart:.1%} when split in blocks of time",
        why="a series was split at random by row, and neighbours in time are nearly the same: validation then measures "
        "memory, not learning",
        remedy=f"split at a date: sort by {found.column!r} and take the end as val (TimeSeriesSplit for several)",
        evidence=(Evidence(name="share_beside_training", value=round(found.share, 3)),),
        confidence=0.9,
        severity="warning",
        split="val",
        columns=(found.column,),
    )


def _by_owner(audit: Audit) -> Iterator[Finding]:
    """A note, since only the user knows whether new data will come from new groups or known ones; a warning where
    nothing is left to predict of a known one, and knowing them is most of what is learnt."""
    from paramedic.audit.owners import divided, worth

    assert audit.val is not None
    found = divided(audit.train, audit.val)
    if found is None:
        return
    part = len(found.samples) / max(audit.val.size, 1)
    gain = worth(audit, found.column)
    spoilt = gain is not None and gain.spoils and part > 0.5
    yield Finding(
        what=f"{many(len(found.samples), 'sample')} of val ({part:.1%}) belong to a {found.column!r} that is also in "
        "train"
        f": {found.owners:,} of the {found.of:,} in val{gain or ''}",
        why="a model may recognise them instead of learning the task"
        + (f": all samples of one {found.column!r} have the same target" if spoilt else ""),
        remedy="unless new data will come from the same ones, split by group: "
        f"GroupShuffleSplit(test_size=0.2).split(x, groups=table[{found.column!r}]); --clean-val OUT drops them",
        evidence=(Evidence(name="share_of_known_owners", value=round(part, 4), limit="0"),),
        confidence=0.9 if spoilt else 0.75,
        severity="warning" if spoilt else "note",
        split="val",
        samples=tuple(found.samples.tolist()),
    )


def _finding_in_data(
    audit: Audit, samples: list[int], pairs: list[tuple[int, int]], how: str, why: str, severity: Severity
) -> Finding:
    assert audit.val is not None
    part = len(samples) / max(audit.val.size, 1)
    return Finding(
        what=f"{many(len(samples), 'sample')} of val ({part:.1%}) {'is' if len(samples) == 1 else 'are'} also in train "
        f"({how}): {audit.val.samples(samples)}",
        why=why,
        remedy="remove them from val (--clean-val OUT writes it without them), or split by groups of identical samples",
        evidence=(
            Evidence(name="share_in_training", value=round(part, 4), limit="0"),
            Evidence(name="pairs", value=[list(pair) for pair in pairs[:20]]),
        ),
        confidence=0.97 if how in ("by index", "by content") else 0.9,
        severity=severity,
        split="val",
        samples=tuple(samples),
    )
