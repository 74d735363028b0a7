"""PM514."""

from collections.abc import Iterator

from paramedic.record.facts import AnswersCompared, ClassTarget, LossCall
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import chosen_at
from paramedic.rules.support import by_place, measured


@rule("PM514", "wrong-loss-for-task", severity="warning", needs=[LossCall], causes=["PM207", "PM512"])
def check(run: Run, *, tolerance: float = 0.01) -> Iterator[Finding]:
    """Cross-entropy is given quantities as targets, or a squared error class numbers.

    ## Why it hurts
    With a squared error on class numbers, class 3 counts as three times class 1, and a model that cannot decide between
    0 and 2 predicts 1. Cross-entropy treats floating-point targets of the logits' shape as probabilities. With several
    ones per row, or quantities, its minimum means nothing.

    ## What to try first
    Several classes at once: `binary_cross_entropy_with_logits`. Quantities: `mse_loss`. One class: pass its index to
    `cross_entropy`, with one output per class.

    ## When this is wrong
    When rows of weights that do not sum to one are intended: rows with a single entry (an action times its advantage)
    and rows that are the model's own input (the likelihood of a bag of words or clicks) are not reported. If the
    classes are ordered, such as ratings, and predictions are rounded to compare with them, this is only a note.

    ## Options
    `tolerance`: how far row sums may be from one.
    """
    yield from _squared(run)
    for calls in by_place(measured(run.facts(LossCall, phase="train"), "cross_entropy")).values():
        soft = [c for c in calls if "float" in c.target.dtype and c.target.shape == c.input.shape]
        if not soft or len(soft) < len(calls) or _are_meant(soft):
            continue
        if any(call.reconstructs for call in soft):
            continue  # then it does so in every step; the call of the model is not seen in all of them
        low = min(call.numbers.target_row_min for call in soft)
        high = max(call.numbers.target_row_max for call in soft)
        negative = min(call.numbers.target_min for call in soft) < -tolerance
        whole = all(float(call.numbers.target_max) == 1.0 for call in soft)
        # Rows of zeros are padding; a single one per row may be scaled down by a mask or a weight.
        if not negative and high <= 1 + tolerance:
            continue
        many = "several classes per row" if whole and not negative else "quantities"
        yield Finding(
            what=f"cross_entropy received {many} as targets: rows sum to {low:.3g} … {high:.3g}, "
            f"values from {min(c.numbers.target_min for c in soft):.3g}",
            why="it treats floating-point targets as probabilities of exclusive classes",
            remedy="binary_cross_entropy_with_logits for several classes at once, mse_loss for quantities",
            **chosen_at(soft[0]),
            evidence=(Evidence(name="row_sum", value=round(high, 4), limit="1"),),
            confidence=0.9,
        )


def _are_meant(calls: list[LossCall]) -> bool:
    # What the model was given is only known while its calls are examined.
    own = sum(bool(call.reconstructs) for call in calls)
    return own >= min(3, len(calls)) or all(call.numbers.target_row_filled <= 1 for call in calls)


def _squared(run: Run) -> Iterator[Finding]:
    """The target of a squared error is 0, 1, 2 …, and predictions are compared with the same classes."""
    compared: dict[int, str] = {}
    for wanted in ("round", "argmax"):
        compared |= {e.classes: wanted for e in run.facts(AnswersCompared) if e.how == wanted}
    whole = {_place(call) for call in run.facts(LossCall, phase="train") if _says_classes(call)}
    told: set[object] = set()
    for event in sorted(run.facts(ClassTarget, phase="train"), key=lambda event: -event.classes):
        how, place = compared.get(event.classes), _place(event)
        if place in told or (how is None and (place not in whole or event.classes < 3)):
            continue
        told.add(place)
        if how is None:
            yield _whole_numbers(event)
            continue
        metric = "the argmax of the outputs is" if how == "argmax" else "rounded outputs are"
        yield Finding(
            what=f"{event.function} gets the numbers of {event.classes} classes as its target, and {metric} "
            "compared with them",
            why="it treats class 2 as twice class 1, and the midpoint of two classes as a good compromise",
            remedy=f"F.cross_entropy with {event.classes} outputs and the class numbers as they are (.long())",
            where=event.where,
            evidence=(Evidence(name="classes", value=event.classes, limit="a quantity"),),
            confidence=0.9 if how == "argmax" else 0.7,
            severity="warning" if how == "argmax" else "note",
        )


def _place(fact: LossCall | ClassTarget) -> tuple[str | None, int | None]:
    return fact.where.file, fact.where.line


def _says_classes(call: LossCall) -> bool:
    """The targets are integers, or a layer named classifier produces the predictions."""
    return call.target.dtype.startswith("int") or "classifier" in (call.maker or "").lower()


def _whole_numbers(event: ClassTarget) -> Finding:
    """Only a note: ratings and counts are integers as well."""
    return Finding(
        what=f"{event.function} gets integers as its target, {event.classes} different ones starting at 0",
        why="it treats class 2 as twice class 1, and the midpoint of two classes as a good compromise",
        remedy=f"if these are classes: F.cross_entropy with {event.classes} outputs (num_labels={event.classes} for "
        "transformers models); if they are quantities, pass them as floating-point numbers",
        where=event.where,
        evidence=(Evidence(name="classes", value=event.classes, limit="a quantity"),),
        confidence=0.6,
        severity="note",
    )
