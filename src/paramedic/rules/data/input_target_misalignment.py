"""PM311."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.record.facts import Confusion, Input, LabelledSamples, Loader, Partners, Trial
from paramedic.rules import Abstain, Evidence, Finding, Run, Where, rule
from paramedic.rules.confusion import by_chance, varies
from paramedic.rules.curves import loss_curves
from paramedic.rules.evaluations import mean_losses
from paramedic.rules.experiments import Lab, at
from paramedic.rules.lines import Places, argument_history, edited_at, first_link
from paramedic.rules.outcome import Outcome, last_outcome, outcome
from paramedic.rules.relation import BY_CHANCE, relation
from paramedic.rules.support import at as place
from paramedic.static.history import Link
from paramedic.static.program import program
from paramedic.static.shuffling import read_shuffled
from paramedic.static.signs import lists_files

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule(
    "PM311",
    "input-target-misalignment",
    severity="error",
    causes=["PM207", "PM209", "PM212", "PM213", "PM322"],
)
def check(run: Run, *, structured: float = 1.3, random: float = 0.3) -> Iterator[Finding]:
    """Labels do not match their inputs: paired wrongly, or numbered differently for evaluation.

    The first is found by experiments (`paramedic diagnose`): the real labels work no better than permuted ones, for
    this model and for simple ones. A run that learnt nothing asks simple models as well, about the samples it has
    kept. Or many of the labels are random: simple models agree on most samples, and the
    labels that contradict them are spread evenly over all other classes. The second shows in a run: in the evaluation
    almost every sample of a class gets the same wrong prediction, a different one for each class. Targets that are
    images, such as masks, are compared with all the images: each should fit its own best.

    ## Why it hurts
    Inputs and labels were sorted or shuffled separately, read from files in a different order, or shifted by one. The
    model can only learn how often each label occurs, or memorise the samples. If training and validation number their
    classes separately (`sorted(os.listdir(...))` of folders that differ), a good model looks worthless.

    ## What to try first
    Look at ten samples next to their labels. Then find where inputs and labels are loaded, sorted, shuffled or split:
    both must go through it together. Number the classes once, from the training data, and use that numbering
    everywhere. Tags that stand one token too far in some sentences (`paramedic audit`): export these again.

    ## When this is wrong
    With few samples, a hard task with a weak signal looks the same. It is reported only if simple models find nothing
    in hundreds of samples either, and if the model is able to learn a single batch, or synthetic data with a simple
    rule. If not even the features depend on each other, that is PM322.

    ## Options
    `structured`: how much the features depend on each other; 1 is pure noise. `random`: share of random
    labels. In an audit: `chance`: the p-value above which no relation counts as found.
    """
    yield from _targets_of_others(run)
    yield from _renumbered(run)
    yield from _nothing_carries_over(run)
    yield from _unrelated(run, structured)
    if not run.facts(Trial):
        raise Abstain("this needs experiments (paramedic diagnose)")
    lab = Lab(run)
    permuted = lab.get("permuted-labels")
    if permuted is None:
        raise Abstain("the labels could not be permuted, or are not used")
    if lab.signal is None:
        raise Abstain("there were too few samples, or they are too complex for simple models")
    yield from _dealt_at_random(lab, random)
    if lab.trouble not in ("flat", "memorises") or lab.signal != "none":
        return
    if lab.needs_time:
        raise Abstain("the script was stopped early and may simply be slow")
    answer = lab.tried["simple-models"].answer
    if not (lab.learns_twin or lab.learns_one_batch) or answer["structure"] < structured:
        return  # features that are mere noise are another illness
    able = "synthetic data with a simple rule" if lab.learns_twin else "a single batch"
    loader = run.first(Loader)
    held = lab.get("held-out")
    only = f", and at {held.exam:.3g} on unseen samples" if held is not None and held.exam is not None else ""
    yield Finding(
        what=f"the loss ends at {lab.base.last:.3g} with the real labels{only}; permuted, at {permuted.last:.3g}",
        why=f"inputs and labels do not match, or the inputs say nothing about them: the model can "
        f"learn {able}, and in {answer['samples']:,} samples a {answer['best']} also finds nothing",
        remedy="look at ten samples next to their labels, then at where both are read, sorted or shuffled",
        where=at(loader),
        evidence=(
            lab.base.evidence(),
            permuted.evidence(),
            Evidence(name=f"best of the simple models ({answer['best']})", value=round(answer["score"], 3),
                     limit=f"chance {answer['chance']:.3g}"),
        ),
        confidence=0.88,
    )  # fmt: skip


def _dealt_at_random(lab: Lab, most: float) -> Iterator[Finding]:
    """Some of the labels are unrelated to the inputs."""
    answer = lab.tried["simple-models"].answer
    found = answer.get("dealt")
    if found is None or found["share"] < most:
        return
    loader = lab.run.first(Loader)
    yield Finding(
        what=f"about {found['share']:.0%} of the labels look random: simple models agree on {found['agreed']:.0%} of "
        f"{answer['samples']:,} samples, and {found['contradicted']:.0%} of those have another label, any class alike",
        why="similar classes are confused with particular others; random labels spread over all classes",
        remedy="look at ten samples next to their labels, and check where the labels come from",
        where=place(loader, loader.reader) if loader is not None else at(None),
        severity="warning",
        evidence=(Evidence(name="random_labels", value=round(found["share"], 3), limit=f"< {most:g}"),),
        confidence=0.8,
    )


def _targets_of_others(run: Run, *, fewest: int = 48, share: float = 0.2, own: float = 0.2) -> Iterator[Finding]:
    """Masks that fit the images of other samples, and hardly ever their own."""
    for event in run.facts(Partners, phase="train"):
        if event.looked < fewest or event.elsewhere < share * event.looked or event.own > own * event.looked:
            continue
        yield Finding(
            what=f"for {event.elsewhere:.0f} of {event.looked} images, the target of another sample fits far better "
            "than their own",
            why="images and targets are paired wrongly, so the model can only learn where objects usually are",
            remedy="sort both lists of files by the same key (as text: 1, 10, 2), and split or shuffle them together",
            **_paired_at(run, run.first(Loader), event.where),
            evidence=(
                Evidence(name="targets_that_fit_others", value=round(event.elsewhere / event.looked, 3), limit="0"),
                Evidence(name="targets_that_fit", value=round(event.own / event.looked, 3), limit="1"),
            ),
            confidence=0.95,
        )
        return


def _renumbered(run: Run, *, share: float = 0.7, fewest: int = 5) -> Iterator[Finding]:
    """The last evaluation: most labels have a prediction of their own, and it is another number than the label."""
    last = {event.line: event for event in run.facts(Confusion, phase="eval")}
    for event in last.values():
        counted = [row for row in event.labels if row[1] >= fewest]
        total = sum(row[1] for row in counted)
        own = Counter(answer for _, _, answer, _ in counted)
        known = [row for row in counted if own[row[2]] == 1]
        moved = [(label, answer) for label, _, answer, _ in known if label != answer]
        told_apart = sum(hits for *_, hits in known)
        in_place = sum(hits for label, _, answer, hits in known if label == answer)
        # Two classes leave little to chance only if nearly all of them are exchanged.
        least = share if len(counted) > 2 else (1 + share) / 2
        if len(moved) < 2 or len(moved) < 2 / 3 * len(known) or told_apart < least * total:
            continue
        if in_place > told_apart / 3 or told_apart < 40:
            continue
        shown = ", ".join(f"{answer} for {label}" for label, answer in moved[:4])
        yield Finding(
            what=f"in the evaluation, most samples of a class get the same wrong prediction: {shown}",
            why="the model tells the classes apart, but these labels are numbered differently from the training data",
            remedy="number the classes once, from the training data, and use that numbering in all datasets",
            where=event.where,
            evidence=(
                Evidence(name="classes_answered_by_another", value=len(moved), limit="0"),
                Evidence(name="samples_told_apart", value=round(told_apart / total, 3), limit=f"right: {in_place}"),
            ),
            confidence=0.96,
        )


def _nothing_carries_over(run: Run, *, fewest: int = 150, learnt: float = 0.8) -> Iterator[Finding]:
    """The training data was learnt, but in every evaluation predictions and labels are independent.

    Models that see only ids may memorise for a long time before they generalise.
    """
    tables = {(event.line, event.step): event for event in run.facts(Confusion, phase="eval") if event.rows}
    large = [event for event in tables.values() if sum(total for _, total, *_ in event.labels) >= fewest]
    if not large or len(large) < len(tables) or not run.facts(Input, phase="train"):
        return
    with contextlib.suppress(Abstain):
        judged = outcome(run)
        if judged.bad or judged.prior is None or judged.curve.end > learnt * judged.prior:
            return
        varied = [event for event in large if varies(event.rows)]
        if len(varied) < 2 or any(by_chance(event.rows) is None for event in varied):
            return
        last = max(varied, key=lambda event: event.step)
        expected = by_chance(last.rows) or 0.0
        total = sum(total for _, total, *_ in last.labels)
        right = sum(n for label, answers in last.rows for answer, n in answers if label == answer)
        loader = run.first(Loader)
        yield Finding(
            what=f"the training loss fell to {judged.curve.end:.3g} (guessing gives {judged.prior:.3g}), but "
            f"in the evaluation only {right} of {total:,} predictions are right; chance gives {expected:.0f}",
            why="the model has memorised its samples and generalises to no others: most likely inputs and labels "
            "belong to different samples",
            remedy="look at ten samples next to their labels, then at where both are read, sorted or shuffled "
            "(file names sorted as text: 1, 10, 2)",
            where=place(loader, loader.reader) if loader is not None else last.where,
            severity="warning",
            evidence=(Evidence(name="right_answers", value=right, limit=f"> {expected:.0f} by chance"),),
            confidence=0.86,
        )


def _unrelated(
    run: Run, structured: float, *, fewest: int = 300, passes: int = 3, several: int = 3
) -> Iterator[Finding]:
    """Nothing was learnt in several passes, and simple models find nothing in the same samples either.

    A weak signal looks the same, and so does one in the order of tokens: without several classes it is a note.
    """
    with contextlib.suppress(Abstain):
        judged = last_outcome(run)
        loader = _loader_of(run, judged)
        stored = _stored_shuffled(run, loader)
        # The answers of a model that learnt nothing may by luck depend on the classes of a clean validation set.
        nothing = _learnt_nothing(run, judged) or (stored is not None and judged.word == "stuck")
        if judged.prior is None or not nothing or _passes(judged, loader) < passes:
            return
        found = relation(run)
        if found is None or found.samples < fewest or found.found or found.structure < structured:
            return
        plain = found.p_value > 2 * BY_CHANCE or stored is not None
        sure = found.classes >= several and not found.tokens and plain
        yield Finding(
            what=f"inputs and labels of the training data show no relation: {found}",
            why=f"the model finds none either ({judged}): most likely inputs and labels belong to different samples",
            remedy="look at ten samples next to their labels, then at where both are read, sorted, shuffled or joined "
            "(file names sorted as text: 1, 10, 2)"
            if stored is None
            else "compute these inputs with a loader that has shuffle=False, or keep the labels of the same batches",
            **_paired_at(run, loader, judged.curve.where, stored),
            severity="warning" if sure else "note",
            evidence=(
                Evidence(name="p_value", value=round(found.p_value, 3), limit=f"< {BY_CHANCE:g}"),
                Evidence(name="loss", value=float(f"{judged.curve.end:.3g}"), limit=f"guessing {judged.prior:.3g}"),
            ),
            confidence=0.75 if sure else 0.5,
        )


def _paired_at(run: Run, loader: Loader | None, otherwise: Where, stored: Link | None = None) -> Places:
    """Where inputs are stored, or files listed: their order is the usual reason; else where the loader is built."""
    if loader is None:
        return edited_at(otherwise, None)
    given = argument_history(run, loader.where, ("DataLoader",), 0, "dataset")
    return edited_at(place(loader, loader.reader), stored or first_link(given, lists_files))


def _stored_shuffled(run: Run, loader: Loader | None) -> Link | None:
    """Where the inputs of this loader were computed from another that shuffles."""
    given = argument_history(run, loader.where, ("DataLoader",), 0, "dataset") if loader is not None else []
    return next((link for link in given if read_shuffled(program(run), link)), None)


def _learnt_nothing(run: Run, judged: Outcome) -> bool:
    """No evaluation is better than guessing, whatever the training loss did; without one, that loss stayed there."""
    if judged.word not in ("stuck", "learning") or judged.prior is None:
        return False
    losses = [loss for curve in mean_losses(run, judged.curve.task) for loss in curve.values]
    tables = [event.rows for event in run.facts(Confusion, phase="eval") if event.rows]
    if len(losses) < 2 and len(tables) < 2:
        return judged.bad  # a little less than guessing is what memorising gives
    at_chance = all(by_chance(rows) is not None for rows in tables if len(rows) > 1)
    return at_chance and (not losses or min(losses) > 0.98 * judged.prior)


def _loader_of(run: Run, judged: Outcome) -> Loader | None:
    """The loader that the training judged reads; after another training it must have fed the samples that were kept."""
    samples, first = run.first(LabelledSamples), run.first(Loader)
    if first is None or len(loss_curves(run)) < 2:
        return first
    own = [each for each in run.facts(Loader) if samples is not None and each.number == samples.loader]
    if not own or own[0].step < judged.curve.at[0]:
        raise Abstain("the samples that were kept are of an earlier training")
    return own[0]


def _passes(judged: Outcome, loader: Loader | None) -> float:
    """How often the training has gone over its data."""
    if loader is None or not loader.batches:
        return math.inf
    return judged.curve.steps / loader.batches


# In an audit: the data itself, before any training.
def in_data(audit: Audit, *, chance: float = 0.01) -> Iterator[Finding]:
    """A random forest and the nearest neighbour do no better than with permuted targets, although they should.

    The reason to expect more: shifted by some rows the targets fit, or other rows of the same data show a relation, or
    the inputs are images of several classes. Without such a reason it is PM322.
    """
    from paramedic.audit.dense_labels import is_dense, wrongly_laid
    from paramedic.audit.models.alignment import broken_from, moved_by, should_be_learnable
    from paramedic.audit.models.spectrum import told_by_spectrum

    torn = [*_torn(audit), *_moved_tags(audit)]
    yield from torn
    if torn:
        return
    if is_dense(audit) and audit.train.sketch.dense.pictures:
        yield from wrongly_laid(audit)
        return
    if audit.train.source.guessed:
        raise Abstain("the target column was only guessed (set it with --label)")
    signal = audit.signal
    if signal is None:
        raise Abstain("too few samples, or more than one target per sample")
    random = signal.score < signal.guess + 0.05 and should_be_learnable(audit) and not told_by_spectrum(audit.train)
    if signal.p_value < chance and not random:
        row = broken_from(audit.train, audit.task)
        if row is not None:
            what = f"inputs and targets of train are related up to sample {row:,}, and not after it"
            yield _finding(what, "from there on the targets belong to other samples", signal.p_value, chance, row)
        return
    shift = moved_by(audit.train, audit.task)
    if shift is not None:
        rows = f"{shift:+d} row{'s' * (abs(shift) > 1)}"
        what = f"the targets of train fit only when shifted by {rows}"
        why = "a row was lost or added on one side (a header, a dropped sample)"
        yield _finding(what, why, signal.p_value, chance)
    elif random:
        what = (
            "the targets of train fit their inputs no better than permuted ones: a random forest is right for "
            f"{signal.score:.1%} of {signal.size:,} samples, guessing for {signal.guess:.1%}"
        )
        why = "a simple model can nearly always tell some image classes apart"
        yield _finding(what, why, signal.p_value, chance)


def _torn(audit: Audit) -> Iterator[Finding]:
    from paramedic.audit.models.collating import torn_apart

    for split in audit.splits:
        torn = torn_apart(split.source.origin) if split.source.kind == "loader" else None
        if torn is not None:
            yield Finding(
                what=f"the collate function of {split.name} puts {torn.part} of a batch into another order than "
                f"{torn.other}: {torn.rows} of {torn.of} rows do not belong together",
                why="samples get the targets of others, and nothing can be learnt from them",
                remedy="sort the samples first, then take them apart: batch = sorted(batch, key=...)",
                evidence=(Evidence(name="rows_apart", value=torn.rows, limit="0"),),
                confidence=0.95,
                split=split.name,
                columns=(torn.part, torn.other),
            )


def _moved_tags(audit: Audit) -> Iterator[Finding]:
    from paramedic.audit.models.tagging import moved_tags

    for split in audit.splits:
        moved = moved_tags(split)
        if moved is not None:
            yield Finding(
                what=f"in {len(moved.samples):,} sentences of {split.name}, {moved.column!r} stand one token too "
                f"{'late' if moved.by > 0 else 'early'}: {split.samples(moved.samples)}",
                why="moved by one token they agree with the tags that the same words have in other sentences; as they "
                "are, they contradict them",
                remedy="look at how these were exported: a start token that was counted in one column only",
                evidence=(Evidence(name="moved_sentences", value=len(moved.samples), limit="0"),),
                confidence=0.93,
                split=split.name,
                samples=tuple(moved.samples),
                columns=(moved.column,),
            )


def _finding(what: str, why: str, p_value: float, chance: float, row: int | None = None) -> Finding:
    return Finding(
        what=what,
        why=why,
        remedy="look at ten samples with their targets; look for one side being shuffled, sorted or dropped alone",
        evidence=(Evidence(name="p_value", value=p_value, limit=f"< {chance:g}"),),
        confidence=0.9,
        split="train",
        samples=(row,) if row is not None else (),
    )
