"""PM322."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.record.facts import Loader, TrainForward, Trial
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.experiments import Lab, at

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule(
    "PM322",
    "no-learnable-signal",
    severity="warning",
    needs=[Trial],
    causes=["PM207", "PM209", "PM212", "PM213", "PM214", "PM216"],
)
def check(run: Run, *, fewest: int = 300) -> Iterator[Finding]:
    """Simple models do no better than chance on the samples, and the model learns nothing either.

    Or it is obvious without a model: there are only a few different inputs, and equal inputs have different targets; or
    every word of every text is the same, usually the token for unknown words; or equal texts have different targets as
    often as unrelated ones; or windows slide over the rows of several series that lie between each other.

    ## Why it hurts
    If neither a linear model nor a random forest nor a kernel machine finds anything, a network hardly will.

    ## What to try first
    Look at ten samples next to their labels. Are these the intended features, and do they vary? Then ask a person to
    solve the task from what the model sees.

    ## When this is wrong
    Some structure is hidden from simple models: parity, long sequences, images. It is reported only if the script's own
    model learns nothing from this data but is able to learn. A few samples are no evidence.

    ## Options
    `fewest`: fewest samples. In an audit: `samples`: the same; `chance`: p-value below which a relation counts.
    """
    lab = Lab(run)
    if lab.alike is not None:
        yield _alike(lab, *lab.alike)
        return
    if (found := _same_texts(lab) or _interleaved(lab)) is not None:
        yield found
        return
    if lab.signal is None:
        reason = lab.tried["simple-models"].answer.get("reason") if "simple-models" in lab.tried else None
        raise Abstain(reason or "simple models were not tried on the data")
    if lab.signal != "none" or lab.trouble not in ("flat", "memorises"):
        return
    if lab.needs_time:
        raise Abstain("the script was stopped early and may simply be slow")
    if not (lab.learns_twin or lab.learns_one_batch):
        return
    answer = lab.tried["simple-models"].answer
    if answer["samples"] < fewest:
        raise Abstain(f"only {answer['samples']} samples; {fewest} are needed")
    loader = run.first(Loader)
    yield Finding(
        what=f"in {answer['samples']:,} samples no simple model finds anything: the best, a {answer['best']}, scores "
        f"{answer['score']:.3g}; chance is {answer['chance']:.3g}",
        why=f"the model learns nothing either: it ends at {lab.base.last:.3g}; guessing gives {lab.guessing:.3g}",
        remedy="look at ten samples next to their labels: could you tell the label from the features?",
        where=at(loader),
        evidence=(
            Evidence(name="score of the best simple model", value=round(answer["score"], 3),
                     limit=f"chance {answer['chance']:.3g}"),
            lab.base.evidence(),
        ),
        confidence=0.8,
    )  # fmt: skip


def _alike(lab: Lab, kept: int, different: int) -> Finding:
    which = "the same input" if different == 1 else f"one of {different} different inputs"
    answer = lab.tried["simple-models"].answer
    targets, token = answer["different_targets"], answer.get("one_token")
    words = "" if token is None else f": every token is {token}, apart from padding"
    return Finding(
        what=f"each of {kept:,} samples has {which}{words}; there are {targets:,} different targets",
        why="equal inputs have different targets, so nothing distinguishes them"
        + ("" if token is None else " except the length of the text"),
        remedy="look at how samples are created: unknown words, missing columns, a repeated index",
        where=at(lab.run.first(Loader)) if lab.run.facts(Loader) else at(lab.run.first(TrainForward)),
        evidence=(Evidence(name="different inputs", value=different, limit=f"of {kept:,}"), lab.base.evidence()),
        confidence=0.93,
    )


SAME_TEXTS = 150  # pairs of them
AS_BY_CHANCE = 0.8  # of the targets of unrelated samples, how often those of equal texts differ
LEARNT = 0.15  # of the loss of guessing, on unseen samples


def _same_texts(lab: Lab) -> Finding | None:
    """Equal texts have one target as often as another, and hardly anything is learnt from them."""
    found = lab.tried["simple-models"].answer.get("contradictions") if "simple-models" in lab.tried else None
    held = lab.get("held-out")
    if not found or found["pairs"] < SAME_TEXTS or found["differ"] < AS_BY_CHANCE or held is None or held.exam is None:
        return None
    if held.exam < (1 - LEARNT) * lab.guessing or not (lab.learns_twin or lab.learns_one_batch):
        return None
    return Finding(
        what=f"{found['pairs']:,.0f} pairs of samples are the same text; their targets differ {found['differ']:.0%} as "
        "often as those of unrelated samples",
        why=f"what distinguishes them is lost before the model sees it; on unseen samples the loss is {held.exam:.3g}, "
        f"guessing gives {lab.guessing:.3g}",
        remedy="turn ten samples back into words: cleaning, stop words, truncation or unknown tokens may have removed "
        "those that matter",
        where=at(lab.run.first(Loader)),
        evidence=(
            Evidence(name="contradicting_texts", value=round(found["differ"], 3), limit=f"< {AS_BY_CHANCE:g}"),
            lab.base.evidence(),
        ),
        confidence=0.8,
    )


LITTLE = 0.3  # of the loss of guessing


def _interleaved(lab: Lab) -> Finding | None:
    """Windows over rows of several series: what comes next belongs to another one."""
    found = lab.tried["simple-models"].answer.get("interleaved") if "simple-models" in lab.tried else None
    if not found or lab.simple_skill is None or lab.simple_skill > LITTLE or (lab.skill or 0) > LITTLE:
        return None
    return Finding(
        what=f"the next value is nearly equal to the one {found['places']} places back in {found['near']:.0%} of the "
        f"windows, to the one before it in {found['neighbour']:.0%}, as unrelated values are "
        f"({found['chance']:.0%})",
        why="so the rows of several series lie between each other, and a window jumps from one to the next",
        remedy="sort by series and time before windows are cut, and cut none across two series",
        where=at(lab.run.first(Loader)),
        evidence=(
            Evidence(name="near_neighbour", value=round(found["neighbour"], 3), limit=f"> {found['chance']:.3g}"),
            lab.base.evidence(),
        ),
        confidence=0.8,
    )


# In an audit: the data itself, before any training.
PICTURES = 1000  # below which pictures without a relation are a note


def in_data(audit: Audit, *, samples: int = 200, chance: float = 0.05) -> Iterator[Finding]:
    """A random forest (out of bag) and the nearest neighbour, tested against shuffled targets."""
    from paramedic.audit.models.spectrum import told_by_spectrum
    from paramedic.audit.sketches.pictures import is_image_shape

    if audit.train.source.guessed:
        raise Abstain("the target column was only guessed (set it with --label)")
    signal = audit.signal
    if signal is None or signal.size < samples:
        raise Abstain("too few samples, or more than one target per sample")
    if signal.p_value <= chance or (signal.task == "classification" and told_by_spectrum(audit.train)):
        return
    shapes = [sketch.shape for sketch in audit.train.sketch.inputs.values()]
    # From few pictures, models of single pixels do not learn things that change their place and colour.
    weak = signal.size < PICTURES and any(is_image_shape(shape) for shape in shapes)
    reached = (
        f"a random forest is right for {signal.score:.1%} of {signal.size:,} samples, guessing for {signal.guess:.1%}"
        if signal.task == "classification"
        else f"a random forest's correlation with the targets is {signal.score:.2f} ({signal.size:,} samples)"
    )
    yield Finding(
        what=f"simple models find no relation between inputs and targets: {reached}",
        why=f"shuffled targets score as well {signal.p_value:.0%} of the time",
        remedy="check that targets and inputs match, and that the inputs determine the target at all",
        evidence=(
            Evidence(name="p_value", value=signal.p_value, limit=f"< {chance:g}"),
            Evidence(name="nearest_neighbour", value=signal.neighbour),
        ),
        confidence=0.5 if weak else 0.8,
        severity="note" if weak else "warning",
        split="train",
    )
