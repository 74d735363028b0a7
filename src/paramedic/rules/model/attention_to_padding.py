"""PM415."""

from collections.abc import Iterator

from paramedic.record.facts import Asked, Forward, Mask, MaskAdded, MaskAsFactor
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import by_place


@rule("PM415", "attention-to-padding", severity="warning", coverage=[Forward], causes=["PM207", "PM201", "PM315"])
def check(run: Run, *, share: float = 0.1, fewest: int = 3) -> Iterator[Finding]:
    """The padding mask does not mask the padding: it is all ones, inverted, added, misread or missing.

    ## Why it hurts
    The model attends to padding, or to nothing else. Its output for a sentence then depends on the length of the other
    sentences in the batch.

    ## What to try first
    `attention_mask = (ids != pad_id)`; for `key_padding_mask` of torch's own modules the opposite, `ids == pad_id`,
    because there True means "ignore".

    ## When this is wrong
    When rows end in the same tokens for a reason other than padding.

    ## Options
    `share`: share of padding above which a mask of ones is reported; `fewest`: fewest batches seen.
    """
    masks: list[MaskAsFactor | MaskAdded] = [*run.facts(MaskAsFactor), *run.facts(MaskAdded)]
    for op in sorted(masks, key=lambda op: op.id):
        if isinstance(op, MaskAsFactor):
            yield Finding(
                what=f"{op.argument} of {op.module} is also used as a factor here: True means 'ignore' there, "
                "but keeps the value here",
                why="the product keeps exactly the padding and sets all real positions to zero",
                remedy="multiply by the opposite: x * (~mask).unsqueeze(-1)",
                where=op.where,
                evidence=(Evidence(name="same_mask_in_both", value="yes", limit="no"),),
                confidence=0.93,
            )
        else:
            yield Finding(
                what=f"{op.argument} contains zeros and ones as {op.dtype.removeprefix('torch.')}: torch adds "
                "them to the scores, so nothing is masked",
                why="only a boolean mask excludes positions; adding 1 to a score even favours that position",
                remedy="pass booleans, True for positions to ignore: mask.bool(); or a float mask with -inf there",
                where=op.where,
                evidence=(Evidence(name="values", value="0 and 1", limit="bool, or 0 and -inf"),),
                confidence=0.95,
            )
    yield from _left_out(run)
    yield from _swapped(run, share, fewest)
    by_keys = any(e.over == "keys" and e.masked_padding for e in run.facts(Mask))
    heeded = any(e.declared is None and e.padding == e.masked_padding > 0 for e in run.facts(Mask))
    for events in by_place(run.facts(Mask, phase="train")).values():
        padded = [e for e in events if e.padding > share * (e.padding + e.tokens)]
        if len(padded) < fewest:
            continue
        finding = _judge(padded, by_keys, heeded)
        if finding is not None:
            yield finding


def _left_out(run: Run, change: float = 5e-4) -> Iterator[Finding]:
    """The model takes a mask and has a padding id; it was called without one, and padding changes its outputs."""
    asked = [(event, event.padding) for event in run.facts(Asked) if event.padding]
    heeded = [(event, padding) for event, padding in asked if event.mask_left_out and padding.gap > change]
    if heeded and len(heeded) == len(asked) and all(padding.declared for _, padding in heeded):
        event, found = heeded[0]
        argument = event.mask_left_out
        yield Finding(
            what=f"{event.module} was called without {argument}, and its outputs for short samples change when "
            f"padding (id {found.value}) is cut off, {found.cut} of {found.width} positions",
            why="without a mask, the model attends to padding like any other token",
            remedy=f"pass {argument}=, computed from the lengths or as ids != {found.value}",
            where=event.where,
            evidence=(Evidence(name="change", value=round(found.gap, 5), limit=f"≤ {change:g}"),),
            confidence=0.88,
        )


def _swapped(run: Run, share: float, fewest: int) -> Iterator[Finding]:
    """The model's attention_mask does not mark the padding, but another argument does."""
    looks = [e for e in run.facts(Mask, phase="train") if e.declared and e.padding > 0]
    exact = [e for e in looks if e.masked_padding == e.padding and not e.masked_tokens]
    got = [e for e in looks if e.declared == "attention_mask"]
    if len(got) < fewest or any(e.declared == "attention_mask" for e in exact) or len(exact) < len(got):
        return
    tokens, lost = sum(e.tokens for e in got), sum(e.masked_tokens for e in got)
    if lost > share * tokens and all(_is_padding(e) for e in got):
        yield Finding(
            what=f"attention_mask masks {lost / tokens:.0%} of the real tokens, while another argument marks "
            "exactly the padding",
            why="the two were probably swapped: attention_mask is the model's second argument",
            remedy="pass them by name: model(input_ids=ids, attention_mask=mask, token_type_ids=segments)",
            where=got[0].where,
            evidence=(Evidence(name="real_tokens_left_out", value=round(lost / tokens, 3), limit="0"),),
            confidence=0.93,
        )


def _is_padding(event: Mask) -> bool:
    """Some rows end in one value, or in runs of it of different lengths, and it occurs nowhere else."""
    return bool(event.shortest == 0 or (event.longest > event.shortest and not event.inside))


def _judge(events: list[Mask], by_keys: bool, heeded: bool) -> Finding | None:
    """`heeded`: some attention does mask all padding."""
    padding, tokens = sum(event.padding for event in events), sum(event.tokens for event in events)
    masked, lost = sum(event.masked_padding for event in events), sum(event.masked_tokens for event in events)
    part = padding / (padding + tokens)
    inverted = masked < 0.05 * padding and lost > 0.95 * tokens
    # What a one means in a tensor that a model is given is for the model to say, unless its name does.
    if inverted and (events[0].declared == "other" or (events[0].declared and heeded)):
        return None
    if not inverted and not all(_is_padding(event) for event in events):
        return None
    if all(event.none for event in events):
        what = f"{part:.0%} of the positions are padding (id {events[0].value}), but the mask masks none of them"
        why, remedy = (
            "the model attends to padding like real tokens",
            "build the mask from the ids: mask = ids != pad_id",
        )
    elif all(event.over == "queries" for event in events) and not by_keys and masked == padding and not lost:
        what = "the padding mask is applied along the queries: whole rows of scores are filled, and no key is masked"
        why = "filling a whole row with one value masks no key in it, so real tokens attend to padding"
        remedy = "apply the mask along the keys: mask[:, None, None, :], not mask[:, None, :, None]"
    elif inverted:
        what = f"the mask hides {lost / tokens:.0%} of the real tokens and {masked / padding:.0%} of the padding"
        why = "it is inverted"
        remedy = "invert it: in masked_fill and key_padding_mask True means 'ignore', in attn_mask of "
        remedy += "scaled_dot_product_attention 'attend'"
    else:
        return None
    return Finding(
        what=what,
        why=why,
        remedy=remedy,
        where=events[0].where,
        evidence=(
            Evidence(name="padding", value=round(part, 3)),
            Evidence(name="masked_padding", value=round(masked / padding, 3), limit="1"),
        ),
        confidence=0.92,
    )
