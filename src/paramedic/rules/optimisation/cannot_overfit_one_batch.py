"""PM214."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Trial
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.experiments import NOT_AT_ALL, Lab, at


@rule(
    "PM214",
    "cannot-overfit-one-batch",
    severity="error",
    needs=[Trial],
    causes=["PM207", "PM209", "PM213", "PM311", "PM322"],
)
def check(run: Run, *, left: float = NOT_AT_ALL) -> Iterator[Finding]:
    """The model cannot overfit even a single batch, at any learning rate.

    ## Why it hurts
    A handful of samples, repeated hundreds of times without dropout or weight decay, is the easiest task there is. A
    model that fails it has a bug between input and loss: a cut graph, an unused input, a loss that compares the wrong
    things. Other data or settings will not help.

    ## What to try first
    Make a copy of the script that trains on one batch, and follow the gradient back from the loss: which is the first
    layer whose weights do not change? Does the output differ between two samples?

    ## When this is wrong
    When the batch contradicts itself: the same input with different labels. Models with fewer than ten weights per
    sample of a batch are not judged. It is reported only if the loss falls at no learning rate over a wide range, and
    does not fall on the full data either.

    ## Options
    `left`: share of the guessing loss that remains.
    """
    lab = Lab(run)
    tried = lab.get("one-batch")
    if tried is None:
        raise Abstain("a single batch could not be repeated")
    if lab.is_small:
        raise Abstain("the model has too few weights to memorise a batch")
    known = any(event.function for event in run.facts(Backward))
    untold = lab.trouble == "unclear" and lab.control is None  # one that has learnt a little is able to learn
    stuck = lab.trouble in ("flat", "diverges") or (untold and known and not lab.base.fell)
    if not stuck or lab.learns_one_batch is not False:
        return
    if lab.one_batch_at_any_rate is not False:
        return
    if any(lab.helps(name) for name in lab.tried if name not in ("baseline", "longer", "linear-model")):
        return
    if lab.alike is not None:
        return  # no model could: equal inputs have different targets
    backward = run.first(Backward)
    yield Finding(
        what=f"on one batch, repeated {tried.steps:,} times, the loss went from {tried.first:.3g} to {tried.last:.3g}; "
        f"guessing gives {lab.guessing:.3g}",
        why="a working model memorises one batch; this one does not at any learning rate from a thousandth to a "
        "thousand times yours, so the bug lies between its input and the loss",
        remedy="compare the outputs of two samples: do they differ? Then follow the gradient back from the loss",
        where=at(backward),
        evidence=(
            tried.evidence(f"below {left * lab.guessing:.3g}"),
            Evidence(name="lowest at any learning rate", value=float(f"{lab.tried['one-batch-range'].lowest:.4g}")),
            lab.base.evidence(),
        ),
        confidence=0.9,
    )
