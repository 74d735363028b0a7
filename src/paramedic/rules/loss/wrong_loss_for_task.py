"""PM514."""

from collections.abc import Iterator

from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import by_place, measured


@rule("PM514", "wrong-loss-for-task", severity="warning", needs=["loss_call"], causes=["PM207", "PM512"])
def check(run: Run, *, tolerance: float = 0.01) -> Iterator[Finding]:
    """Cross-entropy gets targets that are neither class indices nor probabilities.

    ## Why it hurts
    With floating-point targets of the logits' shape, cross-entropy takes them for probabilities. Several ones per row,
    or quantities to be predicted, make it a loss whose minimum means nothing.

    ## What to try first
    Several classes at once: `binary_cross_entropy_with_logits`. Quantities: `mse_loss`. One class: pass its index.

    ## When this is wrong
    When rows of weights that do not sum to one are meant as such.

    ## Options
    `tolerance`: how far the rows' sums may be from one.
    """
    for calls in by_place(measured(run.events("loss_call", phase="train"), "cross_entropy")).values():
        soft = [c for c in calls if "float" in c["target"]["dtype"] and c["target"]["shape"] == c["input"]["shape"]]
        if not soft or len(soft) < len(calls):
            continue
        low = min(call["values"]["target_row_min"] for call in soft)
        high = max(call["values"]["target_row_max"] for call in soft)
        negative = min(call["values"]["target_min"] for call in soft) < -tolerance
        whole = all(float(call["values"]["target_max"]) == 1.0 for call in soft)
        # Rows of zeros are padding; a single one per row may be scaled down by a mask or a weight.
        if not negative and high <= 1 + tolerance:
            continue
        many = "several classes per row" if whole and not negative else "quantities"
        yield Finding(
            what=f"cross_entropy got {many} as targets: rows sum to {low:.3g} … {high:.3g}, "
            f"values from {min(c['values']['target_min'] for c in soft):.3g}",
            why="it takes floating-point targets for the probabilities of exclusive classes",
            remedy="binary_cross_entropy_with_logits for several classes at once, mse_loss for quantities",
            where=soft[0].where,
            evidence=(Evidence(name="row_sum", value=round(high, 4), limit="1"),),
            confidence=0.9,
        )
