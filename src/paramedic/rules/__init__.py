"""The catalogue: one rule per file, in a folder per family. A rule reads a Run and yields Findings."""

from paramedic.findings import Evidence, Finding, Where
from paramedic.record.reader import Run
from paramedic.rules.coverage import Examined, Steps
from paramedic.rules.rule import Abstain, Rule, rule

__all__ = ["Abstain", "Evidence", "Examined", "Finding", "Rule", "Run", "Steps", "Where", "rule"]
