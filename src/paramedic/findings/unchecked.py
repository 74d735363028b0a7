"""Rules that did not judge: those that do not apply to a run, those that saw too little of it, and what would help."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paramedic.findings import Abstention

# What would let a rule look that says this; a reason that is not here means that the rule does not apply.
_REMEDIES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), remedy)
    for pattern, remedy in (
        (r"torch\.compile(?! is not used)", "paramedic run --eager-first 10"),
        (r"torch\.jit", "PYTORCH_JIT=0 paramedic run: torch then scripts nothing"),
        (r"^the probe \S+ failed", "report this fault of paramedic, with the caveat"),
        (r"^only \d+ steps? (was|were) examined|^too few steps (with gradients )?were examined", "run it for longer"),
        (r"^only [\d,]+ steps?;? .*?([\d,]+) are needed", "run it for {0} steps"),
        (r"^only [\d,]+ (steps?|samples)\b", "run it for longer"),
        (r"--budget 0|\bnot sampled\b|\bsteps were sampled\b", "run it for longer, with --budget at its default"),
        (r"memory was not polled|before memory was polled|were timed\b|was timed\b", "run it for longer"),
        (r"^(fewer than|too few|not enough|too short)\b(?!.*(token ids|samples in one|class))", "run it for longer"),
        (r"^the run has not ended|ended early|stopped early", "let it run to its end"),
    )
)


class Group(NamedTuple):
    """Rules that give one reason."""

    reason: str
    codes: list[str]
    remedy: str


def remedy(abstention: Abstention) -> str:
    """What to do so that the rule can look; nothing where it does not apply."""
    for pattern, words in _REMEDIES:
        if found := pattern.search(abstention.reason):
            return words.format(*found.groups())
    return "run it for longer" if abstention.blind else ""


def by_reason(abstained: Iterable[Abstention]) -> list[Group]:
    """The reasons why rules could not be checked, each with its codes and with what would help."""
    groups: dict[str, Group] = {}
    for abstention in abstained:
        empty = Group(abstention.reason, [], remedy(abstention))
        groups.setdefault(abstention.reason, empty).codes.append(abstention.code)
    return list(groups.values())


def saw_too_little(rule: Abstention) -> bool:
    """Whether a longer or fuller look would have answered; otherwise the rule does not apply to this run."""
    return rule.blind or bool(remedy(rule))


def in_short(abstained: Sequence[Abstention]) -> str:
    """Such as "30 do not apply, 11 saw too little"."""
    little = sum(map(saw_too_little, abstained))
    other = len(abstained) - little
    parts = [f"{other} {'does' if other == 1 else 'do'} not apply"] if other else []
    return ", ".join([*parts, *([f"{little} saw too little"] if little else [])])


def could_not_look(abstained: Iterable[Abstention]) -> str:
    """Such as "torch.compile is used (17 rules could not look)", one part for each reason."""
    parts = [
        f"{group.reason} ({len(group.codes)} rule{'s' * (len(group.codes) > 1)} could not look)"
        for group in by_reason(abstained)
    ]
    return "; ".join(parts)
