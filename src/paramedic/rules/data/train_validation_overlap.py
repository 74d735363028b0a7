"""PM307."""

from collections.abc import Iterator

from paramedic.findings import Severity
from paramedic.record.facts import EvalForward, FedRows, Forward, Loader, Overlap, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.splits import training_before, users
from paramedic.rules.support import many

_FEWEST = 20  # rows in common
_MOSTLY = 0.75  # of the rows that would be known if it were training data that is looked at: not all have been seen
_HELD_OUT = ("val", "test", "dev", "eval", "hold")


@rule("PM307", "train-validation-overlap", severity="error", needs=[Forward])
def check(run: Run, *, share: float = 0.02) -> Iterator[Finding]:
    """The same samples are used for training and evaluation.

    Compared by the index in the common dataset, and by content; where no loader is used, by the rows that the model
    is called with. `paramedic audit` compares near copies as well, and
    groups of samples that belong together (`patient_id`, `user`), which stays a note.

    ## Why it hurts
    The evaluation measures memory, not learning. It looks excellent until new data arrives.

    ## What to try first
    Split once, before anything else is done to the data, and give each loader its own `Subset`. `subset.dataset` is
    the whole dataset, not the part.

    ## When this is wrong
    Evaluating on a part of the training data is fine when other data is evaluated as well; that stays a note, as does
    a loader with "train" in its name.

    ## Options
    `share`: the share of the evaluated samples that may occur in the training data.
    """
    loaders = {loader.number: loader for loader in run.facts(Loader)}
    trained, evaluated = users(run, TrainForward), users(run, EvalForward)
    only_evaluated = {number: events for number, events in evaluated.items() if number not in trained}
    if not loaders:
        yield from _without_loaders(run, share)
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
            shared = _shared(event) if event is not None else None
            if shared is not None and shared[0] > share:
                found.append((number, other, *shared))
                break
    clean = set(only_evaluated) - {number for number, *_ in found}
    for number, other, part, count, how in found:
        yield _finding(loaders[number], loaders[other], part, count, how, others_clean=bool(clean))


def _without_loaders(run: Run, share: float) -> Iterator[Finding]:
    """A part of what one call evaluates was trained on: neither new data nor a look back at the training data."""
    groups: dict[tuple[str, int], list[FedRows]] = {}
    for event in run.facts(FedRows):
        groups.setdefault((event.line, event.step), []).append(event)
    for calls in groups.values():
        partly = [c for c in calls if c.known > 0.6 and share < c.shared / c.rows < _MOSTLY * c.known]
        count, total = sum(c.shared for c in partly), sum(c.shared for c in calls)
        # All of the training data, and more, may be looked at as a whole.
        if count < _FEWEST or count < 0.9 * total or total > 0.5 * calls[0].trained:
            continue
        part = count / sum(c.rows for c in partly)
        yield Finding(
            what=f"{part:.0%} of the different rows that {calls[0].module} is evaluated on ({many(count, 'row')}) were "
            "trained on before",
            why="copies of them are in the training part: data was oversampled, or has duplicates, before the split",
            remedy="split first; oversample or augment only the training part afterwards",
            where=calls[0].where,
            severity="warning",
            evidence=(Evidence(name="share_in_training", value=round(part, 4), limit="0"),),
            confidence=0.9,
        )
        return


def _finding(loader: Loader, train: Loader, part: float, count: int, how: str, *, others_clean: bool) -> Finding:
    function = loader.where.function or ""
    name = (loader.variable or (function if "loader" in function else "")).lower()
    declared = "train" in name
    held_out = any(word in name for word in _HELD_OUT) and not declared
    whole = loader.size == train.size and part > 0.99
    severity: Severity = "note" if declared or (others_clean and not held_out) else "error"
    if severity == "error" and not held_out:
        severity = "note" if whole else "warning"  # nothing says that this was meant to be new data
    shown = loader.variable or "the evaluation's loader"
    why = f"{train.variable or 'the training loader'} gives them as well"
    if whole:
        why += "; both loaders read the whole dataset: a Subset's .dataset is not the subset"
    return Finding(
        what=f"{part:.0%} of the samples that {shown} gave ({many(count, 'sample')}) are also trained on (by {how})",
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
    # Contents that repeat among different samples (few possible values) coincide by chance as well.
    mine, others = (event.first_rows, event.first_contents), (event.other_first_rows, event.other_first_contents)
    repeated = max(_repeated(*mine), _repeated(*others))
    return (part, event.shared_contents, "content") if part > 5 * repeated else None


def _repeated(samples: int, contents: int) -> float:
    """The share of different samples of a loader that have the content of another one."""
    return 1 - contents / samples if samples else 1.0
