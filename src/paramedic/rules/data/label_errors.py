"""PM310."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.rules import Abstain, Evidence, Finding, rule
from paramedic.rules.support import many

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule("PM310", "label-errors", severity="warning", reads="audit")
def check(audit: Audit, *, share: float = 0.02, sure: float = 0.1) -> Iterator[Finding]:
    """Some samples probably carry the wrong label.

    Confident learning: a random forest that has not seen a sample is surer of another class than it usually is of
    its own samples. Found by `paramedic audit`; the samples come ranked, worst first.

    ## Why it hurts
    A network learns wrong labels by heart, and a validation with wrong labels cannot tell a good model from a better
    one.

    ## What to try first
    Look at the samples from the top of the list, until they begin to be right.

    ## When this is wrong
    Samples that are merely hard look the same to a simple model. A few are a note; it is a warning when many labels
    are contradicted firmly.

    ## Options
    `share`: the share of firmly contradicted labels from which on it is a warning; `sure`: the probability of the given
    label below which it is contradicted firmly.
    """
    found, signal = audit.doubts, audit.signal
    if found is None or signal is None:
        raise Abstain("no classifier could be fitted: too few samples, or no classes")
    if signal.score < signal.guess + 0.5 * (1 - signal.guess) or signal.p_value > 1e-6:
        raise Abstain("a simple model does not know the classes well enough to doubt a label")
    firm = int(((found.confidence < sure) & (found.other > 0.5)).sum())
    if not len(found.samples):
        return
    serious = firm >= 5 and firm >= share * found.size
    severity: Severity = "warning" if serious else "note"
    target = audit.train.sketch.target
    given, better = target.shown(found.given[0].item()), target.shown(found.suggested[0].item())
    samples = found.samples.tolist()
    yield Finding(
        what=f"{many(len(samples), 'label')} of {found.size:,} {'is' if len(samples) == 1 else 'are'} doubtful, "
        f"{firm:,} contradicted firmly: "
        f"{audit.train.samples(samples)}",
        why=f"sample {audit.train.called(samples[0])} is labelled {given}, but looks like {better} "
        f"({found.other[0]:.0%} against {found.confidence[0]:.0%})",
        remedy="look at these samples, worst first, and correct or drop what is wrong",
        evidence=(
            Evidence(name="firmly_contradicted", value=firm, limit=f"< {share:.0%} of {found.size:,}"),
            Evidence(name="suggested", value=[target.shown(label.item()) for label in found.suggested[:20]]),
        ),
        severity=severity,
        confidence=0.85 if serious else 0.6,
        split="train",
        samples=tuple(samples),
    )
