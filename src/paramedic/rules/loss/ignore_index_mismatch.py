"""PM509."""

import re
from collections.abc import Iterator

from paramedic.record.facts import BadLabels, IgnoredClass, Labels, LossCall, Padding, Tokens
from paramedic.record.site import Site
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import at, labels_made_at

_USUAL_MARKERS = (-1, -100, 255)
_NO_CLASS = re.compile(r"pad|ignore|none|null|nil|blank|empty|mask|unk|void|label|sep|cls|[se]os|end|^x$|^\W|^_", re.I)


@rule("PM509", "ignore-index-mismatch", severity="error", needs=[LossCall], causes=["PM304"], lasting=True)
def check(run: Run, *, share: float = 0.6) -> Iterator[Finding]:
    """Labels are padded with one value, but the loss ignores another; or it ignores a real class with the padding.

    ## Why it hurts
    Padding is then an ordinary class, often the most frequent one: the model learns to predict padding, and the loss
    looks better than it is. With a negative marker the call crashes instead. If the padding has the number of a real
    class (`O` of a tagger), that class is never trained, and the model never predicts it.

    ## What to try first
    `ignore_index=PAD` in the loss, or pad the labels with -100, which is ignored by default and no class.

    ## When this is wrong
    When the model should learn the end of a sequence from the padding itself. Two kinds of programs are not judged for
    that reason: autoencoders, whose labels are their inputs, and language models in which one id begins every sequence,
    ends it and fills up the rest (`.emma..`).

    ## Options
    `share`: smallest share of rows whose labels end in padding exactly where the inputs do.
    """
    for event in run.facts(BadLabels):
        wrong = event.wrong
        if len(wrong) == 1 and wrong[0] in _USUAL_MARKERS and wrong[0] != event.ignore_index:
            yield Finding(
                what=f"{event.bad:,} of {event.total:,} labels are {wrong[0]}, "
                f"but the loss ignores {event.ignore_index}",
                why=f"{wrong[0]} looks like a marker for 'no label'; the loss treats it as a class and fails",
                remedy=f"pass ignore_index={wrong[0]} to the loss",
                where=at(event, _built_at(run, event.where.line)),
                evidence=(Evidence(name="label", value=wrong[0], limit=f"0 to {event.classes - 1}"),),
                confidence=0.97,
            )
            return
    yield from _with_a_class(run)
    padded = [event for event in run.facts(Padding) if event.value != event.ignore_index]
    convincing = [e for e in padded if e.agreeing >= share * e.rows and e.longest > e.shortest]
    if len(convincing) < 3 or len(convincing) < 0.8 * len(run.facts(Padding)):
        yield from _as_a_class(run, padded)
        return
    if all(event.copied for event in convincing):
        raise Abstain("the labels are the inputs: an autoencoder may mark the end of a sequence with padding")
    if all(_is_boundary(event) for event in convincing):
        raise Abstain("the id that pads also begins every sequence, and no other ends it: it is the end marker itself")
    padding = convincing[0]
    value, ignored = int(padding.value), int(padding.ignore_index)
    part = sum(e.padding for e in convincing) / sum(e.total for e in convincing)
    yield Finding(
        what=f"labels end in padding ({value}) where the inputs do, but the loss ignores {ignored}: "
        f"{part:.0%} of all labels are padding",
        why="the loss counts padding as a class, so the model is rewarded for predicting padding",
        remedy=f"pass ignore_index={value} to the loss, or pad the labels with {ignored}",
        where=at(padding, _built_at(run, padding.where.line)),
        evidence=(
            Evidence(name="padding_value", value=value, limit=f"ignore_index = {ignored}"),
            Evidence(name="padding_share", value=round(part, 4)),
            Evidence(name="rows_agreeing", value=f"{int(padding.agreeing)} of {int(padding.rows)}"),
        ),
        confidence=0.93,
    )


def _is_boundary(event: Padding, *, share: float = 0.9) -> bool:
    """Whether a sequence begins with the padding's id and ends without any marker but the padding itself."""
    return event.begun == event.rows and event.marked < share * event.rows


def _with_a_class(run: Run, *, share: float = 0.1, fewest: int = 3) -> Iterator[Finding]:
    """The loss ignores a class that the program has a name for, at tokens that are no padding."""
    for event in run.facts(IgnoredClass):
        padding = {tokens.step: tokens for tokens in run.facts(Tokens, phase="train")}
        seen = [(one, padding[one.step]) for one in run.facts(Labels, phase="train") if one.step in padding]
        same = [(labels, tokens) for labels, tokens in seen if _size(labels) == tokens.rows * tokens.width]
        real = sum(_size(labels) - tokens.padding for labels, tokens in same)
        lost = sum(labels.left_out - tokens.padding for labels, tokens in same)
        if len(same) < fewest or lost < share * real or _NO_CLASS.search(event.name):
            continue
        yield Finding(
            what=f"the loss ignores label {event.index}, which is the class {event.name!r} of {event.table}: "
            f"{lost / real:.0%} of the labels that are no padding",
            why=f"padding has the number of a real class, so {event.name!r} is never trained and never predicted",
            remedy="pad the labels with -100, which is no class, and pass ignore_index=-100 to the loss",
            where=at(event, _built_at(run, event.where.line)),
            evidence=(
                Evidence(name="ignored_class", value=event.name, limit="no class"),
                Evidence(name="ignored_share", value=round(lost / real, 4), limit=f"< {share:g}"),
            ),
            confidence=0.93,
        )
        return


def _size(labels: Labels) -> int:
    return sum(labels.counts.values()) + labels.left_out


def _as_a_class(run: Run, padded: list[Padding], *, share: float = 0.2, fewest: int = 3) -> Iterator[Finding]:
    """All padding positions have the same label, which other positions may have as well."""
    events = [event for event in padded if event.phase == "train"]
    empty, total = sum(e.empty for e in events), sum(e.total for e in events)
    whole = all(e.covered == e.empty and not e.copied for e in events)
    if len([e for e in events if e.empty]) < fewest or not whole or empty < share * total:
        return
    value, ignored = int(events[0].value), int(events[0].ignore_index)
    if len({e.value for e in events}) > 1:
        return
    yield Finding(
        what=f"all {empty:,.0f} padding positions have the label {value}, and the loss counts them: they are "
        f"{empty / total:.0%} of all labels",
        why="the model is rewarded for predicting the padding's class, which drowns out the real positions, and the "
        "metric looks better than it is",
        remedy=f"pad the labels with {ignored}, which the loss ignores",
        where=labels_made_at(run, events[0], "padded"),
        severity="warning",
        evidence=(Evidence(name="padding_share", value=round(empty / total, 4), limit=f"< {share:g}"),),
        confidence=0.88,
    )


def _built_at(run: Run, line: int | None) -> Site | None:
    calls = [call for call in run.facts(LossCall) if call.where.line == line]
    return next((call.built_at for call in calls if call.built_at), None)
