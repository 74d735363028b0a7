"""When "no fault found" is not an answer: rules that saw too little, and what they might have found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from paramedic.findings import Abstention
from paramedic.findings.unchecked import could_not_look, saw_too_little
from paramedic.rules.catalogue import FAMILIES
from paramedic.rules.rule import Rule

SYMPTOMS = ("PM101", "PM207", "PM213")  # a loss that is not finite, or does not fall: what one sees without any rule


def open_questions(
    rules: Sequence[Rule], abstained: Sequence[Abstention], answered: Collection[str], *, unexplained: bool
) -> str:
    """Why the run must not be called healthy although nothing was found, if so.

    `unexplained`: the losses show that something is wrong.
    """
    if blind := [abstention for abstention in abstained if abstention.blind]:
        return could_not_look(blind)
    if unexplained:
        return _might_explain(rules, abstained)
    return "; ".join(_families(abstained, answered))


def _might_explain(rules: Sequence[Rule], abstained: Iterable[Abstention]) -> str:
    """The symptom may have a cause that only rules that saw too little could name."""
    causes = {rule.code for rule in rules if any(symptom.startswith(rule.causes) for symptom in SYMPTOMS)}
    might = [abstention for abstention in abstained if abstention.code in causes and saw_too_little(abstention)]
    if not might:
        return ""
    codes = ", ".join(abstention.code for abstention in might[:3])
    more = f" and {len(might) - 3} more" if len(might) > 3 else ""
    return f"{codes}{more} might explain it, but saw too little"


def _families(abstained: Iterable[Abstention], answered: Collection[str]) -> Iterable[str]:
    """A whole family of faults that no rule could check."""
    for prefix, name in FAMILIES.items():
        little = [each for each in abstained if each.code.startswith(prefix) and saw_too_little(each)]
        if little and not any(code.startswith(prefix) for code in answered):
            yield f"no rule on {name} saw enough: {little[0].reason}"
