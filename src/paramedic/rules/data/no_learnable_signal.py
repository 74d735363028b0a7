"""PM322."""

from collections.abc import Iterator

from paramedic.record.facts import Loader, Trial
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.experiments import Lab, at


@rule("PM322", "no-learnable-signal", severity="warning", needs=[Trial], causes=["PM207", "PM209", "PM212"])
def check(run: Run, *, fewest: int = 300) -> Iterator[Finding]:
    """Simple models do no better than chance on the samples, and the model learns nothing either.

    ## Why it hurts
    Where neither a linear model nor a random forest nor a kernel machine finds anything, a network hardly will.

    ## What to try first
    Look at ten samples next to their labels. Are these the features that were meant, and do they vary? Then ask a
    person to solve the task from what the model gets.

    ## When this is wrong
    Some structure is hidden from simple models: parity, long sequences, pictures. It is only said when the script's own
    model learns nothing from these data, but is able to learn. Few samples are no evidence.

    ## Options
    `fewest`: samples.
    """
    lab = Lab(run)
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
        f"{answer['score']:.3g}, and chance gives {answer['chance']:.3g}",
        why=f"the model ends at {lab.base.last:.3g}, and guessing gives {lab.guessing:.3g}",
        remedy="look at ten samples next to their labels: could you tell the label from the features?",
        where=at(loader),
        evidence=(
            Evidence(name="score of the best simple model", value=round(answer["score"], 3),
                     limit=f"chance {answer['chance']:.3g}"),
            lab.base.evidence(),
        ),
        confidence=0.8,
    )  # fmt: skip
