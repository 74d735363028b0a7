"""PM105."""

from collections.abc import Iterator

from paramedic.record.facts import BadInput, Batch, Forward, LossCall, NonFinite
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
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
    NaN as a marker for missing values that the model masks is not reported in a run: the loss stays finite. `paramedic
    audit` names every sample that holds one.
    """
    bad = run.facts(BadInput)
    targets = [call for call in run.facts(LossCall) if call.values is not None and call.values.target_nan]
    inquests = [event for event in run.facts(NonFinite) if event.reached != "gradient"]
    if any(event.origin == "op" for event in inquests):
        return  # running the step again has shown that an operation made the bad value, from good ones
    broken = non_finite_steps(run)
    if not bad and not targets:
        if not run.facts(Batch) and not run.facts(Forward):
            raise Abstain("neither a batch nor a model's input was seen")
        yield from (_variable(event) for event in inquests[:1] if event.origin == "variable" and event.name)
        return
    found = sorted(bad, key=lambda e: (e.source != "loader", e.step))
    if not broken or min(broken) < (found or targets)[0].step:
        return
    yield _input(found[0], min(broken)) if found else _target(targets[0], min(broken))


def _target(first: LossCall, broken: int) -> Finding:
    return Finding(
        what=f"{int(first.numbers.target_nan)} target values are NaN in the batch of step {first.step}",
        why=f"the loss is NaN from step {broken} on",
        remedy="remove or mask samples without a valid target",
        where=first.where,
        evidence=(Evidence(name="nan_targets", value=int(first.numbers.target_nan), limit="0"),),
        confidence=0.95,
    )


def _input(first: BadInput, broken: int) -> Finding:
    kind = "NaN" if first.nan else "infinite"
    count = int(first.nan or first.inf)
    which = f" (dataset index {listed([str(s) for s in first.samples])})" if first.samples else ""
    which = which or (f" (row {listed([str(r) for r in first.rows])} of the batch)" if first.rows else "")
    source = f"the batch{first.path}" if first.source == "loader" else f"the input of {first.module}"
    return Finding(
        what=f"{count} {kind} value{'s' * (count > 1)} in {source} at step {first.step}{which}",
        why=f"the loss is not finite from step {broken} on; the data was bad before the model saw it",
        remedy="clean or drop these samples; check for a division by zero or a missing value in the preparation",
        where=first.where,
        evidence=(
            Evidence(name="nan", value=int(first.nan), limit="0"),
            Evidence(name="inf", value=int(first.inf), limit="0"),
            Evidence(name="first_bad_loss", value=broken),
        ),
        confidence=0.96,
    )


def _variable(event: NonFinite) -> Finding:
    nan, inf = (event.outside.nan, event.outside.inf) if event.outside is not None else (0, 0)
    return Finding(
        what=f"{event.name!r} holds {nan or inf:,} {'NaN' if nan else 'infinite'} values before the model sees it",
        why=f"the loss is not finite{moment(event) or f' at step {event.step}'}; run again, it begins here",
        remedy="look at how this tensor is made; clean or drop the samples in question",
        where=event.where,
        evidence=(Evidence(name="nan", value=nan, limit="0"), Evidence(name="inf", value=inf, limit="0")),
        confidence=0.9,
    )
