"""PM413."""

from collections.abc import Iterator

from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import at


@rule("PM413", "batch-mixing", severity="error", needs=["asked"], causes=["PM207", "PM209", "PM313"])
def check(run: Run, *, tolerance: float = 1e-4) -> Iterator[Finding]:
    """The output for one sample depends on the other samples of its batch.

    Asked of a copy of the model in eval mode: the second half of a batch was exchanged, and the first half looked at.

    ## Why it hurts
    A module reads the batch as if it were the sequence. torch's recurrent and attention modules expect (time, batch,
    features) unless they are told `batch_first=True`. The model learns from relations between unrelated samples, and
    its answer changes with the company a sample is in.

    ## What to try first
    `batch_first=True`, or swap the first two dimensions before and after.

    ## When this is wrong
    Models that compare the samples of a batch on purpose: only modules with `batch_first=False` that get the batch in
    their first dimension are reported.

    ## Options
    `tolerance`: relative change of an output that is still taken for rounding.
    """
    asked = [event for event in run.events("asked") if event.get("mixing")]
    if not asked:
        raise Abstain(
            next((e["reason"] for e in run.events("asked") if e.get("reason")), "no batch could be exchanged")
        )
    for event in asked:
        if not event["mixing"]["gap"] > tolerance or event.get("batch_first") is not False:
            continue
        name = f"{event.module}.{event['mixing']['module']}"
        yield Finding(
            what=f"outputs of {event.module} change by {event['mixing']['gap']:.1%} when other samples of the batch "
            f"are exchanged, first after {name}",
            why=f"{event['mixed_by']} has batch_first=False and takes the {event['size']} samples for time steps",
            remedy="pass batch_first=True where it is built",
            where=at(event, event.get("built_at")),
            evidence=(Evidence(name="change", value=round(event["mixing"]["gap"], 5), limit=f"≤ {tolerance:g}"),),
            confidence=0.95,
        )
        return
