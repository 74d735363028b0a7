"""Assumptions in plain words, checked against a run where they can be: "loss falls below 0.3 by step 500"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from paramedic.findings import Diagnosis, LossCurve
from paramedic.findings.words import number

# What people say, and the rules whose finding contradicts it.
_ABOUT_DATA: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\b(labels?|classes|targets?) (are|is) (well )?balanced", ("PM305",)),
    (r"\bno (overlap|leak)|\b(do|does) not (overlap|leak)", ("PM307", "PM308", "PM314", "PM324")),
    (r"\b(inputs?|features?|data|images?) (are|is) (scaled|normali[sz]ed|standardi[sz]ed)", ("PM301",)),
    (r"\btargets? (are|is) (scaled|normali[sz]ed|standardi[sz]ed)", ("PM302",)),
    (r"\bdata (are|is) shuffled|\bshuffled (data|loader)", ("PM306", "PM319")),
    (r"\blabels? (are|is) (correct|right|clean)", ("PM304", "PM310", "PM311")),
    (r"\bno duplicates?", ("PM308",)),
    (r"\bno nans?\b|\b(everything|loss|losses) (is|are|stays?) finite", ("PM101", "PM102", "PM103", "PM104", "PM105")),
)  # fmt: skip
_LOSS = re.compile(
    r"\b(?P<which>(?:train(?:ing)?|val(?:idation)?|eval(?:uation)?|test) )?loss\b"
    r".*?(?:\b(?:below|under|less than)\b|<)\s*"
    r"(?P<limit>\d+(?:\.\d+)?(?:e-?\d+)?)(?:.*?\b(?:by|before|within|after|in|until|at)\b\D*?(?P<step>\d[\d,]*))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether an assumption holds in a run; None where the run does not tell."""

    holds: bool | None
    because: str


def is_checkable(text: str) -> bool:
    return _LOSS.search(text) is not None or bool(_codes(text))


def check(text: str, diagnosis: Diagnosis) -> Answer:
    """One run's answer to what was assumed."""
    loss = _LOSS.search(text)
    if loss is not None:
        return _check_loss(loss, diagnosis)
    codes = _codes(text)
    found = next((finding for finding in diagnosis.findings if finding.code in codes), None)
    if found is not None:
        return Answer(holds=False, because=f"{found.code} {found.name}: {found.what}")
    clear = [code for code in codes if code in diagnosis.clear]
    if clear:
        return Answer(holds=True, because=f"{' and '.join(clear)} found nothing")
    return Answer(holds=None, because="the run did not show it" if codes else "it cannot be checked by a program")


def _codes(text: str) -> tuple[str, ...]:
    return next((codes for words, codes in _ABOUT_DATA if re.search(words, text, re.IGNORECASE)), ())


def _check_loss(said: re.Match[str], diagnosis: Diagnosis) -> Answer:
    training = (said["which"] or "train").strip().lower().startswith("train")
    curves = diagnosis.run.losses if training else diagnosis.run.evaluations
    curve = _only(curves)
    if curve is None:
        return Answer(holds=None, because="there is not exactly one such loss in the run")
    limit = float(said["limit"])
    last = int(said["step"].replace(",", "")) if said["step"] else None
    points = [
        (step, value) for step, value in zip(curve.steps, curve.values, strict=True) if last is None or step <= last
    ]
    reached = next((step for step, value in points if value < limit), None)
    if reached is not None:
        return Answer(holds=True, because=f"below {number(limit)} at step {reached:,}")
    if not points or (last is not None and diagnosis.run.steps < last):
        return Answer(holds=None, because=f"the run took {diagnosis.run.steps:,} steps only")
    lowest = min((value for _, value in points if value == value), default=float("nan"))
    return Answer(holds=False, because=f"the lowest loss up to step {points[-1][0]:,} is {number(lowest)}")


def _only(curves: Iterable[LossCurve]) -> LossCurve | None:
    found = [curve for curve in curves if curve.values]
    return found[0] if len(found) == 1 else None
