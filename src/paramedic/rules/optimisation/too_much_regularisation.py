"""PM217."""

from collections.abc import Iterator

from paramedic.rules import Abstain, Finding, Run, rule
from paramedic.rules.experiments import Lab, at


@rule(
    "PM217",
    "too-much-regularisation",
    severity="warning",
    needs=["experiment"],
    causes=["PM205", "PM206", "PM207", "PM209", "PM210", "PM213", "PM214"],
)
def check(run: Run) -> Iterator[Finding]:
    """Without dropout and weight decay the model learns, with them it does not.

    ## Why it hurts
    Weight decay that is stronger than the gradient pulls all weights to zero, and dropout near 1 leaves too little to
    learn from: the model stays at what guessing gives.

    ## What to try first
    Weight decay of 0.01 with AdamW, 1e-4 with SGD; dropout of 0.1 to 0.5. Or none of it, until the model learns.

    ## When this is wrong
    Only said when the script as it is learns nothing at all in as many steps.
    """
    lab = Lab(run)
    tried = lab.get("no-regularisation")
    if tried is None:
        raise Abstain("there was no dropout and no weight decay to take away, or no need to")
    if lab.trouble not in ("flat", "diverges") or not lab.helps("no-regularisation") or lab.signal == "none":
        return
    optimizer = run.first("optimizer")
    decays = [g.get("weight_decay") or 0 for g in optimizer["groups"]] if optimizer is not None else []
    strong = max(decays, default=0.0)
    named = f"weight decay of {strong:g}" if strong >= 0.1 else "dropout, or the weight decay,"
    yield Finding(
        what=f"without dropout and weight decay the loss ends at {tried.last:.3g}, with them at {lab.base.last:.3g}",
        why=f"the {named} holds the model at what guessing gives ({lab.guessing:.3g})",
        remedy="lower them: weight_decay=0.01 or less, dropout of 0.1 to 0.5",
        where=at(optimizer),
        evidence=(lab.base.evidence(), tried.evidence()),
        confidence=0.9,
    )
