"""PM216."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Trial
from paramedic.rules import Abstain, Finding, Run, rule
from paramedic.rules.experiments import Lab, at


@rule(
    "PM216",
    "cannot-learn-simple-rule",
    severity="error",
    needs=[Trial],
    causes=["PM207", "PM209", "PM213", "PM311", "PM322"],
)
def check(run: Run) -> Iterator[Finding]:
    """The model learns neither from the data nor from synthetic data of the same shape that follows a simple rule.

    ## Why it hurts
    The synthetic data has the same shapes, types and classes, and a signal that any working model finds within a few
    steps. It went through the script's own code, so the bug is there: in the model, the loss or the loop.

    ## What to try first
    Look for code that mixes up or drops samples between the batch and the loss: a reshape where a transpose was meant,
    sorting inputs but not labels, an average over the wrong dimension.

    ## When this is wrong
    When the model needs far more steps than it was given. It is reported only if simple models find a strong signal in
    the same samples, or if the model also fails on a single batch.
    """
    lab = Lab(run)
    twin = lab.get("twin")
    if twin is None:
        raise Abstain("no synthetic data of the same shape could be made")
    stuck = lab.trouble == "flat" or (lab.trouble == "unclear" and not lab.base.fell)
    if not stuck or lab.learns_twin is not False:
        return
    if any(lab.helps(name) for name in ("lr-up", "lr-down", "no-regularisation", "standardised", "twin-range")):
        return
    range_test = lab.get("twin-range")
    if range_test is None or range_test.lowest < 0.7 * lab.guessing:
        return
    if lab.signal != "strong" and lab.learns_one_batch is not False:
        return
    backward = run.first(Backward)
    yield Finding(
        what=f"on synthetic data with a simple rule the loss went from {twin.first:.3g} to {twin.last:.3g}; "
        f"guessing gives {lab.guessing:.3g}",
        why="a working model learns such data in a few steps at some learning rate, so the script "
        "loses the input's information before the loss",
        remedy="follow two samples of one batch through the model: are they still separate at the loss, in the order "
        "of their labels?",
        where=at(backward),
        evidence=(twin.evidence(f"below {0.7 * lab.guessing:.3g}"), lab.base.evidence()),
        confidence=0.8,
    )
