"""PM105."""

from collections.abc import Iterator

from paramedic.rules import Abstain, Event, Evidence, Finding, Run, rule
from paramedic.rules.bad_values import moment
from paramedic.rules.curves import non_finite_steps
from paramedic.rules.support import listed


@rule("PM105", "non-finite-input", severity="error", causes=["PM101", "PM102", "PM103", "PM104", "PM208"])
def check(run: Run) -> Iterator[Finding]:
    """NaN or infinity in a batch, and a loss that becomes NaN from it.

    ## Why it hurts
    One bad value makes the loss NaN, the gradients NaN, and after the next step every weight NaN.

    ## What to try first
    Look at the samples named here. Clean the data (drop, impute, fix the division that made it) or mask the values
    before they reach the model.

    ## When this is wrong
    NaN as a marker for missing values that the model masks is not reported: the loss stays finite.
    """
    bad = run.events("bad_input")
    targets = [call for call in run.events("loss_call") if (call.get("values") or {}).get("target_nan")]
    inquests = [event for event in run.events("non_finite") if event["reached"] != "gradient"]
    if any(event["origin"] == "op" for event in inquests):
        return  # running the step again has shown that an operation made the bad value, from good ones
    broken = non_finite_steps(run)
    if not bad and not targets:
        if not run.events("batch") and not run.events("forward"):
            raise Abstain("neither a batch nor a model's input was seen")
        yield from (_variable(event) for event in inquests[:1] if event["origin"] == "variable" and event["name"])
        return
    first = (sorted(bad, key=lambda e: (e["source"] != "loader", e.step)) or targets)[0]
    if not broken or min(broken) < first.step:
        return
    if first.kind == "loss_call":
        yield Finding(
            what=f"{int(first['values']['target_nan'])} target values are NaN in the batch of step {first.step}",
            why=f"the loss is NaN from step {min(broken)} on",
            remedy="remove or mask samples without a valid target",
            where=first.where,
            evidence=(Evidence(name="nan_targets", value=int(first["values"]["target_nan"]), limit="0"),),
            confidence=0.95,
        )
        return
    kind = "NaN" if first["nan"] else "infinite"
    count = int(first["nan"] or first["inf"])
    samples = first.get("samples") or []
    rows = first.get("rows") or []
    which = f" (dataset index {listed([str(s) for s in samples])})" if samples else ""
    which = which or (f" (row {listed([str(r) for r in rows])} of the batch)" if rows else "")
    source = f"the batch{first['path']}" if first["source"] == "loader" else f"the input of {first.module}"
    yield Finding(
        what=f"{count} {kind} value{'s' * (count > 1)} in {source} at step {first.step}{which}",
        why=f"the loss is not finite from step {min(broken)} on; the data was bad before the model saw it",
        remedy="clean or drop these samples; check for a division by zero or a missing value in the preparation",
        where=first.where,
        evidence=(
            Evidence(name="nan", value=int(first["nan"]), limit="0"),
            Evidence(name="inf", value=int(first["inf"]), limit="0"),
            Evidence(name="first_bad_loss", value=min(broken)),
        ),
        confidence=0.96,
    )


def _variable(event: Event) -> Finding:
    nan, inf = event["outside"]["nan"], event["outside"]["inf"]
    return Finding(
        what=f"{event['name']!r} holds {nan or inf:,} {'NaN' if nan else 'infinite'} values before the model sees it",
        why=f"the loss is not finite{moment(event) or f' at step {event.step}'}; run again, it begins here",
        remedy="look at how this tensor is made; clean or drop the samples in question",
        where=event.where,
        evidence=(Evidence(name="nan", value=nan, limit="0"), Evidence(name="inf", value=inf, limit="0")),
        confidence=0.9,
    )
