"""PM305."""

from collections import Counter
from collections.abc import Iterator

from paramedic.findings import Severity
from paramedic.rules import Abstain, Event, Evidence, Finding, Run, rule
from paramedic.rules.support import at, by_place, many


@rule("PM305", "class-imbalance", severity="warning", needs=["labels"], causes=["PM209"])
def check(run: Run, *, ratio: float = 10.0, fewest: int = 1000) -> Iterator[Finding]:
    """One class is far more frequent than another.

    A note on its own. A warning when the model also predicts nothing but the frequent class.

    ## Why it hurts
    Always answering with the frequent class gives a low loss and a high accuracy, and finds none of the rare cases.

    ## What to try first
    `pos_weight=` or `weight=` in the loss, a `WeightedRandomSampler`, or another decision threshold; and judge by recall or
    balanced accuracy.

    ## When this is wrong
    When the rare class does not matter. Early in training a model may answer with one class for a while; the rule looks
    at the last batches only.

    ## Options
    `ratio`: largest to smallest class; `fewest`: labels to be seen before anything is said.
    """
    for events in by_place(run.events("labels", phase="train")).values():
        seen: Counter[int] = Counter()
        for event in events:
            seen.update({int(label): count for label, count in event["counts"].items()})
        total = sum(seen.values())
        if len(seen) < 2 or total < fewest or len(seen) > 100:
            continue
        (frequent, most), (rare, least) = seen.most_common()[0], seen.most_common()[-1]
        if most < ratio * least or least < 5:
            continue
        guessed = _last_guesses(events)
        only = len(guessed) == 1 and frequent in guessed and sum(guessed.values()) >= 200
        steps = events[-1].step - events[0].step
        if only and steps < 20:
            raise Abstain("too few steps to tell whether the rare class is learnt")
        severity: Severity = "warning" if only else "note"
        yield Finding(
            what=f"class {frequent} is {most / least:.0f} times as frequent as class {rare} ({many(total, 'label')})"
            + (f", and the last {sum(guessed.values()):,} predictions are all class {frequent}" if only else ""),
            why=f"always answering {frequent} is right in {most / total:.1%} of the cases, so the model stops there"
            if only
            else "accuracy hides errors on the rare class",
            remedy=f"weight the loss (pos_weight={most / least:.0f} or class weights), or sample the rare class more often",
            where=at(events[0], _built_at(run, events[0])),
            severity=severity,
            evidence=(
                Evidence(name="imbalance", value=round(most / least, 1), limit=f"< {ratio:g}"),
                Evidence(name="classes_predicted", value=len(guessed), limit="≥ 2"),
            ),
            confidence=0.9 if only else 0.7,
        )


def _last_guesses(events: list[Event]) -> Counter[int]:
    guessed: Counter[int] = Counter()
    for event in events[-20:]:
        guessed.update({int(label): count for label, count in event["guessed"].items()})
    return guessed


def _built_at(run: Run, event: Event) -> list[object] | None:
    calls = [call for call in run.events("loss_call") if call.where.line == event.where.line]
    return next((call["built_at"] for call in calls if call.get("built_at")), None)
