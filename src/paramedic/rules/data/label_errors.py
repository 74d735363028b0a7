"""PM310."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.rules import Abstain, Evidence, Finding, rule
from paramedic.rules.support import many

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit
    from paramedic.audit.models.label_errors import Doubts

MOST_SHOWN = 20  # samples


@rule("PM310", "label-errors", severity="warning", reads="audit")
def check(audit: Audit, *, share: float = 0.02, fewest: int = 5) -> Iterator[Finding]:
    """Some samples probably have the wrong label.

    Found by `paramedic audit`: a random forest that has not seen a sample is more confident in another class than it
    usually is in the true one (confident learning); with few samples, a linear model and a kernel SVM must agree.
    `paramedic run --audit` finds them better: during your own training another class stayed ahead of the given one,
    and a good forest does not give the sample that label either. The samples are ranked, worst first.

    ## Why it hurts
    A network memorises wrong labels, and a validation set with wrong labels cannot tell a good model from a better one.

    ## What to try first
    Work through the list from the top until the labels are right.

    ## When this is wrong
    To a simple model, hard samples look the same. A few are a note; it is a warning if many labels are clearly
    contradicted.

    ## Options
    `share`: share of clearly contradicted labels above which it is a warning; `fewest`: their number.
    """
    from paramedic.audit.dense_labels import is_dense, off_their_objects

    if is_dense(audit):
        for split in audit.splits:
            yield from off_their_objects(split)
        return
    found = audit.doubts
    if found is None:
        raise Abstain("no model predicts the classes well enough to question a label")
    if not len(found.samples):
        return
    serious = found.telling and found.firm >= fewest and found.firm >= share * found.size
    severity: Severity = "warning" if serious else "note"
    samples = found.samples.tolist()
    given = audit.train.sketch.target.shown(found.given[0].item())
    yield Finding(
        what=f"{many(len(samples), 'label')} of {found.size:,} {'is' if len(samples) == 1 else 'are'} doubtful, "
        f"{found.firm:,} clearly contradicted: {audit.train.samples(samples)}",
        why=f"sample {audit.train.called(samples[0])} is labelled {given}, but {found.because}",
        remedy="look at these samples, worst first, and correct or drop the wrong ones",
        evidence=(
            Evidence(name="firmly_contradicted", value=found.firm, limit=f"< {share:.0%} of {found.size:,}"),
            *_suggested(audit, found),
        ),
        severity=severity,
        confidence=0.85 if serious else 0.6,
        split="train",
        samples=tuple(samples),
    )


def _suggested(audit: Audit, found: Doubts) -> list[Evidence]:
    """What a model would have said instead, sample by sample; nothing where only the doubt is known."""
    rows = zip(found.samples.tolist(), found.given.tolist(), found.suggested, strict=False)
    shown = audit.train.sketch.target.shown
    told = [
        {"sample": audit.train.called(sample), "labelled": shown(given), "looks like": label}
        for sample, given, label in islice(rows, MOST_SHOWN)
    ]
    return [Evidence(name="suggested", value=told)] if told else []
