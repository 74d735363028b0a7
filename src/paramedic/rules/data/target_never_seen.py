"""PM323."""

from collections import Counter
from collections.abc import Iterator

from paramedic.record.facts import Labels, Tokens
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import labels_made_at


@rule("PM323", "target-never-seen", severity="warning", needs=[Tokens, Labels])
def check(run: Run, *, fewest: int = 6) -> Iterator[Finding]:
    """The end-of-sequence token is never a label, so the model does not learn to stop.

    The padding has the id of the end token, and all labels with that id are left out.

    ## Why it hurts
    The loss looks normal, but nothing ever teaches the model to end. Generation runs to its limit.

    ## What to try first
    Give the padding an id of its own, or leave out labels by the attention mask instead of by the id.

    ## When this is wrong
    When all rows are padded to one more than the longest sequence with an id that is only padding.

    ## Options
    `fewest`: batches to be seen.
    """
    batches = [event for event in run.facts(Tokens, phase="train") if event.rows > 1]
    if len(batches) < fewest:
        raise Abstain("too few batches of token ids were seen")
    values = {event.value for event in batches}
    padded = all(event.longest > 1 and not event.inside for event in batches)
    ending = padded and (all(event.shortest == 1 for event in batches) or _last_label_left_out(run, batches))
    counts: Counter[int] = Counter()
    left_out = 0
    for event in run.facts(Labels, phase="train"):
        counts.update({int(label): count for label, count in event.counts.items()})
        left_out += event.left_out
    if not ending or len(values) != 1 or not left_out or sum(counts.values()) < 50:
        return
    value = values.pop()
    if counts[value]:
        return
    call = run.facts(Labels, phase="train")[0]
    yield Finding(
        what=f"every sequence ends with id {value}, which also fills the padding, and no label is ever {value}",
        why="the end token was left out of the labels together with the padding",
        remedy="use a padding id of its own, or build the labels with the attention mask",
        where=labels_made_at(run, call, "left_out"),
        evidence=(
            Evidence(name="labels_with_the_end_token", value=0, limit="> 0"),
            Evidence(name="labels_left_out", value=left_out),
        ),
        confidence=0.85,
    )


def _last_label_left_out(run: Run, batches: list[Tokens]) -> bool:
    """The inputs lack the last place of each row, and the labels have one place more left out in every row.

    Of the longest row no padding is among the inputs then: the label that is left out was a token.
    """
    left_out = {event.step: event.left_out for event in run.facts(Labels, phase="train")}
    known = [event for event in batches if event.step in left_out]
    if len(known) < len(batches) / 2 or any(event.shortest for event in batches):
        return False
    return all(left_out[event.step] == event.padding + event.rows for event in known)
