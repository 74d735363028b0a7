"""PM324 in data: a column that is the target, a code of it, or a monotone function of it."""

from collections.abc import Iterator

from paramedic.audit.audit import Audit
from paramedic.audit.checks.check import check
from paramedic.audit.models.copies import Copy, copies
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain


@check("PM324")
def target_among_inputs(audit: Audit) -> Iterator[Finding]:
    """One finding for each such column."""
    found = copies(audit)
    if found is None:
        raise Abstain("no table with a target of one value per sample")
    for copy in found:
        yield _finding(audit, copy)


def _finding(audit: Audit, copy: Copy) -> Finding:
    train = audit.train
    name = repr(copy.name) if copy.place is None else train.feature(copy.name, copy.place)
    plain = name.strip("'")
    drop = f"table.drop({plain!r})" if train.source.kind == "table" else f"leave column {plain} out"
    return Finding(
        what=f"column {name} of train {copy.how} ({copy.samples:,} samples)",
        why="a model has nothing to learn but to read it off, and on new data the answer is not known",
        remedy=f"{drop}, from both parts, unless it is really known before the answer is",
        evidence=(Evidence(name="samples_without_exception", value=copy.samples, limit="0"),),
        confidence=0.93,
        severity="error",
        split="train",
        columns=(plain,),
    )
